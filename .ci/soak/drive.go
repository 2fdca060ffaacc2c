package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"dev.scrapetop/engine"
	"dev.scrapetop/engine/view"
	"dev.scrapetop/storage"
)

// driven is a run that is going.
type driven struct {
	eng   *engine.Engine
	store *storage.Store
	run   int64
	urls  func(i int) string
	rate  int // URLs a second
	ahead int64
	stop  context.CancelFunc
	all   sync.WaitGroup
	err   error // of Run, after all
}

type count struct{ accepted, dead int64 }

const (
	feedEvery  = 100 * time.Millisecond
	frameEvery = 250 * time.Millisecond // as the dashboard draws
	rowsEvery  = time.Second
	// queued is how many URLs may wait in a run through a platform, and queuedDirect in the one that fetches by itself: they
	// are more than are kept in memory.
	queued, queuedDirect = 2000, 30_000
)

// begin starts a run of each provider.
func begin(ctx context.Context, st *storage.Store, at addresses, round, rate int) ([]*driven, error) {
	var all []*driven
	key := func(name, secret string) []engine.Credential { return []engine.Credential{{Name: name, Key: secret}} }
	for _, c := range []struct {
		cfg  engine.Config
		rate int
	}{
		{engine.Config{Provider: engine.Direct, MaxInFlight: 64, Robots: true}, rate},
		{engine.Config{Provider: engine.Evomi, BaseURL: at.Evomi, Credentials: key("main", at.EvomiKey)}, 20},
		{engine.Config{Provider: engine.Spidra, BaseURL: at.Spidra, Credentials: key("main", at.SpidraKey)}, 20},
		{engine.Config{Provider: engine.OmniScrape, BaseURL: at.OmniScrape, Credentials: key("main", at.OmniScrapeKey), Async: round%2 == 1}, 20},
	} {
		run, err := st.CreateRun(ctx, storage.RunSpec{Name: c.cfg.Provider, Input: "soak", Provider: c.cfg.Provider})
		if err != nil {
			return nil, err
		}
		d := &driven{store: st, run: run.ID, rate: c.rate, ahead: queued}
		if d.eng, err = engine.New(c.cfg, st, run); err != nil {
			return nil, err
		}
		d.urls = func(i int) string {
			host := "http://" + []string{"swift-0.example", "books.example", "shop.example", "news.example", "forum.example"}[i%5]
			return fmt.Sprintf("%s/p/%d-%d", host, round, i)
		}
		if c.cfg.Provider == engine.Direct {
			d.ahead = queuedDirect
			d.urls = func(i int) string { return fmt.Sprintf("%s/p/%d-%d", at.Sites[site(i, len(at.Sites))].URL, round, i) }
		}
		all = append(all, d)
	}
	for _, d := range all {
		d.start(ctx)
	}
	return all, nil
}

// site spreads nine of ten URLs over the swift sites, which come last, and the rest over all.
func site(i, n int) int {
	if i%10 == 0 {
		return i / 10 % n
	}
	return n - swift + i%swift
}

// start drives the run, feeds it and looks at it.
func (d *driven) start(ctx context.Context) {
	ctx, d.stop = context.WithCancel(ctx)
	d.all.Go(func() { _, d.err = d.eng.Run(ctx) })
	d.all.Go(func() { d.feed(ctx) })
	d.all.Go(func() { d.look(ctx) })
}

func (d *driven) feed(ctx context.Context) {
	tick := time.NewTicker(feedEvery)
	defer tick.Stop()
	for i := 0; ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if f := d.eng.Frame(view.Query{}); f != nil && f.Counts.Pending > d.ahead {
			continue
		}
		var tasks []storage.NewTask
		for range max(d.rate/int(time.Second/feedEvery), 1) {
			u := d.urls(i)
			parsed, err := url.Parse(u)
			if err != nil {
				panic(err) // it is made above
			}
			tasks = append(tasks, storage.NewTask{URL: u, InputURL: u, Domain: parsed.Hostname()})
			i++
		}
		if _, err := d.eng.Feed(ctx, tasks); err != nil {
			return // the run is over
		}
	}
}

// look reads what a dashboard reads.
func (d *driven) look(ctx context.Context) {
	frames, rows := time.NewTicker(frameEvery), time.NewTicker(rowsEvery)
	defer frames.Stop()
	defer rows.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-frames.C:
			d.eng.Frame(view.Query{})
		case <-rows.C:
			// Windows of rows, read while they change; the runs' own errors are what counts.
			_, _ = d.store.TaskRows(ctx, storage.TaskQuery{Run: d.run, Window: storage.Window{After: 50}})
			_, _ = d.store.Events(ctx, d.run, 0, 50)
		}
	}
}

// finish ends the runs in the middle of their work.
func finish(all []*driven) error {
	var failed error
	for _, d := range all {
		d.stop()
	}
	for _, d := range all {
		d.all.Wait()
		if d.err != nil && !errors.Is(d.err, context.Canceled) {
			failed = errors.Join(failed, d.err)
		}
	}
	return failed
}

// counted is what the runs have come to.
func counted(all []*driven) (c count) {
	for _, d := range all {
		if f := d.eng.Frame(view.Query{}); f != nil {
			c.accepted += f.Counts.Accepted
			c.dead += f.Counts.Dead
		}
	}
	return c
}
