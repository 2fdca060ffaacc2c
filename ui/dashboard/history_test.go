package dashboard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"dev.scrapetop/engine/view"
	"dev.scrapetop/storage"
	"dev.scrapetop/ui/screen"
	"dev.scrapetop/ui/screen/sample"
)

// archive is a Reader of runs and their results, and an Exporter that notes what it was asked for.
type archive struct {
	asked  []screen.Ask
	wrote  []string
	more   int64 // tasks that each run has by now
	exists bool
	fault  error
	going  func(told func(rows, bytes int64)) error // nil: it is written at once
}

func (s *archive) Read(_ context.Context, ask screen.Ask) (screen.Rows, error) {
	s.asked = append(s.asked, ask)
	r, err := s.read(ask)
	for _, run := range sample.Runs() {
		if ask.Past && run.ID == ask.Run {
			r.Past = run
			r.Past.Tasks += s.more
		}
	}
	return r, err
}

func (s *archive) read(ask screen.Ask) (screen.Rows, error) {
	switch ask.Tab {
	case screen.Results:
		return screen.Rows{Results: storage.Rows[storage.ResultRow]{Rows: sample.Results(), First: true, Last: true}}, nil
	case screen.Page:
		page := sample.Page()
		if ask.Task == 88_103 {
			page = sample.Binary()
			page.Page = min(ask.Page, 2)
		}
		return screen.Rows{Page: page}, nil
	case screen.History:
	default:
		return screen.Rows{Tasks: storage.Rows[storage.TaskRow]{Rows: sample.Tasks(), First: true, Last: true}}, nil
	}
	list := slices.DeleteFunc(sample.Runs(), func(r storage.Run) bool {
		return !strings.Contains(r.Name+" "+string(r.State), ask.Text)
	})
	r := screen.Rows{Runs: storage.Rows[storage.Run]{Rows: list, First: true, Last: true}, Bytes: 412 << 20}
	if run := r.RunAt(ask.Around); run != nil {
		r.Run, r.Results = run.ID, storage.Rows[storage.ResultRow]{Rows: sample.Results()}
		pair := ask.Tagged[:]
		if pair[1] == 0 {
			pair = []int64{run.ID, run.ID - 1}
		}
		for _, one := range sample.Runs() {
			if slices.Contains(pair, one.ID) {
				r.Versus = append(r.Versus, screen.Measured{Run: one})
			}
		}
	}
	return r, nil
}

func (s *archive) Export(ctx context.Context, spec storage.ExportSpec, path string, replace bool, told func(rows, bytes int64)) (int64, error) {
	which := strings.Join(strings.Fields(fmt.Sprint(spec.Run, " ", spec.Domain, " ", spec.State)), " ")
	s.wrote = append(s.wrote, fmt.Sprintf("%s of %s as %s %q to %s %v", spec.What, which, spec.Format, spec.Columns, path, replace))
	told(7, 700)
	switch {
	case s.exists && !replace:
		return 0, fmt.Errorf("%s: %w", path, ErrExists)
	case s.going != nil:
		return 7, errors.Join(s.going(told), ctx.Err())
	}
	return 7, s.fault
}

func onHistory(t *testing.T, s *archive, frame *view.Frame, w, h int, names ...string) *driver {
	t.Helper()
	d := drive(t, frame, w, h, func(o *Options) { o.Rows, o.Exporter = s, s })
	d.press(append([]string{"6"}, names...)...)
	d.advance(100 * time.Millisecond)
	d.drawn()
	return d
}

