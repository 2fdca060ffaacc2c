package core

import (
	"testing"
	"time"

	"dev.scrapetop/engine/budget"
	"dev.scrapetop/engine/provider"
)

// TestRefusalsAreCountedForEachBudgetThatTheCallDrewOn: a platform's refusal counts for the key, its account, the program
// and the provider; the target's likewise, since the tenant or the key may be the one that it limits. A key that was not
// used has none.
func TestRefusalsAreCountedForEachBudgetThatTheCallDrewOn(t *testing.T) {
	l := newLab(t, Config{
		Provider: "p", Facts: provider.Facts{AccountScope: "account"},
		Credentials: []CredentialLimits{{Name: "used", Account: "plan", Tenants: []string{""}}, {Name: "spare", Tenants: []string{"b"}}},
	})
	outer := refuse(time.Second, ms)
	outer.account = true
	busy := answer{outcome: provider.Busy, wait: time.Second, took: ms}
	l.list("a.test", 3, script(outer, refuse(time.Second, ms), busy, pass(ms)))
	l.run(time.Hour)
	if l.accepted != 3 {
		t.Fatalf("accepted %d", l.accepted)
	}
	total := l.m.Counts().Refused
	if total.Account == 0 || total.Target == 0 || total.Busy == 0 {
		t.Fatalf("refused %+v: nothing to compare with", total)
	}
	got := map[budget.Scope]map[string]Shared{}
	for _, s := range l.m.Shared() {
		if got[s.Scope] == nil {
			got[s.Scope] = map[string]Shared{}
		}
		got[s.Scope][s.Key] = s
	}
	for _, b := range []Shared{got[budget.Credential]["used"], got[budget.Account]["plan"], got[budget.Provider]["p"], got[budget.IP]["p"], got[budget.Global][""]} {
		if b.Refused != total {
			t.Errorf("%s %q counts %+v of %+v", b.Scope, b.Key, b.Refused, total)
		}
	}
	for _, b := range []Shared{got[budget.Credential]["spare"], got[budget.Account]["spare"]} {
		if b.Refused != (Refused{}) || b.Budget == nil {
			t.Errorf("the key that was not used: %+v", b)
		}
	}
	if used, spare := got[budget.Credential]["used"].Account, got[budget.Credential]["spare"].Account; used != "plan" || spare != "spare" {
		t.Errorf("accounts %q and %q", used, spare)
	}
}
