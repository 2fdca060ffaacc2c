package storage

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"
)

// RunQuery asks for a window of the runs; an empty Text narrows nothing.
type RunQuery struct {
	// Text is a part of the name, the state or the provider, in any case. An interrupted run has the state that it had when its
	// process went: running or draining.
	Text string
	Window
}

// NewestFirst is the place of a run in a list that begins with the newest one: what a Window of runs is about. It is its own
// inverse.
func NewestFirst(run int64) int64 { return math.MaxInt64 - run }

// RunRows returns a window of the runs, the newest first: Around is a place (NewestFirst).
func (s *Store) RunRows(ctx context.Context, q RunQuery) (Rows[Run], error) {
	conn, err := s.read.Conn(ctx)
	if err != nil {
		return Rows[Run]{}, explain(s.path, err)
	}
	defer conn.Close()
	var r Rows[Run]
	err = snapshot(ctx, conn, func() error {
		part := func(side string) func(int) ([]Run, error) {
			return func(n int) ([]Run, error) {
				rows, err := conn.QueryContext(ctx, runColumns+`WHERE (?1 = '' OR instr(lower(r.name || ' ' || r.state || ' ' || r.provider), ?1) > 0) `+side,
					strings.ToLower(q.Text), NewestFirst(q.Around), n)
				return collect(s, rows, err, s.scanRun)
			}
		}
		r, err = window(q.Window, part(`AND r.id > ?2 ORDER BY r.id LIMIT ?3`), part(`AND r.id <= ?2 ORDER BY r.id DESC LIMIT ?3`))
		return err
	})
	return r, explain(s.path, err)
}

// RunsBefore returns the runs of the same name and provider that are older than a run, the newest first, at most limit of them:
// what it can be compared with.
func (s *Store) RunsBefore(ctx context.Context, run Run, limit int) ([]Run, error) {
	rows, err := s.read.QueryContext(ctx, runColumns+`WHERE r.name = ? AND r.provider = ? AND r.id < ? ORDER BY r.id DESC LIMIT ?`,
		run.Name, run.Provider, run.ID, limit)
	return collect(s, rows, err, s.scanRun)
}

// Latency is how long the latest exchanges of a run took, at most of many of them: the median and the 95th percentile; zero
// when there was none. More of them would tell little more and take long to read.
func (s *Store) Latency(ctx context.Context, run int64, of int) (p50, p95 time.Duration, err error) {
	rows, err := s.read.QueryContext(ctx, `SELECT elapsed_ms FROM attempt INDEXED BY attempt_run WHERE run = ? ORDER BY id DESC LIMIT ?`, run, of)
	took, err := collect(s, rows, err, func(row interface{ Scan(...any) error }) (ms int64, err error) {
		return ms, row.Scan(&ms)
	})
	if err != nil || len(took) == 0 {
		return 0, 0, err
	}
	slices.SortFunc(took, cmp.Compare[int64])
	at := func(q float64) time.Duration { return time.Duration(quantile(took, q) * float64(time.Second)) }
	return at(.5), at(.95), nil
}

// Bytes is the size of the file with its log.
func (s *Store) Bytes() (int64, error) {
	info, err := os.Stat(s.path)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", s.path, err)
	}
	return info.Size() + s.WALBytes(), nil
}
