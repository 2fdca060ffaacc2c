package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"dev.scrapetop/engine/core"
	"dev.scrapetop/engine/provider"
	"dev.scrapetop/engine/record"
	"dev.scrapetop/engine/source"
	"dev.scrapetop/engine/transport"
	"dev.scrapetop/engine/view"
	"dev.scrapetop/storage"
)

// Ending is how a run ended.
type Ending struct {
	State  storage.RunState // finished, stopped or failed
	Reason string           // why it stopped or failed, else empty
	Dead   int64            // tasks dead-lettered
	Left   int64            // tasks left to resume
	Remote int64            // of them, handed over and not collected
	Expire time.Time        // when the first remote result is lost; zero: none is waiting
}

// Engine drives one run. Make it with New; Run may be called once.
type Engine struct {
	cfg      Config
	store    *storage.Store
	run      storage.Run
	provider provider.Provider
	client   *transport.Client
	redactor *transport.Redactor
	judge    *record.Judge
	keys     map[string]string // by credential
	exchange string            // prefix of exchange ids, unique to this process
	model    *view.Model

	inbox  inbox
	looked atomic.Int64  // when a frame was last asked for, Unix nanoseconds
	hosts  hostSet       // named by the input: they may be private
	nextID atomic.Int64  // of lookups
	ready  chan struct{} // closed when Run has taken the run over
	over   chan struct{}

	helpers sync.WaitGroup // goroutines under way
	guard   func()         // deferred first in every goroutine; see Guard

	waiting struct {
		sync.Mutex
		lookups map[int64]chan provider.Response
	}
}

// ErrOver is returned by Feed and Lookup once the run has ended.
var ErrOver = errors.New("the run is over")

// New prepares the driving of a run; it starts nothing and sends nothing. It fails when the configuration does not fit the
// provider.
func New(cfg Config, st *storage.Store, run storage.Run) (*Engine, error) {
	cfg.defaults()
	p, err := NewProvider(cfg)
	if err != nil {
		return nil, err
	}
	if p.Facts().Paid && len(cfg.Credentials) == 0 {
		return nil, fmt.Errorf("provider %s: no credential is configured", cfg.Provider)
	}
	judge, err := record.Compile(cfg.Rules)
	if err != nil {
		return nil, fmt.Errorf("rules of validation: %w", err)
	}
	e := &Engine{
		cfg: cfg, store: st, run: run, provider: p, judge: judge, keys: map[string]string{}, ready: make(chan struct{}), over: make(chan struct{}),
		model: view.New(view.Options{Limited: view.ByLayer{
			Account: run.Totals.Account, Rate: run.Totals.Rate, Pending: run.Totals.PendingJobs, Target: run.Totals.Target, Busy: run.Totals.Busy,
		}}),
	}
	var secrets []string
	for _, c := range cfg.Credentials {
		e.keys[c.Name] = c.Key
		secrets = append(secrets, c.Key)
	}
	e.redactor = transport.NewRedactor(secrets...)
	e.inbox.init()
	e.waiting.lookups = map[int64]chan provider.Response{}
	timeout := cfg.Timeout
	if timeout <= 0 {
		timeout = p.Facts().Timeout
	}
	e.client = transport.New(transport.Config{
		RoundTripper: cfg.Transport, MaxBody: cfg.MaxBody, Timeout: timeout, MaxConns: 2 * cfg.MaxInFlight, AllowPrivate: e.hosts.has, Redactor: e.redactor,
	})
	e.hosts.allowBase(cfg.BaseURL)
	return e, nil
}

// Guard sets what is deferred first in every goroutine that the engine starts: it recovers a panic, so that the terminal
// can be restored before the program ends. Call it before Run.
func (e *Engine) Guard(f func()) { e.guard = f }

// spawn runs f in a goroutine of the engine's.
func (e *Engine) spawn(f func()) {
	e.helpers.Add(1)
	go func() {
		defer e.helpers.Done()
		if e.guard != nil {
			defer e.guard()
		}
		f()
	}()
}

