package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"dev.scrapetop/engine"
	"dev.scrapetop/engine/source"
	"dev.scrapetop/storage"

	"github.com/spf13/cobra"
)

func (a *app) runCommand() *cobra.Command {
	r := &runFlags{}
	cmd := &cobra.Command{
		Use: "run INPUT...", Short: "Create a run from INPUT (a file, - or a URL) and drive it",
		Example: "  scrapetop run urls.txt --domain-rate 2/s\n  scrapetop run --sitemap https://example.com/sitemap.xml\n" +
			"  zcat urls.gz | scrapetop run - --provider evomi --max-credits 500",
		Args:        argCount(0, -1, "INPUT..."),
		Annotations: map[string]string{needConfig: "run"},
		RunE: func(cmd *cobra.Command, args []string) error {
			err := a.newRun(cmd.Context(), r, args)
			if old, ok := errors.AsType[*resumeInstead](err); ok {
				err = a.resume(cmd.Context(), r, cmd.Flags(), old.run)
			}
			return a.goOn(cmd.Context(), err)
		},
	}
	r.register(cmd.Flags())
	return cmd
}

// newRun checks everything that can be wrong before it creates the run: config, keys, inputs, terminal, database.
func (a *app) newRun(ctx context.Context, r *runFlags, args []string) error {
	if len(args)+len(r.sitemaps) == 0 {
		return usage("run needs an INPUT (a file, - or a URL) or a --sitemap, see: scrapetop run --help")
	}
	if err := a.watchers(r); err != nil {
		return err
	}
	cfg, err := a.engineConfig(r)
	if err != nil {
		return err
	}
	for i, s := range r.sitemaps {
		u, err := source.Normalise(s)
		if err != nil {
			return usage("--sitemap %s: %w", shorten(withoutUser(s), 80), err)
		}
		r.sitemaps[i] = u.String
	}
	inputs, err := a.openInputs(ctx, args, inputFormat(r.inputFormat))
	if err != nil {
		return err
	}
	defer closeInputs(inputs)
	if cfg, err = a.withKeys(ctx, cfg); err != nil {
		return err
	}
	st, err := a.openStore(ctx, false)
	if err != nil {
		return err
	}
	defer a.closeStore(st)
	if !r.anew {
		if err := a.refuseUnfinished(ctx, st, inputID(marksOf(inputs, r.sitemaps), a.world.now()), r); err != nil {
			return err
		}
	}
	kept := settings{Flags: a.keptFlags(), File: a.file.keepable(r.provider, cfg.Credentials)}
	return a.begin(ctx, drive{flags: r, store: st, cfg: cfg}, inputs, r.sitemaps, kept)
}

// resumeInstead is the user's answer that the unfinished run is to go on.
type resumeInstead struct{ run int64 }

func (r *resumeInstead) Error() string { return fmt.Sprintf("resume run %d instead", r.run) }

// refuseUnfinished stops a run of an input whose last run has work left: starting over by mistake pays twice. Somebody at
// a terminal is asked.
func (a *app) refuseUnfinished(ctx context.Context, st *storage.Store, id string, r *runFlags) error {
	old, found, err := st.Unfinished(ctx, id, r.provider)
	if err != nil {
		return broken("look for an unfinished run: %w", err)
	}
	if !found {
		return nil
	}
	if old.State == storage.RunRunning || old.State == storage.RunDraining {
		return usage("run %d of this input is being driven by another process, watch it there, or start another with --new", old.ID)
	}
	if (r.plain || !r.headless) && terminal(a.std.In) {
		return a.askUnfinished(old)
	}
	return usage("run %d of this input is unfinished (%d of %d tasks left), continue it with: scrapetop resume %d, or start another with --new",
		old.ID, old.Pending, old.Tasks, old.ID)
}

// askUnfinished lets the user choose; anything but a clear answer starts nothing.
func (a *app) askUnfinished(old storage.Run) error {
	fmt.Fprintf(a.std.Err, "run %d of this input is unfinished (%d of %d tasks left): [r]esume it, start a [n]ew one, or [q]uit? ", old.ID, old.Pending, old.Tasks)
	answer, err := bufio.NewReader(a.std.In).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return usage("read the answer: %w", err)
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "r", "resume", "y", "yes":
		return &resumeInstead{old.ID}
	case "n", "new":
		return nil
	}
	return usage("nothing was started, continue run %d with: scrapetop resume %d", old.ID, old.ID)
}

// keptFlags are the flags to keep with the run: those given by hand or environment that are about the run.
func (a *app) keptFlags() map[string][]string {
	kept := map[string][]string{}
	for name, texts := range a.given {
		if !notStored[name] {
			kept[name] = texts
		}
	}
	return kept
}

func (a *app) newFeeder(inputs []input, sitemaps []string, r *runFlags) *feeder {
	return &feeder{inputs: inputs, sitemaps: sitemaps, format: inputFormat(r.inputFormat), tenant: r.tenant, report: a.tell}
}

func inputFormat(word string) source.Format {
	if word == "auto" {
		return source.Detect
	}
	return source.Format(word)
}

func marksOf(inputs []input, sitemaps []string) []inputMark {
	var marks []inputMark
	for _, in := range inputs {
		marks = append(marks, in.mark)
	}
	for _, s := range sitemaps {
		marks = append(marks, inputMark{Site: s})
	}
	return marks
}

// watchers settles who sees the run: there is no dashboard without a terminal to draw on, and metrics need their address.
func (a *app) watchers(r *runFlags) error {
	if r.plain || !terminal(a.std.Out) {
		r.headless = true
	}
	return a.takeAddress(r)
}

// openStore opens the database; a viewer's never writes.
func (a *app) openStore(ctx context.Context, readOnly bool) (*storage.Store, error) {
	st, err := storage.Open(ctx, a.globals.db, storage.Options{ReadOnly: readOnly})
	if err != nil {
		return nil, broken("database %w", err)
	}
	return st, nil
}

func (a *app) closeStore(st *storage.Store) {
	if err := st.Close(); err != nil {
		a.tell(fmt.Sprintf("scrapetop: close the database: %v", err))
	}
}

// drive is a run about to be driven.
type drive struct {
	flags *runFlags
	store *storage.Store
	run   storage.Run
	cfg   engine.Config
	feed  *feeder // nil: nothing is read
	// passing: the database goes away with the run.
	passing bool
}
