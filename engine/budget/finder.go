package budget

import (
	"math"
	"time"
)

// finder looks for a limit that nobody told us and stays just below it: explain, hold, probe.
//
// It begins with two in flight and grows while everything is let through. From the first refusal on it keeps a record of
// its starts and refusals, and every refusal must be explained by it: so many in flight, a window of starts, or a leaking
// bucket; the cheapest explanation is what is enforced. Then it holds, and after a while it asks for a little more.
//
// The budget's cooldown always comes first: the finder never lets anything start earlier. Its own clock is seconds since
// its first start. Nothing but a few numbers is kept before the first refusal.
type finder struct {
	paced  bool // spread starts inside a known window instead of sending them at once
	origin time.Time

	w       int // in flight allowed while no model bounds the starts
	was     int // before a refusal lowered it
	past    outline
	most    int // greatest number in flight let through, and how often
	mostN   int
	full    float64 // since when w is in use unrefused; negative: not
	grown   float64
	answer  bool
	lat     latency
	service float64 // s, of a call, smoothed

	reopening bool    // in steps, since an accepted probe
	reopenAt  float64 // with so many in flight then
	reopenOn  int
	known     bool // the number to reopen to was let through before: in larger steps

	next float64 // paced: the next start is due
	turn uint64  // of jitter

	*study // nil until the first refusal
}

// study is what a finder keeps from its first refusal on.
type study struct {
	rec      *record
	model    model
	rtt      float64 // until a refusal comes back
	refusals int
	renewed  bool    // remembered in full: work under it confirms it
	firstRef float64 // when the first refused start was sent
	cut      float64
	ep       episode

	hold     float64
	price    float64 // the longest wait that a refusal announced
	probe    float64 // when more than w was tried; negative: no such try is open
	probeAt  float64 // when the next is due
	step     int
	moves    []float64 // surprises: the limit moved
	doubts   []float64 // pauses that ended without need
	accepted tally

	level, levelAt float64 // of the bucket
	ramp, rampAt   float64 // its rate is being found: the rate at rampAt, doubling each rampEach
	rampEach       float64
	grow, growAt   float64 // factor of the next rise, and when rises may begin
	growN, grew    int
	grownFrom      float64 // the rate before the first rise
	growLast       float64
	since          float64 // the bucket's record begins here, at
	sinceLevel     float64
	size           float64 // of the bucket, smoothed; zero: not measured
	repaced        float64
	gaps           spacing

	extra, extraStep int // starts tried beyond the window's limit
	extraAt          float64
	extraHold        float64
	adoptedAt        float64
}

// episode is a refusal and the pause after it.
type episode struct {
	open   bool
	judged bool // explained already: the pause changes nothing
	first  bool // the very first refusal
	moreOK bool // more in flight had been let through than were refused
	at     float64
	n      int
	worst  int // least in flight that was refused
}

const (
	findStart = 2
	growGap   = 0.025 // s, least between two growths by answers
	fullFor   = 0.4   // s, over w: a full w unrefused for so long counts as let through
	holdFirst = 5.0   // s
	holdMost  = 60.0  // s
	// A probe for more may be refused quiet times in 1,000 acceptances, restless times at most while the limit moves.
	quiet        = 2.0
	restless     = 40.0
	surpriseSpan = 120.0 // s
	sure         = -0.1  // cost below which a model replaces "in flight"
	evenly       = 0.2   // spread above which a model does not replace it
	rateMargin   = 0.98
	rateLeast    = 0.01 // starts a second
	rateMost     = 1000.0
	growFirst    = 1.03
	growMost     = 1.3
	reopenLeast  = 0.05 // s, between steps of reopening
	reopenSteps  = 4.0  // to a number that was let through before
)

func newFinder(paced bool) *finder { return &finder{paced: paced, w: findStart, full: -1, grown: -1} }

// seconds is now on the finder's clock.
func (f *finder) seconds(now time.Time) float64 {
	if f.origin.IsZero() {
		return 0
	}
	return now.Sub(f.origin).Seconds()
}

