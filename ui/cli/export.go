package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"

	"dev.scrapetop/storage"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// exportFlags are the flags of export.
type exportFlags struct {
	what    string
	run     string
	format  string
	out     string
	columns []string
	domain  string
	state   string
	force   bool
}

func (e *exportFlags) register(f *pflag.FlagSet) {
	e.what, e.run, e.format = "results", "latest", "jsonl"
	f.Var(newParsed(&e.what, "WHAT", e.what, oneOf("results", "tasks", "attempts", "events")), "what", "results, tasks, attempts or events")
	f.Var(newParsed(&e.run, "N", e.run, parseRunWord), "run", "a run's number, latest or all")
	f.Var(newParsed(&e.format, "FORMAT", e.format, oneOf("jsonl", "json", "csv")), "format", "jsonl, json or csv")
	f.Var(newParsed(&e.columns, "A,B", "", parseColumns), "columns", "only these columns, in this order (default all)")
	f.Var(newParsed(&e.domain, "DOMAIN", "", domainKey), "domain", "only what is about this domain")
	f.Var(newParsed(&e.state, "STATE", "", oneOf(taskStates...)), "state", "tasks: only those of this state")
	f.StringVarP(&e.out, "output", "o", "", "`FILE` to write (default stdout)")
	f.BoolVar(&e.force, "force", false, "overwrite FILE")
}

var taskStates = []string{"pending", "delayed", "in_flight", "remote", "accepted", "dead", "cancelled"}

func parseRunWord(s string) (string, error) {
	if s == "latest" || s == "all" {
		return s, nil
	}
	if n, err := strconv.ParseInt(s, 10, 64); err != nil || n < 1 {
		return "", fmt.Errorf("%s is no run number, latest or all", strconv.Quote(shorten(s, 40)))
	}
	return s, nil
}

// parseColumns takes a list apart; which columns there are depends on what is exported.
func parseColumns(s string) ([]string, error) {
	columns := strings.Split(s, ",")
	for i, c := range columns {
		if columns[i] = strings.TrimSpace(c); columns[i] == "" {
			return nil, fmt.Errorf("%s names an empty column", strconv.Quote(shorten(s, 40)))
		}
	}
	return columns, nil
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
	if err := writable(e.out, e.force); err != nil {
		return err
	}
	st, err := a.openStore(ctx, true)
	if err != nil {
		return err
	}
	defer a.closeStore(st)
	spec := storage.ExportSpec{What: e.what, Format: e.format, Columns: e.columns, Domain: e.domain, State: e.state}
	if e.run != "all" {
		run, err := runByWord(ctx, st, e.run)
		if err != nil {
			return err
		}
		spec.Run = run.ID
	}
	var n int64
	if toStdout(e.out) {
		err = a.output(e.out, e.force, func(w io.Writer) (err error) {
			n, err = st.Export(ctx, w, spec)
			return err
		})
	} else {
		n, err = exporter{st}.Export(ctx, spec, e.out, e.force, func(int64, int64) {})
	}
	switch {
	case errors.Is(err, storage.ErrInvalid):
		return usage("%w", err) // a column that is not there
	case err == nil && n == 0:
		a.tell(fmt.Sprintf("scrapetop: there are no %s to export, the output is empty", e.what))
	}
	return err
}

// exporter writes files of a database, for the command and for the dashboard alike.
type exporter struct{ store *storage.Store }

// Export writes a file that is whole or not there and returns how many records it holds. One that is there is replaced only with
// replace; without it the error is dashboard.ErrExists. told hears how many records and bytes there are so far.
func (x exporter) Export(ctx context.Context, spec storage.ExportSpec, path string, replace bool, told func(rows, bytes int64)) (n int64, err error) {
	if err := writable(path, replace); err != nil {
		return 0, err
	}
	if replace && sameFile(path, x.store.Path()) {
		return 0, usage("%s is the database itself, write elsewhere", path)
	}
	err = writeWhole(path, replace, func(w io.Writer) error {
		counted := &countedWriter{to: w}
		spec.Told = func(rows int64) { told(rows, counted.n) }
		n, err = x.store.Export(ctx, counted, spec)
		told(n, counted.n)
		return err
	})
	return n, err
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errors.Join(errX, errY) == nil && os.SameFile(x, y)
}

// countedWriter counts what passes.
type countedWriter struct {
	to io.Writer
	n  int64
}

func (c *countedWriter) Write(p []byte) (int, error) {
	n, err := c.to.Write(p)
	c.n += int64(n)
	return n, err
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
