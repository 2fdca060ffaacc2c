package budget

import (
	"cmp"
	"math"
	"slices"
)

// adopt enforces a model from now on.
func (f *finder) adopt(t float64, fit fitted) {
	if f.model.kind != fit.kind {
		f.moves = f.moves[:0] // what seemed to move was another limit than was believed
	}
	f.model = fit.model
	f.gaps = spacing{barred: f.gaps.barred}
	f.adoptedAt = t
	if f.model.kind == windowModel {
		f.extra, f.extraStep, f.extraHold = 0, 1, 1
		f.extraAt = t + f.model.span*max(3, 1000/(quiet*f.model.limit))
	} else {
		f.size = fit.limit
		f.model.rate, f.model.limit = rateMargin*fit.rate, max(1, fit.limit-0.5, fit.let)
		f.level, f.levelAt, f.ramp = f.model.limit, t, 0
		f.grow, f.growAt, f.growN, f.grew = growFirst, t+holdFirst, 0, 0
	}
	f.was = max(f.was, f.w)
	f.next = t
	f.keep(t, holdFirst)
}

// A long wait at the start of the work says little of a rate: the ramp begins and doubles no slower than this.
const (
	rampLeast   = 0.05 // starts a second
	rampSlowest = 10.0 // s
	rampGuess   = 2.0  // rooms that came back since the last refusal: one at least, halfway on average
)

// drainingRamp takes a bucket whose rate is not known: from an empty bucket nothing is lost until it is full again, and
// the refusal that ends the doubling comes when sent = rate x time: it tells the rate.
func (f *finder) drainingRamp(t, gap float64, sent int, lastRef, s float64, tried bool) {
	rate := float64(min(max(sent, 1), 20)) / max(gap, 0.05)
	if tried && !f.rec.announced {
		rate = rampGuess / max(0.05, s-lastRef)
	}
	rate = max(rampLeast, rate)
	f.model = model{kind: bucketModel, rate: rate, limit: max(1, math.Floor(0.75*float64(sent)))}
	f.gaps = spacing{barred: f.gaps.barred}
	f.adoptedAt = t
	f.level, f.levelAt = 1, t
	f.ramp, f.rampAt, f.rampEach = rate, t, min(rampSlowest, max(0.2, 1.5/rate))
	f.was = max(f.was, f.w)
	f.growAt = math.Inf(1)
	f.next = t
	f.keep(t, holdFirst)
}

// average is the rate of all starts since the work began, without a burst: so much is let through whatever the edge is.
func (f *finder) average() float64 {
	r := f.rec
	return max(rateLeast, (float64(len(r.at))-f.model.limit)/max(0.1, f.past.last-r.at[0]))
}

// leaked is the bucket's level at a time.
func (f *finder) leaked(t float64) float64 {
	return max(0, f.level-max(0, t-f.levelAt)*f.model.rate)
}

// modelOpen is when the model allows the next start; a time not after t: now.
func (f *finder) modelOpen(t float64) float64 {
	at := 0.0
	if f.paced {
		at = f.next
	}
	if f.model.kind == bucketModel {
		if over := f.leaked(t) + 1 - f.model.limit; over > 1e-9 {
			at = max(at, t+max(1e-4, over/f.model.rate))
		}
		return at
	}
	limit := int(f.model.limit)
	if f.extra > 0 || t >= f.extraAt {
		limit += max(f.extra, f.extraStep)
	}
	if nth, ok := f.rec.nthLast(limit); ok {
		at = max(at, nth+f.model.span+0.011)
	}
	return at
}

