package core

import (
	"fmt"
	"strings"
	"time"

	"dev.scrapetop/engine/budget"
	"dev.scrapetop/engine/frontier"
	"dev.scrapetop/engine/provider"
)

// settle decides what becomes of one task after an answer. until is when the budget that refused opens again; zero: none
// refused.
func (m *Machine) settle(now time.Time, c *Call, index int, t *frontier.Task, item *provider.Item, until time.Time) {
	t.Attempts++
	v := m.verdict(item.Outcome, item.Layer, item.Signal, t, nil)
	v.Resubmit = v.Resubmit && c.Job != nil // a lost result; a lost submit has its own rule (onceMore)
	d := Decide(v)
	if d.Try && m.testsProvider(c, item) {
		d.Try, d.Dead = false, "" // the platform was known to be down
	}
	if c.unproven {
		d.Try, d.Dead = false, ""
	}
	if d.Try {
		t.Tries++
	}
	if item.Outcome == provider.Invalid {
		t.Invalids++
	}
	s := Settled{Task: t, Item: index, Number: t.Attempts, Error: item.Error}
	m.counts.Attempts++
	if t.Lookup {
		m.settleLookup(now, c, t, d, until)
		return
	}
	m.counts.InFlight--
	switch {
	case item.Outcome == provider.Accepted:
		s.State = Accepted
		s.Decision = "accepted"
	case t.Cancelled:
		s.State, s.Decision = Cancelled, cancelledByUser
	case item.Outcome == provider.Redirected:
		m.hop(now, t, item, &s, d)
	case d.Dead != "":
		s.State, s.Reason = Dead, d.Dead
		if c.Robots != nil && item.Outcome == provider.Failed {
			s.Reason = "robots" // its rules could not be read, so nothing may be asked
		}
		s.Decision = fmt.Sprintf("dead letter: %s after %d tries", d.Dead, t.Tries)
	case d.Cools != budget.None || d.Stops != budget.None:
		m.refusedTask(now, t, &s, d, until)
	default:
		m.retryLater(now, c, t, &s, d)
	}
	switch s.State {
	case Dead:
		if d := m.front.Domains[t.Domain]; d != nil {
			d.Log.Dead++
			m.mark(d)
		}
		m.tell("error", budget.Domain, t.Domain, strings.TrimSuffix("dead letter: "+s.Reason+": "+item.Error, ": "), t.ID)
	case Pending:
		m.counts.Pending++
	case Delayed:
		m.counts.Delayed++
	}
	c.settle = append(c.settle, s)
}

// testsProvider reports that a failure says what was known when the call was sent: that a platform is down.
func (m *Machine) testsProvider(c *Call, item *provider.Item) bool {
	return !m.cfg.Direct && c.slots.probe[kindProvider] != 0 && item.Layer != provider.LayerTarget &&
		(item.Outcome == provider.Failed || item.Outcome == provider.Transport)
}

// refusedTask returns a refused task to the front of its queue without a try; it is given up at once when the wait cannot
// fit its deadline.
func (m *Machine) refusedTask(now time.Time, t *frontier.Task, s *Settled, d Decision, until time.Time) {
	if m.cfg.Deadline > 0 && until.After(t.FirstTry.Add(m.cfg.Deadline)) {
		s.State, s.Reason = Dead, "deadline"
		s.Decision = fmt.Sprintf("dead letter: the wait of %s passes its deadline", seconds(until.Sub(now).Round(time.Second)))
		return
	}
	s.State = Pending
	s.Decision = fmt.Sprintf("no try spent; waits for %s", d.Cools)
	if until.After(now) {
		s.Decision = fmt.Sprintf("no try spent; %s cools for %s (%s)", d.Cools, seconds(until.Sub(now).Round(100*time.Millisecond)), d.Cause)
	}
	m.front.Return(m.home(t), t)
}

