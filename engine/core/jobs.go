package core

import (
	"fmt"
	"strings"
	"time"

	"dev.scrapetop/engine/budget"
	"dev.scrapetop/engine/frontier"
	"dev.scrapetop/engine/provider"
)

// handedOver turns a submit into a remote job, which keeps the submit's slots until it is terminal.
func (m *Machine) handedOver(now time.Time, c *Call, r *provider.Reply) {
	m.handsOver = true
	m.keepJob(now, c, r.Job, c.slots, c.Tasks, c.Worst, r.PollAfter)
	c.Worst = 0 // reserved until the job is terminal
	c.slots.held = false
}

// keepJob begins to poll a job that holds these slots for these tasks.
func (m *Machine) keepJob(now time.Time, c *Call, id string, s slots, tasks []*frontier.Task, worst float64, pollAfter time.Duration) {
	f := &m.cfg.Facts
	j := &Job{worst: worst, ID: id, Credential: c.Credential, Tasks: append([]*frontier.Task(nil), tasks...), Submitted: s.sent, slots: s}
	j.slots.places = append([]place(nil), s.places...)
	// The retention is counted from the submit, the shorter reading of the sheet.
	if f.Retention > 0 {
		j.Expires = s.sent.Add(f.Retention)
	}
	j.slots.exchange = false
	j.slots.probe = [kinds]budget.Probe{} // the hand-over answered them; its targets' are still out
	m.begin(now, j)
	for _, t := range j.Tasks {
		t.Attempts++
		m.counts.Attempts++
		m.counts.InFlight--
		m.counts.Remote++
		c.settle = append(c.settle, Settled{Task: t, Item: -1, Number: t.Attempts, State: Remote, Decision: "handed over; polled as " + id})
	}
	m.pace.begin(s.sent)
	m.again(now, j, now.Add(max(pollAfter, f.PollFirst, m.firstPoll(j))))
	m.do(Action{Do: Keep, Call: c, Job: j})
}

// begin registers a job whose slots are set.
func (m *Machine) begin(now time.Time, j *Job) {
	j.handed = now
	m.jobs[j.ID] = j
	m.owe(j.slots.lane, 1)
	m.toPolls++
	if cr := j.slots.cred; cr != nil {
		cr.background.jobs++
		m.freeSlot(&j.slots)
	}
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
		if g := m.exchangeGate(now); !g.OK {
			m.wakeShared(g.At)
			return
		}
		m.polls = m.polls[1:]
		j.due = false
		if m.unpolled(cr) != "" {
			if m.expired(now, j) {
				m.forget(now, j)
				continue
			}
			m.again(now, j, now.Add(m.cfg.Facts.PollMax))
			continue
		}
		switch {
		case cr.pollsHold && cr.polling > 0:
			m.again(now, j, now.Add(inTurn+budget.Jitter(20*inTurn, m.rng)))
		case m.pollable(now, j):
			m.poll(now, j)
		}
	}
	m.polls = nil
}

// inTurn is how long a poll that waits for another is put off.
const inTurn = 250 * time.Millisecond

func (m *Machine) poll(now time.Time, j *Job) {
	j.polling = true
	if cr := j.slots.cred; cr != nil {
		cr.polling++
	}
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
	c.slots = slots{sent: now, exchange: true, cred: j.slots.cred, lane: j.slots.lane}
	m.take(now, &c.slots, kindGlobal, kindIP)
	c.InFlight, c.Limit = m.global.InFlight(), m.global.Limit()
	m.sent(c)
	// Reading a finished result may destroy it: what was asked must be known after a crash.
	m.do(Action{Do: Send, Call: c, Intent: true})
}

