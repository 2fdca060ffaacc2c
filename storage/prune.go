package storage

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// ofRuns are the tables whose rows belong to a run.
var ofRuns = []string{"event", "job", "intent", "unseen", "result", "attempt", "task", "total"}

// Prune removes the runs that ended before an instant, with everything that belongs to them, and returns how many. A run
// that did not end is kept, whatever its age. The file keeps its size: what is freed is used again.
func (s *Store) Prune(ctx context.Context, before time.Time) (int64, error) {
	var pruned int64
	for {
		if err := ctx.Err(); err != nil {
			return pruned, err
		}
		var found bool
		// A run at a time, so that other writes come in between.
		err := s.do(ctx, func(conn *sql.Conn) error {
			var run int64
			err := conn.QueryRowContext(context.Background(), `SELECT id FROM run
				WHERE state IN ('finished', 'stopped', 'failed') AND finished_at < ? ORDER BY id LIMIT 1`, ms(before)).Scan(&run)
			if errors.Is(err, sql.ErrNoRows) {
				return nil
			}
			if err != nil {
				return err
			}
			found = true
			for _, table := range ofRuns {
				if _, err := execCount(conn, `DELETE FROM `+table+` WHERE run = ?`, run); err != nil {
					return err
				}
			}
			_, err = execCount(conn, `DELETE FROM run WHERE id = ?`, run)
			return err
		})
		if err != nil || !found {
			return pruned, err
		}
		pruned++
	}
}

// Unused is how many bytes of the file hold nothing and wait to be used again.
func (s *Store) Unused(ctx context.Context) (int64, error) {
	var free, size int64
	err := s.read.QueryRowContext(ctx, `SELECT f.freelist_count, p.page_size FROM pragma_freelist_count f, pragma_page_size p`).Scan(&free, &size)
	return free * size, explain(s.path, err)
}

// Compact writes the file anew without its unused pages (VACUUM). It needs free space of the size of what is left, takes about
// a second for each 100 MB of it, and nothing can be written meanwhile; ErrBusy when somebody else writes.
func (s *Store) Compact(ctx context.Context) (err error) {
	if s.readOnly {
		return fault(ErrReadOnly, s.path, errors.New("it was opened for reading"))
	}
	db := openWriter(s.path, false) // VACUUM runs outside of transactions, the writer's are always in one
	defer func() { err = explain(s.path, errors.Join(err, db.Close())) }()
	for _, q := range []string{"VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"} {
		if _, err := db.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	return nil
}
