package storage

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// CreateRun makes a run that is running and that nobody drives yet (see Own).
func (s *Store) CreateRun(ctx context.Context, spec RunSpec) (Run, error) {
	settings, err := object(spec.Settings)
	if err != nil {
		return Run{}, fmt.Errorf("settings of the run: %w", err)
	}
	var id int64
	keys := max(spec.Credentials, 1)
	err = s.do(ctx, func(conn *sql.Conn) error {
		r, err := conn.ExecContext(context.Background(),
			`INSERT INTO run (name, input, provider, settings, options, credentials, accounts, state, started_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			spec.Name, spec.Input, spec.Provider, settings, spec.Options, keys, cmp.Or(spec.Accounts, keys), string(RunRunning), ms(time.Now()))
		if err != nil {
			return err
		}
		if id, err = r.LastInsertId(); err != nil {
			return err
		}
		_, err = conn.ExecContext(context.Background(), `INSERT INTO total (run) VALUES (?)`, id)
		return err
	})
	if err != nil {
		return Run{}, err
	}
	return s.Run(ctx, id)
}

const runColumns = `SELECT r.id, r.name, r.input, r.provider, r.settings, r.state, r.reason, r.started_at, r.finished_at, o.lock,
	t.tasks, t.accepted, t.dead, t.tasks - t.accepted - t.dead - t.cancelled, t.attempts, t.records,
	t.requests, t.retries, t.cooldowns, t.probes, t.account, t.rate, t.pending_jobs, t.target, t.busy, t.cached, t.skipped,
	t.duplicates, t.bytes, t.credits, t.elapsed_ns, t.max_in_flight, t.added
	FROM run r JOIN total t ON t.run = r.id LEFT JOIN owner o ON o.id = r.owner `

// unfinished selects runs that have something left to do: tasks that did not end, or an end that was never reached.
const unfinished = `(r.state <> 'finished' OR t.tasks - t.accepted - t.dead - t.cancelled > 0)`

// scanRun reads a row of runColumns. A run that says it is running while nobody holds its owner's lock was interrupted.
func (s *Store) scanRun(rows interface{ Scan(...any) error }) (Run, error) {
	var r Run
	var settings, reason, lock sql.NullString
	var started int64
	var finished sql.NullInt64
	t := &r.Totals
	err := rows.Scan(&r.ID, &r.Name, &r.Input, &r.Provider, &settings, &r.State, &reason, &started, &finished, &lock,
		&r.Tasks, &r.Accepted, &r.Dead, &r.Pending, &r.Attempts, &r.Records,
		&t.Requests, &t.Retries, &t.Cooldowns, &t.Probes, &t.Account, &t.Rate, &t.PendingJobs, &t.Target, &t.Busy, &t.Cached, &t.Skipped,
		&t.Duplicates, &t.Bytes, &t.Credits, &t.Elapsed, &t.MaxInFlight, &r.Added)
	if err != nil {
		return Run{}, err
	}
	if settings.Valid {
		r.Settings = []byte(settings.String)
	}
	r.Reason = reason.String
	r.StartedAt = time.UnixMilli(started).UTC()
	r.FinishedAt = at(finished)
	if r.State == RunRunning || r.State == RunDraining {
		held := false
		if lock.Valid {
			if held, err = s.lockHeld(lock.String); err != nil {
				return Run{}, err
			}
		}
		if !held {
			r.State = RunInterrupted
		}
	}
	return r, nil
}

func (s *Store) oneRun(ctx context.Context, what, where string, args ...any) (Run, error) {
	r, err := s.scanRun(s.read.QueryRowContext(ctx, runColumns+where, args...))
	if err == nil && r.State == RunInterrupted {
		// Its owner may have ended it and freed the lock after the row was read: then the row says so now.
		r, err = s.scanRun(s.read.QueryRowContext(ctx, runColumns+where, args...))
	}
	if errors.Is(err, sql.ErrNoRows) {
		return Run{}, fmt.Errorf("%s: %s: %w", s.path, what, ErrNoRun)
	}
	return r, explain(s.path, err)
}

// Run returns one run, or ErrNoRun.
func (s *Store) Run(ctx context.Context, id int64) (Run, error) {
	return s.oneRun(ctx, fmt.Sprintf("run %d", id), `WHERE r.id = ?`, id)
}

// Latest returns the newest run, or ErrNoRun.
func (s *Store) Latest(ctx context.Context) (Run, error) {
	return s.oneRun(ctx, "latest run", `ORDER BY r.id DESC LIMIT 1`)
}

// LatestUnfinished returns the newest run with work left to resume, or ErrNoRun. Another process may be driving it.
func (s *Store) LatestUnfinished(ctx context.Context) (Run, error) {
	return s.oneRun(ctx, "unfinished run", `WHERE `+unfinished+` ORDER BY r.id DESC LIMIT 1`)
}

// Unfinished returns the newest run of an input and provider that has work left, and whether there is one.
func (s *Store) Unfinished(ctx context.Context, input, provider string) (Run, bool, error) {
	r, err := s.oneRun(ctx, "unfinished run", `WHERE r.input = ? AND r.provider = ? AND `+unfinished+` ORDER BY r.id DESC LIMIT 1`, input, provider)
	if errors.Is(err, ErrNoRun) {
		return Run{}, false, nil
	}
	return r, err == nil, err
}

// Runs returns the newest runs, newest first; limit zero means all.
func (s *Store) Runs(ctx context.Context, limit int) ([]Run, error) {
	if limit <= 0 {
		limit = -1
	}
	rows, err := s.read.QueryContext(ctx, runColumns+`ORDER BY r.id DESC LIMIT ?`, limit)
	return collect(s, rows, err, s.scanRun)
}

// collect reads all rows of a query.
func collect[T any](s *Store, rows *sql.Rows, err error, scan func(interface{ Scan(...any) error }) (T, error)) ([]T, error) {
	if err != nil {
		return nil, explain(s.path, err)
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, explain(s.path, err)
		}
		all = append(all, one)
	}
	return all, explain(s.path, rows.Err())
}
