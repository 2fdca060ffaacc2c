package dashboard

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"dev.scrapetop/engine"
	"dev.scrapetop/engine/view"
	"dev.scrapetop/ui/screen"
	"dev.scrapetop/ui/screen/sample"
)

func pause(domain string) engine.Command {
	return engine.Command{Verb: engine.Pause, Scope: "domain", Key: domain}
}

func resume(domain string) engine.Command {
	return engine.Command{Verb: engine.Resume, Scope: "domain", Key: domain}
}

func limit(domain string, n int) engine.Command {
	return engine.Command{Verb: engine.SetLimit, Scope: "domain", Key: domain, Limit: n}
}

// TestKeysBecomeCommands is the reducer's table: keys on a normal run, what is handed over, what is said.
func TestKeysBecomeCommands(t *testing.T) {
	tests := []struct {
		name string
		keys []string
		want []engine.Command
		sees string
	}{
		{"p pauses the row under the cursor", []string{"2", "j", "p"}, []engine.Command{pause("jobs-d.example")}, "pausing..."},
		{"p works on the Overview too", []string{"p"}, []engine.Command{pause("forum-c.example")}, "paused forum-c.example"},
		{"p resumes a paused row", []string{"2", "jjj", "p"}, []engine.Command{resume("maps-f.example")}, "resuming..."},
		{"p on a domain that is done says so", []string{"2", "G", "p"}, nil, "docs-i.example is done"},
		{"tags: any runs, so all pause", []string{"2", "jjj", " ", " ", "p"}, []engine.Command{pause("shop-a.example")}, "paused 2 domains"},
		{"tags: all are paused, so all resume", []string{"2", "jjj", " ", "p"}, []engine.Command{resume("maps-f.example")}, "resumed"},
		{"a second press on a wish is not handed over", []string{"2", "p", "p"}, []engine.Command{pause("forum-c.example")}, "already asked: pausing..."},
		{"u takes it back", []string{"2", "p", "u"}, []engine.Command{pause("forum-c.example"), resume("forum-c.example")}, "undone: paused"},
		{"u with nothing to undo says so", []string{"u"}, nil, "nothing to undo"},
		{"P pauses the run", []string{"P"}, []engine.Command{{Verb: engine.PauseRun}}, "pausing the run..."},
		{"[ lowers a limit", []string{"2", "["}, []engine.Command{limit("forum-c.example", 3)}, "4 -> 3 (yours)"},
		{"] raises it", []string{"2", "f8"}, []engine.Command{limit("forum-c.example", 5)}, "4 -> 5"},
		{"a held key steps on from the wish", []string{"2", "[[["}, []engine.Command{
			limit("forum-c.example", 3), limit("forum-c.example", 2), limit("forum-c.example", 1),
		}, "2 -> 1"},
		{"one is the least", []string{"2", "[[[["}, []engine.Command{
			limit("forum-c.example", 3), limit("forum-c.example", 2), limit("forum-c.example", 1),
		}, "1 is the least; p pauses"},
		{"undo gives a limit back to the engine", []string{"2", "[", "u"}, []engine.Command{limit("forum-c.example", 3), limit("forum-c.example", 0)}, "undone"},
		{"undo goes back to the user's own limit", []string{"2", "[", "[", "u"}, []engine.Command{
			limit("forum-c.example", 3), limit("forum-c.example", 2), limit("forum-c.example", 3),
		}, "undone"},
		{"c asks, and Enter keeps waiting", []string{"2", "c", "enter"}, nil, "Domains"},
		{"c asks, and y alone does nothing", []string{"2", "c", "y"}, nil, "End the cooldown of forum-c.example?"},
		{"c asks, and its letter ends it", []string{"2", "c", "e"}, []engine.Command{{Verb: engine.EndCooldown, Scope: "domain", Key: "forum-c.example"}}, "one probe first"},
		{"c asks, and the other button ends it", []string{"2", "c", "tab", "enter"}, []engine.Command{{Verb: engine.EndCooldown, Scope: "domain", Key: "forum-c.example"}}, "one probe first"},
		{"c on a row that does not cool says so", []string{"2", "jjjj", "c"}, nil, "shop-a.example is not cooling"},
		{"q asks with Drain in focus", []string{"q"}, nil, "▶ [Drain]"},
		{"q, Enter drains", []string{"q", "enter"}, []engine.Command{{Verb: engine.Drain}}, "stopping: what is in flight finishes"},
		{"q, y drains", []string{"q", "y"}, []engine.Command{{Verb: engine.Drain}}, "stopping"},
		{"q, Esc stays", []string{"q", "esc"}, nil, "Fleet"},
		{"q, the first button stays", []string{"q", "left", "enter"}, nil, "Fleet"},
		{"q, the last button stops at once", []string{"q", "tab", "enter"}, []engine.Command{{Verb: engine.Abandon}}, "stopping now"},
		{"Ctrl-C drains without asking", []string{"ctrl+c"}, []engine.Command{{Verb: engine.Drain}}, "stopping"},
		{"Ctrl-C twice stops at once", []string{"ctrl+c", "ctrl+c"}, []engine.Command{{Verb: engine.Drain}, {Verb: engine.Abandon}}, "stopping now"},
		{"q while stopping asks with Stay in focus", []string{"ctrl+c", "q"}, []engine.Command{{Verb: engine.Drain}}, "▶ [Stay]"},
		{"Ctrl-C in a dialog drains", []string{"q", "ctrl+c"}, []engine.Command{{Verb: engine.Drain}}, "stopping"},
		{"letters in a filter are text", []string{"2", "/", "p", "q", "P"}, nil, "filter: pqP_"},
		{"the cursor moves in a filter", []string{"2", "/", "s", "h", "p", "left", "o"}, nil, "filter: sho_p"},
		{"letters in the help search it", []string{"?", "k", "i", "l", "l"}, nil, "Type to search: kill_"},
		{"Enter in the help does what the line says", []string{"2", "?", "half page up", "enter", "p"}, []engine.Command{pause("forum-c.example")}, "pausing"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := drive(t, sample.Normal(), 120, 36)
			d.press(tt.keys...)
			d.did(tt.want...)
			d.sees(tt.sees)
			if d.quit {
				t.Error("the program ended")
			}
		})
	}
}

