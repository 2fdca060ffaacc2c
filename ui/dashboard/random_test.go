package dashboard

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"dev.scrapetop/engine/view"
	"dev.scrapetop/ui/keys"
	"dev.scrapetop/ui/screen"
	"dev.scrapetop/ui/screen/sample"
)

// library is a Reader of runs and of tasks.
type library struct {
	past *archive
	now  *shelf
}

func (l library) Read(ctx context.Context, ask screen.Ask) (screen.Rows, error) {
	if ask.Tab >= screen.History {
		return l.past.Read(ctx, ask)
	}
	return l.now.Read(ctx, ask)
}

// TestRandomKeys presses ten thousand keys, sizes, frames and waits; the laws hold after each.
func TestRandomKeys(t *testing.T) {
	frames := []*view.Frame{sample.Normal(), sample.Platform(), sample.Empty(), sample.Huge(), sample.Hostile(), sample.Stopped(), sample.Starting(), many(200), nil}
	var pressed []string
	for _, b := range keys.Default().Bindings() {
		for _, k := range b.Keys {
			if _, ok := named[k]; ok || len([]rune(k)) == 1 {
				pressed = append(pressed, k)
			}
		}
	}
	pressed = append(pressed, "jjj", "日本", "e\u0301", "backspace", "y", "e", "a", "x", "\x00")
	sizes := [][2]int{{120, 36}, {80, 24}, {40, 10}, {200, 60}, {30, 5}, {1, 1}, {0, 0}, {100, 30}}
	r := rand.New(rand.NewPCG(1, 2))
	past := &archive{}
	d := drive(t, frames[0], 120, 36, func(o *Options) {
		o.Rows, o.Exporter, o.Again = library{past, million(300)}, past, func(Again) {}
	})
	for range 10_000 {
		switch n := r.IntN(100); {
		case n < 80:
			d.press(pressed[r.IntN(len(pressed))])
		case n < 90:
			d.advance(time.Duration(r.IntN(3000)) * time.Millisecond)
		case n < 94:
			size := sizes[r.IntN(len(sizes))]
			d.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		case n < 96:
			d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("pasted \x1b[2J"), Paste: r.IntN(2) == 0, Alt: r.IntN(2) == 0})
		default:
			d.source.frame = frames[r.IntN(len(frames))]
			if d.source.frame != nil {
				f := *d.source.frame
				f.Seq = r.Uint64()
				d.source.frame = &f
			}
		}
	}
}
