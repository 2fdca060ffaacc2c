package cli

import (
	"context"
	"fmt"
	"strings"

	"dev.scrapetop/storage"

	"github.com/spf13/cobra"
)

var pauseScopes = []string{"domain", "tenant", "credential", "provider", "account"}

func (a *app) pauseCommand() *cobra.Command {
	cause := "by hand"
	cmd := &cobra.Command{
		Use: "pause SCOPE KEY", Short: "Hold a domain, tenant, credential, account or provider until unpause",
		Long: "Holds work of a scope: nothing new starts, what is in flight finishes, polls go on. A process that runs on the same\n" +
			"database obeys within a second; a later one obeys too.",
		Example:   "  scrapetop pause domain shop.example\n  scrapetop pause credential main",
		Args:      argCount(2, 2, "SCOPE and KEY"),
		ValidArgs: pauseScopes,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.hold(cmd.Context(), args, func(ctx context.Context, st *storage.Store, scope, key string) error {
				err := st.SetPause(ctx, storage.Pause{Scope: scope, Key: key, Cause: cause, Source: "scrapetop pause", SetAt: a.world.now()})
				if err != nil {
					return broken("pause %s %s: %w", scope, key, err)
				}
				_, err = fmt.Fprintf(a.std.Out, "paused %s %s\n", scope, printable(key))
				return err
			})
		},
	}
	cmd.Flags().StringVar(&cause, "cause", cause, "why, for those who find it paused")
	return cmd
}

func (a *app) unpauseCommand() *cobra.Command {
	return &cobra.Command{
		Use: "unpause SCOPE KEY", Short: "Let a paused scope go on",
		Args: argCount(2, 2, "SCOPE and KEY"), ValidArgs: pauseScopes,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.hold(cmd.Context(), args, func(ctx context.Context, st *storage.Store, scope, key string) error {
				was, err := st.ClearPause(ctx, scope, key)
				if err != nil {
					return broken("unpause %s %s: %w", scope, key, err)
				}
				word := "resumed"
				if !was {
					word = "was not paused:"
				}
				_, err = fmt.Fprintf(a.std.Out, "%s %s %s\n", word, scope, printable(key))
				return err
			})
		},
	}
}

func (a *app) hold(ctx context.Context, args []string, do func(context.Context, *storage.Store, string, string) error) error {
	scope, key := args[0], strings.TrimSpace(args[1])
	if _, err := oneOf(pauseScopes...)(scope); err != nil {
		return usage("SCOPE %w", err)
	}
	if key == "" {
		return usage("KEY is empty")
	}
	switch scope {
	case "domain":
		domain, err := domainKey(key)
		if err != nil {
			return usage("%s: is no hostname, write it without scheme, port and path", shorten(key, 80))
		}
		key = domain
	case "provider":
		if _, err := oneOf(providerNames()...)(key); err != nil {
			return usage("provider %w", err)
		}
	}
	st, err := a.openStore(ctx, false)
	if err != nil {
		return err
	}
	defer a.closeStore(st)
	return do(ctx, st, scope, key)
}
