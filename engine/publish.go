package engine

import (
	"fmt"
	"sort"
	"time"

	"dev.scrapetop/engine/budget"
	"dev.scrapetop/engine/core"
	"dev.scrapetop/engine/frontier"
	"dev.scrapetop/engine/provider"
	"dev.scrapetop/engine/view"
	"dev.scrapetop/storage"
)

const (
	// frameEvery is how often a picture is handed over while somebody looks, restEvery otherwise: charts need their bins.
	frameEvery = 100 * time.Millisecond
	restEvery  = 5 * time.Second
	// lookedFor is how long after a question somebody counts as looking.
	lookedFor = 2 * time.Second
	// waitingAfter is how long nothing is in flight before the run is said to wait.
	waitingAfter = time.Second
	// headersKept is how many limit headers of a domain's last answer are shown.
	headersKept = 8
)

// picture is what the loop gathers for the read model between two frames.
type picture struct {
	run          view.Run
	tasks        int64
	duplicates   int64
	skipped      int64
	records      int64
	invalid      int64
	cached       int64
	elapsed      time.Duration // of earlier drives
	events       []view.EventRow
	alerts       []view.Alert
	storageError string
	ended        bool
	last         time.Time
	pausedAt     map[[2]string]time.Time
}

func (p *picture) begin(run storage.Run) {
	p.run = view.Run{ID: run.ID, Name: run.Name, Provider: run.Provider, Started: run.StartedAt}
	p.tasks, p.duplicates, p.skipped, p.cached = run.Tasks, run.Totals.Duplicates, run.Totals.Skipped, run.Totals.Cached
	p.records, p.elapsed = run.Accepted, run.Totals.Elapsed
	p.pausedAt = map[[2]string]time.Time{}
}

func (p *picture) paused(x storage.Pause) {
	p.pausedAt[[2]string{x.Scope, x.Key}] = x.SetAt
}

func (p *picture) resumed(scope, key string) { delete(p.pausedAt, [2]string{scope, key}) }

// due is when the next picture is to be handed over.
func (p *picture) due(looked time.Time) time.Time {
	if p.last.Sub(looked) < lookedFor {
		return p.last.Add(frameEvery)
	}
	return p.last.Add(restEvery)
}

// publish hands what changed to the read model: at most ten times a second, or at once after a command.
func (l *loop) publish(now time.Time, force bool) {
	p := &l.picture
	if !force && now.Before(p.due(time.Unix(0, l.looked.Load()))) {
		return
	}
	p.last = now
	in, ceiling := l.m.InFlight()
	oldest, p95 := l.ages.read(now)
	bytes, since := l.store.Backlog()
	d := view.Delta{
		At: now, Live: !p.ended, Run: l.runRow(now), InFlight: in, Ceiling: ceiling, Counts: l.counts(), Budgets: l.budgetRows(now),
		Caps: l.capRows(now), Events: p.events, Alerts: p.alerts, QueueOldest: oldest, QueueP95: p95, Tally: l.tally,
		Health: view.Health{StorageError: p.storageError},
	}
	if bytes > 0 && !since.IsZero() {
		d.Health.StorageLag = now.Sub(since)
	}
	for _, x := range l.m.TakeDirty() {
		d.Domains = append(d.Domains, l.domainRow(now, x))
	}
	p.events, p.alerts = nil, nil
	l.tally = l.model.Tally()
	l.model.Update(d)
}

// runRow is the header.
func (l *loop) runRow(now time.Time) view.Run {
	r := l.picture.run
	r.Elapsed = l.active(now)
	r.PausedAt, r.DrainBy, r.Loading, r.Sharing = l.pausedAt, l.drainBy, l.inputs > 0, l.near.news.Members
	reason, draining := l.m.DrainReason()
	switch {
	case l.ending != nil:
		r.State, r.Reason = l.ending.State, l.ending.Reason
		if l.failed != nil {
			r.State, r.Reason = string(storage.RunFailed), l.failed.Error()
		}
	case draining:
		r.State, r.Reason = string(storage.RunDraining), reason
	case l.m.RunPaused():
		r.State = "paused"
	default:
		r.State = string(storage.RunRunning)
		if in, _ := l.m.InFlight(); in > 0 {
			l.busy = now
		} else if !l.busy.IsZero() && now.Sub(l.busy) > waitingAfter {
			r.State = "waiting"
		}
		if why := l.keyless(); why != "" {
			r.State, r.Reason = "locked out", why
		}
	}
	return r
}

