package core

import (
	"math/rand/v2"
	"time"

	"dev.scrapetop/engine/budget"
	"dev.scrapetop/engine/frontier"
	"dev.scrapetop/engine/limits"
)

// credential is one key with its budgets.
type credential struct {
	name    string
	budget  *budget.Budget
	account *budget.Budget
	tenants map[string]bool
	last    remaining
	balance limits.Opt[float64] // credits left, as last told

	pollsHold bool // the platform counts a poll like work: one at a time
	polling   int

	asking   bool      // its health is asked for
	askUntil time.Time // how long work waits for that; zero: nothing was asked yet

	background background
	contrast   contrast
}

// remaining is what headers last told of a credential.
type remaining struct {
	limit, remaining int64
	hasLimit, has    bool
	at               time.Time
	kind             string
	reset            time.Time
}

func (c *credential) serves(tenant string) bool { return len(c.tenants) == 0 || c.tenants[tenant] }

// Machine is the scheduler. One goroutine calls it.
type Machine struct {
	cfg Config
	rng *rand.Rand
	now time.Time // of the step under way

	front    *frontier.Frontier
	wakes    frontier.Wakes
	global   *budget.Budget
	provider *budget.Budget // submits
	ip       *budget.Budget // everything behind this address
	accounts map[string]*budget.Budget
	pending  map[string]*budget.Budget // jobs that wait at the platform, by account and kind
	creds    []*credential
	// itemsCount: of those, where the platform counts the tasks of batches.
	itemsCount map[*budget.Budget]bool

	tasks    map[int64]*frontier.Task // in memory, until their end is stored
	calls    map[uint64]*Call
	jobs     map[string]*Job
	polls    []*Job    // due, waiting for a slot
	lost     []*search // for submits without an answer, waiting for a slot
	pace     jobPace
	form     form // of submits
	searches int  // under way, wherever they wait
	nextID   uint64

	refills      int
	wants        []Want             // of the read under way
	barren       []*frontier.Domain // of which everything that is stored is held
	frees        int                // how often a tenant was held no longer
	holdsChanged bool               // which tenants are held is to be looked at again
	lent         map[int64]*loan
	ended        map[int64]struct{} // tasks whose end was stored while a refill was under way
	paused       map[budgetKey]bool
	lookups      map[int64]*frontier.Task
	inputs       int // that are being read
	inputOver    bool
	capsRequests bool      // the run, or a tenant, has a cap on requests
	toPolls      int       // jobs that will be polled
	handsOver    bool      // submits become remote jobs
	dearest      float64   // most that a task has cost
	batchCap     int       // tasks of a batch at most, where the platform refused more; zero: its own limit
	queuedAt     time.Time // when work was last queued
	full         bool      // storage takes no more
	drain        *Draining
	over         bool
	storing      int // Store actions not yet acknowledged

	counts   Counts
	refused  map[*budget.Budget]Refused // by shared budget
	spend    map[string]*spending       // by tenant; "" is the run
	contrast contrast                   // of the domains that we ask ourselves
	setup    setup
	leases   leases
	failRow  int
	failSeen [3]string
	wakeAt   time.Time // the shared wake-up in the heap
	idleFrom time.Time
	dirty    []*frontier.Domain
	out      []Action
	spare    spare
}

type budgetKey struct {
	scope budget.Scope
	name  string
}

