package screen

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"dev.scrapetop/engine/view"
	"dev.scrapetop/storage"
	"dev.scrapetop/themes"
	"dev.scrapetop/ui/keys"
	"dev.scrapetop/ui/screen/sample"
	"dev.scrapetop/ui/widget"
)

// looks are the ways in which a screen is drawn.
func looks(t testing.TB) map[string]*widget.Look {
	t.Helper()
	load := func(name string, profile themes.Profile) themes.Palette {
		theme, err := themes.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		return theme.Palette(profile)
	}
	return map[string]*widget.Look{
		"dark":  widget.NewLook(load("dark", themes.TrueColor), false),
		"light": widget.NewLook(load("light", themes.ANSI256), false),
		"mono":  widget.NewLook(load("dark", themes.NoColor), false),
		"ascii": widget.NewLook(load("dark", themes.ANSI16), true),
	}
}

// pictures are the states that a screen must stand.
func pictures() map[string]func(*Picture) {
	frame := func(f func() *view.Frame) func(*Picture) { return func(p *Picture) { p.Data = Take(f()) } }
	return map[string]func(*Picture){
		"empty": func(p *Picture) { frame(sample.Empty)(p); p.Runs = "6" },
		"nil":   func(p *Picture) { p.Data = Take(nil) },
		"first run": func(p *Picture) {
			frame(sample.Empty)(p)
			p.Starts, p.Runs = [2]string{"a", "d"}, "6"
		},
		"starting": frame(sample.Starting),
		"normal":   frame(sample.Normal),
		"platform": frame(sample.Platform),
		"huge":     frame(sample.Huge),
		"hostile": func(p *Picture) {
			p.Data = Take(sample.Hostile())
			p.List.Selected = p.Data.Names[3]
		},
		"stopped": frame(sample.Stopped),
		"frozen": func(p *Picture) {
			p.Frozen, p.FrozenFor = sample.Now, 12*time.Second
		},
		"detail": func(p *Picture) {
			f := sample.Platform()
			f.Detail = sample.Detail("forum-c.example")
			p.Data, p.List.Selected = Take(f), "forum-c.example"
			p.List.Tags = map[string]view.DomainRow{"forum-c.example": {}, "shop-a.example": {}}
			p.Wishes = map[string]string{"forum-c.example": "resuming...", "": "pausing the run..."}
		},
		"keys": func(p *Picture) {
			p.Data, p.List.Scope = Take(sample.Keys()), scopeCredential
		},
		"platform's": func(p *Picture) {
			p.Data, p.List.Scope = Take(sample.Keys()), scopePlatform
			p.List.NoDetail = true
		},
		"no tenants": func(p *Picture) { p.List.Scope = scopeTenant },
		"huge keys": func(p *Picture) {
			p.Data, p.List.Scope = Take(sample.Huge()), scopeCredential
		},
		"hostile budgets": func(p *Picture) {
			p.Data, p.List.Scope = Take(sample.Hostile()), scopePlatform
		},
		"diagnosis": func(p *Picture) {
			p.Data = Take(sample.Keys())
			p.Over = p.Diagnosis(3)
		},
		"diagnosis of nothing": func(p *Picture) {
			p.Data = Take(sample.Empty())
			p.Over = p.Diagnosis(1000)
		},
		"diagnosis of huge numbers": func(p *Picture) {
			p.Data = Take(sample.Huge())
			p.Over = p.Diagnosis(0)
		},
		"diagnosis of hostile texts": func(p *Picture) {
			p.Data = Take(sample.Hostile())
			p.Over = p.Diagnosis(p.DiagnosisEnd())
		},
		"wide, shifted": func(p *Picture) { p.List.Wide, p.List.Shift = true, 4 },
		"no detail":     func(p *Picture) { p.List.NoDetail = true },
		"zoomed":        func(p *Picture) { p.List.Zoomed, p.List.Pane = true, 2 },
		"nothing matches": func(p *Picture) {
			f := sample.Normal()
			f.Domains.Rows, f.Domains.Matched = nil, 0
			p.Data, p.List.Filter, p.List.Faults = Take(f), "/nope[/", true
		},
		"help": func(p *Picture) {
			p.Over = &Help{Keys: keys.Default(), Mode: keys.Domains, Cursor: 7, Disabled: func(a keys.Action) string {
				if a == keys.Undo {
					return "nothing to undo"
				}
				return ""
			}}
		},
		"palette":     func(p *Picture) { p.Over = samplePalette() },
		"help search": func(p *Picture) { p.Over = &Help{Keys: keys.Default(), Mode: keys.Overview, Query: "stop"} },
		"dialog": func(p *Picture) {
			p.Over = &Question{widget.Dialog{Title: "Quit?", Lines: []string{"31 in flight."}, Buttons: []string{"Stay", "Drain", "Stop now"}}}
		},
		"choice": func(p *Picture) {
			p.Over = &Choice{Title: "Sort by", Items: []string{"attention", "domain"}, Cursor: 1}
		},
		"no alert": func(p *Picture) { p.Over = &Choice{Title: "Alerts", Empty: "none"} },
		"prompt": func(p *Picture) {
			p.Message = Message{Prompt: true, Text: "filter:", Input: strings.Repeat("日本", 60)}
		},
		"a task":        func(p *Picture) { p.Browse.Picks[Tasks].ID = 90_177 },
		"all of a task": func(p *Picture) { p.Browse.Picks[Tasks].ID, p.Browse.Open = 90_177, true },
		"hostile rows": func(p *Picture) {
			tasks, attempts := sample.HostileTasks()
			p.Shown = rowsOf(tasks, attempts, tasks[2].ID)
			p.Browse.Picks[Tasks].ID, p.Browse.Texts[Tasks] = tasks[2].ID, "日本"
		},
		"many attempts": func(p *Picture) {
			attempts := slices.Repeat(sample.Attempts(), 20)
			p.Shown = rowsOf(sample.Tasks(), attempts, 90_177)
			p.Browse.Picks[Tasks].ID, p.Browse.Open = 90_177, true
		},
		"letters": deadLetters,
		"a letter": func(p *Picture) {
			p.Browse.Letters, p.Browse.Picks[Letters].ID = true, 88_675
			p.Browse.Tags[Letters] = map[int64]storage.TaskState{88_600: storage.TaskDead, 88_675: storage.TaskDead}
			deadLetters(p)
		},
		"letters by domain": func(p *Picture) {
			deadLetters(p)
			p.Browse.ByDomain, p.List.NoDetail = true, true
		},
		"hostile letters": func(p *Picture) {
			tasks, attempts := sample.HostileTasks()
			p.Shown = TakeRows(Rows{
				Tasks: storage.Rows[storage.TaskRow]{Rows: tasks}, Attempts: attempts, Chosen: tasks[0].ID, Group: "\x1b[2J",
				Groups: []storage.DeadGroup{{Key: "\x1b[2J", Tasks: math.MaxInt64, Others: math.MaxInt64}, {Key: "日本語"}},
			})
		},
		"requeue?": func(p *Picture) {
			deadLetters(p)
			p.Over = p.RequeueQuestion()
		},
		"events": func(p *Picture) {
			p.Shown = TakeRows(Rows{Events: storage.Rows[storage.Event]{Rows: sample.Log(), First: true, Last: true}})
			p.Browse.Follow()
		},
		"an event": func(p *Picture) {
			p.Shown = TakeRows(Rows{Events: storage.Rows[storage.Event]{Rows: sample.Log(), First: true, Last: true}})
			p.Browse.Picks[Events].ID, p.Browse.Since, p.Browse.Texts[Events] = 41_060, 41_060, "a"
		},
		"hostile events": func(p *Picture) {
			rows := sample.Log()
			for i := range rows {
				rows[i].Key, rows[i].Text, rows[i].Level, rows[i].Scope = "\x1b[2J日本", "\u202e\x9b6n\x00\r\n"+strings.Repeat("日本語", 200), "\x1b]0;x\x07", "\xff"
			}
			p.Shown = TakeRows(Rows{Events: storage.Rows[storage.Event]{Rows: rows}})
		},
		"runs":         func(p *Picture) { runs(p, 0) },
		"runs, tagged": func(p *Picture) { runs(p, 181, 183) },
		"versus": func(p *Picture) {
			runs(p, 181, 183)
			p.Browse.Open, p.Browse.Line = true, 3
		},
		"one run": func(p *Picture) {
			p.Shown = TakeRows(Rows{Runs: storage.Rows[storage.Run]{Rows: sample.Runs()[4:5], First: true, Last: true}, Run: 180})
			p.Browse.Texts[History] = "fail"
		},
		"hostile runs": func(p *Picture) {
			list := sample.HostileRuns()
			p.Shown = TakeRows(Rows{
				Runs: storage.Rows[storage.Run]{Rows: list}, Versus: []Measured{{Run: list[0], P95: math.MaxInt64}, {Run: list[1]}}, Alike: list, Run: 184,
				Results: storage.Rows[storage.ResultRow]{Rows: []storage.ResultRow{{URL: "\x1b[2J", Fields: "\x1b]0;x\x07", Domain: "日本", ContentType: "\xff"}}}, Bytes: math.MaxInt64,
			})
			p.Looking, p.Data = true, Take(PastFrame(&list[0]))
		},
		"results": results,
		"page":    func(p *Picture) { page(p, sample.Page(), 0) },
		"page, further": func(p *Picture) {
			page(p, sample.Page(), 900)
			p.List.NoDetail = true
		},
		"bytes":   func(p *Picture) { page(p, sample.Binary(), 0) },
		"no page": func(p *Picture) { p.Shown = TakeRows(Rows{}) },
		"export":  func(p *Picture) { runs(p, 0); p.Over = exportForm(FieldPath) },
		"adding": func(p *Picture) {
			p.Over = &AddForm{Before: strings.Repeat("https://shop-a.example/item/", 9), Behind: "?page=2", Fault: "urls.txt: no such file or directory, INPUT is a file, - or a URL with http:// or https://"}
		},
		"export's columns": func(p *Picture) {
			f := exportForm(FieldColumns)
			f.Choosing, f.Column = true, 12
			p.Over = f
		},
		"exporting": func(p *Picture) {
			f := exportForm(FieldExport)
			f.Writing, f.Rows, f.Bytes, f.Fault = true, 30_668, 5_400_000, "no space left on device"
			p.Over = f
		},
		"replace?":                 func(p *Picture) { p.Over = ReplaceQuestion("catalog-183-results.jsonl") },
		"again?":                   func(p *Picture) { p.Over = AgainQuestion(&sample.Runs()[1]) },
		"resume?":                  func(p *Picture) { p.Over = AgainQuestion(&sample.Runs()[5]) },
		"rows not read":            func(p *Picture) { p.Shown = nil },
		"rows that cannot be read": func(p *Picture) { p.Shown, p.Browse.Fault = nil, "disk I/O error" },
		"no rows": func(p *Picture) {
			p.Shown, p.Browse.State, p.Browse.Domain = &Rows{}, storage.TaskDelayed, "shop-a.example"
		},
		"undo": func(p *Picture) { p.Message = Message{Text: "paused shop-a.example", Undo: 7, UndoOf: 10} },
	}
}

