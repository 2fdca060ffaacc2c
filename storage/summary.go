package storage

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"time"
)

// Summary is a run in numbers, over all its resumes. Its JSON is the closing summary of a run.
type Summary struct {
	Run               int64            `json:"run"`
	Provider          string           `json:"provider"`
	State             RunState         `json:"state"`
	Tasks             int64            `json:"tasks"`
	Accepted          int64            `json:"accepted"` // Cached among them
	Cached            int64            `json:"cached"`
	Records           int64            `json:"records"` // results stored
	Dead              int64            `json:"dead"`
	Pending           int64            `json:"pending"` // pending, delayed, in flight and remote
	Skipped           int64            `json:"skipped"`
	Duplicates        int64            `json:"duplicates"`
	Attempts          int64            `json:"attempts"`
	Remote            int64            `json:"remote"` // handed over, not yet collected
	Requests          int64            `json:"requests"`
	Retries           int64            `json:"retries"`
	ElapsedSeconds    float64          `json:"elapsed_seconds"` // active time
	AcceptedPerMinute float64          `json:"accepted_per_minute"`
	MaxInFlight       int64            `json:"max_in_flight"`
	Cooldowns         int64            `json:"cooldowns"`
	Probes            int64            `json:"probes"`
	Limited           LimitedCounts    `json:"limited"`
	Busy              int64            `json:"busy"`
	Credits           float64          `json:"credits"` // the platform's unit
	Bytes             int64            `json:"bytes"`
	QueueAgeSeconds   QueueAge         `json:"queue_age_seconds"`
	DeadReasons       map[string]int64 `json:"dead_reasons"`
	Reason            *string          `json:"reason"` // why it stopped or failed; nil: neither
}

// LimitedCounts are the answers 429 by layer.
type LimitedCounts struct {
	Account int64 `json:"account"`
	Rate    int64 `json:"rate"`
	Pending int64 `json:"pending"`
	Target  int64 `json:"target"`
}

// QueueAge is how long tasks waited from their creation to their first attempt, in seconds. A task that had none counts
// with its age so far, or with its age when it ended without one (a reused result).
type QueueAge struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	Max float64 `json:"max"`
}

// Summary returns the numbers of a run as committed at one instant, or ErrNoRun.
func (s *Store) Summary(ctx context.Context, run int64) (Summary, error) {
	conn, err := s.read.Conn(ctx)
	if err != nil {
		return Summary{}, explain(s.path, err)
	}
	defer conn.Close()
	var sum Summary
	err = snapshot(ctx, conn, func() (err error) {
		sum, err = s.summary(ctx, conn, run)
		return err
	})
	return sum, explain(s.path, err)
}

// snapshot runs several queries on one state of the file.
func snapshot(ctx context.Context, conn *sql.Conn, fn func() error) error {
	if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
		return err
	}
	defer rollback(conn)
	return fn()
}

func (s *Store) summary(ctx context.Context, conn *sql.Conn, run int64) (Summary, error) {
	r, err := s.scanRun(conn.QueryRowContext(ctx, runColumns+`WHERE r.id = ?`, run))
	if err == sql.ErrNoRows {
		return Summary{}, fmt.Errorf("%s: run %d: %w", s.path, run, ErrNoRun)
	}
	if err != nil {
		return Summary{}, err
	}
	t := r.Totals
	sum := Summary{
		Run: r.ID, Provider: r.Provider, State: r.State, Tasks: r.Tasks, Accepted: r.Accepted, Records: r.Records, Cached: t.Cached, Dead: r.Dead,
		Pending: r.Pending, Skipped: t.Skipped, Duplicates: t.Duplicates, Attempts: r.Attempts, Requests: t.Requests, Retries: t.Retries,
		ElapsedSeconds: round(t.Elapsed.Seconds()), MaxInFlight: t.MaxInFlight, Cooldowns: t.Cooldowns, Probes: t.Probes,
		Limited: LimitedCounts{Account: t.Account, Rate: t.Rate, Pending: t.PendingJobs, Target: t.Target},
		Busy:    t.Busy, Credits: t.Credits, Bytes: t.Bytes, DeadReasons: map[string]int64{},
	}
	if t.Elapsed > 0 {
		sum.AcceptedPerMinute = round(float64(r.Accepted) / t.Elapsed.Minutes())
	}
	if r.Reason != "" {
		sum.Reason = &r.Reason
	}
	rows, err := conn.QueryContext(ctx, `SELECT coalesce(reason, ''), count(*) FROM task WHERE run = ? AND state = 'dead' GROUP BY reason`, run)
	if err != nil {
		return Summary{}, err
	}
	defer rows.Close()
	for rows.Next() {
		var reason string
		var n int64
		if err := rows.Scan(&reason, &n); err != nil {
			return Summary{}, err
		}
		sum.DeadReasons[reason] = n
	}
	if err := rows.Err(); err != nil {
		return Summary{}, err
	}
	return sum, readAges(ctx, conn, run, &sum)
}

// readAges reads what only the tasks themselves know: how long each waited, and which are remote.
func readAges(ctx context.Context, conn *sql.Conn, run int64, sum *Summary) error {
	now := ms(time.Now())
	rows, err := conn.QueryContext(ctx, `SELECT CASE WHEN first_try_at IS NOT NULL THEN first_try_at
			WHEN state IN ('accepted', 'dead', 'cancelled') THEN updated_at ELSE ? END - created_at, state = 'remote'
		FROM task WHERE run = ?`, now, run)
	if err != nil {
		return err
	}
	defer rows.Close()
	var ages []int64
	for rows.Next() {
		var age int64
		var remote bool
		if err := rows.Scan(&age, &remote); err != nil {
			return err
		}
		if remote {
			sum.Remote++
		}
		ages = append(ages, max(age, 0))
	}
	slices.Sort(ages)
	sum.QueueAgeSeconds = QueueAge{P50: quantile(ages, 0.50), P95: quantile(ages, 0.95), Max: quantile(ages, 1)}
	return rows.Err()
}

// quantile is the smallest of the sorted milliseconds that at least the share q of them does not exceed, in seconds.
func quantile(sorted []int64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	i := int(math.Ceil(q*float64(len(sorted)))) - 1
	return float64(sorted[max(i, 0)]) / 1000
}

// round keeps milliseconds: more digits would only be noise.
func round(x float64) float64 { return math.Round(x*1000) / 1000 }
