package storage

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// owner is this process as the driver of runs: a row in the file and a lock file whose lock the kernel drops when the
// process ends, however it ends. Immutable.
type owner struct {
	id   int64
	name string
	lock *os.File
}

// Recovered is what Own found left over.
type Recovered struct {
	// Tasks of the run that were in flight and are pending again, with their tries kept.
	Tasks int64
	// Unknown are the intents of the run that were never settled, oldest first: whether the server has seen them is not
	// known. They stay recorded until a Tx settles them.
	Unknown []Intent
}

// Own makes this process the driver of a run and the run running. It is refused with ErrHeld, which names the process, while
// another living one drives it. Leftovers of every process that died are put right on the way: what it had in flight is
// pending again, its runs are interrupted.
//
// Everything happens under the file's write lock, so of two processes that start at the same instant exactly one gets the run.
func (s *Store) Own(ctx context.Context, run int64) (Recovered, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	me, fresh := s.owner, false
	var rec Recovered
	var leftover []string
	err := s.do(ctx, func(conn *sql.Conn) error {
		dead, held, err := s.owners(conn, run)
		if err != nil {
			return err
		}
		if held != 0 {
			return fmt.Errorf("run %d: %w: end process %d, or watch the run there", run, ErrHeld, held)
		}
		if err := s.sweep(conn); err != nil {
			return err
		}
		if me == nil {
			fresh = true
			if me, err = s.register(conn); err != nil {
				return err
			}
		}
		if leftover, err = recoverDead(conn, dead, me.id, run, &rec); err != nil {
			return err
		}
		n, err := execCount(conn, `UPDATE run SET state = ?, reason = NULL, finished_at = NULL, owner = ? WHERE id = ?`, string(RunRunning), me.id, run)
		if err == nil && n == 0 {
			err = fmt.Errorf("run %d: %w", run, ErrNoRun)
		}
		if err != nil {
			return err
		}
		s.writer.owner = me.id
		return nil
	})
	if err != nil {
		if fresh && me != nil {
			err = errors.Join(err, s.release(me), s.do(context.Background(), s.forgetOwner(me.id)))
		}
		return Recovered{}, err
	}
	s.owner = me
	for _, name := range leftover {
		err = errors.Join(err, remove(s.lockPath(name)))
	}
	return rec, err
}

// forgetOwner undoes what a failed Own may have told the writer.
func (s *Store) forgetOwner(id int64) func(*sql.Conn) error {
	return func(*sql.Conn) error {
		if s.writer.owner == id {
			s.writer.owner = 0
		}
		return nil
	}
}

// deadOwner is an owner whose lock is free.
type deadOwner struct {
	id   int64
	lock string
}

// owners finds the dead, and the process that drives run (zero: none but this one).
func (s *Store) owners(conn *sql.Conn, run int64) (dead []deadOwner, held int64, err error) {
	rows, err := conn.QueryContext(context.Background(), `SELECT o.id, o.pid, o.lock, EXISTS (SELECT 1 FROM run r WHERE r.id = ? AND r.owner = o.id) FROM owner o`, run)
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var d deadOwner
		var pid int64
		var drives bool
		if err := rows.Scan(&d.id, &pid, &d.lock, &drives); err != nil {
			return nil, 0, err
		}
		if s.owner != nil && d.id == s.owner.id {
			continue
		}
		alive, err := s.lockHeld(d.lock)
		if err != nil {
			return nil, 0, err
		}
		switch {
		case !alive:
			dead = append(dead, d)
		case drives:
			held = pid
		}
	}
	return dead, held, rows.Err()
}

// sweep removes free lock files that no row names: of a process that was killed while it registered. Nobody else registers
// now, because that takes the write lock which we hold.
func (s *Store) sweep(conn *sql.Conn) error {
	dir, err := os.ReadDir(filepath.Dir(s.path)) // not Glob: the path may hold its special characters
	if err != nil {
		return err
	}
	for _, entry := range dir {
		name, ours := strings.CutPrefix(entry.Name(), filepath.Base(s.lockPath("")))
		if !ours {
			continue
		}
		var known bool
		if err := conn.QueryRowContext(context.Background(), `SELECT EXISTS (SELECT 1 FROM owner WHERE lock = ?)`, name).Scan(&known); err != nil {
			return err
		}
		if known {
			continue
		}
		if held, err := s.lockHeld(name); err != nil || held {
			continue // not a file that we could have made, or one whose owner is about to remove it
		}
		if err := remove(s.lockPath(name)); err != nil {
			return err
		}
	}
	return nil
}

