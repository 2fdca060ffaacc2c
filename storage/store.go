package storage

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// Store is one database file. Its methods may be called from any goroutine.
type Store struct {
	path     string
	readOnly bool
	read     *sql.DB
	refills  refills

	writer *writer // nil when readOnly

	mu    sync.Mutex // guards owner
	owner *owner     // nil: this process drives nothing

	closing  sync.Once
	closeErr error
}

// Options are how a file is opened.
type Options struct {
	// ReadOnly opens an existing file for looking only: nothing in it changes, no run is recovered. SQLite may leave an
	// empty log and its index beside it, which the next writer removes.
	ReadOnly bool
	// Fast gives up safety against power cuts (synchronous=OFF). For tests in virtual time, where a sync costs real time.
	Fast bool
}

// fullCheckBytes is the largest file that Open checks as a whole; a larger one would hold up the start for seconds and is
// checked by Check, and by SQLite as it is read.
const fullCheckBytes = 256 << 20

// Open opens the file, creating it (mode 0600) unless ReadOnly, and brings its schema up to date. The errors are ErrNewer,
// ErrForeign, ErrDamaged, ErrReadOnly, ErrDiskFull, and for ReadOnly ErrMissing and ErrOlder; a file that is not ours is not
// touched.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	all, err := steps(embedded)
	if err != nil {
		return nil, err
	}
	return open(ctx, path, o, all)
}

func open(ctx context.Context, path string, o Options, all []step) (*Store, error) {
	full, err := filepath.Abs(path) // a later change of folder must not change the file
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	// Whoever comes by another name has to find the same lock files, so a link to the file is followed once, here.
	if real, err := filepath.EvalSymlinks(full); err == nil {
		full = real
	}
	if err := claim(full, o.ReadOnly); err != nil {
		return nil, err
	}
	fresh, err := inspect(ctx, full, o.ReadOnly, len(all))
	if err != nil {
		return nil, explain(full, err)
	}
	if fresh && o.ReadOnly {
		return nil, fault(ErrForeign, full, errors.New("it is empty"))
	}
	s := &Store{path: full, readOnly: o.ReadOnly}
	if !o.ReadOnly {
		if s.writer, err = startWriter(ctx, full, o.Fast, all); err != nil {
			return nil, explain(full, err)
		}
	}
	if s.read, err = readers(ctx, full, o.ReadOnly); err != nil {
		return nil, explain(full, errors.Join(err, s.Close()))
	}
	return s, nil
}

// claim creates a missing file for us alone, before SQLite would create it with the mode that umask leaves. The log and
// index files that SQLite lays beside it take the same mode.
func claim(path string, readOnly bool) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return fault(ErrForeign, path, errors.New("it is a folder"))
	case err == nil && !info.Mode().IsRegular():
		return fault(ErrForeign, path, errors.New("it is not a regular file"))
	case err == nil:
		return looksLikeSQLite(path, readOnly)
	case !errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%s: %w", path, err)
	case readOnly:
		return fault(ErrMissing, path, nil)
	}
	// O_EXCL does not follow a link that somebody laid there meanwhile.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, os.ErrExist) {
		if _, err := os.Stat(path); err != nil { // a link to nowhere
			return fault(ErrForeign, path, err)
		}
		return nil // another process was quicker
	}
	if errors.Is(err, os.ErrPermission) {
		return fault(ErrReadOnly, path, err)
	}
	if err != nil {
		return fmt.Errorf("cannot be created: %w, check --db", err)
	}
	return f.Close()
}

// looksLikeSQLite reads the first bytes: SQLite would call a text file "not a database" only after trying to recover it.
func looksLikeSQLite(path string, readOnly bool) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("database cannot be read: %w", err)
	}
	defer f.Close()
	head := make([]byte, 16)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s: %w", path, err)
	}
	if n == 0 { // an empty file is an empty database; made by us a moment ago, or to be taken
		return nil
	}
	if !bytes.Equal(head[:n], []byte("SQLite format 3\x00")) {
		return fault(ErrForeign, path, errors.New("it is not SQLite"))
	}
	if !readOnly {
		w, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return fault(ErrReadOnly, path, err)
		}
		return w.Close()
	}
	return nil
}

