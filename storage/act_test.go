package storage

import (
	"fmt"
	"reflect"
	"testing"
	"time"
)

// deadRun is a run that ended with a dead, an accepted, a delayed and a pending task, a remote one and one in flight.
func deadRun(t *testing.T, s *Store) (Run, []Task) {
	run, tasks := newRun(t, s, "direct", "http://a.test/1", "http://a.test/2", "http://a.test/3", "http://b.test/4", "http://b.test/5", "http://b.test/6")
	first := time.Now().Add(-time.Hour).Truncate(time.Millisecond).UTC()
	write(t, s, Tx{Run: run.ID, Tasks: []TaskChange{
		{ID: tasks[0].ID, State: TaskDead, Tries: 8, Attempts: 11, Invalids: 2, Unknowns: 1, Reason: "attempts", Error: "500", FirstTryAt: first, HopURL: "http://x.test/", Hops: 1},
		{ID: tasks[2].ID, State: TaskDelayed, Tries: 1, Attempts: 1, FirstTryAt: first, NotBefore: first.Add(24 * time.Hour)},
		{ID: tasks[4].ID, State: TaskRemote}, {ID: tasks[5].ID, State: TaskInFlight},
	}})
	write(t, s, accept(run.ID, tasks[1], "page"))
	return run, tasks
}

func statesOf(t *testing.T, s *Store) string {
	t.Helper()
	return fmt.Sprint(query(t, s, "SELECT state FROM tasks ORDER BY id"))
}

// TestRequeueIsUndone: what Bury brings back is what was, to the last column; what was tried meanwhile stays.
func TestRequeueIsUndone(t *testing.T) {
	for _, hold := range []bool{true, false} {
		s := openTemp(t, Options{})
		ctx := t.Context()
		run, tasks := deadRun(t, s)
		const all = "SELECT id, state, tries, attempts, not_before, reason, updated_at FROM tasks ORDER BY id"
		before, letters := query(t, s, all), query(t, s, "SELECT * FROM dead_letters")
		until, state := time.Time{}, "pending"
		if hold {
			until, state = time.Now().Add(time.Minute), "delayed"
		}
		were, err := s.RequeueTasks(ctx, run.ID, []int64{tasks[0].ID, tasks[1].ID, tasks[3].ID, 99}, until)
		if err != nil || len(were) != 1 || were[0].Domain != "a.test" || were[0].Tries != 8 || were[0].Error != "500" {
			t.Fatalf("%+v, %v", were, err)
		}
		if got := statesOf(t, s); got != "["+state+" accepted delayed pending remote in_flight]" {
			t.Error(got)
		}
		if r, err := s.Run(ctx, run.ID); err != nil || r.Dead != 0 || r.Pending != 5 {
			t.Errorf("%+v, %v", r, err)
		}
		back, err := s.Bury(ctx, run.ID, were)
		if err != nil || !reflect.DeepEqual(back, were) {
			t.Errorf("%+v, %v", back, err)
		}
		if after := query(t, s, all); fmt.Sprint(after) != fmt.Sprint(before) {
			t.Errorf("%v, was %v", after, before)
		}
		if after := query(t, s, "SELECT * FROM dead_letters"); fmt.Sprint(after) != fmt.Sprint(letters) {
			t.Errorf("%v, was %v", after, letters)
		}
		if r, err := s.Run(ctx, run.ID); err != nil || r.Dead != 1 {
			t.Errorf("%+v, %v", r, err)
		}
		if were, err = s.RequeueTasks(ctx, run.ID, []int64{tasks[0].ID}, until); err != nil {
			t.Fatal(err)
		}
		write(t, s, Tx{Run: run.ID, Tasks: []TaskChange{{ID: tasks[0].ID, State: TaskDelayed, Tries: 1, Attempts: 12}}})
		if back, err := s.Bury(ctx, run.ID, were); len(back) != 0 || err != nil {
			t.Errorf("tried meanwhile: %+v, %v", back, err)
		}
	}
}

// TestCancelTasks: what waits or is dead is cancelled, what is at work or accepted is not, and a run that has nothing left is over.
func TestCancelTasks(t *testing.T) {
	s := openTemp(t, Options{})
	ctx := t.Context()
	run, tasks := deadRun(t, s)
	write(t, s, Tx{Run: run.ID, State: RunStopped, Finished: time.Now()})
	var all []int64
	for i := range tasks {
		all = append(all, tasks[i].ID)
	}
	were, err := s.Cancel(ctx, run.ID, append(all, 99))
	if err != nil || len(were) != 3 || were[0].State != TaskDead || were[1].State != TaskDelayed || were[2].State != TaskPending {
		t.Fatalf("%+v, %v", were, err)
	}
	if got := statesOf(t, s); got != "[cancelled accepted cancelled cancelled remote in_flight]" {
		t.Error(got)
	}
	if r, err := s.Run(ctx, run.ID); err != nil || r.Dead != 0 || r.Pending != 2 || r.Accepted != 1 || r.State != RunStopped {
		t.Errorf("%+v, %v", r, err)
	}
	write(t, s, Tx{Run: run.ID, Tasks: []TaskChange{{ID: tasks[4].ID, State: TaskPending}, {ID: tasks[5].ID, State: TaskPending}}})
	if were, err := s.Cancel(ctx, run.ID, all); err != nil || len(were) != 2 {
		t.Errorf("%+v, %v", were, err)
	}
	if r, err := s.Run(ctx, run.ID); err != nil || r.Pending != 0 || r.State != RunFinished {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestRetryNow: the backoff of delayed tasks ends, and pending ones are told as well.
func TestRetryNow(t *testing.T) {
	s := openTemp(t, Options{})
	run, tasks := deadRun(t, s)
	now, err := s.RetryNow(t.Context(), run.ID, []int64{tasks[0].ID, tasks[2].ID, tasks[3].ID, tasks[4].ID})
	if err != nil || len(now) != 2 || now[0].ID != tasks[2].ID || now[0].State != TaskPending || now[0].Tries != 1 || !now[0].NotBefore.IsZero() || now[1].ID != tasks[3].ID {
		t.Errorf("%+v, %v", now, err)
	}
	if got := statesOf(t, s); got != "[dead accepted pending pending remote in_flight]" {
		t.Error(got)
	}
}