func (l *loop) counts() view.Counts {
	c, p := l.m.Counts(), &l.picture
	return view.Counts{
		Tasks: p.tasks, Pending: c.Pending, Delayed: c.Delayed, InFlight: c.InFlight, Remote: c.Remote, RemoteDone: c.RemoteDone, Accepted: c.Accepted,
		Dead: c.Dead, Cancelled: c.Cancelled,
		Records: p.records, Cached: p.cached, Invalid: p.invalid, Duplicates: p.duplicates, Skipped: p.skipped + l.skips,
		Requests: c.Requests + l.Engine.run.Totals.Requests, Retries: c.Retries + l.Engine.run.Totals.Retries,
		Attempts: c.Attempts + l.Engine.run.Attempts, Held: c.Held, Credits: c.Credits + l.Engine.run.Totals.Credits,
		Bytes: l.bytes + l.Engine.run.Totals.Bytes,
	}
}

// capRows are the user's caps with what is used of them.
func (l *loop) capRows(now time.Time) []view.CapRow {
	var rows []view.CapRow
	requests, credits := l.m.Spent()
	if l.cfg.MaxRequests > 0 {
		rows = append(rows, view.CapRow{Name: "requests", Used: float64(requests), Limit: float64(l.cfg.MaxRequests)})
	}
	if l.cfg.MaxCredits > 0 {
		rows = append(rows, view.CapRow{Name: "credits", Used: credits, Limit: l.cfg.MaxCredits})
	}
	if l.cfg.RunDeadline > 0 {
		rows = append(rows, view.CapRow{Name: "time", Used: l.active(now).Seconds(), Limit: l.cfg.RunDeadline.Seconds()})
	}
	return rows
}

// budgetRows are the budgets that are no domain's.
func (l *loop) budgetRows(now time.Time) []view.BudgetRow {
	var rows []view.BudgetRow
	for _, s := range l.m.Shared() {
		b := s.Budget
		row := view.BudgetRow{
			Scope: string(s.Scope), Key: s.Key, Account: s.Account, State: stateOf(now, b, b.InFlight() > 0, false), InFlight: b.InFlight(), Limit: b.Limit(),
			Others: l.othersUse(s.Scope, s.Key), Stopped: b.StoppedWhy(), Refused: byLayer(s.Refused), FreeJobs: s.FreeJobs, Credits: s.Balance.V, HasCredits: s.Balance.OK, Learned: learnedWords(b),
			Remaining: view.Remaining{Known: s.Has || s.HasLimit, Remaining: s.Remaining, HasLimit: s.HasLimit, Limit: s.Limit, ResetAt: s.Reset, At: s.At, Kind: s.Kind, Asked: !s.At.IsZero()},
		}
		if c := b.Cooldown(); b.State(now) == budget.Cooling {
			row.Until, row.Full, row.Cause, row.Layer, row.Announced, row.FailedProbes = c.Until, c.Full, c.Cause, c.Layer, c.Announced, c.Failed
		}
		rows = append(rows, row)
	}
	sortBudgets(rows)
	return rows
}

func sortBudgets(rows []view.BudgetRow) {
	sort.SliceStable(rows, func(i, j int) bool {
		return rows[i].Scope < rows[j].Scope || rows[i].Scope == rows[j].Scope && rows[i].Key < rows[j].Key
	})
}

func byLayer(r core.Refused) view.ByLayer {
	return view.ByLayer{Account: r.Account, Rate: r.Rate, Pending: r.PendingJobs, Target: r.Target, Busy: r.Busy}
}

