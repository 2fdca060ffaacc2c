package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"sync"
	"time"

	"dev.scrapetop/engine/view"
	"dev.scrapetop/storage"
)

const (
	// storedEvery is how often a run that this process does not drive is looked at.
	storedEvery = time.Second
	// storedShare is how much of the time may be spent on counting its domains: one part of so many.
	storedShare = 10
	// storedEvents is how many of its newest events are shown.
	storedEvents = 200
)

// Stored shows a run that this process does not drive, as the database has it: one that ended, or one that another process is
// driving, whose progress it follows. It never fetches. Its methods may be called from any goroutine.
type Stored struct {
	store *storage.Store
	write func(context.Context) (*storage.Store, error)
	asked chan Command
	model *view.Model
	ended sync.WaitGroup
	stop  context.CancelFunc

	// Of the goroutine that looks.
	run     storage.Run
	event   int64 // id of the newest event shown
	domains map[string]view.DomainInput
	held    map[string]bool // domains that were held at the last look
	counts  view.Counts
	counted storage.Run   // as of which domains were counted
	at      time.Time     // when that was
	took    time.Duration // how long that took
	fault   string
}

// Watch opens a run of the database for looking. Close ends it. write opens the same database for writing; it is called for
// each pause that somebody asks for, and what it opens is closed again.
func Watch(ctx context.Context, store *storage.Store, run int64, write func(context.Context) (*storage.Store, error)) (*Stored, error) {
	r, err := store.Run(ctx, run)
	if err != nil {
		return nil, err
	}
	t := &r.Totals
	s := &Stored{
		store: store, write: write, asked: make(chan Command, 64), run: r, domains: map[string]view.DomainInput{},
		model: view.New(view.Options{Limited: view.ByLayer{Account: t.Account, Rate: t.Rate, Pending: t.PendingJobs, Target: t.Target, Busy: t.Busy}}),
	}
	if err := s.look(ctx, time.Now(), false); err != nil {
		return nil, err
	}
	ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.ended.Go(func() { s.follow(ctx) })
	return s, nil
}

// Close ends the looking and waits for it.
func (s *Stored) Close() {
	s.stop()
	s.ended.Wait()
}

// Frame answers a screen's question from what was read last. It never waits for the database.
func (s *Stored) Frame(q view.Query) *view.Frame { return s.model.Frame(q) }

// Do carries out Pause and Resume: they are written to the database, where the process that drives the run finds them within a
// second. Every other command needs that process.
func (s *Stored) Do(c Command) {
	if c.Verb != Pause && c.Verb != Resume {
		return
	}
	select {
	case s.asked <- c:
	default: // somebody leans on the key: the screen says that it is not confirmed
	}
}

// hold writes a pause, or its end.
func (s *Stored) hold(ctx context.Context, c Command) error {
	st, err := s.write(ctx)
	if err != nil {
		return err
	}
	if c.Verb == Pause {
		err = st.SetPause(ctx, storage.Pause{Scope: c.Scope, Key: c.Key, Cause: "user", Source: "dashboard"})
	} else {
		_, err = st.ClearPause(ctx, c.Scope, c.Key)
	}
	return errors.Join(err, st.Close())
}

func (s *Stored) follow(ctx context.Context) {
	next := time.NewTimer(0)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case c := <-s.asked:
			if err := s.hold(ctx, c); err != nil && ctx.Err() == nil {
				s.failed(fmt.Errorf("%s %s %s: %w", c.Verb, c.Scope, c.Key, err))
			}
		case <-next.C:
		}
		if err := s.look(ctx, time.Now(), true); err != nil && ctx.Err() == nil {
			s.failed(err)
		}
		next.Reset(storedEvery)
	}
}

// failed says once what is wrong with the database. Reading is tried again.
func (s *Stored) failed(err error) {
	if s.fault == err.Error() {
		return
	}
	s.fault = err.Error()
	d := s.delta(time.Now())
	d.Alerts = []view.Alert{{At: d.At, Level: "error", Text: "the database: " + s.fault}}
	s.model.Update(d)
}

