package budget

import (
	"math"
	"time"
)

// refused learns from a refusal; fresh: it begins an event.
func (f *finder) refused(now time.Time, r Refusal, fresh bool) {
	if f.origin.IsZero() {
		f.origin = r.Sent
	}
	t, s, n := f.seconds(now), f.seconds(r.Sent), max(r.InFlight, 1)
	first := f.study == nil
	if first {
		f.begin()
	}
	unseen := f.refusals == 0
	f.settle(t)
	s = f.rec.drop(s)
	if first {
		f.firstRef = s
	}
	f.refusals++
	trip := max(0, t-s)
	if unseen {
		f.rtt = trip
	} else {
		f.rtt += 0.3 * (trip - f.rtt)
	}
	announced := r.Announced && r.Wait > 0
	f.rec.announced = f.rec.announced || announced
	if announced {
		f.price = max(f.price, r.Wait.Seconds())
	}
	switch {
	case r.Probe != 0:
		f.rec.refuse(s, n)
		f.ep.worst = min(f.ep.worst, n)
		f.ep.open = f.ep.open || !f.ep.judged
	case !fresh:
		// The same event can only tell that the edge is lower.
		if f.model.kind == noModel && n-1 < f.w {
			f.lower(n - 1)
		}
	default:
		f.rec.refuse(s, n)
		f.diagnose(t, s, n, announced, first)
	}
}

// begin makes the record out of the counters.
func (f *finder) begin() {
	f.study = &study{
		rec: newRecord(&f.past, min(f.most, f.w)), probe: -1, probeAt: math.Inf(1), step: 1, hold: holdFirst, cut: -1,
		growAt: math.Inf(1), grow: growFirst, growLast: growFirst, since: -1, repaced: -9, extraAt: math.Inf(1), extraStep: 1, extraHold: 1,
	}
	f.full = -1
}

// lower sets the number in flight under a refusal.
func (f *finder) lower(w int) {
	w = max(1, w)
	if f.w > w {
		f.was = f.w
	}
	f.w = w
	f.lat.before = min(f.lat.before, w)
}

// diagnose explains a refusal that begins an event.
func (f *finder) diagnose(t, s float64, n int, announced, first bool) {
	if f.model.kind == windowModel && f.extra > 0 && f.rec.within(s, f.model.span)+1 > int(f.model.limit) {
		// More than the window's limit was tried.
		f.extra, f.extraStep = 0, 1
		f.extraHold = min(2*f.extraHold, 64)
		f.extraAt = t + f.model.span*max(f.extraHold, 1000/(quiet*f.model.limit))
		f.judged(t, s, n)
		return
	}
	if !first && f.model.kind == noModel && n > f.w {
		// The probe for more in flight said no.
		f.w = max(f.w, min(n-1, f.w+f.step))
		f.keep(t, f.patience(t))
		f.judged(t, s, n)
		return
	}
	if f.model.kind == windowModel && f.nearEdge(t, s) {
		f.judged(t, s, n)
		return
	}
	more := f.most > n || f.most == n && (n <= findStart || f.mostN >= 3)
	if first {
		f.lower(n - 1)
		f.ep = episode{open: true, first: true, moreOK: more, at: s, n: n, worst: n}
		f.cut, f.probe = t, -1
		return
	}
	again := f.again(s)
	if f.model.kind == noModel && n > 1 && !again && f.inFlightMoved(t, s, n, announced) {
		return
	}
	if f.model.kind == bucketModel && !again && f.repace(t, s) {
		f.judged(t, s, n)
		return
	}
	f.ep = episode{open: true, at: s, n: n, worst: n}
	f.cut, f.probe = t, -1
}

// again reports that nothing was let through since the refusal before, or that it is too close: the same pause goes on.
func (f *finder) again(s float64) bool {
	k := len(f.rec.refs)
	if k < 2 {
		return false
	}
	last := f.rec.refs[k-2].at
	return f.rec.after(last) >= f.rec.before(s) || f.model.kind == noModel && s-last < max(0.4, 4*f.rtt)
}

// inFlightMoved explains a refusal while only the number in flight is bounded: the number fell or was not exact, unless
// that was contradicted too often and something else explains the record.
func (f *finder) inFlightMoved(t, s float64, n int, announced bool) bool {
	if f.adoptSpacing(t) {
		f.judged(t, s, n)
		return true
	}
	bad := f.rec.contradictions()
	if bad >= 2 && len(f.rec.refs) >= 4 {
		if fit, ok := f.rec.fit(t, -1, f.confirm()); ok && fit.cost < sure && fit.spread < evenly {
			f.adopt(t, fit)
			f.judged(t, s, n)
			return true
		}
	}
	if announced || bad >= contradictedMost {
		return false
	}
	if k := len(f.rec.refs); k > 1 && n < f.rec.refs[k-2].n {
		f.surprise(t)
	}
	f.lower(n - 1)
	hold := holdFirst
	if bad > 0 {
		hold = f.patience(t)
	}
	f.keep(t, hold)
	f.judged(t, s, n)
	return true
}

// contradictedMost is how often in the last six refusals one number in flight may fail to explain them.
const contradictedMost = 4

