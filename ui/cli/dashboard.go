package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"dev.scrapetop/engine"
	"dev.scrapetop/engine/view"
	"dev.scrapetop/storage"
	"dev.scrapetop/ui/dashboard"
	draw "dev.scrapetop/ui/screen" // the tests have a screen of their own
)

// browse opens the dashboard on the database; it never fetches by itself. A run that the user starts again there is driven
// afterwards.
func (a *app) browse(ctx context.Context) error {
	if !terminal(a.std.Out) {
		return usage("the dashboard needs a terminal; without one use: scrapetop history, scrapetop export, or scrapetop run INPUT --headless")
	}
	return a.goOn(ctx, a.look(ctx))
}

// look shows the database until the user leaves.
func (a *app) look(ctx context.Context) error {
	opt, keys, err := a.dashboardOptions()
	if err != nil {
		return err
	}
	defer keys()
	var chosen dashboard.Again
	opt.Again, opt.Opens = func(again dashboard.Again) { chosen = again }, a.opens
	var source dashboard.Source = idle{}
	if _, err := os.Stat(a.globals.db); !errors.Is(err, fs.ErrNotExist) { // else nothing was ever run: the first run makes it
		st, err := a.openStore(ctx, true)
		if err != nil {
			return err
		}
		defer a.closeStore(st)
		opt.Rows, opt.Exporter = rowsOf{st}, exporter{st}
		end, err := a.latest(ctx, st, &opt, &source)
		if err != nil {
			return err
		}
		defer end()
	}
	signals, release := a.world.signals()
	defer release()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	interrupts := make(chan struct{}, 2)
	opt.Interrupts = interrupts
	go func() {
		select {
		case <-signals:
			interrupts <- struct{}{}
		case <-ctx.Done():
		}
	}()
	if err := shownAs(dashboard.Run(ctx, source, opt)); err != nil || chosen == (dashboard.Again{}) {
		return err
	}
	return &goesOn{chosen}
}

// latest has the newest run shown, whoever drives it; end closes what that took.
func (a *app) latest(ctx context.Context, st *storage.Store, opt *dashboard.Options, source *dashboard.Source) (end func(), err error) {
	run, err := st.Latest(ctx)
	if errors.Is(err, storage.ErrNoRun) {
		return func() {}, nil
	}
	if err != nil {
		return nil, broken("read the runs: %w", err)
	}
	watch, err := engine.Watch(ctx, st, run.ID, func(ctx context.Context) (*storage.Store, error) { return a.openStore(ctx, false) })
	if err != nil {
		return nil, broken("run %d: %w", run.ID, err)
	}
	*source, opt.Watching, opt.Ended = watch, true, func() bool { return true }
	if run.State != storage.RunRunning && run.State != storage.RunDraining {
		opt.Open = draw.History
	}
	return watch.Close, nil
}

// idle is what the dashboard shows when no run is driven.
type idle struct{}

func (idle) Frame(view.Query) *view.Frame { return nil }
func (idle) Do(engine.Command)            {}

// dashboardOptions are what every dashboard needs; done closes the terminal that was opened for the keys.
func (a *app) dashboardOptions() (opt dashboard.Options, done func(), err error) {
	out, ok := a.std.Out.(*os.File)
	if !ok {
		return opt, nil, usage("%w", dashboard.ErrNoTerminal)
	}
	if a.globals.theme != "" {
		if _, err := a.themes().Load(a.globals.theme); err != nil {
			return opt, nil, usage("theme: %w", err)
		}
	}
	table, err := a.file.keyMap()
	if err != nil {
		return opt, nil, err
	}
	opt = dashboard.Options{
		Keys:   table,
		Memory: a.world.memory, Tell: func(line string) { a.tell("scrapetop: " + line) },
		Theme: a.globals.theme, Themes: a.themes(), NoColor: a.globals.noColor, ASCII: a.globals.ascii, Output: out,
		Getenv: func(name string) string { return a.env[name] }, Now: a.world.now,
	}
	if in, ok := a.std.In.(*os.File); ok && terminal(in) {
		opt.Input = in
		return opt, func() {}, nil
	}
	// stdin holds the input of the run, or nothing: the keys come from the terminal itself.
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return opt, nil, usage("the dashboard has no keyboard (%s), use --headless", reason(err))
	}
	opt.Input = tty
	return opt, func() { tty.Close() }, nil // nothing was written through it
}

// show draws a sitting until the user leaves. Leaving before the run ended abandons it: nothing is lost by that.
func (a *app) show(ctx context.Context, s *sitting, opt dashboard.Options) error {
	speak := a.hush()
	defer speak()
	opt.Interrupts = s.interrupts
	opt.Crash = s.crash
	opt.Ended = func() bool {
		select {
		case <-s.done:
			return true
		default:
			return false
		}
	}
	err := dashboard.Run(ctx, s.eng, opt)
	close(s.unwatched)
	if !opt.Ended() {
		s.eng.Do(engine.Command{Verb: engine.Abandon})
	}
	return shownAs(err)
}

// shownAs is how a dashboard ended as a failure of the command.
func shownAs(err error) error {
	switch {
	case err == nil, errors.Is(err, context.Canceled):
		return nil
	case errors.Is(err, dashboard.ErrNoTerminal):
		return usage("%w", err)
	}
	return broken("%w", err)
}
