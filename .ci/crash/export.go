package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// killExport kills an export while it writes. Under the final name there must be what was there, nothing, or the whole.
func (r *run) killExport(ctx context.Context) error {
	results := 0
	for _, n := range r.book.disk.results {
		results += n
	}
	if results == 0 {
		return nil
	}
	final := filepath.Join(r.dir, "export.jsonl")
	args := []string{"export", "-o", final}
	old, err := os.ReadFile(final)
	switch {
	case errors.Is(err, os.ErrNotExist):
		old = nil
	case err != nil:
		return err
	default:
		args = append(args, "--force")
	}
	var said bytes.Buffer
	cmd := r.command(ctx, false, args...)
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	err, over := r.waitWriting(ended)
	if !over {
		select {
		case <-time.After(time.Duration(r.rng.Float64() * 4 * float64(time.Millisecond))):
		case <-ctx.Done():
		}
		if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return err
		}
		err = <-ended
	}
	killed := !cmd.ProcessState.Exited()
	if !killed && err != nil {
		return fmt.Errorf("%w: %s", err, said.String())
	}
	if killed {
		r.row.exports++
	}
	now, err := os.ReadFile(final)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if killed && bytes.Equal(now, old) {
		r.row.cut++
	} else if err := wholeExport(now, results); err != nil {
		return err
	}
	return r.tidy()
}

// unfinished are the neighbours that exports write into before they take the name.
func (r *run) unfinished() ([]string, error) {
	return filepath.Glob(filepath.Join(r.dir, ".scrapetop-*.part"))
}

// waitWriting waits until an export has begun to write, or ended.
func (r *run) waitWriting(ended <-chan error) (err error, over bool) {
	for {
		files, err := r.unfinished()
		if err != nil || len(files) > 0 {
			return err, false
		}
		select {
		case err := <-ended:
			return err, true
		case <-time.After(200 * time.Microsecond):
		}
	}
}

// tidy removes what killed exports left, so that the next one's is seen. Half of the time the whole one goes too.
func (r *run) tidy() error {
	files, err := r.unfinished()
	if r.rng.IntN(2) == 0 {
		files = append(files, filepath.Join(r.dir, "export.jsonl"))
	}
	for _, f := range files {
		if gone := os.Remove(f); gone != nil && !errors.Is(gone, os.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return err
}

// wholeExport fails unless a file holds so many records, to the last line's end.
func wholeExport(text []byte, want int) error {
	n := 0
	for line := range bytes.Lines(text) {
		if n++; !json.Valid(line) || !bytes.HasSuffix(line, []byte("\n")) {
			return fmt.Errorf("line %d of an export under its final name is cut", n)
		}
	}
	if n != want {
		return fmt.Errorf("an export under its final name has %d of %d records", n, want)
	}
	return nil
}
