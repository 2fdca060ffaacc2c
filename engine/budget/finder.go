package budget

import (
	"fmt"
	"math"
	"time"
)

// finder looks for a limit that nobody told us and stays just below it. It holds two competing explanations of a
// refusal: so many in flight at once, or so many in a span of time. It starts with two in flight and doubles each round
// trip while everything is accepted; the first refusal sets the edge just below where it happened. A refusal at a number
// in flight that was accepted before contradicts "in flight"; contradicted twice, or refused with one in flight, it
// paces starts instead.
type finder struct {
	w     int // in flight allowed
	edge  int // the greatest number believed safe; zero: never refused
	was   int // w before it was lowered
	best  int // greatest number in flight accepted under the present explanation
	round int // accepted since the last growth
	full  bool

	contradicted int
	quietSince   time.Time // last fresh refusal
	trying       bool      // testing one more than the edge
	hold         time.Duration
	tryAt        time.Time

	epochs     int
	epochStart time.Time
	epochGot   int       // accepted in this epoch
	burst      int       // accepted in the first epoch: what came through at once
	firstCut   time.Time // its end
	since      time.Time // the first refusal: the span over which the rate is measured
	got        int       // accepted since then

	pace    float64   // starts a second; zero: not paced
	floor   float64   // the pace that went through a whole stage
	ramp    bool      // doubling until it is refused
	stage   time.Time // since the pace was set anew, or work reopened under it
	stageN  int       // accepted since the stage began
	grown   int       // accepted since the pace grew
	next    time.Time
	refusal int // refusals in all, for the evidence

	steps int // of reopening after a cooldown
	stepN int
}

const (
	findStart = 2
	holdFirst = 20 * time.Second
	holdMost  = 10 * time.Minute
	// paceMargin keeps a learned pace under the measured one; growth finds what it leaves.
	paceMargin = 0.98
	paceGrowth = 1.03
	paceCut    = 0.9
	growEvery  = 10 // acceptances
	paceLeast  = 0.01
	// contradictionsForget is how long without a refusal clears what spoke against "in flight".
	contradictionsForget = 30 * time.Second
	reopenPaced          = 5 // acceptances at half the pace after a cooldown
)

func newFinder() *finder { return &finder{w: findStart, hold: holdFirst} }

// allowed is the number in flight that the finder allows.
func (f *finder) allowed(recovering bool) int {
	if recovering && f.pace == 0 {
		return min(f.w, f.steps)
	}
	if f.pace > 0 {
		return 0
	}
	return f.w
}

func (f *finder) lowered() bool { return f.edge > 0 || f.pace > 0 }

func (f *finder) sent(now time.Time, n int) {
	if f.epochStart.IsZero() {
		f.epochStart = now
	}
	if f.pace <= 0 {
		return
	}
	gap := time.Duration(float64(time.Second) / f.pace)
	if f.steps > 0 {
		gap *= 2 // reopening
	}
	if f.next.Before(now.Add(-gap)) {
		f.next = now
	}
	f.next = f.next.Add(gap)
}

// reopen begins the steps after an accepted probe.
func (f *finder) reopen(now time.Time) {
	f.steps, f.stepN = 1, 0
	f.stage, f.stageN = now, 0
	f.epochStart, f.epochGot = now, 0
	f.next = now
}

// reopened reports that the steps are over.
func (f *finder) reopened() bool {
	if f.pace > 0 {
		return f.steps == 0
	}
	if f.steps >= f.w {
		f.steps = 0
		return true
	}
	return false
}

func (f *finder) accepted(now, sent time.Time, n int, recovering bool) {
	f.got++
	f.epochGot++
	if n > f.best {
		f.best = n
	}
	if f.contradicted > 0 && now.Sub(f.quietSince) > contradictionsForget {
		f.contradicted = 0
	}
	if recovering {
		f.stepN++
		switch {
		case f.pace > 0 && f.stepN >= reopenPaced:
			f.steps = 0
			f.stage, f.stageN = now, 0
		case f.pace == 0 && f.stepN >= f.steps:
			f.steps, f.stepN = f.steps*2, 0
		}
		return
	}
	if f.pace > 0 {
		f.growPace(now)
		return
	}
	f.round++
	f.full = f.full || n >= f.w
	switch {
	case f.edge == 0:
		if f.full && f.round >= f.w {
			f.w, f.round, f.full = f.w*2, 0, false
		}
	case f.trying && n > f.edge:
		// One more went through: the limit rose. Test again soon.
		f.edge, f.w, f.trying, f.hold = n, n, false, time.Second
		f.tryAt = now.Add(f.hold)
	case !f.trying && f.full && !now.Before(f.tryAt):
		f.w, f.trying, f.full = f.edge+1, true, false
	}
}

