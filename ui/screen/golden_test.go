package screen

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dev.scrapetop/engine/view"
	"dev.scrapetop/ui/keys"
	"dev.scrapetop/ui/screen/sample"
)

var update = flag.Bool("update", false, "write the golden frames anew")

// TestGoldenFrames compares whole screens as text. Colour repeats what is there and has its own tests.
func TestGoldenFrames(t *testing.T) {
	look := looks(t)["mono"]
	platform := func(p *Picture) {
		f := sample.Platform()
		f.Detail = sample.Detail("forum-c.example")
		p.Data, p.List.Selected = Take(f), "forum-c.example"
	}
	for _, c := range []struct {
		name    string
		tab     Tab
		prepare func(*Picture)
	}{
		{"overview", Overview, func(*Picture) {}},
		{"overview-platform", Overview, platform},
		{"overview-key", Overview, func(p *Picture) {
			platform(p)
			p.List.Pane, p.List.Budget = paneCapacity, BudgetID{"credential", "spare"}
		}},
		{"overview-keys", Overview, func(p *Picture) { p.Data = Take(sample.Keys()) }},
		{"domains", Budgets, pictures()["detail"]},
		{"keys", Budgets, func(p *Picture) {
			pictures()["keys"](p)
			p.List.Budget = BudgetID{"credential", "night"}
		}},
		{"platform", Budgets, func(p *Picture) {
			p.Data, p.List.Scope = Take(sample.Keys()), scopePlatform
		}},
		{"diagnosis", Overview, func(p *Picture) {
			f := sample.Keys()
			f.Detail = sample.Detail("jobs-d.example")
			p.Data = Take(f)
			p.Over = p.Diagnosis(0)
		}},
		{"fine", Overview, func(p *Picture) {
			f := sample.Normal()
			f.States, f.Cooldowns, f.Evidence = map[view.State]int{view.StateRun: 10}, nil, &view.Evidence{}
			for i := range f.Layers {
				f.Layers[i].Recent = 0
			}
			p.Data = Take(f)
			p.Over = p.Diagnosis(0)
		}},
		{"tasks", Tasks, pictures()["a task"]},
		{"task", Tasks, pictures()["all of a task"]},
		{"letters", Letters, pictures()["letters"]},
		{"letter", Letters, pictures()["a letter"]},
		{"requeue", Letters, pictures()["requeue?"]},
		{"events", Events, pictures()["events"]},
		{"event", Events, pictures()["an event"]},
		{"history", History, pictures()["runs, tagged"]},
		{"versus", History, func(p *Picture) {
			pictures()["versus"](p)
			p.Browse.Line = 0
		}},
		{"results", Results, pictures()["results"]},
		{"result", Page, pictures()["page"]},
		{"bytes", Page, pictures()["bytes"]},
		{"export", History, pictures()["export"]},
		{"exporting", History, pictures()["exporting"]},
		{"adding", Overview, pictures()["adding"]},
		{"resume", History, func(p *Picture) {
			runs(p)
			pictures()["resume?"](p)
		}},
		{"help", Budgets, func(p *Picture) { p.Over = &Help{Keys: keys.Default(), Mode: keys.Domains} }},
		{"palette", Budgets, func(p *Picture) { p.Over = samplePalette() }},
		{"stopped", Overview, pictures()["stopped"]},
		{"norun", Overview, pictures()["empty"]},
		{"first", Overview, pictures()["first run"]},
	} {
		for _, size := range [][2]int{{120, 36}, {80, 24}, {40, 10}} {
			if c.name == "overview-key" && ClassOf(size[0], size[1]) < Full {
				continue // there are no panes to choose a key on
			}
			name := fmt.Sprintf("%s-%dx%d.txt", c.name, size[0], size[1])
			t.Run(name, func(t *testing.T) {
				p := newPicture(look, c.tab, size[0], size[1])
				c.prepare(p)
				mode := keys.Overview
				if c.tab == Budgets {
					mode = keys.Domains
				}
				switch {
				case p.List.Shared(c.tab):
					mode = keys.Shared
				case c.tab == Tasks:
					mode = keys.Tasks
				case c.tab == Letters:
					mode = keys.Letters
				case c.tab == Events:
					mode = keys.Events
				case c.tab >= History:
					mode = []keys.Mode{keys.History, keys.Results, keys.Page}[c.tab-History]
				}
				switch p.Over.(type) {
				case *Help:
					mode = keys.HelpMode
				case *Question:
					mode = keys.Dialog
				case *AddForm:
					mode = keys.Adding
				case *ExportForm:
					mode = keys.Exporting
				case *diagnosis:
					mode = keys.Diagnosed
				}
				p.Footer = func(w int) string { return Footer(look, keys.Default(), mode, w, p.probeOnly) }
				got := strings.Join(p.Draw(), "\n") + "\n"
				file := filepath.Join("testdata", name)
				if *update {
					if err := os.MkdirAll("testdata", 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if got != string(want) {
					t.Errorf("the screen changed; -update writes it anew when that is meant\n%s", difference(string(want), got))
				}
			})
		}
	}
}

// probeOnly disables the probe where none can be asked for and the requeueing of a task that is not dead, as the dashboard does,
// and nothing else.
func (p *Picture) probeOnly(action keys.Action) string {
	if action == keys.Requeue && p.Tab == Tasks {
		return "not dead"
	}
	if action != keys.Probe {
		return ""
	}
	if !p.List.OnBudgets(p.Data, p.Tab) {
		return "elsewhere"
	}
	act, _ := p.ProbeBudget()
	return act.Why
}

// difference are the lines that differ.
func difference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	var out strings.Builder
	for i := range max(len(a), len(b)) {
		var x, y string
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x != y {
			fmt.Fprintf(&out, "line %d\n- %s\n+ %s\n", i+1, x, y)
		}
	}
	return out.String()
}
