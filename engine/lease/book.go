package lease

import (
	"cmp"
	"container/heap"
	"maps"
	"slices"
	"time"

	"dev.scrapetop/engine/budget"
)

// turn is how long a member keeps a slot, or starts, that it does not use while others wait for them.
const turn = time.Second

// Book says who may use what. One goroutine calls it.
type Book struct {
	term    time.Duration
	began   time.Time
	learns  time.Time // until then nothing is handed out beyond what members report
	members map[int]*member
	budgets map[Key]*account
	cooled  map[Key]cooled
	dirty   map[Key]bool
	wakes   wakeups
	foreign time.Time // until then starts of members that left may count in a window
	number  int64     // of the last deal
}

type member struct {
	id      int
	until   time.Time        // its leases end
	unheard bool             // it was alone, and has not said what it uses: anything
	gone    bool             // without a word
	cuts    map[Key]struct{} // of which less was granted, and it has not said that it goes by that
}

type cooled struct {
	Cooldown
	until time.Time
}

// account is one budget.
type account struct {
	key    Key
	parts  []*part // by member
	starts history
	wake   time.Time
}

// part is what one member has of a budget.
type part struct {
	member *member
	demand Demand

	slots, mostSlots int // granted; the most that it may still go by
	slotsAt          int64
	until, mostUntil int64 // starts granted, likewise
	untilAt          int64
	used             time.Time // when it last used, or got, starts
}

// claim is how many slots count as the member's.
func (p *part) claim() int { return max(p.mostSlots, p.demand.InFlight) }

// ahead is how many starts it may still make.
func (p *part) ahead() int64 { return max(p.mostUntil-p.demand.Started, 0) }

// wants reports that it would start more.
func (p *part) wants() bool { return !p.member.gone && p.demand.Want > p.demand.InFlight }

// NewBook makes an empty book whose leases last for term. learn: another may have ended without a word.
func NewBook(now time.Time, term time.Duration, learn bool) *Book {
	b := &Book{term: term, began: now, members: map[int]*member{}, budgets: map[Key]*account{}, cooled: map[Key]cooled{}, dirty: map[Key]bool{}}
	if learn {
		b.learns = now.Add(term)
	}
	return b
}

// Join takes a member in.
func (b *Book) Join(now time.Time, id int) {
	b.members[id] = &member{id: id, until: now.Add(b.term), cuts: map[Key]struct{}{}}
}

// Free notes that a member uses what it likes until its next whole Report: it was alone until now.
func (b *Book) Free(id int) {
	if m := b.members[id]; m != nil {
		m.unheard = true
	}
}

// Leave takes out a member that uses nothing any more.
func (b *Book) Leave(now time.Time, id int) { b.remove(now, id) }

// Lose notes that a member is gone without a word: what it had counts until its lease ends.
func (b *Book) Lose(id int) {
	if m := b.members[id]; m != nil {
		m.gone = true
	}
}

// Members is how many there are, those that are gone included whose leases have not ended.
func (b *Book) Members() int { return len(b.members) }

// Learning reports that nothing is handed out yet beyond what is reported.
func (b *Book) Learning(now time.Time) bool { return now.Before(b.learns) }

// Alone reports that one member at most is left and that nothing of another counts any more: it may be let free.
func (b *Book) Alone(now time.Time) bool {
	return len(b.members) <= 1 && !b.Learning(now) && !now.Before(b.foreign)
}

// Heard renews a member's leases.
func (b *Book) Heard(now time.Time, id int) {
	if m := b.members[id]; m != nil {
		m.until = now.Add(b.term)
	}
}

// Report takes what a member tells; Done is the number of the last deal that it carried out.
func (b *Book) Report(now time.Time, id int, r *Report) {
	m := b.members[id]
	if m == nil {
		return
	}
	b.Heard(now, id)
	for i := range r.Demands {
		b.demand(now, m, &r.Demands[i], r.Whole)
	}
	if r.Whole && m.unheard {
		m.unheard = false
		for key := range b.budgets {
			b.dirty[key] = true
		}
	}
	for key := range m.cuts {
		a := b.budgets[key]
		i, ok := 0, false
		if a != nil {
			i, ok = a.find(id)
		}
		if !ok {
			delete(m.cuts, key)
			continue
		}
		p := a.parts[i]
		if r.Done >= p.slotsAt {
			p.mostSlots = p.slots
		}
		if r.Done >= p.untilAt {
			p.mostUntil = p.until
		}
		if p.mostSlots == p.slots && p.mostUntil == p.until {
			delete(m.cuts, key)
		}
		b.dirty[key] = true
	}
}

func (a *account) find(id int) (int, bool) {
	return slices.BinarySearchFunc(a.parts, id, func(p *part, id int) int { return cmp.Compare(p.member.id, id) })
}

