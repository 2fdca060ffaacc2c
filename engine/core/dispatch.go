package core

import (
	"time"

	"dev.scrapetop/engine/budget"
	"dev.scrapetop/engine/frontier"
	"dev.scrapetop/engine/provider"
)

// startsNothing reports that no new work may start, whatever the budgets say.
func (m *Machine) startsNothing() bool { return m.drain != nil || m.full || m.over }

// dispatch starts everything that may start. Work blocked by a shared budget ends it: it waits on that budget alone.
func (m *Machine) dispatch(now time.Time) {
	for !m.startsNothing() {
		if g := m.startGate(now); !g.OK {
			m.wakeShared(g.At)
			return
		}
		l := m.front.NextLane()
		if l == nil {
			return
		}
		if g := l.Budget.Gate(now); !g.OK {
			l.Parked = true
			m.wakeShared(g.At)
			continue
		}
		if !m.affordable(l, 1) {
			continue
		}
		cred, g := m.pick(now, l)
		if !g.OK {
			l.Parked = true
			m.wakeShared(g.At)
			continue
		}
		if g := m.startGate(now); !g.OK { // picking may have asked for the health of keys
			m.wakeShared(g.At)
			return
		}
		if at, thin := m.thin(now, l); thin {
			l.Parked = true
			m.wakeShared(at)
			continue
		}
		m.startFrom(now, l, cred)
	}
}

// pollsOwed is how many polls a remote job is expected to take before it is collected: one that finds it running, one
// that collects it.
const pollsOwed = 2

// startGate is the gate of the budgets that every start draws on. Where polls count against the address's window, a submit
// leaves room for the polls that are still owed and for its own (spend by reserve, DESIGN section 5).
func (m *Machine) startGate(now time.Time) budget.Gate {
	for _, b := range []*budget.Budget{m.global, m.ip, m.provider} {
		if g := b.Gate(now); !g.OK {
			return g
		}
	}
	if f := &m.cfg.Facts; f.RateLimit > 0 && f.PollsCount {
		need := min(1+pollsOwed*(m.toPolls+1), f.RateLimit) // a tiny window lets one in when it is empty
		if left, at := m.ip.Left(now); left < need {
			return budget.Gate{Why: budget.Quota, At: at}
		}
	}
	return budget.Gate{OK: true}
}

// pick chooses the lane's credential with most room; with direct there is none and none is needed.
func (m *Machine) pick(now time.Time, l *frontier.Lane) (*credential, budget.Gate) {
	if m.cfg.Direct {
		return nil, budget.Gate{OK: true}
	}
	var best *credential
	closed := budget.Gate{Why: budget.Stopped}
	room := 0
	for _, c := range m.creds {
		if !c.serves(l.Tenant) {
			continue
		}
		c.budget.Elapse(now)
		c.account.Elapse(now)
		g := c.budget.Gate(now)
		if g.OK {
			g = c.account.Gate(now)
		}
		if g.OK && m.crowded(c) {
			g = budget.Gate{Why: budget.Slots}
		}
		p := m.pendingJobs(c, m.usualKind())
		if g.OK && p != nil {
			g = p.Gate(now)
		}
		if g.OK {
			if until, wait := m.unasked(now, c); wait {
				g = until
			}
		}
		if !g.OK {
			if !g.At.IsZero() && (closed.At.IsZero() || g.At.Before(closed.At)) {
				closed = g
			}
			continue
		}
		free := min(freeIn(c.budget), freeIn(c.account), freeIn(p))
		if best == nil || free > room {
			best, room = c, free
		}
	}
	if best == nil {
		return nil, closed
	}
	return best, budget.Gate{OK: true}
}

// freeIn is how many more a budget lets in flight; a large number where no ceiling is known.
func freeIn(b *budget.Budget) int {
	if b == nil || b.Limit() <= 0 {
		return 1 << 20
	}
	return b.Limit() - b.InFlight()
}

