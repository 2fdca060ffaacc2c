package storage

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"
)

func TestRunsAreFound(t *testing.T) {
	s := openTemp(t, Options{})
	ctx := t.Context()
	if _, err := s.Latest(ctx); !errors.Is(err, ErrNoRun) {
		t.Errorf("empty: %v", err)
	}
	if _, err := s.LatestUnfinished(ctx); !errors.Is(err, ErrNoRun) {
		t.Errorf("empty: %v", err)
	}
	first, err := s.CreateRun(ctx, RunSpec{Name: "n", Input: "/a", Provider: "evomi", Settings: json.RawMessage(`{"batch": 3}`), Options: "o"})
	if err != nil || string(first.Settings) != `{"batch":3}` || first.State != RunInterrupted || first.StartedAt.IsZero() {
		t.Errorf("%+v, %v", first, err)
	}
	second, tasks := newRun(t, s, "direct", "http://a.test/1")
	if got, ok, err := s.Unfinished(ctx, "/a", "evomi"); err != nil || !ok || got.ID != first.ID {
		t.Errorf("%+v %v %v", got, ok, err)
	}
	if _, ok, err := s.Unfinished(ctx, "/a", "direct"); err != nil || ok {
		t.Errorf("other provider: %v %v", ok, err)
	}
	if got, err := s.LatestUnfinished(ctx); err != nil || got.ID != second.ID {
		t.Errorf("%+v, %v", got, err)
	}
	tx := accept(second.ID, tasks[0], "page")
	tx.State, tx.Finished = RunFinished, time.Now()
	write(t, s, tx)
	if got, err := s.LatestUnfinished(ctx); err != nil || got.ID != first.ID {
		t.Errorf("%+v, %v", got, err)
	}
	write(t, s, Tx{Run: first.ID, State: RunFailed, Reason: "auth", Finished: time.Now()})
	runs, err := s.Runs(ctx, 0)
	if err != nil || len(runs) != 2 || runs[0].ID != second.ID || runs[0].State != RunFinished || runs[1].State != RunFailed || runs[1].Reason != "auth" {
		t.Errorf("%+v, %v", runs, err)
	}
	if runs, err = s.Runs(ctx, 1); err != nil || len(runs) != 1 {
		t.Errorf("%+v, %v", runs, err)
	}
	if _, err := s.Run(ctx, 9); !errors.Is(err, ErrNoRun) {
		t.Errorf("%v", err)
	}
	if _, err := s.CreateRun(ctx, RunSpec{Settings: json.RawMessage("{")}); !errors.Is(err, ErrInvalid) {
		t.Errorf("%v", err)
	}
}

func TestSummary(t *testing.T) {
	s := openTemp(t, Options{})
	run, tasks := newRun(t, s, "evomi", "http://a.test/1", "http://a.test/2", "http://a.test/3", "http://a.test/4")
	created := tasks[0].CreatedAt
	first := accept(run.ID, tasks[0], "page")
	first.Tasks[0].FirstTryAt = created.Add(2 * time.Second)
	write(t, s, first)
	write(t, s, Tx{Run: run.ID, Tasks: []TaskChange{
		{ID: tasks[1].ID, State: TaskDead, Reason: "blocked", FirstTryAt: created.Add(4 * time.Second)},
		{ID: tasks[2].ID, State: TaskRemote, FirstTryAt: created.Add(9 * time.Second)},
		{ID: tasks[3].ID, State: TaskDelayed, FirstTryAt: created.Add(3 * time.Second)},
	}, Totals: Totals{Requests: 4, Account: 1, Rate: 2, PendingJobs: 3, Target: 4, Busy: 5, Elapsed: 30 * time.Second, Credits: 2.5, Skipped: 6, MaxInFlight: 3},
		State: RunStopped, Reason: "cap", Finished: time.Now()})
	sum, err := s.Summary(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(sum)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"run":1,"provider":"evomi","state":"stopped","tasks":4,"accepted":1,"cached":0,"records":1,"dead":1,"pending":2,"skipped":6,"duplicates":0,` +
		`"attempts":1,"remote":1,"requests":5,"retries":0,"elapsed_seconds":30,"accepted_per_minute":2,"max_in_flight":3,"cooldowns":0,"probes":0,` +
		`"limited":{"account":1,"rate":2,"pending":3,"target":4},"busy":5,"credits":2.5,"bytes":4,"queue_age_seconds":{"p50":3,"p95":9,"max":9},` +
		`"dead_reasons":{"blocked":1},"reason":"cap"}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if _, err := s.Summary(t.Context(), 9); !errors.Is(err, ErrNoRun) {
		t.Errorf("%v", err)
	}
}

