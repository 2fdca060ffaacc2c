package screen

import (
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
