package core

import (
	"strings"
	"time"

	"dev.scrapetop/engine/budget"
)

// cooldownKept restores a cooldown of before a restart.
func (m *Machine) cooldownKept(now time.Time, ev CooldownKept) {
	m.makeNamed(ev.Scope, ev.Key)
	for _, b := range m.named(ev.Scope, ev.Key) {
		b.HoldUntil(now, ev.Until, ev.Cause, ev.Layer, strings.HasPrefix(ev.Cause, accessRefused))
	}
}

// recall lets a budget begin where earlier runs ended, before anything draws on it.
func (m *Machine) recall(b *budget.Budget) {
	if m.cfg.Recall == nil {
		return
	}
	known, ok := m.cfg.Recall(m.now, b.Scope, b.Name)
	if !ok {
		return
	}
	if b.Scope == budget.Domain && known.Learned != nil {
		b.Find() // behind a platform a domain has no limit of ours until one is known
	}
	b.Remember(m.now, known)
}

// makeNamed makes the budgets of a scope and key that appear only with their first call.
func (m *Machine) makeNamed(scope budget.Scope, key string) {
	switch scope {
	case budget.Domain:
		m.mark(m.front.Domain(key))
	case budget.Pending:
		for _, c := range m.creds {
			m.pendingJobs(c, m.cfg.Facts.Single)
			m.pendingJobs(c, m.cfg.Facts.Batch)
		}
	}
}