func TestTypedRunesAreSplit(t *testing.T) {
	d := drive(t, sample.Normal(), 120, 36)
	d.press("2", "jjj")
	d.selected("maps-f.example")
}

func TestPasteRunsNoCommands(t *testing.T) {
	d := drive(t, sample.Normal(), 120, 36)
	d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("pPq\x1b[2J"), Paste: true})
	d.did()
	d.sees("pasted text is taken in a text field only")
	d.press("/")
	d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("shop\n-a\x1b[2J"), Paste: true})
	d.sees("filter: shop -a_")
}

func TestAltKeyIsEscapeThenKeyInADialog(t *testing.T) {
	d := drive(t, sample.Normal(), 120, 36)
	d.press("2", "c")
	d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("p"), Alt: true})
	d.seesNot("End the cooldown")
	d.did(pause("forum-c.example"))
}

func TestAWishStandsUntilAFrameConfirmsIt(t *testing.T) {
	d := drive(t, sample.Normal(), 120, 36)
	d.press("2", "jjjj", "p")
	d.sees("pausing...")
	d.advance(time.Second)
	d.sees("pausing...")
	d.source.change(func(f *view.Frame) { d.source.row(f, "shop-a.example").State = view.StatePause })
	d.advance(100 * time.Millisecond)
	d.seesNot("pausing...")
	d.press("p")
	d.did(pause("shop-a.example"), resume("shop-a.example"))
	d.advance(2100 * time.Millisecond)
	d.sees("the engine has not answered yet: resuming...")
}

func TestUndoLastsTenSeconds(t *testing.T) {
	d := drive(t, sample.Normal(), 120, 36)
	d.press("2", "p")
	d.sees("u: undo, 10 s left")
	d.source.change(func(f *view.Frame) { d.source.row(f, "forum-c.example").State = view.StatePause })
	d.advance(3 * time.Second)
	d.sees("u: undo, 7 s left")
	d.advance(7 * time.Second)
	d.seesNot("undo")
	d.did(pause("forum-c.example"))
	d.press("u")
	d.sees("nothing to undo")
}

