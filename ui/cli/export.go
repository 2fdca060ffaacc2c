package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
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
	if err := writable(e.out, e.force); err != nil {
		return err
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
	return a.output(e.out, e.force, write)
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
