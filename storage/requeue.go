package storage

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// RequeueFilter narrows a Requeue; what is empty narrows nothing.
type RequeueFilter struct {
	Reason string // dead-letter reason
	Domain string
	Task   int64
}

// Requeue makes dead tasks of a run pending again and returns how many: their tries and deadline begin anew, their attempts
// stay. A run that had ended is stopped afterwards, so that resume continues it; one that is being driven goes on.
func (s *Store) Requeue(ctx context.Context, run int64, f RequeueFilter) (int64, error) {
	var n int64
	err := s.do(ctx, func(conn *sql.Conn) error {
		var exists bool
		err := conn.QueryRowContext(context.Background(), `SELECT EXISTS (SELECT 1 FROM run WHERE id = ?)`, run).Scan(&exists)
		if err == nil && !exists {
			err = fmt.Errorf("run %d: %w", run, ErrNoRun)
		}
		if err != nil {
			return err
		}
		n, err = execCount(conn, `UPDATE task SET state = 'pending', tries = 0, invalids = 0, unknowns = 0, first_try_at = NULL, not_before = NULL,
				reason = NULL, error = NULL, hop_url = NULL, hops = 0, updated_at = ?1
			WHERE run = ?2 AND state = 'dead' AND (?3 = '' OR reason = ?3) AND (?4 = '' OR domain = ?4) AND (?5 = 0 OR id = ?5)`,
			ms(time.Now()), run, f.Reason, f.Domain, f.Task)
		if err != nil || n == 0 {
			return err
		}
		if _, err = execCount(conn, `UPDATE total SET dead = dead - ? WHERE run = ?`, n, run); err != nil {
			return err
		}
		_, err = execCount(conn, `UPDATE run SET state = 'stopped', reason = NULL WHERE id = ? AND state IN ('finished', 'failed', 'stopped')`, run)
		return err
	})
	return n, err
}
