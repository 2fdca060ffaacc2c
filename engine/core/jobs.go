package core

import (
	"fmt"
	"time"

	"dev.scrapetop/engine/budget"
	"dev.scrapetop/engine/frontier"
	"dev.scrapetop/engine/provider"
)

// handedOver turns a submit into a remote job, which keeps the submit's slots until it is terminal.
func (m *Machine) handedOver(now time.Time, c *Call, r *provider.Reply) {
	f := &m.cfg.Facts
	j := &Job{ID: r.Job, Credential: c.Credential, Tasks: append([]*frontier.Task(nil), c.Tasks...), Submitted: c.Sent, slots: c.slots}
	// The retention is counted from the submit, the shorter reading of the sheet.
	j.Expires = c.Sent.Add(f.Retention)
	j.slots.global = false
	c.slots.held = false
	m.jobs[j.ID] = j
	for _, t := range c.Tasks {
		t.Attempts++
		m.counts.Attempts++
		m.counts.InFlight--
		m.counts.Remote++
		c.settle = append(c.settle, Settled{Task: t, Item: -1, Number: t.Attempts, State: Remote, Decision: "handed over; polled as " + r.Job})
	}
	m.again(now, j, now.Add(max(r.PollAfter, f.PollFirst)))
	m.do(Action{Do: Keep, Call: c, Job: j})
}

// again sets the next poll.
func (m *Machine) again(now time.Time, j *Job, at time.Time) {
	j.Next = at
	m.wakes.Set(at, frontier.WakeJob, j)
}

// pollDue sends the polls that are due. They take a global slot and, where polls count, the address's budget; no cooldown
// of submits, no domain and no pause holds them, so that they can always free what they wait for.
func (m *Machine) pollDue(now time.Time) {
	for len(m.polls) > 0 {
		if m.over {
			return
		}
		j := m.polls[0]
		cr := m.credential(j.Credential)
		g := m.global.Gate(now)
		if g.OK || g.Why == budget.Paused {
			g = m.ip.PollGate(now)
		}
		if !g.OK {
			m.wakeShared(g.At)
			return
		}
		m.polls = m.polls[1:]
		j.due = false
		if cr == nil || cr.budget.StoppedWhy() != "" {
			m.again(now, j, now.Add(m.cfg.Facts.PollMax))
			continue
		}
		m.poll(now, j)
	}
	m.polls = nil
}

func (m *Machine) poll(now time.Time, j *Job) {
	j.polling = true
	j.polls++
	c := m.newCall()
	c.Kind, c.For = provider.Poll, provider.Poll
	c.Job = j
	c.Call.Job = j.ID
	c.Credential = j.Credential
	c.Sent = now
	c.Tasks = j.Tasks
	c.Number = j.polls
	for _, t := range j.Tasks {
		c.Targets = append(c.Targets, provider.Target{Task: t.ID, URL: t.URL, Home: t.Home})
	}
	if len(j.Tasks) > 0 {
		c.Domain = j.Tasks[0].Domain
	}
	m.global.StartPoll(now)
	m.ip.StartPoll(now)
	c.slots = slots{sent: now, cred: j.slots.cred, lane: j.slots.lane, domain: j.slots.domain}
	c.InFlight, c.Limit = m.global.InFlight(), m.global.Limit()
	m.sent(c, "")
	// Reading a finished result may destroy it: what was asked must be known after a crash.
	m.do(Action{Do: Send, Call: c, Intent: true})
}

func (m *Machine) credential(name string) *credential {
	for _, c := range m.creds {
		if c.name == name {
			return c
		}
	}
	return nil
}

// polled handles the answer of a poll.
func (m *Machine) polled(now time.Time, c *Call, r *provider.Reply) {
	j := c.Job
	j.polling = false
	m.global.Release()
	m.failures(now, c, r)
	if cr := j.slots.cred; cr != nil {
		m.readSlots(now, cr, r)
	}
	switch r.Outcome {
	case provider.Accepted, provider.Failed, provider.Lost, provider.NotFound, provider.Invalid, provider.Blocked, provider.TooLarge:
		if len(r.Items) > 0 || r.Outcome == provider.Lost {
			m.terminal(now, c, r)
			return
		}
	case provider.Limited, provider.Busy:
		d := Decide(m.verdict(c, r.Outcome, r.Layer, r.Signal, nil))
		m.countRefusal(r.Outcome, r.Layer)
		if r.Layer == provider.LayerRate {
			m.refuse(now, c, d, r.Layer, m.ip, kindGlobal, budget.IP)
		}
		m.pollLater(now, c, j, max(d.Wait, budget.Wait(1, m.rng)))
		return
	case provider.Denied:
		m.stop(c, Decide(m.verdict(c, r.Outcome, r.Layer, r.Signal, nil)), r)
	}
	// Still running, or the poll itself went wrong: ask again within the retention. A lost answer to a poll costs no try.
	m.pollLater(now, c, j, r.PollAfter)
}

