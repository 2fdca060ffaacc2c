package budget

import (
	"slices"
	"sort"
)

// The record's bounds: with 10 bytes a start it stays under 12 KB.
const (
	recordMost  = 1000
	refusalMost = 40
	edgeMost    = 4
)

// Starts of one instant are kept a tick apart, in their order.
const (
	tick        = 1e-7 // s
	sameInstant = 1e-5 // s: a hundred of them
)

// record is what a finder knows of the past: the starts that were not refused, the last refusals, and the spans in which
// room came back. Times are seconds since the finder's origin, strictly increasing.
type record struct {
	at        []float64
	n         []uint16 // in flight at that start, itself included
	refs      []refusedAt
	edges     []edge
	cycle     int // edges seen in all
	whole     bool
	announced bool    // a refusal named its wait
	synth     float64 // starts up to here are an even spread of a count, made up at the first refusal
}

type refusedAt struct {
	at float64
	n  int
}

// edge brackets a moment at which room came back: refused at from, accepted at to.
type edge struct{ from, to float64 }

// outline is what is kept of the starts before the first refusal: how many, and the times of every stride-th.
type outline struct {
	count  int
	last   float64
	stride int
	times  [outlineMost]float32 // of starts 0, stride, 2*stride, ...
	first  [outlineFirst]float32
}

// The first starts are kept as they were: until the first answers come there are few, and a window is as long as it takes
// for them to leave it.
const (
	outlineMost  = 16
	outlineFirst = 8
)

func (o *outline) add(at float64) {
	if o.stride == 0 {
		o.stride = 1
	}
	if o.count < outlineFirst {
		o.first[o.count] = float32(at)
	}
	if o.count%o.stride == 0 {
		i := o.count / o.stride
		if i == outlineMost {
			for k := range outlineMost / 2 {
				o.times[k] = o.times[2*k]
			}
			o.stride *= 2
			i = outlineMost / 2
		}
		if o.count%o.stride == 0 {
			o.times[i] = float32(at)
		}
	}
	o.count++
	o.last = at
}

// at is about when a start was, counted from zero.
func (o *outline) at(i int) float64 {
	if i < outlineFirst {
		return float64(o.first[i])
	}
	k := i / o.stride
	from, first := float64(o.times[k]), k*o.stride
	to, next := o.last, o.count-1
	if (k+1)*o.stride < o.count {
		to, next = float64(o.times[k+1]), (k+1)*o.stride
	}
	if first < outlineFirst {
		from, first = float64(o.first[outlineFirst-1]), outlineFirst-1
	}
	if next <= first {
		return from
	}
	return from + (to-from)*float64(i-first)/float64(next-first)
}

// newRecord makes the record up from an outline, with n in flight at each start.
func newRecord(o *outline, n int) *record {
	kept := min(o.count, recordMost)
	r := &record{at: make([]float64, 0, max(kept, 32)), whole: kept == o.count, synth: o.last}
	for i := o.count - kept; i < o.count; i++ {
		r.add(o.at(i), n)
	}
	return r
}

// add appends a start and returns the time it is known under.
func (r *record) add(at float64, n int) float64 {
	if k := len(r.at); k > 0 && at <= r.at[k-1] {
		at = r.at[k-1] + tick // keep the order of a burst
	}
	if len(r.at) >= recordMost {
		drop := recordMost / 4
		r.at, r.n = slices.Delete(r.at, 0, drop), slices.Delete(r.n, 0, drop)
		r.whole = false
	}
	r.at, r.n = append(r.at, at), append(r.n, uint16(min(n, 1<<16-1)))
	return at
}

// drop takes a refused start out (the one at that time, or among the made-up ones the last before it) and returns the
// time it was known under, which keeps its place among starts of the same instant.
func (r *record) drop(at float64) float64 {
	i := r.after(at+sameInstant) - 1
	if i < 0 || at-r.at[i] > sameInstant && at > r.synth+sameInstant {
		return at
	}
	known := r.at[i]
	if at-known > sameInstant {
		known = at
	}
	r.at, r.n = slices.Delete(r.at, i, i+1), slices.Delete(r.n, i, i+1)
	return known
}

func (r *record) refuse(at float64, n int) {
	if len(r.refs) == refusalMost {
		r.refs = slices.Delete(r.refs, 0, 1)
	}
	i := sort.Search(len(r.refs), func(i int) bool { return r.refs[i].at > at })
	r.refs = slices.Insert(r.refs, i, refusedAt{at, n})
}

func (r *record) back(from, to float64) {
	if len(r.edges) == edgeMost {
		r.edges = slices.Delete(r.edges, 0, 1)
	}
	r.edges = append(r.edges, edge{from, to})
	r.cycle++
}

// before is the number of starts earlier than at, after the number not later than at.
func (r *record) before(at float64) int { return sort.SearchFloat64s(r.at, at) }
func (r *record) after(at float64) int {
	return sort.Search(len(r.at), func(i int) bool { return r.at[i] > at })
}

// within is the number of starts in (at-span, at].
func (r *record) within(at, span float64) int { return r.after(at) - r.after(at-span) }

// nthLast is the time of the n-th last start; false: there are fewer.
func (r *record) nthLast(n int) (float64, bool) {
	if n < 1 || len(r.at) < n {
		return 0, false
	}
	return r.at[len(r.at)-n], true
}

// contradictions is how often one fixed number in flight fails to explain the last refusals: between two of them as many,
// or more, were let through.
func (r *record) contradictions() int {
	bad := 0
	last := r.refs[max(0, len(r.refs)-6):]
	for i := 1; i < len(last); i++ {
		a, b := last[i-1], last[i]
		top := 0
		for k := r.after(a.at); k < r.before(b.at); k++ {
			top = max(top, int(r.n[k]))
		}
		if top >= a.n || top >= b.n {
			bad++
		}
	}
	return bad
}
