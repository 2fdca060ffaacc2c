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
	d.sees("▶ spare")
	d.press("j")
	d.sees("▶ main")
	d.press("p")
	want := engine.Command{Verb: engine.Pause, Scope: "credential", Key: "main"}
	d.did(want)
	d.sees("paused credential main")
	d.press("u")
	d.did(engine.Command{Verb: engine.Resume, Scope: "credential", Key: "main"})

	// The selection is the name: it stays with the key when rows before it come and go.
	d.source.change(func(f *view.Frame) {
		f.Budgets = append([]view.BudgetRow{{Scope: "credential", Key: "another", Stopped: "auth: 403"}}, f.Budgets...)
	})
	d.advance(time.Second)
	d.sees("▶ main")
	d.press("G", "j")
	d.sees("▶ tenant")
	d.press("g", "k")
	d.sees("▶ another")
	d.press("c")
	d.did(engine.Command{Verb: engine.EndCooldown, Scope: "credential", Key: "another"})
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
		{"r on a stopped key asks for a probe at once", []string{"r"}, nil, probe("spare"), "asked for one probe of credential spare"},
		{"c on a stopped key does too", []string{"c"}, nil, probe("spare"), "asked for one probe of credential spare"},
		{"r on a key that cools asks the user first", []string{"j", "r"}, nil, nil, "End the cooldown of credential main?"},
		{"the question tells the cause", []string{"j", "r"}, nil, nil, "Cause: Retry-After: 12"},
		{"r, Enter keeps waiting", []string{"j", "r", "enter"}, nil, nil, "Fleet"},
		{"r, its letter ends the wait", []string{"j", "r", "e"}, nil, probe("main"), "ending the cooldown of credential main: one probe first"},
		{"c, its letter ends the wait", []string{"j", "c", "e"}, nil, probe("main"), "ending the cooldown of credential main: one probe first"},
		{"r on an account that works says so", []string{"j", "j", "r"}, nil, nil, "account acme-plan is not stopped and does not cool; credential spare is stopped"},
		{"r on a key that works while none is stopped", []string{"j", "j", "r"}, func(f *view.Frame) {
			f.Budgets[1].Stopped = ""
		}, nil, "account acme-plan is not stopped and does not cool "},
		{"r on a stopped key that is paused", []string{"r"}, func(f *view.Frame) {
			f.Budgets[1].State = view.StatePause
		}, nil, "credential spare is paused by you: p resumes it"},
		{"r on a key whose probe is out", []string{"j", "r"}, func(f *view.Frame) {
			f.Budgets[1].Stopped = ""
		}, nil, "credential spare: one probe is the next to go or out already"},
		{"r while the run is paused", []string{"r"}, func(f *view.Frame) { f.Run.State = "paused" }, nil, "the run is paused: P resumes it"},
		{"r while the run is stopping", []string{"r"}, func(f *view.Frame) { f.Run.State = "draining" }, nil, "the run is stopping"},
		{"r after the run", []string{"r"}, func(f *view.Frame) { f.Live = false }, nil, "no run is going"},
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
		{"another pane", sample.Platform(), 120, 36, "a key or account is probed where it is chosen: B shows them"},
		{"no panes", sample.Platform(), 80, 24, "a key or account is probed where it is chosen: B shows them"},
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
	d.press("tab", "tab", "tab", "tab")
	if !strings.Contains(footer(), "r:Probe") {
		t.Errorf("a stopped key is selected: %q", footer())
	}
	d.sees("r: probe")
	d.press("j", "j")
	if strings.Contains(footer(), "r:Probe") {
		t.Errorf("an account that works is selected: %q", footer())
	}
	d.seesNot("r: probe")
}

