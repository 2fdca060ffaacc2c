package core

import (
	"fmt"
	"time"

	"dev.scrapetop/engine/budget"
	"dev.scrapetop/engine/frontier"
	"dev.scrapetop/engine/limits"
	"dev.scrapetop/engine/provider"
)

// maxHops is how many redirects of one task are followed.
const maxHops = 10

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
		m.tell("warn", scope, b.Name, fmt.Sprintf("%s: %s; cooling for %s", words(d.Outcome, layer), d.Cause, seconds(cool.Full.Round(100*time.Millisecond))), c.firstTask())
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
func words(o provider.Outcome, l provider.Layer) string {
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
		if o == provider.Busy {
			return "503 by the target"
		}
		return "429 by the target"
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