// time is a moment of the finder's clock, rounded up: never early.
func (f *finder) time(at float64) time.Time {
	if math.IsInf(at, 1) {
		return time.Time{}
	}
	return f.origin.Add(time.Duration(math.Ceil(at * 1e9)))
}

// confirm is how long without a refusal counts as let through: refusals come back fast.
func (f *finder) confirm() float64 {
	if f.study == nil {
		return 0.02
	}
	return max(0.02, 4*f.rtt)
}

// bounds are the numbers in flight that hold at a time, once everything that time alone settles is settled.
type bounds struct {
	w       int
	step    int
	probe   float64
	probeAt float64
	full    float64
}

func (f *finder) settled(t float64) bounds {
	b := bounds{w: f.w, full: f.full, probe: -1, probeAt: math.Inf(1)}
	if f.study == nil {
		if f.full >= 0 && t >= f.full+fullFor/float64(f.w)-1e-9 {
			b.w, b.full = f.w+1, -1
		}
		return b
	}
	b.step, b.probe, b.probeAt = f.step, f.probe, f.probeAt
	if f.probe >= 0 && t >= f.probe+f.confirm()-1e-9 {
		b.w = f.w + f.step
		b.step = min(2*f.step, max(1, b.w/4))
		b.probe, b.probeAt = -1, t
	}
	return b
}

// settle makes what time alone settled the state.
func (f *finder) settle(t float64) {
	b := f.settled(t)
	if f.study == nil {
		f.w, f.full = b.w, b.full
		return
	}
	if b.w > f.w {
		if n := len(f.rec.refs); n > 0 && b.w > f.rec.refs[n-1].n {
			f.surprise(t)
		}
		f.hold = holdFirst
	}
	f.w, f.step, f.probe, f.probeAt = b.w, b.step, b.probe, b.probeAt
	if f.reopening && f.reopened(t) {
		f.reopening = false
	}
}

// room says whether one more may start while n are in flight, and when otherwise; +Inf: an answer will tell. It changes
// nothing.
//
// A probe for more goes midway between two starts: where the number in flight is bounded that makes no difference, where
// the pace is, it is let through, and the refusals that follow at numbers let through before tell the one from the other.
func (f *finder) room(t float64, n int) (why Reason, at float64) {
	if f.study != nil && f.model.kind != noModel {
		if at := f.modelOpen(t); at > t {
			return Pace, at
		}
		return "", 0
	}
	b := f.settled(t)
	w := b.w
	if f.reopening {
		if limit, stepAt := f.reopenLimit(t); limit < w {
			if n < limit {
				return "", 0
			}
			return Slots, stepAt
		}
	}
	if n < w {
		return "", 0
	}
	switch {
	case f.study == nil:
		if b.full >= 0 {
			return Slots, b.full + fullFor/float64(w)
		}
		return Slots, math.Inf(1)
	case b.probe >= 0:
		return Slots, b.probe + f.confirm()
	case t >= b.probeAt:
		if n >= w+b.step {
			return Slots, math.Inf(1)
		}
		if apart := f.past.last + f.service/float64(2*w); apart > t {
			return Slots, apart
		}
		return "", 0
	}
	return Slots, b.probeAt
}

// reopenLimit is how many may be in flight while a budget reopens in steps, and when the next step is due.
func (f *finder) reopenLimit(t float64) (limit int, stepAt float64) {
	each := max(reopenLeast, f.confirm())
	if f.known {
		each = max(reopenLeast, f.confirm()/4) // as long as a refusal takes to come back
	}
	k := max(0, math.Floor((t-f.reopenAt)/each+1e-9))
	limit = f.reopenOn + 1<<int(min(k, 10))
	if f.known {
		limit = f.reopenOn + max(1, int(math.Ceil(float64(f.w-f.reopenOn)*min(1, (k+1)/reopenSteps))))
	}
	return limit, f.reopenAt + (k+1)*each
}

// reopened reports that the steps are over.
func (f *finder) reopened(t float64) bool {
	if !f.reopening || f.study != nil && f.model.kind != noModel {
		return true
	}
	limit, _ := f.reopenLimit(t)
	return limit >= f.w
}