// register takes a lock file of our own and writes the row that names it. Nobody sees the row before the lock is held.
func (s *Store) register(conn *sql.Conn) (*owner, error) {
	me := &owner{name: rand.Text()} // not the id: a database that was removed may have left a file of that name
	var err error
	if me.lock, err = os.OpenFile(s.lockPath(me.name), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600); err != nil {
		return nil, fmt.Errorf("lock file: %w", err)
	}
	err = unix.Flock(int(me.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		var r sql.Result
		r, err = conn.ExecContext(context.Background(), `INSERT INTO owner (pid, lock, started_at) VALUES (?, ?, ?)`, os.Getpid(), me.name, ms(time.Now()))
		if err == nil {
			me.id, err = r.LastInsertId()
		}
	}
	if err != nil {
		return nil, errors.Join(err, s.release(me))
	}
	return me, nil
}

// recoverDead puts right what dead owners left, and returns the names of their lock files.
func recoverDead(conn *sql.Conn, dead []deadOwner, me, run int64, rec *Recovered) ([]string, error) {
	now := ms(time.Now())
	const back = `UPDATE task SET state = 'pending', owner = NULL, updated_at = ? WHERE state = 'in_flight' AND `
	var names []string
	for _, d := range dead {
		n, err := execCount(conn, back+`owner = ? AND run = ?`, now, d.id, run)
		if err != nil {
			return nil, err
		}
		rec.Tasks += n
		for _, change := range []struct {
			query string
			args  []any
		}{
			{back + `owner = ?`, []any{now, d.id}},
			{`UPDATE run SET state = 'interrupted' WHERE owner = ? AND state IN ('running', 'draining')`, []any{d.id}},
			{`UPDATE run SET owner = NULL WHERE owner = ?`, []any{d.id}},
			{`DELETE FROM owner WHERE id = ?`, []any{d.id}},
		} {
			if _, err := execCount(conn, change.query, change.args...); err != nil {
				return nil, err
			}
		}
		names = append(names, d.lock)
	}
	// Also what no owner, or an earlier drive of this process, left in flight.
	for _, left := range []struct {
		query string
		args  []any
	}{
		{back + `owner IS NULL AND run = ?`, []any{now, run}},
		{back + `owner = ? AND run = ?`, []any{now, me, run}},
	} {
		n, err := execCount(conn, left.query, left.args...)
		if err != nil {
			return nil, err
		}
		rec.Tasks += n
	}
	var err error
	rec.Unknown, err = intents(conn, run)
	return names, err
}

func intents(conn *sql.Conn, run int64) ([]Intent, error) {
	rows, err := conn.QueryContext(context.Background(), `SELECT exchange, kind, credential, job, tasks, at FROM intent WHERE run = ? ORDER BY at, exchange`, run)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []Intent
	for rows.Next() {
		var in Intent
		var tasks []byte
		var when int64
		if err := rows.Scan(&in.Exchange, &in.Kind, &in.Credential, &in.Job, &tasks, &when); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(tasks, &in.Tasks); err != nil {
			return nil, fmt.Errorf("intent %s: tasks: %w", in.Exchange, err)
		}
		in.At = time.UnixMilli(when).UTC()
		all = append(all, in)
	}
	return all, rows.Err()
}

// Disown gives up the runs that this process drives, after everything queued before is committed. A run that was not ended is
// interrupted, what is still in flight is pending again. Without an Own before it does nothing.
func (s *Store) Disown(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	me := s.owner
	if me == nil {
		return nil
	}
	err := s.do(ctx, func(conn *sql.Conn) error {
		if _, err := recoverDead(conn, []deadOwner{{me.id, me.name}}, 0, 0, &Recovered{}); err != nil {
			return err
		}
		s.writer.owner = 0
		return nil
	})
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) { // still the driver
		return err
	}
	// Without the lock the next process recovers what could not be written now.
	s.owner = nil
	return errors.Join(err, s.release(me))
}

// release removes the lock file and frees the lock. Whoever asks in between takes the missing name for a free lock, which is
// what it is about to be.
func (s *Store) release(me *owner) error {
	return errors.Join(remove(s.lockPath(me.name)), me.lock.Close())
}

// lockPath is the lock file of an owner. What the database says cannot lead elsewhere.
func (s *Store) lockPath(name string) string {
	return s.path + "-owner-" + strings.ReplaceAll(name, string(filepath.Separator), "")
}

func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// lockHeld reports whether a living process holds an owner's lock. It asks with a shared lock, so that several who ask at
// once do not take each other for the owner.
func (s *Store) lockHeld(name string) (bool, error) {
	f, err := os.OpenFile(s.lockPath(name), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ELOOP) {
		return false, nil
	}
	if errors.Is(err, os.ErrPermission) { // another user's; he may be at work
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	err = unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}

func execCount(conn *sql.Conn, query string, args ...any) (int64, error) {
	r, err := conn.ExecContext(context.Background(), query, args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}