// TestBudgetsOfEveryScopeAtEverySize is how a terminal without panes comes to keys and accounts: B shows them, p and r act on
// the row under the cursor with the same acts as on the Overview.
func TestBudgetsOfEveryScopeAtEverySize(t *testing.T) {
	cmd := func(verb engine.Verb, scope, key string) engine.Command {
		return engine.Command{Verb: verb, Scope: scope, Key: key}
	}
	tests := []struct {
		name string
		keys []string
		want []engine.Command
		sees []string
	}{
		{"from the Overview to the keys", []string{"B"}, nil, []string{"credential (B)", "▶  × BLOCK night"}},
		{"from the domains to the keys", []string{"2", "B"}, nil, []string{"credential (B)"}},
		{"the second is the accounts", []string{"B", "B"}, nil, []string{"account (B)", "night-p"}},
		{"then the tenants", []string{"B", "B", "B"}, nil, []string{"tenant (B)", "▶  ● RUN   acme"}},
		{"then what is the platform's", []string{"B", "B", "B", "B"}, nil, []string{"platform (B)", "ip spidra"}},
		{"and the domains again", []string{"B", "B", "B", "B", "B"}, nil, []string{"domain (B)", "forum-c"}},
		{"each scope keeps its row", []string{"B", "j", "B", "j", "B", "B", "B", "B"}, nil, []string{"▶  × BLOCK old"}},
		{"p pauses a key", []string{"B", "j", "j", "p"}, []engine.Command{cmd(engine.Pause, "credential", "main")}, []string{"paused credential main"}},
		{"p resumes a paused one", []string{"B", "G", "p"}, []engine.Command{cmd(engine.Resume, "credential", "spare")}, []string{"resumed credential spare"}},
		{"r on a stopped key", []string{"B", "j", "r"}, []engine.Command{cmd(engine.EndCooldown, "credential", "old")}, []string{"asked for one probe of"}},
		{"r on a key of a stopped account asks for the account", []string{"B", "r"}, []engine.Command{cmd(engine.EndCooldown, "account", "night-plan")}, []string{"asked for one probe of account"}},
		{"a key of a stopped account says so", []string{"B"}, nil, []string{"account night-plan is stopped"}},
		{"r on an account", []string{"B", "B", "r"}, []engine.Command{cmd(engine.EndCooldown, "account", "night-plan")}, []string{"asked for one probe of account"}},
		{"c on a window that cools asks first", []string{"B", "B", "B", "B", "c"}, nil, []string{"End the cooldown of ip spidra?"}},
		{"and ends it", []string{"B", "B", "B", "B", "c", "e"}, []engine.Command{cmd(engine.EndCooldown, "ip", "spidra")}, nil},
		{"p on the program is the run's pause", []string{"B", "B", "B", "B", "j", "p"}, []engine.Command{{Verb: engine.PauseRun}}, nil},
		{"a key of the domains says where it works", []string{"B", "["}, nil, []string{"[ (limit down) is for domains: 2, then B"}},
		{"y copies the key's name", []string{"B", "y"}, nil, []string{"copied night"}},
	}
	for _, size := range [][2]int{{120, 36}, {80, 24}, {40, 10}} {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				d := drive(t, sample.Keys(), size[0], size[1])
				d.press(tt.keys...)
				d.did(tt.want...)
				for _, s := range tt.sees {
					if size[0] < 80 { // a line holds the beginning
						s = s[:min(len(s), 16)]
					}
					d.sees(s)
				}
			})
		}
	}
}

func TestBudgetsThatAreNotThere(t *testing.T) {
	d := drive(t, sample.Normal(), 80, 24)
	d.press("B")
	d.sees("a direct run has no keys")
	d.press("j", "G", "p", "u", "r", "c", "y", "|", "|")
	d.did()
	d.press("p")
	d.sees("no credential is told")
	d.press("B", "B")
	d.sees("no task names a tenant")
	d.press("p")
	d.sees("no tenant is told")
}

// TestARowThatNobodyChoseStaysSelected: what comes to the top of the list must not be what the next key acts on.
func TestARowThatNobodyChoseStaysSelected(t *testing.T) {
	d := drive(t, sample.Keys(), 80, 24)
	d.press("B")
	d.sees("▶  × BLOCK night")
	d.source.change(func(f *view.Frame) {
		f.Budgets = append([]view.BudgetRow{{Scope: "credential", Key: "above", Stopped: "auth: 401"}}, f.Budgets...)
	})
	d.advance(time.Second)
	d.press("p")
	d.did(engine.Command{Verb: engine.Pause, Scope: "credential", Key: "night"})
}

func TestEnterOnAKeyShowsItAmongTheOthers(t *testing.T) {
	d := drive(t, sample.Keys(), 120, 36)
	d.press("tab", "tab", "tab", "tab", "enter")
	d.sees("Budgets: credential")
	d.sees("▶  × BLOCK night")
	d.press("1", "enter")
	d.sees("Domains")
}
