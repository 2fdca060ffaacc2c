package budget

import "math"

// A bucket for one is the simplest pace: a start is refused when it follows the last one too soon, whatever came before.
// Its rate needs no replay of the record: the least gap that was let through and the greatest that was refused bracket it,
// and each rate that is tried halves the bracket.

// spacing is the bracket, of gaps between starts in seconds.
type spacing struct {
	enforced bool
	barred   bool    // it was contradicted: no more of it
	let      float64 // no longer is needed
	refused  float64 // so short is too soon
	since    float64 // what is known dates from then
	rated    float64 // when the present rate was begun
	n        int     // starts at it
	falls    int
}

const (
	// gapSlack is by how much a gap that is refused may seem longer than one that was let through: the way there takes a
	// little longer one time than another.
	gapSlack   = 1.05
	gapMargin  = 1.01
	gapFine    = 0.01 // a part by which it is not worth being exact
	gapRound   = 1.25
	gapKnown   = 4.0 // so far apart the bracket says nothing
	gapUnknown = 2.0 // so far above the proven rate nothing is guessed
	fallsMost  = 3
)

// spaced looks for the bracket in the record; false: something else decides, or too little is known.
func (f *finder) spaced(t float64) (spacing, bool) {
	r := f.rec
	if f.gaps.barred || len(r.refs) < 2 {
		return spacing{}, false
	}
	exact := f.since
	if f.past.count > outlineFirst {
		exact = max(exact, r.synth)
	}
	lo, hi := r.before(exact), max(r.after(t-f.confirm()), r.before(r.refs[len(r.refs)-1].at))
	if hi-lo < 2 {
		return spacing{}, false
	}
	g := spacing{enforced: true, let: math.Inf(1), since: max(0, f.since)}
	for i := 1; i < hi; i++ {
		if i > lo || r.whole && i < outlineFirst && f.since <= 0 { // the others are made up
			g.let = min(g.let, r.at[i]-r.at[i-1])
		}
	}
	// A bucket for two leaks at least this: more was let through than it holds.
	least := max(0, float64(hi-2)) / max(sameInstant, r.at[hi-1]-r.at[0])
	level, at := 0.0, 0
	seen, refuted, one := 0, false, false
	for _, x := range r.refs {
		i := r.before(x.at)
		if i <= lo {
			continue
		}
		g.refused = max(g.refused, x.at-r.at[i-1])
		for ; at < i; at++ {
			if at > 0 {
				level = max(0, level-least*(r.at[at]-r.at[at-1]))
			}
			level++
		}
		one = one || level-least*(x.at-r.at[i-1]) <= 1 // it would have had room
		seen++
		refuted = refuted || x.n <= 1
		for k := lo; k < hi && !refuted; k++ {
			refuted = int(r.n[k]) >= x.n // the number in flight does not explain it
		}
	}
	enough := 2
	if f.ramp > 0 || f.grew > 0 {
		enough = 3 // while the gaps shrink anyhow, the refused one is the least
	}
	return g, refuted && one && seen >= enough && g.refused < g.let && gapKnown*g.refused > g.let && g.let > 10*sameInstant
}

// adoptSpacing enforces the spacing that explains the record, where the number in flight does not.
func (f *finder) adoptSpacing(t float64) bool {
	g, ok := f.spaced(t)
	if !ok {
		return false
	}
	f.adopt(t, fitted{model: model{kind: bucketModel, limit: 1}})
	f.gaps, f.size = g, 1
	f.pace(t)
	if g.let < gapRound*g.refused { // nothing says more than that people give round numbers
		f.model.rate = max(f.model.rate, roundest(1/g.let, 1/g.refused, 1/g.let)/gapMargin)
	}
	return true
}

// pace goes back to what is proven.
func (f *finder) pace(t float64) {
	f.gaps.rated, f.gaps.n = t, 0
	f.model.limit, f.model.rate = 1, max(rateLeast, min(rateMost, 1/(gapMargin*f.gaps.let)))
	f.level, f.levelAt = 1, f.past.last
	f.ramp, f.grew, f.growAt = 0, 0, math.Inf(1)
}

// gain is the part by which the rate may still rise when the next one tried is let through.
func (g *spacing) gain() float64 {
	if g.refused*gapUnknown*gapUnknown < g.let {
		return gapUnknown - 1
	}
	return math.Sqrt(g.let/g.refused) - 1
}

// faster tries a higher rate where that is worth a refusal: over as long as the work has lasted so far, half of what it may
// bring is more than the pause that it may cost. What is known exactly is held, and tried again when it is old.
func (f *finder) faster(t float64) {
	g := &f.gaps
	if g.n++; g.n < 2 || t < g.rated+1/f.model.rate+f.confirm() { // one at this rate was let through
		return
	}
	g.let = min(g.let, 1/f.model.rate) // unrefused
	gain := g.gain()
	switch {
	case gain < gapFine:
		if t < g.rated+f.patience(t) {
			return
		}
		g.refused /= growFirst * growFirst // it may have risen
		gain = g.gain()
	case gain*(t-g.since) < 2*max(pauseUsual+f.confirm(), f.price):
		return
	}
	if f.grew == 0 {
		f.grownFrom = f.model.rate
	}
	f.grew++
	f.model.rate = max(rateLeast, min(rateMost, (1+gain)/g.let))
	g.rated, g.n = t, 0
}

// respace brings the bracket up to date after a refusal; false: no spacing explains it.
func (f *finder) respace(t, s float64) bool {
	i := f.rec.before(s)
	if i == 0 {
		return false
	}
	g := &f.gaps
	gap := s - f.rec.at[i-1]
	switch {
	case gap < g.let:
		g.refused = max(g.refused, gap)
	case gap < gapSlack*g.let:
		g.refused, g.let = max(g.refused, g.let), gapMargin*gap
	default: // the rate fell
		if g.falls++; g.falls > fallsMost {
			*g = spacing{barred: true}
			return false
		}
		g.refused, g.let, g.since = gap, 1.25*gap, s
		f.since, f.sinceLevel = s, 0
		f.surprise(t)
	}
	f.repaced, f.cut = t, t
	f.pace(t)
	return true
}
