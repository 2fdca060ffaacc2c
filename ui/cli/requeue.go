package cli

import (
	"context"
	"fmt"

	"dev.scrapetop/storage"

	"github.com/spf13/cobra"
)

var deadReasons = []string{"attempts", "deadline", "not_found", "blocked", "refused", "lost", "robots", "too_large"}

func (a *app) requeueCommand() *cobra.Command {
	run, filter := "latest", storage.RequeueFilter{}
	cmd := &cobra.Command{
		Use: "requeue", Short: "Put dead letters of a run back in the queue",
		Example: "  scrapetop requeue --reason blocked --domain shop.example\n  scrapetop requeue --run 3",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.requeue(cmd.Context(), run, filter) },
	}
	f := cmd.Flags()
	f.Var(newParsed(&run, "N", run, parseOneRun), "run", "a run's number, or latest")
	f.Var(newParsed(&filter.Reason, "REASON", "", oneOf(deadReasons...)), "reason", "only those given up for this reason")
	f.Var(newParsed(&filter.Domain, "DOMAIN", "", domainKey), "domain", "only those of this domain")
	f.Var(newParsed(&filter.Task, "ID", "", parseCount64), "task", "only this task")
	return cmd
}

func parseOneRun(s string) (string, error) {
	if s == "all" {
		return "", fmt.Errorf("name one run, or latest")
	}
	return parseRunWord(s)
}

func (a *app) requeue(ctx context.Context, word string, filter storage.RequeueFilter) error {
	st, err := a.openStore(ctx, false)
	if err != nil {
		return err
	}
	defer a.closeStore(st)
	run, err := runByWord(ctx, st, word)
	if err != nil {
		return err
	}
	n, err := st.Requeue(ctx, run.ID, filter)
	if err != nil {
		return broken("requeue dead letters of run %d: %w", run.ID, err)
	}
	hint := ""
	if n > 0 {
		hint = fmt.Sprintf(", continue with: scrapetop resume %d", run.ID)
	}
	_, err = fmt.Fprintf(a.std.Out, "%d dead letters of run %d are back in the queue%s\n", n, run.ID, hint)
	return err
}
