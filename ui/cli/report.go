package cli

import (
	"context"
	"io"
	"os/signal"

	"dev.scrapetop/ui/report"

	"github.com/spf13/cobra"
)

// reportFlags are the flags of report.
type reportFlags struct {
	run   string
	out   string
	force bool
}

func (a *app) reportCommand() *cobra.Command {
	r := reportFlags{run: "latest"}
	cmd := &cobra.Command{
		Use: "report", Short: "Write a run as one HTML page: charts, manners, spending",
		Long: "Writes what came of a run, how politely it asked and what it spent, as one HTML page that stands alone. A run that\n" +
			"is still going is reported as of now.",
		Example: "  scrapetop report -o report.html\n  scrapetop report --run 3 -o run-3.html",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.report(cmd.Context(), r) },
	}
	f := cmd.Flags()
	f.Var(newParsed(&r.run, "N", r.run, parseOneRun), "run", "a run's number, or latest")
	f.StringVarP(&r.out, "output", "o", "", "`FILE` to write (default stdout)")
	f.BoolVar(&r.force, "force", false, "overwrite FILE")
	return cmd
}

func (a *app) report(ctx context.Context, r reportFlags) error {
	// A signal has to take the half-written file with it.
	ctx, stop := signal.NotifyContext(ctx, stopSignals()...)
	defer stop()
	if err := writable(r.out, r.force); err != nil {
		return err
	}
	st, err := a.openStore(ctx, true)
	if err != nil {
		return err
	}
	defer a.closeStore(st)
	run, err := runByWord(ctx, st, r.run)
	if err != nil {
		return err
	}
	return a.output(r.out, r.force, func(w io.Writer) error {
		return report.Write(ctx, w, st, run.ID, report.Options{Now: a.world.now(), Version: version()})
	})
}
