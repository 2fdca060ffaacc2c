package storage

import (
	"testing"
	"time"
)

func TestWriteMovesEverythingTogether(t *testing.T) {
	s := openTemp(t, Options{})
	run, tasks := newRun(t, s, "direct", "http://a.test/1", "http://a.test/2", "http://a.test/3")
	write(t, s, Tx{Run: run.ID, Tasks: []TaskChange{{ID: tasks[0].ID, State: TaskInFlight}}})
	write(t, s, accept(run.ID, tasks[0], "page"))
	write(t, s, Tx{Run: run.ID, Tasks: []TaskChange{{ID: tasks[1].ID, State: TaskDead, Tries: 2, Attempts: 3, Reason: "blocked", Error: "403"}},
		Totals: Totals{Requests: 3, Retries: 2, Target: 1, Elapsed: time.Minute, MaxInFlight: 7, Credits: 1.5}})
	got, err := s.Run(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	want := Run{ID: run.ID, Name: "list.txt", Input: "/in/list.txt", Provider: "direct", State: RunRunning, StartedAt: run.StartedAt,
		Tasks: 3, Accepted: 1, Dead: 1, Pending: 1, Attempts: 1,
		Totals: Totals{Requests: 4, Retries: 2, Target: 1, Bytes: 4, Elapsed: time.Minute, MaxInFlight: 7, Credits: 1.5}}
	if got.Settings = nil; !equalRun(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func equalRun(a, b Run) bool {
	a.Settings, b.Settings = nil, nil
	return a.ID == b.ID && a.Name == b.Name && a.Input == b.Input && a.Provider == b.Provider && a.State == b.State && a.Reason == b.Reason &&
		a.StartedAt.Equal(b.StartedAt) && a.FinishedAt.Equal(b.FinishedAt) && a.Tasks == b.Tasks && a.Accepted == b.Accepted && a.Dead == b.Dead &&
		a.Pending == b.Pending && a.Attempts == b.Attempts && a.Totals == b.Totals
}
