package engine

import (
	"fmt"
	"strconv"
	"time"

	"dev.scrapetop/engine/core"
	"dev.scrapetop/engine/frontier"
	"dev.scrapetop/engine/limits"
	"dev.scrapetop/engine/provider"
	"dev.scrapetop/engine/view"
	"dev.scrapetop/storage"
)

// batch gathers what one step wants written; it goes out as one transaction.
type batch struct {
	dirty     bool
	tasks     []storage.TaskChange
	attempts  []storage.Attempt
	results   []storage.Result
	intents   []storage.Intent
	settled   []string
	jobs      []storage.RemoteJob
	cooldowns []storage.Cooldown
	learned   []storage.Learned
	events    []storage.Event
	unseen    []storage.Unseen
	totals    storage.Totals
	state     storage.RunState
	reason    string
	finished  time.Time

	calls []*core.Call
	sends []*core.Call
}

func (b *batch) cool(c core.CoolChange, now time.Time) {
	b.dirty = true
	until := c.Until
	b.cooldowns = append(b.cooldowns, storage.Cooldown{Scope: string(c.Scope), Key: c.Key, Until: until, Full: c.Full, Cause: c.Cause, Source: c.Source, SetAt: now})
}

// flush hands the batch to storage.
func (l *loop) flush(now time.Time) {
	b := &l.batch
	counts := l.m.Counts()
	if !b.dirty && counts.Requests == l.written.Requests && counts.Cooldowns == l.written.Cooldowns {
		return
	}
	tx := storage.Tx{
		Run: l.Engine.run.ID, Tasks: b.tasks, Attempts: b.attempts, Results: b.results, Intents: b.intents, Settled: b.settled,
		Jobs: b.jobs, Cooldowns: b.cooldowns, Learned: b.learned, Events: b.events, Unseen: b.unseen, State: b.state, Reason: b.reason, Finished: b.finished, Totals: b.totals,
	}
	was := &l.written
	t := &tx.Totals
	t.Requests += counts.Requests - was.Requests
	t.Retries = counts.Retries - was.Retries
	t.Cooldowns = counts.Cooldowns - was.Cooldowns
	t.Probes = counts.Probes - was.Probes
	t.Account = counts.Account - was.Account
	t.Rate = counts.Rate - was.Rate
	t.PendingJobs = counts.PendingJobs - was.PendingJobs
	t.Target = counts.Target - was.Target
	t.Busy = counts.Busy - was.Busy
	t.Credits = counts.Credits - was.Credits
	t.MaxInFlight = counts.MaxInFlight
	t.Elapsed = now.Sub(l.tallied)
	l.written, l.tallied = counts, now
	calls, sends := b.calls, b.sends
	*b = batch{}
	l.pending++
	inbox := &l.inbox
	l.store.Write(tx, func(err error) { inbox.post(committed{calls: calls, sends: sends, err: err}) })
}

// exchangeID names a call's HTTP exchange, uniquely over all drives of all runs.
func (l *loop) exchangeID(c *core.Call) string { return l.exchange + strconv.FormatUint(c.ID, 36) }

// intend commits what a paid submit, or a destructive collect, is about to do before its bytes leave.
func (l *loop) intend(now time.Time, c *core.Call) {
	b := &l.batch
	b.dirty = true
	in := storage.Intent{Exchange: l.exchangeID(c), Kind: string(c.For), Credential: c.Credential, At: now}
	if c.Job != nil {
		in.Job = c.Job.ID
	}
	for _, t := range c.Tasks {
		in.Tasks = append(in.Tasks, t.ID)
		if c.Job == nil {
			b.tasks = append(b.tasks, change(t, storage.TaskInFlight))
		}
	}
	b.intents = append(b.intents, in)
	b.sends = append(b.sends, c)
	if f := l.flight[c.ID]; f != nil {
		f.marked = true
	}
}

// markFlying writes the tasks of calls that have been in flight for a while.
func (l *loop) markFlying(now time.Time) {
	if now.Sub(l.marked) < markAfter {
		return
	}
	l.marked = now
	for _, f := range l.flight {
		if f.marked || now.Sub(f.since) < markAfter {
			continue
		}
		f.marked = true
		for _, t := range f.call.Tasks {
			if f.call.Job == nil && !t.Lookup {
				l.batch.tasks = append(l.batch.tasks, change(t, storage.TaskInFlight))
				l.batch.dirty = true
			}
		}
	}
	if l.batch.dirty {
		l.flush(now)
	}
}

