package lease

import (
	"slices"
	"time"
)

// deal divides one budget.
func (b *Book) deal(now time.Time, a *account, out map[int][]Grant) {
	a.starts.forget(now)
	before := make([]Grant, len(a.parts))
	for i, p := range a.parts {
		before[i] = Grant{Slots: p.slots, Starts: p.until}
	}
	b.dealSlots(now, a)
	b.dealStarts(now, a)
	ahead := int64(0)
	for _, p := range a.parts {
		ahead += min(p.ahead(), 1<<20)
	}
	used, _ := a.starts.used(now, a.starts.longest())
	kept := a.parts[:0]
	for i, p := range a.parts {
		if g := (Grant{Slots: p.slots, Starts: p.until}); g != before[i] && !p.member.gone {
			g.Key, g.Used = a.key, used+int(ahead)
			out[p.member.id] = append(out[p.member.id], g)
		}
		if p.demand.InUse() || p.claim() > 0 || p.ahead() > 0 {
			kept = append(kept, p)
		}
	}
	a.parts = kept
	if len(a.parts) == 0 && len(a.starts.bursts) == 0 && a.starts.filler == 0 {
		delete(b.budgets, a.key)
	} else if len(a.parts) == 0 {
		b.wakeAt(a, now.Add(a.starts.longest()))
	}
}

// give sets a member's slots. Less than before counts only once it has said that it goes by it.
func (b *Book) give(p *part, slots int) {
	if slots < p.slots {
		p.slotsAt = b.number
		p.member.cuts[p.demand.Key] = struct{}{}
	}
	p.slots = slots
	p.mostSlots = max(p.mostSlots, slots)
}

// dealSlots divides the slots.
func (b *Book) dealSlots(now time.Time, a *account) {
	ceiling, claims, flying := Unlimited, 0, 0
	waiting, out := 0, false
	for _, p := range a.parts {
		claims += p.claim()
		flying += p.demand.InFlight
		if p.member.gone || !p.demand.InUse() {
			continue
		}
		if c := p.demand.Ceiling; c > 0 {
			ceiling = min(ceiling, c)
		}
		out = out || p.demand.Test == Out
		if p.demand.Test == Waiting && p.wants() {
			waiting++
		}
	}
	if b.Learning(now) {
		ceiling = min(ceiling, claims)
	}
	shares := make([]int, len(a.parts))
	if waiting > 0 || out {
		b.dealTest(now, a, shares, waiting, !out && claims <= flying && flying < ceiling)
	} else {
		wants, wanting := make([]int, len(a.parts)), 0
		for i, p := range a.parts {
			if !p.member.gone && p.demand.InUse() {
				wants[i] = max(p.demand.Want, p.demand.InFlight)
				wanting++
			}
		}
		first := 0
		if ceiling < wanting { // they take turns
			first = int(now.UnixNano()/int64(turn)) % len(a.parts)
			b.wakeAt(a, now.Truncate(turn).Add(turn))
		}
		shares = divide(ceiling, wants, first)
	}
	need := 0
	for i, p := range a.parts {
		need += max(shares[i], p.claim())
	}
	// Nobody is cut for nothing: a share changes with each task that comes and goes.
	tight := need > ceiling || waiting > 0 || out
	free := ceiling - claims
	for i, p := range a.parts {
		if p.member.gone {
			continue
		}
		switch had := p.claim(); {
		case shares[i] < p.slots && (tight || !p.demand.InUse()):
			b.give(p, shares[i])
		case shares[i] > p.slots && ceiling >= Unlimited:
			b.give(p, Unlimited)
		case shares[i] > p.slots:
			if got := min(shares[i], had+max(free, 0)); got > p.slots {
				b.give(p, got)
				free -= p.claim() - had
			}
		}
	}
}

// dealTest leaves everybody what is in flight, and one of those that wait to test the budget one slot more.
func (b *Book) dealTest(now time.Time, a *account, shares []int, waiting int, one bool) {
	at := 0
	if waiting > 0 {
		at = int(now.UnixNano()/int64(turn)) % waiting
	}
	if waiting > 1 {
		b.wakeAt(a, now.Truncate(turn).Add(turn))
	}
	for i, p := range a.parts {
		shares[i] = p.demand.InFlight
		if p.member.gone || p.demand.Test != Waiting || !p.wants() {
			continue
		}
		if at == 0 && (one || p.mostSlots == p.demand.InFlight+1) {
			shares[i]++
		}
		at--
	}
}

// dealStarts hands out starts in advance.
func (b *Book) dealStarts(now time.Time, a *account) {
	h := &a.starts
	if len(h.rates) == 0 {
		for _, p := range a.parts {
			if !p.member.gone && p.demand.InUse() && !b.Learning(now) {
				p.until = UnlimitedStarts
				p.mostUntil = UnlimitedStarts
			}
		}
		return
	}
	ahead := int64(0)
	var takers []*part
	for _, p := range a.parts {
		if p.until >= UnlimitedStarts && !p.member.gone { // until now there was no rate
			b.takeBack(p)
		}
		ahead += min(p.ahead(), UnlimitedStarts/8)
		if p.wants() && p.slots > p.demand.InFlight {
			takers = append(takers, p)
		}
	}
	if b.Learning(now) {
		return
	}
	slices.SortStableFunc(takers, func(x, y *part) int { return x.used.Compare(y.used) })
	room, next := h.room(now, ahead)
	most := int64(h.batch())
	left := len(takers)
	for _, p := range takers {
		if room > 0 {
			if n := min(most-p.ahead(), (room+int64(left)-1)/int64(left)); n > 0 && p.mostUntil == p.until {
				p.until += n
				p.mostUntil = p.until
				p.used = now
				room -= n
			}
		}
		left--
	}
	if len(takers) == 0 {
		return
	}
	if room <= 0 {
		if !next.IsZero() {
			b.wakeAt(a, next)
		}
		for _, p := range a.parts { // what others do not use is taken back
			idle := !p.used.Add(turn).After(now)
			if p.ahead() == 0 || p.member.gone || p.mostUntil != p.until {
				continue
			}
			if idle && !slices.Contains(takers, p) || idle && len(takers) > 1 {
				b.takeBack(p)
				p.used = now
			} else if !idle {
				b.wakeAt(a, p.used.Add(turn))
			}
		}
	}
}

// takeBack ends what a member may start in advance.
func (b *Book) takeBack(p *part) {
	p.until, p.untilAt = p.demand.Started, b.number
	p.member.cuts[p.demand.Key] = struct{}{}
}
