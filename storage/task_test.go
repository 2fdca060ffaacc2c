package storage

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestEnqueueCountsDuplicatesAndDomains(t *testing.T) {
	s := openTemp(t, Options{})
	ctx := t.Context()
	run, err := s.CreateRun(ctx, RunSpec{Provider: "direct"})
	if err != nil {
		t.Fatal(err)
	}
	other, err := s.CreateRun(ctx, RunSpec{Provider: "direct"})
	if err != nil {
		t.Fatal(err)
	}
	list := []NewTask{
		{URL: "http://b.test/1", InputURL: "HTTP://b.test/1", Domain: "b.test", Tenant: "acme", Priority: 2, Key: "k1", Meta: json.RawMessage("{\n \"n\": 12345678901234567890}")},
		{URL: "http://a.test/1", Domain: "a.test"},
		{URL: "http://b.test/1", Domain: "b.test"},
		{URL: "http://b.test/2", Domain: "b.test"},
	}
	for round, want := range []Queued{
		{Added: 3, Duplicates: 1, Domains: []DomainCount{{Domain: "b.test", Waiting: 2}, {Domain: "a.test", Waiting: 1}}},
		{Duplicates: 4},
	} {
		got, err := s.Enqueue(ctx, run.ID, list)
		if err != nil {
			t.Fatal(err)
		}
		for i := range got.Domains {
			if got.Domains[i].Oldest.IsZero() {
				t.Error("no time")
			}
			got.Domains[i].Oldest = time.Time{}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("round %d: got %v, want %v", round, got, want)
		}
	}
	if got, err := s.Enqueue(ctx, other.ID, list[:1]); err != nil || got.Added != 1 {
		t.Errorf("another run has its own: %+v, %v", got, err)
	}
	if r, err := s.Run(ctx, run.ID); err != nil || r.Tasks != 3 || r.Pending != 3 || r.Totals.Duplicates != 5 {
		t.Errorf("%+v, %v", r, err)
	}
	if got := query(t, s, "SELECT input_url, tenant, priority, input_id, meta FROM tasks WHERE id = 1"); got[0] != `HTTP://b.test/1|acme|2|k1|{"n":12345678901234567890}` {
		t.Errorf("%v", got)
	}
	if _, err := s.Enqueue(ctx, 77, list); !errors.Is(err, ErrNoRun) && err == nil {
		t.Errorf("no such run: %v", err)
	}
	if _, err := s.Enqueue(ctx, run.ID, []NewTask{{URL: "http://c.test/", Meta: json.RawMessage("[1]")}}); !errors.Is(err, ErrInvalid) {
		t.Errorf("meta that is no object: %v", err)
	}
}

func TestPendingKeepsTheOrderAndThePosition(t *testing.T) {
	s := openTemp(t, Options{})
	ctx := t.Context()
	run, err := s.CreateRun(ctx, RunSpec{Provider: "direct"})
	if err != nil {
		t.Fatal(err)
	}
	var list []NewTask
	for i, priority := range []int{0, 5, 0, 5, -1, 0} { // ids 1..6
		list = append(list, NewTask{URL: fmt.Sprint("http://a.test/", i+1), Domain: "a.test", Priority: priority})
	}
	list = append(list, NewTask{URL: "http://b.test/", Domain: "b.test"}) // 7
	if _, err := s.Enqueue(ctx, run.ID, list); err != nil {
		t.Fatal(err)
	}
	until := time.Now().Add(time.Minute).Truncate(time.Millisecond)
	write(t, s, Tx{Run: run.ID, Tasks: []TaskChange{
		{ID: 3, State: TaskDelayed, Tries: 1, Attempts: 2, Invalids: 1, FirstTryAt: until, NotBefore: until, HopURL: "http://c.test/", Hops: 2},
		{ID: 6, State: TaskInFlight},
	}})
	cases := []struct {
		name  string
		wants []Want
		ids   string
	}{
		{"from the start", []Want{{Domain: "a.test", N: 10}}, "[2 4 1 3 5]"},
		{"no more than asked for", []Want{{Domain: "a.test", N: 3}}, "[2 4 1]"},
		{"beyond a position inside a priority", []Want{{Domain: "a.test", N: 10, AfterPriority: 5, AfterID: 2}}, "[4 1 3 5]"},
		{"beyond a position, across priorities, bounded", []Want{{Domain: "a.test", N: 2, AfterPriority: 5, AfterID: 2}}, "[4 1]"},
		{"beyond the last of a priority", []Want{{Domain: "a.test", N: 10, AfterPriority: 0, AfterID: 3}}, "[5]"},
		{"beyond the end", []Want{{Domain: "a.test", N: 10, AfterPriority: -1, AfterID: 5}}, "[]"},
		{"several domains", []Want{{Domain: "b.test", N: 1}, {Domain: "none.test", N: 1}, {Domain: "a.test", N: 1}}, "[7 2]"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			tasks, err := s.Pending(t.Context(), run.ID, c.wants)
			if err != nil {
				t.Fatal(err)
			}
			got := []int64{}
			for _, task := range tasks {
				got = append(got, task.ID)
			}
			if fmt.Sprint(got) != c.ids {
				t.Errorf("got %v, want %s", got, c.ids)
			}
		})
	}
	tasks, err := s.TasksByID(ctx, []int64{99, 6, 3})
	if err != nil || len(tasks) != 2 || tasks[1].State != TaskInFlight {
		t.Fatalf("%+v, %v", tasks, err)
	}
	want := Task{ID: 3, URL: "http://a.test/3", Domain: "a.test", State: TaskDelayed, Tries: 1, Attempts: 2, Invalids: 1, CreatedAt: tasks[0].CreatedAt,
		FirstTryAt: until.UTC(), NotBefore: until.UTC(), HopURL: "http://c.test/", Hops: 2}
	if tasks[0] != want {
		t.Errorf("got  %+v\nwant %+v", tasks[0], want)
	}
	counts, err := s.DomainCounts(ctx, run.ID, "", 1)
	if err != nil || len(counts) != 1 || counts[0].Domain != "a.test" || counts[0].Waiting != 5 || !counts[0].Oldest.Equal(want.CreatedAt) {
		t.Errorf("%+v, %v", counts, err)
	}
	counts, err = s.DomainCounts(ctx, run.ID, "a.test", 10)
	if err != nil || len(counts) != 1 || counts[0].Domain != "b.test" || counts[0].Waiting != 1 {
		t.Errorf("%+v, %v", counts, err)
	}
}