// TestKeysOnHistory is the reducer's table of runs, results and a result.
func TestKeysOnHistory(t *testing.T) {
	for _, tt := range []struct {
		name      string
		keys      []string
		sees, not []string
	}{
		{"the newest is chosen", nil, []string{"▶   #184 catalog", "Results of #184", "#184 against #183", "412 MB"}, nil},
		{"down", []string{"j"}, []string{"▶   #183 catalog", "Results of #183"}, nil},
		{"the last and beyond", []string{"G", "j"}, []string{"▶   #178 prices", "INTERRUPTED"}, nil},
		{"a search", []string{"/", "f", "a", "i", "l", "enter"}, []string{"#180", "search: fail"}, []string{"#183 catalog"}},
		{"a search is cleared", []string{"/", "f", "a", "i", "l", "enter", "esc"}, []string{"#183"}, []string{"search: fail"}},
		{"one tagged", []string{" "}, []string{"▶   #183", " *  #184", "tagged #184"}, nil},
		{"two tagged", []string{"j", " ", "j", " "}, []string{"tagged #183 #181", "#183 against #181 (tagged)"}, nil},
		{"a third makes room", []string{" ", " ", " "}, []string{"tagged #183 #182"}, nil},
		{"a tag taken back", []string{" ", "k", " "}, nil, []string{"tagged"}},
		{"U clears", []string{" ", "U"}, nil, []string{"tagged"}},
		{"compared on the whole screen", []string{"j", " ", "j", " ", "="}, []string{"#183 against #181", "SETTINGS THAT DIFFER", "--domain-max-in-flight  8 / 16"}, []string{"PROVIDER"}},
		{"and back", []string{"=", "esc"}, []string{"PROVIDER"}, nil},
		{"and back by its key", []string{"=", "="}, []string{"PROVIDER"}, nil},
		{"the results of a run", []string{"j", "enter"}, []string{"results of #183 catalog", "looking at run #183: it is over. 1: back", "▶    88,100", "came from https://shop-a.example/p/4411"}, []string{"ETA"}},
		{"those of the run that is driven", []string{"enter"}, []string{"results of #184 catalog", "ETA"}, []string{"looking"}},
		{"its tasks", []string{"j", "enter", "3"}, []string{"looking at run #183", "3 Tasks 52,938▐"}, nil},
		{"its dead letters are not requeued here", []string{"j", "enter", "3", "r"}, []string{"only looked at: scrapetop requeue --run 183"}, nil},
		{"P does nothing to it", []string{"j", "enter", "P"}, []string{"this run is only looked at: 1 goes back"}, nil},
		{"back to the live run", []string{"j", "enter", "1"}, []string{"Fleet", "#184"}, []string{"looking"}},
		{"its budgets are not known", []string{"j", "enter", "2"}, []string{"forum-c.example"}, []string{"looking"}},
		{"back in steps", []string{"esc", "j", "enter", "j", "enter", "esc", "esc"}, []string{"▶   #183 catalog"}, nil},
		{"back from its tasks", []string{"esc", "j", "enter", "3", "esc"}, []string{"▶   #183 catalog"}, nil},
		{"a result", []string{"j", "enter", "j", "enter"}, []string{"<title>Trail shoe 42</title>", "server: shop/2", "% of 7.5 KB"}, nil},
		{"its body, further", []string{"j", "enter", "j", "enter", "j", "j"}, []string{"<head>"}, []string{"<!doctype"}},
		{"its end", []string{"j", "enter", "j", "enter", "G"}, []string{"</html>", "to 100% of"}, []string{"<!doctype"}},
		{"up from its end", []string{"j", "enter", "j", "enter", "G", "k"}, []string{"</body>"}, []string{"</html>"}},
		{"and its start", []string{"j", "enter", "j", "enter", "G", "g"}, []string{"<!doctype"}, nil},
		{"one page has no other", []string{"j", "enter", "enter", "l"}, []string{"the result has one page"}, nil},
		{"the pages of a crawl", []string{"j", "enter", "G", "enter", "l"}, []string{"PNG", "page 2 of 3"}, nil},
		{"the last page and beyond", []string{"j", "enter", "G", "enter", "l", "l", "l", "h"}, []string{"page 2 of 3"}, nil},
		{"copy a URL", []string{"j", "enter", "y"}, []string{"copied https://shop-a.example/c/shoes?item=0"}, nil},
		{"a run as JSON", []string{"Y"}, []string{"copied run as JSON"}, nil},
		{"a result as JSON", []string{"j", "enter", "enter", "Y"}, []string{"copied result as JSON"}, nil},
		{"copy a run", []string{"y"}, []string{"copied #184 catalog"}, nil},
		{"settings", []string{"j", "v", "j"}, []string{"Settings of #183", "▶ --rate  20/s"}, nil},
		{"no settings", []string{"v"}, []string{"none but the defaults"}, nil},
		{"a going run is in the way of another", []string{"j", "a"}, []string{"nothing can be started here"}, nil},
		{"frozen, nothing is opened", []string{"Z", "enter"}, []string{"the picture is frozen: Z"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := onHistory(t, &archive{}, sample.Normal(), 120, 36, tt.keys...)
			for _, s := range tt.sees {
				d.sees(s)
			}
			for _, s := range tt.not {
				d.seesNot(s)
			}
			d.did()
		})
	}
}

