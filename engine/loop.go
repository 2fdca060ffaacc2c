package engine

import (
	"context"
	"fmt"
	"time"

	"dev.scrapetop/engine/budget"
	"dev.scrapetop/engine/core"
	"dev.scrapetop/engine/lease"
	"dev.scrapetop/engine/provider"
	"dev.scrapetop/engine/view"
	"dev.scrapetop/storage"
)

const (
	// storageFull is how much may wait to be written before nothing new starts, storageEased how little before it goes on.
	storageFull  = 32 << 20
	storageEased = 16 << 20
	// markAfter is how long a call must be in flight before its tasks are written as such: quicker ones would only be
	// written twice, and a claim of ours that was never written is pending already.
	markAfter = 100 * time.Millisecond
	// pausesEvery is how often pauses of other processes are looked for.
	pausesEvery = 500 * time.Millisecond
	// totalsEvery is how often the active time is written when nothing else is.
	totalsEvery = 5 * time.Second
)

// loop is the one goroutine that calls the core. Only it touches the fields below.
type loop struct {
	*Engine
	m      *core.Machine
	ctx    context.Context // ends when the calls in flight are abandoned
	cancel context.CancelFunc

	callers   callers
	flight    map[uint64]*flying
	current   *outcome // whose actions are being carried out
	batch     batch
	written   core.Counts // counters already handed to storage
	bytes     int64
	skips     int64
	started   time.Time       // of this drive
	tallied   time.Time       // up to when the active time was written
	marked    time.Time       // when calls in flight were last marked
	refused   map[string]bool // domains whose budgets learned since they were last written
	known     *memory         // what earlier runs left
	learnedAt time.Time
	unseen    map[string]storage.Unseen // what exchanges of before the start may have cost, until they are settled
	looking   bool                      // pauses are being read
	blind     bool                      // the last reading failed
	busy      time.Time                 // when something was last in flight
	pauses    map[[2]string]bool
	nextSee   time.Time // when pauses are read next
	full      bool
	ending    *core.Ending
	unheard   []any // what arrived behind the end
	failed    error
	inputs    int // that are being read
	pausedAt  time.Time
	drainBy   time.Time
	sleep     sleepWatch

	near    neighbours
	tally   *view.Tally
	picture picture
	ages    ages
	pending int // transactions not yet committed
}

// flying is a call in flight.
type flying struct {
	call   *core.Call
	since  time.Time
	marked bool               // its tasks are written as in flight
	sent   bool               // its bytes may have left
	cancel context.CancelFunc // breaks it off; nil before it is sent
}

func newLoop(e *Engine) *loop {
	return &loop{Engine: e, callers: make(callers), flight: map[uint64]*flying{}, pauses: map[[2]string]bool{}, refused: map[string]bool{}, inputs: 1, tally: &view.Tally{}}
}

// run feeds the core until the run is over and everything is on disk.
func (l *loop) run(ctx context.Context) (Ending, error) {
	defer l.cancel()
	timer := time.NewTimer(0)
	defer timer.Stop()
	var list []any
	cancelled, abandoned := ctx.Done(), false
	for l.ending == nil {
		select {
		case <-l.inbox.bell:
		case <-timer.C:
		case <-cancelled:
			cancelled, abandoned = nil, true
		}
		list = l.inbox.take(list)
		for i, m := range list {
			c, _ := m.(Command)
			switch {
			case c.Verb == Abandon:
				abandoned = true // what has come back is taken first
			case l.ending == nil:
				l.handle(m)
			default:
				l.unheard = append(l.unheard, m)
			}
			list[i] = nil
		}
		if abandoned && l.ending == nil {
			l.command(Command{Verb: Abandon})
		}
		l.tick()
		l.report(time.Now())
		timer.Reset(l.untilNext())
	}
	return l.finish()
}

// handle takes one message.
func (l *loop) handle(m any) {
	switch m := m.(type) {
	case *outcome:
		l.replied(m)
	case committed:
		l.committed(m)
	case fed:
		l.fed(m)
	case lending:
		l.lend(m)
	case returned:
		l.returned(m)
	case skipped:
		l.skips += m.n
		l.batch.totals.Skipped += m.n
		l.batch.dirty = true
	case Command:
		l.command(m)
	case pausesRead:
		l.pausesRead(m)
	case lease.News:
		l.hear(m)
	case lost:
		l.giveUp(m.err)
	case core.Refilled:
		l.refilled(m)
	case joining:
		l.join(m)
	case joined:
		l.joined(m)
	case core.InputEnded:
		l.inputs--
		l.step(m)
	default:
		l.step(m)
	}
}

