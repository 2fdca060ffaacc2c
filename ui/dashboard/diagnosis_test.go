package dashboard

import (
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"dev.scrapetop/engine/view"
	"dev.scrapetop/ui/screen/sample"
)

// TestTheDiagnosisIsReachedFromEveryScreenAtEverySize, scrolls to its end and closes.
func TestTheDiagnosisIsReachedFromEveryScreenAtEverySize(t *testing.T) {
	for _, size := range [][2]int{{120, 36}, {80, 24}, {40, 10}} {
		for _, there := range [][]string{nil, {"2"}, {"B"}, {"Z"}} {
			d := drive(t, sample.Keys(), size[0], size[1])
			d.press(there...)
			d.press("i")
			d.sees("Esc: close")
			d.sees("key or account refused")
			d.press("G")
			d.sees("nothing, no refusal")
			d.press("j", "pgdown", "ctrl+d") // no further than the end
			d.press("k", "k", "ctrl+u", "pgup", "g", "k")
			d.sees("key or account refused")
			d.press("esc")
			d.seesNot("Esc: close")
			d.press("i", "i")
			d.seesNot("Esc: close")
			d.did()
		}
	}
}

// TestTheDiagnosisAsksForItsEvidence, follows the frames, and costs nothing when it is closed.
func TestTheDiagnosisAsksForItsEvidence(t *testing.T) {
	d := drive(t, sample.Normal(), 80, 24)
	if d.source.asked.Evidence {
		t.Error("evidence is asked for although nobody looks")
	}
	d.press("i")
	if !d.source.asked.Evidence {
		t.Error("the diagnosis is drawn without its evidence")
	}
	d.seesNot("key or account refused")
	d.source.change(func(f *view.Frame) {
		f.Budgets = []view.BudgetRow{{Scope: "credential", Key: "late", Stopped: "auth: 403"}}
	})
	d.advance(time.Second)
	d.sees("credential late is stopped: auth: 403")
	d.press("esc")
	d.advance(time.Second)
	if d.source.asked.Evidence {
		t.Error("evidence is asked for although the diagnosis is closed")
	}
}

func TestTheDiagnosisGivesWayToHelpAndQuit(t *testing.T) {
	d := drive(t, sample.Keys(), 80, 24)
	d.press("i", "?")
	d.sees("Help: Overview")
	d.press("esc", "i", "q")
	d.sees("Quit?")
	d.press("esc", "i")
	d.send(tea.WindowSizeMsg{Width: 40, Height: 10})
	d.sees("Esc: close")
	if lines := d.screen(); !strings.Contains(lines[len(lines)-1], "Esc:Close") {
		t.Errorf("the footer is %q", lines[len(lines)-1])
	}
}
