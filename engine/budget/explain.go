package budget

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// modelKind is what kind of limit a model holds against time.
type modelKind uint8

const (
	noModel     modelKind = iota
	windowModel           // L starts in any W seconds
	bucketModel           // a bucket of size L that leaks R a second
)

// model is an explanation of refusals by time; without one only the number in flight is bounded.
type model struct {
	kind  modelKind
	limit float64 // starts in a window, or the bucket's size
	span  float64 // the window's length in seconds
	rate  float64 // of the bucket, a second
	fixed bool    // the window has edges of its own
}

// fitted is a model with what it costs to believe it.
type fitted struct {
	model
	let             float64 // of a bucket: so many at once were let through
	lowest, highest float64 // of the rate that the record allows
	spread          float64 // how unequal the usage was at the refusals
	cost            float64
}

// vague reports a bucket whose rate the record leaves open: that many explain anything.
func (f fitted) vague() bool { return f.kind == bucketModel && f.highest > 2*f.lowest }

// usual are the window lengths that people choose, with what each costs a priori.
var usual = []struct{ span, cost float64 }{
	{60, 0}, {1, .01}, {10, .02}, {900, .05}, {300, .04}, {3600, .08}, {30, .02}, {5, .03}, {15, .06}, {20, .06}, {2, .05},
	{120, .05}, {600, .06}, {1800, .1}, {3, .07}, {45, .1}, {90, .1}, {180, .1}, {240, .1},
}

const (
	fitRefusals   = 24
	fitBucket     = 800
	exactRefusals = 2
	// edgeTries is how many edges of a fixed window are tried inside the last bracket.
	edgeTries = 6
)

// fit returns the model that explains best why the starts in the record since a time were let through and the refusals
// were not; false: none does. A true explanation has the same usage at each refusal, and never more at an acceptance.
func (r *record) fit(t, since, confirm float64) (fitted, bool) {
	refs := r.refs[max(0, len(r.refs)-fitRefusals):]
	lo, hi := r.before(since), r.after(t-confirm)
	if n := len(refs); n > 0 {
		hi = max(hi, r.before(refs[n-1].at)) // what was sent before a refused one and is not refused yet was let through
	}
	if hi <= lo {
		return fitted{}, false
	}
	acc := r.at[lo:hi]
	at := make([]float64, 0, fitRefusals)
	for i, x := range refs {
		if x.at < since || x.at <= r.synth && len(refs)-i > exactRefusals {
			continue // how many starts came before it is only about right: it is left out once there are exact ones
		}
		at = append(at, x.at)
	}
	if len(at) == 0 {
		return fitted{}, false
	}
	best := fitted{cost: math.Inf(1)}
	short, cycle := r.lastCycle(at[len(at)-1])
	try := func(span, prior float64) {
		if f, ok := r.fitWindow(t, acc, at, span, prior+lengthCost(span, short, cycle), since); ok && f.cost < best.cost {
			best = f
		}
	}
	for _, u := range usual {
		try(u.span, u.cost)
	}
	if len(r.edges) > 0 && cycle > 0.9 {
		try(cycle+0.01, 0.12)
	}
	if f, ok := fitMeter(acc, at); ok && f.cost < best.cost {
		best = f
	}
	return best, !math.IsInf(best.cost, 1)
}

// lastCycle brackets how long it took from the first acceptance to room again, last time: longer than short, no longer
// than cycle.
func (r *record) lastCycle(lastRefusal float64) (short, cycle float64) {
	begun, e := 0.0, edge{lastRefusal, lastRefusal}
	if n := len(r.edges); n > 0 {
		e = r.edges[n-1]
		if n > 1 {
			begun = r.edges[n-2].to
		}
	}
	cycle = max(0.1, e.to-begun)
	if r.announced {
		return cycle, cycle // room came back when the server said, not somewhere between two tries
	}
	return max(0.05, e.from-begun), cycle
}

// lengthCost is the price of a window length beside the cycle just seen. Inside the bracket the shorter is cheaper: one
// too short is refuted by the next refusal, one too long never.
func lengthCost(span, short, cycle float64) float64 {
	switch {
	case span > cycle*1.02+0.05:
		return 0.3 + 0.1*math.Log2(span/cycle)
	case span < short:
		return 0.15 * math.Log2(short/span)
	}
	return bracketCost * math.Log2(span/short)
}