func (b *Book) demand(now time.Time, m *member, d *Demand, joined bool) {
	a := b.budgets[d.Key]
	if a == nil {
		a = &account{key: d.Key}
		b.budgets[d.Key] = a
	}
	i, ok := a.find(m.id)
	if !ok {
		p := &part{member: m, until: d.Started, mostUntil: d.Started, used: now}
		p.demand.Started = d.Started
		if joined {
			p.mostSlots = min(d.Holds, Unlimited)
			p.slots = p.mostSlots
		}
		a.parts = slices.Insert(a.parts, i, p)
	}
	p := a.parts[i]
	var rates []budget.Rate
	for _, x := range a.parts {
		if x.member.gone || x != p && !x.demand.InUse() {
			continue
		}
		if x == p {
			rates = append(rates, d.Rates...)
		} else {
			rates = append(rates, x.demand.Rates...)
		}
	}
	a.starts.adopt(rates)
	if joined {
		a.starts.remember(now, b.began, d)
		if end := b.began.Add(a.starts.longest()); a.starts.filler > 0 && end.After(b.foreign) {
			b.foreign = end
		}
	}
	if n := d.Started - p.demand.Started; n > 0 {
		a.starts.add(now, int(n))
		p.used = now
	}
	p.demand = *d
	p.demand.Recent, p.demand.Used = nil, 0
	b.dirty[d.Key] = true
}

// remove ends a member's leases.
func (b *Book) remove(now time.Time, id int) {
	m := b.members[id]
	delete(b.members, id)
	for key, a := range b.budgets {
		i, ok := a.find(id)
		if !ok {
			continue
		}
		p := a.parts[i]
		if len(a.starts.rates) > 0 {
			if n := p.ahead(); m.gone && n < UnlimitedStarts/2 {
				a.starts.add(now, int(n)) // it may have made them
			}
			if end := now.Add(a.starts.longest()); len(a.starts.bursts) > 0 && end.After(b.foreign) {
				b.foreign = end
			}
		}
		a.parts = slices.Delete(a.parts, i, i+1)
		b.dirty[key] = true
	}
}

// Cool takes a member's cooldown and reports whether it ends later than what is known.
func (b *Book) Cool(now time.Time, c Cooldown) bool {
	until := now.Add(c.Left)
	if known, ok := b.cooled[c.Key]; ok && !until.After(known.until) || c.Left <= 0 {
		return false
	}
	b.cooled[c.Key] = cooled{c, until}
	return true
}

// Cooled are the cooldowns that have not ended.
func (b *Book) Cooled(now time.Time) []Cooldown {
	var all []Cooldown
	for key, c := range b.cooled {
		if c.Left = c.until.Sub(now); c.Left <= 0 {
			delete(b.cooled, key)
			continue
		}
		all = append(all, c.Cooldown)
	}
	return all
}

// Others are what the others of a member have in flight, of budgets that are no domain's.
func (b *Book) Others(id int) []Other {
	all := []Other{}
	for key, a := range b.budgets {
		n := 0
		for _, p := range a.parts {
			if p.member.id != id {
				n += p.demand.InFlight
			}
		}
		if n > 0 && key.Scope != budget.Domain {
			all = append(all, Other{key, n})
		}
	}
	slices.SortFunc(all, func(x, y Other) int {
		return cmp.Or(cmp.Compare(x.Scope, y.Scope), cmp.Compare(x.Name, y.Name), cmp.Compare(x.Provider, y.Provider))
	})
	return all
}

// Knows reports that a member's leases have not ended.
func (b *Book) Knows(id int) bool { return b.members[id] != nil }

// Deal divides what may have changed since the last time, and returns what each member may use from now on, with the number
// of the deal.
func (b *Book) Deal(now time.Time) (int64, map[int][]Grant) {
	if !b.learns.IsZero() && !b.Learning(now) {
		b.learns = time.Time{}
		for key := range b.budgets {
			b.dirty[key] = true
		}
	}
	for _, id := range slices.Sorted(maps.Keys(b.members)) {
		if !now.Before(b.members[id].until) { // gone, or it sleeps: it starts nothing after that
			b.remove(now, id)
		}
	}
	for len(b.wakes) > 0 && !b.wakes[0].at.After(now) {
		w := heap.Pop(&b.wakes).(wakeup)
		if a := b.budgets[w.key]; a != nil && a.wake.Equal(w.at) {
			a.wake = time.Time{}
			b.dirty[w.key] = true
		}
	}
	for _, m := range b.members {
		if m.unheard {
			return b.number, nil
		}
	}
	b.number++
	out := map[int][]Grant{}
	for key := range b.dirty {
		delete(b.dirty, key)
		if a := b.budgets[key]; a != nil {
			b.deal(now, a, out)
		}
	}
	return b.number, out
}

// wakeAt has a budget dealt again at a time.
func (b *Book) wakeAt(a *account, at time.Time) {
	if !a.wake.IsZero() && !at.Before(a.wake) {
		return
	}
	a.wake = at
	heap.Push(&b.wakes, wakeup{at, a.key})
}

// Next is when Deal is due without anything else; false: only what is told can change anything.
func (b *Book) Next(now time.Time) (time.Time, bool) {
	var next time.Time
	take := func(at time.Time) {
		if !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	if len(b.wakes) > 0 {
		take(b.wakes[0].at)
	}
	take(b.learns)
	if len(b.members) <= 1 && b.foreign.After(now) {
		take(b.foreign)
	}
	for _, m := range b.members {
		take(m.until)
	}
	return next, !next.IsZero()
}

type wakeup struct {
	at  time.Time
	key Key
}

// wakeups is a heap.
type wakeups []wakeup

func (w wakeups) Len() int           { return len(w) }
func (w wakeups) Less(i, j int) bool { return w[i].at.Before(w[j].at) }
func (w wakeups) Swap(i, j int)      { w[i], w[j] = w[j], w[i] }
func (w *wakeups) Push(x any)        { *w = append(*w, x.(wakeup)) }
func (w *wakeups) Pop() any {
	old := *w
	x := old[len(old)-1]
	*w = old[:len(old)-1]
	return x
}