func TestSummaryOfAnEmptyRun(t *testing.T) {
	s := openTemp(t, Options{})
	run, _ := newRun(t, s, "direct")
	sum, err := s.Summary(t.Context(), run.ID)
	if err != nil || sum.Reason != nil || sum.DeadReasons == nil || sum.AcceptedPerMinute != 0 || sum.QueueAgeSeconds != (QueueAge{}) {
		t.Errorf("%+v, %v", sum, err)
	}
}

func TestRequeue(t *testing.T) {
	s := openTemp(t, Options{})
	ctx := t.Context()
	run, tasks := newRun(t, s, "direct", "http://a.test/1", "http://a.test/2", "http://a.test/3", "http://a.test/4")
	for i, reason := range []string{"attempts", "blocked", "attempts"} {
		write(t, s, Tx{Run: run.ID, Tasks: []TaskChange{{ID: tasks[i].ID, State: TaskDead, Tries: 8, Attempts: 11, Invalids: 2, Reason: reason,
			Error: "e", FirstTryAt: time.Now(), HopURL: "http://x.test/", Hops: 1}}})
	}
	accepted := accept(run.ID, tasks[3], "page")
	accepted.State, accepted.Finished = RunFinished, time.Now()
	write(t, s, accepted)
	if err := s.Disown(ctx); err != nil {
		t.Fatal(err)
	}
	steps := []struct {
		filter RequeueFilter
		want   int64
	}{
		{RequeueFilter{Reason: "deadline"}, 0},
		{RequeueFilter{Domain: "b.test"}, 0},
		{RequeueFilter{Task: tasks[3].ID}, 0},
		{RequeueFilter{Reason: "attempts", Domain: "a.test", Task: tasks[0].ID}, 1},
		{RequeueFilter{Reason: "attempts"}, 1},
		{RequeueFilter{}, 1},
	}
	for _, c := range steps {
		if n, err := s.Requeue(ctx, run.ID, c.filter); err != nil || n != c.want {
			t.Errorf("%+v: %d, %v", c.filter, n, err)
		}
	}
	got, err := s.LatestUnfinished(ctx)
	if err != nil || got.State != RunStopped || got.Dead != 0 || got.Pending != 3 || got.Accepted != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	task, err := s.TasksByID(ctx, []int64{tasks[0].ID})
	if err != nil || task[0] != (Task{ID: tasks[0].ID, URL: "http://a.test/1", Domain: "a.test", State: TaskPending, Attempts: 11, CreatedAt: task[0].CreatedAt}) {
		t.Errorf("%+v, %v", task, err)
	}
	if got := query(t, s, "SELECT count(*) FROM dead_letters"); got[0] != "0" {
		t.Errorf("dead letters left: %v", got)
	}
	if _, err := s.Requeue(ctx, 9, RequeueFilter{}); !errors.Is(err, ErrNoRun) {
		t.Errorf("%v", err)
	}
}

func TestPruneKeepsWhatDidNotEnd(t *testing.T) {
	s := openTemp(t, Options{})
	day := 24 * time.Hour
	for i, end := range []time.Duration{-200 * day, -10 * day, 0} {
		run, tasks := newRun(t, s, "direct", fmt.Sprint("http://a.test/", i))
		tx := accept(run.ID, tasks[0], "page")
		tx.Events = []Event{{At: time.Now(), Text: "e"}}
		tx.Jobs = []RemoteJob{{Job: "j", Done: true}}
		tx.Intents = []Intent{{Exchange: "e"}}
		if end != 0 {
			tx.State, tx.Finished = RunStopped, time.Now().Add(end)
		}
		write(t, s, tx)
	}
	n, err := s.Prune(t.Context(), time.Now().Add(-120*day))
	if err != nil || n != 1 {
		t.Errorf("%d, %v", n, err)
	}
	for _, table := range []string{"run", "total"} {
		if got := query(t, s, "SELECT count(*) FROM "+table); got[0] != "2" {
			t.Errorf("%s: %v rows", table, got)
		}
	}
	for _, table := range []string{"task", "attempt", "result", "event", "job", "intent"} {
		if got := query(t, s, "SELECT min(run), count(*) FROM "+table); got[0] != "2|2" {
			t.Errorf("%s: %v", table, got)
		}
	}
}
