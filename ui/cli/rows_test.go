package cli

import (
	"math"
	"path/filepath"
	"testing"
	"time"

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
