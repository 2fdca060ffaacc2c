package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"

	"dev.scrapetop/storage"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// exportFlags are the flags of export.
type exportFlags struct {
	what   string
	run    string
	format string
	out    string
	force  bool
}

func (e *exportFlags) register(f *pflag.FlagSet) {
	e.what, e.run, e.format = "results", "latest", "jsonl"
	f.Var(newParsed(&e.what, "WHAT", e.what, oneOf("results", "tasks", "attempts", "events")), "what", "results, tasks, attempts or events")
	f.Var(newParsed(&e.run, "N", e.run, parseRunWord), "run", "a run's number, latest or all")
	f.Var(newParsed(&e.format, "FORMAT", e.format, oneOf("jsonl", "json", "csv")), "format", "jsonl, json or csv")
	f.StringVarP(&e.out, "output", "o", "", "`FILE` to write (default stdout)")
	f.BoolVar(&e.force, "force", false, "overwrite FILE")
}

func parseRunWord(s string) (string, error) {
	if s == "latest" || s == "all" {
		return s, nil
	}
	if n, err := strconv.ParseInt(s, 10, 64); err != nil || n < 1 {
		return "", fmt.Errorf("%s is no run number, latest or all", strconv.Quote(shorten(s, 40)))
	}
	return s, nil
}

func (a *app) exportCommand() *cobra.Command {
	e := &exportFlags{}
	cmd := &cobra.Command{
		Use: "export", Short: "Write results, tasks, attempts or events to a file or stdout",
		Example:     "  scrapetop export -o results.jsonl\n  scrapetop export --what attempts --run all --format csv > attempts.csv",
		Args:        noArgs,
		Annotations: map[string]string{needConfig: "export"},
		RunE:        func(cmd *cobra.Command, _ []string) error { return a.export(cmd.Context(), e) },
	}
	e.register(cmd.Flags())
	return cmd
}

func (a *app) export(ctx context.Context, e *exportFlags) error {
	// A signal has to take the half-written file with it.
	ctx, stop := signal.NotifyContext(ctx, stopSignals()...)
	defer stop()
	if e.out != "" && e.out != "-" && !e.force {
		if err := refuseExisting(e.out); err != nil {
			return err
		}
	}
	st, err := a.openStore(ctx, true)
	if err != nil {
		return err
	}
	defer a.closeStore(st)
	spec := storage.ExportSpec{What: e.what, Format: e.format}
	if e.run != "all" {
		run, err := runByWord(ctx, st, e.run)
		if err != nil {
			return err
		}
		spec.Run = run.ID
	}
	write := func(w io.Writer) error {
		n, err := st.Export(ctx, w, spec)
		if err == nil && n == 0 {
			a.tell(fmt.Sprintf("scrapetop: there are no %s to export, the output is empty", e.what))
		}
		return err
	}
	if e.out == "" || e.out == "-" {
		w := bufio.NewWriterSize(a.std.Out, 64<<10)
		if err := errors.Join(write(w), w.Flush()); err != nil {
			return broken("export to stdout: %w", err)
		}
		return nil
	}
	return writeWhole(e.out, e.force, write)
}

// runByWord returns the run that "latest" or a number names.
func runByWord(ctx context.Context, st *storage.Store, word string) (storage.Run, error) {
	if word == "latest" {
		run, err := st.Latest(ctx)
		if errors.Is(err, storage.ErrNoRun) {
			return run, usage("there is no run yet, start one with: scrapetop run INPUT")
		}
		return run, err
	}
	id, err := strconv.ParseInt(word, 10, 64)
	if err != nil {
		return storage.Run{}, usage("%s is no run number", word)
	}
	run, err := st.Run(ctx, id)
	if errors.Is(err, storage.ErrNoRun) {
		return run, usage("there is no run %d, see: scrapetop history", id)
	}
	return run, err
}

func refuseExisting(path string) error {
	_, err := os.Lstat(path)
	switch {
	case err == nil:
		return usage("%s exists, write elsewhere or overwrite it with --force", path)
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
	tmp, err := os.CreateTemp(filepath.Dir(path), ".scrapetop-export-*") // mode 0600
	if err != nil {
		return broken("export to %s: %s", path, reason(err))
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
		return broken("export to %s: %w, nothing was written", path, err)
	}
	if force {
		if err := os.Rename(tmp.Name(), path); err != nil {
			return broken("export to %s: %s", path, reason(err))
		}
		return nil
	}
	err = os.Link(tmp.Name(), path) // unlike a rename it never replaces
	if errors.Is(err, fs.ErrExist) {
		return usage("%s exists, write elsewhere or overwrite it with --force", path)
	}
	if err != nil { // a file system without links
		if err := refuseExisting(path); err != nil {
			return err
		}
		if err := os.Rename(tmp.Name(), path); err != nil {
			return broken("export to %s: %s", path, reason(err))
		}
	}
	return nil
}

func writeThrough(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return broken("export to %s: %s", path, reason(err))
	}
	w := bufio.NewWriterSize(f, 64<<10)
	err = write(w)
	if err == nil {
		err = w.Flush()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return broken("export to %s: %w", path, err)
	}
	return nil
}
