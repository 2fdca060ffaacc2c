package core

import (
	"fmt"
	"time"

	"dev.scrapetop/engine/budget"
	"dev.scrapetop/engine/frontier"
	"dev.scrapetop/engine/limits"
	"dev.scrapetop/engine/provider"
)

const (
	// maxHops is how many redirects of one task are followed.
	maxHops = 10
	// longestHold bounds the growth of a hold for refused access.
	longestHold = 24 * time.Hour
	// failDomains is across how many domains InARow failures must lie to cool the provider.
	failDomains = 3
)

// replied learns from a reply, settles its tasks and frees its slots.
func (m *Machine) replied(now time.Time, r *Replied) {
	c := r.Call
	if m.calls[c.ID] == nil {
		return
	}
	delete(m.calls, c.ID)
	c.settle = c.settle[:0]
	m.charge(c, r.Reply.Credits)
	switch {
	case c.Job != nil:
		m.polled(now, c, &r.Reply)
	case c.Robots != nil:
		m.robotsReplied(now, c, &r.Reply)
	default:
		m.taskReplied(now, c, &r.Reply)
	}
	m.storing++
	m.do(Action{Do: Store, Call: c, Settled: c.settle})
	m.unparkLanes()
}

// charge turns a reservation into what was really spent.
func (m *Machine) charge(c *Call, credits float64) {
	m.counts.Credits += credits
	pay := func(s *spending) {
		if s != nil {
			s.reserved -= c.Worst
			s.credits += credits
		}
	}
	pay(m.spend[""])
	if l := c.slots.lane; l != nil && l.Tenant != "" {
		pay(m.spend[l.Tenant])
	}
	c.Worst = 0
}

// taskReplied handles the reply of a submit, a fetch, or the probe that stands for one.
func (m *Machine) taskReplied(now time.Time, c *Call, r *provider.Reply) {
	if m.cfg.Direct && len(r.Items) == 0 {
		for _, t := range c.Tasks {
			r.Items = append(r.Items, provider.Item{Task: t.ID, Outcome: r.Outcome, Layer: r.Layer, Target: r.HTTPStatus, Signal: r.Signal, Error: r.Error})
		}
	}
	m.releaseFor(now, c, r)
	until := m.learn(now, c, r)
	if len(r.Items) == 0 {
		if r.Outcome == provider.AcceptedRemote && r.Job != "" {
			m.handedOver(now, c, r)
			return
		}
		for _, t := range c.Tasks {
			item := provider.Item{Task: t.ID, Outcome: r.Outcome, Layer: r.Layer, Signal: r.Signal, Error: r.Error}
			m.settle(now, c, -1, t, &item, until)
		}
		return
	}
	for i := range r.Items {
		item := &r.Items[i]
		t := m.taskOf(c, item.Task)
		if t == nil {
			continue
		}
		at := until
		if u := m.learnTarget(now, c, t, item); u.After(at) {
			at = u
		}
		m.settle(now, c, i, t, item, at)
	}
}

func (m *Machine) taskOf(c *Call, id int64) *frontier.Task {
	for _, t := range c.Tasks {
		if t.ID == id {
			return t
		}
	}
	return nil
}

// releaseFor frees the call's slots, unless the work goes on at the platform or may still be counted there.
func (m *Machine) releaseFor(now time.Time, c *Call, r *provider.Reply) {
	if r.Outcome == provider.AcceptedRemote && r.Job != "" {
		// The job keeps every slot but the global one, which is the exchange's.
		m.global.Release()
		c.slots.global = false
		return
	}
	if lease := m.cfg.Facts.SlotLease; r.Unknown && lease > 0 {
		if end := c.Sent.Add(lease); end.After(now) {
			m.global.Release()
			c.slots.global = false
			kept := c.slots
			m.wakes.Set(end, frontier.WakeRelease, &kept)
			c.slots.held = false
			return
		}
	}
	m.release(now, &c.slots)
}