// runs is an answer about runs, the second under the cursor, with these ones tagged.
func runs(p *Picture, tagged ...int64) {
	list := sample.Runs()
	for _, id := range tagged {
		if id > 0 {
			p.Browse.Runs = append(p.Browse.Runs, id)
		}
	}
	p.Browse.Picks[History].ID = storage.NewestFirst(183)
	p.Shown = TakeRows(Rows{
		Runs: storage.Rows[storage.Run]{Rows: list, First: true, Last: true}, Bytes: 412 << 20, Run: 183, Results: storage.Rows[storage.ResultRow]{Rows: sample.Results()},
		Versus: []Measured{{Run: list[1], P50: 400 * time.Millisecond, P95: 3100 * time.Millisecond}, {Run: list[3], P50: 500 * time.Millisecond, P95: 4400 * time.Millisecond}},
		Alike:  []storage.Run{list[3], list[5]},
	})
}

// results is an answer about those of an earlier run.
func results(p *Picture) {
	p.Looking, p.Data = true, Take(PastFrame(&sample.Runs()[1]))
	p.Browse.Picks[Results].ID = 88_101
	p.Shown = TakeRows(Rows{Results: storage.Rows[storage.ResultRow]{Rows: sample.Results(), First: true, Last: true}})
}

// page is an answer about one result, looked at from a byte of its body on.
func page(p *Picture, row *storage.PageRow, at int64) {
	p.Looking, p.Data = true, Take(PastFrame(&sample.Runs()[1]))
	p.Browse.Picks[Page].ID = at
	p.Shown = TakeRows(Rows{Page: row, Ask: Ask{Tab: Page, Width: p.BodyWidth(), Window: storage.Window{Around: at}}})
}

