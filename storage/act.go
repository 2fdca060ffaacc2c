package storage

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// Letter is a dead letter as it was before it was put back in the queue: what Bury needs to undo that.
type Letter struct {
	TaskChange
	Domain string
	Died   time.Time
}

// RequeueTasks is Requeue for these tasks, and returns those that were dead as they were. With notBefore they are delayed until
// then, so that an undo before that is exact.
func (s *Store) RequeueTasks(ctx context.Context, run int64, tasks []int64, notBefore time.Time) ([]Letter, error) {
	state := TaskPending
	if !notBefore.IsZero() {
		state = TaskDelayed
	}
	var letters []Letter
	err := s.do(ctx, func(conn *sql.Conn) error {
		rows, err := conn.QueryContext(context.Background(), `SELECT id, domain, tries, attempts, invalids, unknowns, first_try_at, reason, error, hop_url, hops, updated_at
			FROM task WHERE run = ? AND state = 'dead' AND id IN (SELECT value FROM json_each(?)) ORDER BY id`, run, ids(tasks))
		if letters, err = collect(s, rows, err, scanLetter); err != nil || len(letters) == 0 {
			return err
		}
		_, err = execCount(conn, `UPDATE task SET state = ?1, not_before = ?2, `+anew+` WHERE run = ?4 AND state = 'dead' AND id IN (SELECT value FROM json_each(?5))`,
			string(state), instant(notBefore), ms(time.Now()), run, ids(tasks))
		if err != nil {
			return err
		}
		return unburied(conn, run, int64(len(letters)))
	})
	return letters, err
}

func scanLetter(row interface{ Scan(...any) error }) (Letter, error) {
	l := Letter{TaskChange: TaskChange{State: TaskDead}}
	var first, died sql.NullInt64
	var reason, text, hop sql.NullString
	err := row.Scan(&l.ID, &l.Domain, &l.Tries, &l.Attempts, &l.Invalids, &l.Unknowns, &first, &reason, &text, &hop, &l.Hops, &died)
	l.FirstTryAt, l.Died = at(first), at(died)
	l.Reason, l.Error, l.HopURL = reason.String, text.String, hop.String
	return l, err
}

// anew is what requeueing takes from a task: it is tried as if it never was. ?3 is now.
const anew = `tries = 0, invalids = 0, unknowns = 0, first_try_at = NULL, reason = NULL, error = NULL, hop_url = NULL, hops = 0, updated_at = ?3`

// unburied takes n tasks of a run out of its dead ones. A run that had ended is stopped afterwards, so that resume continues it.
func unburied(conn *sql.Conn, run, n int64) error {
	if _, err := execCount(conn, `UPDATE total SET dead = dead - ? WHERE run = ?`, n, run); err != nil {
		return err
	}
	_, err := execCount(conn, `UPDATE run SET state = 'stopped', reason = NULL WHERE id = ? AND state IN ('finished', 'failed', 'stopped')`, run)
	return err
}

// Bury undoes RequeueTasks for the letters of a run that still wait and were not tried since, and returns those: they are dead
// again, as they were.
func (s *Store) Bury(ctx context.Context, run int64, letters []Letter) ([]Letter, error) {
	var buried []Letter
	err := s.do(ctx, func(conn *sql.Conn) error {
		buried = nil
		for _, l := range letters {
			n, err := execCount(conn, `UPDATE task SET state = 'dead', tries = ?, invalids = ?, unknowns = ?, first_try_at = ?, not_before = NULL,
					reason = ?, error = ?, hop_url = ?, hops = ?, updated_at = ?
				WHERE id = ? AND run = ? AND `+waiting+` AND attempts = ? AND tries = 0`,
				l.Tries, l.Invalids, l.Unknowns, instant(l.FirstTryAt), text(l.Reason), text(l.Error), text(l.HopURL), l.Hops, instant(l.Died), l.ID, run, l.Attempts)
			if err != nil {
				return err
			}
			if n > 0 {
				buried = append(buried, l)
			}
		}
		if len(buried) == 0 {
			return nil
		}
		if _, err := execCount(conn, `UPDATE total SET dead = dead + ? WHERE run = ?`, len(buried), run); err != nil {
			return err
		}
		return finishEmpty(conn, run)
	})
	return buried, err
}

// Cancel makes tasks of a run that wait or are dead cancelled and returns them as they were. What is in flight or at a platform is
// not touched: its answer decides.
func (s *Store) Cancel(ctx context.Context, run int64, tasks []int64) ([]Task, error) {
	const these = ` run = ? AND state IN ('pending', 'delayed', 'dead') AND id IN (SELECT value FROM json_each(?))`
	var were []Task
	err := s.do(ctx, func(conn *sql.Conn) error {
		rows, err := conn.QueryContext(context.Background(), taskColumns+`WHERE`+these+` ORDER BY id`, run, ids(tasks))
		if were, err = collect(s, rows, err, scanTask); err != nil || len(were) == 0 {
			return err
		}
		dead := 0
		for i := range were {
			if were[i].State == TaskDead {
				dead++
			}
		}
		if _, err = execCount(conn, `UPDATE task SET state = 'cancelled', not_before = NULL, reason = NULL, updated_at = ? WHERE`+these,
			ms(time.Now()), run, ids(tasks)); err != nil {
			return err
		}
		if _, err = execCount(conn, `UPDATE total SET cancelled = cancelled + ?, dead = dead - ? WHERE run = ?`, len(were), dead, run); err != nil {
			return err
		}
		return finishEmpty(conn, run)
	})
	if err != nil {
		return nil, fmt.Errorf("cancel tasks of run %d: %w", run, err)
	}
	return were, nil
}

// finishEmpty finishes a run that nobody drives and that has nothing left.
func finishEmpty(conn *sql.Conn, run int64) error {
	_, err := execCount(conn, `UPDATE run SET state = 'finished', reason = NULL WHERE id = ? AND state IN ('stopped', 'failed')
		AND (SELECT tasks - accepted - dead - cancelled FROM total WHERE run = run.id) = 0`, run)
	return err
}

// RetryNow ends the backoff of delayed tasks of a run, and returns those and the pending ones among them as they are now.
func (s *Store) RetryNow(ctx context.Context, run int64, tasks []int64) ([]Task, error) {
	const these = ` run = ? AND ` + waiting + ` AND id IN (SELECT value FROM json_each(?))`
	var now []Task
	err := s.do(ctx, func(conn *sql.Conn) error {
		_, err := execCount(conn, `UPDATE task SET state = 'pending', not_before = NULL, updated_at = ? WHERE`+these+` AND state = 'delayed'`, ms(time.Now()), run, ids(tasks))
		if err != nil {
			return err
		}
		rows, err := conn.QueryContext(context.Background(), taskColumns+`WHERE`+these+` ORDER BY id`, run, ids(tasks))
		now, err = collect(s, rows, err, scanTask)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("retry tasks of run %d: %w", run, err)
	}
	return now, nil
}
