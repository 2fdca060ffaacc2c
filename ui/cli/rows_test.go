package cli

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"testing"
	"time"

	"dev.scrapetop/engine"
	"dev.scrapetop/storage"
	"dev.scrapetop/ui/screen"
)

// TestRowsOfTheDashboard: an answer holds the window, and the attempts of the row that the screen puts its cursor on.
func TestRowsOfTheDashboard(t *testing.T) {
	st, err := storage.Open(t.Context(), filepath.Join(t.TempDir(), "t.db"), storage.Options{Fast: true})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	run, err := st.CreateRun(t.Context(), storage.RunSpec{Provider: "direct"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.Own(t.Context(), run.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := st.Enqueue(t.Context(), run.ID, []storage.NewTask{{URL: "http://a.test/1", Domain: "a.test"}, {URL: "http://a.test/2", Domain: "a.test"}, {URL: "http://b.test/3", Domain: "b.test"}}); err != nil {
		t.Fatal(err)
	}
	written := make(chan error, 1)
	st.Write(storage.Tx{
		Run:      run.ID,
		Tasks:    []storage.TaskChange{{ID: 2, State: storage.TaskDead, Reason: "blocked", Attempts: 1}},
		Attempts: []storage.Attempt{{Task: 2, Number: 1, StartedAt: time.Now(), Outcome: "blocked", Kind: "fetch", Exchange: "x", BodyKind: "empty", Decision: "final"}},
	}, func(err error) { written <- err })
	if err := <-written; err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		ask                    screen.Ask
		rows, attempts, chosen int64
	}{
		"from the start": {screen.Ask{}, 3, 0, 1},
		"on a task":      {screen.Ask{Window: storage.Window{Around: 2}}, 3, 1, 2},
		"at the end":     {screen.Ask{Window: storage.Window{Around: math.MaxInt64}}, 3, 0, 3},
		"of a state":     {screen.Ask{State: storage.TaskDead}, 1, 1, 2},
		"of a domain":    {screen.Ask{Domain: "b.test"}, 1, 0, 3},
		"of a text":      {screen.Ask{Text: "/2"}, 1, 1, 2},
		"of nothing":     {screen.Ask{Text: "nope"}, 0, 0, 0},
	} {
		c.ask.Run, c.ask.Tab, c.ask.Before, c.ask.After = run.ID, screen.Tasks, 10, 10
		got, err := rowsOf{st}.Read(t.Context(), c.ask)
		if err != nil || int64(len(got.Tasks.Rows)) != c.rows || int64(len(got.Attempts)) != c.attempts || got.Chosen != c.chosen {
			t.Errorf("%s: %d rows, %d attempts of %d, %v", name, len(got.Tasks.Rows), len(got.Attempts), got.Chosen, err)
		}
	}
}

// TestLettersAndEventsOfTheDashboard: groups with the letters of one, events by level, and a whole group put back in steps.
func TestLettersAndEventsOfTheDashboard(t *testing.T) {
	st, err := storage.Open(t.Context(), filepath.Join(t.TempDir(), "t.db"), storage.Options{Fast: true})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	run, err := st.CreateRun(t.Context(), storage.RunSpec{Provider: "direct"})
	if err != nil {
		t.Fatal(err)
	}
	const n = requeueStep + 5
	var tasks []storage.NewTask
	tx := storage.Tx{Run: run.ID, Events: []storage.Event{
		{At: time.Now(), Level: "info", Text: "a"}, {At: time.Now(), Level: "warn", Text: "b"}, {At: time.Now(), Level: "error", Text: "c"},
	}}
	for i := range n {
		tasks = append(tasks, storage.NewTask{URL: fmt.Sprintf("http://a.test/%d", i), Domain: "a.test"})
		c := storage.TaskChange{ID: int64(i + 1), State: storage.TaskDead, Reason: "blocked"}
		if i < 2 {
			c.Reason = "not_found"
		}
		tx.Tasks = append(tx.Tasks, c)
	}
	if _, err := st.Enqueue(t.Context(), run.ID, tasks); err != nil {
		t.Fatal(err)
	}
	written := make(chan error, 1)
	st.Write(tx, func(err error) { written <- err })
	if err := <-written; err != nil {
		t.Fatal(err)
	}
	eng, err := engine.New(engine.Config{Provider: "direct"}, st, run)
	if err != nil {
		t.Fatal(err)
	}
	over, abandon := context.WithCancel(t.Context())
	abandon()
	if end, err := eng.Run(over); err == nil { // so nothing takes up what is put back
		t.Fatal(end)
	}
	l, acts := rowsOf{st}, taskActs{eng, rowsOf{st}}
	ask := screen.Ask{Run: run.ID, Tab: screen.Letters, State: storage.TaskDead, Window: storage.Window{After: 10}}
	read := func() screen.Rows {
		t.Helper()
		r, err := l.Read(t.Context(), ask)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := read(); len(r.Groups) != 2 || r.Group != "blocked" || len(r.Tasks.Rows) != 10 || r.Chosen != 3 {
		t.Errorf("the largest group first: %+v, of %s %d rows, %d", r.Groups, r.Group, len(r.Tasks.Rows), r.Chosen)
	}
	ask.Group = "not_found"
	if r := read(); r.Group != "not_found" || len(r.Tasks.Rows) != 2 {
		t.Errorf("of %s %d rows", r.Group, len(r.Tasks.Rows))
	}
	ask.Group, ask.ByDomain = "a.test", true
	if r := read(); len(r.Groups) != 1 || r.Groups[0].Tasks != n || len(r.Tasks.Rows) != 10 {
		t.Errorf("by domain: %+v", r.Groups)
	}
	ask.Group, ask.ByDomain = "blocked", false
	if put, err := acts.RequeueAll(t.Context(), ask); err != nil || put != n-2 {
		t.Errorf("%d put back, %v", put, err)
	}
	if r := read(); len(r.Groups) != 1 || r.Group != "not_found" {
		t.Errorf("left are %+v", r.Groups)
	}
	if err := st.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	const steps = 2 // of requeueing, each with its event
	for level, want := range map[string]int{"": 3 + steps, "warn": 2, "error": 1} {
		r, err := l.Read(t.Context(), screen.Ask{Run: run.ID, Tab: screen.Events, Level: level, Window: storage.Window{Around: math.MaxInt64, Before: 10}})
		if err != nil || len(r.Events.Rows) != want {
			t.Errorf("%q: %d events, %v", level, len(r.Events.Rows), err)
		}
	}
}
