package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mattn/go-sqlite3"
)

const (
	// groupRows and groupBytes bound a transaction, so that a commit stays short (some ten milliseconds) for readers,
	// other processes and whoever waits for the acknowledgement.
	groupRows  = 2048
	groupBytes = 8 << 20
	// truncateBytes is the log size from which the writer empties the log when it has nothing else to do (above the size at
	// which it is moved into the file, after which SQLite writes it anew from its start), and
	// truncateBusyBytes the size from which it does so in between. A reader in the way is waited for no longer than
	// truncateWaitMS.
	truncateBytes     = 32 << 20
	truncateBusyBytes = 128 << 20
	truncateWaitMS    = 100
	// truncateEvery is how often a log that some reader keeps from being emptied is tried again.
	truncateEvery = 10 * time.Second
	// busyRetries is how many times busyTimeoutMS is waited for another process's write lock.
	busyRetries = 6
)

// job is one entry of the writer's queue: a Tx that may share a transaction, or a function that has one of its own.
type job struct {
	tx    *Tx
	done  func(error)
	fn    func(*sql.Conn) error
	taken *atomic.Bool // of fn: set by whoever comes first, the writer that runs it or the caller that gave up
	rows  int
	bytes int64
	at    time.Time
}

// writer owns the connection that writes. Its goroutine is the only one that uses conn, raw, prepared, pairs and owner.
type writer struct {
	path     string
	db       *sql.DB
	conn     *sql.Conn
	raw      *sqlite3.SQLiteConn // what conn holds for as long as it is open
	prepared map[string]*statement
	pairs    pairs
	owner    int64       // row of this process in owner; zero: none
	file     os.FileInfo // what was opened

	truncateAfter time.Time
	gone          chan struct{} // closed when the goroutine has ended
	wake          chan struct{} // holds one token while there may be work

	mu     sync.Mutex // guards what follows
	queue  []job
	bytes  int64     // of queue and of the group being committed
	oldest time.Time // of the group being committed; zero: none
	closed bool
}

func startWriter(ctx context.Context, path string, fast bool, all []step) (*writer, error) {
	w := &writer{
		path:     path,
		db:       openWriter(path, fast),
		prepared: map[string]*statement{},
		gone:     make(chan struct{}),
		wake:     make(chan struct{}, 1),
	}
	var err error
	// Making the file a WAL database needs it alone, and SQLite does not always wait for that: two first starts at the same
	// instant would fail one of them.
	for range 100 {
		if w.conn, err = w.db.Conn(ctx); err == nil || !isBusy(err) {
			break
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
		}
	}
	if err == nil {
		err = w.conn.Raw(func(c any) error {
			w.raw = c.(*sqlite3.SQLiteConn)
			return nil
		})
	}
	if err == nil {
		w.file, err = os.Stat(path)
	}
	if err == nil {
		err = migrate(ctx, w.conn, all)
	}
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	go w.loop()
	return w, nil
}

// Write queues a transaction and returns at once. done, which may be nil, is called from the writer's goroutine when it is
// committed (nil) or was given up; it must not block and must not call a method of the Store that waits. On a store that
// cannot write, done is called before Write returns.
//
// Transactions are committed in the order of Write, several in one SQLite transaction; a failure touches only the one that
// caused it, unless the disk is full (ErrDiskFull) or the file cannot be written (ErrReadOnly). The Tx and what it
// points to must not be changed before done.
func (s *Store) Write(tx Tx, done func(error)) {
	report := func(err error) {
		if done != nil {
			done(explain(s.path, err))
		}
	}
	if s.readOnly {
		report(fault(ErrReadOnly, s.path, errors.New("it was opened for reading")))
		return
	}
	rows, bytes := weight(&tx)
	if err := s.writer.put(job{tx: &tx, done: report, rows: rows, bytes: bytes}); err != nil {
		report(err)
	}
}

// Backlog is how many bytes wait to be committed and since when the oldest of them does (zero when none wait).
func (s *Store) Backlog() (bytes int64, oldest time.Time) {
	if s.readOnly {
		return 0, time.Time{}
	}
	w := s.writer
	w.mu.Lock()
	defer w.mu.Unlock()
	oldest = w.oldest
	if oldest.IsZero() && len(w.queue) > 0 {
		oldest = w.queue[0].at
	}
	return w.bytes, oldest
}

// Sync returns when everything queued before it was committed or reported as failed.
func (s *Store) Sync(ctx context.Context) error {
	if s.readOnly {
		return nil
	}
	return s.do(ctx, nil)
}

func (w *writer) put(j job) error {
	j.at = time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return fmt.Errorf("%s: %w", w.path, ErrClosed)
	}
	w.queue = append(w.queue, j)
	w.bytes += j.bytes
	select {
	case w.wake <- struct{}{}:
	default:
	}
	return nil
}

func (w *writer) do(ctx context.Context, fn func(*sql.Conn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	result := make(chan error, 1)
	taken := new(atomic.Bool)
	if err := w.put(job{fn: fn, taken: taken, done: func(err error) { result <- err }}); err != nil {
		return err
	}
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
		if taken.CompareAndSwap(false, true) {
			return ctx.Err()
		}
		return <-result
	}
}