// pollLater sets the next poll: the interval grows from the first to the longest, with jitter that only adds; past the
// retention the result is lost.
func (m *Machine) pollLater(now time.Time, c *Call, j *Job, atLeast time.Duration) {
	f := &m.cfg.Facts
	if !j.Expires.IsZero() && now.After(j.Expires) {
		m.terminal(now, c, &provider.Reply{Outcome: provider.Lost, Error: "the platform has forgotten the job by now"})
		return
	}
	wait := f.PollFirst
	for range min(j.polls, 8) {
		wait = min(wait+wait/4, f.PollMax)
	}
	wait = max(wait, atLeast)
	wait += budget.Jitter(wait, m.rng)
	m.counts.Attempts++
	if len(j.Tasks) == 1 { // a poll of a batch is one exchange of none of its tasks
		t := j.Tasks[0]
		t.Attempts++
		c.settle = append(c.settle, Settled{Task: t, Item: -1, Number: t.Attempts, State: Remote, Decision: "still running; polled again in " + seconds(wait.Round(100*time.Millisecond))})
	}
	m.again(now, j, now.Add(wait))
}

// terminal ends a job: its slots are free, its tasks are settled by what the poll brought.
func (m *Machine) terminal(now time.Time, c *Call, r *provider.Reply) {
	j := c.Job
	j.Done = true
	delete(m.jobs, j.ID)
	// Budgets learn from the job as from a sync answer: the work was let through when it was handed over.
	c.slots = j.slots
	m.release(now, &j.slots)
	c.slots.held = false
	if s := &c.slots; s.lane != nil && s.domain != nil {
		m.concludeJob(now, s)
	}
	m.counts.Remote -= int64(len(j.Tasks))
	m.counts.InFlight += int64(len(j.Tasks)) // settle takes it back
	settled := map[int64]bool{}
	for i := range r.Items {
		item := &r.Items[i]
		t := m.taskOf(c, item.Task)
		if t == nil || settled[item.Task] {
			continue
		}
		settled[item.Task] = true
		var until time.Time
		if c.slots.domain != nil {
			until = m.learnTarget(now, c, t, item)
		}
		m.settle(now, c, i, t, item, until)
	}
	for _, t := range j.Tasks {
		if !settled[t.ID] {
			m.settle(now, c, -1, t, &provider.Item{Task: t.ID, Outcome: r.Outcome, Layer: r.Layer, Error: fmt.Sprintf("job %s: %s", j.ID, or(r.Error, string(r.Outcome)))}, time.Time{})
		}
	}
	m.do(Action{Do: Keep, Call: c, Job: j})
}

func or(s, otherwise string) string {
	if s != "" {
		return s
	}
	return otherwise
}

// concludeJob resolves the probes that the job's submit was for the shared budgets.
func (m *Machine) concludeJob(now time.Time, s *slots) {
	m.conclude(now, s, kindProvider, m.provider, true, false)
	if s.cred != nil {
		m.conclude(now, s, kindAccount, s.cred.account, true, false)
		m.conclude(now, s, kindCredential, s.cred.budget, true, false)
	}
	m.conclude(now, s, kindTenant, s.lane.Budget, true, false)
}

// jobKept goes on polling a job of before a restart; it takes its slots again.
func (m *Machine) jobKept(now time.Time, ev JobKept) {
	j := &Job{ID: ev.Job, Credential: ev.Credential, Submitted: ev.Submitted, Expires: ev.Expires}
	for i := range ev.Tasks {
		t := new(frontier.Task)
		*t = ev.Tasks[i]
		m.tasks[t.ID] = t
		j.Tasks = append(j.Tasks, t)
		m.counts.Remote++
	}
	if len(j.Tasks) == 0 {
		return
	}
	first := j.Tasks[0]
	d := m.home(first)
	l := m.front.Lane(first.Tenant)
	s := slots{held: true, lane: l, cred: m.credential(ev.Credential), domain: d, sent: ev.Submitted}
	m.provider.Hold()
	if s.cred != nil {
		s.cred.account.Hold()
		s.cred.budget.Hold()
	}
	l.Budget.Hold()
	d.Budget.Hold()
	j.slots = s
	m.jobs[j.ID] = j
	next := ev.Next
	if next.Before(now) {
		next = now
	}
	m.again(now, j, next)
}

// slotHeld keeps a credential's slot for a call of before a restart that the platform may still count.
func (m *Machine) slotHeld(ev SlotHeld) {
	cr := m.credential(ev.Credential)
	if cr == nil {
		return
	}
	m.provider.Hold()
	cr.account.Hold()
	cr.budget.Hold()
	m.wakes.Set(ev.Until, frontier.WakeRelease, &slots{held: true, cred: cr})
}
