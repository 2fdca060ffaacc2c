package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"time"

	"dev.scrapetop/engine/budget"
	"dev.scrapetop/engine/core"
	"dev.scrapetop/storage"
)

// domainsAtOnce is how many domains one page of the waiting work holds at the start.
const domainsAtOnce = 2000

// start takes the run over and feeds the core what earlier drives left.
func (l *loop) start(ctx context.Context) error {
	rec, err := l.store.Own(ctx, l.Engine.run.ID)
	if err != nil {
		return err
	}
	l.ctx, l.cancel = context.WithCancel(context.WithoutCancel(ctx))
	now := time.Now()
	l.started, l.tallied, l.marked, l.nextSee, l.learnedAt = now, now, now, now, now
	l.exchange = "x" + strconv.FormatInt(l.Engine.run.ID, 36) + "-" + strconv.FormatInt(now.UnixMilli(), 36) + "-" + strconv.FormatInt(int64(os.Getpid()), 36) + "-"
	l.sleep.begin(now, l.cfg.Transport == nil)
	if l.cfg.Seed == 0 {
		l.cfg.Seed = rand.Uint64()
	}
	cfg := l.coreConfig()
	memory, err := l.readMemory(ctx, now, rec.Unknown)
	if err != nil {
		l.cancel()
		return fmt.Errorf("what earlier runs learned cannot be read: %w", err)
	}
	l.known = memory
	cfg.Recall = memory.recall
	l.m = core.New(cfg)
	l.picture.begin(l.Engine.run)
	run := &l.Engine.run
	l.m.Resume(run.Accepted, run.Dead, run.Tasks-run.Accepted-run.Dead-run.Pending)
	l.written = l.m.Counts()
	l.unseen, err = l.readUnseen(ctx, rec.Unknown)
	if err == nil {
		err = l.resumeSpent(ctx)
	}
	if err == nil {
		l.meet()
		err = l.restore(ctx, now, rec)
	}
	if err != nil {
		l.cancel()
		l.part()
		return fmt.Errorf("run %d cannot be taken over: %w", l.Engine.run.ID, err)
	}
	l.event("info", "global", "", "the run is driven by process "+strconv.Itoa(os.Getpid()), 0)
	return nil
}

// readUnseen tells what calls without an answer, of before a restart, may have cost. A submit that is searched for costs what
// the search finds. It is written with the end of each, so that a start that is cut short counts nothing twice.
func (l *loop) readUnseen(ctx context.Context, unknown []storage.Intent) (map[string]storage.Unseen, error) {
	all := map[string]storage.Unseen{}
	for _, in := range unknown {
		tasks, err := l.store.TasksByID(ctx, in.Tasks)
		if err != nil {
			return nil, err
		}
		if len(tasks) == 0 {
			continue
		}
		u := storage.Unseen{Tenant: tasks[0].Tenant, Requests: 1}
		if in.Job == "" && !l.provider.Facts().FindsLost {
			u.Tasks = int64(len(tasks))
		}
		all[in.Exchange] = u
	}
	return all, nil
}

// settle writes that nothing more will be known of an exchange, with what it may have cost. What becomes of its tasks has to
// be in the same batch: killed in between, the program would forget that they may have been carried out.
func (l *loop) settle(exchange string) {
	b := &l.batch
	b.dirty = true
	b.settled = append(b.settled, exchange)
	if u, ok := l.unseen[exchange]; ok {
		b.unseen = append(b.unseen, u)
		delete(l.unseen, exchange)
	}
}

// resumeSpent tells the core what the run and its tenants have spent already, where a cap asks for it.
func (l *loop) resumeSpent(ctx context.Context) error {
	run := &l.Engine.run
	capped := l.cfg.MaxCredits > 0 || l.cfg.MaxRequests > 0
	for _, t := range l.cfg.Tenants {
		capped = capped || t.MaxCredits > 0 || t.MaxRequests > 0
	}
	if !capped || run.Totals.Requests == 0 {
		return nil
	}
	spent, err := l.store.Spent(ctx, run.ID)
	sums, unpriced := map[string]storage.Spent{}, int64(0)
	for _, s := range spent {
		sums[s.Tenant] = s
		unpriced += s.Unpriced
	}
	for _, u := range l.unseen {
		s := sums[u.Tenant]
		s.Requests += u.Requests
		s.Unpriced += u.Tasks
		sums[u.Tenant] = s
		unpriced += u.Tasks
	}
	for tenant, s := range sums {
		if tenant != "" {
			l.m.ResumeSpent(tenant, s.Requests, s.Credits, s.Unpriced)
		}
	}
	l.m.ResumeSpent("", run.Totals.Requests, run.Totals.Credits, unpriced)
	return err
}

