package dashboard

import (
	"testing"
	"time"

	"dev.scrapetop/engine"
	"dev.scrapetop/engine/view"
	"dev.scrapetop/ui/screen/sample"
)

func TestPausingAKeyFromItsPane(t *testing.T) {
	d := drive(t, sample.Platform(), 120, 36)
	d.press("tab", "tab", "tab", "tab") // flight, chart, layers, cooldowns, what is left
	d.sees("▶ main")
	d.press("j")
	d.sees("▶ spare")
	d.press("p")
	want := engine.Command{Verb: engine.Pause, Scope: "credential", Key: "spare"}
	d.did(want)
	d.sees("paused credential spare")
	d.press("u")
	d.did(engine.Command{Verb: engine.Resume, Scope: "credential", Key: "spare"})

	// The selection is the name: it stays with the key when rows before it come and go.
	d.source.change(func(f *view.Frame) {
		f.Budgets = append([]view.BudgetRow{{Scope: "credential", Key: "another"}}, f.Budgets...)
	})
	d.advance(time.Second)
	d.sees("▶ spare")
	d.press("G", "j")
	d.sees("▶ provider")
	d.press("g", "k")
	d.sees("▶ another")
	d.press("c")
	d.sees("here p pauses a key or account")
}
