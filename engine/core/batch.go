package core

import (
	"time"

	"dev.scrapetop/engine/budget"
	"dev.scrapetop/engine/frontier"
	"dev.scrapetop/engine/provider"
)

// linger is how long a batch that is not full waits for more input.
const linger = time.Second

// batchOf is how many tasks a submit that begins with t may carry.
func (m *Machine) batchOf(t *frontier.Task) int {
	if t.Alone || t.Lookup || m.cfg.Direct {
		return 1
	}
	most := max(m.cfg.Facts.BatchMax, 1)
	if m.batchCap > 0 {
		most = min(most, m.batchCap)
	}
	return most
}

// roomFor is how many tasks a submit may carry at most, where the platform counts those that wait.
func (m *Machine) roomFor(cr *credential, most int) int {
	if cr == nil || most <= 1 {
		return most
	}
	if p := m.pendingJobs(cr, m.cfg.Facts.Batch); p != nil && m.itemsCount[p] {
		return max(min(most, freeIn(p)), 1)
	}
	return most
}

// countItems takes the slots of a batch's further tasks, where the platform counts tasks and not batches.
func (m *Machine) countItems(s *slots) {
	if s.pending == nil || !m.itemsCount[s.pending] {
		return
	}
	for ; s.extra < len(s.places)-1; s.extra++ {
		s.pending.Hold()
	}
}

// itemsTurnOut notes that the platform counts the tasks of batches: it refused one although fewer batches wait than it lets.
// It reports false when that was known.
func (m *Machine) itemsTurnOut(p *budget.Budget) bool {
	if m.itemsCount[p] {
		return false
	}
	m.itemsCount[p] = true
	for _, j := range m.jobs {
		if j.slots.pending == p && j.slots.held {
			m.countItems(&j.slots)
		}
	}
	m.tell("info", budget.Pending, p.Name, "the platform counts the tasks of batches, not batches", 0)
	return true
}

// usualKind is the kind of remote job that most submits become.
func (m *Machine) usualKind() provider.JobKind { return m.kindFor(m.cfg.Facts.BatchMax) }

// kindFor is the kind of remote job that a submit of so many tasks becomes.
func (m *Machine) kindFor(tasks int) provider.JobKind {
	if tasks > 1 {
		return m.cfg.Facts.Batch
	}
	return m.cfg.Facts.Single
}

// thin reports that a batch would go out with fewer tasks than it may carry although more are on their way: from storage,
// or from an input that is still being read. at is when to go without them; zero: an event will tell.
func (m *Machine) thin(now time.Time, l *frontier.Lane) (at time.Time, thin bool) {
	most := m.cfg.Facts.BatchMax
	if m.batchCap > 0 {
		most = min(most, m.batchCap)
	}
	if most <= 1 || m.cfg.Direct || l.Ready(most) >= most {
		return time.Time{}, false
	}
	if m.refills > 0 || m.front.Hungry() > 0 && len(m.tasks) < m.cfg.InMemory {
		return time.Time{}, true
	}
	if until := m.queuedAt.Add(linger); !m.inputOver && now.Before(until) {
		return until, true
	}
	return time.Time{}, false
}

// split returns the tasks of a batch that was refused as a whole, each to be asked for alone: nothing told which is meant.
func (m *Machine) split(c *Call) {
	for i := len(c.Tasks) - 1; i >= 0; i-- {
		t := c.Tasks[i]
		t.Alone = true
		t.Attempts++
		m.counts.Attempts++
		m.counts.InFlight--
		if t.Cancelled {
			c.settle = append(c.settle, Settled{Task: t, Item: -1, Number: t.Attempts, State: Cancelled, Decision: cancelledByUser})
			continue
		}
		m.counts.Pending++
		c.settle = append(c.settle, Settled{Task: t, Item: -1, Number: t.Attempts, State: Pending, Decision: "the batch was refused as a whole: asked for alone"})
		m.front.Return(m.home(t), t)
	}
}
