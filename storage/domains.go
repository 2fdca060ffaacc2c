package storage

import (
	"context"
	"time"
)

// DomainTotals are a domain's tasks and refusals within a run.
type DomainTotals struct {
	Domain                             string
	Pending, Delayed, InFlight, Remote int64
	Accepted, Dead, Cancelled          int64
	Oldest                             time.Time // when the oldest task that waits was added; zero: none waits
	Account, Rate, PendingJobs, Target int64     // 429 by layer
	Busy                               int64
	Updated                            time.Time // when one of its tasks last changed
}

// DomainTotals counts a run's tasks and refusals by domain, in the order of their names. It reads all of them: a second or two
// for a million.
func (s *Store) DomainTotals(ctx context.Context, run int64) ([]DomainTotals, error) {
	conn, err := s.read.Conn(ctx)
	if err != nil {
		return nil, explain(s.path, err)
	}
	defer conn.Close()
	var all []DomainTotals
	err = snapshot(ctx, conn, func() error {
		all = nil
		at := map[string]int{}
		rows, err := conn.QueryContext(ctx, `SELECT domain, state, count(*), min(created_at), max(updated_at) FROM task WHERE run = ? GROUP BY domain, state ORDER BY domain`, run)
		if err != nil {
			return err
		}
		for rows.Next() {
			var domain, state string
			var n, oldest, updated int64
			if err := rows.Scan(&domain, &state, &n, &oldest, &updated); err != nil {
				rows.Close()
				return err
			}
			if len(all) == 0 || all[len(all)-1].Domain != domain {
				at[domain] = len(all)
				all = append(all, DomainTotals{Domain: domain})
			}
			all[len(all)-1].add(TaskState(state), n, time.UnixMilli(oldest).UTC(), time.UnixMilli(updated).UTC())
		}
		if err := rows.Err(); err != nil {
			return err
		}
		rows, err = conn.QueryContext(ctx, `SELECT domain, outcome, layer, count(*) FROM attempt WHERE run = ? AND outcome IN ('limited', 'busy') GROUP BY domain, outcome, layer`, run)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var domain, outcome, layer string
			var n int64
			if err := rows.Scan(&domain, &outcome, &layer, &n); err != nil {
				return err
			}
			if i, ok := at[domain]; ok {
				all[i].refused(outcome, layer, n)
			}
		}
		return rows.Err()
	})
	return all, explain(s.path, err)
}

func (d *DomainTotals) add(state TaskState, n int64, oldest, updated time.Time) {
	if updated.After(d.Updated) {
		d.Updated = updated
	}
	switch state {
	case TaskPending, TaskDelayed:
		if d.Oldest.IsZero() || oldest.Before(d.Oldest) {
			d.Oldest = oldest
		}
		if state == TaskPending {
			d.Pending += n
		} else {
			d.Delayed += n
		}
	case TaskInFlight:
		d.InFlight += n
	case TaskRemote:
		d.Remote += n
	case TaskAccepted:
		d.Accepted += n
	case TaskDead:
		d.Dead += n
	case TaskCancelled:
		d.Cancelled += n
	}
}

func (d *DomainTotals) refused(outcome, layer string, n int64) {
	switch {
	case outcome == "busy":
		d.Busy += n
	case layer == "account":
		d.Account += n
	case layer == "rate":
		d.Rate += n
	case layer == "pending":
		d.PendingJobs += n
	default:
		d.Target += n
	}
}
