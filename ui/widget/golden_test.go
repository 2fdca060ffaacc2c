package widget

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dev.scrapetop/themes"
)

var update = flag.Bool("update", false, "write the golden files anew")

// specimen is something drawn at a fixed size.
type specimen struct {
	name  string
	width int
	draw  func(k *Look) []string
}

// parts are all that the package draws, at the sizes of the screens.
func parts() []specimen {
	one := func(name string, width int, draw func(l *Line)) specimen {
		return specimen{name, width, func(k *Look) []string {
			l := k.Line(width)
			draw(l)
			return []string{l.String()}
		}}
	}
	return []specimen{
		one("gauge in a row", 60, func(l *Line) {
			l.State("run", 8).Fit(themes.Text, "shop-a.example", 19, Left).Gauge(themes.OK, 12, 16, 0, 16).Fit(themes.Text, "12/16", 6, Right)
		}),
		one("gauge with a lowered limit", 60, func(l *Line) {
			l.State("slow", 8).Fit(themes.Text, "jobs-d.example", 19, Left).Gauge(themes.Warn, 3, 5, 12, 16).
				Fit(themes.Text, "3/5", 6, Right).Gap(2).Text(themes.Dim, "was 12")
		}),
		one("gauge full", 60, func(l *Line) {
			l.State("run", 8).Fit(themes.Text, "news-b.example", 19, Left).Gauge(themes.OK, 8, 8, 0, 16).
				Fit(themes.Text, "8/8", 6, Right).Gap(2).Text(themes.Warn, "FULL")
		}),
		one("gauge empty", 60, func(l *Line) {
			l.State("pause", 8).Fit(themes.Text, "maps-f.example", 19, Left).Gauge(themes.Pause, 0, 6, 0, 16).
				Fit(themes.Text, "0/6", 6, Right).Gap(2).Text(themes.Dim, "by you")
		}),
		one("cap with a forecast", 50, func(l *Line) {
			l.Fit(themes.Text, "requests", 10, Left).Bar(themes.OK, 0.65, 0.76, 22).Fit(themes.Text, "65%", 6, Right).Fit(themes.Dim, "76%", 8, Right)
		}),
		one("cap near its end", 50, func(l *Line) {
			l.Fit(themes.Text, "credits", 10, Left).Bar(themes.OK, 0.53, 0.93, 22).Fit(themes.Text, "53%", 6, Right).Fit(themes.Warn, "93%", 8, Right)
		}),
		one("cooldown passed", 40, func(l *Line) { l.Fit(themes.Text, "00:42", 7, Left).Passed(48.0/90, 12) }),
		one("sparkline", 30, func(l *Line) {
			Spark(l, themes.Bad, []int64{0, 0, 2, 3, 4, 6, 3, 2, -1, -1, 2, 9, 1}, 20, 0)
		}),
		{"column chart", 60, func(k *Look) []string {
			values := make([]float64, 0, 50)
			for i := range 50 {
				values = append(values, float64(300+(i*i*7)%500))
			}
			values[10], values[11], values[20] = -1, -1, 0
			return Chart{Role: themes.OK, Values: values, Top: 900, Labels: []Label{{49, "13:40"}, {39, "13:50"}, {0, "14:30"}}}.Draw(k, 60, 7)
		}},
		{"pane", 60, func(k *Look) []string {
			return Pane{Title: "Cooldowns", Right: "3 active", Bottom: "* tagged"}.Draw(k, 60, 4, []string{"forum-c.example   00:42"})
		}},
		{"pane in focus", 60, func(k *Look) []string {
			return Pane{Title: "Cooldowns", Right: "3 active", Focused: true}.Draw(k, 60, 4, []string{"forum-c.example   00:42"})
		}},
		{"pane too narrow for its note", 20, func(k *Look) []string {
			return Pane{Title: "In flight by domain", Right: "sorted"}.Draw(k, 20, 3, nil)
		}},
		{"table", 100, func(k *Look) []string { return sampleTable().Draw(k, 100, 6) }},
		{"table, narrow", 50, func(k *Look) []string { return sampleTable().Draw(k, 50, 6) }},
		{"table, left by the cursor", 50, func(k *Look) []string {
			t := sampleTable()
			t.Focused = false
			return t.Draw(k, 50, 4)
		}},
		{"table, empty", 50, func(k *Look) []string {
			t := sampleTable()
			t.Rows, t.Empty = nil, "no domain matches the filter"
			return t.Draw(k, 50, 3)
		}},
		{"dialog", 78, func(k *Look) []string { return sampleDialog().Draw(k, 78, 40) }},
		{"dialog, narrow", 36, func(k *Look) []string { return sampleDialog().Draw(k, 36, 40) }},
		{"toast", 78, func(k *Look) []string {
			return []string{Toast(k, 78, themes.Warn, "credits are forecast to reach 93% of the cap", "Enter: details")}
		}},
		{"toast without room for the hint", 40, func(k *Look) []string {
			return []string{Toast(k, 40, themes.Warn, "credits are forecast to reach 93% of the cap", "Enter: details")}
		}},
		{"undo", 80, func(k *Look) []string { return []string{Undo(k, 80, "paused maps-f.example", "u", 8, 10)} }},
		{"undo, narrow", 40, func(k *Look) []string {
			return []string{Undo(k, 40, "paused a-very-long-name.example", "u", 8, 10)}
		}},
		{"dialog over a screen", 60, func(k *Look) []string {
			base := Pane{Title: "日本語のページ"}.Draw(k, 60, 9, []string{"日本語日本語日本語日本語日本語日本語", "a", "b", "日本語日本語日本語日本語日本語日本語"})
			box := Dialog{Title: "Quit?", Lines: []string{"31 in flight."}, Buttons: []string{"Drain", "Stay"}}.Draw(k, 33, 9)
			return Overlay(base, box, 13, 1, 60)
		}},
	}
}

