package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"dev.scrapetop/engine"
	"dev.scrapetop/engine/simulator"
	"dev.scrapetop/engine/view"
	"dev.scrapetop/themes"
	"dev.scrapetop/ui/dashboard"
	draw "dev.scrapetop/ui/screen" // the tests have a screen of their own

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// picture is a still of the dashboard to be drawn.
type picture struct {
	keys   string // what is typed first
	size   cells
	after  time.Duration
	output string
}

// cells is the size of a terminal.
type cells struct{ w, h int }

// pictured are the keys that lead to each screen from where the dashboard opens.
var pictured = map[string]string{"overview": "", "domains": "2", "tasks": "3/prices\n" + strings.Repeat("j", 12), "help": "?"}

// pictureSeed makes a picture drawn again show the same world; only what the clock moved differs.
const pictureSeed = 7

// pictureEvery is the pace at which a dashboard on a terminal looks: bins and trends are filled as there.
const pictureEvery = time.Second / 10

// pictureCommand draws the dashboard of a demo as SVG, so that the documentation shows what the program draws.
func (a *app) pictureCommand() *cobra.Command {
	r := &runFlags{}
	r.register(pflag.NewFlagSet("", pflag.ContinueOnError)) // the defaults alone
	r.headless = true
	world := simulator.Options{Speed: 1, Seed: pictureSeed}
	p := picture{size: cells{120, 36}, after: 25 * time.Second}
	cmd := &cobra.Command{
		Use: "picture", Short: "Draw the dashboard of a demo as SVG", Hidden: true,
		Args:        noArgs,
		Annotations: map[string]string{needConfig: withoutFile},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.demo(cmd.Context(), r, world, cmd.Flags().Changed("db"), func(ctx context.Context, d drive) error {
				return a.draw(ctx, d, p)
			})
		},
	}
	f := cmd.Flags()
	f.Var(newParsed(&p.keys, "NAME", "overview", parseScreen), "screen", "overview, domains, tasks or help")
	f.Var(newParsed(&p.size, "WxH", "120x36", parseCells), "size", "cells of the terminal")
	f.Var(newParsed(&p.after, "D", "25s", parsePositiveSpan), "after", "how long the demo runs first")
	f.StringVarP(&p.output, "output", "o", "", "`FILE` to write (default stdout)")
	f.Var(newParsed(&world.Speed, "K", "1", parseAmount), "speed", "how many times faster than life")
	f.Uint64Var(&world.Seed, "seed", pictureSeed, "another world for each `N`")
	return cmd
}

func parseScreen(name string) (string, error) {
	if typed, ok := pictured[name]; ok {
		return typed, nil
	}
	return "", fmt.Errorf("must be one of %s", strings.Join(slices.Sorted(maps.Keys(pictured)), ", "))
}

// parseCells reads "120x36": both at least one and small enough to draw.
func parseCells(s string) (cells, error) {
	const most = 1000
	left, right, _ := strings.Cut(s, "x")
	w, wrongW := strconv.Atoi(left)
	h, wrongH := strconv.Atoi(right)
	if errors.Join(wrongW, wrongH) != nil || min(w, h) < 1 || max(w, h) > most {
		return cells{}, fmt.Errorf("%s is no size, write one like 120x36, at most %dx%d", strconv.Quote(shorten(s, 40)), most, most)
	}
	return cells{w, h}, nil
}

// draw drives a run for a while, draws the dashboard of that moment and abandons the run.
func (a *app) draw(ctx context.Context, d drive, p picture) error {
	d.cfg.Seed = pictureSeed
	eng, err := engine.New(d.cfg, d.store, d.run)
	if err != nil {
		return broken("run %d cannot start: %w", d.run.ID, err)
	}
	s := a.sit(ctx, eng, d)
	s.lookFor(p.after)
	lines, err := dashboard.Still(eng, dashboard.Options{
		Theme: a.globals.theme, Themes: a.themes(), NoColor: a.globals.noColor, ASCII: a.globals.ascii, Now: a.world.now, Getenv: bestTerminal, Rows: rowsOf{d.store},
	}, p.size.w, p.size.h, p.keys)
	eng.Do(engine.Command{Verb: engine.Abandon})
	if _, ended := s.wait(); ended != nil {
		err = errors.Join(err, ended)
	}
	if err != nil {
		return broken("draw the dashboard: %w", err)
	}
	theme, err := a.themes().Load(cmp.Or(a.globals.theme, themes.Default))
	if err != nil {
		return usage("theme: %w", err)
	}
	svg := draw.SVG(lines, p.size.w, p.size.h, theme.Light)
	if p.output == "" || p.output == "-" {
		_, err = fmt.Fprint(a.std.Out, svg)
	} else {
		err = os.WriteFile(p.output, []byte(svg), 0o644)
	}
	if err != nil {
		return broken("write the picture: %w", err)
	}
	return nil
}

// lookFor looks at a sitting for a span, or until it ended.
func (s *sitting) lookFor(span time.Duration) {
	over := time.After(span)
	look := time.NewTicker(pictureEvery)
	defer look.Stop()
	for {
		select {
		case <-look.C:
			s.eng.Frame(view.Query{Limit: 1})
		case <-over:
			return
		case <-s.done:
			return
		}
	}
}

// bestTerminal is the environment of a terminal that can show everything.
func bestTerminal(name string) string {
	return map[string]string{"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}[name]
}