const bracketCost = 0.03

// fitWindow tries one window length, sliding and with edges inside the last bracket.
func (r *record) fitWindow(t float64, acc, refs []float64, span, prior, since float64) (fitted, bool) {
	if span > 40*max(0.05, t-acc[0]) {
		return fitted{}, false
	}
	if !r.whole && since <= 0 {
		for len(refs) > 0 && refs[0]-span < acc[0] {
			refs = refs[1:]
		}
	}
	if len(refs) == 0 {
		return fitted{}, false
	}
	best := fitted{cost: math.Inf(1)}
	consider := func(top int, counts []int, extra float64, fixed bool) {
		least := counts[0]
		for _, c := range counts {
			least = min(least, c)
		}
		if least < 1 || float64(top) > float64(least)+max(1, 0.02*float64(least)) {
			return
		}
		mis := 0.0
		for _, c := range counts {
			mis += float64(max(0, c-least-1))
		}
		mis /= float64(len(counts)) * float64(least)
		cost := mis + prior + extra - 0.1*float64(min(5, len(refs)-1))
		if cost < best.cost {
			best = fitted{model: model{kind: windowModel, limit: float64(least), span: span, fixed: fixed}, spread: mis, cost: cost}
		}
	}
	counts := make([]int, len(refs))
	for i, x := range refs {
		counts[i] = countBefore(acc, x) - countUpTo(acc, x-span)
	}
	consider(mostInSpan(acc, span), counts, 0, false)
	if len(r.edges) > 0 {
		e := r.edges[len(r.edges)-1]
		for k := range edgeTries {
			start := e.to - 1e-3 - (e.to-e.from)*float64(k)/edgeTries
			for i, x := range refs {
				counts[i] = countBefore(acc, x) - countBefore(acc, start+math.Floor((x-start)/span)*span)
			}
			consider(mostBetweenEdges(acc, start, span), counts, 0.02, true)
		}
	}
	return best, !math.IsInf(best.cost, 1)
}

func countBefore(at []float64, x float64) int { return sort.SearchFloat64s(at, x) }
func countUpTo(at []float64, x float64) int {
	return sort.Search(len(at), func(i int) bool { return at[i] > x })
}

// mostInSpan is the greatest number of starts in any span.
func mostInSpan(at []float64, span float64) int {
	most, i := 0, 0
	for j, x := range at {
		for at[i] <= x-span {
			i++
		}
		most = max(most, j-i+1)
	}
	return most
}

// mostBetweenEdges is the greatest number of starts between two edges of a fixed window.
func mostBetweenEdges(at []float64, start, span float64) int {
	most, c, last := 0, 0, math.Inf(-1)
	for _, x := range at {
		k := math.Floor((x - start) / span)
		if k != last {
			c, last = 0, k
		}
		c++
		most = max(most, c)
	}
	return most
}

// metered is how full a bucket leaking a rate was: at most at an acceptance, at least at a refusal, and how unequal the
// refusals are.
type metered struct{ accepted, refused, spread float64 }

// meter replays starts and refusals through a bucket that leaks rate, holding level at time from.
func meter(acc, refs []float64, rate, level, from float64) metered {
	m := metered{refused: math.Inf(1)}
	var ys [refusalMost]float64
	n, j := 0, 0
	at := func(x float64) float64 { return max(0, level-max(0, x-from)*rate) + 1 }
	for _, s := range acc {
		for ; j < len(refs) && refs[j] <= s; j++ {
			ys[n] = at(refs[j])
			n++
		}
		level, from = at(s), max(from, s)
		m.accepted = max(m.accepted, level)
	}
	for ; j < len(refs); j++ {
		ys[n] = at(refs[j])
		n++
	}
	for _, y := range ys[:n] {
		m.refused = min(m.refused, y)
	}
	for _, y := range ys[:n] {
		m.spread += max(0, y-m.refused-1)
	}
	m.spread /= float64(n) * m.refused
	return m
}

// explains reports that one size of bucket lies between what was let through and what was refused (3 % tolerance).
func (m metered) explains() bool { return m.refused > 1.0005 && m.accepted <= m.refused*1.03 }

// off is how far what was let through lies above what was refused.
func (m metered) off() float64 { return m.accepted / m.refused }

