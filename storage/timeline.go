package storage

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"time"
)

// Timeline returns the attempts of one task, the first first, of very many the latest limit. What served several tasks at once
// and has no row of its own for each (the polls of a batch) is not among them.
func (s *Store) Timeline(ctx context.Context, task int64, limit int) ([]Attempt, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT number, credential, kind, started_at, elapsed_ms, outcome, layer, http_status, target_status,
			retry_after_ms, quota_limit, remaining, reset_ms, in_flight, in_flight_limit, decision, headers, body_kind, credits, bytes, error,
			CAST(body_sample AS TEXT), remote_job
		FROM attempt INDEXED BY attempt_task WHERE task = ? ORDER BY id DESC LIMIT ?`, task, limit)
	all, err := collect(s, rows, err, func(row interface{ Scan(...any) error }) (Attempt, error) {
		a := Attempt{Task: task}
		var started, elapsed int64
		var status, target, after, reset, inFlightLimit sql.NullInt64
		var headers, failure, sample, job sql.NullString
		err := row.Scan(&a.Number, &a.Credential, &a.Kind, &started, &elapsed, &a.Outcome, &a.Layer, &status, &target, &after, &a.QuotaLimit,
			&a.Remaining, &reset, &a.InFlight, &inFlightLimit, &a.Decision, &headers, &a.BodyKind, &a.Credits, &a.Bytes, &failure, &sample, &job)
		if err != nil {
			return a, err
		}
		a.StartedAt, a.Elapsed = time.UnixMilli(started).UTC(), time.Duration(elapsed)*time.Millisecond
		a.HTTPStatus, a.TargetStatus = number(status), number(target)
		a.RetryAfter, a.Reset = spanOf(after), spanOf(reset)
		a.InFlightLimit, a.Error, a.RemoteJob = int(inFlightLimit.Int64), failure.String, job.String
		if sample.Valid {
			a.BodySample = []byte(sample.String)
		}
		if headers.Valid {
			return a, json.Unmarshal([]byte(headers.String), &a.Headers)
		}
		return a, nil
	})
	slices.Reverse(all)
	return all, err
}

func number(v sql.NullInt64) *int {
	if !v.Valid {
		return nil
	}
	n := int(v.Int64)
	return &n
}

func spanOf(v sql.NullInt64) *time.Duration {
	if !v.Valid {
		return nil
	}
	d := time.Duration(v.Int64) * time.Millisecond
	return &d
}

// DeadGroup is dead letters that have something in common.
type DeadGroup struct {
	Key         string // the reason, or the domain
	Tasks       int64
	Others      int64 // domains of a reason, reasons of a domain
	First, Last time.Time
}

// DeadGroups returns the dead letters of a run by reason or by domain, the largest group first, at most limit of them.
func (s *Store) DeadGroups(ctx context.Context, run int64, byDomain bool, limit int) ([]DeadGroup, error) {
	key, other := "coalesce(reason, '')", "domain"
	if byDomain {
		key, other = "domain", "reason"
	}
	rows, err := s.read.QueryContext(ctx, `SELECT `+key+` AS k, count(*) AS n, count(DISTINCT `+other+`), min(updated_at), max(updated_at)
		FROM task INDEXED BY task_dead WHERE run = ? AND state = 'dead' GROUP BY k ORDER BY n DESC, k LIMIT ?`, run, limit)
	return collect(s, rows, err, func(row interface{ Scan(...any) error }) (DeadGroup, error) {
		var g DeadGroup
		var first, last int64
		err := row.Scan(&g.Key, &g.Tasks, &g.Others, &first, &last)
		g.First, g.Last = time.UnixMilli(first).UTC(), time.UnixMilli(last).UTC()
		return g, err
	})
}

// EventQuery asks for a window of a run's events; what is empty narrows nothing.
type EventQuery struct {
	Run    int64
	Levels []string
	Text   string // a part of the text or of the key, in any case
	Window
}

// EventRows returns a window of a run's events.
func (s *Store) EventRows(ctx context.Context, q EventQuery) (Rows[Event], error) {
	conn, err := s.read.Conn(ctx)
	if err != nil {
		return Rows[Event]{}, explain(s.path, err)
	}
	defer conn.Close()
	var r Rows[Event]
	err = snapshot(ctx, conn, func() error {
		where, args := `WHERE run = ?`, []any{q.Run}
		if len(q.Levels) > 0 {
			list, err := json.Marshal(q.Levels)
			if err != nil {
				return err
			}
			where += ` AND level IN (SELECT value FROM json_each(?))`
			args = append(args, string(list))
		}
		if q.Text != "" {
			where += ` AND instr(lower(key || ' ' || text), lower(?)) > 0`
			args = append(args, q.Text)
		}
		part := func(side string) func(int) ([]Event, error) {
			return func(n int) ([]Event, error) {
				rows, err := conn.QueryContext(ctx, `SELECT id, at, level, scope, key, text, task FROM event `+where+side, append(append(args[:len(args):len(args)], q.Around), n)...)
				return collect(s, rows, err, scanEvent)
			}
		}
		r, err = window(q.Window, part(` AND id < ? ORDER BY id DESC LIMIT ?`), part(` AND id >= ? ORDER BY id LIMIT ?`))
		return err
	})
	return r, explain(s.path, err)
}

func scanEvent(row interface{ Scan(...any) error }) (Event, error) {
	var e Event
	var when int64
	var task sql.NullInt64
	err := row.Scan(&e.ID, &when, &e.Level, &e.Scope, &e.Key, &e.Text, &task)
	e.At, e.Task = time.UnixMilli(when).UTC(), task.Int64
	return e, err
}
