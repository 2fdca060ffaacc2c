package view

import "time"

// state is the model behind the lock.
type state struct {
	at    time.Time // At of the newest delta
	line  time.Time // the same on the model's timeline, which never steps back
	start time.Time // of the timeline
	live  bool

	run         Run
	inFlight    int
	ceiling     int
	counts      Counts
	budgets     []BudgetRow
	caps        []CapRow
	queueOldest time.Time
	queueP95    time.Duration
	health      Health
	average     float64 // accepted records a minute over the run, renewed with each closed bin

	domains map[string]*domain
	names   []*domain // by name
	fresh   []*domain // not yet among names
	states  map[State]int
	cooling map[*domain]struct{} // those with a deadline
	refused map[*domain]struct{} // those that refused lately, and some more

	chart    chart
	requests ring // bins of rateBin
	covered  ring // milliseconds of each trendBin in which the engine told something
	verdicts ring
	ok       ring
	retries  ring
	dead     ring
	done     ring // tasks accepted or dead
	grown    ring // tasks that were added
	faults   [faults]ring
	refusal  [layers]refusals
	totals   [layers]int64
	latency  [trendMinutes + 1]minuteLatency

	watched map[string]capWatch // by the name of a cap

	events log[EventRow]
	alerts log[Alert]

	eta      ETA
	etaAt    time.Time // second of the timeline that eta was made in
	ends     []end     // forecasts of the last five minutes
	changed  versions
	orders   []*order
	answers  []*answer
	applied  uint64 // deltas taken in
	asked    uint64 // queries answered; ages the caches
	seq      uint64
	etaValid bool
}

const (
	trendMinutes = 15
	paceMinute   = int(time.Minute / trendBin)
	eventsKept   = 200
	alertsKept   = 50
)

// minuteLatency are the latencies of one minute.
type minuteLatency struct {
	minute int64
	h      histogram
}

func (s *state) init(o Options) {
	s.domains = make(map[string]*domain)
	s.states = make(map[State]int)
	s.watched = make(map[string]capWatch)
	s.cooling = make(map[*domain]struct{})
	s.refused = make(map[*domain]struct{})
	s.changed.byKey = make(map[Sort]uint64)
	s.requests = newRing(rateBins)
	for _, r := range []*ring{&s.covered, &s.verdicts, &s.ok, &s.retries, &s.dead, &s.done, &s.grown} {
		*r = newRing(trendBins)
	}
	for i := range s.faults {
		s.faults[i] = newRing(trendBins)
	}
	for i, name := range layerNames {
		s.refusal[i] = refusals{layer: i, ring: newRing(trendBins)}
		s.totals[i] = o.Limited.of(name)
	}
	s.events.keep, s.alerts.keep = eventsKept, alertsKept
}

// bin is the open bin of the trends.
func (s *state) bin() int64 { return binOf(s.line, trendBin) }

// coveredIn is how much of the n bins up to and including last the model has seen.
func (s *state) coveredIn(last int64, n int) time.Duration {
	return time.Duration(s.covered.sum(last, n)) * time.Millisecond
}

// rate spreads a count over what was seen of the last n closed bins, a minute at least: per minute.
func (s *state) rate(count int64, n int) float64 {
	return float64(count) / max(s.coveredIn(s.bin()-1, n), time.Minute).Minutes()
}

// apply takes one delta in.
func (s *state) apply(d *Delta) {
	s.applied++
	s.advance(d)
	s.run, s.inFlight, s.ceiling, s.live = d.Run, d.InFlight, d.Ceiling, d.Live
	if s.applied > 1 {
		s.requests.add(binOf(s.line, rateBin), max(d.Counts.Requests-s.counts.Requests, 0))
		s.grown.add(s.bin(), max(d.Counts.Tasks-s.counts.Tasks, 0))
	}
	s.counts, s.budgets, s.caps = d.Counts, d.Budgets, d.Caps
	s.queueOldest, s.queueP95, s.health = d.QueueOldest, d.QueueP95, d.Health
	for i := range d.Domains {
		s.applyDomain(&d.Domains[i])
	}
	if d.Tally != nil {
		s.applyTally(d.Tally)
	}
	s.events.add(d.Events, func(e *EventRow, seq uint64) { e.Seq = seq })
	s.alerts.add(d.Alerts, func(a *Alert, seq uint64) { a.Seq = seq })
}

