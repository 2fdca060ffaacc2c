package engine

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"dev.scrapetop/engine/core"
	"dev.scrapetop/engine/frontier"
	"dev.scrapetop/storage"
)

// What a person does to single tasks changes rows in storage and what the core holds of them. Each act borrows the tasks of the
// loop, changes the rows, and returns them with what became of them; once the run is over there is nobody to borrow them of. All
// of them wait for storage and may be called from any goroutine.

// lending asks the loop for tasks. The answer are those that are lent; the others are at work.
type lending struct {
	tasks  []int64
	cancel bool
	lent   chan []int64 // buffered
}

// returned gives them back.
type returned struct {
	core.Returned
	now   []time.Time // when the tasks of Changes were created
	event storage.Event
}

// waiting is by how many tasks more wait now.
func (r *returned) waiting() (n int64) {
	for _, c := range r.Changes {
		if c.From == core.Pending {
			n--
		}
		if c.To == core.Pending {
			n++
		}
	}
	return n
}

// borrow takes tasks from the loop. It returns those that are not at work, and how to give them back.
func (e *Engine) borrow(ctx context.Context, tasks []int64, cancel bool) (lent []int64, giveBack func(returned), err error) {
	select {
	case <-e.ready:
	case <-e.over:
		return tasks, e.tellOver, nil
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	m := lending{tasks: slices.Clone(tasks), cancel: cancel, lent: make(chan []int64, 1)}
	e.inbox.post(m)
	select {
	case lent = <-m.lent: // at once: the loop never waits
	case <-e.over:
		return tasks, e.tellOver, nil
	}
	return lent, func(r returned) {
		r.Tasks = lent
		e.inbox.post(r)
	}, nil
}

// tellOver writes the event of an act on a run that is over.
func (e *Engine) tellOver(r returned) {
	if r.event.Text != "" {
		r.event.At = time.Now()
		e.store.Write(storage.Tx{Run: e.run.ID, Events: []storage.Event{r.event}}, nil)
	}
}

// lend answers a lending.
func (l *loop) lend(m lending) {
	l.step(core.Lent{Tasks: m.tasks, Cancel: m.cancel})
	m.lent <- slices.DeleteFunc(m.tasks, l.m.AtWork)
}

// returned lets tasks go on after an act, and tells of it.
func (l *loop) returned(r returned) {
	for i, c := range r.Changes {
		switch {
		case c.From == core.Pending:
			l.ages.remove(r.now[i])
		case c.To == core.Pending:
			l.ages.add(r.now[i], 1)
		}
	}
	if e := r.event; e.Text != "" {
		l.event(e.Level, e.Scope, e.Key, e.Text, e.Task)
	}
	l.step(r.Returned)
	l.publish(time.Now(), true)
}

// tell is the event of an act: about its one task, or about the run.
func (r *returned) tell(domains []string, tasks []int64, one, many string) {
	switch {
	case len(tasks) == 1:
		r.event = storage.Event{Level: "info", Scope: "domain", Key: domains[0], Text: one, Task: tasks[0]}
	case len(tasks) > 1:
		r.event = storage.Event{Level: "info", Scope: "global", Text: strconv.Itoa(len(tasks)) + many}
	}
}

func (r *returned) change(now time.Time, task int64, domain string, from, to core.State) {
	r.Changes = append(r.Changes, core.Change{Task: task, Domain: domain, From: from, To: to})
	r.now = append(r.now, now)
}

// Cancelled is what came of cancelling tasks.
type Cancelled struct {
	Tasks int64 // that are cancelled now
	// AtWork are those in flight or at the platform. What direct fetches is broken off; what a platform works on and is paid for is
	// taken if it is accepted, and not tried again otherwise.
	AtWork int64
}

// Cancel calls tasks of the run off: those that wait, are dead, are in flight or at the platform. Those that ended otherwise are
// passed over.
func (e *Engine) Cancel(ctx context.Context, tasks []int64) (Cancelled, error) {
	lent, giveBack, err := e.borrow(ctx, tasks, true)
	if err != nil {
		return Cancelled{}, err
	}
	atWork := slices.DeleteFunc(slices.Clone(tasks), func(id int64) bool { return slices.Contains(lent, id) })
	were, err := e.store.Cancel(ctx, e.run.ID, lent)
	var r returned
	var domains []string
	var ids []int64
	for i := range were {
		from := core.Pending
		if were[i].State == storage.TaskDead {
			from = core.Dead
		}
		r.change(were[i].CreatedAt, were[i].ID, were[i].Domain, from, core.Cancelled)
		domains, ids = append(domains, were[i].Domain), append(ids, were[i].ID)
	}
	if len(ids) == 0 && len(atWork) == 1 {
		r.event = storage.Event{Level: "info", Scope: "global", Text: "cancelled by you while it was under way: it is not tried again", Task: atWork[0]}
	} else {
		r.tell(domains, ids, "cancelled by you", " tasks were cancelled by you")
		if n := len(atWork); n > 0 && len(ids) > 0 {
			r.event.Text += fmt.Sprintf(", and %d under way are not tried again", n)
		} else if n > 0 {
			r.event = storage.Event{Level: "info", Scope: "global", Text: fmt.Sprintf("%d tasks were cancelled by you while they were under way: they are not tried again", n)}
		}
	}
	giveBack(r)
	return Cancelled{Tasks: int64(len(were)), AtWork: int64(len(atWork))}, err
}

// RetryNow ends the backoff of tasks of the run and places them before the others of their domains; it returns how many waited.
// Cooldowns, pauses and ceilings hold them like any other.
func (e *Engine) RetryNow(ctx context.Context, tasks []int64) (int64, error) {
	lent, giveBack, err := e.borrow(ctx, tasks, false)
	if err != nil {
		return 0, err
	}
	waiting, err := e.store.RetryNow(ctx, e.run.ID, lent)
	var r returned
	var domains []string
	var ids []int64
	now := time.Now()
	for _, t := range waiting {
		r.Next = append(r.Next, e.taskOf(now, t))
		domains, ids = append(domains, t.Domain), append(ids, t.ID)
	}
	r.tell(domains, ids, "is tried next: you ended its backoff", " tasks are tried next: you ended their backoff")
	giveBack(r)
	return int64(len(waiting)), err
}

// Requeue makes dead letters of the run pending again and returns those that were dead. With hold they wait that long, so that
// Bury within it is exact. A run that is going starts them as it does any other; one that is over has them for its resume.
func (e *Engine) Requeue(ctx context.Context, tasks []int64, hold time.Duration) ([]storage.Letter, error) {
	lent, giveBack, err := e.borrow(ctx, tasks, false)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	until := time.Time{}
	if hold > 0 {
		until = now.Add(hold)
	}
	letters, err := e.store.RequeueTasks(ctx, e.run.ID, lent, until)
	var r returned
	domains, ids := r.letters(now, letters, core.Dead, core.Pending)
	r.tell(domains, ids, "queued again by you", " dead letters were queued again by you")
	giveBack(r)
	if err != nil {
		err = fmt.Errorf("requeue dead letters of run %d: %w", e.run.ID, err)
	}
	return letters, err
}

// Bury undoes a Requeue for those that were not tried since, and returns how many.
func (e *Engine) Bury(ctx context.Context, letters []storage.Letter) (int64, error) {
	tasks := make([]int64, len(letters))
	for i := range letters {
		tasks[i] = letters[i].ID
	}
	lent, giveBack, err := e.borrow(ctx, tasks, false)
	if err != nil {
		return 0, err
	}
	still := slices.DeleteFunc(slices.Clone(letters), func(l storage.Letter) bool { return !slices.Contains(lent, l.ID) })
	buried, err := e.store.Bury(ctx, e.run.ID, still)
	var r returned
	domains, ids := r.letters(time.Now(), buried, core.Pending, core.Dead)
	r.tell(domains, ids, "dead again: you took the requeueing back", " dead letters are dead again: you took the requeueing back")
	giveBack(r)
	if err != nil {
		err = fmt.Errorf("take the requeueing of dead letters of run %d back: %w", e.run.ID, err)
	}
	return int64(len(buried)), err
}

// letters notes what became of dead letters.
func (r *returned) letters(now time.Time, letters []storage.Letter, from, to core.State) (domains []string, ids []int64) {
	for i := range letters {
		r.change(now, letters[i].ID, letters[i].Domain, from, to)
		domains, ids = append(domains, letters[i].Domain), append(ids, letters[i].ID)
	}
	return domains, ids
}

// taskOf turns a stored task into one the core schedules.
func (e *Engine) taskOf(now time.Time, t storage.Task) frontier.Task {
	f := frontier.Task{
		ID: t.ID, URL: t.URL, Own: t.URL, Home: t.Domain, Domain: t.Domain, Tenant: t.Tenant, Priority: t.Priority, Tries: t.Tries,
		Attempts: t.Attempts, Invalids: t.Invalids, Hops: t.Hops, Created: monotonic(now, t.CreatedAt), FirstTry: monotonic(now, t.FirstTryAt),
		Unknowns: t.Unknowns,
	}
	if t.HopURL != "" {
		f.Hop, f.URL = true, t.HopURL
	}
	return f
}
