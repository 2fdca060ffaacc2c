package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"dev.scrapetop/engine"
	"dev.scrapetop/engine/lease"
	"dev.scrapetop/engine/share"
	"dev.scrapetop/storage"
	"dev.scrapetop/ui/dashboard"
)

// drive drives a run to its end, in the dashboard or headless, prints its summary and returns its exit code.
func (a *app) drive(ctx context.Context, d drive) error {
	if err := a.prune(ctx, d.store); err != nil {
		return err
	}
	var opt dashboard.Options
	var chosen dashboard.Again
	if !d.flags.headless {
		var done func()
		var err error
		if opt, done, err = a.dashboardOptions(); err != nil {
			return err
		}
		defer done()
		opt.Passing, opt.Resume = d.passing, a.resumeWith(d)
		opt.Rows, opt.Exporter = rowsOf{d.store}, exporter{d.store}
		if !d.passing {
			opt.Again = func(again dashboard.Again) { chosen = again }
		}
	}
	d.cfg.Identity = optionsID(d.cfg)
	if d.cfg.Transport == nil { // a simulated world has no other users
		d.cfg.Share = func(hear func(lease.News)) (lease.Sharing, lease.News, error) {
			return share.With(d.store.Path(), hear)
		}
	}
	eng, err := engine.New(d.cfg, d.store, d.run)
	if err != nil {
		return broken("run %d cannot start: %w", d.run.ID, err)
	}
	opt.Acts, opt.Adder = taskActs{eng, rowsOf{d.store}}, adder{a, eng, d}
	endLog, err := a.logEvents(ctx, d.store, d.run.ID)
	if err != nil {
		return err
	}
	defer a.serveMetrics(eng)()
	s := a.sit(ctx, eng, d)
	var shown error
	switch {
	case d.flags.plain:
		a.speak(s, d)
	case d.flags.headless:
		a.watch(s, d.store.WALBytes)
	default:
		shown = a.show(ctx, s, opt)
	}
	if text := s.crash.Text(); text != "" {
		fmt.Fprintln(a.std.Err, text) // the goroutines that met it may never end: nothing is waited for
		return shown
	}
	end, err := s.wait()
	if err := endLog(); err != nil {
		a.tell("scrapetop: " + err.Error())
	}
	if errors.Is(err, storage.ErrHeld) {
		return usage("run %d is being driven by another process, watch it there", d.run.ID)
	}
	sum, untold := a.summarise(context.WithoutCancel(ctx), d, err)
	if err != nil && sum.State == storage.RunFinished {
		return broken("run %d is finished, and then: %w", d.run.ID, err)
	}
	if err != nil { // what the summary could not tell besides is of the same cause
		return broken("run %d stopped: %w, once that is settled: scrapetop resume %d", d.run.ID, err, d.run.ID)
	}
	if untold != nil {
		return untold
	}
	code := a.outcome(d, end, sum.Tasks)
	if shown != nil && end.State != storage.RunFailed {
		return shown
	}
	if chosen.Run != 0 {
		a.exitCode(code) // told, and then the next one begins
		return &goesOn{chosen}
	}
	return code
}

// tellRemote says what was left with the platform, and until when it can be had.
func (a *app) tellRemote(end engine.Ending) {
	if end.Remote == 0 {
		return
	}
	line := fmt.Sprintf("scrapetop: %d tasks are still with the platform", end.Remote)
	if end.Remote == 1 {
		line = "scrapetop: 1 task is still with the platform"
	}
	if !end.Expire.IsZero() {
		line += ", resume before " + end.Expire.UTC().Format(time.RFC3339) + " to collect them"
	}
	a.tell(line)
}

// endCode is the exit code of a run that ended by itself or was stopped.
func endCode(end engine.Ending) int {
	switch {
	case end.State == storage.RunFailed:
		return exitBroken
	case end.State == storage.RunStopped, end.Left > 0:
		return exitLeft
	case end.Dead > 0:
		return exitDead
	}
	return exitOK
}

// prune removes ended runs that are older than [retention] keeps them, and gives space back if that says so; without it
// nothing is ever removed.
func (a *app) prune(ctx context.Context, st *storage.Store) error {
	keep, err := a.file.keepRuns()
	if err != nil {
		return err
	}
	if keep > 0 {
		if _, err := st.Prune(ctx, a.world.now().Add(-keep)); err != nil {
			return broken("remove runs older than %s: %w", a.file.Retention.Runs, err)
		}
	}
	if a.file.Retention.Compact {
		return a.compact(ctx, st)
	}
	return nil
}

// compactShare is the part of the file that must be unused before it is written anew: doing so costs as much as is kept.
const compactShare = 4

