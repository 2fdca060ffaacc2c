package engine

import (
	"context"
	"errors"
	"time"

	"dev.scrapetop/engine/budget"
	"dev.scrapetop/engine/core"
	"dev.scrapetop/storage"
)

// refillAgain is how long after a read that was locked out the next is tried.
const refillAgain = 200 * time.Millisecond

// refill reads waiting tasks outside the loop.
func (l *loop) refill(wants []core.Want) {
	ask := make([]storage.Want, len(wants))
	for i, w := range wants {
		ask[i] = storage.Want(w)
	}
	ctx, now := l.ctx, time.Now()
	l.spawn(func() {
		ev := core.Refilled{Wants: wants}
		tasks, err := l.store.Pending(ctx, l.Engine.run.ID, ask)
		if err != nil {
			if ctx.Err() == nil && !errors.Is(err, storage.ErrBusy) {
				l.inbox.post(lost{err})
			}
			ev.Failed = true
			select { // somebody else writes: again in a moment
			case <-time.After(refillAgain):
			case <-ctx.Done():
			}
		}
		ev.Tasks = make([]core.Waiting, 0, len(tasks))
		for _, t := range tasks {
			if records := l.reuse(ctx, now, t); records > 0 {
				ev.Reused = append(ev.Reused, core.Reused{Domain: t.Domain, ID: t.ID, Priority: t.Priority, Created: t.CreatedAt, Records: records})
				continue
			}
			ev.Tasks = append(ev.Tasks, core.Waiting{Task: l.taskOf(now, t), NotBefore: monotonic(now, t.NotBefore)})
		}
		l.inbox.post(ev)
	})
}

// reuse takes over the young results of the same URL, provider and options, where the configuration allows it, and returns how
// many there were.
func (l *loop) reuse(ctx context.Context, now time.Time, t storage.Task) int {
	if l.cfg.MaxAge <= 0 {
		return 0
	}
	run := &l.Engine.run
	results, err := l.store.Cached(ctx, t.URL, run.Provider, l.cfg.Identity, now.Add(-l.cfg.MaxAge))
	if err != nil || len(results) == 0 {
		return 0 // it is fetched instead
	}
	for i := range results {
		results[i].Task, results[i].Cached, results[i].Credits = t.ID, true, 0 // this run pays nothing for it
	}
	tx := storage.Tx{
		Run:     run.ID,
		Tasks:   []storage.TaskChange{{ID: t.ID, State: storage.TaskAccepted, Tries: t.Tries, Attempts: t.Attempts, FirstTryAt: t.FirstTryAt}},
		Results: results,
		Totals:  storage.Totals{Cached: 1},
	}
	written := make(chan error, 1)
	l.store.Write(tx, func(err error) { written <- err })
	if err := <-written; err != nil {
		l.inbox.post(lost{err})
		return 0
	}
	return len(results)
}

// refilled counts what needs no call and hands the rest to the core.
func (l *loop) refilled(r core.Refilled) {
	for _, x := range r.Reused {
		l.tally.Accept(x.Domain, x.Records)
		l.ages.remove(x.Created)
		l.picture.records += int64(x.Records)
	}
	l.picture.cached += int64(len(r.Reused))
	l.step(r)
}

// seePauses looks for what other processes paused or resumed.
func (l *loop) seePauses() {
	l.looking = true
	ctx := l.ctx
	l.spawn(func() {
		p, err := l.store.Pauses(ctx)
		l.inbox.post(pausesRead{p, err})
	})
}

// pausesRead carries out the difference to what was known.
func (l *loop) pausesRead(r pausesRead) {
	l.looking = false
	l.nextSee = time.Now().Add(pausesEvery)
	if r.err != nil {
		// A look that failed changes nothing; the next comes soon. Told once, not twice a second.
		if l.ctx.Err() == nil && !l.blind {
			l.blind = true
			l.event("warn", "global", "", "pauses of other processes cannot be read: "+r.err.Error(), 0)
			l.flush(time.Now())
		}
		return
	}
	l.blind = false
	seen := map[[2]string]bool{}
	for _, p := range r.pauses {
		key := [2]string{p.Scope, p.Key}
		seen[key] = true
		if !l.pauses[key] {
			l.pauses[key] = true
			l.picture.paused(p)
			l.step(core.Asked{Verb: "pause", Scope: budget.Scope(p.Scope), Key: p.Key})
		}
	}
	for key := range l.pauses {
		if !seen[key] {
			delete(l.pauses, key)
			l.picture.resumed(key[0], key[1])
			l.step(core.Asked{Verb: "resume", Scope: budget.Scope(key[0]), Key: key[1]})
		}
	}
}

// setPause carries out a pause or its end at once and keeps it, so that other processes and later ones obey it.
func (l *loop) setPause(c Command) {
	key := [2]string{c.Scope, c.Key}
	on := c.Verb == Pause
	now := time.Now()
	verb, text := "resume", "resumed by you"
	p := storage.Pause{Scope: c.Scope, Key: c.Key, Cause: "by you", Source: "dashboard", SetAt: now}
	if on {
		verb, text = "pause", "paused by you: what is in flight finishes"
		l.pauses[key] = true
		l.picture.paused(p)
	} else {
		delete(l.pauses, key)
		l.picture.resumed(c.Scope, c.Key)
	}
	l.event("info", c.Scope, c.Key, text, 0)
	l.step(core.Asked{Verb: verb, Scope: budget.Scope(c.Scope), Key: c.Key})
	// Until this is written a look at the table would undo it.
	l.looking = true
	ctx := l.ctx
	l.spawn(func() {
		var err error
		if on {
			err = l.store.SetPause(ctx, p)
		} else {
			_, err = l.store.ClearPause(ctx, c.Scope, c.Key)
		}
		if err != nil {
			l.inbox.post(pausesRead{err: err})
			return
		}
		pauses, err := l.store.Pauses(ctx)
		l.inbox.post(pausesRead{pauses, err})
	})
}
