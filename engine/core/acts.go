package core

import (
	"maps"
	"slices"
	"time"

	"dev.scrapetop/engine/frontier"
	"dev.scrapetop/engine/provider"
)

// A person's act on tasks (cancel, retry now, requeue, the undo of that) changes rows in storage, while the core holds some of
// the same tasks in memory and reads more of them. Therefore the tasks are lent first: those that wait leave memory and none of
// them is read, so that storage alone has them; then the rows are changed; then they are returned with what became of them.

// loan is a task that is lent.
type loan struct {
	acts int              // that it is lent to: acts may overlap
	in   *frontier.Domain // whose reading passed over it or gave it back; nil: none did
}

// lend takes tasks out of memory for an act. What is at work cannot be lent: cancelled, it is called off where nobody pays for it,
// and is not tried again.
func (m *Machine) lend(ev Lent) {
	for _, id := range ev.Tasks {
		t := m.tasks[id]
		waits := t != nil && m.withdraw(t)
		if t != nil && !waits {
			t.Cancelled = t.Cancelled || ev.Cancel
			continue
		}
		l := m.lent[id]
		if l == nil {
			l = &loan{}
			m.lent[id] = l
		}
		l.acts++
		if waits {
			l.in = m.under(t)
			delete(m.tasks, id)
			m.spare.putTask(t)
		}
	}
	if !ev.Cancel || !m.cfg.Direct {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(m.calls)) {
		if c := m.calls[id]; len(c.Tasks) == 1 && c.Tasks[0].Cancelled && !c.calledOff {
			c.calledOff = true
			m.do(Action{Do: CallOff, Call: c})
		}
	}
}

// withdraw leaves a task that waits, in its queue or for its backoff, to storage again; false: it does not wait.
func (m *Machine) withdraw(t *frontier.Task) bool {
	switch {
	case t.Queue == nil:
		return false
	case !t.Until.IsZero():
		t.Until = time.Time{}
		t.Queue.Domain.Log.Delayed--
		m.counts.Delayed--
		m.counts.Pending++
		m.mark(t.Queue.Domain)
	case !t.Queue.Remove(t):
		return false
	}
	d := m.front.Domain(t.Domain)
	d.Stored++
	m.rereads(d)
	return true
}

// rereads has a domain's stored tasks read from the first again.
func (m *Machine) rereads(d *frontier.Domain) {
	d.Grown, d.Restart = d.Grown || d.Reading, d.Restart || d.Reading
	d.Barren, d.Skipped = false, false
	d.AfterPriority, d.AfterID = 0, 0
	m.front.Works(d)
	m.mark(d)
}

// returned takes lent tasks back. Those to be tried next are placed before everything else of their domain.
func (m *Machine) returned(ev Returned) {
	for _, id := range ev.Tasks {
		l := m.lent[id]
		if l == nil {
			continue
		}
		if l.acts--; l.acts > 0 {
			continue
		}
		delete(m.lent, id)
		if l.in != nil {
			m.rereads(l.in)
			m.wantMore(l.in)
		}
	}
	for _, c := range ev.Changes {
		m.changed(c)
	}
	for i := len(ev.Next) - 1; i >= 0; i-- {
		w := &ev.Next[i]
		if m.tasks[w.ID] != nil || m.lent[w.ID] != nil {
			continue
		}
		d := m.front.Domain(w.Domain)
		if d.Stored <= 0 {
			continue
		}
		d.Stored--
		t := m.spare.task()
		*t = *w
		m.tasks[t.ID] = t
		m.front.Return(m.home(t), t)
		m.mark(d)
	}
	m.holdsChanged = true
	m.unparkLanes()
}

// changed moves the counters for a task whose row an act has changed.
func (m *Machine) changed(c Change) {
	d := m.front.Domain(c.Domain)
	switch c.From {
	case Pending:
		if d.Stored > 0 { // else the count had been found to be ahead of the rows
			d.Stored--
			m.counts.Pending--
		}
		if m.refills > 0 {
			m.ended[c.Task] = struct{}{}
		}
	case Dead:
		m.counts.Dead--
		d.Log.Dead = max(d.Log.Dead-1, 0)
	}
	switch c.To {
	case Pending:
		delete(m.ended, c.Task)
		m.queued(DomainCount{Domain: c.Domain, N: 1, Oldest: m.now})
	case Dead:
		m.counts.Dead++
		d.Log.Dead++
	case Cancelled:
		m.counts.Cancelled++
	}
	m.mark(d)
}

// back puts a task that was not answered before the others of its domain again, unless it was cancelled meanwhile.
func (m *Machine) back(t *frontier.Task) {
	if !t.Cancelled {
		m.front.Return(m.home(t), t)
		return
	}
	m.endUnsent(t, Settled{State: Cancelled, Decision: cancelledByUser})
}

// endUnsent ends a task that is counted as pending without a call.
func (m *Machine) endUnsent(t *frontier.Task, s Settled) {
	c := m.newCall()
	c.oneTask[0] = t
	c.Tasks = c.oneTask[:]
	m.counts.Pending--
	s.Task, s.Item, s.Number = t, -1, t.Attempts
	c.settle = append(c.settle, s)
	m.mark(m.front.Domain(t.Domain))
	m.storing++
	m.do(Action{Do: Store, Call: c, Settled: c.settle})
}

const cancelledByUser = "cancelled by you"

// calledOff ends the tasks of a call that was broken off for them: nothing is learned from it.
func (m *Machine) calledOff(c *Call, r *provider.Reply) {
	m.void(&c.slots)
	m.release(&c.slots)
	for _, t := range c.Tasks {
		t.Attempts++
		m.counts.Attempts++
		m.counts.InFlight--
		c.settle = append(c.settle, Settled{Task: t, Item: -1, Number: t.Attempts, State: Cancelled, Error: r.Error, Decision: cancelledByUser + " while it was in flight"})
	}
}

// AtWork reports, after a Lent, that a task could not be lent: it is in flight, at the platform, or being settled.
func (m *Machine) AtWork(task int64) bool { return m.tasks[task] != nil }