// exportForm is the dialog about an earlier run.
func exportForm(focus int) *ExportForm {
	f := NewExportForm(&sample.Runs()[1], History)
	f.Focus, f.Before, f.Behind = focus, "catalog-183", "-results.jsonl"
	f.Left["results"] = map[string]bool{"body": true, "meta": true}
	return f
}

// deadLetters is an answer about dead letters.
func deadLetters(p *Picture) {
	attempts, status := sample.Attempts()[:1], 403
	attempts[0].Outcome, attempts[0].HTTPStatus, attempts[0].Decision = "blocked", &status, "final: the target refuses access"
	p.Shown = TakeRows(Rows{
		Groups: sample.Groups(), Group: "blocked", Tasks: storage.Rows[storage.TaskRow]{Rows: sample.DeadLetters(), First: true, Last: true},
		Chosen: max(p.Browse.Picks[Letters].ID, 88_600), Attempts: attempts,
	})
}

// rowsOf is an answer with all rows of a run.
func rowsOf(tasks []storage.TaskRow, attempts []storage.Attempt, chosen int64) *Rows {
	return TakeRows(Rows{Tasks: storage.Rows[storage.TaskRow]{Rows: tasks, First: true, Last: true}, Chosen: chosen, Attempts: attempts})
}

func newPicture(look *widget.Look, tab Tab, w, h int) *Picture {
	return &Picture{
		Look: look, Data: Take(sample.Normal()), W: w, H: h, Now: sample.Now, Tab: tab, ChartTop: 1000, Alerts: 2,
		List: &List{Selected: "jobs-d.example"}, Browse: &Browse{}, Shown: rowsOf(sample.Tasks(), sample.Attempts(), 90_177),
		Footer: func(w int) string { return Footer(look, keys.Default(), keys.Domains, w, nil) },
	}
}