// exchangeGate is the gate of calls that take no slot of work: polls and searches. A paused run goes on polling.
func (m *Machine) exchangeGate(now time.Time) budget.Gate {
	if g := m.global.PollGate(now); !g.OK {
		return g
	}
	return m.ip.PollGate(now)
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
	if cr := j.slots.cred; cr != nil {
		cr.polling--
	}
	m.endExchange(&c.slots)
	m.readCapacity(now, &c.slots, r)
	m.failures(now, c, r)
	refused := r.Outcome == provider.Limited || r.Outcome == provider.Busy
	for kind := kindProvider; kind < kinds; kind++ { // what it met, if it counts
		if b := m.budgetOf(&c.slots, kind); b != nil {
			c.slots.n[kind] = b.InFlight() + 1
		}
	}
	wait := r.PollAfter
	var blamed *budget.Budget
	switch {
	case refused && r.Layer == provider.LayerTarget:
		m.countRefusal(&c.slots, r.Outcome, r.Layer)
		wait = budget.Wait(1, m.rng)
	case refused:
		// Submits wait as for any refusal; other polls go on, since they free what is waited for.
		blamed, _ = m.blame(now, c, r)
		wait = max(r.Signal.Wait.V, budget.Wait(1, m.rng))
		if r.Layer == provider.LayerAccount && c.slots.cred != nil {
			c.slots.cred.pollsHold = true
			c.slots.cred.budget.KeepSlotFree()
		}
	case r.Outcome == provider.Denied:
		m.stop(c, Decide(m.verdict(r.Outcome, r.Layer, r.Signal, nil, nil)), r)
	}
	m.conclude(now, &c.slots, kindGlobal, kindIP, answered(r.Outcome) || r.Outcome == provider.Denied || r.Layer == provider.LayerTarget, blamed)
	if len(r.Items) > 0 || r.Outcome == provider.Lost {
		m.terminal(now, c, r)
		return
	}
	j.lastRunning = c.Sent
	if r.Outcome == provider.StillRunning {
		// A job that still runs has not begun to expire: that its time may count from the submit is a reason to poll early,
		// never to give it up.
		if keep := m.cfg.Facts.Retention; keep > 0 && c.Sent.Add(keep).After(j.Expires) {
			j.Expires = c.Sent.Add(keep)
		}
		m.counts.RemoteDone += int64(r.Done - j.ended)
		j.ended = r.Done
		if r.Started {
			m.foundRunning(j, c.Sent)
		}
	}
	// Still running, or the poll itself went wrong: ask again within the retention. A lost answer to a poll costs no try.
	m.pollLater(now, c, j, wait)
}

// pollLater sets the next poll: the interval grows from the first to the longest, with jitter that only adds; past the
// retention the result is lost.
func (m *Machine) pollLater(now time.Time, c *Call, j *Job, atLeast time.Duration) {
	f := &m.cfg.Facts
	if m.expired(now, j) {
		m.terminal(now, c, &provider.Reply{Outcome: provider.Lost, Error: forgotten})
		return
	}
	wait := f.PollFirst
	for range min(j.polls, 8) {
		wait = min(wait+wait/4, f.PollMax)
	}
	wait = max(m.nextPoll(now, j, wait), atLeast, m.sparing(now, j))
	if left := j.Expires.Sub(now) / 3; !j.Expires.IsZero() && wait > left {
		wait = max(left, f.PollFirst) // a result must not expire unread; the address's window has its own gate
	}
	wait += budget.Jitter(wait, m.rng)
	m.counts.Attempts++
	if len(j.Tasks) == 1 { // a poll of a batch is one exchange of none of its tasks
		t := j.Tasks[0]
		t.Attempts++
		c.settle = append(c.settle, Settled{Task: t, Item: -1, Number: t.Attempts, State: Remote, Decision: "still running; polled again in " + seconds(wait.Round(100*time.Millisecond))})
	}
	m.again(now, j, now.Add(wait))
	m.do(Action{Do: Keep, Call: c, Job: j})
}

const forgotten = "the platform has forgotten the job by now"

// expired reports that a job's result cannot be read any more.
func (m *Machine) expired(now time.Time, j *Job) bool {
	return !j.Expires.IsZero() && now.After(j.Expires)
}

// forget ends a job whose result is gone, without asking: nobody may ask for it.
func (m *Machine) forget(now time.Time, j *Job) {
	c := m.newCall()
	c.Kind, c.For, c.Job, c.Tasks, c.Credential = provider.Poll, provider.Poll, j, j.Tasks, j.Credential
	m.terminal(now, c, &provider.Reply{Outcome: provider.Lost, Error: forgotten})
	m.storing++
	m.do(Action{Do: Store, Call: c, Settled: c.settle})
}

