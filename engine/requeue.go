package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"dev.scrapetop/engine/core"
	"dev.scrapetop/storage"
)

// requeueAtOnce is how many dead letters are given to the writer together: it commits what has gathered as one.
const requeueAtOnce = 64

// DeadLetter names a dead letter and the domain that it belongs to.
type DeadLetter struct {
	Task   int64
	Domain string
}

// requeued tells the loop which tasks wait again.
type requeued struct {
	domains map[string]int64
	n       int64
}

// Requeue makes dead letters of the run pending again and returns how many: those that are dead no more are passed over.
// A run that is going starts them as it does any other; one that is over has them for its resume. It waits for storage and
// may be called from any goroutine.
func (e *Engine) Requeue(ctx context.Context, letters []DeadLetter) (int64, error) {
	r := requeued{domains: map[string]int64{}}
	var failed error
	for len(letters) > 0 && failed == nil && ctx.Err() == nil {
		part := letters[:min(len(letters), requeueAtOnce)]
		letters = letters[len(part):]
		var mu sync.Mutex // guards r and failed
		var all sync.WaitGroup
		for _, d := range part {
			all.Go(func() {
				// One by one: only so it is known which domain got how many, whatever dies meanwhile.
				n, err := e.store.Requeue(ctx, e.run.ID, storage.RequeueFilter{Task: d.Task})
				mu.Lock()
				defer mu.Unlock()
				r.domains[d.Domain] += n
				r.n += n
				failed = errors.Join(failed, err)
			})
		}
		all.Wait()
	}
	if r.n > 0 {
		e.inbox.post(r)
	}
	if failed == nil {
		failed = ctx.Err()
	}
	if failed != nil {
		return r.n, fmt.Errorf("requeue dead letters of run %d: %w", e.run.ID, failed)
	}
	return r.n, nil
}

// requeued lets tasks start again that storage has made pending.
func (l *loop) requeued(r requeued) {
	now := time.Now()
	c := l.m.Counts()
	l.m.Resume(c.Accepted, c.Dead-r.n)
	q := core.Queued{}
	for domain, n := range r.domains {
		if n == 0 {
			continue
		}
		if d := l.m.Domain(domain); d != nil {
			d.Log.Dead = max(d.Log.Dead-n, 0)
		}
		q.Domains = append(q.Domains, core.DomainCount{Domain: domain, N: n, Oldest: now})
		l.ages.add(now, n)
	}
	l.event("info", "global", "", fmt.Sprintf("%d dead letters were queued again", r.n), 0)
	l.step(q)
	l.publish(now, true)
}
