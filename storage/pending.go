package storage

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync"
	"time"

	"github.com/mattn/go-sqlite3"
)

// The two halves of "beyond (priority, id)" in the order of the index; one condition with OR would read all that is skipped.
// The domain is known to who asks.
const (
	pendingColumns = `SELECT id, url, tenant, state, priority, tries, attempts, invalids, unknowns, created_at, first_try_at, not_before, hop_url, hops
		FROM task INDEXED BY task_waiting WHERE run = ? AND domain = ? AND ` + waiting
	pendingFirst = pendingColumns + ` ORDER BY priority DESC, id LIMIT ?`
	pendingSame  = pendingColumns + ` AND priority = ? AND id > ? ORDER BY id LIMIT ?`
	pendingBelow = pendingColumns + ` AND priority < ? ORDER BY priority DESC, id LIMIT ?`
)

// pendingRoom is for how many tasks room is made before it is known how many there are.
const pendingRoom = 256

// refills reads waiting tasks. It keeps one of the reading connections with its statements prepared from the first read on:
// preparing them costs as much as they do, and a run at full speed reads some hundred times a second.
type refills struct {
	mu                 sync.Mutex
	conn               *sql.Conn // nil: not open
	first, same, below *statement
}

func (r *refills) open(ctx context.Context, db *sql.DB) (err error) {
	if r.conn != nil {
		return nil
	}
	if r.conn, err = db.Conn(ctx); err != nil {
		return err
	}
	return r.conn.Raw(func(c any) (err error) {
		for _, p := range []struct {
			into  **statement
			query string
		}{{&r.first, pendingFirst}, {&r.same, pendingSame}, {&r.below, pendingBelow}} {
			if *p.into, err = prepare(c.(*sqlite3.SQLiteConn), p.query); err != nil {
				return err
			}
		}
		return nil
	})
}

// close gives the connection back; the next read opens one again.
func (r *refills) close() error {
	var errs []error
	for _, s := range []*statement{r.first, r.same, r.below} {
		if s != nil {
			errs = append(errs, s.stmt.Close())
		}
	}
	if r.conn != nil {
		errs = append(errs, r.conn.Close())
	}
	r.conn, r.first, r.same, r.below = nil, nil, nil, nil
	return errors.Join(errs...)
}

// Pending returns waiting tasks (pending and delayed) of several domains, those of one Want together and in its order. It
// reads no more than it returns. Changes that are still queued are not seen: who asks knows what it has started.
func (s *Store) Pending(ctx context.Context, run int64, wants []Want) ([]Task, error) {
	r := &s.refills
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.open(ctx, s.read)
	var all []Task
	if err == nil {
		all, err = r.read(ctx, run, wants)
	}
	if err != nil {
		return nil, explain(s.path, errors.Join(err, r.close()))
	}
	return all, nil
}

func (r *refills) read(ctx context.Context, run int64, wants []Want) (all []Task, err error) {
	most := 0
	for i := range wants {
		most += wants[i].N
	}
	all = make([]Task, 0, min(most, pendingRoom))
	for _, w := range wants {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		take := func(row []driver.Value) error {
			all = append(all, pendingTask(row, w.Domain))
			return nil
		}
		had := len(all)
		if w.AfterID == 0 {
			err = r.first.query(take, run, w.Domain, w.N)
		} else if err = r.same.query(take, run, w.Domain, w.AfterPriority, w.AfterID, w.N); err == nil {
			if left := w.N - (len(all) - had); left > 0 {
				err = r.below.query(take, run, w.Domain, w.AfterPriority, left)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// pendingTask reads a row of pendingColumns as the driver hands it out; one text serves all tasks of a domain.
func pendingTask(row []driver.Value, domain string) Task {
	number := func(i int) int64 {
		n, _ := row[i].(int64)
		return n
	}
	when := func(i int) time.Time {
		if n, ok := row[i].(int64); ok {
			return time.UnixMilli(n).UTC()
		}
		return time.Time{}
	}
	t := Task{ID: number(0), Domain: domain, Priority: int(number(4)), Tries: int(number(5)), Attempts: int(number(6)),
		Invalids: int(number(7)), Unknowns: int(number(8)), CreatedAt: when(9), FirstTryAt: when(10), NotBefore: when(11), Hops: int(number(13))}
	t.URL, _ = row[1].(string)
	t.Tenant, _ = row[2].(string)
	t.HopURL, _ = row[12].(string)
	if row[3] == string(TaskPending) {
		t.State = TaskPending
	} else {
		t.State = TaskDelayed
	}
	return t
}