// reopen ends a pause after an accepted probe: the model that explains it is adopted, or the number in flight comes back
// in steps.
func (f *finder) reopen(now, sent time.Time, n, inFlight int) {
	t := f.seconds(now)
	if f.study != nil && f.ep.open {
		f.resume(t, f.seconds(sent), n)
	}
	f.known = f.study != nil && (f.ep.judged || f.ep.first && !f.rec.announced && f.most >= f.w)
	f.reopening, f.reopenAt, f.reopenOn = true, t, inFlight
}

// limit is the number in flight that is allowed; zero: starts are bounded instead.
func (f *finder) limit() int {
	if f.study != nil && f.model.kind != noModel {
		return 0
	}
	return f.w
}

// lowered reports that a refusal taught a limit.
func (f *finder) lowered() bool { return f.study != nil }

// sent records a start, the n-th in flight.
func (f *finder) sent(now time.Time, n int, probing bool) {
	if f.origin.IsZero() {
		f.origin = now
	}
	t := f.seconds(now)
	f.settle(t)
	if f.study == nil {
		f.past.add(t)
		if f.answer && f.full < 0 && n >= f.w {
			f.full = t
		}
		return
	}
	at := f.rec.add(t, n)
	f.past.last = t
	switch {
	case f.model.kind != noModel:
		f.spend(at)
	case !probing && n > f.w && f.probe < 0:
		f.probe = t
	}
}

// answered records a start that the limit let through.
func (f *finder) answered(now, sent time.Time, n int) {
	t, s := f.seconds(now), f.seconds(sent)
	f.answer = true
	if f.service == 0 {
		f.service = t - s
	}
	f.service += 0.2 * (t - s - f.service)
	switch {
	case n > f.most:
		f.most, f.mostN = n, 1
	case n == f.most:
		f.mostN++
	}
	if f.study == nil {
		full := n >= f.w
		f.slower(t, s)
		if full && t >= f.grown+growGap && !f.reopening {
			f.w, f.grown = f.w+1, t
		}
		f.settle(t)
		return
	}
	f.accepted.add(t)
	if f.model.kind == windowModel && f.extra > 0 && s > f.cut && f.rec.within(s+1e-6, f.model.span) > int(f.model.limit) {
		f.model.limit += float64(f.extra)
		f.extraStep *= 2
		f.extra, f.extraHold, f.extraAt = 0, 1, t
	}
	if s > f.cut {
		f.slower(t, s)
	}
	f.settle(t)
}

// surprise notes that the limit moved.
func (f *finder) surprise(t float64) {
	for len(f.moves) > 0 && (f.moves[0] < t-surpriseSpan || len(f.moves) >= 16) {
		f.moves = f.moves[1:]
	}
	f.moves = append(f.moves, t)
}

// patience is the hold that keeps refused probes inside their share of the acceptances, and of the time: each costs a
// cooldown.
func (f *finder) patience(t float64) float64 {
	recent := 0
	for _, m := range f.moves {
		if m >= t-surpriseSpan {
			recent++
		}
	}
	share := min(restless, quiet*(1+4*float64(recent)))
	calm := probesShare * f.pauseCosts()
	return max(holdFirst, calm/float64(1+recent), min(holdMost, 1000/share/f.accepted.rate(t)))
}

// pauseCosts is how much work a pause of our own costs, as time at full speed: what is in flight goes on meanwhile.
func (f *finder) pauseCosts() float64 {
	pause := pauseUsual + f.confirm()
	if f.service > pause {
		return pause * pause / (2 * f.service)
	}
	return pause - f.service/2
}

// Probes for more that are refused may cost one part in probesShare of the time. The wait of our own is a second on average.
const (
	probesShare = 45.0
	pauseUsual  = 1.0 // s
)

// worthwhile is how many times the wait that a refusal costs is held before the next probe risks one.
const worthwhile = 20

// keep holds for a while before the next probe: the longer, the more a refusal costs.
func (f *finder) keep(t, hold float64) {
	hold = max(hold, worthwhile*f.price)
	f.cut, f.hold = t, hold
	f.probe, f.step, f.probeAt = -1, 1, t+hold
}