// stop commits what is queued and closes the connection.
func (w *writer) stop() error {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
	<-w.gone
	return w.close()
}

func (w *writer) close() error {
	var errs []error
	for _, stmt := range w.prepared {
		errs = append(errs, stmt.stmt.Close())
	}
	if w.conn != nil {
		errs = append(errs, w.conn.Close())
	}
	return errors.Join(append(errs, w.db.Close())...)
}

func (w *writer) loop() {
	defer close(w.gone)
	for {
		group, closed := w.take()
		if len(group) == 0 {
			if closed {
				return
			}
			w.truncate(truncateBytes)
			<-w.wake
			continue
		}
		w.run(group)
		w.truncate(truncateBusyBytes)
	}
}

// take removes from the queue what the next transaction holds: transactions up to the bounds of a group, or one function.
func (w *writer) take() (group []job, closed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var rows int
	var bytes int64
	for _, j := range w.queue {
		if n := len(group); n > 0 && (j.fn != nil || j.tx == nil || group[0].tx == nil || rows+j.rows > groupRows || bytes+j.bytes > groupBytes) {
			break
		}
		group = append(group, j)
		rows += j.rows
		bytes += j.bytes
	}
	clear(w.queue[:len(group)]) // lets go of bodies that are committed
	if w.queue = w.queue[len(group):]; len(w.queue) == 0 {
		w.queue = nil
	}
	if len(group) > 0 {
		w.oldest = group[0].at
	}
	return group, w.closed
}

// run commits a group and reports to each of its jobs.
func (w *writer) run(group []job) {
	if j := group[0]; j.tx == nil {
		if j.taken.CompareAndSwap(false, true) {
			var err error
			if j.fn != nil {
				err = w.transaction(func() error { return j.fn(w.conn) })
			}
			w.finish(group)
			j.done(err)
		} else {
			w.finish(group)
		}
		return
	}
	err := w.commit(group)
	if err != nil && len(group) > 1 && !hopeless(explain(w.path, err)) {
		for i := range group {
			err := w.commit(group[i : i+1])
			w.finish(group[i : i+1])
			group[i].done(err)
		}
		return
	}
	w.finish(group)
	for _, j := range group {
		j.done(err)
	}
}

// hopeless reports a failure that every transaction would meet.
func hopeless(err error) bool {
	for _, kind := range []error{ErrDiskFull, ErrReadOnly, ErrDamaged, ErrBusy, ErrGone} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

// finish takes jobs out of the backlog, before their callers hear of it.
func (w *writer) finish(group []job) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, j := range group {
		w.bytes -= j.bytes
	}
	w.oldest = time.Time{}
}

func (w *writer) commit(group []job) error {
	txs := make([]*Tx, len(group))
	for i, j := range group {
		txs[i] = j.tx
	}
	return w.transaction(func() error { return w.apply(txs) })
}

// transaction runs fn between BEGIN IMMEDIATE and COMMIT, under no context: a commit is never cut off half-way.
func (w *writer) transaction(fn func() error) error {
	err := w.present()
	if err != nil {
		return err
	}
	for range busyRetries {
		if err = w.exec("BEGIN IMMEDIATE"); err == nil || !isBusy(err) {
			break
		}
	}
	if err != nil {
		return err
	}
	if err = fn(); err == nil {
		err = w.exec("COMMIT")
	}
	if err != nil {
		rollback(w.conn)
	}
	return err
}

// present reports that the path still leads to the file that was opened. SQLite writes on into a removed one, and all of it
// would be lost with the last process that has it open.
func (w *writer) present() error {
	switch now, err := os.Stat(w.path); {
	case errors.Is(err, fs.ErrNotExist):
		return fault(ErrGone, w.path, nil)
	case err == nil && !os.SameFile(now, w.file):
		return fault(ErrGone, w.path, errors.New("another file is in its place"))
	}
	return nil // any other error is for SQLite to meet
}

// statement returns a prepared statement of the writing connection.
func (w *writer) statement(query string) (*statement, error) {
	if s := w.prepared[query]; s != nil {
		return s, nil
	}
	s, err := prepare(w.raw, query)
	if err == nil {
		w.prepared[query] = s
	}
	return s, err
}

// exec runs a statement that returns no rows.
func (w *writer) exec(query string, args ...any) error {
	s, err := w.statement(query)
	if err != nil {
		return err
	}
	return s.exec(args)
}

// execCount is exec and returns how many rows changed.
func (w *writer) execCount(query string, args ...any) (int64, error) {
	s, err := w.statement(query)
	if err != nil {
		return 0, err
	}
	return s.execCount(args)
}

// truncate empties the log when it is larger than limit, so that a burst or a slow reader does not leave it large for ever.
// It is an economy: what goes wrong here, the next write reports.
func (w *writer) truncate(limit int64) {
	if walBytes(w.path) < limit || time.Now().Before(w.truncateAfter) {
		return
	}
	ctx := context.Background()
	_, err := w.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout = %d", truncateWaitMS))
	if err == nil {
		_, err = w.conn.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	}
	if err != nil || walBytes(w.path) >= limit {
		w.truncateAfter = time.Now().Add(truncateEvery)
	}
	_, _ = w.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout = %d", busyTimeoutMS))
}
