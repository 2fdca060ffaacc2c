package widget

import (
	"fmt"
	"testing"

	"dev.scrapetop/themes"
)

// fullFrame draws a screen of 120x36 out of parts: header, table of twenty rows with gauges and sparklines, a chart and
// two panes side by side, footer.
func fullFrame(look *Look, trend []int64, values []float64) []string {
	const width = 120
	lines := make([]string, 0, 36)
	lines = append(lines, look.Line(width).Gap(1).Text(themes.Text, "scrapetop   run #184 catalog  ").State("running", 10).
		Text(themes.Text, "48:53 elapsed").Right(themes.Dim, "ETA 37m +-5  ends ~15:07  14:30:00 ").String())
	cell := func(role themes.Role, text string) Cell { return Cell{Role: role, Text: text} }
	table := sampleTable()
	table.Columns = append(table.Columns, Column{Title: "TREND", Min: 10, Rank: 6})
	table.Rows = nil
	for i := range 20 {
		table.Rows = append(table.Rows, Row{Selected: i == 3, Tagged: i == 5, Cells: []Cell{
			{Draw: func(l *Line, width int) { l.State("slow", width) }},
			cell(themes.Text, fmt.Sprintf("shop-%d.example", i)),
			{Draw: func(l *Line, width int) {
				l.Gauge(themes.Warn, 3, 5, 12, width-6).Fit(themes.Text, "3/5", 6, Right)
			}},
			cell(themes.Text, Thousands(int64(i)*917)),
			cell(themes.Dim, "09:48"),
			{Draw: func(l *Line, width int) { Spark(l, themes.Bad, trend, width, 0) }},
		}})
	}
	lines = append(lines, Pane{Title: "Domains", Right: "10 of 10   sort: attention", Focused: true}.
		Draw(look, width, 23, table.Draw(look, Inner(width), 21))...)
	left := Pane{Title: "Accepted records/min", Right: "751/min"}.
		Draw(look, 60, 11, Chart{Role: themes.OK, Values: values, Top: 900, Labels: []Label{{49, "13:40"}, {0, "14:30"}}}.Draw(look, Inner(60), 9))
	var body []string
	for range 9 {
		body = append(body, look.Line(Inner(60)).Fit(themes.Text, "requests", 10, Left).Bar(themes.OK, 0.65, 0.76, 22).
			Fit(themes.Text, Percent(0.65), 6, Right).Fit(themes.Dim, Percent(0.76), 8, Right).String())
	}
	right := Pane{Title: "Caps"}.Draw(look, 60, 11, body)
	for i := range left {
		lines = append(lines, left[i]+right[i])
	}
	return append(lines, look.Text(themes.Dim, " ?:Help  /:Filter  Tab:Pane  q:Quit", width))
}

func frameData() ([]int64, []float64) {
	trend := []int64{0, 0, 2, 3, 5, 8, 1, 0, 4, 9}
	values := make([]float64, 50)
	for i := range values {
		values[i] = float64(300 + i*11%500)
	}
	return trend, values
}

func TestAFullFrameIsExact(t *testing.T) {
	trend, values := frameData()
	for name, look := range looks(t) {
		lines := fullFrame(look, trend, values)
		if len(lines) != 36 {
			t.Errorf("%s: %d lines", name, len(lines))
		}
		for _, line := range lines {
			checkLine(t, name, look, line, 120)
		}
	}
}

func TestAFullFrameStaysWithinItsAllocations(t *testing.T) {
	trend, values := frameData()
	look := looks(t)["unicode truecolor"]
	if got := testing.AllocsPerRun(20, func() { fullFrame(look, trend, values) }); got > 500 {
		t.Errorf("%v allocations for a frame, at most 500", got)
	}
}

func BenchmarkFullFrame(b *testing.B) {
	trend, values := frameData()
	for name, look := range looks(b) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				fullFrame(look, trend, values)
			}
		})
	}
}

func BenchmarkParts(b *testing.B) {
	look := looks(b)["unicode truecolor"]
	trend, values := frameData()
	for name, run := range map[string]func(){
		"clean ASCII":  func() { Clean("https://shop-a.example/c/shoes?page=41", 60) },
		"clean CJK":    func() { Clean("日本語のとても長い名前のサイト", 20) },
		"fit ASCII":    func() { Fit("shop-a.example", 20, Left) },
		"line":         func() { _ = look.Line(60).Text(themes.OK, "shop-a.example").Gap(3).Text(themes.Dim, "x").String() },
		"gauge":        func() { look.Line(16).Gauge(themes.OK, 3, 5, 12, 16) },
		"sparkline 40": func() { Spark(look.Line(40), themes.OK, trend, 40, 0) },
		"chart 56x9":   func() { Chart{Role: themes.OK, Values: values, Top: 900}.Draw(look, 56, 9) },
		"pane 60x11":   func() { Pane{Title: "Caps"}.Draw(look, 60, 11, nil) },
		"ASCII line": func() {
			ASCII("╭─ Domains ────────────────────────────╮")
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				run()
			}
		})
	}
}
