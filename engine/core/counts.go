package core

import (
	"time"

	"dev.scrapetop/engine/budget"
	"dev.scrapetop/engine/frontier"
	"dev.scrapetop/engine/limits"
	"dev.scrapetop/engine/provider"
)

// Counts are the machine's counters. Accepted, Dead and Cancelled move when their rows are committed.
type Counts struct {
	Pending, Delayed, InFlight, Remote, Accepted, Dead, Cancelled int64
	RemoteDone                                                    int64 // of Remote: ended at the platform, in jobs that go on

	Requests, Retries, Attempts, Cooldowns, Probes int64
	Refused
	Held        int64 // waits imposed by our own limits
	Credits     float64
	MaxInFlight int64
}

// Counts returns the counters as they stand.
func (m *Machine) Counts() Counts { return m.counts }

// InFlight is how many exchanges are under way, and the program's ceiling on them.
func (m *Machine) InFlight() (now, ceiling int) { return m.global.InFlight(), m.global.Limit() }

// TakeDirty returns the domains that changed since the last call; the slice is valid until the next Step.
func (m *Machine) TakeDirty() []*frontier.Domain {
	d := m.dirty
	for _, x := range d {
		x.Dirty = false
	}
	m.dirty = m.dirty[:0]
	return d
}

// RunPaused reports that the whole run is held by a person.
func (m *Machine) RunPaused() bool { return m.global.IsPaused() }

// DrainReason is why the run drains; false: it does not.
func (m *Machine) DrainReason() (string, bool) {
	if m.drain == nil {
		return "", false
	}
	return m.drain.Reason, true
}

// Refused counts the refusals of one budget's calls by who said no.
type Refused struct {
	Account, Rate, PendingJobs, Target, Busy int64
}

func (r *Refused) count(o provider.Outcome, l provider.Layer) {
	if o == provider.Busy {
		r.Busy++
		return
	}
	switch l {
	case provider.LayerAccount:
		r.Account++
	case provider.LayerRate:
		r.Rate++
	case provider.LayerPending:
		r.PendingJobs++
	default:
		r.Target++
	}
}

// Shared is a budget that is no domain's, as the screens see it.
type Shared struct {
	Scope            budget.Scope
	Key              string
	Budget           *budget.Budget
	Limit, Remaining int64
	HasLimit, Has    bool
	At, Reset        time.Time
	Kind             string

	Refused  Refused             // since the machine was made, of the calls that drew on it
	Account  string              // of a credential
	Balance  limits.Opt[float64] // of a credential: credits left, as last told
	FreeJobs bool                // of a credential: its work in the background is known to hold no slot
}

// Shared returns the budgets that are no domain's: few, whatever the run.
func (m *Machine) Shared() []Shared {
	all := []Shared{
		m.sharedOf(m.global), m.sharedOf(m.provider), m.sharedOf(m.ip),
	}
	for _, c := range m.creds {
		s, l := m.sharedOf(c.budget), &c.last
		s.Limit, s.HasLimit, s.Remaining, s.Has, s.At, s.Reset, s.Kind = l.limit, l.hasLimit, l.remaining, l.has, l.at, l.reset, l.kind
		s.Account, s.FreeJobs, s.Balance = c.account.Name, c.background.free, c.balance
		all = append(all, s)
	}
	for _, a := range m.accounts {
		all = append(all, m.sharedOf(a))
	}
	for _, p := range m.pending {
		all = append(all, m.sharedOf(p))
	}
	for _, l := range m.front.Lanes {
		if l.Tenant != "" {
			all = append(all, m.sharedOf(l.Budget))
		}
	}
	return all
}

func (m *Machine) sharedOf(b *budget.Budget) Shared {
	return Shared{Scope: b.Scope, Key: b.Name, Budget: b, Refused: m.refused[b]}
}

// Spent is what the run's caps are compared with.
func (m *Machine) Spent() (requests int64, credits float64) {
	s := m.spend[""]
	return s.requests, s.credits
}

// Resume takes over what the run had ended before a restart.
func (m *Machine) Resume(accepted, dead, cancelled int64) {
	m.counts.Accepted, m.counts.Dead, m.counts.Cancelled = accepted, dead, cancelled
}

// logAnswer keeps what the screens say of a domain's last answer.
func (m *Machine) logAnswer(now time.Time, d *frontier.Domain, item *provider.Item) {
	l := &d.Log
	l.Last = frontier.Answer{At: now, Outcome: string(item.Outcome)}
	if item.Outcome == provider.Limited || item.Outcome == provider.Busy {
		if l.Limited == nil {
			l.Limited = map[string]int64{}
		}
		key := string(item.Layer)
		if item.Outcome == provider.Busy {
			key = "busy"
		}
		l.Limited[key]++
	}
	m.mark(d)
}

// Domain returns a domain that has or had work, or nil.
func (m *Machine) Domain(name string) *frontier.Domain { return m.front.Domains[name] }

// Ends are the states in which the call left its tasks; valid until the call is given to Step again.
func (c *Call) Ends() []Settled { return c.settle }

// Acknowledge takes over what was committed after the run had ended, when Step does nothing any more.
func (m *Machine) Acknowledge(c *Call) { m.stored(c) }
