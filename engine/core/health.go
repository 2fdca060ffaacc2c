package core

import (
	"time"

	"dev.scrapetop/engine/budget"
	"dev.scrapetop/engine/provider"
)

// healthWait is how long work waits for the answer to the question for a credential's free slots.
const healthWait = 5 * time.Second

// unasked reports that a credential's work waits for what the platform says of its free slots. The first work of a
// credential asks: one refusal would cost it a minute. Where requests are capped they are for work alone.
func (m *Machine) unasked(now time.Time, c *credential) (g budget.Gate, wait bool) {
	if !m.cfg.Facts.FreeSlots || m.capsRequests {
		return g, false
	}
	if c.askUntil.IsZero() {
		if g := m.exchangeGate(now); !g.OK {
			return g, true
		}
		c.askUntil = now.Add(healthWait)
		m.askHealth(now, c)
	}
	return budget.Gate{Why: budget.Slots, At: c.askUntil}, c.asking && now.Before(c.askUntil)
}

func (m *Machine) askHealth(now time.Time, cr *credential) {
	cr.asking = true
	c := m.newCall()
	c.Kind, c.For = provider.Lookup, provider.Lookup
	c.health = true
	c.Credential = cr.name
	c.Sent = now
	c.Number = 1
	c.slots = slots{sent: now, exchange: true, cred: cr}
	m.take(now, &c.slots, kindGlobal, kindIP)
	m.sent(c)
	m.do(Action{Do: Send, Call: c})
}

// healthReplied takes what the platform says of a credential. An answer that says nothing holds nobody up: the first work
// will find out.
func (m *Machine) healthReplied(now time.Time, c *Call, r *provider.Reply) {
	s := &c.slots
	m.endExchange(s)
	s.cred.asking = false
	m.counts.Attempts++
	m.readCapacity(now, s, r)
	var blamed *budget.Budget
	switch r.Outcome {
	case provider.Accepted:
		s.cred.budget.Told()
	case provider.Denied, provider.Limited, provider.Busy:
		blamed, _ = m.blame(now, c, r)
	}
	m.conclude(now, s, kindGlobal, kindIP, answered(r.Outcome) || r.Outcome == provider.Denied, blamed)
}
