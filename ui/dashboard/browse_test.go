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

// shelf is a Reader of a list of tasks: windows as storage makes them.
type shelf struct {
	tasks []storage.TaskRow
	asked []screen.Ask
	err   error
}

func (s *shelf) Read(_ context.Context, ask screen.Ask) (screen.Rows, error) {
	s.asked = append(s.asked, ask)
	if s.err != nil {
		return screen.Rows{}, s.err
	}
	var rows []storage.TaskRow
	for _, t := range s.tasks {
		if (ask.State == "" || t.State == ask.State) && (ask.Domain == "" || t.Domain == ask.Domain) && strings.Contains(t.URL, ask.Text) {
			rows = append(rows, t)
		}
	}
	at, _ := slices.BinarySearchFunc(rows, ask.Around, func(t storage.TaskRow, id int64) int { return int(min(max(t.ID-id, -1), 1)) })
	from, to := max(at-ask.Before, 0), min(at+ask.After, len(rows))
	r := screen.Rows{Tasks: storage.Rows[storage.TaskRow]{Rows: rows[from:to], First: from == 0, Last: to == len(rows)}}
	if r.Chosen = r.TaskAt(ask.Around); r.Chosen > 0 {
		r.Attempts = sample.Attempts()
	}
	return r, nil
}

func million(n int) *shelf {
	s := &shelf{}
	for i := range n {
		t := storage.TaskRow{}
		t.ID, t.State, t.Domain, t.URL, t.CreatedAt, t.Attempts = int64(i+1), storage.TaskPending, "a.example", fmt.Sprintf("http://a.example/%d", i+1), sample.Now, 3
		if i%3 == 2 {
			t.State, t.Domain = storage.TaskAccepted, "b.example"
		}
		s.tasks = append(s.tasks, t)
	}
	return s
}

// onTasks drives a dashboard whose rows are those of a shelf.
func onTasks(t *testing.T, s *shelf, w, h int, names ...string) *driver {
	t.Helper()
	d := drive(t, sample.Normal(), w, h, func(o *Options) { o.Rows = s })
	d.press(append([]string{"3"}, names...)...)
	d.drawn()
	return d
}

// drawn fails unless the answer to the last question is on the screen.
func (d *driver) drawn() {
	d.t.Helper()
	if a := &d.m.asking; a.shown != a.number || a.out {
		d.t.Fatalf("question %d is put, the answer to %d is drawn", a.number, a.shown)
	}
	d.m.View()
}

