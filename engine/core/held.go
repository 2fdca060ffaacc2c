package core

import (
	"dev.scrapetop/engine/frontier"
)

// Memory is for work that may start. What is held until somebody acts (a paused domain; a tenant that is paused, whose cap is
// reached or whose keys are stopped) would fill it and keep the others' work in storage, so that the run stands still.
// Therefore held work that was never tried is left in storage: a read passes over it, and a domain of which a whole pass
// found nothing else counts as barren and is not read again before something changes.

// rehold brings up to date which tenants are held, after something that may have changed that.
func (m *Machine) rehold() {
	if !m.holdsChanged {
		return
	}
	m.holdsChanged = false
	freed := false
	for _, l := range m.front.Lanes {
		switch held := !m.laneOutlook(l).goesOn; {
		case held && !l.Held:
			l.Held = true
			for _, q := range l.Queues {
				m.giveBack(q)
				m.wantMore(q.Domain)
			}
		case !held && l.Held:
			l.Held = false
			freed = true
		}
	}
	if freed {
		m.frees++
		barren := m.barren
		m.barren = nil
		for _, d := range barren {
			d.Barren, d.Listed = false, false
			m.wantMore(d)
		}
	}
}

// giveBack leaves a queue's tasks to storage again, except those that carry more than their row tells.
func (m *Machine) giveBack(q *frontier.Queue) {
	d := q.Domain
	d.Grown, d.Restart = d.Grown || d.Reading, d.Restart || d.Reading
	d.Barren, d.Skipped = false, false
	for range q.Len() {
		t := q.Pop()
		if t.Attempts > 0 || t.Hop || t.Lookup {
			m.front.Push(d, t)
			continue
		}
		delete(m.tasks, t.ID)
		m.spare.putTask(t)
		d.Stored++
	}
	d.AfterPriority, d.AfterID = 0, 0
}

// giveBackDomain leaves all of a domain's tasks to storage again.
func (m *Machine) giveBackDomain(d *frontier.Domain) {
	for _, q := range d.Queues {
		m.giveBack(q)
	}
}

// passOver reports that a task which was read belongs to a tenant that is held, and stays in storage.
func (m *Machine) passOver(w *Waiting) bool {
	if w.Attempts > 0 || w.Hop {
		return false
	}
	l := m.front.Lane(w.Tenant)
	l.Held = l.Held || !m.laneOutlook(l).goesOn
	return l.Held
}

// passed ends a pass over a domain's stored tasks: all of them were read.
func (m *Machine) passed(d *frontier.Domain) {
	d.AfterPriority, d.AfterID = 0, 0
	if d.Skipped && !d.Fruitful && d.Pass == m.frees && d.Stored > 0 && !d.Barren {
		d.Barren = true
		if !d.Listed {
			d.Listed = true
			m.barren = append(m.barren, d)
		}
	}
	d.Fruitful, d.Skipped = false, false
}

// ready is how many of a domain's tasks in memory belong to tenants that are not held.
func (m *Machine) ready(d *frontier.Domain) int {
	n := 0
	for _, q := range d.Queues {
		if !q.Lane.Held {
			n += q.Len()
		}
	}
	return n
}

// wantMore asks for a domain's next tasks when it runs low.
func (m *Machine) wantMore(d *frontier.Domain) {
	if m.ready(d) < m.low(d) {
		m.front.WantRefill(d)
	}
}

// wakeDomain lets a domain's tasks start again, as far as its gate allows.
func (m *Machine) wakeDomain(d *frontier.Domain) {
	m.front.Wake(d)
	m.wantMore(d)
}
