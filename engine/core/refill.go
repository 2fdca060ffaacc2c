package core

import (
	"net/url"
	"time"

	"dev.scrapetop/engine/frontier"
)

// refillDomains is how many domains one refill reads, refillMost how many tasks of one.
const (
	refillDomains = 256
	refillMost    = 1024
	// soon is how many more of a domain may be in flight before the next read has come.
	soon = 8
)

// low is how many of a domain's tasks should wait in memory: about twice what may soon be in flight. A ceiling that is far
// above what is in flight says little: what was read for it goes back unsent when the domain cools.
func (m *Machine) low(d *frontier.Domain) int {
	limit := d.Budget.Limit()
	if limit == 0 || limit > m.cfg.Global.InFlight && m.cfg.Global.InFlight > 0 {
		limit = max(m.cfg.Global.InFlight, 2)
	}
	limit = min(limit, d.Budget.InFlight()+soon)
	return min(max(2*limit, 2*m.cfg.Facts.BatchMax), refillMost)
}

// refill asks storage for the tasks of domains that run low, one read at a time. A domain that is closed for long asks again
// when it wakes.
func (m *Machine) refill(now time.Time) {
	if m.refills > 0 || m.startsNothing() || m.front.Hungry() == 0 {
		return
	}
	room := m.cfg.InMemory - len(m.tasks)
	if room <= 0 {
		return
	}
	wants := m.wants[:0]
	for room > 0 && len(wants) < refillDomains {
		taken := m.front.TakeHungry(1)
		if len(taken) == 0 {
			break
		}
		d := taken[0]
		if d.Parked && d.WakeAt.Sub(now) >= spillAfter {
			d.Reading = false
			continue
		}
		if d.AfterID == 0 {
			d.Pass = m.frees
		}
		n := min(max(m.low(d)+m.low(d)/2, 4), refillMost, room)
		room -= n
		wants = append(wants, Want{Domain: d.Name, N: n, AfterPriority: d.AfterPriority, AfterID: d.AfterID})
	}
	if len(wants) == 0 {
		m.unparkLanes() // a batch may have waited for what will not be read now
		return
	}
	m.refills++
	m.wants = wants // free again when it is answered: there is one read at a time
	m.do(Action{Do: Refill, Wants: wants})
}

// refilled places what a read brought.
func (m *Machine) refilled(now time.Time, ev Refilled) {
	m.refills--
	for _, r := range ev.Reused {
		d := m.front.Domain(r.Domain)
		d.Read.Got++
		d.Read.New++
		d.Fruitful = true
		d.Passed(r.Priority, r.ID)
		d.Stored--
		m.counts.Pending--
		m.counts.Accepted++
		d.Log.Accepted++
	}
	var d *frontier.Domain
	for i := range ev.Tasks {
		w := &ev.Tasks[i]
		if d == nil || d.Name != w.Domain { // they come domain by domain
			d = m.front.Domain(w.Domain)
		}
		d.Read.Got++
		d.Passed(w.Priority, w.ID)
		if m.tasks[w.ID] != nil {
			continue
		}
		if _, done := m.ended[w.ID]; done {
			continue
		}
		if l := m.lent[w.ID]; l != nil {
			l.in = d
			d.Read.Held++
			d.Skipped = true
			continue
		}
		if m.passOver(w) {
			d.Read.Held++
			d.Skipped = true
			continue
		}
		d.Read.New++
		d.Fruitful = true
		t := m.spare.task()
		*t = w.Task
		d.Stored--
		m.tasks[t.ID] = t
		home := d
		if t.Hop {
			home = m.home(t)
		}
		if w.NotBefore.After(now) {
			m.delay(home, t, w.NotBefore)
			m.counts.Pending--
			m.counts.Delayed++
			continue
		}
		m.front.Push(home, t)
	}
	for _, w := range ev.Wants {
		d := m.front.Domain(w.Domain)
		read := d.Read
		d.Reading, d.Read = false, frontier.Read{}
		m.mark(d)
		if ev.Failed {
			m.front.WantRefill(d)
			continue
		}
		grown, restart := d.Grown, d.Restart
		d.Grown, d.Restart = false, false
		switch {
		case restart: // what was given back meanwhile lies before what was read
			d.AfterPriority, d.AfterID = 0, 0
		case read.Got < w.N:
			if w.AfterID == 0 && read.New == 0 && read.Held == 0 && !grown {
				// Read from the start and nothing new: the count was ahead of the rows.
				m.counts.Pending -= d.Stored
				d.Stored = 0
			}
			m.passed(d)
		}
		if !d.Parked {
			m.wantMore(d)
		}
	}
	if m.refills == 0 {
		clear(m.ended)
	}
	m.unparkLanes()
}

// under is the domain under which a task is stored, or nil.
func (m *Machine) under(t *frontier.Task) *frontier.Domain {
	if q := t.Queue; q != nil && q.Domain.Name == t.Domain {
		return q.Domain
	}
	return m.front.Domains[t.Domain]
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

// spillAfter is the wait beyond which a closed domain's untried tasks leave a memory that is half full, and no more of them
// are read.
const spillAfter = 30 * time.Second
