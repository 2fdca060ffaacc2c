package core

import (
	"net/url"
	"time"

	"dev.scrapetop/engine/budget"
	"dev.scrapetop/engine/frontier"
	"dev.scrapetop/engine/provider"
)

// refillDomains is how many domains one refill reads, refillMost how many tasks of one.
const (
	refillDomains = 256
	refillMost    = 1024
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
	o := d.Origins[key]
	if o == nil {
		o = &frontier.Origin{}
		if d.Origins == nil {
			d.Origins = map[string]*frontier.Origin{}
		}
		d.Origins[key] = o
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

// low is how many of a domain's tasks should wait in memory: about twice what may be in flight.
func (m *Machine) low(d *frontier.Domain) int {
	limit := d.Budget.Limit()
	if limit == 0 || limit > m.cfg.Global.InFlight && m.cfg.Global.InFlight > 0 {
		limit = max(m.cfg.Global.InFlight, 2)
	}
	return min(2*limit, refillMost)
}

// refill asks storage for the tasks of domains that run low, one read at a time.
func (m *Machine) refill() {
	if m.refills > 0 || m.startsNothing() || m.front.Hungry() == 0 {
		return
	}
	room := m.cfg.InMemory - len(m.tasks)
	if room <= 0 {
		return
	}
	var wants []Want
	for room > 0 && len(wants) < refillDomains {
		taken := m.front.TakeHungry(1)
		if len(taken) == 0 {
			break
		}
		d := taken[0]
		n := min(max(2*m.low(d), 4), refillMost, room)
		room -= n
		wants = append(wants, Want{Domain: d.Name, N: n, AfterPriority: d.AfterPriority, AfterID: d.AfterID})
	}
	if len(wants) == 0 {
		return
	}
	m.refills++
	m.do(Action{Do: Refill, Wants: wants})
}

// refilled places what a read brought.
func (m *Machine) refilled(now time.Time, ev Refilled) {
	m.refills--
	got := make(map[string]int, len(ev.Wants))
	fresh := make(map[string]int, len(ev.Wants))
	for _, r := range ev.Reused {
		d := m.front.Domain(r.Domain)
		got[r.Domain]++
		fresh[r.Domain]++
		d.Passed(r.Priority, r.ID)
		d.Stored--
		m.counts.Pending--
		m.counts.Accepted++
		d.Log.Accepted++
	}
	for i := range ev.Tasks {
		w := &ev.Tasks[i]
		d := m.front.Domain(w.Domain)
		got[w.Domain]++
		d.Passed(w.Priority, w.ID)
		if m.tasks[w.ID] != nil {
			continue
		}
		if _, done := m.ended[w.ID]; done {
			continue
		}
		fresh[w.Domain]++
		t := new(frontier.Task)
		*t = w.Task
		d.Stored--
		m.tasks[t.ID] = t
		if w.NotBefore.After(now) {
			m.delay(m.home(t), t, w.NotBefore)
			m.counts.Pending--
			m.counts.Delayed++
			continue
		}
		m.front.Push(m.home(t), t)
	}
	for _, w := range ev.Wants {
		d := m.front.Domain(w.Domain)
		d.Reading = false
		m.mark(d)
		if ev.Failed {
			m.front.WantRefill(d)
			continue
		}
		if got[w.Domain] < w.N {
			if w.AfterID == 0 && fresh[w.Domain] == 0 {
				// Read from the start and nothing new: the count was ahead of the rows.
				m.counts.Pending -= d.Stored
				d.Stored = 0
			}
			d.AfterPriority, d.AfterID = 0, 0
		}
		if d.InHand < m.low(d) && !d.Parked {
			m.front.WantRefill(d)
		}
	}
	if m.refills == 0 {
		clear(m.ended)
	}
}

// home is the domain in whose queue a task waits: the one it is stored under, or where a redirect led.
func (m *Machine) home(t *frontier.Task) *frontier.Domain {
	if t.Hop {
		if host := hostOf(t.URL); host != "" {
			return m.front.Domain(host)
		}
	}
	return m.front.Domain(t.Domain)
}

func hostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// spillAfter is the wait beyond which a closed domain's untried tasks leave a memory that is half full.
const spillAfter = 30 * time.Second

// spill gives back the memory of a domain that will be closed for long.
func (m *Machine) spill(now time.Time, d *frontier.Domain, g budget.Gate) {
	if g.At.IsZero() || g.At.Sub(now) < spillAfter || len(m.tasks) < m.cfg.InMemory/2 {
		return
	}
	for _, q := range d.Queues {
		for range q.Len() {
			t := q.Pop()
			if t.Attempts > 0 || t.Hop || t.Lookup {
				m.front.Push(d, t)
				continue
			}
			delete(m.tasks, t.ID)
			d.Stored++
		}
	}
	d.AfterPriority, d.AfterID = 0, 0
}
