package dashboard

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"dev.scrapetop/storage"
	"dev.scrapetop/ui/screen/sample"
)

// onActs drives a dashboard on five tasks: pending, delayed, dead, in flight, accepted, and a pending one whose domain is held.
func onActs(t *testing.T, g *grave, w, h int, live bool) *driver {
	t.Helper()
	s := million(6)
	for i, state := range []storage.TaskState{storage.TaskPending, storage.TaskDelayed, storage.TaskDead, storage.TaskInFlight, storage.TaskAccepted, storage.TaskPending} {
		s.tasks[i].State = state
	}
	s.tasks[2].Reason = "blocked"
	s.tasks[5].WaitsFor, s.tasks[5].Until = "domain:a.example", sample.Now.Add(time.Minute)
	frame := sample.Normal()
	if !live {
		frame = sample.Stopped()
	}
	d := drive(t, frame, w, h, func(o *Options) { o.Rows, o.Acts = s, g })
	d.press("3")
	d.drawn()
	return d
}

// TestActsOnTasks is the reducer's table of what is done to single tasks.
func TestActsOnTasks(t *testing.T) {
	for _, tt := range []struct {
		name  string
		keys  []string
		tried int64
		over  bool
		put   []string
		sees  []string
	}{
		{"retry a pending one", []string{"r"}, 0, false, []string{"retry [1]"}, []string{"task 1 goes next", "a limit holds them still"}},
		{"retry a delayed one", []string{"j", "r"}, 0, false, []string{"retry [2]"}, []string{"task 2 goes next"}},
		{"retry a dead one requeues it", []string{"j", "j", "r"}, 0, false, []string{"requeue 3"}, []string{"requeued task 3", "u: undo, 10 s left"}},
		{"and u takes it back", []string{"j", "j", "r", "u"}, 0, false, []string{"requeue 3", "bury 3"}, []string{"undone: task 3 dead again"}},
		{"unless it was tried", []string{"j", "j", "r", "u"}, 1, false, []string{"requeue 3", "bury 3"}, []string{"undone for 0 of task 3: the others were tried since"}},
		{"retry one in flight says why not", []string{"j", "j", "j", "r"}, 0, false, nil, []string{"task 4 is in flight: its answer comes first"}},
		{"retry an accepted one says why not", []string{"G", "k", "r"}, 0, false, nil, []string{"task 5 is accepted"}},
		{"retry while the domain cools names the way out", []string{"G", "r"}, 0, false, nil, []string{"domain a.example cools: c there (2, B) ends that"}},
		{"retry after the run", []string{"r"}, 0, true, nil, []string{"no run is going"}},
		{"requeue after the run", []string{"j", "j", "r"}, 0, true, []string{"requeue 3"}, []string{"requeued task 3"}},
		{"retry tagged ones, each as it can be", []string{" ", " ", " ", " ", " ", "r"}, 0, false, []string{"requeue 3", "retry [1 2]"}, []string{"2 of 2 tasks go next"}},
		{"tags are told", []string{" ", "j", " "}, 0, false, nil, []string{"2 tagged: r x", " * "}},
		{"U clears them", []string{" ", " ", "U"}, 0, false, nil, []string{"by number"}},
		{"cancel asks", []string{"x"}, 0, false, nil, []string{"Cancel task 1?", "http://a.example/1", "neither resume nor requeue", "▶ [Keep]"}},
		{"Enter keeps it", []string{"x", "enter"}, 0, false, nil, []string{"PENDING"}},
		{"y does nothing", []string{"x", "y"}, 0, false, nil, []string{"Cancel task 1?"}},
		{"x again cancels", []string{"x", "x"}, 0, false, []string{"cancel [1]"}, []string{"cancelled task 1"}},
		{"so does F9, Tab and Enter", []string{"f9", "tab", "enter"}, 0, false, []string{"cancel [1]"}, []string{"cancelled task 1"}},
		{"cancel one in flight says what becomes of it", []string{"j", "j", "j", "x"}, 0, false, nil, []string{"It is in flight (1): the request is broken off."}},
		{"and does it", []string{"j", "j", "j", "x", "x"}, 1, false, []string{"cancel [4]"}, []string{"broke off task 4"}},
		{"cancel an accepted one says why not", []string{"G", "k", "x"}, 0, false, nil, []string{"task 5 is accepted already"}},
		{"cancel the tagged ones", []string{" ", " ", " ", "x"}, 0, false, nil, []string{"Cancel 3 tasks?", "1 of them are dead letters"}},
		{"and does it", []string{" ", " ", " ", "x", "x"}, 1, false, []string{"cancel [1 2 3]"}, []string{"cancelled 2 of 3 tasks, broke off 1 in flight", "by number"}},
		{"cancel after the run", []string{"x", "x"}, 0, true, []string{"cancel [1]"}, []string{"cancelled task 1"}},
		{"what is in flight cannot be there after the run", []string{"j", "j", "j", "x"}, 0, true, nil, []string{"task 4 is in flight already"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := &grave{tried: tt.tried}
			d := onActs(t, g, 120, 36, !tt.over)
			d.press(tt.keys...)
			d.drawn()
			if !slices.Equal(g.put, tt.put) {
				t.Errorf("done %q, want %q", g.put, tt.put)
			}
			for _, s := range tt.sees {
				d.sees(s)
			}
			d.did()
		})
	}
}

// TestAnActOnTasksIsShownUntilItIsDone, also at the smallest size.
func TestAnActOnTasksIsShownUntilItIsDone(t *testing.T) {
	g := &grave{}
	d := onActs(t, g, 120, 36, true)
	d.m.Update(key("j"))
	_, cmd := d.m.Update(key("r"))
	d.sees("retrying...")
	d.run(cmd)
	d.seesNot("retrying...")
	d.advance(5 * time.Second)
	d.seesNot("goes next")

	g = &grave{err: errors.New("database is locked\x1b[2J")}
	d = onActs(t, g, 40, 10, true)
	d.press("x")
	d.sees("Cancel task 1?")
	d.sees("Neither resume nor requeue")
	d.press("x")
	d.sees("locked")
	d = drive(t, sample.Normal(), 80, 24, func(o *Options) { o.Rows = million(2) })
	d.press("3", "x")
	d.sees("no run is driven here")
	if lines := d.screen(); strings.Contains(lines[len(lines)-1], "Seldom") {
		t.Error(lines)
	}
}

// TestUndoOfARequeueingEnds with its time: what is tried by then is not taken back.
func TestUndoOfARequeueingEnds(t *testing.T) {
	g := &grave{}
	d := onActs(t, g, 120, 36, true)
	d.press("j", "j", "r")
	d.advance(9 * time.Second)
	d.sees("u: undo, 1 s left")
	d.advance(1100 * time.Millisecond)
	d.press("u")
	d.sees("nothing to undo")
	if !slices.Equal(g.put, []string{"requeue 3"}) {
		t.Error(g.put)
	}
}