func TestAlertsAreToastedOnceAndCounted(t *testing.T) {
	d := drive(t, sample.Normal(), 120, 36)
	d.sees("time is forecast to reach 93% of its cap")
	d.sees("! 1 alert")
	d.advance(5 * time.Second)
	d.seesNot("forecast to reach")
	d.source.change(func(f *view.Frame) {
		f.Alerts = []view.Alert{{Seq: 20, Level: "error", Text: "the key was refused", Do: "check it"}, {Seq: 19, Text: "older"}}
	})
	d.advance(time.Second)
	d.sees("the key was refused")
	d.sees("12 more alerts: ! on the Overview")
	d.advance(time.Minute)
	d.sees("the key was refused") // a fault stays until a key
	d.press("1")
	d.seesNot("the key was refused")
	d.press("!")
	d.sees("Alerts")
	d.sees("the key was refused")
	d.sees("older")
	d.press("enter")
	d.sees("check it")
	d.seesNot("! 2 alerts")
}

// onModel answers from a read model and notes commands.
type onModel struct {
	*script
	model *view.Model
}

func (o onModel) Frame(q view.Query) *view.Frame { return o.model.Frame(q) }

func TestLeavingWaitsForTheDrain(t *testing.T) {
	over := false
	d := drive(t, sample.Normal(), 120, 36, func(o *Options) { o.Ended = func() bool { return over } })
	d.press("q", "enter")
	d.source.change(func(f *view.Frame) { f.Run.State, f.InFlight, f.Run.DrainBy = "draining", 7, d.now.Add(31*time.Second) })
	d.advance(time.Second)
	d.sees("STOPPING: 7 in flight, at most 00:30. Ctrl-C: stop now")
	if d.quit {
		t.Fatal("left before the drain ended")
	}
	over = true
	d.advance(time.Second)
	if !d.quit {
		t.Fatal("still here after the drain ended")
	}
	d.did(engine.Command{Verb: engine.Drain})
}

func TestAThirdInterruptWaitsForNothing(t *testing.T) {
	d := drive(t, sample.Normal(), 80, 24)
	d.send(interruptMsg{})
	d.send(interruptMsg{})
	if d.quit {
		t.Fatal("the engine was not waited for")
	}
	d.send(interruptMsg{})
	if !d.quit {
		t.Fatal("still here")
	}
}

func TestTheDashboardStaysWhenItsRunEnds(t *testing.T) {
	d := drive(t, sample.Normal(), 120, 36)
	d.source.frame = sample.Stopped()
	d.source.frame.Seq = 99
	d.advance(time.Second)
	d.advance(time.Second)
	if d.quit {
		t.Fatal("the dashboard closed by itself")
	}
	d.sees("STOPPED: stop requested")
	d.sees("took 48:53")
	if strings.Contains(d.screen()[0], "14:30") {
		t.Error("a clock is drawn although no run is live")
	}
	d.press("p")
	d.did()
	d.sees("no run is going")
	d.press("q")
	if !d.quit {
		t.Fatal("q asked although nothing is going")
	}
}

func TestCopyGoesThroughOSC52(t *testing.T) {
	d := drive(t, sample.Normal(), 120, 36)
	d.press("y")
	if want := "\x1b]52;c;Zm9ydW0tYy5leGFtcGxl\x07"; d.copied != want {
		t.Fatalf("%q was written", d.copied)
	}
	d.sees("copied forum-c.example")
}

func TestThemesTurnLive(t *testing.T) {
	d := drive(t, sample.Normal(), 120, 36)
	before := d.m.View()
	d.press("t")
	if d.m.View() == before {
		t.Error("the picture is the same in another theme")
	}
	d.press("T")
	d.sees("theme dark")
	mono := drive(t, sample.Normal(), 120, 36, func(o *Options) { o.NoColor = true })
	if strings.Contains(mono.m.View(), "\x1b") {
		t.Error("colours although there are none")
	}
	mono.press("t")
	mono.sees("colours are off")
}