// law fails unless lines are exactly h lines of exactly w cells without control bytes but colours.
func law(t *testing.T, lines []string, w, h int) {
	t.Helper()
	if len(lines) != h {
		t.Fatalf("%d lines, not %d", len(lines), h)
	}
	for y, line := range lines {
		if got := widget.Width(line); got != w {
			t.Fatalf("line %d is %d cells, not %d: %q", y, got, w, line)
		}
		if i := control(line); i >= 0 {
			t.Fatalf("line %d has a control byte at %d: %q", y, i, line)
		}
	}
}

// control is the index of the first byte that is neither text nor part of an SGR sequence, -1 without one.
func control(line string) int {
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == 0x1b:
			end := strings.IndexByte(line[i:], 'm')
			if end < 0 || strings.Trim(line[i+1:i+end], "[0123456789;") != "" || line[i+1] != '[' {
				return i
			}
			i += end
		case c < 0x20 || c == 0x7f:
			return i
		case c == 0xc2 && i+1 < len(line) && line[i+1] < 0xa0:
			return i
		}
	}
	return -1
}

func TestEveryScreenHasItsExactSize(t *testing.T) {
	sizes := [][2]int{{200, 60}, {120, 36}, {119, 36}, {120, 35}, {81, 25}, {80, 24}, {60, 20}, {40, 10}, {39, 10}, {20, 3}, {1, 1}, {0, 0}}
	for lookName, look := range looks(t) {
		for name, prepare := range pictures() {
			for tab := range TabCount {
				for _, size := range sizes {
					t.Run(fmt.Sprintf("%s/%s/%d/%dx%d", lookName, name, tab, size[0], size[1]), func(t *testing.T) {
						p := newPicture(look, tab, size[0], size[1])
						prepare(p)
						lines := p.Draw()
						law(t, lines, size[0], size[1])
						if again := p.Draw(); strings.Join(again, "\n") != strings.Join(lines, "\n") {
							t.Error("drawing twice gives two pictures")
						}
						if lookName == "mono" && strings.Contains(strings.Join(lines, ""), "\x1b") {
							t.Error("an escape sequence without colours")
						}
						if lookName == "ascii" && strings.ContainsFunc(strings.Join(lines, ""), func(r rune) bool { return r > 0x7e }) {
							t.Errorf("not ASCII:\n%s", strings.Join(lines, "\n"))
						}
					})
				}
			}
		}
	}
}

