package lease

import (
	"slices"
	"time"

	"dev.scrapetop/engine/budget"
)

// batchShare is the part of a window that one member gets in advance.
const batchShare = 20

// slack lengthens a span a little, so that starts that the network spreads still obey it where they arrive; as a budget's own.
const slack = 50

func span(r budget.Rate) time.Duration { return r.Per + r.Per/slack }

// burst is some starts of about one moment: they count as of the last of them.
type burst struct {
	first, last time.Time
	n           int
}

// history is the starts of all members that may still count in a window.
type history struct {
	rates  []budget.Rate
	bursts []burst // by time
	filler int     // starts of before the book began that nobody who lives made; as of
	since  time.Time
	told   int // the most that a member said counted then
	known  int // of those, told one by one
}

// adopt takes over the rates that the members name: the least for each span.
func (h *history) adopt(all []budget.Rate) {
	h.rates = h.rates[:0]
	for _, r := range all {
		if r.N <= 0 || r.Per <= 0 {
			continue
		}
		if i := slices.IndexFunc(h.rates, func(x budget.Rate) bool { return x.Per == r.Per }); i < 0 {
			h.rates = append(h.rates, r)
		} else {
			h.rates[i].N = min(h.rates[i].N, r.N)
		}
	}
}

// longest is the longest span.
func (h *history) longest() time.Duration {
	most := time.Duration(0)
	for _, r := range h.rates {
		most = max(most, span(r))
	}
	return most
}

// batch is how many starts a member gets in advance.
func (h *history) batch() int {
	n := 1 << 20
	for _, r := range h.rates {
		n = min(n, r.N/batchShare)
	}
	return max(n, 1)
}

// add notes starts.
func (h *history) add(at time.Time, n int) {
	if n <= 0 {
		return
	}
	i := len(h.bursts)
	for i > 0 && h.bursts[i-1].last.After(at) {
		i--
	}
	if i > 0 && i == len(h.bursts) {
		shortest := time.Hour
		for _, r := range h.rates {
			shortest = min(shortest, r.Per)
		}
		if b := &h.bursts[i-1]; at.Sub(b.first) < shortest/100 {
			b.last = at
			b.n += n
			return
		}
	}
	h.bursts = slices.Insert(h.bursts, i, burst{at, at, n})
}

// forget drops what counts in no window any more.
func (h *history) forget(now time.Time) {
	most := h.longest()
	i := 0
	for i < len(h.bursts) && !h.bursts[i].last.Add(most).After(now) {
		i++
	}
	h.bursts = h.bursts[i:]
	if h.filler > 0 && !h.since.Add(most).After(now) {
		h.filler = 0
	}
}

// used is how many starts count in a span, and when the oldest of them counts no more.
func (h *history) used(now time.Time, per time.Duration) (n int, next time.Time) {
	if h.filler > 0 {
		if end := h.since.Add(per); end.After(now) {
			n, next = h.filler, end
		}
	}
	for i := len(h.bursts) - 1; i >= 0; i-- {
		end := h.bursts[i].last.Add(per)
		if !end.After(now) {
			break
		}
		n += h.bursts[i].n
		if next.IsZero() || end.Before(next) {
			next = end
		}
	}
	return n, next
}

// room is how many more may start while so many are handed out in advance, and when that may grow; zero: an event will tell.
func (h *history) room(now time.Time, ahead int64) (n int64, next time.Time) {
	n = UnlimitedStarts
	for _, r := range h.rates {
		used, at := h.used(now, span(r))
		if left := int64(r.N) - int64(used) - ahead; left < n {
			n, next = left, at
		}
	}
	return n, next
}

// told notes what a member knows of starts before this book: its own one by one, and how many counted over all.
func (h *history) remember(now, began time.Time, d *Demand) {
	for _, r := range d.Recent {
		h.add(now.Add(-r.Age), r.N)
		h.known += r.N
	}
	if d.Used > 0 {
		h.told = max(h.told, d.Used)
		h.since = began
		h.filler = max(h.told-h.known, 0)
	}
}
