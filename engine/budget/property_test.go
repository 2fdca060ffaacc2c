package budget

import (
	"container/heap"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
)

// world drives one budget with everything that can happen to it, at random, and checks on the way what must always hold.
type world struct {
	t   *testing.T
	rng *rand.Rand // of the world
	own *rand.Rand // of the budget's jitter
	b   *Budget
	now time.Time

	answers  answers
	serve    func(now time.Time, n int) (refused bool, wait time.Duration)
	told     time.Time // no start may come before: the longest wait announced so far
	until    time.Time // the budget's own word, which never moves back
	log      strings.Builder
	starts   []started
	paused   bool
	accepted int
}

type started struct {
	at    float64
	rate  float64 // of the model at that start
	limit float64
	model modelKind
	era   int // the model's; another era, another model
}

type answer struct {
	at      time.Time
	sent    time.Time
	n       int
	probe   Probe
	refused bool
	wait    time.Duration
	lost    bool
}

type answers []answer

func (q answers) Len() int           { return len(q) }
func (q answers) Less(i, j int) bool { return q[i].at.Before(q[j].at) }
func (q answers) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *answers) Push(x any)        { *q = append(*q, x.(answer)) }
func (q *answers) Pop() any {
	old := *q
	x := old[len(old)-1]
	*q = old[:len(old)-1]
	return x
}

// rules are the servers of the property test, silent or telling.
func rules(rng *rand.Rand) func(time.Time, int) (bool, time.Duration) {
	tell := func(d float64) time.Duration {
		if rng.IntN(2) == 0 {
			return 0
		}
		return time.Duration(math.Ceil(d)) * time.Second
	}
	at := func(now time.Time) float64 { return now.Sub(t0).Seconds() }
	switch rng.IntN(5) {
	case 0:
		n := 1 + rng.IntN(12)
		return func(_ time.Time, k int) (bool, time.Duration) { return k > n, tell(1) }
	case 1:
		span := float64(1 + rng.IntN(60))
		rule := slidingRule(1+rng.IntN(60), span)
		return func(now time.Time, _ int) (bool, time.Duration) { return !rule(at(now)), tell(span) }
	case 2:
		span := float64(1 + rng.IntN(60))
		rule := fixedRule(1+rng.IntN(60), span, rng.Float64()*span)
		return func(now time.Time, _ int) (bool, time.Duration) { return !rule(at(now)), tell(span) }
	case 3:
		rule := bucketRule(0.2+rng.Float64()*40, 1+rng.Float64()*30)
		return func(now time.Time, _ int) (bool, time.Duration) { return !rule(at(now)), tell(1) }
	}
	// A server without any rule.
	return func(time.Time, int) (bool, time.Duration) { return rng.IntN(4) == 0, tell(float64(rng.IntN(90))) }
}

func (w *world) failf(format string, args ...any) {
	w.t.Helper()
	w.t.Fatalf("at %.6f s: "+format, append([]any{w.now.Sub(t0).Seconds()}, args...)...)
}

// gate asks twice, compares the budget before and after, and checks that a closed gate will open.
func (w *world) gate() Gate {
	w.t.Helper()
	w.b.Elapse(w.now)
	var before string
	deep := w.rng.IntN(40) == 0
	if deep {
		before = w.picture()
	}
	g := w.b.Gate(w.now)
	if again := w.b.Gate(w.now); again != g {
		w.failf("asked twice, answered %+v and %+v", g, again)
	}
	if deep && w.picture() != before {
		w.failf("asking changed the budget")
	}
	if g.OK {
		if w.now.Before(w.told) {
			w.failf("open %v before the end of an announced wait", w.told.Sub(w.now))
		}
		if w.now.Before(w.b.Cooldown().Until) && w.b.State(w.now) != Open && w.b.State(w.now) != Recovering {
			w.failf("open inside a cooldown")
		}
		return g
	}
	if !g.At.IsZero() && !g.At.After(w.now) {
		w.failf("closed until %v, which is not later", g.At)
	}
	if g.At.IsZero() && w.b.InFlight() == 0 && g.Why != Paused && g.Why != Stopped {
		w.failf("closed by %q without a wake-up and with nothing in flight: it never opens (%s)", g.Why, w.b.Evidence())
	}
	return g
}

// picture is everything the budget knows, in text.
func (w *world) picture() string {
	s := fmt.Sprintf("%+v", *w.b)
	if f := w.b.find; f != nil {
		s += fmt.Sprintf("%+v", *f)
		if f.study != nil {
			s += fmt.Sprintf("%+v %+v", *f.study, *f.rec)
		}
	}
	return s
}

