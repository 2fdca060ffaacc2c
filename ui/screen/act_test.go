package screen

import (
	"testing"

	"dev.scrapetop/engine"
	"dev.scrapetop/engine/view"
	"dev.scrapetop/ui/screen/sample"
)

func TestATaggedRowOutOfSightIsJudgedByWhatWasLastSeen(t *testing.T) {
	d := Take(sample.Normal())
	l := &List{Tags: map[string]view.DomainRow{
		"gone.example":   {Domain: "gone.example", State: view.StatePause},
		"maps-f.example": {},
	}}
	a := l.Pause(d)
	if len(a.Do) != 2 || a.Do[0].Verb != engine.Resume || a.Do[0].Key != "gone.example" || a.Text != "resumed 2 domains" {
		t.Errorf("%+v", a)
	}
}

func TestACommandCarriesTheNameAsTheEngineKnowsIt(t *testing.T) {
	f := sample.Normal()
	f.Domains.Rows[0].Domain = "\x1b[2Jevil.example"
	d := Take(f)
	l := &List{Selected: d.Names[0]}
	a := l.Pause(d)
	if len(a.Do) != 1 || a.Do[0].Key != "\x1b[2Jevil.example" || a.Text != "paused evil.example" {
		t.Errorf("%+v", a)
	}
	if d.Frame.Domains.Rows[0].Domain != "evil.example" {
		t.Errorf("%q is drawn", d.Frame.Domains.Rows[0].Domain)
	}
}

func TestTakeChangesNothingOfTheFrame(t *testing.T) {
	f := sample.Hostile()
	Take(f)
	want := sample.Hostile()
	for i := range want.Events {
		if f.Events[i] != want.Events[i] {
			t.Fatalf("event %d of the engine's frame was changed", i)
		}
	}
	if f.Domains.Rows[0].Cause != want.Domains.Rows[0].Cause || f.Alerts[0] != want.Alerts[0] || f.Layers[0].Layer != want.Layers[0].Layer {
		t.Fatal("a row of the engine's frame was changed")
	}
}

func TestLimitsWhereThereAreNone(t *testing.T) {
	d := Take(sample.Normal())
	d.Frame.Domains.Rows[9].InFlight = 7 // docs-i.example has no limit
	l := &List{Selected: "docs-i.example"}
	if a := l.Limit(d, 1, nil, nil); a.Why != "docs-i.example has no limit to raise" {
		t.Errorf("%+v", a)
	}
	if a := l.Limit(d, -1, nil, nil); len(a.Do) != 1 || a.Do[0].Limit != 6 || a.Undo[0].Limit != 0 {
		t.Errorf("%+v", a)
	}
	if a := (&List{}).Limit(d, 1, nil, nil); a.Why != noTarget {
		t.Errorf("%+v", a)
	}
}
