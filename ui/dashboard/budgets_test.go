package dashboard

import (
	"strings"
	"testing"
	"time"

	"dev.scrapetop/engine"
	"dev.scrapetop/engine/view"
	"dev.scrapetop/ui/screen/sample"
)

func TestPausingAKeyFromItsPane(t *testing.T) {
	d := drive(t, sample.Platform(), 120, 36)
	d.press("tab", "tab", "tab", "tab") // flight, chart, layers, cooldowns, what is left
	d.sees("▶ main")
	d.press("j")
	d.sees("▶ spare")
	d.press("p")
	want := engine.Command{Verb: engine.Pause, Scope: "credential", Key: "spare"}
	d.did(want)
	d.sees("paused credential spare")
	d.press("u")
	d.did(engine.Command{Verb: engine.Resume, Scope: "credential", Key: "spare"})

	// The selection is the name: it stays with the key when rows before it come and go.
	d.source.change(func(f *view.Frame) {
		f.Budgets = append([]view.BudgetRow{{Scope: "credential", Key: "another"}}, f.Budgets...)
	})
	d.advance(time.Second)
	d.sees("▶ spare")
	d.press("G", "j")
	d.sees("▶ provider")
	d.press("g", "k")
	d.sees("▶ another")
	d.press("c")
	d.sees("credential another is not stopped and does not cool")
}

// TestProbesOfKeysAndAccounts is the reducer's table for r and c on the pane of what is left.
func TestProbesOfKeysAndAccounts(t *testing.T) {
	toPane := []string{"tab", "tab", "tab", "tab"}
	probe := func(key string) []engine.Command {
		return []engine.Command{{Verb: engine.EndCooldown, Scope: "credential", Key: key}}
	}
	tests := []struct {
		name   string
		keys   []string
		change func(*view.Frame)
		want   []engine.Command
		sees   string
	}{
		{"r on a stopped key asks for a probe at once", []string{"j", "r"}, nil, probe("spare"), "asked for one probe of credential spare"},
		{"c on a stopped key does too", []string{"j", "c"}, nil, probe("spare"), "asked for one probe of credential spare"},
		{"r on a key that cools asks the user first", []string{"r"}, nil, nil, "End the cooldown of credential main?"},
		{"the question tells the cause", []string{"r"}, nil, nil, "Cause: Retry-After: 12"},
		{"r, Enter keeps waiting", []string{"r", "enter"}, nil, nil, "Fleet"},
		{"r, its letter ends the wait", []string{"r", "e"}, nil, probe("main"), "ending the cooldown of credential main: one probe first"},
		{"c, its letter ends the wait", []string{"c", "e"}, nil, probe("main"), "ending the cooldown of credential main: one probe first"},
		{"r on an account that works says so", []string{"j", "j", "r"}, nil, nil, "account acme-plan is not stopped and does not cool; credential spare is stopped"},
		{"r on a key that works while none is stopped", []string{"j", "j", "r"}, func(f *view.Frame) {
			f.Budgets[1].Stopped = ""
		}, nil, "account acme-plan is not stopped and does not cool "},
		{"r on a stopped key that is paused", []string{"j", "r"}, func(f *view.Frame) {
			f.Budgets[1].State = view.StatePause
		}, nil, "credential spare is paused by you: p resumes it"},
		{"r on a key whose probe is out", []string{"j", "r"}, func(f *view.Frame) {
			f.Budgets[1].Stopped = ""
		}, nil, "credential spare: one probe is the next to go or out already"},
		{"r while the run is paused", []string{"j", "r"}, func(f *view.Frame) { f.Run.State = "paused" }, nil, "the run is paused: P resumes it"},
		{"r while the run is stopping", []string{"j", "r"}, func(f *view.Frame) { f.Run.State = "draining" }, nil, "the run is stopping"},
		{"r after the run", []string{"j", "r"}, func(f *view.Frame) { f.Live = false }, nil, "no run is going"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := sample.Platform()
			if tt.change != nil {
				tt.change(f)
			}
			d := drive(t, f, 120, 36)
			d.press(toPane...)
			d.press(tt.keys...)
			d.did(tt.want...)
			d.sees(tt.sees)
		})
	}
}

func TestAProbeIsAskedForOnItsPaneOnly(t *testing.T) {
	for _, tt := range []struct {
		name  string
		frame *view.Frame
		w, h  int
		sees  string
	}{
		{"another pane", sample.Platform(), 120, 36, "a key or account is probed: Tab to Remaining"},
		{"no panes", sample.Platform(), 80, 24, "keys and accounts are chosen on panes"},
		{"no keys", sample.Normal(), 120, 36, "there is no key or account to probe"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := drive(t, tt.frame, tt.w, tt.h)
			d.seesNot("r:Probe")
			d.press("r")
			d.did()
			d.sees(tt.sees)
		})
	}
}

// TestTheFooterOffersAProbeWhereOneCanBeAskedFor: beside a key that works the word would be noise.
func TestTheFooterOffersAProbeWhereOneCanBeAskedFor(t *testing.T) {
	d := drive(t, sample.Platform(), 120, 36)
	footer := func() string { lines := d.screen(); return lines[len(lines)-1] }
	d.press("tab", "tab", "tab", "tab", "j")
	if !strings.Contains(footer(), "r:Probe") {
		t.Errorf("a stopped key is selected: %q", footer())
	}
	d.sees("r: probe")
	d.press("j")
	if strings.Contains(footer(), "r:Probe") {
		t.Errorf("an account that works is selected: %q", footer())
	}
	d.seesNot("r: probe")
}
