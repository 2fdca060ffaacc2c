package core

import (
	"fmt"
	"time"

	"dev.scrapetop/engine/budget"
	"dev.scrapetop/engine/frontier"
	"dev.scrapetop/engine/provider"
)

const (
	// searchPages bounds how far back a platform's list of jobs is read for a submit without an answer.
	searchPages = 5
	// searchSkew is how much earlier than the submit a job may seem to have been created: clocks differ.
	searchSkew = 2 * time.Minute
)

// search looks for a submit whose answer never came: whether the platform has it (DESIGN section 7, CONTRACT section 7).
type search struct {
	tasks   []*frontier.Task
	targets []provider.Target
	cred    *credential
	slots   slots // of the submit; the work may be running
	sent    time.Time
	page    int
	check   []string // jobs whose URLs the list does not tell, still to be looked at
	seen    map[string]bool
	failed  int     // lookups that brought no answer, in a row
	rounds  int     // times that the whole list was read in vain
	worst   float64 // credits reserved
	owed    bool    // polls are set aside for what it may have become

	call     *Call  // the submit, of this process
	exchange string // or its exchange, of before a restart
}

// unknown deals with a submit whose answer never came. Where the platform can be asked it is searched for; else it is
// submitted again, at most once.
func (m *Machine) unknown(now time.Time, c *Call, r *provider.Reply) {
	if m.cfg.Facts.FindsLost {
		s := &search{tasks: append([]*frontier.Task(nil), c.Tasks...), targets: append([]provider.Target(nil), c.Targets...), cred: c.slots.cred,
			sent: c.Sent, page: 1, seen: map[string]bool{}, worst: c.Worst, owed: c.owed, call: c}
		c.owed = false
		c.Worst, c.searched = 0, true
		s.slots = c.slots
		s.slots.places = append([]place(nil), c.slots.places...)
		s.slots.held = false
		// Its probes ended without an answer; whatever is found later is nobody's probe.
		s.slots.probe = [kinds]budget.Probe{}
		for i := range s.slots.places {
			s.slots.places[i].probe = 0
		}
		m.searches++
		m.searchSoon(now, s)
		m.tell("warn", budget.Credential, c.Credential, "a submit's answer never came: looking for it at the platform", c.firstTask())
		for _, t := range c.Tasks {
			t.Attempts++
			m.counts.Attempts++
			c.settle = append(c.settle, Settled{Task: t, Item: -1, Number: t.Attempts, State: InFlight, Error: r.Error, Decision: "no answer; searched for at the platform before anything else"})
		}
		return
	}
	for _, t := range c.Tasks {
		m.onceMore(now, c, t, r.Outcome, r.Error)
	}
}

// onceMore submits a task once more whose submit may have been carried out, or gives it up when that was done before or the
// configuration forbids it.
func (m *Machine) onceMore(now time.Time, c *Call, t *frontier.Task, o provider.Outcome, why string) {
	t.Unknowns++
	item := provider.Item{Task: t.ID, Outcome: o, Error: why}
	if t.Unknowns > 1 || !m.cfg.ResubmitUnknown {
		item = provider.Item{Task: t.ID, Outcome: provider.Lost, Error: or(why, "no answer") + ": whether it was carried out is not known"}
	}
	m.settle(now, c, -1, t, &item, time.Time{})
}

// searchDue sends the searches that may go.
func (m *Machine) searchDue(now time.Time) {
	for len(m.lost) > 0 && !m.over {
		if g := m.exchangeGate(now); !g.OK {
			m.wakeShared(g.At)
			return
		}
		s := m.lost[0]
		m.lost = m.lost[1:]
		c := m.newCall()
		c.Kind, c.For = provider.Lookup, provider.Lookup
		c.search = s
		c.Targets = s.targets
		c.Page = s.page
		c.Sent = now
		if len(s.check) > 0 {
			c.Call.Job = s.check[0]
		}
		c.slots = slots{sent: now, exchange: true, cred: s.cred, lane: s.slots.lane}
		if s.cred != nil {
			c.Credential = s.cred.name
		}
		m.take(now, &c.slots, kindGlobal, kindIP)
		c.Number = 1
		m.sent(c)
		m.do(Action{Do: Send, Call: c})
	}
}

