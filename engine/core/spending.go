package core

import (
	"dev.scrapetop/engine/budget"
	"dev.scrapetop/engine/frontier"
)

// spending is what a tenant's, or the run's, caps are compared with.
type spending struct {
	credits, reserved float64
	requests          int64
	maxCredits        float64
	maxRequests       int64
}

// room is what caps leave.
type room uint8

const (
	roomNow   room = iota // there is room
	roomLater             // what is reserved for work under way fills it; some of that may come back
	roomNever             // what was spent fills it
)

// leaves says whether so many more requests and credits, at worst, fit under the caps.
func (s *spending) leaves(requests int64, worst float64) room {
	switch {
	case s == nil:
		return roomNow
	case s.maxRequests > 0 && s.requests+requests > s.maxRequests:
		return roomNever
	case s.maxCredits <= 0 || s.credits+s.reserved+worst <= s.maxCredits:
		return roomNow
	case s.credits+worst <= s.maxCredits:
		return roomLater
	}
	return roomNever
}

// spendings are the run's and the tenant's.
func (m *Machine) spendings(l *frontier.Lane) []*spending {
	all := []*spending{m.spend[""]}
	if l != nil && l.Tenant != "" && m.spend[l.Tenant] != nil {
		all = append(all, m.spend[l.Tenant])
	}
	return all
}

// pay counts credits that were spent.
func (m *Machine) pay(l *frontier.Lane, credits float64) {
	m.counts.Credits += credits
	for _, s := range m.spendings(l) {
		s.credits += credits
	}
}

// reserve sets the worst price of work aside until unreserve.
func (m *Machine) reserve(l *frontier.Lane, worst float64) {
	for _, s := range m.spendings(l) {
		s.reserved += worst
	}
}

func (m *Machine) unreserve(l *frontier.Lane, worst float64) { m.reserve(l, -worst) }

// affordable checks the caps of the lane's tenant and of the run before a submit of so many tasks, with the worst price of
// each reserved, and, where polls are requests of their own, with room for those that are owed. With tasks 1 it closes what
// is full.
func (m *Machine) affordable(l *frontier.Lane, tasks int) bool {
	requests := int64(1)
	if m.pollsCost() {
		requests += int64(len(m.jobs)) + 1
	}
	worst := m.cfg.Facts.WorstCredits * float64(tasks)
	run, tenant := m.spend[""].leaves(requests, worst), roomNow
	if l.Tenant != "" {
		tenant = m.spend[l.Tenant].leaves(requests, worst)
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

// ResumeTenant takes over what a tenant had spent before a restart.
func (m *Machine) ResumeTenant(name string, requests int64, credits float64) {
	if s := m.spend[name]; s != nil && name != "" {
		s.requests, s.credits = requests, credits
	}
}