// compact gives unused space back to the disk when it is worth it.
func (a *app) compact(ctx context.Context, st *storage.Store) error {
	unused, err := st.Unused(ctx)
	if err != nil {
		return broken("compact the database: %w", err)
	}
	info, err := os.Stat(st.Path())
	if err != nil {
		return broken("compact the database: %w", err)
	}
	if unused == 0 || unused < info.Size()/compactShare {
		return nil
	}
	a.tell(fmt.Sprintf("database: %d of %d MiB are unused, compacting it", unused>>20, info.Size()>>20))
	if err := st.Compact(ctx); err != nil && !errors.Is(err, storage.ErrBusy) { // another process is at work: next time
		return broken("compact the database: %w", err)
	}
	return nil
}

// sitting is a run being driven: the engine's goroutine, the feeder's and the one of the signals.
type sitting struct {
	eng        *engine.Engine
	crash      *dashboard.Crash
	done       chan struct{} // closed when the engine's Run returned
	interrupts chan struct{} // signals, for the dashboard
	unwatched  chan struct{} // closed when no dashboard takes them (any more)

	end     engine.Ending // after done
	err     error         // after done
	feedErr error         // after all
	all     sync.WaitGroup
	cancel  context.CancelFunc
	release func()
}

// sit starts everything that drives a run. Signals become commands: the first drains, the next abandons.
func (a *app) sit(ctx context.Context, eng *engine.Engine, d drive) *sitting {
	ctx, cancel := context.WithCancel(ctx)
	s := &sitting{
		eng: eng, done: make(chan struct{}), cancel: cancel, interrupts: make(chan struct{}, 4), unwatched: make(chan struct{}),
		crash: dashboard.NewCrash(nil),
	}
	if d.flags.headless {
		close(s.unwatched)
		s.crash = dashboard.NewCrash(func() {
			fmt.Fprintf(a.std.Err, "scrapetop: internal error: %s\n", s.crash.Text())
			a.world.exit(exitBroken)
		})
	}
	eng.Guard(s.crash.Guard)
	feeding, stopFeeding := context.WithCancel(ctx)
	signals, release := a.world.signals()
	s.release = release
	s.all.Go(func() {
		defer s.crash.Guard()
		defer close(s.done)
		defer stopFeeding()
		s.end, s.err = eng.Run(ctx)
	})
	s.all.Go(func() {
		defer s.crash.Guard()
		if d.feed == nil {
			eng.FeedDone()
			return
		}
		if s.feedErr = d.feed.run(feeding, eng); s.feedErr != nil {
			eng.Do(engine.Command{Verb: engine.Abandon})
		}
	})
	s.all.Go(func() { a.obey(s, signals) })
	return s
}

// obey hands signals to the dashboard, or turns them into commands where there is none, until the sitting ends.
func (a *app) obey(s *sitting, signals <-chan os.Signal) {
	for asked := 0; ; asked++ {
		select {
		case <-s.done:
			// The dashboard stays open when its run has ended: the signal closes it.
			select {
			case <-s.unwatched:
			case <-signals:
				s.interrupts <- struct{}{}
			}
			return
		case <-signals:
		}
		select {
		case <-s.unwatched:
		default:
			s.interrupts <- struct{}{}
			continue
		}
		if asked == 0 {
			a.tell("scrapetop: stopping: nothing new starts, what is in flight finishes; once more to abandon it")
			s.eng.Do(engine.Command{Verb: engine.Drain})
			continue
		}
		s.eng.Do(engine.Command{Verb: engine.Abandon})
	}
}

// wait returns how the run ended, once nothing of the sitting is left.
func (s *sitting) wait() (engine.Ending, error) {
	s.all.Wait()
	s.cancel()
	s.release()
	return s.end, errors.Join(s.err, s.feedErr)
}

// teller writes lines to stderr, and holds them back while a dashboard owns the terminal.
type teller struct {
	mu     sync.Mutex // guards what follows
	hold   bool
	held   []string
	missed int
}

// tell writes a line about the run to stderr. It may be called from any goroutine.
func (a *app) tell(line string) {
	a.teller.mu.Lock()
	defer a.teller.mu.Unlock()
	switch {
	case !a.teller.hold:
		fmt.Fprintln(a.std.Err, printable(line))
	case len(a.teller.held) < maxReported:
		a.teller.held = append(a.teller.held, line)
	default:
		a.teller.missed++
	}
}

// hush holds lines back; the returned function writes them and lets new ones through.
func (a *app) hush() (speak func()) {
	a.teller.mu.Lock()
	defer a.teller.mu.Unlock()
	a.teller.hold = true
	return func() {
		a.teller.mu.Lock()
		defer a.teller.mu.Unlock()
		a.teller.hold = false
		for _, l := range a.teller.held {
			fmt.Fprintln(a.std.Err, printable(l))
		}
		if a.teller.missed > 0 {
			fmt.Fprintf(a.std.Err, "scrapetop: %d more lines were not kept\n", a.teller.missed)
		}
		a.teller.held, a.teller.missed = nil, 0
	}
}
