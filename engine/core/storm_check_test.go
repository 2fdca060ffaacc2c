package core

import (
	"fmt"
	"slices"

	"dev.scrapetop/engine/budget"
)

// checkWaits sees that nothing is sent inside a wait that was announced.
func (s *storm) checkWaits(c *Call) {
	inside := func(scope budget.Scope, key string) {
		if s.now.Before(s.waits[budgetKey{scope, key}]) {
			b := s.m.named(scope, key)[0]
			s.fail("a %s is sent inside the wait of %s %s: %v left, state %v, cool %+v", c.Kind, scope, key, s.waits[budgetKey{scope, key}].Sub(s.now), b.State(s.now), b.Cooldown())
		}
	}
	inside(budget.IP, s.cfg.Provider)
	if c.Job != nil || c.search != nil {
		return
	}
	inside(budget.Provider, s.cfg.Provider)
	for _, p := range c.slots.places {
		inside(budget.Domain, p.domain.Name)
	}
	if cr := c.slots.cred; cr != nil {
		inside(budget.Credential, cr.name)
		inside(budget.Account, cr.account.Name)
	}
}

// check is what must hold after every step.
func (s *storm) check() {
	c := s.m.counts
	if s.m.over {
		return
	}
	for name, n := range map[string]int64{"pending": c.Pending, "delayed": c.Delayed, "in flight": c.InFlight, "remote": c.Remote, "storing": int64(s.m.storing), "refills": int64(s.m.refills), "searches": int64(s.m.searches), "retries": c.Retries} {
		if n < 0 {
			s.fail("%s is %d", name, n)
		}
	}
	if sum := c.Pending + c.Delayed + c.InFlight + c.Remote + c.Accepted + c.Dead + c.Cancelled + s.unacked; sum != s.total {
		s.fail("the tasks sum up to %d of %d: %+v, %d not acknowledged", sum, s.total, c, s.unacked)
	}
	s.checkSlots()
	for _, d := range s.m.front.Domains {
		if d.Stored < 0 || d.Log.Delayed < 0 {
			s.fail("%s has %d stored, %d delayed", d.Name, d.Stored, d.Log.Delayed)
		}
	}
	for who, x := range s.m.spend {
		if x.reserved < -1e-9 || x.requests < 0 {
			s.fail("spending of %q: %+v", who, *x)
		}
		if x.maxCredits > 0 && x.credits > x.maxCredits {
			s.fail("%q spent %v credits of %v", who, x.credits, x.maxCredits)
		}
	}
}

// checkSlots compares the slots of each budget with what calls, jobs and leases hold.
func (s *storm) checkSlots() {
	want, probes := map[*budget.Budget]int{}, map[*budget.Budget]int{}
	carries := func(b *budget.Budget, probe budget.Probe) {
		if b.IsProbe(probe) {
			probes[b]++
		}
	}
	held := func(x *slots) {
		for kind := kindProvider; kind < kinds; kind++ {
			if b := s.m.budgetOf(x, kind); b != nil && !(kind == kindCredential && x.background) {
				want[b]++
			}
		}
		if x.pending != nil {
			want[x.pending] += x.extra
		}
		for i := range x.places {
			want[x.places[i].domain.Budget]++
		}
	}
	for _, c := range s.m.calls {
		if c.slots.exchange {
			want[s.m.global]++
			want[s.m.ip]++
		}
		if c.slots.held {
			held(&c.slots)
		}
		for i := range c.slots.places {
			carries(c.slots.places[i].domain.Budget, c.slots.places[i].probe)
		}
		for kind := range kinds {
			carries(s.m.budgetOf(&c.slots, kind), c.slots.probe[kind])
		}
	}
	for _, j := range s.m.jobs {
		if j.slots.held || j.capped.After(s.now) {
			held(&j.slots)
		}
		for i := range j.slots.places {
			carries(j.slots.places[i].domain.Budget, j.slots.places[i].probe)
		}
	}
	s.leases = slices.DeleteFunc(s.leases, func(l slotLease) bool { return !l.until.After(s.now) })
	for i := range s.leases {
		held(&s.leases[i].slots)
	}
	look := func(b *budget.Budget) {
		if b.InFlight() != want[b] {
			s.fail("%s %q has %d slots taken, calls and jobs hold %d", b.Scope, b.Name, b.InFlight(), want[b])
		}
		if probes[b] > 1 {
			s.fail("%s %q has %d probes out", b.Scope, b.Name, probes[b])
		}
		if g := b.Gate(s.now); g.Why == budget.ProbeOut && probes[b] == 0 {
			s.fail("%s %q waits for a probe that nobody carries", b.Scope, b.Name)
		}
	}
	for _, b := range s.m.shared() {
		look(b)
	}
	for _, d := range s.m.front.Domains {
		look(d.Budget)
	}
}

// describe says what everything that waits is waiting for.
func (s *storm) describe() string {
	text := ""
	for _, l := range s.m.front.Lanes {
		text += fmt.Sprintf("tenant %q: size %d, parked %v, held %v, stop %q, gate %+v\n", l.Tenant, l.Size(), l.Parked, l.Held, l.Stop, l.Budget.Gate(s.now))
	}
	for _, d := range s.m.front.Domains {
		text += fmt.Sprintf("%s: in hand %d, stored %d, parked %v, barren %v, hungry %v, reading %v, gate %+v, wakes %v\n",
			d.Name, d.InHand, d.Stored, d.Parked, d.Barren, d.Hungry, d.Reading, d.Budget.Gate(s.now), d.WakeAt)
	}
	for _, b := range s.m.shared() {
		text += fmt.Sprintf("%s %q: %d in flight, %v, gate %+v\n", b.Scope, b.Name, b.InFlight(), b.State(s.now), b.Gate(s.now))
	}
	return text
}