// nearEdge reports that a refusal came where a window that reaches into the made-up part of the record was nearly full:
// there the record is only about right, and the window stays.
func (f *finder) nearEdge(t, s float64) bool {
	used := float64(f.rec.within(s, f.model.span))
	if used < nearlyFull*f.model.limit || s-f.model.span > f.rec.synth {
		return false
	}
	f.extraAt = t + f.model.span*max(3, 1000/(quiet*f.model.limit))
	return true
}

const nearlyFull = 0.8

// judged begins a pause whose refusal is explained already.
func (f *finder) judged(t, s float64, n int) {
	f.ep = episode{judged: true, at: s, n: n, worst: n}
	f.cut, f.probe = t, -1
	if f.model.kind == noModel {
		f.probeAt = t + f.hold
	}
}

// probeRoom reports that a probe may go while n are in flight: where the number in flight may have been the cause, it only
// tells something with fewer than were refused.
func (f *finder) probeRoom(n int) bool {
	if f.study == nil || f.model.kind != noModel || f.rec.announced || f.ep.first && f.ep.moreOK {
		return true
	}
	return n < max(1, f.ep.worst-1)
}

// marks are seconds after the first start of a cycle at which usual windows are over.
var marks = []float64{1, 2, 3, 5, 7, 10, 15, 20, 30, 45, 60, 80, 100, 120, 150, 180, 210, 240, 300}

// notBefore moves the end of a pause that nobody announced to the next moment at which a usual window may be over, so
// that it is met instead of being overshot. It never moves it forward by more than it took so far.
func (f *finder) notBefore(until time.Time) time.Time {
	if f.study == nil || !f.ep.open {
		return until
	}
	end, begun := f.seconds(until), 0.0
	waited := end - f.ep.at
	if waited < 1.5 {
		return until
	}
	if k := len(f.rec.edges); k > 0 && f.rec.edges[k-1].to <= f.ep.at {
		begun = f.rec.edges[k-1].to
	}
	for _, m := range marks {
		if at := begun + m + 0.01; at >= end {
			if at-end <= waited {
				return f.time(at)
			}
			break
		}
	}
	return until
}

// resume chooses what explains a pause, when one request was let through again.
func (f *finder) resume(t, s float64, n int) {
	ep := f.ep
	f.ep.open = false
	lastRef, worst, tried := ep.at, ep.n, false
	for _, x := range f.rec.refs {
		if x.at < s && x.at > lastRef {
			lastRef, tried = x.at, true
		}
		if x.at >= ep.at-1e-9 {
			worst = min(worst, x.n)
		}
	}
	f.rec.back(lastRef, s)
	if f.adoptSpacing(t) {
		return
	}
	gap := s - ep.at
	if f.model.kind == noModel && f.inFlightExplains(t, s, n, worst, lastRef, tried) {
		return
	}
	begun := 0.0
	if k := len(f.rec.edges); k > 1 {
		begun = f.rec.edges[k-2].to
	}
	sent := f.rec.before(ep.at) - f.rec.before(begun)
	fit, ok := f.rec.fit(t, -1, f.confirm())
	if !ok {
		fit, ok = f.rec.fit(t, begun, f.confirm())
	}
	windowed := ok && fit.kind == windowModel
	switch {
	case windowed && (f.rec.announced && gap > 2.2 || tried && (gap > 5 || len(f.rec.refs) >= 3 && gap > 0.9)):
	case ok && fit.kind == bucketModel && len(f.rec.refs) >= 3 && fit.highest < 2.5*fit.lowest:
	case windowed && len(f.rec.refs) >= 4 && fit.cost < sure:
	case gap > 5 && sent > 2:
		fit = fitted{model: model{kind: windowModel, limit: math.Floor(max(1, 0.97*float64(sent))), span: s - begun}}
	default:
		f.drainingRamp(t, gap, sent, lastRef, s, tried)
		return
	}
	f.adopt(t, fit)
}

const (
	fewInFlight = 3
	soonest     = 2.0 // s
)

// inFlightExplains adopts "so many in flight" when nothing speaks against it.
func (f *finder) inFlightExplains(t, s float64, n, worst int, lastRef float64, tried bool) bool {
	least := 1
	if f.most > 5 {
		least = 2
	}
	if f.ep.moreOK && f.ep.first || worst <= least || n >= worst && f.rec.cycle <= 1 {
		return false
	}
	for len(f.doubts) > 0 && (f.doubts[0] < t-60 || len(f.doubts) >= 8) {
		f.doubts = f.doubts[1:]
	}
	f.doubts = append(f.doubts, t)
	bad := f.rec.contradictions()
	if f.rec.announced && bad > 0 {
		return false
	}
	if n > 1 && bad >= 2 && len(f.rec.refs) >= 5 {
		fit, ok := f.rec.fit(t, -1, f.confirm())
		if ok && fit.cost <= sure-0.1 && !fit.vague() {
			return false
		}
	}
	few := len(f.doubts) < 3
	if !(n > 1 || few) || !(n < worst || few || bad >= 1) {
		return false
	}
	w := n
	if !tried {
		w = max(n, worst-1)
	}
	f.lower(w)
	f.keep(t, holdFirst)
	if n >= worst-1 || !tried {
		f.probeAt = t + f.patience(t)
	}
	if !f.ep.first {
		f.surprise(t)
	} else if w <= fewInFlight && f.price == 0 {
		// So few may be a pace in truth: one early probe, midway between starts, tells.
		f.probeAt = t + max(soonest, 3*f.service)
	}
	return true
}
