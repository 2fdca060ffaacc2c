package screen

import (
	"strings"
	"testing"

	"dev.scrapetop/engine/view"
)

func TestQuitQuestion(t *testing.T) {
	d := Take(&view.Frame{Live: true, InFlight: 48, Counts: view.Counts{Remote: 12}})
	look := looks(t)["mono"]
	for _, c := range []struct {
		name              string
		draining, passing bool
		state             string
		w, h              int
		want, not         []string
	}{
		{name: "wide", w: 120, h: 32, want: []string{"the rest waits for resume", "12 are at the platform", "Stop now"}},
		{name: "compact", w: 40, h: 7, want: []string{"48 in flight finish first", "return to the queue", "[Stay]", "[Drain]", "[Stop now]", "y: drain"}},
		{name: "a passing run", passing: true, w: 120, h: 32, want: []string{"Nothing of this run is kept", "Stop now"}, not: []string{"resume", "queue"}},
		{name: "a passing run, compact", passing: true, w: 40, h: 7, want: []string{"Nothing is kept", "[Stop now]"}, not: []string{"resume", "queue"}},
		{name: "without a key", state: "locked out", w: 80, h: 20, want: []string{"the run ends as failed", "waits for resume", "12 are at the platform"}, not: []string{"in flight finish"}},
		{name: "without a key, compact", state: "locked out", w: 40, h: 7, want: []string{"waits for a key", "ends as failed", "y: drain"}},
		{name: "draining, compact", draining: true, w: 40, h: 7, want: []string{"[Stay]", "[Stop now: 48 return to the queue]", "a: stop now"}},
		{name: "draining a passing run", draining: true, passing: true, w: 80, h: 20, want: []string{"[Stop now]"}, not: []string{"queue"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d.Frame.Run.State = c.state
			box := QuitQuestion(d, c.draining, c.passing).Box(look, c.w, c.h)
			all := strings.Join(box, "\n")
			if len(box) > c.h || !strings.HasPrefix(box[len(box)-1], look.Glyphs.Heavy.BottomLeft) {
				t.Errorf("%d lines of %d, the border must be the last:\n%s", len(box), c.h, all)
			}
			for _, s := range c.want {
				if !strings.Contains(all, s) {
					t.Errorf("%q is missing:\n%s", s, all)
				}
			}
			for _, s := range c.not {
				if strings.Contains(all, s) {
					t.Errorf("%q is not true here:\n%s", s, all)
				}
			}
		})
	}
}
