package core

import (
	"time"

	"dev.scrapetop/engine/budget"
	"dev.scrapetop/engine/frontier"
)

// spending is what a tenant's, or the run's, caps are compared with.
type spending struct {
	credits, reserved float64
	requests          int64
	owed              int64 // jobs, and submits that may become one: each is to be polled
	maxCredits        float64
	maxRequests       int64
}

// pollsReserved is how many polls are set aside for each remote job, so that a cap on requests leaves none uncollected:
// near the cap the time between a job's polls doubles, and as many span eight times its age at the first.
const pollsReserved = 3

// cappedHold is how long at least a job that is polled no more counts as running.
const cappedHold = time.Minute

// room is what caps leave.
type room uint8

const (
	roomNow   room = iota // there is room
	roomLater             // what is reserved for work under way fills it; some of that may come back
	roomNever             // what was spent fills it
)

// leaves says whether one more request, to be polled so many times, and so many credits at worst fit under the caps.
func (s *spending) leaves(polls int64, worst float64) room {
	switch {
	case s == nil:
		return roomNow
	case s.maxRequests > 0 && s.requests+1+polls > s.maxRequests:
		return roomNever
	case s.maxCredits > 0 && s.credits+worst > s.maxCredits:
		return roomNever
	case s.maxRequests > 0 && s.requests+1+polls+pollsReserved*s.owed > s.maxRequests,
		s.maxCredits > 0 && s.credits+s.reserved+worst > s.maxCredits:
		return roomLater
	}
	return roomNow
}

// spendings are the run's and the tenant's.
func (m *Machine) spendings(l *frontier.Lane) []*spending {
	all := []*spending{m.spend[""]}
	if l != nil && l.Tenant != "" && m.spend[l.Tenant] != nil {
		all = append(all, m.spend[l.Tenant])
	}
	return all
}

// pay counts credits that were spent for so many tasks.
func (m *Machine) pay(l *frontier.Lane, credits float64, tasks int) {
	m.counts.Credits += credits
	m.assume(l, credits)
	if tasks > 0 {
		m.dearest = max(m.dearest, credits/float64(tasks))
	}
}

// assume counts credits against the caps: those that were told, and the worst price of work whose price nobody told.
func (m *Machine) assume(l *frontier.Lane, credits float64) {
	for _, s := range m.spendings(l) {
		s.credits += credits
	}
}

// worstEach is what one task may cost: by the price list, or as much as one has cost already.
func (m *Machine) worstEach() float64 { return max(m.cfg.Facts.WorstCredits, m.dearest) }

// reserve sets the worst price of work aside until unreserve.
func (m *Machine) reserve(l *frontier.Lane, worst float64) {
	for _, s := range m.spendings(l) {
		s.reserved += worst
	}
}

func (m *Machine) unreserve(l *frontier.Lane, worst float64) { m.reserve(l, -worst) }

// unreserveCall gives back what a call that ended had set aside and did not hand on.
func (m *Machine) unreserveCall(c *Call) {
	m.unreserve(c.slots.lane, c.Worst)
	c.Worst = 0
	if c.owed {
		c.owed = false
		m.owe(c.slots.lane, -1)
	}
}

// owe notes that polls of a job, or of a submit that may become one, are owed, or with -1 no longer.
func (m *Machine) owe(l *frontier.Lane, jobs int64) {
	for _, s := range m.spendings(l) {
		s.owed += jobs
	}
}

// toPoll is how many polls a submit is likely to need.
func (m *Machine) toPoll() int64 {
	if m.handsOver || m.cfg.Facts.BatchMax > 1 {
		return pollsReserved
	}
	return 0
}

// affordable checks the caps of the lane's tenant and of the run before a submit of so many tasks, with the worst price of
// each reserved, and with room for the polls that are owed. With tasks 1 it closes what is full.
func (m *Machine) affordable(l *frontier.Lane, tasks int) bool {
	polls, worst := m.toPoll(), m.worstEach()*float64(tasks)
	run, tenant := m.spend[""].leaves(polls, worst), roomNow
	if l.Tenant != "" {
		tenant = m.spend[l.Tenant].leaves(polls, worst)
	}
	switch {
	case run == roomNow && tenant == roomNow:
		return true
	case tasks > 1:
	case run == roomNever:
		m.tell("warn", budget.Global, "", "the run's cap is reached: nothing more is started", 0)
		m.drain = &Draining{Reason: "cap"}
	case tenant == roomNever:
		l.Stop = "cap"
		m.holdsChanged = true
		m.tell("warn", budget.Tenant, l.Tenant, "the tenant's cap is reached: nothing more of it is started", 0)
	default:
		l.Parked = true // what is under way gives back what it does not need
	}
	return false
}

// pollable reports that the caps leave room for one more poll of a job. One that they leave none for stays at the platform
// until the run is resumed with a higher cap; its slots are held for as long as it may run.
func (m *Machine) pollable(now time.Time, j *Job) bool {
	for _, s := range m.spendings(j.slots.lane) {
		if s.maxRequests > 0 && s.requests >= s.maxRequests {
			j.capped = now.Add(max(m.cfg.Facts.SlotLease, 2*m.pace.took, cappedHold))
			m.void(&j.slots)
			kept := j.slots
			j.slots.held = false
			m.owe(j.slots.lane, -1)
			m.toPolls--
			if cr := j.slots.cred; cr != nil {
				cr.background.jobs--
			}
			m.unreserve(j.slots.lane, j.worst)
			m.assume(j.slots.lane, j.worst)
			m.unparkLanes()
			m.wakes.Set(j.capped, frontier.WakeRelease, &kept)
			m.tell("warn", budget.Credential, j.Credential, "the cap on requests leaves none for job "+j.ID+": it stays at the platform", 0)
			return false
		}
	}
	return true
}

// sparing is how long a job is left alone at least because the caps leave few polls: as long as it has been out.
func (m *Machine) sparing(now time.Time, j *Job) time.Duration {
	for _, s := range m.spendings(j.slots.lane) {
		if s.maxRequests > 0 && s.requests+pollsReserved*s.owed >= s.maxRequests {
			return now.Sub(j.Submitted)
		}
	}
	return 0
}

// unpriced counts the worst price of tasks against the caps that may have been carried out and told none.
func (m *Machine) unpriced(l *frontier.Lane, tasks []*frontier.Task, worst float64) {
	if worst > 0 {
		m.assume(l, worst)
		m.do(Action{Do: Unpriced, Tenant: tasks[0].Tenant, Unpriced: int64(len(tasks))})
	}
}

// ResumeSpent takes over what a tenant, or with an empty name the run, had spent before a restart; unpriced are tasks that
// may have cost something that nobody told.
func (m *Machine) ResumeSpent(tenant string, requests int64, credits float64, unpriced int64) {
	if s := m.spend[tenant]; s != nil {
		s.requests, s.credits = requests, credits+float64(unpriced)*m.worstEach()
	}
}