// searched takes the answer of a search: the lost job is polled like one that was handed over; one that is nowhere is
// submitted again. A lookup that failed, or was refused as a wrong request, told nothing and is made again.
func (m *Machine) searched(now time.Time, c *Call, r *provider.Reply) {
	s := c.search
	m.endExchange(&c.slots)
	m.readCapacity(now, &c.slots, r)
	defer func() {
		if len(c.settle) == 0 { // an exchange that served no task
			m.counts.Attempts++
		}
	}()
	var blamed *budget.Budget
	if r.Outcome == provider.Limited && r.Layer == provider.LayerRate {
		blamed, _ = m.blame(now, c, r)
	}
	m.conclude(now, &c.slots, kindGlobal, kindIP, answered(r.Outcome) || r.Outcome == provider.Denied || r.Layer == provider.LayerTarget, blamed)
	if !answered(r.Outcome) || r.Outcome == provider.Refused {
		if s.failed++; s.failed < m.cfg.MaxAttempts {
			m.wakes.Set(now.Add(budget.Wait(s.failed, m.rng)), frontier.WakeSearch, s)
			return
		}
		m.abandonSearch(now, c, s, "the platform could not be asked whether it has the submit: "+or(r.Error, string(r.Outcome)))
		return
	}
	s.failed = 0
	if c.Call.Job != "" {
		s.check = s.check[1:]
	}
	for _, f := range r.Found {
		switch {
		case m.jobs[f.Job] != nil || s.seen[f.Job] && c.Call.Job == "":
		case !f.Created.IsZero() && f.Created.Before(s.sent.Add(-searchSkew)):
		case len(f.URLs) > 0 || c.Call.Job == f.Job:
			m.found(now, c, s, f)
			return
		default:
			s.seen[f.Job] = true
			s.check = append(s.check, f.Job)
		}
	}
	switch {
	case len(s.check) > 0:
	case r.More && s.page < searchPages && c.Call.Job == "":
		s.page++
	case s.rounds+1 < len(m.searchAt(s)):
		s.rounds++
		s.page, s.seen = 1, map[string]bool{}
		m.searchSoon(now, s)
		return
	default:
		m.abandonSearch(now, c, s, "the submit was not found at the platform")
		return
	}
	m.lost = append(m.lost, s)
}

// searchAt are the times after a submit at which it is looked for. A batch stands in the platform's list at once, a single
// scrape only when it has ended.
func (m *Machine) searchAt(s *search) []time.Duration {
	if len(s.tasks) > 1 {
		return []time.Duration{0, 15 * time.Second}
	}
	return []time.Duration{0, 15 * time.Second, 45 * time.Second, 90 * time.Second}
}

// searchSoon lets the next round of a search begin at its time.
func (m *Machine) searchSoon(now time.Time, s *search) {
	at := s.sent.Add(m.searchAt(s)[s.rounds])
	if at.After(now) {
		m.wakes.Set(at, frontier.WakeSearch, s)
		return
	}
	m.lost = append(m.lost, s)
}

// lostSubmit searches for a submit of before a restart.
func (m *Machine) lostSubmit(now time.Time, ev LostSubmit) {
	s := &search{cred: m.credential(ev.Credential), sent: ev.Sent, page: 1, seen: map[string]bool{}, exchange: ev.Exchange}
	s.slots = slots{cred: s.cred, sent: ev.Sent}
	for i := range ev.Tasks {
		t := new(frontier.Task)
		*t = ev.Tasks[i]
		m.tasks[t.ID] = t
		s.tasks = append(s.tasks, t)
		s.targets = append(s.targets, provider.Target{Task: t.ID, URL: t.URL, Home: t.Home})
		s.slots.places = append(s.slots.places, place{domain: m.home(t)})
		m.counts.InFlight++
	}
	if len(s.tasks) == 0 {
		return
	}
	s.slots.lane = m.front.Lane(s.tasks[0].Tenant)
	if s.cred != nil {
		s.slots.pending = m.pendingJobs(s.cred, m.kindFor(len(s.tasks)))
	}
	s.worst = m.worstEach() * float64(len(s.tasks))
	m.reserve(s.slots.lane, s.worst)
	m.searches++
	m.tell("warn", budget.Credential, ev.Credential, "a submit's answer never came before the restart: looking for it at the platform", s.tasks[0].ID)
	m.searchSoon(now, s)
}

// searchEnded settles the intent of a submit that was searched for.
func (m *Machine) searchEnded(s *search) {
	m.searches--
	if s.owed {
		s.owed = false
		m.owe(s.slots.lane, -1)
	}
	m.do(Action{Do: Settle, Call: s.call, Exchange: s.exchange})
}

// found goes on with a lost submit as the remote job that it became.
func (m *Machine) found(now time.Time, c *Call, s *search, f provider.Found) {
	m.searchEnded(s)
	m.tell("info", budget.Credential, c.Credential, fmt.Sprintf("the submit without an answer was found as job %s", f.Job), s.tasks[0].ID)
	work := s.slots
	work.sent = s.sent
	m.retake(&work)
	m.keepJob(now, c, f.Job, work, s.tasks, s.worst, 0)
}

// abandonSearch ends a search that found nothing: the platform does not have the submit, or it could not be asked, and then
// the submit may have been carried out after all. Either way resubmit_unknown says what follows; why tells which it was.
func (m *Machine) abandonSearch(now time.Time, c *Call, s *search, why string) {
	m.searchEnded(s)
	m.unreserve(s.slots.lane, s.worst)
	m.unpriced(s.slots.lane, s.tasks, s.worst) // it may have been carried out all the same
	m.tell("warn", budget.Credential, c.Credential, why, s.tasks[0].ID)
	for _, t := range s.tasks {
		m.onceMore(now, c, t, provider.Transport, why)
	}
}