// returnFlying writes the tasks of abandoned calls as pending; an abandoned paid call that left keeps its intent, since it
// may have been carried out.
func (l *loop) returnFlying() {
	for _, f := range l.flight {
		if f.marked && !f.sent {
			l.batch.settled = append(l.batch.settled, l.exchangeID(f.call))
			l.batch.dirty = true
		}
		for _, t := range f.call.Tasks {
			state := storage.TaskPending
			if t.Cancelled {
				state = storage.TaskCancelled
			}
			if (f.marked || t.Cancelled) && f.call.Job == nil && !t.Lookup {
				l.batch.tasks = append(l.batch.tasks, change(t, state))
				l.batch.dirty = true
			}
		}
	}
}

func change(t *frontier.Task, state storage.TaskState) storage.TaskChange {
	c := storage.TaskChange{ID: t.ID, State: state, Tries: t.Tries, Attempts: t.Attempts, Invalids: t.Invalids, Unknowns: t.Unknowns, FirstTryAt: t.FirstTry}
	if t.Hop {
		c.HopURL, c.Hops = t.URL, t.Hops
	}
	return c
}

// keep writes what a call left: the exchange, each task's new state and the results, in one transaction.
func (l *loop) keep(now time.Time, a core.Action) {
	b := &l.batch
	b.dirty = true
	c := a.Call
	b.calls = append(b.calls, c)
	o := l.current
	if o != nil && o.Call != c {
		o = nil
	}
	for i := range a.Settled {
		s := &a.Settled[i]
		ch := change(s.Task, storage.TaskState(s.State))
		ch.NotBefore, ch.Reason, ch.Error = s.NotBefore, s.Reason, s.Error
		b.tasks = append(b.tasks, ch)
		if o == nil {
			continue
		}
		b.attempts = append(b.attempts, l.attempt(o, s))
		b.results = l.results(b.results, now, o, s)
	}
	if o == nil {
		return
	}
	if len(a.Settled) == 0 {
		b.attempts = append(b.attempts, l.attempt(o, nil))
	}
	if searched := len(a.Settled) > 0 && a.Settled[0].State == core.InFlight; !searched && (c.Job != nil || l.provider.Facts().Paid && c.Kind != provider.Lookup) {
		b.settled = append(b.settled, l.exchangeID(c)) // of a submit that is searched for only when that ended
	}
	l.tallyReply(o, a.Settled)
}

// keepJob writes a remote job as it stands.
func (l *loop) keepJob(a core.Action) {
	j := a.Job
	row := storage.RemoteJob{Job: j.ID, Credential: j.Credential, SubmittedAt: j.Submitted, ExpiresAt: j.Expires, NextPollAt: j.Next, Done: j.Done}
	for _, t := range j.Tasks {
		row.Tasks = append(row.Tasks, t.ID)
	}
	l.batch.dirty = true
	l.batch.jobs = append(l.batch.jobs, row)
}