func (w *world) start() {
	w.t.Helper()
	f := w.b.find
	limited := w.b.state != Cooling && w.b.state != Probing
	if b := f.settled(f.seconds(w.now)); limited && f.limit() > 0 && w.b.inFlight+1 > b.w {
		if f.study == nil || b.probe >= 0 || f.seconds(w.now) < b.probeAt || w.b.inFlight+1 > b.w+b.step {
			w.failf("%d in flight with %d allowed, outside a probe for more", w.b.inFlight+1, b.w)
		}
	}
	out := w.b.ProbeIsOut()
	probe := w.b.Start(w.now)
	n := w.b.InFlight()
	if probe != 0 {
		if out {
			w.failf("two probes at once")
		}
	} else if f.study != nil && f.model.kind != noModel {
		extra := 0.0
		if f.model.kind == windowModel {
			extra = float64(f.extra)
		}
		w.starts = append(w.starts, started{f.rec.at[len(f.rec.at)-1], f.model.rate, f.model.limit + extra, f.model.kind, f.rec.cycle})
		w.bounded()
	}
	refused, wait := w.serve(w.now, n)
	if refused && probe == 0 && f.study != nil && f.model.kind == windowModel {
		w.starts = w.starts[:len(w.starts)-1] // a window counts what was let through
	}
	trip := time.Duration(1+w.rng.IntN(30)) * time.Millisecond
	if !refused {
		trip += time.Duration(w.rng.IntN(900)) * time.Millisecond
	}
	heap.Push(&w.answers, answer{at: w.now.Add(trip), sent: w.now, n: n, probe: probe, refused: refused, wait: wait, lost: w.rng.IntN(30) == 0})
	fmt.Fprintf(&w.log, "%d %d %v\n", w.now.Sub(t0).Nanoseconds(), n, probe)
}

// bounded checks that the starts under one model keep it: in any span of its window no more than its limit, in any span of
// a bucket no more than its size and what leaked.
func (w *world) bounded() {
	w.t.Helper()
	last := w.starts[len(w.starts)-1]
	rate, limit := last.rate, last.limit
	for i := len(w.starts) - 1; i >= 0 && i > len(w.starts)-80; i-- {
		s := w.starts[i]
		if s.model != last.model || s.era != last.era {
			return
		}
		rate, limit = max(rate, s.rate), max(limit, s.limit)
		n, span := float64(len(w.starts)-i), last.at-s.at
		if last.model == windowModel && span < w.b.find.model.span && n > limit+1 {
			w.failf("%v starts in %.3f s, allowed %v per %v s", n, span, limit, w.b.find.model.span)
		}
		if last.model == bucketModel && n > limit+rate*span+1+1e-6 {
			w.failf("%v starts in %.3f s of a bucket of %.2f leaking %.3f a second", n, span, limit, rate)
		}
	}
}

func (w *world) take(a answer) {
	w.t.Helper()
	w.b.Release()
	switch {
	case a.lost:
		w.b.ProbeLost(w.now, a.probe, BackoffMost, w.own)
	case a.refused:
		until, _ := w.b.Refused(w.now, Refusal{Sent: a.sent, InFlight: a.n, Wait: a.wait, Announced: a.wait > 0, Probe: a.probe}, w.own)
		if end := w.now.Add(a.wait); a.wait > 0 && end.After(w.told) {
			w.told = end
		}
		if until.Before(w.told) {
			w.failf("cools until %v, announced was %v", until, w.told)
		}
		if st := w.b.State(w.now); (st == Cooling || st == Probing) && until.Before(w.until) && w.now.Before(w.until) {
			w.failf("the end of the cooldown moved back by %v", w.until.Sub(until))
		}
		w.until = until
	default:
		w.accepted++
		w.b.Answered(w.now, a.sent, a.n, a.probe)
	}
	if f := w.b.find; f.w < 1 || f.study != nil && f.model.kind == bucketModel && f.model.rate < rateLeast {
		w.failf("w %d, rate %v", f.w, f.model.rate)
	}
}

// run lets so many starts happen.
func (w *world) run(total int) {
	w.t.Helper()
	for sent, idle := 0, 0; sent < total && idle < 10_000; idle++ {
		g := w.gate()
		if g.OK && !w.paused && w.rng.IntN(12) > 0 {
			w.start()
			sent++
			idle = 0
			continue
		}
		switch w.rng.IntN(60) {
		case 0:
			w.paused = !w.paused
			w.b.SetPaused(w.paused)
		case 1:
			w.b.HoldUntil(w.now, w.now.Add(time.Duration(w.rng.IntN(5000))*time.Millisecond), "failures", "", false)
		}
		var next time.Time
		if len(w.answers) > 0 {
			next = w.answers[0].at
		}
		if !g.At.IsZero() && (next.IsZero() || g.At.Before(next)) {
			next = g.At
		}
		if next.IsZero() {
			next = w.now.Add(time.Duration(w.rng.IntN(2000)) * time.Millisecond)
		}
		if next.After(w.now) {
			w.now = next
		}
		for len(w.answers) > 0 && !w.answers[0].at.After(w.now) {
			w.take(heap.Pop(&w.answers).(answer))
		}
	}
}

func newWorld(t *testing.T, seed uint64) *world {
	rng := rand.New(rand.NewPCG(seed, 4242))
	l := Limits{Find: true}
	if rng.IntN(3) == 0 {
		l.InFlight = 1 + rng.IntN(30)
	}
	scope := Domain
	if rng.IntN(3) == 0 {
		scope = Credential // its starts are not spread
	}
	return &world{t: t, rng: rng, own: newRand(seed), b: New(scope, "a.test", l), now: t0, serve: rules(rng)}
}

func TestWhateverHappens(t *testing.T) {
	seeds := uint64(150)
	if testing.Short() {
		seeds = 60
	}
	accepted := 0
	for seed := range seeds {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			w := newWorld(t, seed)
			w.run(600)
			accepted += w.accepted
			if seed%20 != 0 {
				return
			}
			again := newWorld(t, seed)
			again.run(600)
			if w.log.String() != again.log.String() {
				t.Error("the same events led to other decisions")
			}
			if !reflect.DeepEqual(w.starts, again.starts) {
				t.Error("the same events led to another model")
			}
		})
	}
	if accepted < 1000 {
		t.Errorf("only %d were let through in all", accepted)
	}
}
