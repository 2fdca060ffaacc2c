package screen

import (
	"strings"
	"testing"

	"dev.scrapetop/engine"
	"dev.scrapetop/engine/view"
	"dev.scrapetop/ui/screen/sample"
)

func TestAProbeIsAskedOfTheBudgetAsTheEngineNamesIt(t *testing.T) {
	f := sample.Platform()
	f.Budgets = []view.BudgetRow{{Scope: "credential", Key: "\x1b[2Jmain", State: view.StateBlock, Stopped: "quota: spent"}}
	d := Take(f)
	p := &Picture{Data: d, List: &List{Budget: d.Budgets[0]}, Now: sample.Now}
	act, question := p.ProbeBudget()
	want := engine.Command{Verb: engine.EndCooldown, Scope: "credential", Key: "\x1b[2Jmain"}
	if question != nil || act.Why != "" || len(act.Do) != 1 || act.Do[0] != want {
		t.Errorf("%+v, question %+v", act, question)
	}
	if act.Text != "asked for one probe of credential main; its answer reopens it or stops it again" {
		t.Errorf("%q is said", act.Text)
	}
}

func TestAProbeOfNothing(t *testing.T) {
	p := &Picture{Data: Take(sample.Normal()), List: &List{}, Now: sample.Now}
	if act, question := p.ProbeBudget(); act.Why == "" || len(act.Do) > 0 || question != nil {
		t.Errorf("%+v, question %+v", act, question)
	}
}

// TestKeysAreOrderedByWhatHoldsTheirAccounts, wherever the accounts stood before they were put in order themselves.
func TestKeysAreOrderedByWhatHoldsTheirAccounts(t *testing.T) {
	f := sample.Normal()
	f.Budgets = nil
	for i := range 12 {
		n := string(rune('a' + i))
		account := view.BudgetRow{Scope: "account", Key: "account-" + n, State: view.StateRun}
		if i%3 == 2 {
			account.Stopped = "quota: spent"
		}
		f.Budgets = append(f.Budgets, account, view.BudgetRow{Scope: "credential", Key: "key-" + n, Account: account.Key, State: view.StateRun})
	}
	d := Take(f)
	var got []string
	for _, i := range (&List{Scope: scopeCredential}).Budgets(d, Budgets) {
		got = append(got, d.Budgets[i].Key)
	}
	want := "key-c key-f key-i key-l key-a key-b key-d key-e key-g key-h key-j key-k"
	if strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
	if by := d.holder(&d.Frame.Budgets[0]); by.Key != "account-c" || by.Stopped == "" {
		t.Errorf("key-c is held by %+v", by)
	}
}