// attempt builds the record of an exchange for one task; with s nil, of an exchange that served none.
func (l *loop) attempt(o *outcome, s *core.Settled) storage.Attempt {
	c, r, reply := o.Call, &o.response, &o.Reply
	a := storage.Attempt{
		Number: c.Number, Domain: c.Domain, Provider: l.provider.Name(), Credential: c.Credential, Kind: string(c.Kind),
		Exchange: l.exchangeID(c), StartedAt: c.Sent, Elapsed: r.Elapsed, Outcome: string(reply.Outcome), Layer: string(reply.Layer),
		InFlight: c.InFlight, InFlightLimit: c.Limit, Credits: reply.Credits, Bytes: r.Bytes, Error: reply.Error,
	}
	if c.Robots != nil || c.LookupID != 0 { // fetched with the manners of direct
		a.Provider = Direct
	}
	if len(c.Targets) > 0 {
		a.URL = c.Targets[0].URL
	}
	if c.Job != nil {
		a.RemoteJob = c.Job.ID
	} else if reply.Job != "" {
		a.RemoteJob = reply.Job
	}
	signals := []limits.Signal{reply.Signal}
	if r.Status > 0 {
		status := r.Status
		a.HTTPStatus = &status
	}
	if s != nil {
		a.Task, a.Number, a.Tenant, a.Decision = s.Task.ID, s.Number, s.Task.Tenant, s.Decision
		if len(c.Targets) != 1 || c.Domain == "" { // of a single one it stands above: a redirect has moved the task on meanwhile
			a.Domain, a.URL = s.Task.Domain, s.Task.URL
		}
		if s.Error != "" {
			a.Error = s.Error
		}
		if s.Item >= 0 && s.Item < len(reply.Items) {
			item := &reply.Items[s.Item]
			a.Outcome, a.Layer = string(item.Outcome), string(item.Layer)
			a.Credits = item.Credits
			if len(reply.Items) == 1 && a.Credits == 0 {
				a.Credits = reply.Credits
			}
			if item.Target.OK {
				target := item.Target.V
				a.TargetStatus = &target
			}
			if item.Layer == provider.LayerTarget {
				signals = append(signals, item.Signal) // what the target said stands before what the platform did
			}
		}
		if s.Item < 0 && s.State == core.Dead && reply.Outcome == provider.Accepted {
			a.Outcome = string(provider.Failed)
		}
	} else if len(c.Tasks) == 1 && !c.Tasks[0].Lookup {
		a.Task, a.Number, a.Tenant = c.Tasks[0].ID, c.Tasks[0].Attempts, c.Tasks[0].Tenant
	}
	for _, s := range signals {
		fillSignal(&a, s)
	}
	a.Headers, a.BodyKind, a.BodySample = o.headers, o.kind, o.sample
	return a
}

func fillSignal(a *storage.Attempt, s limits.Signal) {
	if s.Wait.OK {
		w := s.Wait.V
		a.RetryAfter = &w
	}
	if s.Limit.OK {
		n := s.Limit.V
		a.QuotaLimit = &n
	}
	if s.Remaining.OK {
		n := s.Remaining.V
		a.Remaining = &n
	}
	if s.Reset.OK {
		d := s.Reset.V
		a.Reset = &d
	}
}

// results appends what an answer brought of a task: its page, or the parts that its job found. What a job of parts cost is
// told of the whole, and stands with the first.
func (l *loop) results(all []storage.Result, now time.Time, o *outcome, s *core.Settled) []storage.Result {
	first := true
	for i := range o.Reply.Items {
		item := &o.Reply.Items[i]
		if item.Task != s.Task.ID || item.Outcome != provider.Accepted {
			continue
		}
		switch {
		case item.Part != "":
			r := l.result(o, s, i)
			if first && s.Item >= 0 {
				r.Credits = o.Reply.Items[s.Item].Credits
			}
			first = false
			all = append(all, r)
		case i == s.Item && s.State == core.Accepted && item.Page != nil:
			all = append(all, l.result(o, s, i))
		}
	}
	return all
}

// result builds a result from one item.
func (l *loop) result(o *outcome, s *core.Settled, index int) storage.Result {
	item := &o.Reply.Items[index]
	res := storage.Result{Task: s.Task.ID, Page: item.Part, FetchedAt: o.response.Received, Elapsed: o.response.Elapsed, Attempts: s.Task.Attempts, Credits: item.Credits}
	if len(o.Reply.Items) == 1 && res.Credits == 0 {
		res.Credits = o.Reply.Credits
	}
	if p := item.Page; p != nil {
		res.FinalURL, res.ContentType, res.Body = p.FinalURL, p.ContentType, p.Body
		if p.Status.OK {
			status := p.Status.V
			res.Status = &status
		}
	}
	if res.FinalURL == "" {
		res.FinalURL = s.Task.URL
	}
	if index < len(o.verdicts) {
		v := &o.verdicts[index]
		res.Fields = v.Fields
		if v.Empty {
			res.Flag = "empty"
		}
	}
	return res
}

// event adds a line to the run's log and to the screens.
func (l *loop) event(level, scope, key, text string, task int64) {
	now := time.Now()
	text = l.redactor.Text(text)
	l.batch.dirty = true
	l.batch.events = append(l.batch.events, storage.Event{At: now, Level: level, Scope: scope, Key: key, Text: text, Task: task})
	l.picture.events = append(l.picture.events, view.EventRow{At: now, Level: level, Scope: scope, Key: key, Text: text, Task: task})
	if level == "error" && scope != "domain" {
		l.picture.alerts = append(l.picture.alerts, view.Alert{At: now, Level: level, Text: fmt.Sprintf("%s %s: %s", scope, key, text)})
	}
}