// spend charges a start to the model, and lets a bucket that was held long enough grow.
func (f *finder) spend(t float64) {
	if f.model.kind == windowModel {
		if f.extra == 0 && t >= f.extraAt {
			f.extra = f.extraStep
		}
		f.space(t, windowSpread*f.model.span/(f.model.limit+float64(f.extra)))
		return
	}
	f.level, f.levelAt = f.leaked(t)+1, t
	switch {
	case f.gaps.enforced:
		f.faster(t)
	case f.ramp > 0:
		f.model.rate = min(rateMost, max(f.model.rate, f.ramp*math.Exp2(min(20, (t-f.rampAt)/f.rampEach))))
	case t >= f.growAt:
		if f.growN++; float64(f.growN) >= max(growLeast, min(f.model.limit, growSpan*f.model.rate)) {
			if f.grew == 0 {
				f.grownFrom = f.model.rate
			}
			f.model.rate = min(rateMost, f.model.rate*f.grow)
			f.grew, f.growLast = f.grew+1, f.grow
			f.grow, f.growN = min(growMost, 1+2*(f.grow-1)), 0
		}
	}
	// What was saved up in a pause may be caught up at twice the pace, not at once.
	f.space(t, 0.5/f.model.rate)
}

// space makes the next start due after about gap, give or take a fifth. The jitter follows from the order of starts alone.
func (f *finder) space(t, gap float64) {
	f.turn = f.turn*6364136223846793005 + 1442695040888963407
	f.next = t + gap*(0.8+0.4*float64(f.turn>>40)/(1<<24))
}

// lateRefusals is how many refusals it takes to do without the first.
const lateRefusals = 3

// repace brings a bucket's rate and size up to date after a refusal; false: nothing is known to do so with.
func (f *finder) repace(t, s float64) bool {
	if f.gaps.enforced {
		if f.respace(t, s) {
			return true
		}
	} else if f.adoptSpacing(t) {
		return true
	}
	if s <= f.since {
		return false
	}
	acc := f.rec.at[f.rec.after(f.since):f.rec.before(s)]
	since, level := f.since, f.sinceLevel
	var buf [8]float64
	refs := buf[:0]
	last := max(f.since, 0)
	for _, x := range f.rec.refs[max(0, len(f.rec.refs)-len(buf)):] {
		if x.at > f.since {
			refs = append(refs, x.at)
			if x.at < s {
				last = max(last, x.at)
			}
		}
	}
	if len(acc) > fitBucket || !f.rec.whole && since <= 0 {
		acc = acc[max(0, len(acc)-fitBucket):]
		// What came before is not there any more: it begins with a refusal, when the bucket was full.
		for len(refs) > 1 && (since <= acc[0] || refs[0] <= since) {
			if since = refs[0]; since > acc[0] {
				acc, level = acc[countUpTo(acc, since):], max(f.model.limit, f.size-0.5)
			}
			refs = refs[1:]
		}
	}
	if len(refs) >= lateRefusals && refs[0] == f.firstRef && (f.ramp > 0 || f.grew > 0) {
		refs = refs[1:] // what others had taken before our first start is not known; it is forgotten once there is more
	}
	k := len(acc) - countUpTo(acc, last)
	if k < 1 || len(refs) == 0 {
		return false
	}
	estimate := float64(k) / max(1e-3, s-last)
	was, wasSize, ramping := f.model.rate, f.model.limit, f.ramp > 0
	if !f.fitRate(acc, refs, estimate, since, level) {
		f.rateMoved(t, s, acc, estimate)
	} else {
		f.bucketHold(t)
	}
	if t-f.repaced < max(1, 5/was) && !ramping && f.model.rate > 0.93*was {
		// Refused again at once: down, whatever the fit says.
		f.model.rate, f.model.limit = 0.93*was, min(f.model.limit, wasSize)
	}
	f.model.rate = max(rateLeast, f.model.rate)
	f.repaced, f.ramp, f.grew, f.cut = t, 0, 0, t
	f.level, f.levelAt = f.model.limit, t
	f.grow, f.growAt, f.growN = growFirst, t+f.hold, 0
	return true
}

func (f *finder) bucketHold(t float64) { f.hold = min(max(2*f.hold, holdFirst), f.patience(t)) }