// look reads the run and hands over what is new. With whole also its domains, if they are due.
func (s *Stored) look(ctx context.Context, now time.Time, whole bool) error {
	before := s.run
	r, err := s.store.Run(ctx, s.run.ID)
	if err != nil {
		return err
	}
	events, err := s.store.NewestEvents(ctx, r.ID, s.event, storedEvents)
	if err != nil {
		return err
	}
	whole = whole && s.due(now, r)
	if whole {
		if err := s.count(ctx, r); err != nil {
			return err
		}
		s.counted, s.at, s.took = r, now, time.Since(now)
	}
	holds, err := s.holds(ctx)
	if err != nil {
		return err
	}
	s.run = r
	d := s.delta(now)
	d.Domains, d.Budgets = s.rows(holds, now, whole), holds.budgets(now)
	for _, e := range events {
		d.Events = append(d.Events, view.EventRow{At: e.At, Level: e.Level, Scope: e.Scope, Key: e.Key, Text: e.Text, Task: e.Task})
		s.event = max(s.event, e.ID)
	}
	d.Tally = progressed(s.model.Tally(), before, r)
	s.fault = ""
	s.model.Update(d)
	return nil
}

// due reports that the domains must be counted again: something changed, and counting has not taken too much of the time.
func (s *Stored) due(now time.Time, r storage.Run) bool {
	if s.at.IsZero() {
		return true
	}
	c := &s.counted
	same := c.State == r.State && c.Tasks == r.Tasks && c.Accepted == r.Accepted && c.Dead == r.Dead && c.Attempts == r.Attempts
	return !same && now.Sub(s.at) >= max(storedEvery, storedShare*s.took)
}

// delta is the run as it was read last.
func (s *Stored) delta(now time.Time) view.Delta {
	r, t := &s.run, &s.run.Totals
	d := view.Delta{
		At: now, Live: r.State == storage.RunRunning || r.State == storage.RunDraining,
		Run:      view.Run{ID: r.ID, Name: r.Name, Provider: r.Provider, State: string(r.State), Reason: r.Reason, Started: r.StartedAt, Elapsed: t.Elapsed},
		InFlight: int(s.counts.InFlight), Counts: s.counts,
	}
	c := &d.Counts
	c.Tasks, c.Accepted, c.Dead, c.Records = r.Tasks, r.Accepted, r.Dead, r.Accepted
	if s.at.IsZero() {
		c.Pending = r.Pending // of which state each is comes with the domains
	}
	c.Cached, c.Duplicates, c.Skipped, c.Requests, c.Retries, c.Attempts = t.Cached, t.Duplicates, t.Skipped, t.Requests, t.Retries, r.Attempts
	c.Credits, c.Bytes = t.Credits, t.Bytes
	return d
}

// count reads the domains.
func (s *Stored) count(ctx context.Context, r storage.Run) error {
	totals, err := s.store.DomainTotals(ctx, r.ID)
	if err != nil {
		return err
	}
	s.counts = view.Counts{}
	for i := range totals {
		t := &totals[i]
		s.counts.Pending += t.Pending
		s.counts.Delayed += t.Delayed
		s.counts.InFlight += t.InFlight
		s.counts.Remote += t.Remote
		s.counts.Cancelled += t.Cancelled
		in := view.DomainInput{
			Domain: t.Domain, InFlight: int(t.InFlight), Queue: t.Pending + t.Delayed, Oldest: t.Oldest, Accepted: t.Accepted, Dead: t.Dead, LastAt: t.Updated,
			State: view.StateIdle,
		}
		if refused := (view.ByLayer{Account: t.Account, Rate: t.Rate, Pending: t.PendingJobs, Target: t.Target, Busy: t.Busy}); refused != (view.ByLayer{}) {
			in.Limited = &refused
		}
		switch {
		case t.InFlight+t.Remote > 0:
			in.State = view.StateRun
		case in.Queue == 0:
			in.State = view.StateDone
		}
		s.domains[t.Domain] = in
	}
	return nil
}

