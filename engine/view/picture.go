package view

import (
	"cmp"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"
)

const (
	rowsDefault   = 100
	cooldownsMost = 100 // rows of Frame.Cooldowns; Frame.Cooling counts all
	answersKept   = 16
)

// answer is the last frame of a query, kept so that an unchanged picture keeps its number.
type answer struct {
	query   Query
	frame   *Frame
	applied uint64
	used    uint64
}

func (s *state) frame(q Query) *Frame {
	i := slices.IndexFunc(s.answers, func(a *answer) bool { return a.query == q })
	s.asked++
	if i >= 0 && s.answers[i].applied == s.applied {
		s.answers[i].used = s.asked
		return s.answers[i].frame
	}
	f := s.picture(q)
	if i >= 0 && shows(s.answers[i].frame, f) {
		f.Seq = s.answers[i].frame.Seq
	} else {
		s.seq++
		f.Seq = s.seq
	}
	a := &answer{q, f, s.applied, s.asked}
	switch {
	case i >= 0:
		s.answers[i] = a
	case len(s.answers) < answersKept:
		s.answers = append(s.answers, a)
	default:
		oldest := 0
		for i := range s.answers {
			if s.answers[i].used < s.answers[oldest].used {
				oldest = i
			}
		}
		s.answers[oldest] = a
	}
	return f
}

// shows reports whether two frames look the same: all but their numbers and what a screen's own clock advances.
func shows(a, b *Frame) bool {
	if a.Counts != b.Counts || a.InFlight != b.InFlight {
		return false // as nearly always while work is done
	}
	x, y := *a, *b
	x.Seq, x.At, x.Run.Elapsed = 0, time.Time{}, 0
	y.Seq, y.At, y.Run.Elapsed = 0, time.Time{}, 0
	return reflect.DeepEqual(&x, &y)
}

func (s *state) picture(q Query) *Frame {
	bin := s.bin()
	f := &Frame{
		At: s.at, Live: s.live, Run: s.run, InFlight: s.inFlight, Ceiling: s.ceiling, Counts: s.counts,
		States: maps.Clone(s.states), QueueP95: s.queueP95.Truncate(time.Second),
		AcceptedAverage: s.average, Layers: s.layerRows(),
		Budgets: s.budgets, Events: s.events.newestFirst(), Health: s.health,
	}
	if !s.queueOldest.IsZero() {
		f.QueueOldest = max(s.at.Sub(s.queueOldest), 0).Truncate(time.Second)
	}
	f.AcceptedPerMin, f.RequestsPerMin = s.lastMinute()
	f.Chart = s.chart.series(s.start, s.line, q.Range)
	if verdicts := float64(s.verdicts.sum(bin, trendBins)); verdicts > 0 {
		f.OKShare = float64(s.ok.sum(bin, trendBins)) / verdicts
		f.RetryShare = float64(s.retries.sum(bin, trendBins)) / verdicts
		f.DeadShare = min(float64(s.dead.sum(bin, trendBins))/verdicts, 1)
	}
	f.LatencyP50, f.LatencyP95, f.LatencyP99 = s.latencies()
	f.Health.Dropped += s.events.dropped
	f.Health.StorageLag = f.Health.StorageLag.Truncate(100 * time.Millisecond)
	f.ETA = s.forecast()
	f.Caps = s.capRows(f.ETA)
	s.warnOfCaps(f.Caps, f.ETA)
	f.Alerts = s.alerts.newestFirst()
	f.Cooldowns, f.Cooling = s.cooldowns()
	f.Domains = s.window(q)
	if q.Evidence {
		f.Evidence = s.evidence()
	}
	if d := s.domains[q.Selected]; d != nil {
		f.Detail = d.detail(s)
	}
	return f
}

// lastMinute are the rates of accepted records and of requests over the last minute of closed bins.
func (s *state) lastMinute() (records, requests float64) {
	n, seen := s.chart.lastMinute(s.line)
	if seen <= 0 {
		return 0, 0
	}
	seen = max(seen, rateBin) // a run begins with a burst, often just before a bin closes
	sent := s.requests.sum(binOf(s.line, rateBin)-1, rateBins)
	return float64(n) / seen.Minutes(), float64(sent) / seen.Minutes()
}

// latencies are the quantiles of the last 15 minutes.
func (s *state) latencies() (p50, p95, p99 time.Duration) {
	var all histogram
	oldest := binOf(s.line, time.Minute) - trendMinutes
	for i := range s.latency {
		if s.latency[i].minute > oldest {
			all.merge(&s.latency[i].h)
		}
	}
	return all.quantile(0.50), all.quantile(0.95), all.quantile(0.99)
}

// layerRows has a row for each layer, also for those that never refused; "unknown" only once it did.
func (s *state) layerRows() []LayerRow {
	rows := make([]LayerRow, 0, layers)
	for i, name := range layerNames {
		if i == indexUnknown && s.totals[i] == 0 {
			continue
		}
		r := &s.refusal[i]
		row := LayerRow{Layer: name, Total: s.totals[i], Trend: make([]int64, trendBins), Last: r.last}
		r.ring.addTo(row.Trend, s.bin())
		row.Recent = r.ring.sum(s.bin(), trendBins)
		row.PerMin = s.rate(row.Recent, trendBins)
		rows = append(rows, row)
	}
	return rows
}

// cooldowns are the active ones that end first, and how many there are.
func (s *state) cooldowns() ([]CooldownRow, int) {
	var rows []CooldownRow
	total := 0
	add := func(c CooldownRow) {
		total++
		i, _ := slices.BinarySearchFunc(rows, c, wakesBefore)
		if i >= cooldownsMost {
			return
		}
		rows = slices.Insert(rows, i, c)
		rows = rows[:min(len(rows), cooldownsMost)]
	}
	for _, b := range s.budgets {
		if b.Until.After(s.at) {
			add(CooldownRow{b.Scope, b.Key, b.Until, b.Full, b.Cause, b.Layer, b.Announced, b.FailedProbes})
		}
	}
	for d := range s.cooling {
		if in := &d.in; in.Until.After(s.at) {
			add(CooldownRow{"domain", in.Domain, in.Until, in.Full, in.Cause, in.Layer, in.Announced, in.FailedProbes})
		}
	}
	return rows, total
}

func wakesBefore(a, b CooldownRow) int {
	return cmp.Or(a.Until.Compare(b.Until), strings.Compare(a.Scope, b.Scope), strings.Compare(a.Key, b.Key))
}

// window cuts the rows asked for out of their order.
func (s *state) window(q Query) DomainWindow {
	rows := s.order(q).rows
	w := DomainWindow{Total: len(s.domains), Matched: len(rows), Index: -1}
	if d := s.domains[q.Selected]; d != nil {
		w.Index = slices.Index(rows, d)
	}
	limit := q.Limit
	if limit <= 0 {
		limit = rowsDefault
	}
	w.Offset = min(max(q.Offset, 0), len(rows))
	for _, d := range rows[w.Offset:min(w.Offset+min(limit, math.MaxInt32), len(rows))] {
		w.Rows = append(w.Rows, d.row(s))
	}
	return w
}