// step gives the core an event and carries out what it asks for.
func (l *loop) step(ev core.Event) {
	now := time.Now()
	acts := l.m.Step(now, ev)
	if _, idle := ev.(core.Tick); !idle || len(acts) > 0 {
		l.near.changed = true
	}
	for _, a := range acts {
		l.act(now, a)
	}
	l.flush(now)
}

// tick does what is due by time alone.
func (l *loop) tick() {
	now := time.Now()
	if gap := l.sleep.slept(now); gap > 0 {
		l.event("warn", "", "", fmt.Sprintf("the machine slept for %s: cooldowns are shortened by it", gap.Round(time.Second)), 0)
		l.step(core.Suspended{For: gap})
	}
	l.step(core.Tick{})
	bytes, _ := l.store.Backlog()
	if !l.full && bytes > storageFull || l.full && bytes < storageEased {
		l.full = !l.full
		l.step(core.Backpressure{Full: l.full})
	}
	if d := l.cfg.RunDeadline; d > 0 && l.drainBy.IsZero() && l.active(now) >= d {
		reason := "the run's deadline passed"
		if at, ok := l.m.WakeAt(); ok && at.After(now) {
			reason += "; the earliest wake-up was " + at.UTC().Format(time.RFC3339)
		}
		l.drain(reason)
	}
	l.markFlying(now)
	if now.Sub(l.learnedAt) >= learnedEvery {
		l.keepLearned(now, false)
		l.flush(now)
	}
	if now.Sub(l.tallied) >= totalsEvery {
		l.batch.dirty = true
		l.flush(now)
	}
	if !l.looking && !now.Before(l.nextSee) {
		l.seePauses()
	}
	l.publish(now, false)
}

// active is how long the run has been driven, earlier drives included.
func (l *loop) active(now time.Time) time.Duration { return l.picture.elapsed + now.Sub(l.started) }

// untilNext is how long the loop may sleep.
func (l *loop) untilNext() time.Duration {
	now := time.Now()
	next := l.nextSee
	if at, ok := l.m.WakeAt(); ok && at.Before(next) {
		next = at
	}
	if at := l.picture.due(time.Unix(0, l.looked.Load())); at.Before(next) {
		next = at
	}
	if d := l.cfg.RunDeadline; d > 0 && l.drainBy.IsZero() {
		if at := now.Add(d - l.active(now)); at.Before(next) {
			next = at
		}
	}
	if at, due := l.reportDue(); due && at.Before(next) {
		next = at
	}
	if len(l.flight) > 0 {
		if at := l.marked.Add(markAfter); at.Before(next) {
			next = at
		}
	}
	return max(next.Sub(now), 0)
}

// act carries out one action of the core's.
func (l *loop) act(now time.Time, a core.Action) {
	switch a.Do {
	case core.Send:
		l.flight[a.Call.ID] = &flying{call: a.Call, since: now}
		if a.Intent {
			l.intend(now, a.Call)
			return
		}
		l.send(a.Call)
	case core.Store:
		l.keep(now, a)
	case core.Refill:
		l.refill(a.Wants)
	case core.Cooled:
		l.batch.cool(a.Cool, now)
		l.tellCooled(now, a.Cool)
		if a.Cool.Scope == budget.Domain {
			l.refused[a.Cool.Key] = true
		}
	case core.Tell:
		l.event(a.Event.Level, string(a.Event.Scope), a.Event.Key, a.Event.Text, a.Event.Task)
	case core.LookupDone:
		l.lookupDone(a)
	case core.Keep:
		l.keepJob(a)
	case core.Unpriced:
		l.batch.unseen = append(l.batch.unseen, storage.Unseen{Tenant: a.Tenant, Tasks: a.Unpriced})
		l.batch.dirty = true
	case core.CallOff:
		if f := l.flight[a.Call.ID]; f != nil && f.cancel != nil {
			f.cancel()
		}
	case core.Settle:
		id := a.Exchange
		if a.Call != nil {
			id = l.exchangeID(a.Call)
		}
		l.settle(id)
	case core.Ended:
		end := a.End
		l.ending = &end
	}
}

// send has a call carried out.
func (l *loop) send(c *core.Call) {
	ctx, cancel := context.WithCancel(l.ctx)
	if f := l.flight[c.ID]; f != nil {
		f.sent, f.cancel = true, cancel
	}
	l.call(errand{ctx, cancel, c})
}

