package screen

import (
	"strings"
	"testing"

	"dev.scrapetop/ui/keys"
	"dev.scrapetop/ui/screen/sample"
)

// The budgets of a frame: drawing 120x36 costs under a millisecond and 500 allocations.
func BenchmarkDraw(b *testing.B) {
	look := looks(b)["dark"]
	for tab, name := range []string{"overview", "domains", "tasks", "letters", "events", "history", "results", "page"} {
		tab := Tab(tab)
		b.Run(name, func(b *testing.B) {
			p := newPicture(look, tab, 120, 36)
			p.Data.Frame.Detail = sample.Detail("jobs-d.example")
			b.ReportAllocs()
			for b.Loop() {
				_ = strings.Join(p.Draw(), "\n")
			}
		})
	}
}

func BenchmarkTake(b *testing.B) {
	f := sample.Platform()
	b.ReportAllocs()
	for b.Loop() {
		Take(f)
	}
}

func TestDrawStaysWithinItsAllocations(t *testing.T) {
	look := looks(t)["dark"]
	for tab := range TabCount {
		p := newPicture(look, tab, 120, 36)
		p.Footer = func(w int) string { return Footer(look, keys.Default(), keys.Overview, w, nil) }
		if n := testing.AllocsPerRun(20, func() { p.Draw() }); n > 500 {
			t.Errorf("screen %d: %.0f allocations", tab, n)
		}
	}
}
