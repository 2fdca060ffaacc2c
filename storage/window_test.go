package storage

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// manyTasks is a run of n tasks in all states over three domains, with dead letters of two reasons.
func manyTasks(t testing.TB, s *Store, n int) Run {
	t.Helper()
	run, err := s.CreateRun(t.Context(), RunSpec{Name: "list.txt", Provider: "direct"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Own(t.Context(), run.ID); err != nil {
		t.Fatal(err)
	}
	enqueue(t, s, run.ID, n, 3)
	tx := Tx{Run: run.ID}
	states := []TaskState{TaskPending, TaskAccepted, TaskDead, TaskInFlight, TaskDelayed, TaskAccepted, TaskDead, TaskPending}
	for i := range n {
		c := TaskChange{ID: int64(i + 1), State: states[i%len(states)], Attempts: i % 3}
		if c.State == TaskDead {
			c.Reason = []string{"blocked", "attempts"}[i/4%2]
			c.Error = "why"
		}
		tx.Tasks = append(tx.Tasks, c)
	}
	write(t, s, tx)
	return run
}

// TestWindowsOfTasks: wherever a window is placed, it holds what the whole list holds there, and knows the ends.
func TestWindowsOfTasks(t *testing.T) {
	s := openTemp(t, Options{})
	manyTasks(t, s, 40) // another run's tasks are in none of them
	run, err := s.CreateRun(t.Context(), RunSpec{Provider: "direct"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Own(t.Context(), run.ID); err != nil {
		t.Fatal(err)
	}
	enqueue(t, s, run.ID, 200, 3)
	tx := Tx{Run: run.ID}
	for i := range 200 {
		c := TaskChange{ID: int64(41 + i), State: []TaskState{TaskPending, TaskAccepted, TaskDead, TaskInFlight, TaskDelayed}[i%5]}
		if c.State == TaskDead {
			c.Reason = []string{"blocked", "attempts"}[i/5%2]
		}
		tx.Tasks = append(tx.Tasks, c)
	}
	write(t, s, tx)
	r := rand.New(rand.NewPCG(1, 2))
	for _, q := range []TaskQuery{
		{}, {State: TaskPending}, {State: TaskAccepted}, {State: TaskDead}, {State: TaskInFlight}, {State: TaskDelayed}, {State: TaskRemote},
		{State: TaskDead, Reason: "blocked"}, {Domain: host(1)}, {Text: "ITEM-7"}, {State: TaskPending, Domain: host(2)}, {Text: "no such"},
	} {
		q.Run, q.Window = run.ID, Window{After: 1000}
		all, err := s.TaskRows(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range all.Rows {
			if q.State != "" && row.State != q.State || q.Reason != "" && row.Reason != q.Reason || q.Domain != "" && row.Domain != q.Domain ||
				!strings.Contains(row.URL, strings.ToLower(q.Text)) || row.ID <= 40 {
				t.Fatalf("%+v has %+v", q, row)
			}
		}
		if !all.First || !all.Last {
			t.Errorf("%+v: the whole list has ends", q)
		}
		if (q.State == "" && q.Domain == "" && q.Text == "") != (len(all.Rows) == 200) {
			t.Errorf("%+v finds %d", q, len(all.Rows))
		}
		for range 30 {
			q.Window = Window{Around: r.Int64N(260), Before: r.IntN(20), After: r.IntN(20)}
			if r.IntN(10) == 0 {
				q.Around = math.MaxInt64
			}
			at, _ := slices.BinarySearchFunc(all.Rows, q.Around, func(row TaskRow, id int64) int { return int(min(max(row.ID-id, -1), 1)) })
			from, to := max(at-q.Before, 0), min(at+q.After, len(all.Rows))
			got, err := s.TaskRows(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(rowIDs(got.Rows)) != fmt.Sprint(rowIDs(all.Rows[from:to])) || got.First != (from == 0) || got.Last != (to == len(all.Rows)) {
				t.Fatalf("%+v gives %v %v %v, want %v of %d", q, rowIDs(got.Rows), got.First, got.Last, rowIDs(all.Rows[from:to]), len(all.Rows))
			}
		}
	}
}

func rowIDs(rows []TaskRow) []int64 {
	list := make([]int64, len(rows))
	for i := range rows {
		list[i] = rows[i].ID
	}
	return list
}

// TestTaskRowsTellTheLastAnswerAndTheHold as the views do.
func TestTaskRowsTellTheLastAnswerAndTheHold(t *testing.T) {
	s := openTemp(t, Options{})
	run, tasks := newRun(t, s, "direct", "http://a.test/1", "http://a.test/2", "http://a.test/3")
	until := time.Now().Add(time.Hour).Truncate(time.Millisecond).UTC()
	later := until.Add(time.Hour)
	status := 429
	write(t, s, Tx{
		Run: run.ID,
		Tasks: []TaskChange{
			{ID: tasks[0].ID, State: TaskPending, Attempts: 2}, {ID: tasks[1].ID, State: TaskDelayed, NotBefore: later, Attempts: 1},
		},
		Attempts: []Attempt{
			{Task: tasks[0].ID, Number: 1, StartedAt: until, Outcome: "failed", Kind: "fetch", Exchange: "x-1", BodyKind: "empty", Decision: "again in 2 s"},
			{Task: tasks[1].ID, Number: 1, StartedAt: until, Outcome: "transport", Kind: "fetch", Exchange: "x-2", BodyKind: "empty"},
			{
				Task: tasks[0].ID, Number: 2, StartedAt: until, Outcome: "limited", Layer: "target", HTTPStatus: &status, Elapsed: 400 * time.Millisecond,
				Kind: "fetch", Exchange: "x-3", BodyKind: "empty", InFlight: 4, InFlightLimit: 4, Headers: map[string]string{"retry-after": "90"}, BodySample: []byte("slow down"),
			},
		},
		Cooldowns: []Cooldown{{Scope: "domain", Key: "a.test", Until: until, Full: time.Hour, Cause: "Retry-After: 90", SetAt: until.Add(-time.Hour)}},
	})
	rows, err := s.TaskRows(t.Context(), TaskQuery{Run: run.ID, Window: Window{After: 10}})
	if err != nil || len(rows.Rows) != 3 {
		t.Fatal(rows, err)
	}
	one, two, three := rows.Rows[0], rows.Rows[1], rows.Rows[2]
	if one.Last == nil || *one.Last != (Answer{Outcome: "limited", Layer: "target", HTTPStatus: 429, Elapsed: 400 * time.Millisecond}) || one.WaitsFor != "domain:a.test" || !one.Until.Equal(until) {
		t.Errorf("%+v %+v", one, one.Last)
	}
	if two.Last == nil || two.Last.Outcome != "transport" || two.WaitsFor != "" || !two.Until.Equal(later) {
		t.Errorf("%+v", two)
	}
	if three.Last != nil || three.WaitsFor != "domain:a.test" {
		t.Errorf("%+v", three)
	}
	if want := query(t, s, "SELECT waits_for FROM tasks ORDER BY id"); want[0] != one.WaitsFor || want[2] != three.WaitsFor {
		t.Errorf("the view says %v", want)
	}
	got, err := s.Timeline(t.Context(), tasks[0].ID, 10)
	if err != nil || len(got) != 2 || got[0].Decision != "again in 2 s" || *got[1].HTTPStatus != 429 || got[1].Headers["retry-after"] != "90" || string(got[1].BodySample) != "slow down" || got[1].InFlightLimit != 4 {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := s.Timeline(t.Context(), tasks[0].ID, 1); err != nil || len(got) != 1 || got[0].Number != 2 {
		t.Errorf("of many the latest: %+v, %v", got, err)
	}
	// A pause lasts longer than any cooldown and has no end.
	if err := s.SetPause(t.Context(), Pause{Scope: "domain", Key: "a.test", SetAt: until}); err != nil {
		t.Fatal(err)
	}
	rows, err = s.TaskRows(t.Context(), TaskQuery{Run: run.ID, Window: Window{After: 10}})
	if err != nil || rows.Rows[2].WaitsFor != "domain:a.test" || !rows.Rows[2].Until.IsZero() {
		t.Errorf("%+v, %v", rows.Rows, err)
	}
}

func TestDeadGroups(t *testing.T) {
	s := openTemp(t, Options{})
	run := manyTasks(t, s, 80)
	for _, byDomain := range []bool{false, true} {
		groups, err := s.DeadGroups(t.Context(), run.ID, byDomain, 10)
		if err != nil {
			t.Fatal(err)
		}
		total := int64(0)
		for i, g := range groups {
			total += g.Tasks
			if g.Key == "" || g.Others < 1 || g.First.IsZero() || g.Last.Before(g.First) || i > 0 && g.Tasks > groups[i-1].Tasks {
				t.Errorf("%+v", groups)
			}
		}
		if want := map[bool]int{false: 2, true: 3}[byDomain]; len(groups) != want || total != 20 {
			t.Errorf("%v: %+v", byDomain, groups)
		}
	}
	if groups, err := s.DeadGroups(t.Context(), run.ID, true, 1); err != nil || len(groups) != 1 {
		t.Errorf("%+v, %v", groups, err)
	}
}

func TestWindowsOfEvents(t *testing.T) {
	s := openTemp(t, Options{})
	run, _ := newRun(t, s, "direct", "http://a.test/1")
	tx := Tx{Run: run.ID}
	for i := range 100 {
		tx.Events = append(tx.Events, Event{At: time.Now(), Level: []string{"info", "warn", "error"}[i%3], Scope: "domain", Key: "a.test", Text: fmt.Sprintf("Line %d", i), Task: int64(i % 2)})
	}
	write(t, s, tx)
	end, err := s.EventRows(t.Context(), EventQuery{Run: run.ID, Window: Window{Around: math.MaxInt64, Before: 5}})
	if err != nil || len(end.Rows) != 5 || end.Rows[4].Text != "Line 99" || !end.Last || end.First || end.Rows[4].Task != 1 {
		t.Fatalf("%+v, %v", end, err)
	}
	for name, c := range map[string]struct {
		q    EventQuery
		want int
	}{
		"levels": {EventQuery{Levels: []string{"warn", "error"}}, 66}, "a part": {EventQuery{Text: "line 1"}, 11},
		"the key": {EventQuery{Text: "A.TEST line 9"}, 11}, "both": {EventQuery{Levels: []string{"error"}, Text: "line 2"}, 5}, "nothing": {EventQuery{Text: "%"}, 0},
	} {
		c.q.Run, c.q.Window = run.ID, Window{After: 500}
		if got, err := s.EventRows(t.Context(), c.q); err != nil || len(got.Rows) != c.want {
			t.Errorf("%s: %d, %v", name, len(got.Rows), err)
		}
	}
}

// TestWindowsReadNoMoreThanTheyShow: none of them sorts, and each goes by an index.
func TestWindowsReadNoMoreThanTheyShow(t *testing.T) {
	s := openTemp(t, Options{})
	for _, q := range []TaskQuery{{}, {State: TaskPending}, {State: TaskDead, Reason: "blocked"}, {Domain: "a.test"}} {
		where, args := q.where()
		for _, side := range []string{` AND id < 9 ORDER BY id DESC LIMIT 5`, ` AND id >= 9 ORDER BY id LIMIT 5`} {
			plan := query(t, s, "EXPLAIN QUERY PLAN "+taskRowColumns+q.from()+where+side, args...)
			if len(plan) != 1 || !strings.Contains(plan[0], "SEARCH task USING INDEX task_") || !strings.Contains(plan[0], "rowid") {
				t.Errorf("%+v: %v", q, plan)
			}
		}
	}
	plan := query(t, s, `EXPLAIN QUERY PLAN SELECT id FROM attempt INDEXED BY attempt_task WHERE task = 1 ORDER BY id DESC LIMIT 9`)
	if len(plan) != 1 || !strings.Contains(plan[0], "attempt_task (task=?)") {
		t.Errorf("%v", plan)
	}
}