// advance moves the timeline and puts the accepted records on it. It stands still while no run is live.
func (s *state) advance(d *Delta) {
	var records int64
	if d.Tally != nil {
		records = d.Tally.records
	}
	wall := d.At.Round(0)
	before := s.at
	s.at = d.At
	if before.IsZero() {
		s.line, s.start = wall, wall
		s.chart.add(s.line, records)
		return
	}
	if !s.live && !d.Live {
		s.chart.add(s.line, records)
		return
	}
	from := s.line
	s.line = from.Add(max(d.At.Sub(before), 0))
	if wall.After(s.line) {
		s.line = wall // the machine slept, or its clock was put forward
	}
	if step := s.line.Sub(from); step > 0 && step <= maxStep {
		s.chart.pass(from, s.line, records)
		s.cover(from, s.line)
	} else {
		s.chart.add(s.line, records)
	}
	if binOf(from, rateBin) != binOf(s.line, rateBin) || !d.Live {
		s.average = perMinuteOf(d.Counts.Records, d.Run.Elapsed)
	}
	if binOf(from, trendBin) != binOf(s.line, trendBin) {
		s.touch(Sort429)
		s.touch(SortRate)
		s.touch(SortETA)
	}
}

// cover counts the milliseconds between two instants in the bins they lie in.
func (s *state) cover(from, to time.Time) {
	for bin := binOf(from, trendBin); bin <= binOf(to, trendBin); bin++ {
		a, b := startOf(bin, trendBin), startOf(bin+1, trendBin)
		if a.Before(from) {
			a = from
		}
		if b.After(to) {
			b = to
		}
		s.covered.add(bin, b.UnixMilli()-a.UnixMilli())
	}
}

func perMinuteOf(n int64, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return float64(n) / d.Minutes()
}

func (s *state) applyDomain(in *DomainInput) {
	d := s.domains[in.Domain]
	switch {
	case d == nil:
		d = &domain{}
		s.domains[in.Domain] = d
		s.fresh = append(s.fresh, d)
		s.changed.members++
		s.states[in.State]++
	case same(&d.in, in):
		return
	default:
		s.touchChanged(&d.in, in)
		if d.in.State != in.State {
			if s.states[d.in.State]--; s.states[d.in.State] == 0 {
				delete(s.states, d.in.State)
			}
			s.states[in.State]++
		}
	}
	if in.State == StateCool && d.in.State != StateCool {
		d.before = d.perMinute(s)
	}
	d.in = *in
	d.noteLimit(s.line, in.Limit)
	if d.began.IsZero() && (in.InFlight > 0 || !in.LastAt.IsZero()) {
		d.began = s.line
	}
	if in.Until.IsZero() {
		delete(s.cooling, d)
	} else {
		s.cooling[d] = struct{}{}
	}
}

func (s *state) applyTally(t *Tally) {
	bin := s.bin()
	s.verdicts.add(bin, t.verdicts)
	s.ok.add(bin, t.ok)
	s.retries.add(bin, t.retries)
	s.dead.add(bin, t.dead)
	s.done.add(bin, t.accepted+t.dead)
	for i, n := range t.limited {
		if n > 0 {
			s.refusal[i].ring.add(bin, n)
			s.refusal[i].last = s.at
			s.totals[i] += n
			s.touch(Sort429)
		}
	}
	for i, n := range t.faults {
		if n > 0 {
			s.faults[i].add(bin, n)
		}
	}
	if t.latency.total > 0 {
		minute := binOf(s.line, time.Minute)
		m := &s.latency[minute%int64(len(s.latency))]
		if m.minute != minute {
			*m = minuteLatency{minute: minute}
		}
		m.h.merge(&t.latency)
	}
	// A domain that was never handed over has no row to count in; its answers are in the run's numbers.
	for i := range t.cells {
		if d := s.domains[t.cells[i].domain]; d != nil {
			d.count(&t.cells[i], s.at, bin)
			if t.cells[i].limited != ([layers]int64{}) {
				s.refused[d] = struct{}{}
			}
		}
	}
}

// log keeps the newest entries and numbers all of them.
type log[T any] struct {
	keep    int
	entries []T // oldest first
	seq     uint64
	read    uint64 // number of the newest that was in a frame
	dropped uint64 // overwritten before they were in any
	copied  []T    // newest first, shared by frames; nil when out of date
}

func (l *log[T]) add(entries []T, number func(*T, uint64)) {
	if len(entries) == 0 {
		return
	}
	for _, e := range entries {
		l.seq++
		number(&e, l.seq)
		l.entries = append(l.entries, e)
	}
	if over := len(l.entries) - l.keep; over > 0 {
		lost := l.seq - uint64(l.keep) // number of the newest that is overwritten
		first := lost - uint64(over)
		l.dropped += lost - min(max(first, l.read), lost)
		l.entries = append([]T(nil), l.entries[over:]...)
	}
	l.copied = nil
}

func (l *log[T]) newestFirst() []T {
	if l.copied == nil && len(l.entries) > 0 {
		l.copied = make([]T, 0, len(l.entries))
		for i := len(l.entries) - 1; i >= 0; i-- {
			l.copied = append(l.copied, l.entries[i])
		}
	}
	l.read = l.seq
	return l.copied
}