// restore gives the core the pauses, cooldowns, remote jobs, unknown submits and waiting tasks that storage holds.
func (l *loop) restore(ctx context.Context, now time.Time, rec storage.Recovered) error {
	pauses, err := l.store.Pauses(ctx)
	if err != nil {
		return err
	}
	l.pausesRead(pausesRead{pauses: pauses})
	cooldowns, err := l.store.Cooldowns(ctx)
	if err != nil {
		return err
	}
	for _, c := range cooldowns {
		if until := coolsUntil(now, c); until.After(now) {
			l.step(core.CooldownKept{Scope: budget.Scope(c.Scope), Key: c.Key, Until: until, Cause: c.Cause, Layer: c.Source})
		}
	}
	jobs, err := l.store.Jobs(ctx, l.Engine.run.ID)
	if err != nil {
		return err
	}
	slices.SortStableFunc(jobs, func(a, b storage.RemoteJob) int { return a.SubmittedAt.Compare(b.SubmittedAt) })
	for _, j := range jobs {
		if err := l.restoreJob(ctx, now, j); err != nil {
			return err
		}
	}
	if err := l.restoreUnknown(ctx, now, rec.Unknown); err != nil {
		return err
	}
	after := ""
	for {
		page, err := l.store.DomainCounts(ctx, l.Engine.run.ID, after, domainsAtOnce)
		if err != nil {
			return err
		}
		if len(page) == 0 {
			break
		}
		after = page[len(page)-1].Domain
		q := core.Queued{}
		for _, d := range page {
			if l.cfg.Provider == Direct {
				l.hosts.add(d.Domain)
			}
			q.Domains = append(q.Domains, core.DomainCount{Domain: d.Domain, N: d.Waiting, Oldest: d.Oldest})
			l.ages.add(d.Oldest, d.Waiting)
		}
		l.step(q)
	}
	return nil
}

// coolsUntil is when a cooldown of before a restart ends, on this process's clock. now is when the start began, which may be a
// while ago: what is left is what was left then. It is never longer than what was announced, because the wall clock may have
// been set in between.
func coolsUntil(now time.Time, c storage.Cooldown) time.Time {
	return now.Add(min(monotonic(now, c.Until).Sub(now), c.Full))
}

// restoreJob goes on polling a remote job.
func (l *loop) restoreJob(ctx context.Context, now time.Time, j storage.RemoteJob) error {
	tasks, err := l.store.TasksByID(ctx, j.Tasks)
	if err != nil {
		return err
	}
	ev := core.JobKept{Job: j.Job, Credential: j.Credential, Submitted: monotonic(now, j.SubmittedAt), Expires: monotonic(now, j.ExpiresAt), Next: monotonic(now, j.NextPollAt)}
	for _, t := range tasks {
		if t.State == storage.TaskRemote {
			ev.Tasks = append(ev.Tasks, l.taskOf(now, t))
		}
	}
	l.step(ev)
	return nil
}

// monotonic turns a wall time from storage into one that is compared on this process's monotonic clock.
func monotonic(now, wall time.Time) time.Time {
	if wall.IsZero() {
		return wall
	}
	return now.Add(wall.Sub(now.Round(0)))
}

// restoreUnknown settles submits whose answer never came: the platform may still count them for their lease, and their
// tasks are submitted again at most once, or given up, as the configuration says.
func (l *loop) restoreUnknown(ctx context.Context, now time.Time, unknown []storage.Intent) error {
	lease := l.provider.Facts().SlotLease
	for _, in := range unknown {
		if in.Job != "" { // a poll: the job itself goes on
			l.settle(in.Exchange)
			continue
		}
		if until := monotonic(now, in.At.Add(lease)); lease > 0 && until.After(now) {
			l.step(core.SlotHeld{Credential: in.Credential, Until: until})
			l.event("info", "credential", in.Credential, "the platform may still count a submit of before the restart: its slot is kept for "+until.Sub(now).Round(time.Second).String(), 0)
		}
		tasks, err := l.store.TasksByID(ctx, in.Tasks)
		if err != nil {
			return err
		}
		if l.provider.Facts().FindsLost {
			l.searchFor(now, in, tasks)
			continue
		}
		l.settle(in.Exchange)
		for _, t := range tasks {
			if t.State != storage.TaskPending && t.State != storage.TaskInFlight {
				continue
			}
			if l.cfg.ResubmitUnknown && t.Unknowns == 0 {
				l.batch.tasks = append(l.batch.tasks, storage.TaskChange{ID: t.ID, State: storage.TaskPending, Tries: t.Tries, Attempts: t.Attempts, Invalids: t.Invalids, FirstTryAt: t.FirstTryAt, Unknowns: 1})
				l.event("warn", "domain", t.Domain, "the answer to its submit never came (exchange "+in.Exchange+"): it is submitted once more", t.ID)
				continue
			}
			l.batch.tasks = append(l.batch.tasks, storage.TaskChange{ID: t.ID, State: storage.TaskDead, Reason: "lost", Error: "the answer to its submit never came", Tries: t.Tries, Attempts: t.Attempts, Invalids: t.Invalids, FirstTryAt: t.FirstTryAt, Unknowns: t.Unknowns})
			l.event("error", "domain", t.Domain, "dead letter: lost: the answer to its submit never came (exchange "+in.Exchange+")", t.ID)
		}
	}
	l.flush(now)
	return l.store.Sync(ctx)
}

