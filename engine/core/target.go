package core

import (
	"fmt"
	"strings"
	"time"

	"dev.scrapetop/engine/budget"
	"dev.scrapetop/engine/frontier"
	"dev.scrapetop/engine/limits"
	"dev.scrapetop/engine/provider"
)

const (
	// longestHold bounds the growth of a hold for refused access.
	longestHold = 24 * time.Hour
	// accessRefused begins the cause of a hold for refused access, by which it is known again after a restart.
	accessRefused = "access refused"
	// failDomains is across how many domains InARow failures must lie to cool the provider.
	failDomains = 3
)

// learnTarget tells the domain's budget what the target said, and returns until when the task must wait because of it.
func (m *Machine) learnTarget(now time.Time, c *Call, s *slots, p *place, t *frontier.Task, item *provider.Item) (until time.Time) {
	d := p.domain
	b := d.Budget
	m.logAnswer(now, d, item)
	m.readWindow(now, d, item)
	switch item.Outcome {
	case provider.Limited, provider.Busy:
		m.countRefusal(s, item.Outcome, item.Layer)
		dec := Decide(m.verdict(item.Outcome, item.Layer, item.Signal, t, b))
		b.Find() // behind a platform a domain has no limit of ours until its first inner refusal
		until = m.refuse(now, c, dec, item.Layer, item.Target, b, budget.Refusal{Sent: s.sent, InFlight: p.n, Probe: p.probe})
		m.park(d, budget.Gate{Why: budget.Cooldown, At: until})
		m.contrastRefused(now, s, d.Name)
	case provider.Blocked:
		probe, held := b.IsProbe(p.probe), b.State(now) == budget.Cooling
		m.unresolved(now, p, false)
		// What was in flight when the hold began belongs to it. Each probe that is refused access again doubles it: a site
		// that does not want us is asked ever more rarely.
		if n := b.Access(); n >= budget.InARow && (probe || !held) {
			wait := min(m.cfg.BlockHold<<min(b.Cooldown().Failed, 10), longestHold)
			m.hold(now, d, now.Add(wait), fmt.Sprintf(accessRefused+" %d times in a row", n), item.Layer, true)
		}
	case provider.Failed, provider.Transport, provider.Invalid:
		m.unresolved(now, p, false)
		if item.Outcome != provider.Invalid {
			if n := b.Failure(); n >= budget.InARow && n%budget.InARow == 0 {
				m.hold(now, d, now.Add(budget.Wait(n/budget.InARow, m.rng)), fmt.Sprintf("%d failures in a row", n), item.Layer, false)
			}
		}
	default:
		if item.Outcome == provider.Accepted {
			b.Good()
			m.contrastAccepted(now, s)
		}
		tested := b.IsProbe(p.probe)
		b.Answered(now, s.sent, p.n, p.probe)
		if st := b.State(now); tested && st != budget.Cooling && st != budget.Probing {
			m.tell("info", budget.Domain, d.Name, "the probe was answered: reopening in steps", t.ID)
			m.do(Action{Do: Cooled, Cool: CoolChange{Scope: budget.Domain, Key: d.Name}})
		}
		m.wakeDomain(d)
	}
	return until
}

// hold closes a domain for a cause that is no refusal of load.
func (m *Machine) hold(now time.Time, d *frontier.Domain, until time.Time, cause string, layer provider.Layer, block bool) {
	d.Budget.HoldUntil(now, until, cause, string(layer), block)
	m.counts.Cooldowns++
	m.tell("warn", budget.Domain, d.Name, cause+": held for "+seconds(until.Sub(now).Round(100*time.Millisecond))+", then one probe", 0)
	m.do(Action{Do: Cooled, Cool: CoolChange{Scope: budget.Domain, Key: d.Name, Until: until, Full: until.Sub(now), Cause: cause, Source: string(layer)}})
	m.park(d, budget.Gate{Why: budget.Cooldown, At: until})
}

