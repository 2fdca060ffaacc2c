package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"sync"
	"time"

	"dev.scrapetop/engine"
	"dev.scrapetop/engine/provider"
	"dev.scrapetop/engine/source"
	"dev.scrapetop/storage"
)

const (
	batchSize   = 1000                   // tasks of one write: large enough for a million a minute, small enough to start at once
	batchDelay  = 100 * time.Millisecond // a slow producer's URLs wait no longer than this
	maxReported = 1000                   // lines told on stderr of one input; the others are counted
	maxSitemaps = 50_000                 // of a run: what one index may name by its own rules
	maxNesting  = 3                      // indexes within indexes
)

// sink is the part of the engine that an input is fed to.
type sink interface {
	Feed(ctx context.Context, tasks []storage.NewTask) (storage.Queued, error)
	Skip(n int64)
	FeedDone()
	Lookup(ctx context.Context, url string) (provider.Response, error)
}

// feeder reads the inputs of a run and hands their tasks to the engine while they are read. One goroutine reads (it may
// hang in a pipe for ever), the caller of run batches.
type feeder struct {
	inputs   []input
	sitemaps []string
	format   source.Format
	tenant   string
	skip     int64 // good lines that an earlier sitting has stored
	counted  int64 // refused lines that an earlier sitting has counted
	report   func(line string)

	found chan found
	stop  chan struct{}
	once  sync.Once
	first *found // taken by wait, not yet fed
}

// found is what the reader hands over: an entry, refused lines, or the end of an input.
type found struct {
	entry   source.Entry
	refused int64
	err     error // with end: why the input could not be read on
	end     bool  // the last of all
}

// start begins to read, if there is anything but sitemaps. stopReading ends it and may be called at any time.
func (f *feeder) start(ctx context.Context) {
	f.found = make(chan found, batchSize)
	f.stop = make(chan struct{})
	go f.readAll(ctx)
}

func (f *feeder) stopReading() {
	if f.stop != nil {
		f.once.Do(func() { close(f.stop) })
	}
}

func (f *feeder) send(x found) bool {
	select {
	case f.found <- x:
		return true
	case <-f.stop:
		return false
	}
}

// errStopped ends a read whose consumer is gone.
var errStopped = errors.New("the run ended before its input")

func (f *feeder) readAll(ctx context.Context) {
	var failed error
	for _, in := range f.inputs {
		if in.url != "" {
			u, err := source.Normalise(in.url)
			if err == nil {
				err = f.take(source.Entry{Line: 1, URL: u, InputURL: in.url})
			}
			failed = errors.Join(failed, err)
			continue
		}
		err := f.read(ctx, in.name, in.file)
		if errors.Is(err, errStopped) {
			return
		}
		if err != nil && !errors.Is(err, errNoGoodLine) {
			err = fmt.Errorf("%s: %w", in.name, err)
		}
		failed = errors.Join(failed, err)
	}
	f.send(found{end: true, err: failed})
}

// read reads one list. Lines that an earlier sitting has stored are passed over, and so are the refused ones that it has
// counted and told.
func (f *feeder) read(ctx context.Context, name string, r io.Reader) error {
	told := 0
	counts, err := source.Read(ctx, name, r, source.Options{Format: f.format}, f.take, func(p source.Problem) {
		if f.knows() {
			return
		}
		if told++; told <= maxReported {
			f.report(fmt.Sprintf("%s:%d: %s", name, p.Line, p.Why))
		}
		f.send(found{refused: 1})
	})
	if told > maxReported {
		f.report(fmt.Sprintf("%s: %d more lines were refused", name, told-maxReported))
	}
	if err == nil && counts.Entries == 0 {
		err = noGoodLine(name, counts)
	}
	return err
}

// knows reports a refused line that an earlier sitting has counted.
func (f *feeder) knows() bool {
	if f.counted == 0 {
		return false
	}
	f.counted--
	return true
}

func (f *feeder) take(e source.Entry) error {
	if f.skip > 0 && !e.Child {
		f.skip--
		return nil
	}
	if !f.send(found{entry: e}) {
		return errStopped
	}
	return nil
}

// wait blocks until there is something to run: a good line, a sitemap, or the end of everything (then the error says that
// nothing was there).
func (f *feeder) wait(ctx context.Context) error {
	var refused int64
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case x := <-f.found:
			refused += x.refused
			switch {
			case x.end && len(f.sitemaps) == 0 && x.err != nil:
				return usage("%w", x.err)
			case x.end, x.entry.InputURL != "":
				x.refused = refused
				f.first = &x
				return nil
			}
		}
	}
}

// run feeds the engine until the inputs and the sitemaps they name are read, or ctx ends. It reports input that could
// not be read and returns only what stops a run: tasks that could not be stored. Then the input has not ended: what was not
// stored is left to resume.
func (f *feeder) run(ctx context.Context, eng sink) (err error) {
	defer func() {
		if err == nil {
			eng.FeedDone()
		}
	}()
	defer f.stopReading()
	maps := &sitemapQueue{seen: map[string]bool{}}
	for _, s := range f.sitemaps {
		maps.add(s, 0)
	}
	if f.found != nil {
		if err := f.feedInputs(ctx, eng, maps); err != nil {
			return unlessOver(err)
		}
	}
	for ctx.Err() == nil {
		next, ok := maps.next()
		if !ok {
			break
		}
		if err := f.feedSitemap(ctx, eng, maps, next); err != nil {
			return unlessOver(err)
		}
	}
	if maps.left > 0 {
		f.report(fmt.Sprintf("%d sitemaps beyond the first %d were not fetched", maps.left, maxSitemaps))
	}
	return nil
}