// TestHistoryWithoutARun: the dashboard on the database alone.
func TestHistoryWithoutARun(t *testing.T) {
	s := &archive{}
	var chosen []Again
	d := drive(t, nil, 120, 36, func(o *Options) {
		o.Rows, o.Exporter, o.Open, o.Again = s, s, screen.History, func(a Again) { chosen = append(chosen, a) }
	})
	d.drawn()
	d.sees("#184")
	d.press("a")
	d.sees("another process drives run #184")
	d.press("j", "enter", "3")
	d.sees("3 Tasks 52,938▐")
	d.press("1")
	d.sees("No run is loaded.")
	d.press("6", "a")
	d.sees("Run #183 again?")
	d.press("enter") // the safe button has the focus
	if d.quit || len(chosen) > 0 {
		t.Fatal("Enter started a run")
	}
	d.press("a", "a")
	if want := []Again{{Run: 183}}; !d.quit || !slices.Equal(chosen, want) {
		t.Errorf("chosen %v, over %v", chosen, d.quit)
	}
	d.press("j", "j", "j", "j", "a")
	d.sees("#179 is unfinished: resume it?")
	d.press("r")
	if want := []Again{{Run: 183}, {Run: 179, Resume: true}}; !slices.Equal(chosen, want) {
		t.Errorf("chosen %v", chosen)
	}
}

// TestALookedAtRunIsForgottenWhenItMatters: what becomes of the driven one is asked when one quits.
func TestALookedAtRunIsForgottenWhenItMatters(t *testing.T) {
	d := onHistory(t, &archive{}, sample.Normal(), 120, 36, "j", "enter", "q")
	d.sees("31 in flight finish")
	d.seesNot("looking")
	d = onHistory(t, &archive{}, sample.Normal(), 120, 36, "j", "enter")
	d.source.change(func(f *view.Frame) {
		f.Alerts = append(f.Alerts, view.Alert{Seq: 8, Level: "warn", Text: "credits near their cap"})
	})
	d.advance(time.Second)
	d.sees("credits near their cap") // of the run that is driven
	d.sees("looking at run #183")
}

// TestALookedAtRunMayGoOn in another process: its rows are read anew, and how it stands.
func TestALookedAtRunMayGoOn(t *testing.T) {
	s := &archive{}
	d := drive(t, nil, 120, 36, func(o *Options) { o.Rows, o.Open = s, screen.History })
	d.press("enter")
	d.sees("another process drives it")
	d.sees("3 Tasks 37,443")
	s.more = 100
	d.advance(2 * time.Second)
	d.sees("3 Tasks 37,543")
	d.press("1", "6", "j", "enter") // one that is over is not read again
	before := len(s.asked)
	d.advance(5 * time.Second)
	d.advance(5 * time.Second)
	if n := len(s.asked) - before; n != 0 {
		t.Errorf("%d questions about a run that is over", n)
	}
}

