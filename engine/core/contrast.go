package core

import (
	"fmt"
	"time"

	"dev.scrapetop/engine/budget"
	"dev.scrapetop/engine/provider"
)

// A refusal by a target is blamed on its domain. Whether it is in truth about whoever asks (our address, a platform's key)
// the answer seldom says; the contrast does: several domains refuse within a moment and none lets anything through.

const (
	// contrastSpan is how close together refusals must lie to speak of one cause, contrastLeast how long nothing must have
	// been let through: refusals come back faster than pages.
	contrastSpan  = 10 * time.Second
	contrastLeast = time.Second
	// contrastDomains is how many domains must refuse: two may be a coincidence.
	contrastDomains = 3
)

// contrast is what was seen lately across the domains behind one key.
type contrast struct {
	domains [contrastDomains]string
	since   time.Time // the first refused call of them was sent
	blamed  bool      // the key is held for it
}

// refused notes a refusal by a target of a call sent at a time. It reports that so many domains refused and none accepted
// that the key is to blame.
func (c *contrast) refused(now, sent time.Time, domain string) bool {
	if c.domains[0] == "" || now.Sub(c.since) > contrastSpan {
		*c = contrast{since: sent, blamed: c.blamed}
	}
	for i, seen := range c.domains {
		if seen == domain {
			break
		}
		if seen == "" {
			c.domains[i] = domain
			break
		}
	}
	return c.domains[contrastDomains-1] != "" && now.Sub(c.since) >= contrastLeast
}

// accepted notes that a domain let through a call. It reports that this takes the blame back.
func (c *contrast) accepted(sent time.Time) (correct bool) {
	if sent.Before(c.since) {
		return false // from before the refusals
	}
	correct = c.blamed
	*c = contrast{}
	return correct
}

// asker is the budget that stands for whoever asks: the credential, or with direct our address.
func (m *Machine) asker(s *slots) (*contrast, *budget.Budget) {
	if s.cred != nil {
		return &s.cred.contrast, s.cred.budget
	}
	return &m.contrast, m.provider
}

// contrastRefused looks whether a target's refusal is one of many at once.
func (m *Machine) contrastRefused(now time.Time, s *slots, domain string) {
	c, key := m.asker(s)
	if !c.refused(now, s.sent, domain) || key.State(now) != budget.Open || key.IsPaused() {
		return
	}
	c.blamed = true
	wait := budget.Wait(2, m.rng)
	cause := fmt.Sprintf("%d domains refuse and none lets anything through: it seems to be about who asks", contrastDomains)
	key.HoldUntil(now, now.Add(wait), cause, string(provider.LayerTarget), false)
	m.counts.Cooldowns++
	m.tell("warn", key.Scope, key.Name, cause+"; one probe in "+seconds(wait.Round(100*time.Millisecond)), 0)
	m.do(Action{Do: Cooled, Cool: CoolChange{Scope: key.Scope, Key: key.Name, Until: now.Add(wait), Full: wait, Cause: cause, Source: string(provider.LayerTarget)}})
}

// refusedByTarget reports that a target refused, itself or inside a platform's good answer.
func (m *Machine) refusedByTarget(r *provider.Reply) bool {
	if r.Layer == provider.LayerTarget && refuses(r.Outcome) {
		return true
	}
	for i := range r.Items {
		if r.Items[i].Layer == provider.LayerTarget && refuses(r.Items[i].Outcome) {
			return true
		}
	}
	return false
}

// probeFailed lets another probe of a key follow after a longer backoff.
func (m *Machine) probeFailed(now time.Time, key *budget.Budget, s *slots) {
	kind := kindProvider
	if s.cred != nil {
		kind = kindCredential
	}
	key.ProbeLost(now, s.probe[kind], m.farthest(key), m.rng)
}

// contrastAccepted takes a blame back when a domain lets something through while others refuse.
func (m *Machine) contrastAccepted(now time.Time, s *slots) {
	c, key := m.asker(s)
	if !c.accepted(s.sent) || key.State(now) != budget.Cooling {
		return
	}
	key.EndCooldown(now)
	m.do(Action{Do: Cooled, Cool: CoolChange{Scope: key.Scope, Key: key.Name}})
	m.tell("info", key.Scope, key.Name, "a domain lets work through: the refusals were the domains' own after all", 0)
	m.unparkLanes()
}
