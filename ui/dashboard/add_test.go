package dashboard

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"dev.scrapetop/engine"
	"dev.scrapetop/engine/view"
	"dev.scrapetop/ui/screen/sample"
)

// mouth is an Adder that notes what it is fed with.
type mouth struct {
	fed   []string
	added engine.Added
	why   string
	err   error
}

func (m *mouth) Add(_ context.Context, typed string) (engine.Added, string, error) {
	m.fed = append(m.fed, typed)
	return m.added, m.why, m.err
}

// TestAddingURLs is the reducer's table of adding work to the run.
func TestAddingURLs(t *testing.T) {
	some := engine.Added{Tasks: 10, Duplicates: 2}
	for _, tt := range []struct {
		name  string
		keys  []string
		mouth mouth
		fed   []string
		sees  []string
	}{
		{"the dialog says what it takes", []string{"a"}, mouth{}, nil, []string{"Add URLs", "a file", "Enter:Add", "Esc:Close"}},
		{"a URL", []string{"a", "http://a.test/q", "enter"}, mouth{added: engine.Added{Tasks: 1}}, []string{"http://a.test/q"}, []string{"added 1 URL"}},
		{"one that is there", []string{"a", "http://a.test/", "enter"}, mouth{added: engine.Added{Duplicates: 1}}, []string{"http://a.test/"}, []string{"nothing was added, 1 URL already there"}},
		{"a file", []string{"a", "~/list.txt", "enter"}, mouth{added: some}, []string{"/home/me/list.txt"}, []string{"added 10 URLs, 2 already there"}},
		{"lines are refused", []string{"3", "a", "x.txt", "enter"}, mouth{added: engine.Added{Tasks: 1, Refused: 3}, why: "x.txt:7: no URL\x1b[2J"}, []string{"x.txt"}, []string{"added 1 URL, 3 refused: x.txt:7: no URL"}},
		{"nothing was typed", []string{"2", "a", "enter"}, mouth{}, nil, []string{"Add URLs", "name a URL or a file"}},
		{"Esc adds nothing", []string{"a", "x", "esc"}, mouth{}, nil, []string{"Fleet"}},
		{"letters of other keys are typed", []string{"a", "q", "p", "?", "enter"}, mouth{added: some}, []string{"qp?"}, []string{"added"}},
		{"a file that is not there", []string{"a", "no.txt", "enter"}, mouth{err: errors.New("no.txt: no such file")}, []string{"no.txt"}, []string{"Add URLs", "no.txt_", "no such file"}},
		{"the run ends meanwhile", []string{"a", "x.txt", "enter"}, mouth{added: engine.Added{Tasks: 1000, Cut: true}}, []string{"x.txt"}, []string{"added 1,000 URLs; the run ended, the rest was not read"}},
		{"the palette takes it", []string{":", "add http://b.test/", "enter"}, mouth{added: some}, []string{"http://b.test/"}, []string{"added 10 URLs"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := drive(t, sample.Normal(), 120, 36, func(o *Options) {
				o.Adder, o.Rows, o.Getenv = &tt.mouth, million(3), env("HOME", "/home/me", "TERM", "xterm-256color")
			})
			d.press(tt.keys...)
			if !slices.Equal(tt.mouth.fed, tt.fed) {
				t.Errorf("fed with %q, want %q", tt.mouth.fed, tt.fed)
			}
			for _, s := range tt.sees {
				d.sees(s)
			}
			d.did()
		})
	}
}

// TestTheFirstRunIsStartedWhereNoneIsLoaded, and the demo, by the keys in force; what cannot be opened is told in the dialog.
func TestTheFirstRunIsStartedWhereNoneIsLoaded(t *testing.T) {
	for _, size := range [][2]int{{120, 36}, {80, 24}, {40, 10}} {
		var chosen []Again
		d := drive(t, nil, size[0], size[1], func(o *Options) {
			o.Again = func(a Again) { chosen = append(chosen, a) }
			o.Opens = func(typed string) error {
				if typed == "no.txt" {
					return errors.New("no.txt: no such file")
				}
				return nil
			}
		})
		d.sees("No run is loaded.")
		d.sees("starts the demo")
		d.press("a", "no.txt", "enter")
		d.sees("no such file")
		if d.quit || len(chosen) > 0 {
			t.Fatal("a run of nothing was started")
		}
		d.press("esc", "a", "list.txt", "enter")
		if want := []Again{{Typed: "list.txt"}}; !d.quit || !slices.Equal(chosen, want) {
			t.Errorf("chosen %v", chosen)
		}
		d.press("d")
		if want := (Again{Demo: true}); len(chosen) != 2 || chosen[1] != want {
			t.Errorf("chosen %v", chosen)
		}
	}
	d := drive(t, sample.Normal(), 120, 36, func(o *Options) { o.Adder = &mouth{} })
	d.press("d")
	d.sees("the demo starts where no run is loaded")
}

// TestLinesArePastedWhole: several lines are several URLs, and more than the field takes is refused, not cut.
func TestLinesArePastedWhole(t *testing.T) {
	m := &mouth{added: engine.Added{Tasks: 2}}
	d := drive(t, sample.Normal(), 40, 10, func(o *Options) { o.Adder = m })
	paste := func(s string) { d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(s), Paste: true}) }
	d.press("a")
	paste(strings.Repeat("http://a.test/\n", 2000))
	d.sees("too much at once")
	paste("http://a.test/1\r\nhttp://b.test/2\n")
	d.press("enter")
	if !slices.Equal(m.fed, []string{"http://a.test/1 http://b.test/2"}) {
		t.Errorf("fed with %q", m.fed)
	}
	d.sees("added 2 URLs")
}

// TestWhyNothingCanBeAdded is said instead of opening the dialog.
func TestWhyNothingCanBeAdded(t *testing.T) {
	m := &mouth{}
	for _, tt := range []struct {
		frame *view.Frame
		opt   func(*Options)
		sees  string
	}{
		{sample.Stopped(), func(o *Options) { o.Adder = m }, "the run is over: nothing can be added to it"},
		{nil, func(*Options) {}, "no run is going"},
		{sample.Normal(), func(o *Options) { o.Watching = true }, "another process drives the run"},
	} {
		d := drive(t, tt.frame, 120, 36, tt.opt)
		d.press("a")
		d.sees(tt.sees)
		d.seesNot("Add URLs ─")
	}
	d := drive(t, sample.Normal(), 120, 36, func(o *Options) { o.Adder = m })
	d.source.change(func(f *view.Frame) { f.Run.State = "draining" })
	d.advance(1e9)
	d.press("a")
	d.sees("the run is stopping")
	if len(m.fed) > 0 {
		t.Error(m.fed)
	}
}
