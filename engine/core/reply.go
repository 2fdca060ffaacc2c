package core

import (
	"fmt"
	"slices"
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
	m.blameSetup(c, &r.Reply)
	m.pay(c.slots.lane, r.Reply.Credits, len(c.Tasks))
	switch {
	case c.Job != nil:
		m.polled(now, c, &r.Reply)
	case c.Robots != nil:
		m.robotsReplied(now, c, &r.Reply)
	case c.search != nil:
		m.searched(now, c, &r.Reply)
	case c.health:
		m.healthReplied(now, c, &r.Reply)
	case c.calledOff && r.Reply.Outcome == provider.Transport:
		m.calledOff(c, &r.Reply)
	default:
		m.taskReplied(now, c, &r.Reply)
	}
	m.unreserveCall(c)
	m.storing++
	m.do(Action{Do: Store, Call: c, Settled: c.settle})
	m.unparkLanes()
}

// taskReplied handles the reply of a submit, a fetch, or the probe that stands for one.
func (m *Machine) taskReplied(now time.Time, c *Call, r *provider.Reply) {
	if m.cfg.Direct && len(r.Items) == 0 {
		for _, t := range c.Tasks {
			r.Items = append(r.Items, provider.Item{Task: t.ID, Outcome: r.Outcome, Layer: r.Layer, Target: r.HTTPStatus, Signal: r.Signal, Error: r.Error})
		}
	}
	m.learnForm(now, c, r)
	handed := r.Outcome == provider.AcceptedRemote && r.Job != ""
	m.releaseFor(now, c, r, handed)
	until := m.learn(now, c, r)
	switch {
	case handed:
		m.handedOver(now, c, r)
	case len(r.Items) > 0:
		m.settleItems(now, c, &c.slots, r, until)
	case r.Split && len(c.Tasks) > 1:
		m.split(c)
	case r.Unknown && len(c.Tasks) > 0:
		m.unknown(now, c, r)
		if r.Credits == 0 { // what is searched for stays reserved: its Worst is zero
			m.unpriced(c.slots.lane, c.Tasks, c.Worst)
		}
	default:
		for _, t := range c.Tasks {
			item := provider.Item{Task: t.ID, Outcome: r.Outcome, Layer: r.Layer, Signal: r.Signal, Error: r.Error}
			m.settle(now, c, -1, t, &item, until)
		}
	}
}