// late counts an acceptance that arrives after the refusal that ended its epoch.
func (f *finder) late(sent time.Time) {
	f.got++
	if f.epochs == 1 && !sent.After(f.firstCut) {
		f.burst++
	}
}

func (f *finder) growPace(now time.Time) {
	f.stageN++
	f.grown++
	if f.ramp {
		if f.grown >= growEvery && now.Sub(f.stage) >= 500*time.Millisecond {
			f.floor = f.pace
			f.pace *= 2
			f.stage, f.stageN, f.grown = now, 0, 0
		}
		return
	}
	if f.grown >= growEvery && !now.Before(f.tryAt) {
		f.pace *= paceGrowth
		f.grown = 0
	}
}

func (f *finder) refused(now time.Time, r Refusal, fresh bool) {
	f.refusal++
	n := max(r.InFlight, 1)
	if r.Probe {
		// The wait was too short; this tells nothing of the limit while one is paced.
		return
	}
	if !fresh {
		// The same burst: it can only tell that the edge is lower.
		if f.pace == 0 && !f.trying && n-1 < f.edge {
			f.edge = max(n-1, 1)
			f.w = f.edge
		}
		return
	}
	if f.epochs == 0 {
		f.since, f.got, f.burst = now, 0, f.epochGot
		f.firstCut = now
	}
	f.epochs++
	f.quietSince = now
	f.round, f.full = 0, false
	if f.pace > 0 {
		f.repace(now)
		return
	}
	if f.trying && n > f.edge {
		f.trying, f.w = false, f.edge
		f.hold = min(max(f.hold, holdFirst)*2, holdMost)
		f.tryAt = now.Add(f.hold)
		return
	}
	f.trying = false
	// More than this were accepted at once before: that is no limit on the number in flight. At the same number a race
	// between our count and theirs may explain it once.
	switch {
	case n < f.best:
		f.contradicted = 2
	case n == f.best:
		f.contradicted++
	}
	if n <= 1 || f.contradicted >= 2 {
		f.startPace(now)
		return
	}
	if f.w > n-1 {
		f.was = f.w
	}
	f.edge = n - 1
	f.w, f.best = f.edge, min(f.best, f.edge)
	f.tryAt = now.Add(f.hold)
}

// startPace begins to pace at 0.9 of the accepted rate of the last second or more, doubling until it is refused.
func (f *finder) startPace(now time.Time) {
	span, got := now.Sub(f.since), f.got
	if span < time.Second {
		span, got = max(now.Sub(f.epochStart), time.Second), max(f.epochGot, f.burst)
	}
	f.was = f.w
	f.pace = max(paceCut*float64(got)/span.Seconds(), paceLeast)
	f.ramp, f.floor = true, 0
	f.stage, f.stageN = now, 0
	f.next = now
}

// repace lowers the pace after a refusal under it. At a refusal the other side has nothing left, so what came through
// since the stage began, less what may have been saved up before it, came at the limit's own rate.
func (f *finder) repace(now time.Time) {
	span := now.Sub(f.stage).Seconds()
	measured := 0.0
	if span > 0 {
		measured = (float64(f.stageN) - float64(f.burst)) / span
	}
	old := f.pace
	switch {
	case f.ramp:
		f.pace = paceMargin * math.Min(math.Max(measured, f.floor), old)
	case measured > old/2:
		f.pace = paceMargin * math.Min(measured, old)
	default:
		f.pace = old * paceCut
	}
	if f.pace < old/4 {
		f.pace = old / 4 // too short a stage to tell
	}
	f.ramp = false
	f.pace = math.Max(f.pace, paceLeast)
	f.stage, f.stageN, f.grown = now, 0, 0
	f.tryAt = now.Add(f.hold)
	f.hold = min(f.hold*2, holdMost)
}

func (f *finder) evidence() string {
	switch {
	case f.pace > 0:
		return fmt.Sprintf("%.3g starts a second; %d refusals", f.pace, f.refusal)
	case f.edge > 0:
		return fmt.Sprintf("%d in flight; refused at %d; %d refusals", f.edge, f.edge+1, f.refusal)
	}
	return ""
}