// TestKeysOnTasks is the reducer's table of the Tasks screen.
func TestKeysOnTasks(t *testing.T) {
	for _, tt := range []struct {
		name      string
		keys      []string
		sees, not []string
	}{
		{"the first is chosen", nil, []string{"▶  ○ PENDING", "Task 1 "}, nil},
		{"down", []string{"j", "j"}, []string{"▶  ✓ ACCEPTED", "Task 3 "}, nil},
		{"past the top", []string{"j", "k", "k"}, []string{"Task 1 "}, nil},
		{"a page", []string{"pgdown"}, []string{"Task 15 "}, nil},
		{"the end is that of the whole list", []string{"G"}, []string{"Task 5,000 ", "/5000"}, nil},
		{"up from the end", []string{"G", "k"}, []string{"Task 4,999 "}, nil},
		{"back to the start", []string{"G", "g"}, []string{"Task 1 "}, nil},
		{"the next state", []string{"l"}, []string{"[pending 6,185]", "Task 1 "}, []string{"ACCEPTED   "}},
		{"a state of none", []string{"l", "l"}, []string{"[delayed 12]", "no task matches"}, nil},
		{"the last state and beyond", []string{"l", "l", "l", "l", "l", "l", "l", "l"}, []string{"[cancelled]"}, nil},
		{"back to all", []string{"l", "h", "h"}, []string{"[all]"}, nil},
		{"a search", []string{"/", "4", "9", "9", "9", "enter"}, []string{"with 4999", "Task 4,999 "}, nil},
		{"a search is cleared", []string{"/", "4", "9", "9", "9", "enter", "esc"}, []string{"Task 1 "}, []string{"with 4999"}},
		{"all of it, and back", []string{"enter", "esc"}, []string{"RESULT"}, nil},
		{"all of it", []string{"j", "enter"}, []string{"http://a.example/2", "Esc: back", "ON THE WIRE"}, []string{"RESULT"}},
		{"all of the next", []string{"enter", "j"}, []string{"http://a.example/2", "Esc: back"}, nil},
		{"the way back", []string{"esc", "esc"}, []string{"Fleet"}, nil},
		{"copy", []string{"j", "y"}, []string{"copied http://a.example/2"}, nil},
		{"a key of another screen", []string{"]"}, []string{"] (limit up) is for domains: 2"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := onTasks(t, million(5000), 120, 36, tt.keys...)
			d.advance(100 * time.Millisecond)
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

func TestTasksOfADomain(t *testing.T) {
	s := million(60)
	for i := range s.tasks {
		if i%2 == 0 {
			s.tasks[i].Domain = "forum-c.example"
		}
	}
	d := drive(t, sample.Normal(), 120, 36, func(o *Options) { o.Rows = s })
	d.press("2", "g", "enter")
	d.drawn()
	d.sees("of forum-c.example")
	d.seesNot("pending 6,185") // of the run, not of the domain
	d.sees("30 of 37,443 in the run")
	d.press("esc")
	d.seesNot("of forum-c.example")
	d.sees("60 of 37,443 in the run")
}

// TestACursorStaysWithItsTask when rows before it leave, and goes to the next one when its own does.
func TestACursorStaysWithItsTask(t *testing.T) {
	s := million(100)
	d := onTasks(t, s, 80, 24, "l", "j", "j")
	d.sees("Task 4 ")
	s.tasks[0].State = storage.TaskAccepted
	d.advance(2 * time.Second)
	d.sees("Task 4 ")
	s.tasks[3].State = storage.TaskAccepted
	d.advance(2 * time.Second)
	d.sees("Task 5 ")
}

// TestQuestionsAreNumbered: one is out at a time, an answer that is not wanted any more is not drawn, and the last state of
// affairs is asked for when it is there.
func TestQuestionsAreNumbered(t *testing.T) {
	s := million(500)
	d := onTasks(t, s, 120, 36)
	first := len(s.asked)
	d.hold = true
	d.press("l") // pending
	d.press("l") // delayed, before the answer
	d.press("j", "k", "G")
	if len(d.held) != 1 {
		t.Fatalf("%d questions are out", len(d.held))
	}
	d.sees("reading")
	d.hold = false
	d.release()
	d.drawn()
	d.sees("[delayed 12]")
	d.sees("no task matches")
	if n := len(s.asked) - first; n != 2 {
		t.Errorf("%d questions for five keys", n)
	}
	if a := s.asked[len(s.asked)-1]; a.State != storage.TaskDelayed {
		t.Errorf("the last question is %+v", a)
	}
	// Without anybody's doing the rows are read once a second, and not at all when no run is live.
	before := len(s.asked)
	for range 30 {
		d.advance(100 * time.Millisecond)
	}
	if n := len(s.asked) - before; n < 2 || n > 4 {
		t.Errorf("%d questions in three seconds", n)
	}
	before = len(s.asked)
	d.source.change(func(f *view.Frame) { f.Live = false })
	d.advance(2 * time.Second)
	if n := len(s.asked) - before; n != 1 {
		t.Errorf("%d questions when the run ended", n)
	}
	before = len(s.asked)
	d.advance(5 * time.Second)
	d.advance(5 * time.Second)
	if n := len(s.asked) - before; n != 0 {
		t.Errorf("%d questions about a run that is over", n)
	}
}

// TestMovesFromAnEndThatHasNotCome: g or G, and an arrow before the answer, must not land in the rows of where one was.
func TestMovesFromAnEndThatHasNotCome(t *testing.T) {
	for key, want := range map[string]string{"g": "Task 1 ", "G": "Task 5,000 "} {
		s := million(5000)
		d := onTasks(t, s, 120, 36, "/", "2", "5", "enter", "j", "j", "esc")
		d.m.browse.Picks[screen.Tasks].ID = 2500
		d.m.wantRows(false)
		d.advance(100 * time.Millisecond)
		d.sees("Task 2,500 ")
		d.hold = true
		d.press(key, "j", "k", "k", "j")
		d.hold = false
		d.release()
		d.drawn()
		d.sees(want)
	}
}

func TestRowsThatCannotBeRead(t *testing.T) {
	s := million(10)
	s.err = errors.New("disk I/O error\x1b[2J")
	d := onTasks(t, s, 120, 36)
	d.sees("cannot be read: disk I/O error")
	d.press("j", "G", "enter", "y")
	s.err = nil
	d.advance(2 * time.Second)
	d.drawn()
	d.seesNot("cannot be read")
	d.sees("Task ")
}

// TestFrozenRowsStandStill: the picture holds what it has; what it lacks is not read into it.
func TestFrozenRowsStandStill(t *testing.T) {
	s := million(50)
	d := onTasks(t, s, 120, 36, "Z")
	before := len(s.asked)
	d.press("j")
	d.advance(3 * time.Second)
	d.sees("Task 2 ")
	d.sees("its attempts are not in the frozen picture")
	if len(s.asked) != before {
		t.Error("a frozen picture asked for rows")
	}
	d.press("Z")
	d.drawn()
	d.sees("ON THE WIRE")
}
