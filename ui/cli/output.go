package cli

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"dev.scrapetop/ui/dashboard"
)

// writable reports what keeps path from being written, before the work is done: without force, that it exists.
func writable(path string, force bool) error {
	if toStdout(path) || force {
		return nil
	}
	return refuseExisting(path)
}

// toStdout tells that an --output names no file.
func toStdout(path string) bool { return path == "" || path == "-" }

// output has a command's result written to the file of its --output, or to stdout.
func (a *app) output(path string, force bool, write func(io.Writer) error) error {
	if !toStdout(path) {
		return writeWhole(path, force, write)
	}
	w := bufio.NewWriterSize(a.std.Out, 64<<10)
	err := write(w)
	if unsent := w.Flush(); err == nil {
		err = unsent
	}
	if err != nil {
		return broken("write to stdout: %w", err)
	}
	return nil
}

// existsError is a file that would be replaced.
type existsError struct{ path string }

func (e *existsError) Error() string {
	return e.path + " exists, write elsewhere or overwrite it with --force"
}

// Is tells the dashboard, which asks.
func (e *existsError) Is(target error) bool { return target == dashboard.ErrExists }

func refuseExisting(path string) error {
	_, err := os.Lstat(path)
	switch {
	case err == nil:
		return usage("%w", &existsError{path})
	case !errors.Is(err, fs.ErrNotExist):
		return usage("%s: %s", path, reason(err))
	}
	return nil
}

// writeWhole writes a file that is whole or not there: into a neighbour readable by us alone, which takes the name at the
// end. Without force the name is taken only while nobody has it. A device or pipe is written as it is.
func writeWhole(path string, force bool, write func(io.Writer) error) (err error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return writeThrough(path, write)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".scrapetop-*.part") // mode 0600
	if err != nil {
		return broken("write %s: %s", path, reason(err))
	}
	defer func() {
		if gone := os.Remove(tmp.Name()); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}()
	w := bufio.NewWriterSize(tmp, 64<<10)
	err = write(w)
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = tmp.Sync()
	}
	if err = errors.Join(err, tmp.Close()); err != nil {
		return broken("write %s: %w, nothing was written", path, err)
	}
	if force {
		if err := os.Rename(tmp.Name(), path); err != nil {
			return broken("write %s: %s", path, reason(err))
		}
		return nil
	}
	err = os.Link(tmp.Name(), path) // unlike a rename it never replaces
	if errors.Is(err, fs.ErrExist) {
		return usage("%w", &existsError{path})
	}
	if err != nil { // a file system without links
		if err := refuseExisting(path); err != nil {
			return err
		}
		if err := os.Rename(tmp.Name(), path); err != nil {
			return broken("write %s: %s", path, reason(err))
		}
	}
	return nil
}

func writeThrough(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return broken("write %s: %s", path, reason(err))
	}
	w := bufio.NewWriterSize(f, 64<<10)
	err = write(w)
	if err == nil {
		err = w.Flush()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return broken("write %s: %w", path, err)
	}
	return nil
}