// searchFor hands a submit without an answer to the core, which asks the platform for it. Its tasks are in flight until
// that is known, so that nothing else reads them.
func (l *loop) searchFor(now time.Time, in storage.Intent, tasks []storage.Task) {
	ev := core.LostSubmit{Exchange: in.Exchange, Credential: in.Credential, Sent: monotonic(now, in.At)}
	for _, t := range tasks {
		if t.State != storage.TaskPending && t.State != storage.TaskInFlight {
			continue
		}
		f := l.taskOf(now, t)
		ev.Tasks = append(ev.Tasks, f)
		l.batch.tasks = append(l.batch.tasks, change(&f, storage.TaskInFlight))
	}
	if len(ev.Tasks) == 0 {
		l.settle(in.Exchange)
	}
	l.batch.dirty = true
	l.step(ev)
}

// coreConfig is what the core is made with.
func (l *loop) coreConfig() core.Config {
	c := &l.cfg
	cfg := core.Config{
		Provider: c.Provider, Facts: l.provider.Facts(), Direct: c.Provider == Direct, MaxAttempts: c.MaxAttempts, Deadline: c.Deadline, MaxWait: c.MaxWait,
		MaxCredits: c.MaxCredits, MaxRequests: c.MaxRequests, Robots: c.Robots && c.Provider == Direct, BlockHold: c.BlockHold, Unattended: c.Headless,
		ResubmitLost: c.ResubmitLost, ResubmitUnknown: c.ResubmitUnknown, Seed: c.Seed,
		Global:  budget.Limits{InFlight: c.MaxInFlight, Rate: budget.Rate(c.Rate)},
		Domain:  paced(Ceilings{MaxInFlight: c.DomainMaxInFlight, Rate: c.DomainRate}),
		Domains: map[string]budget.Limits{}, Tenants: map[string]core.TenantLimits{},
	}
	for name, d := range c.Domains {
		if d.MaxInFlight == 0 {
			d.MaxInFlight = c.DomainMaxInFlight
		}
		if d.Rate.N == 0 {
			d.Rate = c.DomainRate
		}
		cfg.Domains[name] = paced(d)
	}
	for name, t := range c.Tenants {
		cfg.Tenants[name] = core.TenantLimits{Limits: budget.Limits{InFlight: t.MaxInFlight, Rate: budget.Rate(t.Rate)}, MaxCredits: t.MaxCredits, MaxRequests: t.MaxRequests}
	}
	for _, k := range c.Credentials {
		gap := k.MinGap
		if gap == 0 {
			gap = cfg.Facts.MinGap
		}
		lim := budget.Limits{InFlight: k.MaxInFlight, Gap: gap}
		if cfg.Facts.FreeSlots {
			lim.Start = 1 // one answer tells how many slots there are; a refusal would cost the whole credential a minute
		}
		cfg.Credentials = append(cfg.Credentials, core.CredentialLimits{Name: k.Name, Account: k.Account, Tenants: k.Tenants, Limits: lim})
	}
	return cfg
}

// paced spreads a domain's rate evenly: on somebody's web server no bursts.
func paced(c Ceilings) budget.Limits {
	l := budget.Limits{InFlight: c.MaxInFlight, Rate: budget.Rate(c.Rate)}
	if c.Rate.N > 0 {
		l.Gap = c.Rate.Per / time.Duration(c.Rate.N)
	}
	return l
}

// defaults fills in what was not configured.
func (c *Config) defaults() {
	if c.Provider == "" {
		c.Provider = Direct
	}
	if c.MaxInFlight <= 0 {
		c.MaxInFlight = DefaultMaxInFlight
	}
	if c.MaxAttempts <= 0 {
		c.MaxAttempts = DefaultMaxAttempts
	}
	if c.Deadline <= 0 {
		c.Deadline = DefaultDeadline
	}
	if c.MaxBody <= 0 {
		c.MaxBody = DefaultMaxBody
	}
}