// Run drives the run until it ended: nothing left, drained, abandoned or unable to go on. Cancelling ctx abandons. It
// returns an error only when the run could not be taken over or storage gave up; the Ending is valid either way.
func (e *Engine) Run(ctx context.Context) (Ending, error) {
	defer e.helpers.Wait()
	defer close(e.over)
	defer e.client.Close()
	l := newLoop(e)
	if err := l.start(ctx); err != nil {
		l.dismiss()
		return Ending{State: storage.RunFailed, Reason: err.Error()}, err
	}
	close(e.ready)
	return l.run(ctx)
}

// Feed stores more tasks of the run and lets them start. It waits until Run has taken the run over, and may be called from
// any goroutine.
func (e *Engine) Feed(ctx context.Context, tasks []storage.NewTask) (storage.Queued, error) {
	select {
	case <-e.over:
		return storage.Queued{}, ErrOver
	case <-ctx.Done():
		return storage.Queued{}, ctx.Err()
	case <-e.ready:
	}
	select {
	case <-e.over: // both were closed
		return storage.Queued{}, ErrOver
	default:
	}
	e.allow(tasks)
	q, err := e.store.Enqueue(ctx, e.run.ID, tasks)
	if err != nil {
		return q, err
	}
	e.inbox.post(fed{q})
	return q, nil
}

// allow lets direct reach the hosts that an input names, wherever they are.
func (e *Engine) allow(tasks []storage.NewTask) {
	if e.cfg.Provider == Direct {
		for i := range tasks {
			e.hosts.add(tasks[i].Domain)
		}
	}
}

// Skip counts input lines that were refused.
func (e *Engine) Skip(n int64) { e.inbox.post(skipped{n}) }

// FeedDone tells that the input ended: once nothing is left, the run is over.
func (e *Engine) FeedDone() { e.inbox.post(core.InputEnded{}) }

// maxHops is how many redirects a lookup follows (RFC 9309 section 2.3.1.2 asks for at least five).
const maxHops = 5

// Lookup fetches a document (a sitemap) with the manners of direct: inside the budgets of its host, robots.txt obeyed,
// waits honoured, redirects followed as calls of their own. It returns when the answer is in, the run is over or ctx ends.
func (e *Engine) Lookup(ctx context.Context, url string) (provider.Response, error) {
	for range maxHops {
		u, err := source.Normalise(url)
		if err != nil {
			return provider.Response{}, fmt.Errorf("%s: %w", transport.RedactURL(url), err)
		}
		e.hosts.add(u.Host)
		r, err := e.lookup(ctx, u)
		if err != nil {
			return r, err
		}
		next := locationOf(u.String, r)
		if next == "" {
			return r, nil
		}
		url = next
	}
	return provider.Response{}, fmt.Errorf("%s: too many redirects", transport.RedactURL(url))
}

func (e *Engine) lookup(ctx context.Context, u source.URL) (provider.Response, error) {
	id := e.nextID.Add(1)
	answer := make(chan provider.Response, 1)
	e.waiting.Lock()
	e.waiting.lookups[id] = answer
	e.waiting.Unlock()
	defer func() {
		e.waiting.Lock()
		delete(e.waiting.lookups, id)
		e.waiting.Unlock()
	}()
	e.inbox.post(core.LookupAsked{ID: id, URL: u.String, Domain: u.Host})
	select {
	case r := <-answer:
		if r.Fault == provider.FaultCancelled {
			return r, fmt.Errorf("%s was not fetched: %s", transport.RedactURL(u.String), r.Error)
		}
		return r, nil
	case <-e.over:
		return provider.Response{}, ErrOver
	case <-ctx.Done():
		return provider.Response{}, ctx.Err()
	}
}

// answered hands a lookup's response to whoever waits for it.
func (e *Engine) answered(id int64, r provider.Response) {
	e.waiting.Lock()
	defer e.waiting.Unlock()
	if ch := e.waiting.lookups[id]; ch != nil {
		ch <- r // buffered, and answered once
		delete(e.waiting.lookups, id)
	}
}

// Do hands over a command; a later frame confirms it. It never blocks and may be called from any goroutine.
func (e *Engine) Do(c Command) { e.inbox.post(c) }

// Frame answers a screen's question from the latest picture. It may be called from any goroutine and never waits for the
// loop; asking keeps pictures coming ten times a second.
func (e *Engine) Frame(q view.Query) *view.Frame {
	e.looked.Store(time.Now().UnixNano())
	return e.model.Frame(q)
}
