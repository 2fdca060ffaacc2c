package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"dev.scrapetop/engine/core"
	"dev.scrapetop/engine/provider"
	"dev.scrapetop/storage"
)

// ErrStopping is returned by Add when the run takes no more work in.
var ErrStopping = errors.New("the run is stopping")

// Added is what came of adding input to a run.
type Added struct {
	Tasks      int64 // that are new
	Duplicates int64 // of URLs that the run had already, or that were added twice
	Refused    int64 // lines without a URL that can be fetched
	// Cut: the run ended before everything was read. What was added waits for its resume.
	Cut bool
}

func (a Added) String() string {
	read := a.Tasks + a.Duplicates
	text := fmt.Sprintf("%d URLs were added by you: %d new, %d already there", read, a.Tasks, a.Duplicates)
	if read == 1 {
		text = "1 URL was added by you"
		if a.Duplicates > 0 {
			text += ": already there"
		}
	}
	if a.Refused > 0 {
		text += fmt.Sprintf(", %d refused", a.Refused)
	}
	if a.Cut {
		text += ", then the run ended: the rest was not read"
	}
	return text
}

// joining asks the loop to let one more input in.
type joining struct {
	into chan context.Context // buffered; answered with what ends when the run does, nil: no more work is taken in
}

// joined ends it, with its event.
type joined returned

// Addition takes the tasks of an input that a person adds. Its methods are called by one goroutine at a time.
type Addition struct {
	engine *Engine
	sum    Added
}

// Add lets a person's own input into the run while it goes on. read hands the tasks over to the Addition and returns soon after its
// ctx ended, which it does with the run; the run does not end by itself before read returned. What came of it is an event of the run,
// and is returned even with an error. ErrOver and ErrStopping: read was not called.
func (e *Engine) Add(ctx context.Context, read func(ctx context.Context, a *Addition) error) (Added, error) {
	select {
	case <-e.ready:
	case <-e.over:
		return Added{}, ErrOver
	case <-ctx.Done():
		return Added{}, ctx.Err()
	}
	m := joining{make(chan context.Context, 1)}
	e.inbox.post(m)
	var running context.Context
	select {
	case running = <-m.into: // at once: the loop never waits
	case <-e.over:
		return Added{}, ErrOver
	}
	if running == nil {
		return Added{}, ErrStopping
	}
	defer e.helpers.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(running, cancel)()
	a := &Addition{engine: e}
	err := read(ctx, a)
	a.sum.Cut = running.Err() != nil
	var end joined
	if a.sum != (Added{}) {
		end.event = storage.Event{Level: "info", Scope: "global", Text: a.sum.String()}
	}
	e.inbox.post(end)
	return a.sum, err
}

// join lets an input in, unless the run is being stopped.
func (l *loop) join(m joining) {
	if !l.drainBy.IsZero() || l.ending != nil {
		m.into <- nil
		return
	}
	l.helpers.Add(1)
	l.inputs++
	l.step(core.InputBegan{})
	m.into <- l.ctx
}

// joined tells of an input that ended.
func (l *loop) joined(m joined) {
	l.inputs--
	if e := m.event; e.Text != "" {
		l.event(e.Level, e.Scope, e.Key, e.Text, 0)
	}
	l.step(core.InputEnded{})
	l.publish(time.Now(), true)
}

// Feed stores tasks and lets them start.
func (a *Addition) Feed(ctx context.Context, tasks []storage.NewTask) (storage.Queued, error) {
	a.engine.allow(tasks)
	q, err := a.engine.store.Add(ctx, a.engine.run.ID, tasks)
	if err != nil {
		return q, err
	}
	a.sum.Tasks += q.Added
	a.sum.Duplicates += q.Duplicates
	own := q
	own.Duplicates = 0 // the run's are those of its input
	a.engine.inbox.post(fed{own})
	return q, nil
}

// Skip counts lines that were refused.
func (a *Addition) Skip(n int64) { a.sum.Refused += n }

// FeedDone does nothing: the return of read is the end.
func (a *Addition) FeedDone() {}

// Lookup is the engine's.
func (a *Addition) Lookup(ctx context.Context, url string) (provider.Response, error) {
	return a.engine.Lookup(ctx, url)
}
