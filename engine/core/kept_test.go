package core

import (
	"testing"
	"time"

	"dev.scrapetop/engine/budget"
)

// TestCooldownsOfEveryScopeAreRestored: also of budgets that appear with the first submit, and a hold for refused access
// looks like one again.
func TestCooldownsOfEveryScopeAreRestored(t *testing.T) {
	m := New(batches())
	until := labStart.Add(time.Minute)
	for scope, key := range map[budget.Scope]string{
		budget.Domain: "a.test", budget.Credential: "k", budget.Account: "k", budget.IP: "p", budget.Provider: "p", budget.Pending: "k/batch",
	} {
		m.Step(labStart, CooldownKept{Scope: scope, Key: key, Until: until, Cause: accessRefused + " 5 times in a row", Layer: "target"})
		for _, b := range m.named(scope, key) {
			if g, c := b.Gate(labStart), b.Cooldown(); g.Why != budget.Cooldown || !g.At.Equal(until) || !c.Hold || c.Layer != "target" {
				t.Errorf("%s: %+v, %+v", scope, g, c)
			}
		}
		if len(m.named(scope, key)) != 1 {
			t.Errorf("%s %s is not known", scope, key)
		}
	}
}

// TestEndedCooldownIsForgotten: one that a person ended does not come back with a restart.
func TestEndedCooldownIsForgotten(t *testing.T) {
	m := New(Config{Direct: true})
	m.Step(labStart, CooldownKept{Scope: budget.Domain, Key: "a.test", Until: labStart.Add(time.Hour), Cause: "retry-after: 3600 s"})
	cleared := 0
	for _, a := range m.Step(labStart, Asked{Verb: "end cooldown", Scope: budget.Domain, Key: "a.test"}) {
		if a.Do == Cooled && a.Cool.Key == "a.test" && a.Cool.Until.IsZero() {
			cleared++
		}
	}
	if cleared != 1 {
		t.Errorf("cleared %d times", cleared)
	}
}
