package budget

import (
	"math"
	"time"
)

// Memory is what earlier runs know of a budget.
type Memory struct {
	Learned *Learned // nil: they found no limit
	Trust   float64  // in Learned: 1 just after it was found; see TrustAt

	// Starts are the recent ones that were let through, the oldest first. They may still count in a window.
	Starts []time.Time

	// Told is what a header last said of a window, ToldAt when its call was sent; zero Reset: nothing.
	Told   int64
	ToldAt time.Time
	Reset  time.Time
}

// TrustAt is how far a limit is to be trusted that was learned so long ago: trust halves after a day (control 3.4).
func TrustAt(age time.Duration) float64 {
	return math.Exp2(-max(0, age.Hours()) / 24)
}

// forgetBelow is the trust under which a remembered limit is not used: it is a week old.
const forgetBelow = 1.0 / 128

// fullTrust is the trust down to which a remembered limit is taken as it is, and kept as if it was found anew when work was
// done under it; below, half of it is. It is a day and a half: a run of each night goes on where the last ended.
const fullTrust = 0.35

// Remember lets a budget that has started nothing yet begin where earlier runs ended. A remembered limit is where it
// starts, never the truth: it is held for the longer the fresher it is, then a little more is asked for, and a refusal
// corrects it like any other.
func (b *Budget) Remember(now time.Time, m Memory) {
	if b.starts != nil {
		for _, at := range m.Starts {
			b.starts.add(at)
		}
	}
	if n := len(m.Starts); n > 0 {
		b.lastStart = m.Starts[n-1]
	}
	if m.Reset.After(now) {
		left := m.Told
		for _, at := range m.Starts {
			if at.After(m.ToldAt) {
				left--
			}
		}
		b.Quota(now, left, m.Reset.Sub(now))
	}
	switch l := m.Learned; {
	case l == nil || m.Trust < forgetBelow || l.Limit < 1:
	case b.find != nil:
		b.find.remember(now, *l, m.Trust, m.Starts)
	case l.Kind == KindConcurrency && b.Scope != Domain && !b.slots.known:
		f := &b.slots
		f.known, f.edge, f.limit, f.hold = true, true, l.Limit, edgeHold
		f.tryAt = now.Add(time.Duration(float64(edgeHold) * m.Trust))
	}
}

// remember takes a limit over. Its record begins with the starts that may still count.
func (f *finder) remember(now time.Time, l Learned, trust float64, starts []time.Time) {
	if f.study != nil || !f.origin.IsZero() {
		return // it knows better already
	}
	part := 1.0
	if trust < fullTrust {
		part = 0.5
	}
	m := model{limit: math.Max(1, math.Floor(part*float64(l.Limit)))}
	switch {
	case l.Kind == KindConcurrency:
	case l.Kind == KindWindow && l.Window > 0:
		m.kind, m.span, m.fixed = windowModel, l.Window.Seconds(), l.Fixed
	case l.Kind == KindRate && l.PerSecond > 0:
		m.kind, m.rate, m.limit = bucketModel, min(rateMost, max(rateLeast, part*l.PerSecond)), max(1, float64(l.Limit))
	default:
		return
	}
	f.origin = now
	if len(starts) > 0 && starts[0].Before(now) {
		f.origin = starts[0]
	}
	t := f.seconds(now)
	f.begin()
	f.model, f.renewed = m, part == 1
	for _, at := range starts[max(0, len(starts)-recordMost):] {
		s := f.rec.add(max(0, f.seconds(at)), 1)
		if m.kind == bucketModel {
			f.level, f.levelAt = f.leaked(s)+1, s
		}
	}
	f.past.last = t
	f.adoptedAt, f.next = t, t
	f.keep(t, max(holdFirst, holdMost*trust))
	switch m.kind {
	case noModel:
		f.w = max(findStart, int(m.limit))
		if l.Limit == 1 {
			f.w = 1
		}
		f.reopening, f.reopenAt, f.reopenOn = true, t, findStart-1 // in steps, as from a cooldown
	case windowModel:
		f.extraAt = t + m.span*max(3, 1000/(quiet*m.limit))
	case bucketModel:
		f.growAt = t + f.hold
	}
}