// startFrom starts a call for the lane's next task, or for as many of its next tasks as a batch may carry.
func (m *Machine) startFrom(now time.Time, l *frontier.Lane, cred *credential) {
	if cred != nil && l.Ready(2) < 2 {
		// A single task may be counted by another queue of the platform than the batches that pick looked at.
		if p := m.pendingJobs(cred, m.kindFor(1)); p != nil {
			if g := p.Gate(now); !g.OK {
				l.Parked = true
				m.wakeShared(g.At)
				return
			}
		}
	}
	t, d := m.next(now, l)
	if t == nil {
		return
	}
	c := m.newCall()
	c.slots = slots{lane: l, cred: cred, sent: now, places: c.onePlace[:0]}
	c.Tasks, c.Targets = c.oneTask[:0], c.one[:0]
	m.add(now, c, t, d)
	for most := m.roomFor(cred, m.batchOf(t)); len(c.Tasks) < most && l.Size() > 0 && m.affordable(l, len(c.Tasks)+1); {
		t, d := m.next(now, l)
		switch {
		case t == nil:
		case t.Alone:
			m.front.Return(d, t)
			most = 0
		default:
			m.add(now, c, t, d)
		}
	}
	if cred != nil {
		c.slots.pending = m.pendingJobs(cred, m.kindFor(len(c.Tasks)))
		if p := c.slots.pending; p != nil {
			if g := p.Gate(now); !g.OK {
				m.putBack(c)
				l.Parked = true
				m.wakeShared(g.At)
				return
			}
		}
	}
	m.send(now, c, m.cfg.Facts.Paid && !t.Lookup)
}

// next takes the lane's next task that may start now, or deals with what is in its way: each time the ring gets shorter or a
// task leaves it.
func (m *Machine) next(now time.Time, l *frontier.Lane) (*frontier.Task, *frontier.Domain) {
	q := l.Next()
	d := q.Domain
	t := q.Front()
	if t == nil {
		m.front.Drop(q)
		m.front.WantRefill(d)
		return nil, nil
	}
	d.Budget.Elapse(now)
	if g := d.Budget.Gate(now); !g.OK {
		m.park(d, g)
		if g.Why == budget.Paused || g.At.Sub(now) >= spillAfter && len(m.tasks) >= m.cfg.InMemory/2 {
			m.giveBackDomain(d)
		}
		return nil, nil
	}
	if m.late(now, t) {
		q.Pop()
		m.dropFor(now, t, "deadline", "its deadline passed while it waited")
		return nil, nil
	}
	if m.cfg.Direct && m.cfg.Robots {
		switch o, path := m.origin(now, d, t); {
		case o.Rules == nil && !o.Fetching:
			m.fetchRobots(now, d, l, o, t)
			return nil, nil
		case o.Rules == nil:
			m.front.Park(d) // the reply wakes it
			return nil, nil
		case !o.Rules.Allows(path):
			q.Pop()
			m.dropFor(now, t, "robots", "robots.txt of "+d.Name+" disallows it")
			return nil, nil
		}
	}
	q.Pop()
	m.wantMore(d)
	if q.Len() > 0 {
		l.Rotate()
	} else {
		m.front.Drop(q) // at once: whoever counts what is ready would walk over it
	}
	return t, d
}

// add puts a task on a call and takes its domain's slot.
func (m *Machine) add(now time.Time, c *Call, t *frontier.Task, d *frontier.Domain) {
	p := place{domain: d}
	p.probe = d.Budget.Start(now)
	p.n = d.Budget.InFlight()
	c.slots.places = append(c.slots.places, p)
	c.Tasks = append(c.Tasks, t)
	c.Targets = append(c.Targets, provider.Target{Task: t.ID, URL: t.URL, Home: t.Home})
	if t.FirstTry.IsZero() {
		t.FirstTry = now
	}
	if !t.Lookup {
		m.counts.Pending--
		m.counts.InFlight++
	}
	if t.Attempts > 0 && !t.Hop {
		m.counts.Retries++
	}
	m.mark(d)
}

// putBack takes a call apart that cannot be sent after all.
func (m *Machine) putBack(c *Call) {
	m.void(&c.slots)
	for i := len(c.Tasks) - 1; i >= 0; i-- {
		t, d := c.Tasks[i], c.slots.places[i].domain
		d.Budget.Release()
		if !t.Lookup {
			m.counts.InFlight--
			m.counts.Pending++
		}
		if t.Attempts > 0 && !t.Hop {
			m.counts.Retries--
		}
		if t.Attempts == 0 {
			t.FirstTry = time.Time{}
		}
		m.front.Return(d, t)
		m.wakeDomain(d) // its own tasks of this call may have filled it
	}
	m.spare.putCall(c)
}

