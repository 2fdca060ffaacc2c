package core

import (
	"time"

	"dev.scrapetop/engine/budget"
	"dev.scrapetop/engine/frontier"
	"dev.scrapetop/engine/provider"
)

// The shared budgets of a call. Its tasks' domains are places of their own.
const (
	kindGlobal = iota
	kindIP
	kindProvider
	kindAccount
	kindCredential
	kindPending
	kindTenant
	kinds
)

// slots are the budgets in which a piece of work holds a slot, with what it was to them when it started. The program's and
// the address's slots belong to the exchange; all others to the work, which may go on at the platform.
type slots struct {
	held       bool // the work's slots are taken
	exchange   bool // the exchange's slots are taken
	background bool // the credential's slot was given back although the work goes on at the platform
	lane       *frontier.Lane
	cred       *credential
	pending    *budget.Budget      // jobs of this kind that wait at the platform; nil: not counted
	extra      int                 // of pending, beyond the one: where the tasks are counted
	places     []place             // of the tasks, in the call's order; of a lookup: its host
	n          [kinds]int          // in flight at the start, itself included
	probe      [kinds]budget.Probe // which probe of the budget it is
	sent       time.Time
}

// place is the slot of one task in its domain.
type place struct {
	domain *frontier.Domain
	n      int
	probe  budget.Probe
}

// budgetOf is a shared budget of the work, or nil when it draws on none of that kind.
func (m *Machine) budgetOf(s *slots, kind int) *budget.Budget {
	switch kind {
	case kindGlobal:
		return m.global
	case kindIP:
		return m.ip
	case kindProvider:
		return m.provider
	case kindTenant:
		if s.lane != nil {
			return s.lane.Budget
		}
	case kindPending:
		return s.pending
	case kindAccount:
		if s.cred != nil {
			return s.cred.account
		}
	case kindCredential:
		if s.cred != nil {
			return s.cred.budget
		}
	}
	return nil
}

// take starts the work in its shared budgets from first to last; it reports whether it is a probe of one of them.
func (m *Machine) take(now time.Time, s *slots, first, last int) (probe bool) {
	for kind := first; kind <= last; kind++ {
		if b := m.budgetOf(s, kind); b != nil {
			s.probe[kind] = b.Start(now)
			if kind == kindPending {
				m.countItems(s)
			}
			s.n[kind] = b.InFlight()
			probe = probe || s.probe[kind] != 0
		}
	}
	return probe
}

// endExchange gives back the program's and the address's slots.
func (m *Machine) endExchange(s *slots) {
	if s.exchange {
		s.exchange = false
		m.global.Release()
		m.ip.Release()
	}
}

// release gives back every slot that is still held.
func (m *Machine) release(s *slots) {
	m.endExchange(s)
	if !s.held {
		return
	}
	s.held = false
	for kind := kindProvider; kind < kinds; kind++ {
		if b := m.budgetOf(s, kind); b != nil && !(kind == kindCredential && s.background) {
			b.Release()
		}
	}
	for range s.extra {
		s.pending.Release()
	}
	s.extra = 0
	for i := range s.places {
		d := s.places[i].domain
		d.Budget.Release()
		m.wakeDomain(d)
		m.mark(d)
	}
	m.unparkLanes()
}

// retake takes the work's slots for work that runs already: of before a restart.
func (m *Machine) retake(s *slots) {
	s.held = true
	for kind := kindProvider; kind < kinds; kind++ {
		if b := m.budgetOf(s, kind); b != nil {
			b.Hold()
		}
	}
	m.countItems(s)
	for i := range s.places {
		s.places[i].domain.Budget.Hold()
	}
}

// conclude tells the shared budgets from first to last how a call ended for them; the blamed one was told already.
func (m *Machine) conclude(now time.Time, s *slots, first, last int, good bool, blamed *budget.Budget) {
	for kind := first; kind <= last; kind++ {
		b := m.budgetOf(s, kind)
		switch {
		case b == nil || b == blamed:
		case good:
			b.Answered(now, s.sent, s.n[kind], s.probe[kind])
		default:
			if b.ProbeLost(now, s.probe[kind], m.farthest(b), m.rng) {
				until := b.Cooldown().Until
				m.tell("warn", b.Scope, b.Name, "the probe failed too: another in "+seconds(until.Sub(now).Round(100*time.Millisecond)), 0)
			}
		}
	}
}

// void frees every probe's place of a call that was never sent.
func (m *Machine) void(s *slots) {
	for kind := range kinds {
		if b := m.budgetOf(s, kind); b != nil {
			b.ProbeVoid(s.probe[kind])
		}
	}
	for i := range s.places {
		s.places[i].domain.Budget.ProbeVoid(s.places[i].probe)
	}
}

// unresolved frees a domain's probe when the reply said nothing of the target: after a refusal by somebody else another
// may go at once, after a fault only after a backoff.
func (m *Machine) unresolved(now time.Time, p *place, refused bool) {
	if p.probe == 0 {
		return
	}
	if refused {
		p.domain.Budget.ProbeVoid(p.probe)
	} else {
		p.domain.Budget.ProbeLost(now, p.probe, budget.BackoffMost, m.rng)
	}
	m.wakeDomain(p.domain) // the slot may be kept for longer
}

// kindOf is the kind of shared budget that a scope names.
func kindOf(scope budget.Scope) int {
	switch scope {
	case budget.Credential:
		return kindCredential
	case budget.Account:
		return kindAccount
	case budget.IP:
		return kindIP
	case budget.Pending:
		return kindPending
	}
	return kindProvider
}

// placeOf is the place of one of the call's tasks.
func (s *slots) placeOf(tasks []*frontier.Task, t *frontier.Task) *place {
	for i := range tasks {
		if tasks[i] == t && i < len(s.places) {
			return &s.places[i]
		}
	}
	if len(s.places) > 0 {
		return &s.places[0]
	}
	return nil
}

// answered reports outcomes in which the limit let the call through.
func answered(o provider.Outcome) bool {
	switch o {
	case provider.Accepted, provider.AcceptedRemote, provider.NotFound, provider.Refused, provider.Redirected, provider.TooLarge,
		provider.StillRunning, provider.Lost:
		return true
	}
	return false
}
