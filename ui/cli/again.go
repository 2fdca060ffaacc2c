package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"dev.scrapetop/engine"
	"dev.scrapetop/engine/simulator"
	"dev.scrapetop/storage"
	"dev.scrapetop/ui/dashboard"

	"github.com/spf13/pflag"
)

// goesOn is a dashboard's end at which the user chose a run to be driven next.
type goesOn struct{ dashboard.Again }

func (g *goesOn) Error() string { return fmt.Sprintf("%+v is to be driven next", g.Again) }

// goOn drives what the user chose in the dashboard, and what is chosen in that one. An error that is no choice is returned as it is.
func (a *app) goOn(ctx context.Context, err error) error {
	for {
		next, ok := errors.AsType[*goesOn](err)
		if !ok {
			return err
		}
		r, flags := &runFlags{}, pflag.NewFlagSet("run", pflag.ContinueOnError)
		r.register(flags)
		// What was given on the command line was for the run that it named: the chosen one has its own settings.
		a.given = map[string][]string{}
		if next.Demo {
			a.file = &configFile{} // as scrapetop demo does, which reads none
		}
		if err := a.settle(flags, a.file.Run, "run", "SCRAPETOP_"); err != nil {
			return err
		}
		switch {
		case next.Demo:
			err = a.demo(ctx, r, simulator.Options{Speed: 1}, false, a.drive)
		case next.Typed != "":
			err = a.newRun(ctx, r, wordsOf(next.Typed))
			if old, ok := errors.AsType[*resumeInstead](err); ok {
				err = a.resume(ctx, r, flags, old.run)
			}
		case next.Resume:
			err = a.resume(ctx, r, flags, next.Run)
		default:
			err = a.runAgain(ctx, r, flags, next.Run)
		}
	}
}

// keptSettings are the settings that a run was created with.
func keptSettings(run storage.Run) (settings, error) {
	var kept settings
	if len(run.Settings) > 0 {
		if err := json.Unmarshal(run.Settings, &kept); err != nil {
			return kept, broken("the settings of run %d cannot be read: %w, start a new run", run.ID, err)
		}
	}
	return kept, nil
}

// runAgain creates a run of the input and settings of another one, and drives it. Of an input that changed meanwhile it takes what is
// there now.
func (a *app) runAgain(ctx context.Context, r *runFlags, flags *pflag.FlagSet, id int64) error {
	st, err := a.openStore(ctx, false)
	if err != nil {
		return err
	}
	defer a.closeStore(st)
	old, err := runByWord(ctx, st, strconv.FormatInt(id, 10))
	if err != nil {
		return err
	}
	kept, err := keptSettings(old)
	if err != nil {
		return err
	}
	if err := a.takeOver(flags, kept, old.Provider); err != nil {
		return err
	}
	if err := a.watchers(r); err != nil {
		return err
	}
	if kept.Demo != nil && r.maxInFlight == 0 {
		r.maxInFlight = demoInFlight
	}
	cfg, err := a.engineConfig(r)
	if err != nil {
		return err
	}
	if kept.Demo != nil {
		kept.Demo.enter(&cfg)
		return a.beginDemo(ctx, drive{flags: r, store: st, cfg: cfg}, kept, a.drive)
	}
	args, sitemaps, err := again(old, kept.Inputs)
	if err != nil {
		return err
	}
	inputs, err := a.openInputs(ctx, args, inputFormat(r.inputFormat))
	if err != nil {
		return err
	}
	defer closeInputs(inputs)
	if cfg, err = a.withKeys(ctx, cfg); err != nil {
		return err
	}
	return a.begin(ctx, drive{flags: r, store: st, cfg: cfg}, inputs, sitemaps, kept)
}

// again are the inputs of a run as they are named on a command line.
func again(run storage.Run, marks []inputMark) (args, sitemaps []string, err error) {
	for _, m := range marks {
		switch {
		case m.Site != "":
			sitemaps = append(sitemaps, m.Site)
		case m.URL != "":
			args = append(args, m.URL)
		case m.Path != "":
			args = append(args, m.Path)
		default:
			return nil, nil, usage("run %d read its input from stdin, which cannot be read again: scrapetop run INPUT", run.ID)
		}
	}
	return args, sitemaps, nil
}

// begin creates a run and drives it. kept are its settings but for the inputs.
func (a *app) begin(ctx context.Context, d drive, inputs []input, sitemaps []string, kept settings) error {
	d.feed = a.newFeeder(inputs, sitemaps, d.flags)
	if len(inputs) > 0 {
		d.feed.start(ctx)
		defer d.feed.stopReading()
		if err := d.feed.wait(ctx); err != nil {
			return err
		}
	}
	kept.Inputs = marksOf(inputs, sitemaps)
	spec := storage.RunSpec{Name: runName(inputs, sitemaps), Input: inputID(kept.Inputs, a.world.now())}
	var err error
	if d.run, err = a.createRun(ctx, d, spec, kept); err != nil {
		return err
	}
	return a.drive(ctx, d)
}

// beginDemo creates a run of the simulated world and has it driven.
func (a *app) beginDemo(ctx context.Context, d drive, kept settings, driver func(context.Context, drive) error) error {
	spec := storage.RunSpec{Name: "demo", Input: "demo " + strconv.FormatInt(a.world.now().UnixNano(), 10)}
	var err error
	if d.run, err = a.createRun(ctx, d, spec, kept); err != nil {
		return err
	}
	d.feed = a.newFeeder(nil, nil, d.flags)
	for _, u := range simulator.DemoURLs() {
		d.feed.inputs = append(d.feed.inputs, input{name: u, url: u})
	}
	d.feed.start(ctx)
	defer d.feed.stopReading()
	return driver(ctx, d)
}

// createRun keeps a run's settings with it.
func (a *app) createRun(ctx context.Context, d drive, spec storage.RunSpec, kept settings) (storage.Run, error) {
	var err error
	if spec.Settings, err = json.Marshal(kept); err != nil {
		return storage.Run{}, broken("keep the settings of the run: %w", err)
	}
	spec.Provider, spec.Options = d.flags.provider, optionsID(d.cfg)
	spec.Credentials, spec.Accounts = len(d.cfg.Credentials), accountsOf(d.cfg)
	run, err := d.store.CreateRun(ctx, spec)
	if err != nil {
		return run, broken("create the run: %w", err)
	}
	return run, nil
}

// outcome is the end of a run's sitting as the command's: its exit code, and what went wrong.
func (a *app) outcome(d drive, end engine.Ending, tasks int64) error {
	a.tellRemote(end)
	switch {
	case end.State == storage.RunFailed:
		return broken("run %d could not go on: %s, resume it with: scrapetop resume %d", d.run.ID, first(end.Reason, "no reason was given"), d.run.ID)
	case tasks == 0 && end.State == storage.RunFinished:
		return usage("run %d had nothing to fetch: its input named no page", d.run.ID)
	}
	return ended(endCode(end))
}