// retryLater delays a task by its own backoff, or by the wait its answer named when that is longer.
func (m *Machine) retryLater(now time.Time, c *Call, t *frontier.Task, s *Settled, d Decision) {
	wait := budget.Wait(max(t.Tries-1, 0), m.rng)
	if c != nil && len(c.Targets) > 1 {
		// What was one batch comes back at one time, so that it can be one again.
		if c.backoff == 0 {
			c.backoff = wait
		}
		wait = c.backoff
	}
	if d.Wait > 0 {
		wait = max(wait, d.Wait+budget.Jitter(d.Wait, m.rng))
	}
	at := now.Add(wait)
	if m.cfg.Deadline > 0 && at.After(t.FirstTry.Add(m.cfg.Deadline)) {
		s.State, s.Reason = Dead, "deadline"
		s.Decision = "dead letter: its backoff passes its deadline"
		return
	}
	s.State, s.NotBefore = Delayed, at
	s.Decision = fmt.Sprintf("try %d of %d spent; backs off %s", t.Tries, m.cfg.MaxAttempts, seconds(wait.Round(100*time.Millisecond)))
	switch {
	case c != nil && c.unproven:
		s.Decision = "no try spent: no submit was taken yet, so the options may be at fault; backs off " + seconds(wait.Round(100*time.Millisecond))
	case !d.Try:
		s.Decision = "no try spent: it tested a platform that was down; backs off " + seconds(wait.Round(100*time.Millisecond))
	}
	if t.Hop {
		t.Hop, t.Hops, t.URL = false, 0, t.Own
	}
	m.delay(m.home(t), t, at)
}

// delay puts a task into the heap; it returns to d's queue when it wakes.
func (m *Machine) delay(d *frontier.Domain, t *frontier.Task, at time.Time) {
	m.front.Assign(d, t)
	t.Until = at
	d.Log.Delayed++
	m.wakes.Set(at, frontier.WakeTask, t)
	m.mark(d)
}

// hop sends a redirected task on as a call of the host it leads to, inside that host's budgets.
func (m *Machine) hop(now time.Time, t *frontier.Task, item *provider.Item, s *Settled, d Decision) {
	if t.Hops >= maxHops {
		item.Outcome, item.Error = provider.Failed, "too many redirects"
		s.Error = item.Error
		fail := Decide(Verdict{Facts: m.cfg.Facts, Outcome: provider.Failed, Tries: t.Tries, Max: m.cfg.MaxAttempts})
		t.Tries++
		if fail.Dead != "" {
			s.State, s.Reason, s.Decision = Dead, fail.Dead, "dead letter: too many redirects"
			return
		}
		m.retryLater(now, nil, t, s, fail)
		return
	}
	t.Hops++
	t.Hop, t.URL = true, item.Location
	s.State = Pending
	s.Decision = fmt.Sprintf("redirect %d of %d followed", t.Hops, maxHops)
	m.front.Return(m.home(t), t)
}

// dropFor gives a task up before it is sent.
func (m *Machine) dropFor(now time.Time, t *frontier.Task, reason, why string) {
	if t.Lookup {
		m.lookupEnded(t, m.newCall(), why)
		return
	}
	m.front.Domain(t.Domain).Log.Dead++
	m.tell("error", budget.Domain, t.Domain, "dead letter: "+reason+": "+why, t.ID)
	m.endUnsent(t, Settled{State: Dead, Reason: reason, Error: why, Decision: "dead letter: " + reason})
}

// stored moves the counters of what was committed.
func (m *Machine) stored(c *Call) {
	m.storing--
	for i := range c.settle {
		s := &c.settle[i]
		d := m.under(s.Task)
		switch s.State {
		case Accepted:
			m.counts.Accepted++
			if d != nil {
				d.Log.Accepted++
			}
		case Dead:
			m.counts.Dead++
		case Cancelled:
			m.counts.Cancelled++
		default:
			continue
		}
		m.mark(d)
		delete(m.tasks, s.Task.ID)
		if m.refills > 0 {
			m.ended[s.Task.ID] = struct{}{}
		}
		m.spare.putTask(s.Task)
	}
	m.spare.putCall(c)
}

// notSent takes a call back whose bytes never left: no try, no attempt, nothing learned.
func (m *Machine) notSent(now time.Time, c *Call) {
	if m.calls[c.ID] == nil {
		return
	}
	delete(m.calls, c.ID)
	m.unreserveCall(c)
	m.counts.Requests--
	for _, s := range m.spendings(c.slots.lane) {
		s.requests--
	}
	m.void(&c.slots)
	m.endExchange(&c.slots)
	switch {
	case c.Job != nil:
		c.Job.polling = false
		if cr := c.Job.slots.cred; cr != nil {
			cr.polling--
		}
		m.again(now, c.Job, now)
		return
	case c.search != nil:
		m.lost = append(m.lost, c.search)
		return
	case c.health:
		c.slots.cred.asking = false
		return
	case c.Robots != nil:
		c.Robots.Fetching = false
	}
	m.release(&c.slots)
	for _, t := range c.Tasks {
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
		m.back(t)
	}
}