// unlessOver drops the error of feeding a run that was stopped: resume reads on.
func unlessOver(err error) error {
	if errors.Is(err, engine.ErrOver) {
		return nil
	}
	return err
}

func (f *feeder) feedInputs(ctx context.Context, eng sink, maps *sitemapQueue) error {
	b := batch{eng: eng, tenant: f.tenant}
	tick := time.NewTicker(batchDelay)
	defer tick.Stop()
	handle := func(x found) (end bool, err error) {
		if x.refused > 0 {
			eng.Skip(x.refused)
		}
		switch {
		case x.end:
			if x.err != nil {
				f.report(x.err.Error())
			}
			return true, b.flush(ctx)
		case x.entry.Child:
			maps.add(x.entry.URL.String, 1)
		case x.entry.InputURL != "":
			return false, b.add(ctx, x.entry)
		}
		return false, nil
	}
	if f.first != nil {
		x := *f.first
		f.first = nil
		if end, err := handle(x); end || err != nil {
			return err
		}
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case x := <-f.found:
			if end, err := handle(x); end || err != nil {
				return err
			}
		case <-tick.C:
			if err := b.flush(ctx); err != nil {
				return err
			}
		}
	}
}

// batch gathers tasks for one write.
type batch struct {
	eng    sink
	tenant string
	tasks  []storage.NewTask
}

func (b *batch) add(ctx context.Context, e source.Entry) error {
	b.tasks = append(b.tasks, storage.NewTask{
		URL: e.URL.String, InputURL: e.InputURL, Domain: e.URL.Host, Tenant: first(e.Tenant, b.tenant),
		Priority: e.Priority, Key: e.Key, Meta: e.Meta,
	})
	if len(b.tasks) < batchSize {
		return nil
	}
	return b.flush(ctx)
}

func (b *batch) flush(ctx context.Context) error {
	if len(b.tasks) == 0 {
		return nil
	}
	tasks := b.tasks
	b.tasks = nil
	_, err := b.eng.Feed(ctx, tasks)
	if err != nil && !givenUp(ctx) {
		return fmt.Errorf("store the input: %w", err)
	}
	return nil
}

// givenUp reports that the feeding was given up: what fails after that is nobody's fault.
func givenUp(ctx context.Context) bool { return ctx.Err() != nil }

// sitemapQueue holds the sitemaps still to be fetched; each is fetched once.
type sitemapQueue struct {
	waiting []sitemap
	seen    map[string]bool
	left    int // named beyond what is fetched
}

type sitemap struct {
	url   string
	depth int // indexes above it
}

func (q *sitemapQueue) add(url string, depth int) {
	switch {
	case q.seen[url]:
	case len(q.seen) >= maxSitemaps:
		q.left++
	default:
		q.seen[url] = true
		q.waiting = append(q.waiting, sitemap{url, depth})
	}
}

func (q *sitemapQueue) next() (sitemap, bool) {
	if len(q.waiting) == 0 {
		return sitemap{}, false
	}
	s := q.waiting[0]
	q.waiting = q.waiting[1:]
	return s, true
}

// feedSitemap fetches one sitemap with the engine's manners and feeds its URLs. One that cannot be had is reported and the
// others go on.
func (f *feeder) feedSitemap(ctx context.Context, eng sink, maps *sitemapQueue, s sitemap) error {
	res, err := eng.Lookup(ctx, s.url)
	if givenUp(ctx) {
		return nil
	}
	switch {
	case errors.Is(err, engine.ErrOver):
		return err
	case err != nil:
		f.report(fmt.Sprintf("sitemap %s: %v", s.url, err))
		return nil
	case res.Fault != provider.NoFault:
		f.report(fmt.Sprintf("sitemap %s: %s", s.url, first(res.Error, string(res.Fault))))
		return nil
	case res.Status != 200:
		f.report(fmt.Sprintf("sitemap %s: status %d", s.url, res.Status))
		return nil
	}
	b := batch{eng: eng, tenant: f.tenant}
	var storing error
	counts, err := source.Read(ctx, sitemapName(s.url), bytes.NewReader(res.Body), source.Options{},
		func(e source.Entry) error {
			switch {
			case e.Child && s.depth >= maxNesting:
				f.report(fmt.Sprintf("sitemap %s:%d: an index within %d others is not followed", s.url, e.Line, s.depth))
			case e.Child:
				maps.add(e.URL.String, s.depth+1)
			case f.skip > 0:
				f.skip--
			default:
				storing = b.add(ctx, e)
			}
			return storing
		},
		func(p source.Problem) {
			if !f.knows() {
				f.report(fmt.Sprintf("%s:%d: %s", s.url, p.Line, p.Why))
				eng.Skip(1)
			}
		})
	if storing != nil {
		return storing
	}
	if err != nil && ctx.Err() == nil {
		f.report(fmt.Sprintf("sitemap %s: %v", s.url, err))
	} else if counts.Entries == 0 {
		f.report(fmt.Sprintf("sitemap %s: names no page", s.url))
	}
	return b.flush(ctx)
}

// sitemapName lets the extension decide where there is one of ours; a sitemap is XML or a plain list.
func sitemapName(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return path.Base(u.Path)
}
