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
		n, err = execCount(conn, `UPDATE task SET state = 'pending', not_before = NULL, `+anew+`
			WHERE run = ?4 AND state = 'dead' AND (?1 = '' OR reason = ?1) AND (?2 = '' OR domain = ?2) AND (?5 = 0 OR id = ?5)`,
			f.Reason, f.Domain, ms(time.Now()), run, f.Task)
		if err != nil || n == 0 {
			return err
		}
		return unburied(conn, run, n)
	})
	return n, err
}