// send takes the call's shared slots and asks for it to be sent.
func (m *Machine) send(now time.Time, c *Call, intent bool) {
	s := &c.slots
	s.held, s.exchange = true, true
	c.Sent = now
	if c.Kind == "" {
		t := c.Tasks[0]
		switch {
		case t.Lookup:
			c.Kind, c.LookupID = provider.Lookup, -t.ID
		case m.cfg.Direct:
			c.Kind = provider.Fetch
		default:
			c.Kind, c.Sync = provider.Submit, m.form.sync
		}
		c.Number = t.Attempts + 1
		c.Worst = m.worstEach() * float64(len(c.Tasks))
	}
	c.For = c.Kind
	if len(s.places) == 1 {
		c.Domain = s.places[0].domain.Name
	}
	probe := m.take(now, s, kindGlobal, kindTenant)
	for i := range s.places {
		probe = probe || s.places[i].probe != 0
	}
	c.InFlight, c.Limit = s.places[0].n, s.places[0].domain.Budget.Limit()
	if s.cred != nil {
		c.Credential = s.cred.name
		c.InFlight, c.Limit = s.n[kindCredential], s.cred.budget.Limit()
	}
	if probe {
		m.counts.Probes++
		if c.Kind != provider.Lookup {
			c.Kind = provider.Probe
		}
	}
	m.sent(c)
	m.do(Action{Do: Send, Call: c, Intent: intent})
}

// sent counts a call and registers it.
func (m *Machine) sent(c *Call) {
	m.calls[c.ID] = c
	m.counts.Requests++
	m.counts.MaxInFlight = max(m.counts.MaxInFlight, int64(m.global.InFlight()))
	l := c.slots.lane
	for _, s := range m.spendings(l) {
		s.requests++
	}
	m.reserve(l, c.Worst)
	if c.owed = c.For == provider.Submit && m.toPoll() > 0; c.owed {
		m.owe(l, 1)
	}
}

func (m *Machine) newCall() *Call {
	m.nextID++
	c := m.spare.call()
	c.ID = m.nextID
	return c
}

// origin returns the robots.txt entry of a task's origin and the part of its URL that rules are matched with.
func (m *Machine) origin(now time.Time, d *frontier.Domain, t *frontier.Task) (*frontier.Origin, string) {
	key, path := splitOrigin(t.URL)
	var o *frontier.Origin
	for _, known := range d.Origins {
		if known.Key == key {
			o = known
		}
	}
	if o == nil {
		o = &frontier.Origin{Key: key}
		d.Origins = append(d.Origins, o)
	}
	if o.Rules != nil && now.Sub(o.Read) > robotsFresh {
		o.Rules = nil
	}
	return o, path
}

// robotsFresh is how long robots.txt is used before it is read again (RFC 9309 section 2.4).
const robotsFresh = 24 * time.Hour

// splitOrigin cuts a normalised URL after its authority.
func splitOrigin(u string) (origin, path string) {
	slashes := 0
	for i := range len(u) {
		if u[i] == '/' {
			if slashes++; slashes == 3 {
				return u[:i], u[i:]
			}
		}
	}
	return u, "/"
}

// fetchRobots asks for robots.txt in the place of the task that needs it; the task keeps its turn.
func (m *Machine) fetchRobots(now time.Time, d *frontier.Domain, l *frontier.Lane, o *frontier.Origin, t *frontier.Task) {
	o.Fetching = true
	c := m.newCall()
	c.Kind = provider.Lookup
	c.Robots = o
	c.one[0] = provider.Target{URL: o.Key + "/robots.txt", Home: d.Name}
	c.Targets = c.one[:]
	c.Number = 1
	p := place{domain: d}
	p.probe = d.Budget.Start(now)
	p.n = d.Budget.InFlight()
	c.slots = slots{lane: l, sent: now, places: append(c.onePlace[:0], p)}
	m.send(now, c, false)
	m.mark(d)
	m.front.Park(d)
}

// late reports that a task has been tried and its deadline has passed.
func (m *Machine) late(now time.Time, t *frontier.Task) bool {
	return m.cfg.Deadline > 0 && !t.FirstTry.IsZero() && t.Attempts > 0 && now.Sub(t.FirstTry) > m.cfg.Deadline
}