// TestAnAnswerAboutAnotherRunIsNotDrawn: the run is part of the question.
func TestAnAnswerAboutAnotherRunIsNotDrawn(t *testing.T) {
	s := &archive{}
	d := onHistory(t, s, sample.Normal(), 120, 36)
	d.press("j", "enter")
	d.hold = true
	d.press("3") // those of #183
	d.press("1", "3")
	d.sees("reading")
	d.hold = false
	d.release()
	d.drawn()
	d.sees("3 Tasks 37,443▐")
	if ask := s.asked[len(s.asked)-1]; ask.Run != 184 || ask.Tab != screen.Tasks || s.asked[len(s.asked)-2].Run != 183 {
		t.Errorf("the last question is %+v", ask)
	}
}

// TestKeysOfTheExportDialog is its reducer's table.
func TestKeysOfTheExportDialog(t *testing.T) {
	down := func(n int) []string { return slices.Repeat([]string{"tab"}, n) }
	keys := func(parts ...[]string) []string { return slices.Concat(parts...) }
	for _, tt := range []struct {
		name  string
		keys  []string
		wrote []string
		sees  []string
	}{
		{"it opens on the chosen run", []string{"j", "e"}, nil, []string{"(*) results 52,877", "(*) #183 catalog", "catalog-183-results.jsonl", "all 19"}},
		{"Esc closes it", []string{"e", "esc"}, nil, []string{"Results of #184"}},
		{"Cancel too", keys([]string{"e"}, down(7), []string{"enter"}), nil, []string{"Results of #184"}},
		{"what is shown is offered", []string{"5", "e"}, nil, []string{"(*) events", "catalog-184-events.jsonl"}},
		{"written", keys([]string{"j", "e"}, down(6), []string{"enter"}), []string{`results of 183 as jsonl [] to catalog-183-results.jsonl false`}, []string{"exported 7 results, 700 B: catalog-183-results.jsonl"}},
		{"choices", keys([]string{"e", "right", "right", "tab", " ", "tab", "tab", "left"}, down(3), []string{"enter"}), []string{`attempts of 0 as csv [] to all-attempts.csv false`}, []string{"exported"}},
		{"a step back", keys([]string{"e", "right", "left", "left", "right"}, down(6), []string{"enter"}), []string{`results of 184 as jsonl [] to catalog-184-results.jsonl false`}, nil},
		{"columns", keys([]string{"5", "e"}, down(4), []string{"enter", "j", "j", " ", " ", "enter"}, down(2), []string{"enter"}), []string{`events of 184 as jsonl ["at" "run" "key" "text" "task_id"] to catalog-184-events.jsonl false`}, nil},
		{"one column", keys([]string{"5", "e"}, down(4), []string{"enter", "*", " "}, []string{"esc"}, down(2), []string{"enter"}), []string{`events of 184 as jsonl ["at"] to catalog-184-events.jsonl false`}, nil},
		{"columns are those of what is chosen", keys([]string{"e"}, down(4), []string{"enter", " ", "enter", "shift+tab", "shift+tab", "shift+tab", "shift+tab", "right"}, down(6), []string{"enter"}), []string{`tasks of 184 as jsonl [] to catalog-184-tasks.jsonl false`}, nil},
		{"a path of one's own stays", keys([]string{"e"}, down(5), []string{"ctrl+u", "x", " ", "q", "shift+tab", "shift+tab", "right"}, down(3), []string{"enter"}), []string{`results of 184 as json [] to x q false`}, nil},
		{"the tasks of a state", keys([]string{"3", "l", "e"}, down(6), []string{"enter"}), []string{`tasks of 184 pending as jsonl [] to catalog-184-tasks-pending.jsonl false`}, nil},
		{"all of them after all", keys([]string{"3", "l", "e"}, down(2), []string{"right"}, down(4), []string{"enter"}), []string{`tasks of 184 as jsonl [] to catalog-184-tasks.jsonl false`}, nil},
		{"results have no state", keys([]string{"3", "l", "e", "left"}, down(6), []string{"enter"}), []string{`results of 184 as jsonl [] to catalog-184-results.jsonl false`}, nil},
		{"the tasks of a domain", keys([]string{"2", "g", "enter", "e"}, down(6), []string{"enter"}), []string{`tasks of 184 forum-c.example as jsonl [] to catalog-184-tasks-forum-c-example.jsonl false`}, nil},
		{"dead letters", keys([]string{"4", "e"}, down(6), []string{"enter"}), []string{`tasks of 184 dead as jsonl [] to catalog-184-tasks-dead.jsonl false`}, nil},
		{"no path", keys([]string{"e"}, down(5), []string{"ctrl+u", "tab", "enter"}), nil, []string{"name the file to write"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &archive{}
			d := onHistory(t, s, sample.Normal(), 120, 36, tt.keys...)
			if !slices.Equal(s.wrote, tt.wrote) {
				t.Errorf("wrote %q, want %q", s.wrote, tt.wrote)
			}
			for _, text := range tt.sees {
				d.sees(text)
			}
			d.did()
		})
	}
}

