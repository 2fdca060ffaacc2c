package widget

import (
	"testing"

	"dev.scrapetop/themes"
)

// looks are the ways to draw that every part is tested in.
func looks(t testing.TB) map[string]*Look {
	t.Helper()
	theme, err := themes.Load(themes.Default)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]*Look{
		"unicode mono":      NewLook(theme.Palette(themes.NoColor), false),
		"unicode truecolor": NewLook(theme.Palette(themes.TrueColor), false),
		"ascii mono":        NewLook(theme.Palette(themes.NoColor), true),
	}
}

func TestLineIsExactlyAsWideAsAsked(t *testing.T) {
	for name, look := range looks(t) {
		for width := range 60 {
			l := look.Line(width).State("cool", 8).Text(themes.Text, "forum-c.example").Gauge(themes.OK, 3, 5, 12, 16).
				Bar(themes.OK, 0.53, 0.93, 10).Passed(0.5, 5).Right(themes.Dim, "日本語")
			if got := Width(l.String()); got != width {
				t.Errorf("%s: %d cells, want %d", name, got, width)
			}
		}
	}
}
