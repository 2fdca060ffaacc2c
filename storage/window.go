package storage

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"time"
)

// Window is the place of a window in a list of rows that are ordered by id: Before rows with lower ids than Around, and After
// from Around on. A list is never read past it, whatever its length.
type Window struct {
	Around        int64
	Before, After int
}

// TaskQuery asks for a window of a run's tasks; what is empty narrows nothing.
type TaskQuery struct {
	Run    int64
	State  TaskState
	Domain string
	Reason string // of dead letters
	Text   string // a part of the URL, in any case
	Window
}

// TaskRow is a task as it is shown.
type TaskRow struct {
	Task
	UpdatedAt time.Time
	Reason    string    // of a dead letter
	Error     string    // of its last failure
	WaitsFor  string    // what a pending task waits for (view tasks)
	Until     time.Time // when that is over, or a delayed task's own wait; zero: not known, a pause
	Last      *Answer   // of its last attempt; nil: it had none
}

// Answer is how an attempt ended.
type Answer struct {
	Outcome      string
	Layer        string
	HTTPStatus   int // zero: none
	TargetStatus int
	Elapsed      time.Duration
}

// Rows is a window of rows, in the order of their ids.
type Rows[T any] struct {
	Rows        []T
	First, Last bool // nothing comes before them, behind them
}

// window fills a window with two queries, of which each reads only what it returns: back and ahead are ordered from Around away.
func window[T any](w Window, back, ahead func(n int) ([]T, error)) (Rows[T], error) {
	before, err := back(w.Before + 1)
	if err != nil {
		return Rows[T]{}, err
	}
	after, err := ahead(w.After + 1)
	if err != nil {
		return Rows[T]{}, err
	}
	r := Rows[T]{First: len(before) <= w.Before, Last: len(after) <= w.After}
	before, after = before[:min(len(before), w.Before)], after[:min(len(after), w.After)]
	slices.Reverse(before)
	r.Rows = append(before, after...)
	return r, nil
}

// TaskRows returns a window of a run's tasks as of one instant.
func (s *Store) TaskRows(ctx context.Context, q TaskQuery) (Rows[TaskRow], error) {
	conn, err := s.read.Conn(ctx)
	if err != nil {
		return Rows[TaskRow]{}, explain(s.path, err)
	}
	defer conn.Close()
	var r Rows[TaskRow]
	err = snapshot(ctx, conn, func() error {
		where, args := q.where()
		part := func(side string) func(int) ([]TaskRow, error) {
			return func(n int) ([]TaskRow, error) {
				rows, err := conn.QueryContext(ctx, taskRowColumns+q.from()+where+side, append(append(args[:len(args):len(args)], q.Around), n)...)
				return collect(s, rows, err, scanTaskRow)
			}
		}
		if r, err = window(q.Window, part(` AND id < ? ORDER BY id DESC LIMIT ?`), part(` AND id >= ? ORDER BY id LIMIT ?`)); err != nil {
			return err
		}
		if err := s.readLast(ctx, conn, r.Rows); err != nil {
			return err
		}
		return readHolds(ctx, conn, q.Run, r.Rows)
	})
	return r, explain(s.path, err)
}

const taskRowColumns = `SELECT id, url, domain, tenant, state, priority, tries, attempts, invalids, unknowns, created_at, first_try_at, not_before, hop_url, hops,
	updated_at, reason, error FROM task `

// from names the index where the planner, which knows no counts, would read too much.
func (q *TaskQuery) from() string {
	switch {
	case q.State == TaskDead && q.Reason != "":
		return `INDEXED BY task_dead `
	case q.State == TaskInFlight:
		return `INDEXED BY task_in_flight `
	}
	return `INDEXED BY task_run ` // in the order of the ids, until the window is full
}

func (q *TaskQuery) where() (string, []any) {
	where, args := `WHERE run = ?`, []any{q.Run}
	add := func(condition string, arg any) {
		where += ` AND ` + condition
		args = append(args, arg)
	}
	switch q.State {
	case "":
	case TaskInFlight, TaskDead:
		where += ` AND state = '` + string(q.State) + `'` // word for word, as the partial indexes have it
	default:
		add(`state = ?`, string(q.State))
	}
	if q.Domain != "" {
		add(`domain = ?`, q.Domain)
	}
	if q.Reason != "" {
		add(`reason = ?`, q.Reason)
	}
	if q.Text != "" {
		add(`instr(lower(url), ?) > 0`, strings.ToLower(q.Text))
	}
	return where, args
}