func TestAPathAtHome(t *testing.T) {
	for path, want := range map[string]string{"~/a.csv": "/home/me/a.csv", "a~/b": "a~/b", "~": "~", "/x": "/x"} {
		if got := atHome(path, "/home/me"); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
}

var export5 = []string{"j", "e", "tab", "tab", "tab", "tab", "tab", "tab", "enter"}

func TestAnExportNeverReplacesUnasked(t *testing.T) {
	s := &archive{exists: true}
	d := onHistory(t, s, sample.Normal(), 120, 36, export5...)
	d.sees("catalog-183-results.jsonl exists.")
	d.press("enter") // keeps it: the dialog has what was chosen
	d.sees("▶ To")
	d.press("tab", "enter", "r")
	d.sees("exported 7 results")
	if len(s.wrote) != 3 || !strings.HasSuffix(s.wrote[2], "true") || !strings.HasSuffix(s.wrote[1], "false") {
		t.Errorf("%q", s.wrote)
	}
	d.press("e")
	d.sees("Export") // another one
}

func TestAFailedExportKeepsItsDialog(t *testing.T) {
	s := &archive{fault: errors.New("no space left on device\x1b[2J")}
	d := onHistory(t, s, sample.Normal(), 80, 24, export5...)
	d.sees("no space left on device")
	d.sees("catalog-183-results.jsonl")
	s.fault = nil
	d.press("tab", "enter")
	d.sees("exported 7 results")
}

// TestAnExportTellsHowFarItCame, goes on in the background, and is stopped.
func TestAnExportTellsHowFarItCame(t *testing.T) {
	s := &archive{}
	var d *driver
	s.going = func(told func(rows, bytes int64)) error {
		told(26_438, 5_400_000)
		d.advance(100 * time.Millisecond)
		d.sees("50%  26,438 of 52,877, 5.1 MB")
		if got := d.paces[len(d.paces)-1]; got != time.Second/localFPS {
			t.Errorf("its progress is drawn each %v", got)
		}
		d.press("enter") // in the background
		d.sees("Results of #183")
		d.sees("writing catalog-183-results.jsonl: 50%  26,438 of 52,877")
		d.press("q")
		d.sees("Leave while an export is written?")
		d.press("enter", "e") // stays, and to the front
		d.sees("[Stop]")
		d.press("esc")
		return nil
	}
	d = onHistory(t, s, sample.Normal(), 120, 36, "j")
	d.press(export5[1:]...)
	d.sees("stopped, nothing of it was written: catalog-183-results.jsonl")
	d.press("e", "esc")
	d.sees("Results of #183")
}

// TestLeavingStopsAnExport and waits until nothing of it is left.
func TestLeavingStopsAnExport(t *testing.T) {
	stopped := make(chan struct{})
	m := New(&script{frame: sample.Normal()}, Options{Getenv: func(string) string { return "" }})
	m.export = &export{ExportForm: screen.NewExportForm(&storage.Run{}, screen.History), done: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	m.export.cancel = cancel
	go func() {
		<-ctx.Done()
		close(stopped)
		close(m.export.done)
	}()
	m.abandonExport()
	select {
	case <-stopped:
	default:
		t.Error("it still goes on")
	}
}