// New makes a machine without work.
func New(cfg Config) *Machine {
	if cfg.InMemory <= 0 {
		cfg.InMemory = 10_000
	}
	if cfg.MaxAttempts <= 0 {
		cfg.MaxAttempts = 8
	}
	if cfg.BlockHold <= 0 {
		cfg.BlockHold = budget.BlockHold
	}
	m := &Machine{
		cfg:        cfg,
		rng:        rand.New(rand.NewPCG(cfg.Seed, 0x5c7a9e)),
		global:     budget.New(budget.Global, "", cfg.Global),
		provider:   budget.New(budget.Provider, cfg.Provider, budget.Limits{}),
		ip:         budget.New(budget.IP, cfg.Provider, budget.Limits{Rate: budget.Rate{N: cfg.Facts.RateLimit, Per: cfg.Facts.RateWindow}}),
		accounts:   map[string]*budget.Budget{},
		pending:    map[string]*budget.Budget{},
		itemsCount: map[*budget.Budget]bool{},
		tasks:      map[int64]*frontier.Task{},
		calls:      map[uint64]*Call{},
		jobs:       map[string]*Job{},
		lent:       map[int64]*loan{},
		inputs:     1,
		ended:      map[int64]struct{}{},
		paused:     map[budgetKey]bool{},
		refused:    map[*budget.Budget]Refused{},
		lookups:    map[int64]*frontier.Task{},
		spend:      map[string]*spending{"": {maxCredits: cfg.MaxCredits, maxRequests: cfg.MaxRequests}},
	}
	m.capsRequests = cfg.MaxRequests > 0
	for name, t := range cfg.Tenants {
		m.capsRequests = m.capsRequests || t.MaxRequests > 0
		if name != "" && (t.MaxCredits > 0 || t.MaxRequests > 0) {
			m.spend[name] = &spending{maxCredits: t.MaxCredits, maxRequests: t.MaxRequests}
		}
	}
	hidden := !cfg.Facts.FreeSlots && cfg.Facts.RateLimit == 0
	for _, c := range cfg.Credentials {
		c.Limits.Find = hidden && cfg.Facts.AccountScope != string(budget.Account)
		account := c.Account
		if account == "" {
			account = c.Name
		}
		if m.accounts[account] == nil {
			// A platform that tells no free slots is found out like a web server, by what it refuses.
			m.accounts[account] = budget.New(budget.Account, account, budget.Limits{Find: hidden && cfg.Facts.AccountScope == string(budget.Account)})
		}
		cr := &credential{background: background{most: jobsLeast}, name: c.Name, budget: budget.New(budget.Credential, c.Name, c.Limits), account: m.accounts[account]}
		for _, t := range c.Tenants {
			if cr.tenants == nil {
				cr.tenants = map[string]bool{}
			}
			cr.tenants[t] = true
		}
		m.creds = append(m.creds, cr)
	}
	m.front = frontier.New(m.domainBudget, m.tenantBudget)
	return m
}

func (m *Machine) domainBudget(name string) *budget.Budget {
	l, named := m.cfg.Domains[name]
	if !named {
		l = m.cfg.Domain
	}
	l.Find = m.cfg.Direct
	b := budget.New(budget.Domain, name, l)
	m.recall(b)
	b.SetPaused(m.paused[budgetKey{budget.Domain, name}])
	m.bind(b)
	return b
}

func (m *Machine) tenantBudget(name string) *budget.Budget {
	b := budget.New(budget.Tenant, name, m.cfg.Tenants[name].Limits)
	b.SetPaused(m.paused[budgetKey{budget.Tenant, name}])
	m.recall(b)
	m.bind(b)
	return b
}

// Step takes one event at now and returns what is to be done because of it, in order. The slice and what it points to are
// valid until the next Step.
func (m *Machine) Step(now time.Time, ev Event) []Action {
	m.out = m.out[:0]
	if m.over {
		return nil
	}
	if m.now.IsZero() {
		m.now = now
		for _, b := range m.shared() {
			m.recall(b)
		}
	}
	m.now = now
	switch ev := ev.(type) {
	case *Replied:
		m.replied(now, ev)
	case Stored:
		m.stored(ev.Call)
	case NotSent:
		m.notSent(now, ev.Call)
	case Queued:
		m.queuedAt = now
		for _, d := range ev.Domains {
			m.queued(d)
		}
	case Refilled:
		m.refilled(now, ev)
	case RobotsRead:
		m.robotsRead(now, ev)
	case JobKept:
		m.jobKept(now, ev)
	case CooldownKept:
		m.cooldownKept(now, ev)
	case Leased:
		m.leased(now, ev)
	case SlotHeld:
		m.slotHeld(ev)
	case Asked:
		m.asked(now, ev)
	case Lent:
		m.lend(ev)
	case Returned:
		m.returned(ev)
	case LookupAsked:
		m.lookupAsked(now, ev)
	case InputBegan:
		m.inputs++
		m.inputOver = false
	case InputEnded:
		m.inputs--
		m.inputOver = m.inputs <= 0
	case LostSubmit:
		m.lostSubmit(now, ev)
	case Draining:
		m.draining(now, ev)
	case Suspended:
		m.suspended(ev.For)
	case Backpressure:
		m.full = ev.Full
	case Tick:
	}
	m.wake(now)
	if !m.leases.ended(now) {
		m.pollDue(now)
		m.searchDue(now)
		m.dispatch(now)
	}
	m.rehold()
	m.refill(now)
	m.ending(now)
	return m.out
}

// WakeAt is when the next Step is due without any other event; false: only an event can change anything.
func (m *Machine) WakeAt() (time.Time, bool) { return m.wakes.Next() }

func (m *Machine) do(a Action) { m.out = append(m.out, a) }

