package core

import (
	"fmt"
	"time"

	"dev.scrapetop/engine/budget"
	"dev.scrapetop/engine/frontier"
)

// draining takes a stop request: the first stops starts, Abandon ends at once.
func (m *Machine) draining(now time.Time, ev Draining) {
	if m.drain == nil {
		m.drain = &ev
	} else if m.drain.By.IsZero() {
		m.drain.By = ev.By // a run that drains for its cap waits for what is under way; a person does not
	}
	if !ev.By.IsZero() {
		m.wakes.Set(ev.By, frontier.WakeRun, nil)
	}
	if ev.Abandon {
		m.end("stopped", or(m.drain.Reason, ev.Reason))
	}
}

func (m *Machine) end(state, reason string) {
	if m.over {
		return
	}
	m.over = true
	m.do(Action{Do: Ended, End: Ending{State: state, Reason: reason}})
}

// ending ends the run when nothing is left, or nothing that is left can go on.
func (m *Machine) ending(now time.Time) {
	if m.over {
		return
	}
	if m.drain != nil {
		quiet := len(m.calls) == 0 && !m.jobsGoOn() && m.searches == 0 && m.storing == 0 && len(m.lent) == 0
		switch {
		case quiet && m.inputOver && m.left() <= 0 && len(m.jobs) == 0:
			m.end("finished", "") // it was asked to stop when there was nothing more to do
		case quiet && m.failedFor() != "":
			m.end("failed", m.failedFor())
		case quiet, !m.drain.By.IsZero() && !now.Before(m.drain.By):
			m.end("stopped", m.drain.Reason)
		}
		return
	}
	if len(m.calls) > 0 || m.storing > 0 || m.refills > 0 || len(m.lent) > 0 || m.full {
		m.idleFrom = time.Time{}
		return
	}
	if m.searches > 0 || m.jobsGoOn() {
		m.idleFrom = time.Time{}
		return
	}
	if m.left() <= 0 && len(m.jobs) == 0 {
		if m.inputOver {
			m.end("finished", "")
		}
		return
	}
	m.stuck(now)
}

// left is how much work waits: tasks, and documents that the engine needs.
func (m *Machine) left() int64 { return m.counts.Pending + m.counts.Delayed + int64(len(m.lookups)) }

// FirstExpiry is when the first result of a remote job is lost unless it is read; false: none is waiting.
func (m *Machine) FirstExpiry() (first time.Time, ok bool) {
	for _, j := range m.jobs {
		if !j.Expires.IsZero() && (!ok || j.Expires.Before(first)) {
			first, ok = j.Expires, true
		}
	}
	return first, ok
}

// stuck ends a run whose whole remainder waits for something that nobody will bring, or for too long.
func (m *Machine) stuck(now time.Time) {
	switch w := m.outlook(); {
	case w.goesOn:
	case w.paused && !m.cfg.Unattended:
		return // whoever holds it lets it go on
	case w.stopped != "":
		if m.cfg.Unattended {
			m.end("failed", w.stopped)
		}
		return // whoever looks may mend the key or top up, and ask for a probe
	case w.capped:
		if m.inputOver { // others' work may still come
			m.end("stopped", "cap")
		}
		return
	default:
		if m.cfg.Unattended && (m.inputOver || len(m.lookups) > 0) { // the input may wait for a lookup that is held
			m.end("stopped", "only paused work is left")
		}
		return
	}
	if m.idleFrom.IsZero() {
		m.idleFrom = now
	}
	if m.cfg.MaxWait <= 0 {
		return
	}
	limit := m.idleFrom.Add(m.cfg.MaxWait)
	next, ok := m.wakes.Next()
	if soon := !m.inputOver || m.front.Hungry() > 0 || m.leases.bound; soon && now.Before(limit) {
		// What has not been read yet, or waits for its share, may go at once: only idle time that has passed counts.
		if !ok || next.After(limit) {
			m.wakes.Set(limit, frontier.WakeRun, nil)
		}
		return
	}
	if ok && (next.After(limit) || !now.Before(limit)) {
		m.end("stopped", fmt.Sprintf("everything left waits; the earliest wake-up is %s", next.UTC().Format(time.RFC3339)))
	}
}

// failedFor is why nothing more could have been done by itself: a key that the platform refuses; empty: something could.
func (m *Machine) failedFor() string {
	w := m.outlook()
	if w.goesOn || w.paused || w.capped {
		return ""
	}
	return w.stopped
}

// outlook is what the waiting work waits for, all of it together.
type outlook struct {
	goesOn  bool   // some of it goes on by itself, now or after a wait
	stopped string // some of it waits for a key that the platform refuses, or that nobody configured
	capped  bool   // some of it waits for a cap to be raised
	paused  bool   // some of it is held by a person
}

// add takes in what other work waits for.
func (o *outlook) add(other outlook) {
	o.capped, o.paused = o.capped || other.capped, o.paused || other.paused
	o.stopped = or(o.stopped, other.stopped)
}