// inspect looks at a file without changing it: whose it is, of which version, and whether it is whole. fresh means that it
// holds nothing yet.
func inspect(ctx context.Context, path string, readOnly bool, version int) (fresh bool, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return false, err
	}
	if info.Size() == 0 && walBytes(path) == 0 {
		return true, nil
	}
	db, err := readers(ctx, path, true)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	var app, have, objects int64
	for _, q := range []struct {
		query string
		into  *int64
	}{
		{"PRAGMA application_id", &app},
		{"PRAGMA user_version", &have},
		{"SELECT count(*) FROM sqlite_schema", &objects},
	} {
		if err := conn.QueryRowContext(ctx, q.query).Scan(q.into); err != nil {
			return false, err
		}
	}
	switch {
	case app == 0 && have == 0 && objects == 0:
		return true, nil
	case app != applicationID:
		return false, fault(ErrForeign, path, errors.New("it is another program's SQLite database"))
	case have > int64(version):
		return false, fault(ErrNewer, path, fmt.Errorf("its schema is version %d, ours %d", have, version))
	case have < int64(version) && readOnly:
		return false, fault(ErrOlder, path, fmt.Errorf("its schema is version %d, ours %d", have, version))
	}
	if info.Size() > fullCheckBytes {
		return false, nil
	}
	return false, quickCheck(ctx, conn, path)
}

func quickCheck(ctx context.Context, conn *sql.Conn, path string) error {
	var verdict string
	if err := conn.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return fault(ErrDamaged, path, errors.New(verdict))
	}
	return nil
}

// readers opens the reading side and proves that it can read. With still, a file that SQLite cannot share with a writer is
// read as one that does not change.
func readers(ctx context.Context, path string, still bool) (*sql.DB, error) {
	db := openReaders(path, false)
	_, err := db.ExecContext(ctx, "SELECT count(*) FROM sqlite_schema")
	if err == nil {
		return db, nil
	}
	err = errors.Join(err, db.Close())
	if !still || walBytes(path) > 0 {
		return nil, err
	}
	// No log beside the file: the shared index is what could not be made, as on read-only media.
	db = openReaders(path, true)
	if _, again := db.ExecContext(ctx, "SELECT count(*) FROM sqlite_schema"); again != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// walBytes is the size of the write-ahead log beside a file; zero when there is none.
func walBytes(path string) int64 {
	info, err := os.Stat(path + "-wal")
	if err != nil {
		return 0
	}
	return info.Size()
}

// Path is the absolute path of the file.
func (s *Store) Path() string { return s.path }

// WALBytes is the size of the write-ahead log. It grows far beyond 16 MiB only while some reader keeps one query open.
func (s *Store) WALBytes() int64 { return walBytes(s.path) }

// Check reads the whole file and reports ErrDamaged when it is inconsistent. It takes about a second for each gigabyte.
func (s *Store) Check(ctx context.Context) error {
	conn, err := s.read.Conn(ctx)
	if err != nil {
		return explain(s.path, err)
	}
	defer conn.Close()
	return explain(s.path, quickCheck(ctx, conn, s.path))
}

// Close commits what was queued, gives up the runs that this process drives, and closes the file. It may be called twice.
func (s *Store) Close() error {
	s.closing.Do(func() {
		var errs []error
		if s.writer != nil {
			errs = append(errs, s.Disown(context.Background()))
		}
		// Readers first: the last connection to close must be one that may move the log into the file.
		s.refills.mu.Lock()
		errs = append(errs, s.refills.close())
		s.refills.mu.Unlock()
		if s.read != nil {
			errs = append(errs, s.read.Close())
		}
		if s.writer != nil {
			errs = append(errs, s.writer.stop())
		}
		s.closeErr = explain(s.path, errors.Join(errs...))
	})
	return s.closeErr
}

// do runs fn in a transaction of its own on the writer, after everything queued before, and returns when it is committed.
// A context that ends while fn waits in the queue takes it out; one that ends later does not stop it.
func (s *Store) do(ctx context.Context, fn func(*sql.Conn) error) error {
	if s.readOnly {
		return fault(ErrReadOnly, s.path, errors.New("it was opened for reading"))
	}
	return explain(s.path, s.writer.do(ctx, fn))
}