// holds are the cooldowns and pauses in force, by scope and key.
type holds struct {
	cooldowns map[[2]string]storage.Cooldown
	pauses    map[[2]string]storage.Pause
}

func (s *Stored) holds(ctx context.Context) (holds, error) {
	h := holds{map[[2]string]storage.Cooldown{}, map[[2]string]storage.Pause{}}
	cooldowns, err := s.store.Cooldowns(ctx)
	if err != nil {
		return h, err
	}
	pauses, err := s.store.Pauses(ctx)
	if err != nil {
		return h, err
	}
	for _, c := range cooldowns {
		h.cooldowns[[2]string{c.Scope, c.Key}] = c
	}
	for _, p := range pauses {
		h.pauses[[2]string{p.Scope, p.Key}] = p
	}
	return h, nil
}

// rows are the domains that may have changed, with what holds them: all of them, or those that are held or were.
func (s *Stored) rows(h holds, now time.Time, whole bool) []view.DomainInput {
	before := s.held
	s.held = map[string]bool{}
	for _, keys := range [...]iter.Seq[[2]string]{maps.Keys(h.cooldowns), maps.Keys(h.pauses)} {
		for key := range keys {
			if key[0] == "domain" {
				s.held[key[1]] = true
			}
		}
	}
	var rows []view.DomainInput
	add := func(name string) {
		if in, ok := s.domains[name]; ok {
			rows = append(rows, h.hold(in, now))
		}
	}
	if whole {
		for name := range s.domains {
			add(name)
		}
		return rows
	}
	for name := range s.held {
		add(name)
	}
	for name := range before {
		if !s.held[name] {
			add(name)
		}
	}
	return rows
}

// hold is a domain with what holds it.
func (h holds) hold(in view.DomainInput, now time.Time) view.DomainInput {
	key := [2]string{"domain", in.Domain}
	if p, ok := h.pauses[key]; ok {
		in.State, in.Paused, in.Cause = view.StatePause, p.SetAt, p.Cause
	} else if c, ok := h.cooldowns[key]; ok && c.Until.After(now) && in.State != view.StateDone {
		in.State, in.Until, in.Full, in.Cause = view.StateCool, c.Until, c.Full, c.Cause
	}
	return in
}

// budgets are the holds that are no domain's.
func (h holds) budgets(now time.Time) []view.BudgetRow {
	var rows []view.BudgetRow
	for key, c := range h.cooldowns {
		if key[0] != "domain" && c.Until.After(now) {
			rows = append(rows, view.BudgetRow{Scope: c.Scope, Key: c.Key, State: view.StateCool, Until: c.Until, Full: c.Full, Cause: c.Cause})
		}
	}
	for key, p := range h.pauses {
		if key[0] != "domain" {
			rows = append(rows, view.BudgetRow{Scope: p.Scope, Key: p.Key, State: view.StatePause, Cause: p.Cause})
		}
	}
	sortBudgets(rows)
	return rows
}

// progressed counts what a run that another process drives did between two looks.
func progressed(t *view.Tally, before, now storage.Run) *view.Tally {
	for range now.Accepted - before.Accepted {
		t.Count(view.Answer{Outcome: "accepted"})
		t.Accept("", 1)
	}
	for range now.Dead - before.Dead {
		t.Bury("")
	}
	for _, l := range []struct {
		outcome, layer string
		n              int64
	}{
		{"limited", "account", now.Totals.Account - before.Totals.Account},
		{"limited", "rate", now.Totals.Rate - before.Totals.Rate},
		{"limited", "pending", now.Totals.PendingJobs - before.Totals.PendingJobs},
		{"limited", "target", now.Totals.Target - before.Totals.Target},
		{"busy", "", now.Totals.Busy - before.Totals.Busy},
	} {
		for range l.n {
			t.Count(view.Answer{Outcome: l.outcome, Layer: l.layer})
		}
	}
	return t
}