// stateOf is the word for what a budget is doing.
func stateOf(now time.Time, b *budget.Budget, busy, done bool) view.State {
	st := b.State(now)
	switch {
	case b.IsPaused():
		return view.StatePause
	case b.StoppedWhy() != "" || b.Cooldown().Hold && (st == budget.Cooling || st == budget.Probing):
		return view.StateBlock
	case st == budget.Cooling || st == budget.Probing:
		if done {
			return view.StateDone
		}
		return view.StateCool
	case done:
		return view.StateDone
	case !busy:
		return view.StateIdle
	case st == budget.Recovering || b.Lowered():
		return view.StateSlow
	}
	return view.StateRun
}

// domainRow is a domain as it stands.
func (l *loop) domainRow(now time.Time, d *frontier.Domain) view.DomainInput {
	b, log := d.Budget, &d.Log
	waiting := d.Waiting()
	open := waiting > 0 || b.InFlight() > 0
	state := stateOf(now, b, open, !open && log.Delayed == 0 && l.inputs <= 0)
	if string(state) != d.Shown {
		d.Shown, d.Since = string(state), now
	}
	in := view.DomainInput{
		Domain: d.Name, State: state, Since: d.Since, InFlight: b.InFlight(), Limit: b.Limit(), LimitWas: b.LimitWas(), PerSecond: b.PerSecond(),
		Queue: waiting + log.Delayed, Accepted: log.Accepted, Dead: log.Dead, LastAt: log.Last.At, LastText: answerText(log.Last),
		CrawlDelay: log.CrawlDelay, Robots: l.robotsText(d), Next: nextText(now, b), Learned: learnedWords(b),
		Paused: l.picture.pausedAt[[2]string{string(budget.Domain), d.Name}],
	}
	if t := log.Told; t != nil {
		in.Told = &view.Told{
			Headers: t.Headers, At: t.At,
			Remaining: view.Remaining{
				Known: t.HasRemaining || t.HasLimit, Remaining: t.Remaining, HasLimit: t.HasLimit, Limit: t.Limit, ResetAt: t.ResetAt,
				At: t.At, Kind: t.Kind, Asked: true,
			},
		}
	}
	if len(log.Limited) > 0 {
		in.Limited = &view.ByLayer{Target: log.Limited["target"], Busy: log.Limited["busy"], Account: log.Limited["account"], Rate: log.Limited["rate"], Pending: log.Limited["pending"]}
	}
	if waiting > 0 {
		in.Oldest = d.Oldest
	}
	if st := b.State(now); st == budget.Cooling {
		c := b.Cooldown()
		in.Until, in.Full, in.Cause, in.Layer, in.Announced, in.FailedProbes = c.Until, c.Full, c.Cause, c.Layer, c.Announced, c.Failed
	} else if g := b.Gate(now); g.Why == budget.Quota {
		in.Until, in.Full, in.Cause = g.At, g.At.Sub(now), "its window is spent"
	}
	return in
}

func (l *loop) robotsText(d *frontier.Domain) string {
	if l.cfg.Provider != Direct {
		return ""
	}
	if !l.cfg.Robots {
		return "not asked (--robots off)"
	}
	text := "not asked yet"
	for _, o := range d.Origins {
		switch {
		case o.Fetching:
			text = "being read"
		case o.Rules != nil:
			return "read"
		default:
			text = "cannot be read"
		}
	}
	return text
}

// nextText says what happens next, so that nobody needs to end a cooldown by hand.
func nextText(now time.Time, b *budget.Budget) string {
	switch {
	case b.StoppedWhy() != "":
		return "one probe when the platform accepts the key again"
	case b.IsPaused():
		return "goes on when it is resumed"
	}
	switch b.State(now) {
	case budget.Cooling:
		return "then one probe; when it is answered, reopening in steps"
	case budget.Probing:
		return "one probe is out; its answer reopens it in steps"
	case budget.Recovering:
		return "reopening in steps"
	}
	if e := learnedWords(b); e != "" {
		return "holds just below what was refused: " + e
	}
	return ""
}