func (m *Machine) tell(level string, scope budget.Scope, key, text string, task int64) {
	m.do(Action{Do: Tell, Event: Told{Level: level, Scope: scope, Key: key, Text: text, Task: task}})
}

// mark notes that a domain's row changed.
func (m *Machine) mark(d *frontier.Domain) {
	if d == nil {
		return
	}
	if !d.Dirty {
		d.Dirty = true
		m.dirty = append(m.dirty, d)
	}
	m.claim(d)
}

// wake runs everything that is due.
func (m *Machine) wake(now time.Time) {
	for {
		w, ok := m.wakes.Due(now)
		if !ok {
			return
		}
		switch w.Kind {
		case frontier.WakeDomain:
			d := w.Of.(*frontier.Domain)
			if d.WakeAt.Equal(w.At) {
				d.WakeAt = time.Time{}
			}
			m.wakeDomain(d)
			m.mark(d)
		case frontier.WakeShared:
			m.wakeAt = time.Time{}
			m.unparkLanes()
		case frontier.WakeTask:
			if t := w.Of.(*frontier.Task); t.Until.Equal(w.At) { // else it was lent to an act meanwhile
				m.undelay(t)
			}
		case frontier.WakeJob:
			j := w.Of.(*Job)
			if !j.Done && j.capped.IsZero() && !j.polling && !j.due && !j.Next.After(now) {
				j.due = true
				m.polls = append(m.polls, j)
			}
		case frontier.WakeRelease:
			m.release(w.Of.(*slots))
		case frontier.WakeSearch:
			m.lost = append(m.lost, w.Of.(*search))
		case frontier.WakeRun:
		}
	}
}

func (m *Machine) unparkLanes() {
	for _, l := range m.front.Lanes {
		l.Parked = false
	}
}

// wakeShared asks for a wake-up when a shared budget may be open again.
func (m *Machine) wakeShared(at time.Time) {
	if at.IsZero() || !m.wakeAt.IsZero() && !at.Before(m.wakeAt) {
		return
	}
	m.wakeAt = at
	m.wakes.Set(at, frontier.WakeShared, nil)
}

// park takes a domain out of the rings until its gate may be open.
func (m *Machine) park(d *frontier.Domain, g budget.Gate) {
	m.front.Park(d)
	m.mark(d)
	if g.Why == budget.Slots || g.Why == budget.Pace || g.Why == budget.Quota {
		m.counts.Held++
	}
	if g.At.IsZero() || !d.WakeAt.IsZero() && !g.At.Before(d.WakeAt) {
		return
	}
	d.WakeAt = g.At
	m.wakes.Set(g.At, frontier.WakeDomain, d)
}

// queued counts tasks that wait in storage.
func (m *Machine) queued(c DomainCount) {
	d := m.front.Domain(c.Domain)
	d.Stored += c.N
	d.Barren, d.Grown = false, d.Grown || d.Reading
	d.Fruitful = true // a pass under way may miss them
	if d.Oldest.IsZero() || !c.Oldest.IsZero() && c.Oldest.Before(d.Oldest) {
		d.Oldest = c.Oldest
	}
	m.counts.Pending += c.N
	m.front.Works(d)
	m.wantMore(d)
	m.mark(d)
}

// undelay returns a task to its queue when its own backoff is over.
func (m *Machine) undelay(t *frontier.Task) {
	if t.Queue == nil {
		return
	}
	t.Until = time.Time{}
	d := t.Queue.Domain
	d.Log.Delayed--
	if !t.Lookup {
		m.counts.Delayed--
		m.counts.Pending++
	}
	m.front.Push(d, t)
	m.mark(d)
}

// suspended shortens every cooldown by a time that passed unseen. Only domains that are cooling hold one in the heap.
func (m *Machine) suspended(gap time.Duration) {
	for _, b := range m.shared() {
		b.Shorten(gap)
	}
	for _, d := range m.front.Domains { // once in a suspend: the one walk over all domains
		d.Budget.Shorten(gap)
		m.wakeDomain(d)
	}
	m.unparkLanes()
}

// shared are the budgets that are no domain's.
func (m *Machine) shared() []*budget.Budget {
	all := []*budget.Budget{m.global, m.provider, m.ip}
	for _, p := range m.pending {
		all = append(all, p)
	}
	for _, a := range m.accounts {
		all = append(all, a)
	}
	for _, c := range m.creds {
		all = append(all, c.budget)
	}
	for _, l := range m.front.Lanes {
		all = append(all, l.Budget)
	}
	return all
}