// option is a bucket that the record allows.
type option struct {
	spread, rate float64
	size         float64
	let          float64 // so many at once were let through
}

func optionOf(m metered, rate float64) option {
	let := math.Ceil(m.accepted - 0.05) // people give whole numbers
	if let >= m.refused {
		let = math.Floor(min(m.accepted, m.refused) + 0.01)
	}
	return option{m.spread, rate, (min(m.accepted, m.refused) + m.refused) / 2, let}
}

// fitMeter looks for a bucket, over all usual rates.
func fitMeter(acc, refs []float64) (fitted, bool) {
	acc = acc[max(0, len(acc)-fitBucket):]
	for len(refs) > 0 && refs[0] < acc[0] {
		refs = refs[1:]
	}
	if len(refs) == 0 {
		return fitted{}, false
	}
	var options []option
	least := math.Inf(1)
	try := func(rate float64) float64 {
		m := meter(acc, refs, rate, 0, acc[0])
		if m.explains() {
			options = append(options, optionOf(m, rate))
			least = min(least, m.spread)
		}
		return m.off()
	}
	closest := scan(0.02, rateMost, 1.15, try)
	closest = scan(closest/1.15, closest*1.15, 1.02, try)
	scan(closest/1.02, closest*1.02, 1.002, try)
	if seen := rateBetween(acc, refs); seen > 0 {
		scan(seen/1.02, seen*1.02, 1.004, try)
	}
	slices.SortFunc(options, func(a, b option) int { return cmp.Compare(a.rate, b.rate) })
	good := options[:0]
	for _, o := range options {
		if o.spread <= least+0.02 {
			good = append(good, o)
		}
	}
	if len(good) == 0 {
		return fitted{}, false
	}
	mid, lowest, highest := good[len(good)/2], good[0].rate, good[len(good)-1].rate
	if highest < 2*lowest {
		if rate := roundest(lowest, highest, mid.rate); rate != mid.rate {
			mid = optionOf(meter(acc, refs, rate, 0, acc[0]), rate)
		}
	}
	f := fitted{
		model:  model{kind: bucketModel, limit: mid.size, rate: mid.rate},
		let:    mid.let,
		lowest: lowest, highest: highest,
		spread: least, cost: least + 0.05 - 0.1*float64(min(5, len(refs)-1)),
	}
	if mid.size/mid.rate > 30 {
		f.cost += 2
	}
	return f, true
}

// scan tries rates from lo to hi in steps and returns the one that is least off. What a long record allows is narrower than
// wide steps: finer ones follow around it.
func scan(lo, hi, step float64, try func(rate float64) (off float64)) (closest float64) {
	least := math.Inf(1)
	for rate := lo; rate < hi; rate *= step {
		if off := try(rate); off < least {
			least, closest = off, rate
		}
	}
	return closest
}

// rateBetween is the rate of what was let through between the first refusal and the last: at both the bucket was full, so
// over a long record it is far more exact than the steps of a scan. Zero: there is no such span.
func rateBetween(acc, refs []float64) float64 {
	if len(refs) < 2 || refs[len(refs)-1]-refs[0] < 1 {
		return 0
	}
	first, last := refs[0], refs[len(refs)-1]
	return float64(countBefore(acc, last)-countUpTo(acc, first)) / (last - first)
}

// roundest is a round number of a second or a minute inside the interval, nearest to rate, or rate: limits are set by
// people.
func roundest(lo, hi, rate float64) float64 {
	for _, digits := range [][]float64{{1, 2, 5}, {3, 4, 6, 8, 1.5, 2.5}} {
		for _, unit := range []float64{1, 1.0 / 60} {
			best, far := 0.0, math.Inf(1)
			nearer := func(c float64) {
				if off := math.Abs(math.Log(c / rate)); c >= lo && c <= hi && off < far {
					best, far = c, off
				}
			}
			for _, d := range digits {
				for k := -2; k <= 3; k++ {
					if c := d * math.Pow10(k) * unit; unit == 1 || c <= fastMinutes {
						nearer(c)
					}
				}
			}
			if unit == 1 { // among so few, people take every number
				for c := 1.0; c <= 10; c++ {
					nearer(c)
				}
			}
			if best > 0 {
				return best
			}
		}
	}
	return rate
}

// fastMinutes is the rate, a second, above which limits are seldom given by the minute.
const fastMinutes = 2
