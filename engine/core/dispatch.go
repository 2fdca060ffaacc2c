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
	if m.startsNothing() {
		return
	}
	for {
		g := m.global.Gate(now)
		if g.OK {
			g = m.provider.Gate(now)
		}
		if !g.OK {
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
		cred, g := m.pick(now, l)
		if !g.OK {
			l.Parked = true
			m.wakeShared(g.At)
			continue
		}
		if !m.affordable(l) {
			if m.startsNothing() {
				return
			}
			continue
		}
		m.startFrom(now, l, cred)
	}
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
		g := c.budget.Gate(now)
		if g.OK {
			g = c.account.Gate(now)
		}
		if !g.OK {
			if !g.At.IsZero() && (closed.At.IsZero() || g.At.Before(closed.At)) {
				closed = g
			}
			continue
		}
		free := 1 << 20
		if limit := c.budget.Limit(); limit > 0 {
			free = limit - c.budget.InFlight()
		}
		if best == nil || free > room {
			best, room = c, free
		}
	}
	if best == nil {
		return nil, closed
	}
	return best, budget.Gate{OK: true}
}

// affordable checks the caps of the lane's tenant and of the run before a submit, with the worst price reserved.
func (m *Machine) affordable(l *frontier.Lane) bool {
	worst := m.cfg.Facts.WorstCredits
	if !m.spend[""].allows(worst) {
		m.tell("warn", budget.Global, "", "the run's cap is reached: nothing more is started", 0)
		m.drain = &Draining{Reason: "cap"}
		return false
	}
	if l.Tenant != "" && !m.spend[l.Tenant].allows(worst) {
		l.Stop = "cap"
		m.tell("warn", budget.Tenant, l.Tenant, "the tenant's cap is reached: nothing more of it is started", 0)
		return false
	}
	return !m.startsNothing()
}

// startFrom starts the next task of the lane's next queue, or takes the queue out of the ring.
func (m *Machine) startFrom(now time.Time, l *frontier.Lane, cred *credential) {
	q := l.Next()
	d := q.Domain
	t := q.Front()
	if t == nil {
		m.front.Drop(q)
		m.front.WantRefill(d)
		return
	}
	if g := d.Budget.Gate(now); !g.OK {
		m.park(d, g)
		m.spill(now, d, g)
		return
	}
	if m.late(now, t) {
		q.Pop()
		m.dropFor(now, t, "deadline", "its deadline passed while it waited")
		return
	}
	if m.cfg.Direct && m.cfg.Robots {
		switch o, path := m.origin(now, d, t); {
		case o.Rules == nil && !o.Fetching:
			m.fetchRobots(now, d, l, o, t)
			return
		case o.Rules == nil:
			m.front.Park(d) // the reply wakes it
			return
		case !o.Rules.Allows(path):
			q.Pop()
			m.dropFor(now, t, "robots", "robots.txt of "+d.Name+" disallows it")
			return
		}
	}
	q.Pop()
	if d.InHand < m.low(d) {
		m.front.WantRefill(d)
	}
	l.Rotate()
	c := m.newCall()
	c.Kind = provider.Fetch
	if !m.cfg.Direct {
		c.Kind = provider.Submit
	}
	if t.Lookup {
		c.Kind = provider.Lookup
		c.LookupID = -t.ID
	}
	c.Domain = d.Name
	c.oneT[0] = t
	c.Tasks = c.oneT[:]
	c.one[0] = provider.Target{Task: t.ID, URL: t.URL, Home: t.Home}
	c.Targets = c.one[:]
	c.Number = t.Attempts + 1
	if t.FirstTry.IsZero() {
		t.FirstTry = now
	}
	if !t.Lookup {
		m.counts.Pending--
		m.counts.InFlight++
	}
	if c.Number > 1 {
		m.counts.Retries++
	}
	c.Worst = m.cfg.Facts.WorstCredits
	m.send(now, c, l, cred, d, m.cfg.Facts.Paid && !t.Lookup)
}

// send takes the call's slots and asks for it to be sent.
func (m *Machine) send(now time.Time, c *Call, l *frontier.Lane, cred *credential, d *frontier.Domain, intent bool) {
	c.For = c.Kind
	c.Sent = now
	s := &c.slots
	*s = slots{held: true, global: true, lane: l, cred: cred, domain: d, sent: now}
	probe := false
	take := func(kind int, b *budget.Budget) {
		s.probe[kind] = b.Start(now)
		s.n[kind] = b.InFlight()
		probe = probe || s.probe[kind]
	}
	take(kindGlobal, m.global)
	take(kindProvider, m.provider)
	if cred != nil {
		take(kindAccount, cred.account)
		take(kindCredential, cred.budget)
		c.Credential = cred.name
	}
	take(kindTenant, l.Budget)
	take(kindDomain, d.Budget)
	c.InFlight, c.Limit = s.n[kindDomain], d.Budget.Limit()
	if cred != nil {
		c.InFlight, c.Limit = s.n[kindCredential], cred.budget.Limit()
	}
	if probe && c.Kind != provider.Lookup {
		c.Kind = provider.Probe
	}
	if probe {
		m.counts.Probes++
	}
	m.sent(c, l.Tenant)
	m.mark(d)
	m.do(Action{Do: Send, Call: c, Intent: intent})
}

// sent counts a call and registers it.
func (m *Machine) sent(c *Call, tenant string) {
	m.calls[c.ID] = c
	m.counts.Requests++
	m.counts.MaxInFlight = max(m.counts.MaxInFlight, int64(m.global.InFlight()))
	m.spend[""].requests++
	m.spend[""].reserved += c.Worst
	if s := m.spend[tenant]; tenant != "" && s != nil {
		s.requests++
		s.reserved += c.Worst
	}
}

func (m *Machine) newCall() *Call {
	m.nextID++
	c := &Call{}
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
	origin, _ := splitOrigin(t.URL)
	c := m.newCall()
	c.Kind = provider.Lookup
	c.Robots = o
	c.Domain = d.Name
	c.one[0] = provider.Target{URL: origin + "/robots.txt", Home: d.Name}
	c.Targets = c.one[:]
	c.Number = 1
	m.send(now, c, l, nil, d, false)
	m.front.Park(d)
}

// late reports that a task has been tried and its deadline has passed.
func (m *Machine) late(now time.Time, t *frontier.Task) bool {
	return m.cfg.Deadline > 0 && !t.FirstTry.IsZero() && t.Attempts > 0 && now.Sub(t.FirstTry) > m.cfg.Deadline
}