// settleItems tells each task's domain what its target said, and settles the task. s are the slots of the work: of the
// submit, also when a poll brought the items.
func (m *Machine) settleItems(now time.Time, c *Call, s *slots, r *provider.Reply, until time.Time) {
	done := make(map[*frontier.Task]bool, len(c.Tasks))
	parts := 0
	for i := range r.Items {
		item := &r.Items[i]
		t := m.taskOf(c, item.Task)
		if t == nil || done[t] {
			continue
		}
		if item.Part != "" { // a record of the task; it settles nothing
			if item.Outcome == provider.Accepted {
				parts++
			}
			continue
		}
		done[t] = true
		at := until
		if p := s.placeOf(c.Tasks, t); p != nil {
			if u := m.learnTarget(now, c, s, p, t, item); u.After(at) {
				at = u
			}
		}
		m.settle(now, c, i, t, item, at)
		if n := len(c.settle); n > 0 && c.settle[n-1].Task == t {
			c.settle[n-1].Records = max(parts, 1)
		}
		parts = 0
	}
	for _, t := range c.Tasks {
		if !done[t] {
			if p := s.placeOf(c.Tasks, t); p != nil {
				m.unresolved(now, p, false)
			}
			m.settle(now, c, -1, t, &provider.Item{Task: t.ID, Outcome: provider.Failed, Error: or(r.Error, "the answer does not speak of it")}, until)
		}
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
func (m *Machine) releaseFor(now time.Time, c *Call, r *provider.Reply, handed bool) {
	m.endExchange(&c.slots)
	if handed {
		return
	}
	if lease := m.cfg.Facts.SlotLease; r.Unknown && lease > 0 {
		if end := c.Sent.Add(lease); end.After(now) {
			kept := c.slots
			kept.places = slices.Clone(kept.places)
			c.slots.held = false
			m.wakes.Set(end, frontier.WakeRelease, &kept)
			return
		}
	}
	m.release(&c.slots)
}

// learn tells the budgets of a call what its reply meant for them, and returns until when its tasks must wait because a
// shared budget refused.
func (m *Machine) learn(now time.Time, c *Call, r *provider.Reply) (until time.Time) {
	s := &c.slots
	m.readCapacity(now, s, r)
	refused := r.Outcome == provider.Limited || r.Outcome == provider.Busy
	var blamed *budget.Budget
	if r.Layer != provider.LayerTarget && (refused || r.Outcome == provider.Denied) {
		blamed, until = m.blame(now, c, r)
	}
	// Whoever let the call through to the one that answered is not to blame: a target that speaks, a platform that
	// refuses the key.
	if c, key := m.asker(s); blamed == nil && c.blamed && m.refusedByTarget(r) {
		m.probeFailed(now, key, s) // its probe found a domain that refuses still
		blamed = key
	}
	good := !refused && answered(r.Outcome) || r.Layer == provider.LayerTarget || r.Outcome == provider.Denied
	m.conclude(now, s, kindGlobal, kindTenant, good, blamed)
	if len(r.Items) == 0 && r.Outcome != provider.AcceptedRemote {
		for i := range s.places {
			m.unresolved(now, &s.places[i], refused || r.Outcome == provider.Denied)
		}
	}
	m.failures(now, c, r)
	return until
}

// blame cools, or stops, the shared budget that a refusal speaks of.
func (m *Machine) blame(now time.Time, c *Call, r *provider.Reply) (*budget.Budget, time.Time) {
	s := &c.slots
	d := Decide(m.verdict(r.Outcome, r.Layer, r.Signal, nil, nil))
	if r.Outcome == provider.Denied {
		return m.stop(c, d, r), time.Time{}
	}
	kind := kindOf(d.Cools)
	b := m.budgetOf(s, kind)
	if b == nil {
		kind, b = kindProvider, m.provider
	}
	d = Decide(m.verdict(r.Outcome, r.Layer, r.Signal, nil, b))
	m.countRefusal(s, r.Outcome, r.Layer)
	if r.Layer == provider.LayerAccount {
		m.holdAgain(s.cred)
	}
	until := m.refuse(now, c, d, r.Layer, r.HTTPStatus, b, budget.Refusal{Sent: s.sent, InFlight: s.n[kind], Probe: s.probe[kind]})
	switch {
	case r.Layer == provider.LayerAccount && r.Signal.Limit.OK:
		b.SlotLimit(r.Signal.Limit.V)
	case r.Layer == provider.LayerPending && len(c.Tasks) > 1 && m.itemsTurnOut(b):
	case (r.Layer == provider.LayerAccount || r.Layer == provider.LayerPending) && s.n[kind] > 1:
		// Nobody tells the limit, or what counts is not what we count: one fewer than that goes.
		b.SlotsRefused(now, s.n[kind])
	case r.Layer == provider.LayerPending && len(c.Tasks) > 1:
		// Refused although nothing of ours waits: the tasks are counted, so fewer go at once.
		m.batchCap = max(len(c.Tasks)/2, 1)
	}
	return b, until
}

// refuse cools a budget and tells about it once per event.
func (m *Machine) refuse(now time.Time, c *Call, d Decision, layer provider.Layer, status limits.Opt[int], b *budget.Budget, r budget.Refusal) time.Time {
	r.Wait, r.Announced, r.Cause, r.Layer = d.Wait, d.Announced || d.Wait > 0, d.Cause, string(layer)
	until, fresh := b.Refused(now, r, m.rng)
	cool := b.Cooldown()
	if fresh {
		m.counts.Cooldowns++
		m.tell("warn", b.Scope, b.Name, fmt.Sprintf("%s: %s; cooling for %s", words(d.Outcome, layer, status), cool.Cause, seconds(cool.Full.Round(100*time.Millisecond))), c.firstTask())
	}
	m.do(Action{Do: Cooled, Cool: CoolChange{Scope: b.Scope, Key: b.Name, Until: until, Full: cool.Full, Cause: cool.Cause, Source: string(layer)}})
	return until
}

func (c *Call) firstTask() int64 {
	if len(c.Tasks) == 0 {
		return 0
	}
	return c.Tasks[0].ID
}

// words names a layer's refusal for people.
func words(o provider.Outcome, l provider.Layer, status limits.Opt[int]) string {
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
		if status.OK {
			return fmt.Sprintf("%d by the target", status.V)
		}
		return string(o) + " by the target"
	}
	return string(l)
}

// readCapacity adopts what a platform's headers say of capacity: free slots of the credential, or requests left to the
// address.
func (m *Machine) readCapacity(now time.Time, s *slots, r *provider.Reply) {
	sig := &r.Signal
	if s.cred != nil && r.Balance.OK {
		s.cred.balance = r.Balance
	}
	if s.cred == nil || !sig.Limit.OK && !sig.Remaining.OK {
		return
	}
	l := remaining{limit: sig.Limit.V, hasLimit: sig.Limit.OK, remaining: sig.Remaining.V, has: sig.Remaining.OK, at: now, kind: string(sig.Kind)}
	if sig.Reset.OK {
		l.reset = now.Add(sig.Reset.V)
	}
	s.cred.last = l
	f := &m.cfg.Facts
	switch {
	case f.FreeSlots && sig.Kind == limits.KindConcurrency && sig.Limit.OK && sig.Remaining.OK && r.Outcome != provider.Limited:
		s.cred.budget.Slots(now, sig.Limit.V, sig.Remaining.V)
		s.cred.background.inUse(now, s.sent, sig.Limit.V-sig.Remaining.V)
	case f.RateLimit > 0 && sig.Kind == limits.KindWindow && sig.Remaining.OK && sig.Reset.OK && sig.Reset.V > 0 && sig.Reset.V < limits.MaxWait:
		m.ip.Quota(now, sig.Remaining.V, sig.Reset.V)
	}
}

// countRefusal counts a 429 or a busy by layer, for the run and for each shared budget that the call drew on.
func (m *Machine) countRefusal(s *slots, o provider.Outcome, l provider.Layer) {
	m.counts.Refused.count(o, l)
	for kind := range kinds {
		if b := m.budgetOf(s, kind); b != nil {
			r := m.refused[b]
			r.count(o, l)
			m.refused[b] = r
		}
	}
}

// stop holds a credential or account that the platform refused; its tasks stay pending.
func (m *Machine) stop(c *Call, d Decision, r *provider.Reply) *budget.Budget {
	cr := c.slots.cred
	if cr == nil {
		return nil
	}
	b, kind := cr.budget, kindCredential
	if d.Stops == budget.Account {
		b, kind = cr.account, kindAccount
	}
	b.ProbeVoid(c.slots.probe[kind])
	polls := r.Layer != provider.LayerQuota || c.Job != nil
	if why := b.StoppedWhy(); why != "" {
		b.Stop(why, polls)
		return b
	}
	why := or(r.Error, string(r.Layer))
	if r.Error != "" && r.Layer != provider.NoLayer {
		why = string(r.Layer) + ": " + why
	}
	b.Stop(why, polls)
	m.holdsChanged = true
	m.tell("error", d.Stops, b.Name, "stopped by the platform ("+why+"); its work stays pending", 0)
	return b
}

// verdict gathers what a decision is made from: about a budget (b), or about one task (t).
func (m *Machine) verdict(o provider.Outcome, l provider.Layer, sig limits.Signal, t *frontier.Task, b *budget.Budget) Verdict {
	v := Verdict{Facts: m.cfg.Facts, Outcome: o, Layer: l, Signal: sig, Max: m.cfg.MaxAttempts, Resubmit: m.cfg.ResubmitLost}
	if t != nil {
		v.Tries, v.Invalids = t.Tries, t.Invalids
	}
	if b != nil {
		v.Failed = b.Cooldown().Failed
		if b.ProbeIsOut() {
			v.Failed++ // this answer is its probe's
		}
	}
	return v
}