func TestAnUnknownThemeIsTold(t *testing.T) {
	d := drive(t, sample.Empty(), 120, 36, func(o *Options) { o.Theme = "no-such\x1b[2J" })
	d.sees("unknown theme")
}

// TestTheUsersThemesAreTurnedToo: one that cannot be worn is told and passed over, and the look stays.
func TestTheUsersThemesAreTurnedToo(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"dark.toml": "background = \"dark\"\n[ok]\ntruecolor = \"#00ff00\"\n", "faulty.toml": "[okay]\n", "zebra.toml": "background = \"light\"\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d := drive(t, sample.Normal(), 120, 36, func(o *Options) { o.Themes.Folders = []string{folder} })
	if !strings.Contains(d.m.View(), "\x1b[38;2;0;255;0m") {
		t.Error("the user's dark does not stand in for the shipped one")
	}
	before := d.m.look
	d.press("t")
	d.sees("faulty.toml:1: okay: unknown role or key")
	if d.m.look != before {
		t.Error("the look changed with a theme that cannot be loaded")
	}
	d.press("t")
	d.sees("theme high-contrast")
	d.press("T", "T")
	d.sees("theme dark")
	d.press("T", "T", "T")
	d.sees("theme zebra: ")
	broken := drive(t, sample.Empty(), 120, 36, func(o *Options) { o.Themes.Folders, o.Theme = []string{folder}, "faulty" })
	broken.sees("unknown role or key")
}

func TestPaces(t *testing.T) {
	last := func(d *driver) time.Duration { return d.paces[len(d.paces)-1] }
	d := drive(t, sample.Normal(), 120, 36)
	if last(d) != 100*time.Millisecond {
		t.Errorf("a live run ticks each %v", last(d))
	}
	for range 6 {
		d.source.change(func(*view.Frame) {})
		d.advance(time.Second)
	}
	if last(d) != 200*time.Millisecond {
		t.Errorf("nobody presses a key, and it ticks each %v", last(d))
	}
	d.press("j")
	if last(d) != 100*time.Millisecond {
		t.Errorf("after a key it ticks each %v", last(d))
	}
	d.advance(4 * time.Second)
	if last(d) != 500*time.Millisecond {
		t.Errorf("nothing changes, and it ticks each %v", last(d))
	}
	d.send(tea.BlurMsg{})
	d.advance(time.Second)
	if last(d) != time.Second {
		t.Errorf("nobody looks, and it ticks each %v", last(d))
	}
	chain := d.chain
	d.source.change(func(*view.Frame) {})
	d.send(tea.FocusMsg{})
	d.advance(time.Second)
	if last(d) != 200*time.Millisecond {
		t.Errorf("looked at again, it ticks each %v", last(d))
	}
	asked := len(d.paces)
	d.send(frameMsg{chain, d.now})
	if len(d.paces) != asked {
		t.Error("a tick of an old chain began a second one")
	}
	ssh := drive(t, sample.Normal(), 120, 36, func(o *Options) {
		o.Getenv = func(k string) string { return map[string]string{"TERM": "xterm", "SSH_CONNECTION": "1"}[k] }
	})
	if last(ssh) != 250*time.Millisecond {
		t.Errorf("over SSH it ticks each %v", last(ssh))
	}
	still := drive(t, sample.Stopped(), 120, 36)
	if last(still) != time.Second {
		t.Errorf("without a live run it ticks each %v", last(still))
	}
}

func TestSuspendStopsTheClockAndResumeStartsIt(t *testing.T) {
	d := drive(t, sample.Normal(), 120, 36)
	d.press("ctrl+z")
	calls := d.source.calls
	d.advance(time.Minute)
	if d.source.calls != calls {
		t.Error("a suspended dashboard asks for frames")
	}
	d.send(tea.ResumeMsg{})
	d.advance(time.Second)
	if d.source.calls == calls {
		t.Error("no frame after coming back")
	}
}

