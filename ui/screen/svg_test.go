package screen

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"
)

func TestSVGPutsRunsOnTheGrid(t *testing.T) {
	tests := []struct {
		name, line string
		want       []string
		not        []string
	}{
		{name: "plain text is one run", line: "in flight 31", want: []string{`textLength="108.36">in` + "\u00a0" + `flight` + "\u00a0" + `31<`}},
		{name: "markup is escaped", line: `<b>&amp;`, want: []string{"&lt;b&gt;&amp;amp;"}, not: []string{"<b>"}},
		{name: "named colour", line: "\x1b[31mred\x1b[0m", want: []string{`fill="#e06c75"`}},
		{name: "palette colour", line: "\x1b[38;5;208mx\x1b[m", want: []string{`fill="#ff8700"`}},
		{name: "grey of the palette", line: "\x1b[38;5;244mx", want: []string{`fill="#808080"`}},
		{name: "true colour", line: "\x1b[38;2;1;2;3mx", want: []string{`fill="#010203"`}},
		{name: "true colour with colons", line: "\x1b[38:2:1:2:3mx", want: []string{`fill="#010203"`}},
		{name: "background is a rectangle", line: "\x1b[48;2;9;9;9m  \x1b[49m", want: []string{`width="18.06" height="17.46" fill="#090909"`}, not: []string{"<text"}},
		{name: "reverse swaps the defaults", line: "\x1b[7mx\x1b[27m", want: []string{`fill="#d8dee6"`, `fill="#14181f">x`}},
		{name: "bold, faint, italic, underline", line: "\x1b[1;2;3;4mx", want: []string{`font-weight="bold"`, `opacity`, `italic`, `underline`}},
		{name: "what was set is unset", line: "\x1b[1;2;3;4;8;31m\x1b[22;23;24;28;39mx", not: []string{"font-weight", "opacity", "italic", "underline", "e06c75"}},
		{name: "bright colours", line: "\x1b[97;100mx", want: []string{`#ffffff`, `#5c6370`}},
		{name: "a wide cluster takes two cells", line: "日a", want: []string{`x="12" y="25.92" textLength="18.06">日`, `x="30.06"`}},
		{name: "what is no colour is dropped", line: "\x1b]0;title\x07\x1b[2Jx\x07", want: []string{">x<"}, not: []string{"title", "[2J"}},
		{name: "an unfinished colour takes nothing with it", line: "\x1b[38;5mx", want: []string{">x<"}},
		{name: "a colour outside the palette is the default", line: "\x1b[38;5;999mx", want: []string{">x<"}},
		{name: "cells beyond the width are cut", line: strings.Repeat("a", 13), not: []string{strings.Repeat("a", 13)}, want: []string{strings.Repeat("a", 12)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := SVG([]string{tt.line, "", "beyond"}, 12, 2, false)
			wellFormed(t, got)
			if strings.Contains(got, "beyond") {
				t.Error("a line beyond the height was drawn")
			}
			body := got[strings.Index(got, "<g "):]
			body = body[strings.Index(body, "\n"):]
			for _, want := range tt.want {
				if !strings.Contains(body, want) {
					t.Errorf("no %q in\n%s", want, body)
				}
			}
			for _, not := range tt.not {
				if strings.Contains(body, not) {
					t.Errorf("%q in\n%s", not, body)
				}
			}
		})
	}
}

func TestSVGOfNothingIsAPicture(t *testing.T) { wellFormed(t, SVG(nil, 0, -3, true)) }

func FuzzSVG(f *testing.F) {
	f.Add("\x1b[38;2;1mx\x1b[", 10)
	f.Add("\xff\x9b1m\x00<&>", 1)
	f.Fuzz(func(t *testing.T, line string, w int) { wellFormed(t, SVG([]string{line}, w%300, 1, false)) })
}

func wellFormed(t *testing.T, svg string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Fatalf("not XML: %v\n%q", err, svg)
		}
	}
}

func TestSVGOfALightThemeIsLight(t *testing.T) {
	for light, want := range map[bool]string{false: darkPaper.back, true: lightPaper.back} {
		if got := SVG([]string{"x"}, 4, 1, light); !strings.Contains(got, `rx="6" fill="`+want) {
			t.Errorf("light %v: %s", light, got)
		}
	}
}
