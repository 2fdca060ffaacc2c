package cli

import (
	"errors"
	"fmt"
	"os"
)

// rotated is a file for lines that is set aside, with a number, before it grows beyond its size. It is for one writer, and
// created for its owner alone.
type rotated struct {
	path string
	most int64 // bytes of one file
	keep int   // files set aside: path.1 is the newest

	file *os.File
	size int64
}

// openRotated opens or creates the file.
func openRotated(path string, most int64, keep int) (*rotated, error) {
	r := &rotated{path: path, most: most, keep: keep}
	return r, r.open()
}

func (r *rotated) open() error {
	f, err := os.OpenFile(r.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	r.file, r.size = f, info.Size()
	return nil
}

// Write appends whole lines. A line longer than the file may be is written all the same.
func (r *rotated) Write(p []byte) (int, error) {
	if r.size > 0 && r.size+int64(len(p)) > r.most {
		if err := r.rotate(); err != nil {
			return 0, err
		}
	}
	n, err := r.file.Write(p)
	r.size += int64(n)
	return n, err
}

// rotate moves each file one number on; the oldest is overwritten. When that fails the present file goes on to grow.
func (r *rotated) rotate() error {
	if r.keep == 0 {
		err := r.file.Truncate(0)
		r.size = 0
		return err
	}
	for i := r.keep - 1; i >= 1; i-- {
		if err := os.Rename(r.aside(i), r.aside(i+1)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	if err := os.Rename(r.path, r.aside(1)); err != nil {
		return err
	}
	old := r.file
	return errors.Join(r.open(), old.Close())
}

func (r *rotated) aside(i int) string { return fmt.Sprintf("%s.%d", r.path, i) }

func (r *rotated) Close() error { return r.file.Close() }