func TestRefillSearchesAnIndexAndSortsNothing(t *testing.T) {
	s := openTemp(t, Options{})
	for _, q := range []string{
		strings.Replace(pendingFirst, "LIMIT ?", "LIMIT 10", 1), pendingSame, pendingBelow,
	} {
		args := make([]any, strings.Count(q, "?"))
		for i := range args {
			args[i] = 1
		}
		plan := strings.Join(query(t, s, "EXPLAIN QUERY PLAN "+q, args...), "\n")
		if !strings.Contains(plan, "SEARCH task USING INDEX task_waiting (run=? AND domain=?") || strings.Contains(plan, "TEMP B-TREE") {
			t.Errorf("%s\n%s", q, plan)
		}
	}
}

func TestJobsAndIntents(t *testing.T) {
	s := openTemp(t, Options{})
	run, tasks := newRun(t, s, "spidra", "http://a.test/1", "http://a.test/2")
	now := time.Now().Truncate(time.Millisecond).UTC()
	job := RemoteJob{Job: "j1", Credential: "main", Tasks: []int64{tasks[0].ID, tasks[1].ID}, SubmittedAt: now, ExpiresAt: now.Add(time.Hour), NextPollAt: now.Add(2 * time.Second)}
	write(t, s, Tx{Run: run.ID, Jobs: []RemoteJob{job, {Job: "j0", Tasks: []int64{1}, SubmittedAt: now, Done: true}},
		Intents: []Intent{{Exchange: "e1", Kind: "submit", At: now}, {Exchange: "e2", Kind: "poll", Job: "j1", At: now}}, Settled: []string{"e1"}})
	got, err := s.Jobs(t.Context(), run.ID)
	if err != nil || fmt.Sprint(got) != fmt.Sprint([]RemoteJob{job}) {
		t.Errorf("got %+v, %v", got, err)
	}
	rec, err := s.Own(t.Context(), run.ID)
	if err != nil || len(rec.Unknown) != 1 || rec.Unknown[0].Job != "j1" {
		t.Errorf("%+v, %v", rec, err)
	}
	job.NextPollAt = now.Add(time.Minute)
	write(t, s, Tx{Run: run.ID, Jobs: []RemoteJob{job}})
	if got, err = s.Jobs(t.Context(), run.ID); err != nil || !got[0].NextPollAt.Equal(job.NextPollAt) {
		t.Errorf("moved: %+v, %v", got, err)
	}
	job.Done = true
	write(t, s, Tx{Run: run.ID, Jobs: []RemoteJob{job}})
	if got, err = s.Jobs(t.Context(), run.ID); err != nil || len(got) != 0 {
		t.Errorf("done: %+v, %v", got, err)
	}
}