// terminal ends a job: its slots are free, its tasks are settled by what the poll brought.
func (m *Machine) terminal(now time.Time, c *Call, r *provider.Reply) {
	j := c.Job
	j.Done = true
	delete(m.jobs, j.ID)
	m.unreserve(j.slots.lane, j.worst)
	m.owe(j.slots.lane, -1)
	m.toPolls--
	if r.Outcome == provider.Lost && r.Credits == 0 && len(j.Tasks) > 0 {
		m.unpriced(j.slots.lane, j.Tasks, j.worst)
	}
	m.jobEnded(now, j)
	if cr := j.slots.cred; cr != nil {
		cr.background.jobs--
		cr.background.ended(now.Sub(j.Submitted), m.cfg.Facts.Retention)
	}
	work := j.slots
	m.release(&j.slots)
	// Budgets learn from the job as from a sync answer: the work was let through when it was handed over.
	m.conclude(now, &work, kindProvider, kindTenant, true, nil)
	m.counts.Remote -= int64(len(j.Tasks))
	m.counts.RemoteDone -= int64(j.ended)
	m.counts.InFlight += int64(len(j.Tasks)) // settle takes it back
	if r.Outcome == provider.Lost && len(r.Items) == 0 {
		for i, t := range j.Tasks {
			if i < len(work.places) {
				m.unresolved(now, &work.places[i], false)
			}
			m.settle(now, c, -1, t, &provider.Item{Task: t.ID, Outcome: provider.Lost, Error: fmt.Sprintf("job %s: %s", j.ID, or(r.Error, "lost"))}, time.Time{})
		}
	} else {
		m.settleItems(now, c, &work, r, time.Time{})
	}
	m.do(Action{Do: Keep, Call: c, Job: j})
}

func or(s, otherwise string) string {
	if s != "" {
		return s
	}
	return otherwise
}

// jobKept goes on polling a job of before a restart; it takes its slots again. The oldest comes first.
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
	s := slots{lane: m.front.Lane(j.Tasks[0].Tenant), cred: m.credential(ev.Credential), sent: ev.Submitted}
	for _, t := range j.Tasks {
		s.places = append(s.places, place{domain: m.home(t)})
	}
	if s.cred != nil {
		s.pending = m.pendingJobs(s.cred, m.kindOfJob(j.ID))
	}
	m.retake(&s)
	j.slots = s
	j.worst = m.worstEach() * float64(len(j.Tasks))
	m.reserve(s.lane, j.worst)
	m.begin(now, j)
	m.pace.begin(ev.Submitted)
	// Its last poll may have been a moment ago, and all of them are due at once.
	next := now.Add(max(m.cfg.Facts.PollFirst, time.Second))
	next = next.Add(time.Duration(m.rng.Int64N(int64(next.Sub(now)))))
	switch {
	case m.pollsCost() && m.older(j) == 0: // it leads now: the job that it was to wait for may have ended before the restart
	case ev.Next.After(next): // what it was put off for is not known any more
		next = ev.Next
		if longest := now.Add(4 * m.cfg.Facts.PollMax); longest.Before(next) && m.cfg.Facts.PollMax > 0 {
			next = longest
		}
	case m.unpolled(s.cred) != "":
		next = now // no request comes of it
	}
	m.again(now, j, next)
}

// slotHeld keeps a credential's slot for a call of before a restart that the platform may still count.
func (m *Machine) slotHeld(ev SlotHeld) {
	if cr := m.credential(ev.Credential); cr != nil {
		s := &slots{cred: cr}
		m.retake(s)
		m.wakes.Set(ev.Until, frontier.WakeRelease, s)
	}
}

// kindOfJob is the kind that a job's id tells.
func (m *Machine) kindOfJob(id string) provider.JobKind {
	name, _, _ := strings.Cut(id, "/")
	if name == m.cfg.Facts.Batch.Name {
		return m.cfg.Facts.Batch
	}
	return m.cfg.Facts.Single
}

// pendingJobs is the budget of an account's jobs of one kind that wait at the platform; nil: none is counted.
func (m *Machine) pendingJobs(c *credential, kind provider.JobKind) *budget.Budget {
	if kind.Pending <= 0 {
		return nil
	}
	name := c.account.Name + "/" + kind.Name
	b := m.pending[name]
	if b == nil {
		b = budget.New(budget.Pending, name, budget.Limits{InFlight: kind.Pending})
		b.SetPaused(m.paused[budgetKey{budget.Pending, name}])
		m.recall(b)
		m.bind(b)
		m.pending[name] = b
	}
	return b
}