// release gives back every slot that is still held.
func (m *Machine) release(now time.Time, s *slots) {
	if !s.held {
		return
	}
	s.held = false
	if s.global {
		m.global.Release()
	}
	m.provider.Release()
	if s.cred != nil {
		s.cred.account.Release()
		s.cred.budget.Release()
	}
	if s.lane != nil {
		s.lane.Budget.Release()
	}
	if s.domain != nil {
		s.domain.Budget.Release()
		m.front.Wake(s.domain)
		m.mark(s.domain)
	}
	m.unparkLanes()
}

// learn tells the budgets of a call what its reply meant for them, and returns until when its tasks must wait because a
// shared budget refused.
func (m *Machine) learn(now time.Time, c *Call, r *provider.Reply) (until time.Time) {
	s := &c.slots
	if s.cred != nil {
		m.readSlots(now, s.cred, r)
	}
	d := Decide(m.verdict(c, r.Outcome, r.Layer, r.Signal, nil))
	refused := r.Outcome == provider.Limited || r.Outcome == provider.Busy
	blame := budget.None
	if r.Layer != provider.LayerTarget {
		switch {
		case refused:
			blame = d.Cools
			m.countRefusal(r.Outcome, r.Layer)
			b, kind := m.budgetOf(c, blame)
			until = m.refuse(now, c, d, r.Layer, b, kind, blame)
			if r.Signal.Limit.OK && r.Layer == provider.LayerAccount && s.cred != nil {
				s.cred.budget.SlotLimit(r.Signal.Limit.V)
			}
		case r.Outcome == provider.Denied:
			blame = d.Stops
			m.stop(c, d, r)
		}
	}
	good := !refused && answered(r.Outcome)
	if r.Layer == provider.LayerTarget {
		good = true // the target spoke: everything before it let the call through
	}
	m.conclude(now, s, kindGlobal, m.global, good, blame == budget.Global)
	m.conclude(now, s, kindProvider, m.provider, good, blame == budget.Provider)
	if s.cred != nil {
		m.conclude(now, s, kindAccount, s.cred.account, good, blame == budget.Account)
		m.conclude(now, s, kindCredential, s.cred.budget, good, blame == budget.Credential)
	}
	m.conclude(now, s, kindTenant, s.lane.Budget, good, false)
	if len(r.Items) == 0 && s.domain != nil {
		// Nothing was said of the target.
		m.unresolved(now, s, refused || r.Outcome == provider.Denied, r.Outcome == provider.AcceptedRemote)
	}
	m.failures(now, c, r)
	return until
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

// conclude tells one budget how a call ended for it.
func (m *Machine) conclude(now time.Time, s *slots, kind int, b *budget.Budget, good, blamed bool) {
	switch {
	case blamed:
	case good:
		b.Answered(now, s.sent, s.n[kind], s.probe[kind])
	case s.probe[kind]:
		b.ProbeLost(now, m.rng)
	}
}

// unresolved frees the domain's probe when the reply said nothing of the target.
func (m *Machine) unresolved(now time.Time, s *slots, refused, remote bool) {
	if !s.probe[kindDomain] || remote {
		return
	}
	if refused {
		s.domain.Budget.ProbeVoid()
	} else {
		s.domain.Budget.ProbeLost(now, m.rng)
	}
}

// budgetOf is the budget of a call that a scope names, and what it was to it.
func (m *Machine) budgetOf(c *Call, scope budget.Scope) (b *budget.Budget, kind int) {
	s := &c.slots
	switch scope {
	case budget.Credential:
		if s.cred != nil {
			return s.cred.budget, kindCredential
		}
	case budget.Account:
		if s.cred != nil {
			return s.cred.account, kindAccount
		}
	case budget.IP:
		return m.ip, kindGlobal
	case budget.Provider, budget.Pending:
		return m.provider, kindProvider
	}
	return s.domain.Budget, kindDomain
}

// refuse cools a budget and tells about it once per event.
func (m *Machine) refuse(now time.Time, c *Call, d Decision, layer provider.Layer, b *budget.Budget, kind int, scope budget.Scope) time.Time {
	s := &c.slots
	until, fresh := b.Refused(now, budget.Refusal{
		Sent: s.sent, InFlight: s.n[kind], Wait: d.Wait, Announced: d.Announced || d.Wait > 0, Cause: d.Cause, Layer: string(layer), Probe: s.probe[kind],
	}, m.rng)
	cool := b.Cooldown()
	if fresh {
		m.counts.Cooldowns++
		m.tell("warn", scope, b.Name, fmt.Sprintf("%s: %s; cooling for %s", words(layer), d.Cause, seconds(cool.Full.Round(100*time.Millisecond))), c.firstTask())
	}
	m.do(Action{Do: Cooled, Cool: CoolChange{Scope: scope, Key: b.Name, Until: until, Full: cool.Full, Cause: d.Cause, Source: string(layer)}})
	if scope == budget.Domain {
		m.park(s.domain, budget.Gate{Why: budget.Cooldown, At: until})
	}
	return until
}

func (c *Call) firstTask() int64 {
	if len(c.Tasks) == 0 {
		return 0
	}
	return c.Tasks[0].ID
}

// words names a layer's refusal for people.
func words(l provider.Layer) string {
	switch l {
	case provider.LayerAccount:
		return "429 by the platform's concurrency limit"
	case provider.LayerRate:
		return "429 by the platform's request rate"
	case provider.LayerPending:
		return "429 by the platform's queue of jobs"
	case provider.LayerCapacity:
		return "the platform is at capacity"
	case provider.LayerTarget:
		return "refused by the target"
	}
	return string(l)
}

// readSlots adopts a platform's free-slot headers.
func (m *Machine) readSlots(now time.Time, c *credential, r *provider.Reply) {
	sig := &r.Signal
	if sig.Limit.OK || sig.Remaining.OK {
		c.last = remaining{limit: sig.Limit.V, hasLimit: sig.Limit.OK, remaining: sig.Remaining.V, has: sig.Remaining.OK, at: now, kind: string(sig.Kind)}
		if sig.Reset.OK {
			c.last.reset = now.Add(sig.Reset.V)
		}
	}
	if m.cfg.Facts.FreeSlots && sig.Kind == limits.KindConcurrency && sig.Limit.OK && sig.Remaining.OK && r.Outcome != provider.Limited {
		c.budget.Slots(now, sig.Limit.V, sig.Remaining.V)
	}
}

// countRefusal counts a 429 or a busy by layer.
func (m *Machine) countRefusal(o provider.Outcome, l provider.Layer) {
	if o == provider.Busy {
		m.counts.Busy++
		return
	}
	switch l {
	case provider.LayerAccount:
		m.counts.Account++
	case provider.LayerRate:
		m.counts.Rate++
	case provider.LayerPending:
		m.counts.PendingJobs++
	default:
		m.counts.Target++
	}
}

// stop holds a credential or account that the platform refused; its tasks stay pending.
func (m *Machine) stop(c *Call, d Decision, r *provider.Reply) {
	cr := c.slots.cred
	if cr == nil {
		return
	}
	b := cr.budget
	if d.Stops == budget.Account {
		b = cr.account
	}
	if b.StoppedWhy() != "" {
		return
	}
	why := string(r.Layer)
	if r.Error != "" {
		why += ": " + r.Error
	}
	b.Stop(why)
	m.tell("error", d.Stops, b.Name, "stopped by the platform ("+why+"); its work stays pending", 0)
}

// learnTarget tells the domain's budget what the target said, and returns until when the task must wait because of it.
func (m *Machine) learnTarget(now time.Time, c *Call, t *frontier.Task, item *provider.Item) (until time.Time) {
	s := &c.slots
	d := s.domain
	b := d.Budget
	m.logAnswer(now, d, item)
	m.readWindow(now, d, item)
	switch item.Outcome {
	case provider.Limited, provider.Busy:
		m.countRefusal(item.Outcome, item.Layer)
		dec := Decide(m.verdict(c, item.Outcome, item.Layer, item.Signal, t))
		b.Find() // behind a platform a domain has no limit of ours until its first inner refusal
		until = m.refuse(now, c, dec, item.Layer, b, kindDomain, budget.Domain)
	case provider.Blocked:
		m.unresolved(now, s, false, false)
		if n := b.Access(); n >= budget.InARow {
			// Each probe that is refused access again doubles the hold: a site that does not want us is asked ever more rarely.
			wait := min(m.cfg.BlockHold<<min(n-budget.InARow, 10), longestHold)
			m.hold(now, d, now.Add(wait), fmt.Sprintf("access refused %d times in a row", n), item.Layer, true)
		}
	case provider.Failed, provider.Transport, provider.Invalid:
		m.unresolved(now, s, false, false)
		if item.Outcome != provider.Invalid {
			if n := b.Failure(); n >= budget.InARow && n%budget.InARow == 0 {
				m.hold(now, d, now.Add(budget.Wait(n/budget.InARow, m.rng)), fmt.Sprintf("%d failures in a row", n), item.Layer, false)
			}
		}
	default:
		if item.Outcome == provider.Accepted {
			b.Good()
		}
		reopened := s.probe[kindDomain]
		b.Answered(now, s.sent, s.n[kindDomain], s.probe[kindDomain])
		if reopened {
			m.tell("info", budget.Domain, d.Name, "the probe was answered: reopening in steps", t.ID)
			m.do(Action{Do: Cooled, Cool: CoolChange{Scope: budget.Domain, Key: d.Name}})
		}
		m.front.Wake(d)
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
		log.HasLimit, log.Limit = sig.Limit.OK, sig.Limit.V
		log.HasRemaining, log.Remaining = sig.Remaining.OK, sig.Remaining.V
		log.Kind, log.HeadersAt, log.ResetAt = string(sig.Kind), now, time.Time{}
		if sig.Reset.OK {
			log.ResetAt = now.Add(sig.Reset.V)
		}
	}
	// A reset a year away on a good answer is a field that was misread, not a window: it is shown, never waited for.
	if m.cfg.Direct && sig.Kind != limits.KindConcurrency && sig.Unit == "" && sig.Remaining.OK && sig.Reset.OK && sig.Reset.V > 0 && sig.Reset.V < limits.MaxWait {
		d.Budget.Quota(now, sig.Remaining.V, sig.Reset.V)
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
	for i, seen := range m.failSeen {
		if seen == c.Domain {
			break
		}
		if seen == "" {
			m.failSeen[i] = c.Domain
			break
		}
	}
	if m.failRow < budget.InARow || m.failSeen[failDomains-1] == "" || m.provider.State(now) != budget.Open {
		return
	}
	k := m.failRow / budget.InARow
	if m.cfg.Direct {
		k = min(k, 2) // many dead hosts in a list look the same as a dead network: never wait long
	}
	wait := budget.Wait(k, m.rng)
	cause := fmt.Sprintf("%d failures in a row across domains", m.failRow)
	m.provider.HoldUntil(now, now.Add(wait), cause, string(provider.LayerTransport), false)
	m.counts.Cooldowns++
	m.tell("warn", budget.Provider, "", cause+": one probe in "+seconds(wait.Round(100*time.Millisecond)), 0)
	m.failRow, m.failSeen = 0, [3]string{}
}

// verdict gathers what a decision about a call, or one of its tasks, is made from.
func (m *Machine) verdict(c *Call, o provider.Outcome, l provider.Layer, sig limits.Signal, t *frontier.Task) Verdict {
	v := Verdict{Facts: m.cfg.Facts, Outcome: o, Layer: l, Signal: sig, Max: m.cfg.MaxAttempts, Resubmit: m.cfg.ResubmitLost}
	if t != nil {
		v.Tries, v.Invalids = t.Tries, t.Invalids
	}
	if c.slots.domain != nil {
		v.Failed = c.slots.domain.Budget.Cooldown().Failed
	}
	return v
}