func TestAPictureIsDrawnOnlyWhenItChanges(t *testing.T) {
	d := drive(t, sample.Stopped(), 120, 36)
	d.advance(time.Minute) // the toast went
	d.advance(time.Second)
	drawn := d.m.frames
	for range 100 {
		d.advance(time.Second)
	}
	if d.m.frames != drawn {
		t.Errorf("%d pictures of an unchanged run", d.m.frames-drawn)
	}
	live := drive(t, sample.Normal(), 120, 36)
	live.advance(time.Minute)
	drawn = live.m.frames
	for range 20 {
		live.advance(100 * time.Millisecond)
	}
	if n := live.m.frames - drawn; n > 3 {
		t.Errorf("%d pictures in two seconds without news", n)
	}
}

func TestPanesZoomAndColumns(t *testing.T) {
	d := drive(t, sample.Normal(), 120, 36)
	d.press("tab", "tab", "z")
	d.sees("429 by layer")
	d.seesNot("Fleet")
	d.press("esc", "enter", "w", "l", "l", "|")
	d.sees("LAST ANSWER")
	d.press("ctrl+o")
	d.sees("Fleet")
	small := drive(t, sample.Normal(), 80, 24)
	small.press("tab")
	small.sees("panes need 120x36")
}

func TestRangeOfTheChart(t *testing.T) {
	d := drive(t, sample.Normal(), 120, 36)
	d.press("-")
	if d.source.asked.Range != 50*time.Minute {
		t.Fatalf("range %v", d.source.asked.Range)
	}
	d.press("+", "+")
	d.sees("no other range")
}

func TestCrashEndsTheProgram(t *testing.T) {
	d := drive(t, sample.Normal(), 120, 36)
	d.unlike = true
	killed := 0
	d.m.crash.attach(func() { killed++ })
	d.source.panic = true
	d.source.change(func(*view.Frame) {})
	d.advance(time.Second)
	if !d.quit || killed != 1 || !strings.Contains(d.m.crash.Text(), "the source broke") {
		t.Fatalf("quit %v, killed %d, %q", d.quit, killed, d.m.crash.Text())
	}
}

func TestCrashOfAGoroutine(t *testing.T) {
	alone := make(chan struct{})
	c := NewCrash(func() { close(alone) })
	go func() {
		defer c.Guard()
		panic("worker")
	}()
	<-alone
	if !strings.Contains(c.Text(), "panic: worker") || !strings.Contains(c.Text(), "TestCrashOfAGoroutine") {
		t.Fatal(c.Text())
	}
	late := false
	c.attach(func() { late = true })
	if !late {
		t.Error("a crash before the dashboard does not end it")
	}
	var none *Crash
	if none.Text() != "" {
		t.Error("no crash has a text")
	}
}

func TestStillNeedsNoTerminal(t *testing.T) {
	lines, err := Still(&script{frame: sample.Normal()}, Options{Getenv: func(string) string { return "" }}, 80, 24, "2j")
	if err != nil || len(lines) != 24 || !strings.Contains(lines[1], "▌2 Budgets▐") {
		t.Fatalf("%v\n%s", err, strings.Join(lines, "\n"))
	}
	if _, err := Still(&script{panic: true}, Options{}, 80, 24, ""); err == nil {
		t.Error("a panic was not told")
	}
}

func TestLocaleWithoutUnicodeGetsASCII(t *testing.T) {
	for value, unicode := range map[string]bool{"": true, "C": false, "POSIX": false, "en_GB.UTF-8": true, "de_DE.utf8": true, "de_DE@euro": false} {
		lines, err := Still(&script{frame: sample.Normal()}, Options{Getenv: func(k string) string {
			if k == "LANG" {
				return value
			}
			return ""
		}}, 120, 36, "")
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(strings.Join(lines, ""), "●"); got != unicode {
			t.Errorf("LANG=%q: our signs %v", value, got)
		}
	}
}

func TestAZoomedPaneEndsWithItsRoom(t *testing.T) {
	d := drive(t, sample.Normal(), 120, 36)
	d.press("2", "tab", "tab", "z")
	d.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	d.sees("10 of 10")
	d.sees("▶  ◔ COOL")
}

func TestTitlesOfTheScreensAreTheTabs(t *testing.T) {
	d := drive(t, sample.Normal(), 120, 36)
	if d.m.tab != screen.Overview {
		t.Error("the dashboard does not open on the Overview")
	}
	d.press("2")
	d.sees("▌2 Budgets: 10 domains▐")
}