// replied gives the core what a call brought.
func (l *loop) replied(o *outcome) {
	delete(l.flight, o.Call.ID)
	l.current = o
	defer func() { l.current = nil }()
	l.bytes += o.response.Bytes
	l.batch.totals.Bytes += o.response.Bytes
	l.batch.totals.Requests += o.hops
	if o.robots != nil {
		l.step(core.RobotsRead{Call: o.Call, Rules: o.robots.rules, Delay: o.robots.delay})
	}
	l.step(&o.Replied)
}

// committed tells the core what is on disk.
func (l *loop) committed(c committed) {
	l.pending--
	if c.err != nil {
		for _, call := range c.sends {
			delete(l.flight, call.ID)
			l.step(core.NotSent{Call: call})
		}
		l.giveUp(c.err)
		return
	}
	for _, call := range c.sends {
		l.send(call)
	}
	for _, call := range c.calls {
		l.count(call)
		l.step(core.Stored{Call: call})
	}
}

// giveUp ends the run because it cannot go on: nothing that was not committed counts.
func (l *loop) giveUp(err error) {
	if l.failed != nil {
		return
	}
	l.failed = err
	l.picture.storageError = err.Error()
	l.step(core.Draining{Reason: err.Error(), Abandon: true})
}

// lookupDone answers whoever waits for a document: with its response, or with why it was given up.
func (l *loop) lookupDone(a core.Action) {
	r := provider.Response{Fault: provider.FaultCancelled, Error: a.Event.Text}
	if l.current != nil && l.current.Call == a.Call {
		r = l.current.response
	}
	l.answered(a.Call.LookupID, r)
}

func (l *loop) fed(f fed) {
	q := core.Queued{Domains: make([]core.DomainCount, len(f.Domains))}
	for i, d := range f.Domains {
		q.Domains[i] = core.DomainCount{Domain: d.Domain, N: d.Waiting, Oldest: d.Oldest}
		l.ages.add(d.Oldest, d.Waiting)
	}
	l.picture.duplicates += f.Duplicates
	l.picture.tasks += f.Added
	l.step(q)
}

// finish writes what is left and gives the run back.
func (l *loop) finish() (Ending, error) {
	l.cancel()
	l.dismiss()
	now := time.Now()
	end := Ending{State: storage.RunState(l.ending.State), Reason: l.ending.Reason}
	if l.failed != nil {
		end.State, end.Reason = storage.RunFailed, l.failed.Error()
	}
	l.returnFlying()
	l.keepLearned(now, true)
	l.batch.state, l.batch.reason = end.State, end.Reason
	l.batch.finished = now
	l.batch.dirty = true
	l.event(levelOf(end.State), "global", "", "the run "+string(end.State)+suffix(end.Reason), 0)
	l.flush(now)
	// What is being written must be on disk, or have failed, before the run is given back; storage answers either way.
	err := l.store.Sync(context.Background())
	if err == nil {
		err = l.failed
	}
	l.helpers.Wait() // they may be writing still
	l.part()
	more := l.hearRest()
	counts := l.m.Counts()
	end.Dead = counts.Dead
	end.Left = counts.Pending + counts.Delayed + counts.InFlight + counts.Remote + more
	end.Remote = counts.Remote
	end.Expire, _ = l.m.FirstExpiry()
	l.picture.ended = true
	l.publish(now, true)
	if d := l.store.Disown(context.Background()); err == nil {
		err = d
	}
	if err != nil && end.State != storage.RunFailed {
		end.State, end.Reason = storage.RunFailed, err.Error()
	}
	return end, err
}

// hearRest takes over what arrived when the core took no steps any more, and returns by how much more is left to do.
func (l *loop) hearRest() (more int64) {
	for _, m := range append(l.unheard, l.inbox.take(nil)...) {
		switch m := m.(type) {
		case committed:
			if m.err != nil {
				continue
			}
			for _, call := range m.calls {
				l.count(call)
				l.settled(call)
			}
		case fed:
			l.picture.tasks += m.Added
			more += m.Added
		case returned:
			more += m.waiting()
		case joined:
			l.tellOver(returned(m))
		case core.Refilled:
			l.picture.cached += int64(len(m.Reused))
			more -= int64(len(m.Reused))
		}
	}
	return more
}

func levelOf(s storage.RunState) string {
	if s == storage.RunFailed {
		return "error"
	}
	return "info"
}

func suffix(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}
