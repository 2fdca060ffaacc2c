package widget

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"dev.scrapetop/themes"
)

func TestFit(t *testing.T) {
	red := "\x1b[31m"
	for name, c := range map[string]struct {
		in    string
		width int
		align Align
		want  string
	}{
		"left":                         {"ab", 4, Left, "ab  "},
		"right":                        {"ab", 4, Right, "  ab"},
		"centre leans left":            {"ab", 5, Centre, " ab  "},
		"cut":                          {"abcdef", 4, Right, "abc…"},
		"one cell":                     {"abcdef", 1, Left, "…"},
		"no cell":                      {"abc", 0, Left, ""},
		"fewer than none":              {"abc", -1, Left, ""},
		"wide":                         {"日本", 5, Left, "日本 "},
		"wide, cut before a half":      {"日本語", 4, Left, "日… "},
		"wide, nothing of it fits":     {"日本語", 2, Left, "… "},
		"colours take no cells":        {red + "ab\x1b[0m", 4, Left, red + "ab\x1b[0m  "},
		"a cut colour is still closed": {red + "abcdef\x1b[0m", 4, Left, red + "abc…\x1b[0m"},
		"wider than the blanks":        {"", 200, Left, strings.Repeat(" ", 200)},
	} {
		if got := Fit(c.in, c.width, c.align); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestTheQuickMeasureAgreesWithTheGeneralOne(t *testing.T) {
	for r := rune(0x20); r < 0x3000; r++ {
		for _, s := range []string{string(r), "\x1b[1;31m" + string(r) + "a\x1b[0m", "─" + string(r), string(r) + "·"} {
			if cells, ok := quickWidth(s); ok && cells != ansi.StringWidth(s) {
				t.Errorf("%q: %d and %d", s, cells, ansi.StringWidth(s))
			}
		}
	}
	for _, s := range []string{"\x1b", "\x1b[", "\x1b[31", "\x1b]0;x\x07", "\x1b[2J", "\xe2\x94", "\xc2", "a\u0301", "─\ufe0f"} {
		if cells, ok := quickWidth(s); ok {
			t.Errorf("%q is measured as %d", s, cells)
		}
	}
	for _, s := range []string{"abc", "\x1b[1;38;2;1;2;3m█░─\x1b[0m·"} {
		if _, ok := quickWidth(s); !ok {
			t.Errorf("%q is not measured", s)
		}
	}
}

func TestLineSharesCodesBetweenEqualNeighbours(t *testing.T) {
	look := looks(t)["unicode truecolor"]
	got := look.Line(10).Text(themes.OK, "a").Text(themes.OK, "b").Text(themes.Bad, "c").String()
	ok, bad, end := look.Palette.Prefix(themes.OK), look.Palette.Prefix(themes.Bad), look.Palette.Suffix()
	if want := ok + "ab" + end + bad + "c" + end + "       "; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLineLeavesOutWhatDoesNotFit(t *testing.T) {
	look := looks(t)["unicode mono"]
	for name, c := range map[string]struct{ got, want string }{
		"a text that is too long": {look.Line(5).Text(themes.OK, "abcdef").Text(themes.OK, "g").String(), "abcd…"},
		"right text":              {look.Line(8).Text(themes.OK, "ab").Right(themes.OK, "yz").String(), "ab    yz"},
		"right text, no room":     {look.Line(5).Text(themes.OK, "abcd").Right(themes.OK, "yz").String(), "abcd…"},
		"a column past its place": {look.Line(8).Text(themes.OK, "abcd").To(2).Text(themes.OK, "x").String(), "abcdx   "},
		"state as a glyph":        {look.Line(8).State("pause", 4).Text(themes.OK, "x").String(), "‖   x   "},
		"state with its word":     {look.Line(9).State("pause", 8).Text(themes.OK, "x").String(), "‖ PAUSE x"},
		"an unknown state":        {look.Line(9).State("odd", 9).String(), "? ODD    "},
		"a line without cells":    {look.Line(0).Text(themes.OK, "abc").Gauge(themes.OK, 1, 2, 3, 9).String(), ""},
		"less than none":          {look.Line(-4).Text(themes.OK, "abc").String(), ""},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", name, c.got, c.want)
		}
	}
}

func TestGauge(t *testing.T) {
	look := looks(t)["ascii mono"]
	for name, c := range map[string]struct {
		used, limit, was, width int
		want                    string
	}{
		"empty":                           {0, 4, 0, 8, "--------"},
		"half":                            {2, 4, 0, 8, "####----"},
		"full":                            {4, 4, 0, 8, "########"},
		"more than full":                  {9, 4, 0, 8, "########"},
		"some is not none":                {1, 1000, 0, 8, "#-------"},
		"nearly all is not all":           {999, 1000, 0, 8, "#######-"},
		"no limit known":                  {3, 0, 0, 8, "--------"},
		"negative":                        {-3, 4, 0, 8, "--------"},
		"lowered":                         {3, 5, 12, 16, "####---|........"},
		"lowered, still above the limit":  {9, 5, 12, 16, "#######|........"},
		"lowered to nothing":              {0, 0, 12, 8, "|......."},
		"lowered by little":               {0, 999, 1000, 8, "-------|"},
		"raised again is not lowered":     {2, 8, 4, 8, "##------"},
		"one cell":                        {1, 2, 0, 1, "#"},
		"one cell lowered":                {1, 1, 2, 1, "|"},
		"no cell":                         {1, 2, 3, 0, ""},
		"numbers that would overflow int": {math.MaxInt / 2, math.MaxInt, 0, 8, "####----"},
	} {
		if got := look.Line(c.width).Gauge(themes.OK, c.used, c.limit, c.was, c.width).String(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestBarAndPassed(t *testing.T) {
	look := looks(t)["ascii mono"]
	for name, c := range map[string]struct{ got, want string }{
		"forecast":               {look.Line(10).Bar(themes.OK, 0.3, 0.7, 10).String(), "###----:--"},
		"forecast past the end":  {look.Line(10).Bar(themes.OK, 0.3, 7, 10).String(), "###------:"},
		"no forecast":            {look.Line(10).Bar(themes.OK, 0.3, 0, 10).String(), "###-------"},
		"all used":               {look.Line(10).Bar(themes.OK, 1, 1.2, 10).String(), "##########"},
		"past the limit":         {look.Line(10).Bar(themes.OK, 5, 9, 10).String(), "##########"},
		"unknown share":          {look.Line(10).Bar(themes.OK, math.NaN(), math.NaN(), 10).String(), "----------"},
		"infinite share":         {look.Line(10).Bar(themes.OK, math.Inf(1), 0, 10).String(), "##########"},
		"wait just begun":        {look.Line(10).Passed(0.05, 10).String(), "----------"},
		"wait nearly over":       {look.Line(10).Passed(0.99, 10).String(), "=========-"},
		"wait over":              {look.Line(10).Passed(1, 10).String(), "=========="},
		"wait longer than over":  {look.Line(10).Passed(3, 10).String(), "=========="},
		"wait of unknown length": {look.Line(10).Passed(math.NaN(), 10).String(), "----------"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", name, c.got, c.want)
		}
	}
}

func TestSpark(t *testing.T) {
	look := looks(t)["unicode mono"]
	spark := func(values []float64, width int, top float64) string {
		return Spark(look.Line(width), themes.OK, values, width, top).String()
	}
	for name, c := range map[string]struct{ got, want string }{
		"none and few differ":        {spark([]float64{0, 0.001, 8}, 3, 0), "·▁█"},
		"a gap is blank":             {spark([]float64{1, -1, 1}, 3, 8), "▁ ▁"},
		"the newest stay":            {spark([]float64{8, 8, 1, 2}, 2, 8), "▁▂"},
		"few stand at the right":     {spark([]float64{4}, 3, 8), "  ▄"},
		"no values":                  {spark(nil, 3, 0), "   "},
		"only zeros":                 {spark([]float64{0, 0}, 2, 0), "··"},
		"above the top":              {spark([]float64{99}, 1, 8), "█"},
		"no cells":                   {spark([]float64{1}, 0, 0), ""},
		"not a number is no value":   {spark([]float64{math.NaN(), 1}, 2, 1), " █"},
		"all steps":                  {spark([]float64{1, 2, 3, 4, 5, 6, 7, 8}, 8, 8), "▁▂▃▄▅▆▇█"},
		"whole numbers work as well": {Spark(look.Line(2), themes.OK, []int64{0, 3}, 2, 0).String(), "·█"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", name, c.got, c.want)
		}
	}
}

func TestRoundMax(t *testing.T) {
	for name, c := range map[string]struct{ peak, before, want float64 }{
		"first":                        {751, 0, 800},
		"a little more keeps":          {799, 800, 800},
		"more grows by a step":         {801, 800, 1000},
		"half of it still keeps":       {400, 800, 800},
		"less than half shrinks":       {390, 800, 400},
		"nothing yet":                  {0, 0, 10},
		"all gone":                     {0, 800, 10},
		"small rates have a least top": {0.2, 0, 2},
		"not a number":                 {math.NaN(), 0, 10},
	} {
		if got := RoundMax(c.peak, c.before); got != c.want {
			t.Errorf("%s: RoundMax(%v, %v) = %v, want %v", name, c.peak, c.before, got, c.want)
		}
	}
	for range 1000 {
		peak := math.Exp(rand.Float64()*40 - 5)
		if top := RoundMax(peak, 0); top < peak || RoundMax(peak, top) != top {
			t.Errorf("RoundMax(%v) = %v, then %v", peak, top, RoundMax(peak, top))
		}
	}
}

func TestResample(t *testing.T) {
	if got := Resample([]float64{1, 2, 3}, 5, 10); !slices.Equal(got, []float64{1, 2, 3}) {
		t.Errorf("few values: %v", got)
	}
	// Bins 8 9 | 10 11 | 12 13: groups are cut at even numbers.
	if got := Resample([]float64{1, 3, 5, -1, -1, -1}, 3, 13); !slices.Equal(got, []float64{2, 5, -1}) {
		t.Errorf("joined: %v", got)
	}
	// One bin later the same pairs are joined, so the picture has moved and not changed.
	if got := Resample([]float64{3, 5, -1, -1, -1, 7}, 4, 14); !slices.Equal(got, []float64{3, 5, -1, 7}) {
		t.Errorf("a bin later: %v", got)
	}
	for count := range 130 {
		for n := range 60 {
			for newest := range int64(5) {
				if got := Resample(make([]float64, count), n, newest); len(got) > n || count > 0 && n > 0 && len(got) == 0 {
					t.Fatalf("%d values for %d, newest %d: %d", count, n, newest, len(got))
				}
			}
		}
	}
}

// sizes runs f for many sizes of a part, the impossible ones too.
func sizes(f func(width, height int)) {
	for _, width := range []int{0, 1, 2, 3, 4, 5, 7, 8, 11, 12, 20, 40, 80, 133} {
		for _, height := range []int{0, 1, 2, 3, 4, 9, 30} {
			f(width, height)
		}
	}
}

func TestPartsHaveTheSizeAskedFor(t *testing.T) {
	values := []float64{1, 5, -1, 0, 900, math.NaN(), math.Inf(1)}
	foreign := Clean("日本語\u0301 \U0001f468\u200d\U0001f469 \x1b[31mשלום", 60)
	for name, look := range looks(t) {
		check := func(what string, lines []string, width, height int) {
			if len(lines) != height {
				t.Errorf("%s, %s %dx%d: %d lines", name, what, width, height, len(lines))
			}
			for _, line := range lines {
				checkLine(t, name+", "+what, look, line, width)
			}
		}
		sizes(func(width, height int) {
			for _, focused := range []bool{false, true} {
				p := Pane{Title: foreign, Right: foreign, Bottom: foreign, Focused: focused}
				check("pane", p.Draw(look, width, height, []string{foreign, look.Text(themes.OK, foreign, 50)}), width, height)
			}
			check("chart", Chart{Role: themes.OK, Values: values, Top: RoundMax(900, 0), Labels: []Label{{0, "14:30"}, {200, foreign}, {3, foreign}}}.
				Draw(look, width, height), width, height)
			table := sampleTable()
			table.Rows[0].Cells = table.Rows[0].Cells[:2]
			table.Rows[1].Cells[1].Text = foreign
			check("table", table.Draw(look, width, height), width, height)
			check("table without rows", Table{Columns: table.Columns, Empty: foreign}.Draw(look, width, height), width, height)
			check("table without columns", Table{Rows: table.Rows}.Draw(look, width, height), width, height)
			check("toast", []string{Toast(look, width, themes.Bad, foreign, foreign)}, width, 1)
			check("undo", []string{Undo(look, width, foreign, "u", 3, 10)}, width, 1)
			d := Dialog{Title: foreign, Lines: []string{foreign, strings.Repeat("x", 200)}, Buttons: []string{"Stay", foreign, "Stop now: 31 tasks return"}, Focus: 1, Hint: foreign, Brief: []string{foreign}}
			box := d.Draw(look, width, height)
			check("dialog", box, width, min(len(box), height))
			base := Pane{Title: foreign}.Draw(look, width, height, []string{foreign})
			for _, x := range []int{-5, 0, 1, 7, 30, 200} {
				check("overlay", Overlay(base, d.Draw(look, 24, height), x, height/2-2, width), width, height)
			}
		})
	}
}

func TestOverlayKeepsTheColoursBesideTheBox(t *testing.T) {
	look := looks(t)["unicode truecolor"]
	base := look.Line(12).Text(themes.OK, "aaaabbbb").Text(themes.Bad, "cccc").String()
	box := look.Text(themes.Text, "XX", 2)
	got := Overlay([]string{base}, []string{box}, 3, 0, 12)[0]
	p := &look.Palette
	if !strings.HasPrefix(got, p.Prefix(themes.OK)+"aaa") {
		t.Errorf("left of the box: %q", got)
	}
	after := got[strings.Index(got, "XX"):]
	if !strings.Contains(after, p.Prefix(themes.OK)+"bbb") || !strings.Contains(after, p.Prefix(themes.Bad)+"cccc") {
		t.Errorf("right of the box: %q", after)
	}
}

func TestOverlayIsExactWhereverItCuts(t *testing.T) {
	for name, look := range looks(t) {
		base := look.Line(23).Text(themes.OK, "日本語a日本").Text(themes.Bad, "語\U0001f468\u200d\U0001f469x日本").String()
		box := look.Line(7).Text(themes.Text, "語語x語").String()
		for x := -10; x < 30; x++ {
			got := Overlay([]string{base}, []string{box}, x, 0, 23)[0]
			checkLine(t, name, look, got, 23)
			if x >= 0 && x <= 16 && !strings.Contains(got, box) {
				t.Errorf("%s: the box at %d is not whole: %q", name, x, got)
			}
		}
	}
}

func TestFocusIsToldWithoutColour(t *testing.T) {
	look := looks(t)["unicode mono"]
	with := Pane{Title: "Fleet", Focused: true}.Draw(look, 20, 3, nil)
	without := Pane{Title: "Fleet"}.Draw(look, 20, 3, nil)
	for i := range with {
		if with[i] == without[i] {
			t.Errorf("line %d is the same with focus and without: %q", i, with[i])
		}
	}
	if !strings.Contains(with[0], "FLEET") || !strings.Contains(without[0], "Fleet") {
		t.Errorf("titles %q and %q", with[0], without[0])
	}
}

func TestLayout(t *testing.T) {
	columns := []Column{
		{Title: "STATE", Min: 7, Rank: 1}, {Title: "DOMAIN", Min: 14, Max: 40, Weight: 3, Rank: 2}, {Title: "IN FLIGHT", Min: 12, Rank: 3},
		{Title: "REMAINING", Min: 11, Rank: 4}, {Title: "RESET", Min: 6, Rank: 11}, {Title: "COOLDOWN", Min: 8, Rank: 5},
		{Title: "429", Min: 4, Rank: 6}, {Title: "TREND", Min: 5, Max: 20, Weight: 1, Rank: 9}, {Title: "OK/MIN", Min: 6, Rank: 10},
		{Title: "QUEUE", Min: 6, Rank: 7}, {Title: "OLDEST", Min: 6, Rank: 8}, {Title: "ETA", Min: 5, Rank: 12},
	}
	if got := Layout(columns, 0); got != nil {
		t.Errorf("no cells: %v", got)
	}
	if got := Layout(nil, 80); got != nil {
		t.Errorf("no columns: %v", got)
	}
	before := 0
	for width := 1; width <= 250; width++ {
		placed := Layout(columns, width)
		if len(placed) == 0 || len(placed) < before {
			t.Fatalf("width %d: %d columns after %d", width, len(placed), before)
		}
		before = len(placed)
		highest := 0
		for i, p := range placed {
			c := columns[p.Index]
			highest = max(highest, c.Rank)
			if p.Width < c.Min && len(placed) > 1 || p.Width < 1 || c.Max > 0 && p.Width > c.Max {
				t.Errorf("width %d: %s has %d cells", width, c.Title, p.Width)
			}
			if i > 0 && (p.X != placed[i-1].X+placed[i-1].Width+1 || p.Index <= placed[i-1].Index) {
				t.Errorf("width %d: %s stands at %d after %+v", width, c.Title, p.X, placed[i-1])
			}
			if p.X+p.Width > width {
				t.Errorf("width %d: %s ends at %d", width, c.Title, p.X+p.Width)
			}
		}
		if highest != len(placed) {
			t.Errorf("width %d: %d columns, but one of rank %d is among them", width, len(placed), highest)
		}
		if end := placed[len(placed)-1]; len(placed) > 1 && width > 30 && width < 120 && end.X+end.Width != width && placed[1].Width < 40 {
			t.Errorf("width %d: columns end at %d though there are some that grow", width, end.X+end.Width)
		}
	}
}

func TestLayoutLetsTheRightOneOfEqualRankLeave(t *testing.T) {
	placed := Layout([]Column{{Min: 5}, {Min: 5}, {Min: 5}}, 11)
	if len(placed) != 2 || placed[0].Index != 0 || placed[1].Index != 1 {
		t.Errorf("%+v", placed)
	}
}

func TestGlyphSetsAreWhole(t *testing.T) {
	for name, look := range looks(t) {
		g := look.Glyphs
		signs := []string{g.Cursor, g.CursorAway, g.Tag, g.Look, g.Stale, g.Asc, g.Desc, g.TabLeft, g.TabRight, g.Cut, g.Used, g.Free,
			g.Lowered, g.Lost, g.Forecast, g.Passed, g.Zero, g.Axis, g.AxisTick, g.AxisCorner, g.AxisLine, g.Rule}
		signs = append(signs, g.Levels[:]...)
		for _, b := range []Box{g.Box, g.Heavy} {
			signs = append(signs, b.TopLeft, b.Top, b.TopRight, b.Left, b.Right, b.BottomLeft, b.Bottom, b.BottomRight)
		}
		seen := map[string]string{}
		for _, word := range []string{"run", "slow", "cool", "pause", "block", "done", "idle"} {
			m := g.State(word)
			signs = append(signs, m.Glyph)
			if m.Word != strings.ToUpper(word) {
				t.Errorf("%s: %s has the word %q", name, word, m.Word)
			}
			if other, ok := seen[m.Glyph]; ok {
				t.Errorf("%s: %s and %s look the same", name, word, other)
			}
			seen[m.Glyph] = word
		}
		for _, s := range signs {
			if Width(s) != 1 || g.ASCII && !isASCII(s) {
				t.Errorf("%s: sign %q", name, s)
			}
		}
		states, meanings := g.Legend()
		for _, m := range append(states, meanings...) {
			if m.Glyph == "" || m.Word == "" {
				t.Errorf("%s: legend %+v", name, m)
			}
		}
	}
	for word := range unicodeGlyphs.states {
		if _, ok := asciiGlyphs.states[word]; !ok {
			t.Errorf("%s has no ASCII sign", word)
		}
	}
}

func TestADialogWithoutRoomKeepsItsButtons(t *testing.T) {
	look := looks(t)["unicode mono"]
	long := strings.Repeat("word ", 40)
	d := Dialog{Title: "Quit?", Lines: []string{long}, Brief: []string{"in brief"}, Buttons: []string{"Stay", "Drain", "Stop now"}, Focus: 1, Hint: "Esc: stay"}
	for _, c := range []struct {
		name      string
		height    int
		want, not []string
	}{
		{"room for everything", 20, []string{"word", "[Stay]", "[Drain]", "[Stop now]", "Esc: stay"}, []string{"in brief"}},
		{"seven lines", 7, []string{"in brief", "[Stay]", "[Drain]", "[Stop now]", "Esc: stay"}, []string{"word"}},
		{"the buttons alone", 4, []string{"[Stay]", "[Drain]", "[Stop now]", "Esc: stay"}, []string{"in brief", "word"}},
		{"not even the hint", 3, []string{"[Stay]", "[Drain]", "[Stop now]"}, []string{"Esc: stay"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			box := d.Draw(look, 40, c.height)
			if len(box) > c.height {
				t.Fatalf("%d lines of %d", len(box), c.height)
			}
			all := strings.Join(box, "\n")
			for _, s := range c.want {
				if !strings.Contains(all, s) {
					t.Errorf("%q is missing:\n%s", s, all)
				}
			}
			for _, s := range c.not {
				if strings.Contains(all, s) {
					t.Errorf("%q has no room:\n%s", s, all)
				}
			}
			if last := box[len(box)-1]; !strings.HasPrefix(last, look.Glyphs.Heavy.BottomLeft) {
				t.Errorf("the bottom border is missing:\n%s", all)
			}
		})
	}
}
