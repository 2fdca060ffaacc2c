package view

import (
	"cmp"
	"maps"
	"time"
)

// domain is what is kept of one domain. The pointers are nil until there is something to keep.
type domain struct {
	in      DomainInput
	rank    int32     // position among all domains by name
	began   time.Time // on the model's timeline: when it was first seen at work
	before  float64   // pace a minute before the present cooldown; zero: unknown
	pace    *pace
	refusal []refusals // by layer, those that occurred
	limits  []ceiling  // changes of the ceiling, oldest first
}

// pace counts what a domain got done, in bins of trendBin.
type pace struct {
	ok   ring // accepted, for the last minute
	done ring // accepted or dead, for forecasts
}

// refusals is one layer's refusals of a domain.
type refusals struct {
	layer int
	last  time.Time
	ring  ring
}

// ceiling is a limit in flight from an instant on.
type ceiling struct {
	at    time.Time
	limit int
}

// limitsKept bounds the staircase of one domain.
const limitsKept = 256

// same reports whether two inputs say the same.
func same(a, b *DomainInput) bool {
	return a.Domain == b.Domain && a.State == b.State && a.Since.Equal(b.Since) && a.InFlight == b.InFlight && a.Limit == b.Limit &&
		a.LimitWas == b.LimitWas && a.PerSecond == b.PerSecond && sameTold(a.Told, b.Told) && a.Until.Equal(b.Until) &&
		a.Full == b.Full && a.Cause == b.Cause && a.Layer == b.Layer && a.Announced == b.Announced && a.FailedProbes == b.FailedProbes && a.Paused.Equal(b.Paused) &&
		a.Queue == b.Queue && a.Oldest.Equal(b.Oldest) && a.Accepted == b.Accepted && a.Dead == b.Dead && a.limited() == b.limited() &&
		a.LastAt.Equal(b.LastAt) && a.LastText == b.LastText && a.CrawlDelay == b.CrawlDelay && a.Robots == b.Robots &&
		a.Next == b.Next && a.Learned == b.Learned
}

func sameTold(a, b *Told) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a == b || a.Remaining == b.Remaining && a.At.Equal(b.At) && maps.Equal(a.Headers, b.Headers)
}

// noteLimit keeps the staircase of the ceiling.
func (d *domain) noteLimit(at time.Time, limit int) {
	if n := len(d.limits); n == 0 && limit == 0 || n > 0 && d.limits[n-1].limit == limit {
		return
	}
	if len(d.limits) == limitsKept {
		d.limits = append(d.limits[:0], d.limits[1:]...)
	}
	d.limits = append(d.limits, ceiling{at, limit})
}

// count takes a tally's cell in.
func (d *domain) count(c *cell, at time.Time, bin int64) {
	if c.accepted+c.dead > 0 {
		if d.pace == nil {
			d.pace = &pace{ok: newRing(paceMinute), done: newRing(paceBins)}
		}
		d.pace.ok.add(bin, c.accepted)
		d.pace.done.add(bin, c.accepted+c.dead)
	}
	for layer, n := range c.limited {
		if n > 0 {
			r := d.layer(layer)
			r.last = at
			r.ring.add(bin, n)
		}
	}
}

func (d *domain) layer(layer int) *refusals {
	for i := range d.refusal {
		if d.refusal[i].layer == layer {
			return &d.refusal[i]
		}
	}
	d.refusal = append(d.refusal, refusals{layer: layer, ring: newRing(trendBins)})
	return &d.refusal[len(d.refusal)-1]
}

// recent429 counts the 429 of the last 15 minutes.
func (d *domain) recent429(bin int64) int64 {
	var n int64
	for i := range d.refusal {
		if d.refusal[i].layer != indexBusy {
			n += d.refusal[i].ring.sum(bin, trendBins)
		}
	}
	return n
}

// trend is the 429 of the last 15 minutes by bin; nil when there never was one.
func (d *domain) trend(bin int64) []int64 {
	var values []int64
	for i := range d.refusal {
		if d.refusal[i].layer == indexBusy {
			continue
		}
		if values == nil {
			values = make([]int64, trendBins)
		}
		d.refusal[i].ring.addTo(values, bin)
	}
	return values
}

// okPerMinute is the rate of accepted tasks over the last minute of closed bins.
func (d *domain) okPerMinute(s *state) float64 {
	if d.pace == nil {
		return 0
	}
	return s.rate(d.pace.ok.sum(s.bin()-1, paceMinute), paceMinute)
}

func (d *domain) row(s *state) DomainRow {
	in := &d.in
	bin := s.bin()
	return DomainRow{
		Domain: in.Domain, State: in.State, InFlight: in.InFlight, Limit: in.Limit, LimitWas: in.LimitWas, PerSecond: in.PerSecond,
		Remaining: in.remaining(), Until: in.Until, Full: in.Full, Cause: in.Cause,
		Recent429: d.recent429(bin), Total429: in.limited().Limited(), Trend: d.trend(bin), OKPerMin: d.okPerMinute(s),
		Queue: in.Queue, Oldest: in.Oldest, Accepted: in.Accepted, Dead: in.Dead, ETA: d.eta(s).shown(),
		LastAt: in.LastAt, LastText: in.LastText, Paused: in.Paused,
	}
}

const (
	notesKept  = 8
	limitsBin  = time.Minute
	limitsBins = 40
)

func (d *domain) detail(s *state) *DomainDetail {
	in := &d.in
	out := &DomainDetail{
		Domain: in.Domain, Since: in.Since, CrawlDelay: in.CrawlDelay,
		Robots: in.Robots, Next: in.Next, Learned: in.Learned, Limits: d.staircase(s.line),
	}
	if in.Told != nil {
		out.Headers, out.HeadersAt = in.Told.Headers, in.Told.At
	}
	for layer, name := range layerNames {
		total := in.limited().of(name)
		row := LayerRow{Layer: name, Total: total, Trend: make([]int64, trendBins)}
		for i := range d.refusal {
			if r := &d.refusal[i]; r.layer == layer {
				r.ring.addTo(row.Trend, s.bin())
				row.Last = r.last
				row.Recent = r.ring.sum(s.bin(), trendBins)
				row.PerMin = s.rate(row.Recent, trendBins)
			}
		}
		if row.Total = max(row.Total, row.Recent); row.Total > 0 {
			out.Layers = append(out.Layers, row)
		}
	}
	for _, e := range s.events.newestFirst() {
		if e.Key == in.Domain && len(out.Notes) < notesKept {
			out.Notes = append(out.Notes, e.At.Format("15:04:05")+" "+e.Text)
		}
	}
	return out
}

// staircase is the ceiling at the end of each of the last 40 minutes; a gap before it was first known.
func (d *domain) staircase(now time.Time) Series {
	last := binOf(now, limitsBin)
	s := Series{Bin: limitsBin, End: startOf(last, limitsBin)}
	if len(d.limits) == 0 {
		return s
	}
	next, limit := 0, -1
	for b := last - limitsBins; b < last; b++ {
		end := startOf(b+1, limitsBin)
		for next < len(d.limits) && d.limits[next].at.Before(end) {
			limit = d.limits[next].limit
			next++
		}
		s.Values = append(s.Values, float64(limit))
	}
	return s
}

// attention is the rank of a state in the order of attention.
func attention(s State) int64 {
	switch s {
	case StateCool:
		return 0
	case StateSlow:
		return 1
	case StateBlock:
		return 2
	case StatePause:
		return 3
	case StateRun:
		return 4
	case StateIdle:
		return 5
	}
	return 6
}

func byName(a, b *domain) int { return cmp.Compare(a.in.Domain, b.in.Domain) }