// fitRate scans the rates that the record allows and takes the one nearest to what is wanted: the upper tenth after a
// ramp (optimism costs one refusal, pessimism the rest of the job), else about the present one.
func (f *finder) fitRate(acc, refs []float64, estimate, start, level float64) bool {
	if start <= 0 {
		start, level = acc[0], 0
	}
	var options []option
	least := math.Inf(1)
	try := func(rate float64) float64 {
		m := meter(acc, refs, rate, level, start)
		if m.explains() {
			o := optionOf(m, rate)
			o.size = m.refused
			options = append(options, o)
			least = min(least, m.spread)
		}
		return m.off()
	}
	closest := scan(max(0.01, min(estimate, f.model.rate)/3), 3*max(estimate, min(f.model.rate, 8*estimate)), 1.025, try)
	scan(closest/1.025, closest*1.025, 1.002, try)
	if seen := rateBetween(acc, refs); seen > 0 {
		scan(seen/1.02, seen*1.02, 1.004, try)
	}
	slices.SortFunc(options, func(a, b option) int { return cmp.Compare(a.rate, b.rate) })
	good := options[:0]
	for _, o := range options {
		if o.spread <= least+0.01 {
			good = append(good, o)
		}
	}
	if len(good) == 0 {
		return false
	}
	want := f.model.rate / rateUp
	switch {
	case f.ramp > 0:
		want = good[int(float64(len(good))*0.9)].rate
	case f.grew > 0:
		want = f.model.rate / math.Pow(f.growLast, 1.5)
	}
	best, far := good[0], math.Inf(1)
	for _, o := range good {
		off := math.Abs(math.Log(o.rate / want))
		if f.size > 0 {
			off += 3 * math.Abs(math.Log(max(1, o.size)/max(1, f.size)))
		}
		if off < far {
			best, far = o, off
		}
	}
	rate := best.rate
	if lo, hi := good[0].rate, good[len(good)-1].rate; f.grew == 0 && hi < 2*lo {
		rate = roundest(lo, hi, rate)
	}
	f.model.rate, f.model.limit = rateMargin*rate, max(1, best.size-1.1, best.let)
	if f.size == 0 {
		f.size = best.size
	} else {
		f.size = 0.7*f.size + 0.3*best.size
	}
	return true
}

const rateUp = 1.02 // refused without growing: a little less than the present rate is wanted

// rateMoved gives up the record before a change of the other side's rate.
func (f *finder) rateMoved(t, s float64, acc []float64, estimate float64) {
	if f.grew > 0 {
		// Up: the bucket was full when growth began, so the rate is the one that makes its level reach the size now.
		grown := acc[countBefore(acc, f.growAt):]
		size := f.size
		if size == 0 {
			size = f.model.limit + 1
		}
		rate := f.model.rate / 1.5
		if len(grown) > 0 {
			best := math.Inf(1)
			for k := range 60 {
				r := f.model.rate / math.Pow(1.03, float64(k))
				if off := math.Abs(meter(grown, []float64{s}, r, 0, grown[0]).refused - size); off < best {
					best, rate = off, rateMargin*r
				}
			}
		}
		f.model.rate, f.since, f.sinceLevel = max(rate, rateMargin*min(estimate, f.model.rate)), f.growAt, 0
	} else {
		level := 0.5
		if f.size > 0 {
			level = f.size - 0.5
		}
		f.model.rate, f.since, f.sinceLevel = min(0.9*f.model.rate, estimate), s, max(f.model.limit, level)
	}
	f.surprise(t)
	f.hold = holdFirst / 2
}

// A bucket's rate rises after as many starts as its size, or as leave it in a minute, but not fewer than ten: with fewer a
// rise cannot show.
const (
	growLeast = 10.0
	growSpan  = 60.0 // s
)

// windowSpread is the part of a known window over which its starts are spread: the site let the first ones through at full
// speed, and the last window's work should not take a whole window more.
const windowSpread = 0.1