// learnedWords is what refusals taught of a limit that nobody told; empty: nothing.
func learnedWords(b *budget.Budget) string {
	if e := b.Evidence(); e != "" {
		return e
	}
	if l, ok := b.Learned(); ok && l.Kind == "concurrency" {
		return fmt.Sprintf("%d in flight, refused at %d", l.Limit, l.Limit+1)
	}
	return ""
}

// tallyReply counts an answer for the charts and keeps what the screens say of it.
func (l *loop) tallyReply(o *outcome, settled []core.Settled) {
	c := o.Call
	latency := o.response.Elapsed
	if c.Job != nil || o.response.Fault != provider.NoFault {
		latency = 0
	}
	d := c.Domain
	if len(settled) == 0 {
		l.tally.Count(view.Answer{Domain: d, Outcome: string(o.Reply.Outcome), Layer: string(o.Reply.Layer), Latency: latency})
	}
	for i := range settled {
		s := &settled[i]
		if i > 0 && s.Item < 0 {
			continue // one answer, of which each task of the batch was told
		}
		a := view.Answer{Domain: s.Task.Domain, Outcome: string(o.Reply.Outcome), Layer: string(o.Reply.Layer), Retry: s.State == core.Pending || s.State == core.Delayed}
		if s.Item >= 0 && s.Item < len(o.Reply.Items) {
			a.Outcome, a.Layer = string(o.Reply.Items[s.Item].Outcome), string(o.Reply.Items[s.Item].Layer)
		}
		if i == 0 {
			a.Latency = latency
		}
		if a.Outcome == string(provider.Invalid) {
			l.picture.invalid++
		}
		l.tally.Count(a)
	}
	if c.Domain != "" {
		l.noteAnswer(o)
	}
}

// noteAnswer keeps the domain's last answer and its limit headers.
func (l *loop) noteAnswer(o *outcome) {
	d := l.m.Domain(o.Call.Domain)
	if d == nil {
		return
	}
	log := &d.Log
	log.Last = frontier.Answer{At: time.Now(), Outcome: string(o.Reply.Outcome), Status: o.response.Status, Elapsed: o.response.Elapsed}
	if len(o.Reply.Items) > 0 {
		log.Last.Outcome = string(o.Reply.Items[0].Outcome)
	}
	sig := &o.Reply.Signal
	if sig.Limit.OK || sig.Remaining.OK || sig.Wait.OK {
		told := frontier.Told{}
		if log.Told != nil {
			told = *log.Told
		}
		told.Headers, told.At = limitHeaders(o.headers), log.Last.At
		log.Told = &told
	}
}

// answerText is an answer in words.
func answerText(a frontier.Answer) string {
	if a.Status == 0 {
		return a.Outcome
	}
	return fmt.Sprintf("%d %s in %.2f s", a.Status, a.Outcome, a.Elapsed.Seconds())
}

// limitHeaders keeps the fields that speak of limits.
func limitHeaders(all map[string]string) map[string]string {
	kept := map[string]string{}
	for name, value := range all {
		switch name {
		case "date", "age", "content-type", "server":
		default:
			if len(kept) < headersKept {
				kept[name] = value
			}
		}
	}
	return kept
}

// count counts what was committed.
func (l *loop) count(c *core.Call) {
	for _, s := range c.Ends() {
		switch s.State {
		case core.Accepted:
			l.tally.Accept(s.Task.Domain, s.Records)
			l.picture.records += int64(s.Records)
			l.ages.remove(s.Task.Created)
		case core.Dead:
			l.tally.Bury(s.Task.Domain)
			l.ages.remove(s.Task.Created)
		case core.Cancelled:
			l.ages.remove(s.Task.Created)
		}
	}
}

// settled moves the core's counters after the run's end, when steps are over.
func (l *loop) settled(c *core.Call) { l.m.Acknowledge(c) }