// outlook looks at the domains that have work until one goes on. It is asked only while nothing is in flight.
func (m *Machine) outlook() outlook {
	var all outlook
	for _, j := range m.jobs {
		all.capped = all.capped || !j.capped.IsZero()
		if why := m.unpolled(m.credential(j.Credential)); why != "" {
			all.stopped = why
		}
	}
	if m.global.IsPaused() || m.provider.IsPaused() {
		all.paused = true
		return all
	}
	if m.counts.Delayed > 0 {
		all.goesOn = true
		return all
	}
	barren := false
	lanes := make(map[*frontier.Lane]outlook, len(m.front.Lanes))
	for _, l := range m.front.Lanes {
		lanes[l] = m.laneOutlook(l)
	}
	for d := range m.front.Working {
		if d.Budget.IsPaused() {
			all.paused = all.paused || d.Waiting() > 0
			continue
		}
		if d.Log.Delayed > 0 { // a lookup of the engine's
			all.goesOn = true
			return all
		}
		if d.Stored > 0 && !d.Barren {
			all.goesOn = true // not read yet
			return all
		}
		if d.Stored > 0 {
			barren = true
		}
		for _, q := range d.Queues {
			if q.Len() == 0 {
				continue
			}
			l := lanes[q.Lane]
			if l.goesOn {
				return l
			}
			all.add(l)
		}
	}
	if barren { // whose work it is stands in storage; it is that of tenants that are held
		for _, l := range m.front.Lanes {
			if l.Held {
				all.add(lanes[l])
			}
		}
	}
	return all
}

// laneOutlook is what a tenant's work waits for, its domains aside.
func (m *Machine) laneOutlook(l *frontier.Lane) outlook {
	switch {
	case l.Stop != "":
		return outlook{capped: true}
	case l.Budget.IsPaused():
		return outlook{paused: true}
	case m.cfg.Direct:
		return outlook{goesOn: true}
	}
	served := false
	var o outlook
	for _, c := range m.creds {
		if !c.serves(l.Tenant) {
			continue
		}
		served = true
		switch why := m.stoppedFor(c); {
		case why != "":
			o.stopped = why
		case c.budget.IsPaused() || c.account.IsPaused():
			o.paused = true
		default:
			return outlook{goesOn: true}
		}
	}
	if !served {
		o.stopped = fmt.Sprintf("no credential serves tenant %q", l.Tenant)
	}
	return o
}

// stoppedFor is why a credential can do nothing; empty: it can.
func (m *Machine) stoppedFor(c *credential) string {
	if c == nil {
		return "the credential of a remote job is not configured any more"
	}
	if why := or(c.budget.StoppedWhy(), c.account.StoppedWhy()); why != "" {
		return "credential " + c.name + " is stopped by the platform: " + why
	}
	return ""
}

// unpolled is why a credential's jobs cannot be polled; empty: they can.
func (m *Machine) unpolled(c *credential) string {
	if c != nil && !c.budget.StopsPolls() && !c.account.StopsPolls() {
		return ""
	}
	return m.stoppedFor(c)
}

// jobsGoOn reports that some remote job can be polled.
func (m *Machine) jobsGoOn() bool {
	for _, j := range m.jobs {
		if j.capped.IsZero() && m.unpolled(m.credential(j.Credential)) == "" {
			return true
		}
	}
	return false
}

// asked carries out a person's act.
func (m *Machine) asked(now time.Time, ev Asked) {
	switch ev.Verb {
	case "pause", "resume":
		m.pause(ev, ev.Verb == "pause")
	case "limit":
		if ev.Scope == budget.Domain {
			d := m.front.Domain(ev.Key)
			d.Budget.SetUserLimit(ev.Limit)
			m.wakeDomain(d)
			m.mark(d)
		}
	case "end cooldown":
		for _, b := range m.named(ev.Scope, ev.Key) {
			if b.EndCooldown(now) { // a restart must not bring it back
				m.do(Action{Do: Cooled, Cool: CoolChange{Scope: ev.Scope, Key: ev.Key}})
			}
			b.Unstop(now)
		}
		if ev.Scope == budget.Domain {
			d := m.front.Domain(ev.Key)
			m.wakeDomain(d)
			m.mark(d)
		}
	}
	m.holdsChanged = true
	m.unparkLanes()
}

func (m *Machine) pause(ev Asked, on bool) {
	key := budgetKey{ev.Scope, ev.Key}
	if on {
		m.paused[key] = true
	} else {
		delete(m.paused, key)
	}
	for _, b := range m.named(ev.Scope, ev.Key) {
		b.SetPaused(on)
	}
	if ev.Scope == budget.Domain {
		if d := m.front.Domains[ev.Key]; d != nil {
			if on {
				m.giveBackDomain(d)
			}
			m.wakeDomain(d)
			m.mark(d)
		}
	}
}

// named are the budgets of a scope and key that exist already; a domain's or tenant's that appears later asks m.paused.
func (m *Machine) named(scope budget.Scope, key string) []*budget.Budget {
	switch scope {
	case budget.Global:
		return []*budget.Budget{m.global}
	case budget.Provider:
		if key == m.provider.Name {
			return []*budget.Budget{m.provider}
		}
	case budget.IP:
		if key == m.ip.Name {
			return []*budget.Budget{m.ip}
		}
	case budget.Account:
		if b := m.accounts[key]; b != nil {
			return []*budget.Budget{b}
		}
	case budget.Credential:
		if c := m.credential(key); c != nil {
			return []*budget.Budget{c.budget}
		}
	case budget.Tenant:
		for _, l := range m.front.Lanes {
			if l.Tenant == key {
				return []*budget.Budget{l.Budget}
			}
		}
	case budget.Pending:
		if b := m.pending[key]; b != nil {
			return []*budget.Budget{b}
		}
	case budget.Domain:
		if d := m.front.Domains[key]; d != nil {
			return []*budget.Budget{d.Budget}
		}
	}
	return nil
}
