package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
	"time"

	"dev.scrapetop/storage"

	"github.com/spf13/cobra"
)

func (a *app) historyCommand() *cobra.Command {
	limit := 50
	cmd := &cobra.Command{
		Use: "history", Short: "List runs with their totals", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			st, err := a.openStore(cmd.Context(), true)
			if err != nil {
				return err
			}
			defer a.closeStore(st)
			return a.printHistory(cmd.Context(), st, limit)
		},
	}
	cmd.Flags().Var(newParsed(&limit, "N", "50", parseCount), "limit", "the newest N runs")
	return cmd
}

func (a *app) printHistory(ctx context.Context, st *storage.Store, limit int) error {
	runs, err := st.Runs(ctx, limit)
	if err != nil {
		return broken("read the runs: %w", err)
	}
	if len(runs) == 0 {
		_, err := fmt.Fprintln(a.std.Out, "no runs yet, start one with: scrapetop run INPUT")
		return err
	}
	return historyTable(a.std.Out, runs)
}

func historyTable(w io.Writer, runs []storage.Run) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "RUN\tSTATE\tPROVIDER\tSTARTED (UTC)\tACTIVE\tTASKS\tACCEPTED\tDEAD\tPENDING\tATTEMPTS\tCREDITS\tNAME")
	for _, r := range runs {
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t%s\t%s\n",
			r.ID, r.State, r.Provider, r.StartedAt.UTC().Format("2006-01-02 15:04:05"), r.Totals.Elapsed.Round(time.Second),
			r.Tasks, r.Accepted, r.Dead, r.Pending, r.Attempts,
			strconv.FormatFloat(r.Totals.Credits, 'f', -1, 64), shorten(r.Name, 60))
	}
	return t.Flush()
}
