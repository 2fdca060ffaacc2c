package storage

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/mattn/go-sqlite3"
)

// What can be wrong with a database or with what was asked of it. Returned wrapped, with the path and what to do.
var (
	// ErrNewer: the file was written by a newer version of this program.
	ErrNewer = errors.New("database is newer than this program")
	// ErrOlder: the file was written by an older version and ReadOnly may not bring it up to date.
	ErrOlder = errors.New("database is older than this program")
	// ErrForeign: the file is not SQLite, or is another program's database.
	ErrForeign = errors.New("not a database of this program")
	// ErrDamaged: SQLite found the file inconsistent.
	ErrDamaged = errors.New("database is damaged")
	// ErrReadOnly: the store was opened ReadOnly, or the file or its folder cannot be written.
	ErrReadOnly = errors.New("database is read-only")
	// ErrDiskFull: there is no room for the change; nothing of it was written.
	ErrDiskFull = errors.New("disk is full")
	// ErrMissing: there is no such file, and ReadOnly creates none.
	ErrMissing = errors.New("no database")
	// ErrBusy: another process held the write lock for longer than we wait.
	ErrBusy = errors.New("database is busy")
	// ErrGone: the file was removed or replaced while it was open.
	ErrGone = errors.New("database was removed while in use")
	// ErrHeld: a living process drives the run.
	ErrHeld = errors.New("run is driven by another process")
	// ErrNoRun: there is no such run.
	ErrNoRun = errors.New("no such run")
	// ErrNoTask: there is no such task in the run.
	ErrNoTask = errors.New("no such task")
	// ErrClosed: the store was closed before the change was queued.
	ErrClosed = errors.New("database is closed")
	// ErrInvalid: what was to be stored is not what it has to be, e.g. fields that are not JSON.
	ErrInvalid = errors.New("invalid record")
)

// advice is what to do about a fault.
var advice = map[error]string{
	ErrNewer:    "update scrapetop, or use another --db",
	ErrOlder:    "open it once with a command that writes, such as run or resume",
	ErrForeign:  "use another --db",
	ErrDamaged:  "copy what can be read into a new file with doctor --repair, or restore a backup",
	ErrReadOnly: "make the file and its folder writable, or use another --db",
	ErrDiskFull: "free some space; what was not written is tried again",
	ErrGone:     "put the file back and resume, what came since is lost, or start over with a new run",
	ErrMissing:  "check --db, or start a run",
	ErrBusy:     "another process is writing for long; end it or try again",
}

// fault is a sentinel with the file it is about, what to do, and what lower layers said.
func fault(kind error, path string, cause error) error {
	what := fmt.Errorf("%s: %w", path, kind)
	if do := advice[kind]; do != "" {
		what = fmt.Errorf("%w: %s", what, do)
	}
	if cause != nil {
		what = fmt.Errorf("%w (%w)", what, cause)
	}
	return what
}

// explain turns an error of SQLite into one of the sentinels where it is one of them, and adds the path otherwise.
func explain(path string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	for kind := range advice {
		if errors.Is(err, kind) {
			return err
		}
	}
	for _, kind := range []error{ErrHeld, ErrNoRun, ErrNoTask, ErrClosed, ErrInvalid} {
		if errors.Is(err, kind) {
			return err
		}
	}
	var lite sqlite3.Error
	if !errors.As(err, &lite) {
		return fmt.Errorf("%s: %w", path, err)
	}
	switch lite.Code {
	case sqlite3.ErrFull:
		return fault(ErrDiskFull, path, err)
	case sqlite3.ErrReadonly, sqlite3.ErrPerm, sqlite3.ErrAuth:
		return fault(ErrReadOnly, path, err)
	case sqlite3.ErrCorrupt, sqlite3.ErrNotADB:
		return fault(ErrDamaged, path, err)
	case sqlite3.ErrBusy, sqlite3.ErrLocked:
		return fault(ErrBusy, path, err)
	}
	switch lite.SystemErrno {
	case syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG: // EFBIG: the system allows this process no larger file
		return fault(ErrDiskFull, path, err)
	case syscall.EROFS, syscall.EACCES, syscall.EPERM:
		return fault(ErrReadOnly, path, err)
	}
	return fmt.Errorf("%s: %w", path, err)
}

// isBusy reports that a lock of another process was in the way.
func isBusy(err error) bool {
	var lite sqlite3.Error
	return errors.As(err, &lite) && (lite.Code == sqlite3.ErrBusy || lite.Code == sqlite3.ErrLocked)
}
