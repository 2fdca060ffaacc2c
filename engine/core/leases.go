package core

import (
	"time"

	"dev.scrapetop/engine/budget"
	"dev.scrapetop/engine/frontier"
	"dev.scrapetop/engine/lease"
)

// Leased brings what other processes leave to this one (package lease).
type Leased struct{ lease.News }

// leases is what the machine knows of the processes that it shares budgets with. While it is bound, every budget that may have
// a ceiling or a rate starts with no slots and waits for its share.
type leases struct {
	bound   bool
	lost    bool      // nobody divides: everything goes by a safe share
	members int       // as last told
	until   time.Time // when the leases end
	whole   bool      // everything has to be demanded anew
	joined  bool      // others were there before
	claims  []*frontier.Domain
}

// demandMost bounds how much waiting work a demand tells of: more changes no share.
const demandMost = 64

// ended reports that the leases ran out unnoticed, as after a suspend: nothing starts until they are renewed, or are known to be
// lost.
func (l *leases) ended(now time.Time) bool {
	return l.bound && !l.lost && !now.Before(l.until)
}

// leased carries out what other processes leave.
func (m *Machine) leased(now time.Time, ev Leased) {
	l := &m.leases
	l.members, l.until = ev.Members, ev.Until
	l.joined = l.joined || ev.Joined // what they started is theirs to tell
	switch {
	case !ev.Bound:
		if l.bound {
			*l = leases{members: ev.Members, joined: l.joined}
			m.eachLeased(func(b *budget.Budget) { b.SetLease(budget.Lease{}) })
		}
	case ev.Lost:
		l.bound, l.lost = true, true
		m.eachLeased(func(b *budget.Budget) { b.SetLease(m.lease(now, b)) })
	case !l.bound || l.lost:
		l.bound, l.lost, l.whole = true, false, true
		m.eachLeased(func(b *budget.Budget) { b.SetLease(m.lease(now, b)) })
	}
	for _, g := range ev.Grants {
		for _, b := range m.named(g.Scope, g.Name) {
			b.SetLease(budget.Lease{Bound: true, Slots: g.Slots, Starts: g.Starts})
		}
		if d := m.front.Domains[g.Name]; d != nil && g.Scope == budget.Domain {
			m.wakeDomain(d)
			m.mark(d)
		}
	}
	m.unparkLanes()
}

// eachLeased goes over every budget that leases bind: once when processes come together or part.
func (m *Machine) eachLeased(do func(*budget.Budget)) {
	for _, b := range m.shared() {
		do(b)
	}
	for _, d := range m.front.Domains {
		if m.divided(d.Budget) {
			do(d.Budget)
			m.wakeDomain(d)
		}
	}
}

// divided reports that a budget has something to divide, or may turn out to have.
func (m *Machine) divided(b *budget.Budget) bool {
	if b.Scope != budget.Domain || m.cfg.Direct {
		return true
	}
	return b.Lease().Bound || b.Ceiling(m.now) > 0 || len(b.Rates()) > 0 || b.State(m.now) != budget.Open
}

// lease is what a budget may spend before it is told its share: what it has in flight, or, where nobody tells, an even part.
func (m *Machine) lease(now time.Time, b *budget.Budget) budget.Lease {
	l := budget.Lease{Bound: true, Slots: b.InFlight(), Starts: b.Started()}
	if !m.leases.lost {
		return l
	}
	l.Slots, l.Starts = lease.Safe(b.Ceiling(now), m.leases.members), lease.UnlimitedStarts
	for _, r := range b.Rates() {
		l.Gap = max(l.Gap, r.Per*time.Duration(max(m.leases.members, 1))/time.Duration(r.N))
	}
	return l
}

// bind lets a budget that appears now wait for its share.
func (m *Machine) bind(b *budget.Budget) {
	if m.leases.bound && m.divided(b) {
		b.SetLease(m.lease(m.now, b))
	}
}

// claim notes that what a domain could use may have changed.
func (m *Machine) claim(d *frontier.Domain) {
	if m.leases.bound && !d.Claimed {
		d.Claimed = true
		m.leases.claims = append(m.leases.claims, d)
	}
}

