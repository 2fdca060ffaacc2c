package report

import (
	"time"

	"dev.scrapetop/storage"
)

// slack is how long after an answer a request may begin without being counted as sent during its wait: the clock of an
// exchange starts when it is decided, its time is measured from when it leaves, and both are kept in whole milliseconds.
const slack = 50 * time.Millisecond

// waits are the waits that answers asked for on one key. Exchanges are told in the order in which they began.
type waits struct {
	told  []wait    // by answers that had not ended when the last exchange began
	until time.Time // the latest end of those that had
}

type wait struct{ from, until time.Time }

// covers tells whether an exchange that begins at start is inside a wait.
func (w *waits) covers(start time.Time) bool {
	open := w.told[:0]
	for _, t := range w.told {
		switch {
		case !t.from.Before(start):
			open = append(open, t)
		case t.until.After(w.until):
			w.until = t.until
		}
	}
	w.told = open
	return start.Before(w.until)
}

// ask notes the wait that a refusal asked for, if it did.
func (w *waits) ask(x *storage.Exchange) {
	if !waitsAfter(x) || x.RetryAfter == nil || *x.RetryAfter <= 0 {
		return
	}
	end := x.StartedAt.Add(max(x.Elapsed, 0))
	w.told = append(w.told, wait{from: end.Add(slack), until: end.Add(*x.RetryAfter)})
}

// waitsAfter tells that an answer asks to come back later.
func waitsAfter(x *storage.Exchange) bool { return x.Outcome == "limited" || x.Outcome == "busy" }

// peak is the most that began within any window of a length. Starts are told in their order.
type peak struct {
	window time.Duration
	most   int64
	inside int64
	starts []burst // inside the window that ends at the last start
	head   int
}

// burst is what began in one millisecond, the finest that is kept: so a minute is at most 60,000 of them.
type burst struct {
	at time.Time
	n  int64
}

func (p *peak) add(at time.Time) {
	if n := len(p.starts); n > p.head && p.starts[n-1].at.Equal(at) {
		p.starts[n-1].n++
	} else {
		p.starts = append(p.starts, burst{at, 1})
	}
	p.inside++
	for !p.starts[p.head].at.After(at.Add(-p.window)) {
		p.inside -= p.starts[p.head].n
		p.head++
	}
	if p.head > 1024 && p.head*2 > len(p.starts) {
		p.starts = p.starts[:copy(p.starts, p.starts[p.head:])]
		p.head = 0
	}
	p.most = max(p.most, p.inside)
}

// rates are the highest rates of one key.
type rates struct{ second, minute peak }

func newRates() rates { return rates{peak{window: time.Second}, peak{window: time.Minute}} }

func (r *rates) add(at time.Time) {
	r.second.add(at)
	r.minute.add(at)
}