func TestEverySizeFromOneCell(t *testing.T) {
	look := looks(t)["dark"]
	for _, c := range []struct {
		tab     Tab
		prepare string
	}{{Overview, "detail"}, {Budgets, "detail"}, {Budgets, "keys"}, {Overview, "diagnosis"}, {Budgets, "help"}, {Tasks, "a task"}, {Tasks, "all of a task"}, {Letters, "a letter"}, {Events, "an event"}, {History, "runs"}, {History, "versus"}, {Results, "results"}, {Page, "page"}, {Page, "bytes"}, {History, "export"}} {
		for w := 1; w <= 200; w++ {
			for h := 1; h <= 70; h++ {
				// Every size below the full one, above it each third: the layout only grows there.
				if (w > 125 || h > 45) && (w%3 != 0 || h%3 != 0) {
					continue
				}
				p := newPicture(look, c.tab, w, h)
				pictures()[c.prepare](p)
				law(t, p.Draw(), w, h)
			}
		}
	}
}

// TestPrintScreens shows the screens to whoever sets SHOW.
func TestShownScreensAreWhole(t *testing.T) {
	look := looks(t)["mono"]
	for _, c := range []struct {
		tab     Tab
		w, h    int
		prepare string
	}{
		{Overview, 120, 36, "platform"}, {Overview, 120, 36, "normal"}, {Overview, 80, 24, "platform"}, {Overview, 40, 10, "normal"},
		{Budgets, 120, 36, "detail"}, {Budgets, 80, 24, "detail"}, {Budgets, 40, 10, "normal"}, {Budgets, 120, 36, "help"}, {Budgets, 80, 24, "help"},
		{Overview, 120, 36, "starting"}, {Overview, 80, 24, "empty"}, {Budgets, 120, 36, "dialog"},
	} {
		p := newPicture(look, c.tab, c.w, c.h)
		pictures()[c.prepare](p)
		lines := p.Draw()
		law(t, lines, c.w, c.h)
		if os.Getenv("SHOW") != "" {
			fmt.Printf("%s %dx%d\n%s\n", c.prepare, c.w, c.h, strings.Join(lines, "\n"))
		}
	}
}
