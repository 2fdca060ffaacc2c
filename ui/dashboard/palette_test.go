package dashboard

import (
	"strings"
	"testing"

	"dev.scrapetop/engine"
	"dev.scrapetop/ui/screen/sample"
)

// TestThePaletteCallsByName: what is typed, what is handed over, what is said.
func TestThePaletteCallsByName(t *testing.T) {
	for _, c := range []struct {
		name string
		keys []string
		want []engine.Command
		sees string
	}{
		{"it opens with everything", []string{":"}, nil, "pause <domain>"},
		{"Ctrl-P opens it too", []string{"ctrl+p"}, nil, "┏━ Command"},
		{"an action by its name", []string{":", "freeze", "enter"}, nil, "FROZEN"},
		{"by another word for it", []string{":", "coffee", "backspace", "backspace", "backspace", "backspace", "backspace", "backspace", "maximise"}, nil, "zoom the pane"},
		{"an argument is asked for", []string{":", "pause", "enter"}, nil, ": pause _"},
		{"and completed by its letters", []string{":", "pause mpf", "enter"}, nil, ""},
		{"pause one domain, wherever the cursor is", []string{":", "pause jobs", "enter"}, []engine.Command{pause("jobs-d.example")}, "paused jobs-d.example"},
		{"Tab completes", []string{":", "pau", "tab", "jobs", "tab"}, nil, ": pause jobs-d.example_"},
		{"resume a paused one", []string{":", "resume maps", "enter"}, []engine.Command{resume("maps-f.example")}, "resumed maps-f.example"},
		{"what is so already is said", []string{":", "pause maps", "enter"}, nil, "maps-f.example is so already"},
		{"the whole run", []string{":", "pause run", "enter"}, []engine.Command{{Verb: engine.PauseRun}}, "pausing the run"},
		{"filter", []string{"2", ":", "filter shop", "enter"}, nil, "1 of 10"},
		{"theme", []string{":", "theme colour", "enter"}, nil, "theme colour-blind"},
		{"sort", []string{"2", ":", "sort queue", "enter"}, nil, "sort: queue"},
		{"range", []string{":", "range 15", "enter"}, nil, "15 min"},
		{"go to a domain", []string{":", "go wiki", "enter"}, nil, "6/10"},
		{"what can do nothing says why", []string{":", "clear tags"}, nil, "no command is like that"},
		{"and in its place", []string{"2", ":", "clear tags", "enter"}, nil, "nothing is tagged"},
		{"what asks, asks", []string{":", "quit", "enter"}, nil, "[Drain]"},
		{"nothing is like that", []string{":", "qqq", "enter"}, nil, "no command is like that"},
		{"the last command comes back", []string{":", "pause run", "enter", ":", "up"}, []engine.Command{{Verb: engine.PauseRun}}, ": pause run_"},
		{"letters are text", []string{":", "q", "P"}, nil, ": qP_"},
		{"Esc closes", []string{":", "esc"}, nil, "Fleet"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := drive(t, sample.Normal(), 120, 36)
			d.press(c.keys...)
			d.did(c.want...)
			d.sees(c.sees)
		})
	}
}

// TestThePaletteHoldsEveryActionOfTheScreen, and at 40x10 too.
func TestThePaletteHoldsEveryActionOfTheScreen(t *testing.T) {
	for _, size := range [][2]int{{120, 36}, {80, 24}, {40, 10}} {
		d := drive(t, sample.Normal(), size[0], size[1])
		d.press(":")
		if n := len(d.m.palette.Lines); n < 40 {
			t.Errorf("%d lines", n)
		}
		d.press("pgdown", "down", "pgup", "up")
		d.press("theme ")
		names := 0
		for _, l := range d.m.palette.Lines {
			if strings.HasPrefix(l.Command, "theme ") {
				names++
			}
		}
		if names != 6 {
			t.Errorf("%d themes are offered", names)
		}
	}
}
