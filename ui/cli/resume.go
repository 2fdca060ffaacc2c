package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"

	"dev.scrapetop/storage"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func (a *app) resumeCommand() *cobra.Command {
	r := &runFlags{}
	cmd := &cobra.Command{
		Use: "resume [RUN]", Short: "Continue an unfinished run (default: the latest)",
		Long: "Continues a run with the settings it was created with; flags, variables and the config file given now win over them.\n" +
			"What of its input files was not stored yet is read on.",
		Args:        argCount(0, 1, "one RUN or none"),
		Annotations: map[string]string{needConfig: "run"},
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := runNumber(args)
			if err != nil {
				return err
			}
			return a.goOn(cmd.Context(), a.resume(cmd.Context(), r, cmd.Flags(), id))
		},
	}
	r.register(cmd.Flags())
	return cmd
}

// runNumber is the run an argument names; zero: the latest unfinished.
func runNumber(args []string) (int64, error) {
	if len(args) == 0 || args[0] == "latest" {
		return 0, nil
	}
	id, err := strconv.ParseInt(args[0], 10, 64)
	if err != nil || id < 1 {
		return 0, usage("%s is no run number, see: scrapetop history", strconv.Quote(shorten(args[0], 40)))
	}
	return id, nil
}

func (a *app) resume(ctx context.Context, r *runFlags, flags *pflag.FlagSet, id int64) error {
	if _, err := os.Stat(a.globals.db); err != nil {
		return broken("database %s: %s, check --db", a.globals.db, reason(err))
	}
	st, err := a.openStore(ctx, false)
	if err != nil {
		return err
	}
	defer a.closeStore(st)
	run, err := findUnfinished(ctx, st, id)
	if err != nil {
		return err
	}
	kept, err := keptSettings(run)
	if err != nil {
		return err
	}
	if provider, given := a.given["provider"]; given && provider[0] != run.Provider {
		return usage("run %d is of provider %s, --provider cannot change it: start a new run", run.ID, run.Provider)
	}
	if err := a.takeOver(flags, kept, run.Provider); err != nil {
		return err
	}
	if err := a.watchers(r); err != nil {
		return err
	}
	cfg, err := a.engineConfig(r)
	if err != nil {
		return err
	}
	if kept.Demo != nil {
		kept.Demo.enter(&cfg)
	} else if cfg, err = a.withKeys(ctx, cfg); err != nil {
		return err
	}
	inputs, sitemaps := a.rest(run, kept.Inputs)
	defer closeInputs(inputs)
	feed := a.newFeeder(inputs, sitemaps, r)
	feed.skip, feed.counted = run.Tasks-run.Added+run.Totals.Duplicates, run.Totals.Skipped
	if len(inputs) > 0 {
		feed.start(ctx)
		defer feed.stopReading()
	}
	return a.drive(ctx, drive{flags: r, store: st, run: run, cfg: cfg, feed: feed})
}

// findUnfinished returns the run to resume.
func findUnfinished(ctx context.Context, st *storage.Store, id int64) (storage.Run, error) {
	if id == 0 {
		run, err := st.LatestUnfinished(ctx)
		if errors.Is(err, storage.ErrNoRun) {
			return run, usage("no run is unfinished, see: scrapetop history")
		}
		return run, err
	}
	run, err := st.Run(ctx, id)
	switch {
	case errors.Is(err, storage.ErrNoRun):
		return run, usage("there is no run %d, see: scrapetop history", id)
	case err != nil:
		return run, err
	case finished(run):
		return run, usage("run %d is finished, nothing is left to resume (scrapetop requeue puts its dead letters back)", id)
	}
	return run, nil
}

// finished tells that a run has nothing left to go on with.
func finished(r storage.Run) bool { return r.State == storage.RunFinished && r.Pending == 0 }

// takeOver gives flags the values that the run was created with where nothing is given now. What was given by hand then
// wins over the file of now; the file of then counts only when there is none now.
func (a *app) takeOver(flags *pflag.FlagSet, kept settings, provider string) error {
	if a.file.path == "" && kept.File != nil {
		a.file = kept.File
		if err := a.file.check(); err != nil {
			return err
		}
		if err := a.settleKeptFile(flags); err != nil {
			return err
		}
	}
	if kept.Flags == nil {
		kept.Flags = map[string][]string{}
	}
	kept.Flags["provider"] = []string{provider}
	return a.settleStored(flags, kept.Flags)
}

// settleKeptFile applies the [run] table that was kept; what belongs to a sitting was not for keeping.
func (a *app) settleKeptFile(flags *pflag.FlagSet) error {
	var failed error
	flags.VisitAll(func(f *pflag.Flag) {
		if _, now := a.given[f.Name]; failed == nil && !now && !notStored[f.Name] {
			failed = a.fromTable(f, a.file.Run, "run")
		}
	})
	return failed
}

// rest are the inputs that may hold more than the run has stored: of a run that never came to its end, and only files
// that are what they were.
func (a *app) rest(run storage.Run, marks []inputMark) (inputs []input, sitemaps []string) {
	if run.State == storage.RunFinished {
		return nil, nil
	}
	for _, m := range marks {
		switch {
		case m.Site != "":
			sitemaps = append(sitemaps, m.Site)
		case m.URL != "":
			inputs = append(inputs, input{name: m.URL, url: m.URL, mark: m})
		case m.Path != "":
			in, err := a.openInput(m.Path)
			if err != nil || !m.same(in.mark) {
				closeInputs([]input{in})
				a.tell(fmt.Sprintf("scrapetop: %s is not what it was, only what the run has of it goes on", m.Path))
				closeInputs(inputs)
				return nil, nil
			}
			inputs = append(inputs, in)
		default: // stdin is gone, and what came after it cannot be counted
			closeInputs(inputs)
			return nil, nil
		}
	}
	return inputs, sitemaps
}