// Demands returns what the machine could use of each budget: of those that are no domain's, and of the domains that changed since
// the last call, or, when whole, of all that are at work. It returns nothing while
// no lease binds.
func (m *Machine) Demands(now time.Time) (demands []lease.Demand, whole bool) {
	l := &m.leases
	if !l.bound {
		return nil, false
	}
	whole = l.whole
	l.whole = false
	ready := 0
	for _, lane := range m.front.Lanes {
		ready += m.readyIn(lane)
	}
	add := func(b *budget.Budget, more int) { demands = append(demands, m.demand(now, b, more, whole)) }
	polls := len(m.polls) + len(m.lost)
	add(m.global, ready+polls)
	add(m.ip, ready+polls)
	add(m.provider, ready)
	for _, a := range m.accounts {
		add(a, ready)
	}
	for _, b := range m.pending {
		add(b, ready)
	}
	for _, c := range m.creds {
		n := 0
		for _, lane := range m.front.Lanes {
			if c.serves(lane.Tenant) {
				n += m.readyIn(lane)
			}
		}
		add(c.budget, n)
	}
	for _, lane := range m.front.Lanes {
		add(lane.Budget, m.readyIn(lane))
	}
	if whole {
		for _, d := range m.front.Domains {
			if d.Budget.InFlight() > 0 || d.Waiting() > 0 {
				m.claim(d)
			}
		}
	}
	for _, d := range l.claims {
		d.Claimed = false
		if !m.divided(d.Budget) {
			continue
		}
		m.bindLate(d)
		more := int(min(d.Waiting(), demandMost))
		if m.startsNothing() {
			more = 0
		}
		add(d.Budget, more)
	}
	l.claims = l.claims[:0]
	return demands, whole
}

// bindLate binds a domain that turned out to have a limit while leases bind.
func (m *Machine) bindLate(d *frontier.Domain) {
	if !d.Budget.Lease().Bound {
		m.bind(d.Budget)
	}
}

// readyIn is how many of a tenant's tasks could start.
func (m *Machine) readyIn(l *frontier.Lane) int {
	if m.startsNothing() || l.Held || l.Stop != "" || l.Budget.IsPaused() || m.global.IsPaused() || m.provider.IsPaused() {
		return 0
	}
	return l.Ready(demandMost)
}

func (m *Machine) demand(now time.Time, b *budget.Budget, more int, whole bool) lease.Demand {
	d := lease.Demand{
		Key: m.LeaseKey(b.Scope, b.Name), Want: b.InFlight(), InFlight: b.InFlight(), Ceiling: b.Ceiling(now), Rates: b.Rates(),
		Started: b.Started(), Holds: min(b.Lease().Slots, lease.Unlimited),
	}
	if b.StoppedWhy() == "" && !b.IsPaused() {
		d.Want += min(more, demandMost)
	}
	switch b.State(now) {
	case budget.Cooling:
		d.Test = lease.Waiting
	case budget.Probing:
		if d.Test = lease.Waiting; b.ProbeIsOut() {
			d.Test = lease.Out
		}
	}
	if whole {
		d.Recent = recent(now, b.Past(now, m.leases.joined))
	}
	return d
}

// recentParts is into how many parts the starts of a window are told.
const recentParts = 20

// recent groups starts by their age, each group as old as its youngest.
func recent(now time.Time, starts []time.Time) []lease.Recent {
	if len(starts) == 0 {
		return nil
	}
	each := (len(starts) + recentParts - 1) / recentParts
	var all []lease.Recent
	for len(starts) > 0 {
		n := min(each, len(starts))
		all = append(all, lease.Recent{Age: now.Sub(starts[n-1]), N: n})
		starts = starts[n:]
	}
	return all
}

// LeaseKey is under which name a budget is shared: the program's own with whatever provider another process uses.
func (m *Machine) LeaseKey(scope budget.Scope, name string) lease.Key {
	if scope == budget.Global {
		return lease.Key{Scope: scope}
	}
	return lease.Key{Provider: m.cfg.Provider, Scope: scope, Name: name}
}

// Cooldowns are the cooldowns in force of budgets that are shared, as another process should know them.
func (m *Machine) Cooldowns(now time.Time) []lease.Cooldown {
	var all []lease.Cooldown
	add := func(b *budget.Budget) {
		if c := b.Cooldown(); b.State(now) == budget.Cooling {
			all = append(all, lease.Cooldown{Key: m.LeaseKey(b.Scope, b.Name), Left: c.Until.Sub(now), Cause: c.Cause, Layer: c.Layer})
		}
	}
	for _, b := range m.shared() {
		if b != m.provider { // failures in a row are of this process's network
			add(b)
		}
	}
	for _, d := range m.front.Domains {
		add(d.Budget)
	}
	return all
}

// CoolsUntil is until when the budgets of a scope and key cool; zero: they do not.
func (m *Machine) CoolsUntil(scope budget.Scope, key string) (until time.Time) {
	for _, b := range m.named(scope, key) {
		if c := b.Cooldown(); b.State(m.now) == budget.Cooling && c.Until.After(until) {
			until = c.Until
		}
	}
	return until
}
