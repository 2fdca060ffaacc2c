package engine

import (
	"context"
	"errors"

	"dev.scrapetop/engine/provider"
	"dev.scrapetop/engine/view"
	"dev.scrapetop/storage"
)

// Ending is how a run ended.
type Ending struct {
	State  storage.RunState // finished, stopped or failed
	Reason string           // why it stopped or failed, else empty
	Dead   int64            // tasks dead-lettered
	Left   int64            // tasks left to resume
}

// Engine drives one run.
type Engine struct{}

// New prepares the driving of a run; it starts nothing.
func New(cfg Config, st *storage.Store, run storage.Run) (*Engine, error) {
	return nil, errors.New("the engine is being built")
}

// Run drives the run until it ended: nothing left, drained, abandoned or unable to go on. Cancelling ctx abandons.
func (e *Engine) Run(ctx context.Context) (Ending, error) { return Ending{}, nil }

// Feed stores more tasks of the run and lets them start. It may be called while Run runs, from any goroutine.
func (e *Engine) Feed(ctx context.Context, tasks []storage.NewTask) (storage.Queued, error) {
	return storage.Queued{}, nil
}

// Skip counts input lines that were refused.
func (e *Engine) Skip(n int64) {}

// FeedDone tells that the input ended: once nothing is left, the run is over.
func (e *Engine) FeedDone() {}

// Lookup fetches a document (a sitemap) with the manners of direct: inside the budgets of its host, robots.txt obeyed,
// waits honoured. It returns when the answer is in or ctx ends.
func (e *Engine) Lookup(ctx context.Context, url string) (provider.Response, error) {
	return provider.Response{}, nil
}

// Do hands over a command; a later frame confirms it. It never blocks for long and may be called from any goroutine.
func (e *Engine) Do(c Command) {}

// Frame answers a screen's question from the latest picture. It may be called from any goroutine and never waits for the loop.
func (e *Engine) Frame(q view.Query) *view.Frame { return nil }
