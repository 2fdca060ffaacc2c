package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"dev.scrapetop/engine"
	"dev.scrapetop/engine/simulator"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// demoInFlight is the ceiling at which the demo's sites show every state within a minute.
const demoInFlight = 48

func (a *app) demoCommand() *cobra.Command {
	r := &runFlags{}
	world := simulator.Options{Speed: 1}
	cmd := &cobra.Command{
		Use: "demo", Short: "The dashboard on the embedded simulator: no key, no network, no config",
		Args:        noArgs,
		Annotations: map[string]string{needConfig: withoutFile},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.goOn(cmd.Context(), a.demo(cmd.Context(), r, world, cmd.Flags().Changed("db"), a.drive))
		},
	}
	r.register(cmd.Flags())
	registerWorld(cmd.Flags(), &world)
	return cmd
}

// registerWorld adds the flags of the simulated world.
func registerWorld(f *pflag.FlagSet, world *simulator.Options) {
	f.Var(newParsed(&world.Speed, "K", "1", parseAmount), "speed", "how many times faster than life")
	f.Uint64Var(&world.Seed, "seed", 0, "another world for each `N`")
}

// demo has a run against a world in memory driven: not even a socket is opened.
func (a *app) demo(ctx context.Context, r *runFlags, options simulator.Options, ownDB bool, driver func(context.Context, drive) error) (err error) {
	if len(r.sitemaps) > 0 || r.baseURL != "" {
		return usage("demo brings its own input and addresses, leave out --sitemap and --base-url")
	}
	if err := a.watchers(r); err != nil {
		return err
	}
	if !ownDB {
		dir, err := os.MkdirTemp("", "scrapetop-demo-*")
		if err != nil {
			return broken("the demo's database: %w", err)
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
		a.globals.db = filepath.Join(dir, defaultDB)
	}
	if r.maxInFlight == 0 {
		r.maxInFlight = demoInFlight
	}
	cfg, err := a.engineConfig(r)
	if err != nil {
		return err
	}
	kept := demoWorld{Speed: options.Speed, Seed: options.Seed}
	kept.enter(&cfg)
	st, err := a.openStore(ctx, false)
	if err != nil {
		return err
	}
	defer a.closeStore(st)
	return a.beginDemo(ctx, drive{flags: r, store: st, cfg: cfg, passing: !ownDB}, settings{Flags: a.keptFlags(), Demo: &kept}, driver)
}

// demoWorld is what a demo keeps of its world, so that a resume enters the same.
type demoWorld struct {
	Speed float64 `json:"speed"`
	Seed  uint64  `json:"seed"`
}

// demoBlockHold is how long a site of the demo that refuses access is left alone: short enough to see what comes after.
const demoBlockHold = 45 * time.Second

// enter makes a run fetch from the simulated world instead of the network.
func (d demoWorld) enter(cfg *engine.Config) {
	cfg.Transport = simulator.New(simulator.Options{Speed: d.Speed, Seed: d.Seed}).RoundTripper()
	cfg.BlockHold = time.Duration(float64(demoBlockHold) / max(d.Speed, 1))
	if cfg.Provider == "evomi" {
		cfg.BaseURL = "http://" + simulator.EvomiHost
		cfg.Credentials = []engine.Credential{{Name: "demo", Key: demoKey, Account: "demo"}}
	}
}

// demoKey is the key of the simulator's first account; it opens nothing but that.
const demoKey = "demo-key"

func (a *app) simulateCommand() *cobra.Command {
	world := simulator.Options{Speed: 1}
	cmd := &cobra.Command{
		Use: "simulate", Short: "Serve the simulator on a loopback port, for tests of your own",
		Long: "Serves the simulated platforms and sites on loopback until it is stopped. The first line of stdout is a JSON object\n" +
			"with the addresses.",
		Args:        noArgs,
		Annotations: map[string]string{needConfig: withoutFile},
		RunE:        func(cmd *cobra.Command, _ []string) error { return a.simulate(cmd.Context(), world) },
	}
	registerWorld(cmd.Flags(), &world)
	return cmd
}

func (a *app) simulate(ctx context.Context, options simulator.Options) error {
	ctx, stop := signal.NotifyContext(ctx, stopSignals()...)
	defer stop()
	world := simulator.New(options)
	addresses, err := world.Listen(ctx)
	if err != nil {
		return broken("%w", err)
	}
	line, err := json.Marshal(addresses)
	if err == nil {
		_, err = fmt.Fprintf(a.std.Out, "%s\n", line)
	}
	if err != nil {
		stop()
		world.Wait()
		return broken("print the addresses: %w", err)
	}
	world.Wait()
	return nil
}