func scanTaskRow(row interface{ Scan(...any) error }) (TaskRow, error) {
	var t TaskRow
	var created, updated int64
	var first, notBefore sql.NullInt64
	var hop, why, failure sql.NullString
	err := row.Scan(&t.ID, &t.URL, &t.Domain, &t.Tenant, &t.State, &t.Priority, &t.Tries, &t.Attempts, &t.Invalids, &t.Unknowns,
		&created, &first, &notBefore, &hop, &t.Hops, &updated, &why, &failure)
	t.CreatedAt, t.UpdatedAt = time.UnixMilli(created).UTC(), time.UnixMilli(updated).UTC()
	t.FirstTryAt, t.NotBefore = at(first), at(notBefore)
	t.HopURL, t.Reason, t.Error = hop.String, why.String, failure.String
	if t.State == TaskDelayed {
		t.Until = t.NotBefore
	}
	return t, err
}

// readLast reads how the last attempt of each task ended.
func (s *Store) readLast(ctx context.Context, conn *sql.Conn, tasks []TaskRow) error {
	at := make(map[int64]int, len(tasks))
	tried := make([]int64, 0, len(tasks))
	for i := range tasks {
		if tasks[i].Attempts > 0 {
			at[tasks[i].ID] = i
			tried = append(tried, tasks[i].ID)
		}
	}
	if len(tried) == 0 {
		return nil
	}
	rows, err := conn.QueryContext(ctx, `SELECT task, outcome, layer, http_status, target_status, elapsed_ms FROM attempt
		WHERE id IN (SELECT max(id) FROM attempt INDEXED BY attempt_task WHERE task IN (SELECT value FROM json_each(?)) GROUP BY task)`, ids(tried))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var task, elapsed int64
		var a Answer
		var status, target sql.NullInt64
		if err := rows.Scan(&task, &a.Outcome, &a.Layer, &status, &target, &elapsed); err != nil {
			return err
		}
		a.HTTPStatus, a.TargetStatus, a.Elapsed = int(status.Int64), int(target.Int64), time.Duration(elapsed)*time.Millisecond
		tasks[at[task]].Last = &a
	}
	return rows.Err()
}

// readHolds tells what pending tasks wait for, as the view tasks does: the hold that lasts longest. The view would look at
// every task of the run.
func readHolds(ctx context.Context, conn *sql.Conn, run int64, tasks []TaskRow) error {
	if !slices.ContainsFunc(tasks, func(t TaskRow) bool { return t.State == TaskPending }) {
		return nil
	}
	rows, err := conn.QueryContext(ctx, `SELECT part, name, waits_for, until FROM holds WHERE run IS NULL OR run = ?`, run)
	if err != nil {
		return err
	}
	defer rows.Close()
	type hold struct {
		waits string
		until int64 // pauses are the longest
	}
	const paused = int64(9e15)
	holds := make(map[[2]string]hold)
	for rows.Next() {
		var part, name string
		var h hold
		var until sql.NullFloat64
		if err := rows.Scan(&part, &name, &h.waits, &until); err != nil {
			return err
		}
		if h.until = paused; until.Valid {
			h.until = min(int64(until.Float64), paused)
		}
		if key := [2]string{part, name}; h.until >= holds[key].until {
			holds[key] = h
		}
	}
	for i := range tasks {
		t := &tasks[i]
		if t.State != TaskPending {
			continue
		}
		var longest hold
		for _, key := range [][2]string{{"domain", t.Domain}, {"tenant", t.Tenant}, {"run", ""}} {
			if h := holds[key]; h.until > longest.until {
				longest = h
			}
		}
		t.WaitsFor = longest.waits
		if longest.until > 0 && longest.until < paused {
			t.Until = time.UnixMilli(longest.until).UTC()
		}
	}
	return rows.Err()
}