// readWindow adopts what a target's headers said of a window of requests.
func (m *Machine) readWindow(now time.Time, d *frontier.Domain, item *provider.Item) {
	sig := &item.Signal
	log := &d.Log
	if sig.Limit.OK || sig.Remaining.OK {
		told := &frontier.Told{
			HasLimit: sig.Limit.OK, Limit: sig.Limit.V, HasRemaining: sig.Remaining.OK, Remaining: sig.Remaining.V, Kind: string(sig.Kind), At: now,
		}
		if sig.Reset.OK {
			told.ResetAt = now.Add(sig.Reset.V)
		}
		log.Told = told
	}
	// A reset a year away on a good answer is a field that was misread, not a window: it is shown, never waited for.
	if m.cfg.Direct && sig.Kind != limits.KindConcurrency && sig.Unit == "" && sig.Remaining.OK && sig.Reset.OK && sig.Reset.V > 0 && sig.Reset.V < limits.MaxWait {
		d.Budget.Quota(now, sig.Remaining.V, sig.Reset.V)
		if sig.Limit.OK && sig.Window.OK {
			d.Budget.Policy(now, sig.Limit.V, sig.Window.V)
		}
	}
}

// failedAt notes a domain of a failure in a row.
func (m *Machine) failedAt(domain string) {
	for i, seen := range m.failSeen {
		switch seen {
		case domain:
			return
		case "":
			m.failSeen[i] = domain
			return
		}
	}
}

// failures watches for failures in a row across domains: then the provider (or our own network) is down.
func (m *Machine) failures(now time.Time, c *Call, r *provider.Reply) {
	down := r.Outcome == provider.Transport || !m.cfg.Direct && (r.Outcome == provider.Failed && r.Layer != provider.LayerTarget)
	if !down {
		if r.HTTPStatus.OK {
			m.failRow, m.failSeen = 0, [3]string{}
		}
		return
	}
	m.failRow++
	m.failedAt(c.Domain)
	for _, t := range c.Tasks { // a batch is over several domains
		m.failedAt(t.Domain)
	}
	if !m.cfg.Direct && c.Job == nil {
		m.failuresOf(now, c)
	}
	if m.failRow < budget.InARow || m.failSeen[failDomains-1] == "" || m.provider.State(now) != budget.Open {
		return
	}
	k := m.failRow / budget.InARow
	if m.cfg.Direct {
		k = min(k, m.farthest(m.provider))
	}
	wait := budget.Wait(k, m.rng)
	cause := fmt.Sprintf("%d failures in a row across domains", m.failRow)
	m.provider.HoldUntil(now, now.Add(wait), cause, string(provider.LayerTransport), false)
	m.counts.Cooldowns++
	m.tell("warn", budget.Provider, m.provider.Name, cause+": one probe in "+seconds(wait.Round(100*time.Millisecond))+strings.TrimSuffix("; the last: "+r.Error, "; the last: "), 0)
	m.failRow, m.failSeen = 0, [3]string{}
}

// failuresOf counts a platform's failure in a row for the domains that it was asked for: with few of them nothing tells
// whether it is the platform or the site, and each attempt may cost.
func (m *Machine) failuresOf(now time.Time, c *Call) {
	for i := range c.slots.places {
		d := c.slots.places[i].domain
		if n := d.Budget.Failure(); n >= budget.InARow && n%budget.InARow == 0 {
			m.hold(now, d, now.Add(budget.Wait(n/budget.InARow, m.rng)), fmt.Sprintf("%d failures in a row", n), provider.LayerTransport, false)
		}
	}
}

// farthest is how far the backoff of probes that fail grows. A list with many dead hosts looks like a dead network: it never
// waits long for the next.
func (m *Machine) farthest(b *budget.Budget) int {
	if m.cfg.Direct && b == m.provider {
		return 2
	}
	return budget.BackoffMost
}