func sampleTable() Table {
	cell := func(role themes.Role, text string) Cell { return Cell{Role: role, Text: text} }
	row := func(state, domain string, used, limit, was int, queue int64, selected, tagged bool) Row {
		return Row{Selected: selected, Tagged: tagged, Cells: []Cell{
			{Draw: func(l *Line, width int) { l.State(state, width) }},
			cell(themes.Text, domain),
			{Draw: func(l *Line, width int) { l.Gauge(themes.OK, used, limit, was, width-6) }},
			cell(themes.Text, Thousands(queue)),
			cell(themes.Dim, "09:48"),
		}}
	}
	return Table{
		Columns: []Column{
			{Title: "STATE", Key: "attention", Min: 7, Rank: 1},
			{Title: "DOMAIN", Key: "domain", Min: 14, Max: 40, Weight: 1, Rank: 2},
			{Title: "IN FLIGHT", Min: 12, Rank: 3},
			{Title: "QUEUE", Min: 6, Align: Right, Rank: 4},
			{Title: "OLDEST", Min: 6, Align: Right, Rank: 5},
		},
		Sort: "attention", Down: true, Focused: true,
		Rows: []Row{
			row("cool", "forum-c.example", 0, 4, 0, 2933, true, false),
			row("slow", "jobs-d.example", 3, 5, 12, 871, false, true),
			row("run", "日本語のとても長い名前のサイト.example", 12, 16, 0, 1204, false, false),
		},
	}
}

func sampleDialog() Dialog {
	return Dialog{
		Title: "End cooldown of forum-c.example?",
		Lines: []string{
			"The site asked for 90 s; 42 s are left. Requests sent now are likely to be refused, and the next cooldown may be longer.",
			"", "Asked by: target, Retry-After: 90",
		},
		Buttons: []string{"Keep waiting", "End it"},
		Hint:    "Esc: keep waiting",
	}
}

func TestPartsLookAsTheyDid(t *testing.T) {
	for name, look := range looks(t) {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			for _, p := range parts() {
				b.WriteString("# " + p.name + "\n")
				for _, line := range p.draw(look) {
					if look.Glyphs.ASCII {
						line = ASCII(line)
					}
					b.WriteString(strings.ReplaceAll(line, "\x1b", "\\e") + "|\n")
				}
			}
			path := filepath.Join("testdata", strings.ReplaceAll(name, " ", "-")+".golden")
			if *update {
				if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got := b.String(); got != string(want) {
				g, w := strings.Split(got, "\n"), strings.Split(string(want), "\n")
				for i := range min(len(g), len(w)) {
					if g[i] != w[i] {
						t.Fatalf("line %d of %s:\n got %s\nwant %s", i+1, path, g[i], w[i])
					}
				}
				t.Fatalf("%s has %d lines, want %d", path, len(g), len(w))
			}
		})
	}
}

// TestPartsKeepTheLaws checks what holds for everything drawn: exact width, no control byte but colour codes, no colour
// left open, ASCII in the ASCII mode, the same answer twice.
func TestPartsKeepTheLaws(t *testing.T) {
	for name, look := range looks(t) {
		for _, p := range parts() {
			lines := p.draw(look)
			if again := p.draw(look); strings.Join(again, "\n") != strings.Join(lines, "\n") {
				t.Errorf("%s, %s: drawn twice it differs", name, p.name)
			}
			for _, line := range lines {
				checkLine(t, name+", "+p.name, look, line, p.width)
			}
		}
	}
}

func checkLine(t *testing.T, what string, look *Look, line string, width int) {
	t.Helper()
	if look.Glyphs.ASCII {
		line = ASCII(line)
		if !isASCII(line) {
			t.Errorf("%s: %q is not ASCII", what, line)
		}
	}
	if got := Width(line); got != width {
		t.Errorf("%s: %d cells, want %d: %q", what, got, width, line)
	}
	rest, open := line, false
	for {
		i := strings.IndexFunc(rest, func(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 })
		if i < 0 {
			break
		}
		code, ok := strings.CutPrefix(rest[i:], "\x1b[")
		end := strings.IndexByte(code, 'm')
		if !ok || end < 0 || strings.Trim(code[:end], "0123456789;") != "" {
			t.Errorf("%s: %q holds a control character that is no colour", what, line)
			return
		}
		if look.Mono() {
			t.Errorf("%s: %q has a colour", what, line)
		}
		open = code[:end] != "0"
		rest = code[end+1:]
	}
	if open {
		t.Errorf("%s: %q leaves a colour open", what, line)
	}
}
