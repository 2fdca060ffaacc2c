package core

import (
	"container/heap"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"dev.scrapetop/engine/budget"
	"dev.scrapetop/engine/frontier"
	"dev.scrapetop/engine/limits"
	"dev.scrapetop/engine/provider"
)

var storms = flag.Int("storms", 40, "seeds of TestStorm for each kind of provider")

// storm drives a machine with everything that can happen, drawn from a seed, and checks after each step what must always
// hold. Its rows stand for storage: what is in them is what a restart finds.
type storm struct {
	t     *testing.T
	name  string
	rng   *rand.Rand
	cfg   Config
	m     *Machine
	now   time.Time
	queue labQueue
	seq   int

	rows    map[int64]*kept
	total   int64
	domains []string
	jobs    map[string]*Job
	nextJob int
	life    int // restarts: what an earlier machine asked for means nothing to a later one
	sends   map[*Call]bool
	looked  map[int64]bool     // lookups under way
	intents map[string][]int64 // tasks of submits that are not settled, by exchange
	lookup  int64
	unacked int64
	waits   map[budgetKey]time.Time
	leases  []lease
	held    bool // a person holds something: nothing needs to move
	full    bool
	calm    bool // only good answers, so that it ends
	fed     bool
	end     *Ending
	steps   int
}

// kept is a stored task.
type kept struct {
	task      frontier.Task
	state     State
	notBefore time.Time
	number    int
}

// lease is a slot that the platform may still count after a submit without an answer.
type lease struct {
	until time.Time
	slots slots
}

func (s *storm) fail(format string, args ...any) {
	s.t.Helper()
	s.t.Fatalf("%s, step %d, after %v: %s", s.name, s.steps, s.now.Sub(labStart), fmt.Sprintf(format, args...))
}

func (s *storm) at(d time.Duration, run func()) {
	s.seq++
	life := s.life
	heap.Push(&s.queue, labEvent{s.now.Add(d), s.seq, func() {
		if life == s.life {
			run()
		}
	}})
}

// always runs whatever machine drives by then.
func (s *storm) always(d time.Duration, run func()) {
	s.seq++
	heap.Push(&s.queue, labEvent{s.now.Add(d), s.seq, run})
}

func (s *storm) step(ev Event) {
	s.steps++
	for _, a := range s.m.Step(s.now, ev) {
		s.act(a)
	}
	s.check()
}

func (s *storm) act(a Action) {
	switch a.Do {
	case Refill:
		r := Refilled{Wants: slices.Clone(a.Wants), Failed: s.rng.IntN(40) == 0}
		for _, w := range r.Wants {
			if !r.Failed {
				r.Tasks = append(r.Tasks, s.read(w)...)
			}
		}
		s.at(time.Duration(s.rng.IntN(5))*ms, func() { s.step(r) })
	case Send:
		c := a.Call
		s.sends[c] = true
		s.checkWaits(c)
		if a.Intent && s.rng.IntN(60) == 0 {
			s.at(ms, func() { delete(s.sends, c); s.step(NotSent{Call: c}) })
			return
		}
		if a.Intent && c.Job == nil {
			id := s.exchange(c)
			for _, t := range c.Tasks {
				s.rows[t.ID].state = InFlight
				s.intents[id] = append(s.intents[id], t.ID)
			}
		}
		s.answer(c)
	case Store:
		s.store(a)
	case Settle:
		if a.Call != nil {
			a.Exchange = s.exchange(a.Call)
		}
		if s.intents[a.Exchange] == nil {
			s.fail("the intent of %q is settled twice", a.Exchange)
		}
		delete(s.intents, a.Exchange)
	case LookupDone:
		id := a.Call.LookupID
		if !s.looked[id] {
			s.fail("lookup %d ended, which is not under way", id)
		}
		delete(s.looked, id)
	case Keep:
		if a.Job.Done {
			delete(s.jobs, a.Job.ID)
		} else {
			s.jobs[a.Job.ID] = a.Job
		}
	case Ended:
		e := a.End
		s.end = &e
	}
}

// exchange names a call over all restarts.
func (s *storm) exchange(c *Call) string { return fmt.Sprint(s.life, "-", c.ID) }

// read is storage.Pending.
func (s *storm) read(w Want) (all []Waiting) {
	var found []*kept
	for _, r := range s.rows {
		if r.task.Domain == w.Domain && (r.state == Pending || r.state == Delayed) &&
			(w.AfterID == 0 || r.task.Priority < w.AfterPriority || r.task.Priority == w.AfterPriority && r.task.ID > w.AfterID) {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, func(a, b *kept) int {
		if a.task.Priority != b.task.Priority {
			return b.task.Priority - a.task.Priority
		}
		return int(a.task.ID - b.task.ID)
	})
	for _, r := range found[:min(len(found), w.N)] {
		t := r.task
		t.Queue, t.Alone = nil, false
		all = append(all, Waiting{Task: t, NotBefore: r.notBefore})
	}
	return all
}

func (s *storm) store(a Action) {
	c := a.Call
	if len(a.Settled) == 0 || a.Settled[0].State != InFlight {
		delete(s.intents, s.exchange(c))
	}
	for _, x := range a.Settled {
		r := s.rows[x.Task.ID]
		if x.Item >= 0 || x.State != Dead || x.Number != r.number {
			if x.Number != r.number+1 {
				s.fail("task %d: attempt %d follows %d (%s)", x.Task.ID, x.Number, r.number, x.Decision)
			}
		}
		if r.state == Accepted || r.state == Dead {
			s.fail("task %d ended twice: %s then %s", x.Task.ID, r.state, x.State)
		}
		if x.Task.Tries > s.cfg.MaxAttempts || x.Task.Tries < r.task.Tries || x.Task.Tries > r.task.Tries+1 {
			s.fail("task %d: %d tries after %d", x.Task.ID, x.Task.Tries, r.task.Tries)
		}
		if x.Task.Unknowns > 2 {
			s.fail("task %d was submitted %d times without an answer", x.Task.ID, x.Task.Unknowns)
		}
		r.task, r.state, r.notBefore, r.number = *x.Task, x.State, x.NotBefore, x.Number
		if x.State == Accepted || x.State == Dead {
			s.unacked++
		}
	}
	s.at(time.Duration(s.rng.IntN(4))*ms, func() {
		for _, x := range c.Ends() {
			if x.State == Accepted || x.State == Dead {
				s.unacked--
			}
		}
		s.step(Stored{Call: c})
	})
}

// answer draws how a call ends.
func (s *storm) answer(c *Call) {
	took := time.Duration(1+s.rng.IntN(800)) * ms
	if s.rng.IntN(30) == 0 {
		took = 20 * time.Second
	}
	s.at(took, func() {
		delete(s.sends, c)
		r := s.reply(c)
		if c.Robots != nil && r.Outcome == provider.Accepted {
			s.step(RobotsRead{Call: c, Rules: disallow("private"), Delay: time.Duration(s.rng.IntN(2)) * 50 * ms})
		}
		if wait := s.cfg.Facts.SlotLease; r.Unknown && wait > 0 && c.Sent.Add(wait).After(s.now) {
			kept := c.slots
			kept.places = slices.Clone(kept.places)
			s.leases = append(s.leases, lease{c.Sent.Add(wait), kept})
		}
		s.step(&Replied{Call: c, Reply: r})
	})
}

type disallow string

func (d disallow) Allows(path string) bool { return len(path) < 2 || path[1:] != string(d) }

func (s *storm) wait(scope budget.Scope, key string, sig *limits.Signal) {
	if s.rng.IntN(2) == 0 {
		return
	}
	w := time.Duration(s.rng.IntN(9000)) * ms
	sig.Wait, sig.WaitSource = limits.Some(w), "retry-after"
	k := budgetKey{scope, key}
	if until := s.now.Add(w); until.After(s.waits[k]) {
		s.waits[k] = until
	}
}

// checkWaits sees that nothing is sent inside a wait that was announced.
func (s *storm) checkWaits(c *Call) {
	inside := func(scope budget.Scope, key string) {
		if s.now.Before(s.waits[budgetKey{scope, key}]) {
			b := s.m.named(scope, key)[0]
			s.fail("a %s is sent inside the wait of %s %s: %v left, state %v, cool %+v", c.Kind, scope, key, s.waits[budgetKey{scope, key}].Sub(s.now), b.State(s.now), b.Cooldown())
		}
	}
	inside(budget.IP, s.cfg.Provider)
	if c.Job != nil || c.search != nil {
		return
	}
	inside(budget.Provider, s.cfg.Provider)
	for _, p := range c.slots.places {
		inside(budget.Domain, p.domain.Name)
	}
	if cr := c.slots.cred; cr != nil {
		inside(budget.Credential, cr.name)
		inside(budget.Account, cr.account.Name)
	}
}

func (s *storm) targetItem(id int64) provider.Item {
	item := provider.Item{Task: id, Outcome: provider.Accepted, Layer: provider.LayerTarget, Target: limits.Some(200), Credits: float64(s.rng.IntN(3))}
	if s.calm {
		return item
	}
	switch s.rng.IntN(14) {
	case 0:
		item.Outcome = provider.Limited
	case 1:
		item.Outcome = provider.Busy
	case 2:
		item.Outcome = provider.Blocked
	case 3:
		item.Outcome = provider.Invalid
	case 4:
		item.Outcome = provider.Failed
	case 5:
		item.Outcome = provider.NotFound
	case 6:
		item.Outcome = provider.Refused
	case 7:
		if s.cfg.Direct {
			item.Outcome, item.Location = provider.Redirected, fmt.Sprintf("http://%s/hop%d", s.domains[s.rng.IntN(len(s.domains))], id)
		}
	}
	if item.Outcome == provider.Limited || item.Outcome == provider.Busy {
		name := ""
		for _, d := range s.domains {
			if r := s.rows[id]; r != nil && r.task.Domain == d {
				name = d
			}
		}
		if !s.cfg.Direct && name != "" {
			s.wait(budget.Domain, name, &item.Signal)
		}
	}
	return item
}

// reply draws an answer that the kind of call can get.
func (s *storm) reply(c *Call) provider.Reply {
	r := provider.Reply{Outcome: provider.Accepted, HTTPStatus: limits.Some(200)}
	if !s.calm && s.rng.IntN(25) == 0 {
		r.Outcome, r.Layer, r.HTTPStatus, r.Error = provider.Transport, provider.LayerTransport, limits.Opt[int]{}, "reset"
		r.Unknown = s.cfg.Facts.Paid && c.Job == nil && c.search == nil && s.rng.IntN(2) == 0
		return r
	}
	if s.cfg.Direct {
		id := int64(0)
		if len(c.Tasks) > 0 {
			id = c.Tasks[0].ID
		}
		item := s.targetItem(id)
		if c.Robots != nil && s.rng.IntN(3) == 0 && !s.calm {
			item.Outcome = provider.Failed
		}
		if c.Robots != nil && (item.Outcome == provider.Redirected || item.Outcome == provider.Blocked) {
			item.Outcome = provider.NotFound
		}
		if item.Outcome == provider.Limited || item.Outcome == provider.Busy {
			s.wait(budget.Domain, c.slots.places[0].domain.Name, &item.Signal)
		}
		r.Outcome, r.Layer, r.Signal = item.Outcome, item.Layer, item.Signal
		if s.rng.IntN(2) == 0 {
			r.Items = []provider.Item{item}
		} else if item.Outcome == provider.Redirected {
			r.Items = []provider.Item{item}
		}
		return r
	}
	if !s.calm && s.rng.IntN(8) == 0 {
		return s.platformRefusal(c)
	}
	if c.search != nil {
		if s.rng.IntN(3) == 0 {
			s.nextJob++
			r.Found = []provider.Found{{Job: fmt.Sprintf("%s/%d", s.kind(len(c.Targets)), s.nextJob), URLs: []string{"u"}}}
		} else if s.rng.IntN(3) == 0 {
			s.nextJob++
			r.Found = []provider.Found{{Job: fmt.Sprintf("%s/%d", s.kind(len(c.Targets)), s.nextJob)}}
		}
		r.More = s.rng.IntN(3) == 0
		return r
	}
	if c.Job != nil {
		switch n := s.rng.IntN(8); {
		case n < 3 && !s.calm:
			r.Outcome, r.Started = provider.StillRunning, s.rng.IntN(2) == 0
			return r
		case n == 3 && !s.calm:
			r.Outcome = provider.Lost
			return r
		}
	} else if s.cfg.Facts.Polls && s.rng.IntN(3) > 0 {
		s.nextJob++
		r.Outcome, r.Job = provider.AcceptedRemote, fmt.Sprintf("%s/%d", s.kind(len(c.Tasks)), s.nextJob)
		return r
	}
	if c.Job == nil && len(c.Tasks) > 1 && !s.calm && s.rng.IntN(20) == 0 {
		r.Outcome, r.Split = provider.Refused, true
		return r
	}
	for _, t := range c.Tasks {
		if s.calm || s.rng.IntN(12) > 0 { // now and then it does not speak of a task
			item := s.targetItem(t.ID)
			r.Credits += item.Credits
			r.Items = append(r.Items, item)
		}
	}
	return r
}

func (s *storm) kind(n int) string {
	if n > 1 {
		return s.cfg.Facts.Batch.Name
	}
	return s.cfg.Facts.Single.Name
}

func (s *storm) platformRefusal(c *Call) provider.Reply {
	r := provider.Reply{Outcome: provider.Limited, HTTPStatus: limits.Some(429)}
	cr := c.slots.cred
	name, account := "", ""
	if cr != nil {
		name, account = cr.name, cr.account.Name
	}
	n := s.rng.IntN(6)
	if c.Job != nil || c.search != nil {
		n = 1 + s.rng.IntN(2)*2
	}
	switch n {
	case 0:
		r.Layer = provider.LayerAccount
		if s.cfg.Facts.AccountScope == "account" {
			s.wait(budget.Account, account, &r.Signal)
		} else {
			s.wait(budget.Credential, name, &r.Signal)
		}
	case 1:
		r.Layer = provider.LayerRate
		s.wait(budget.IP, s.cfg.Provider, &r.Signal)
	case 2:
		r.Layer = provider.LayerPending
	case 3:
		r.Outcome, r.Layer = provider.Busy, provider.LayerCapacity
		if c.Job == nil && c.search == nil {
			s.wait(budget.Provider, s.cfg.Provider, &r.Signal)
		}
	case 4:
		r.Outcome, r.Layer = provider.Failed, provider.NoLayer
	case 5:
		if s.rng.IntN(3) == 0 {
			r.Outcome, r.Layer = provider.Denied, provider.LayerQuota
		} else {
			r.Outcome, r.Layer = provider.Failed, provider.NoLayer
		}
	}
	return r
}

// check is what must hold after every step.
func (s *storm) check() {
	c := s.m.counts
	if s.m.over {
		return
	}
	for name, n := range map[string]int64{"pending": c.Pending, "delayed": c.Delayed, "in flight": c.InFlight, "remote": c.Remote, "storing": int64(s.m.storing), "refills": int64(s.m.refills), "searches": int64(s.m.searches), "retries": c.Retries} {
		if n < 0 {
			s.fail("%s is %d", name, n)
		}
	}
	if sum := c.Pending + c.Delayed + c.InFlight + c.Remote + c.Accepted + c.Dead + s.unacked; sum != s.total {
		s.fail("the tasks sum up to %d of %d: %+v, %d not acknowledged", sum, s.total, c, s.unacked)
	}
	s.checkSlots()
	for _, d := range s.m.front.Domains {
		if d.Stored < 0 || d.Log.Delayed < 0 {
			s.fail("%s has %d stored, %d delayed", d.Name, d.Stored, d.Log.Delayed)
		}
	}
	for who, x := range s.m.spend {
		if x.reserved < -1e-9 || x.requests < 0 {
			s.fail("spending of %q: %+v", who, *x)
		}
		if x.maxCredits > 0 && x.credits > x.maxCredits {
			s.fail("%q spent %v credits of %v", who, x.credits, x.maxCredits)
		}
	}
}

// checkSlots compares the slots of each budget with what calls, jobs and leases hold.
func (s *storm) checkSlots() {
	want, probes := map[*budget.Budget]int{}, map[*budget.Budget]int{}
	held := func(x *slots) {
		for kind := kindProvider; kind < kinds; kind++ {
			if b := s.m.budgetOf(x, kind); b != nil {
				want[b]++
			}
		}
		for i := range x.places {
			want[x.places[i].domain.Budget]++
		}
	}
	for _, c := range s.m.calls {
		if c.slots.exchange {
			want[s.m.global]++
			want[s.m.ip]++
		}
		if c.slots.held {
			held(&c.slots)
		}
		for i := range c.slots.places {
			if c.slots.places[i].probe {
				probes[c.slots.places[i].domain.Budget]++
			}
		}
		for kind := range kinds {
			if c.slots.probe[kind] {
				probes[s.m.budgetOf(&c.slots, kind)]++
			}
		}
	}
	for _, j := range s.m.jobs {
		held(&j.slots)
		for i := range j.slots.places {
			if j.slots.places[i].probe {
				probes[j.slots.places[i].domain.Budget]++
			}
		}
	}
	s.leases = slices.DeleteFunc(s.leases, func(l lease) bool { return !l.until.After(s.now) })
	for i := range s.leases {
		held(&s.leases[i].slots)
	}
	look := func(b *budget.Budget) {
		if b.InFlight() != want[b] {
			s.fail("%s %q has %d slots taken, calls and jobs hold %d", b.Scope, b.Name, b.InFlight(), want[b])
		}
		if probes[b] > 1 {
			s.fail("%s %q has %d probes out", b.Scope, b.Name, probes[b])
		}
		if g := b.Gate(s.now); g.Why == budget.ProbeOut && probes[b] == 0 {
			s.fail("%s %q waits for a probe that nobody carries", b.Scope, b.Name)
		}
	}
	for _, b := range s.m.shared() {
		look(b)
	}
	for _, d := range s.m.front.Domains {
		look(d.Budget)
	}
}

// feed stores n more tasks.
func (s *storm) feed(n int) {
	by := map[string]int64{}
	for range n {
		s.total++
		d := s.domains[s.rng.IntN(len(s.domains))]
		path := fmt.Sprint(s.total)
		if s.rng.IntN(20) == 0 {
			path = "private"
		}
		u := fmt.Sprintf("http://%s/%s", d, path)
		s.rows[s.total] = &kept{state: Pending, task: frontier.Task{ID: s.total, URL: u, Own: u, Home: d, Domain: d, Created: s.now, Priority: s.rng.IntN(2), Tenant: []string{"", "a", "b"}[s.rng.IntN(3)]}}
		by[d]++
	}
	q := Queued{}
	for _, d := range s.domains {
		if by[d] > 0 {
			q.Domains = append(q.Domains, DomainCount{Domain: d, N: by[d], Oldest: s.now})
		}
	}
	s.step(q)
}

// restart drops the machine and starts another from what is stored, as the engine does.
func (s *storm) restart() {
	s.life++
	s.sends, s.looked, s.leases, s.unacked = map[*Call]bool{}, map[int64]bool{}, nil, 0
	spent := s.m.spend
	s.m = New(s.cfg)
	s.full = false
	var accepted, dead int64
	by := map[string]int64{}
	searched := map[int64]bool{}
	for _, tasks := range s.intents {
		for _, id := range tasks {
			searched[id] = s.cfg.Facts.FindsLost
		}
	}
	for _, r := range s.rows {
		if r.state == InFlight && !searched[r.task.ID] {
			r.state = Pending // its answer is lost; what that costs is the engine's to decide
		}
		switch r.state {
		case Accepted:
			accepted++
		case Dead:
			dead++
		case Pending, Delayed:
			by[r.task.Domain]++
		}
	}
	s.m.Resume(accepted, dead, spent[""].requests, spent[""].credits)
	for tenant, x := range spent {
		s.m.ResumeTenant(tenant, x.requests, x.credits)
	}
	jobs := s.jobs
	s.jobs = map[string]*Job{}
	remote := map[int64]bool{}
	names := make([]string, 0, len(jobs))
	for id := range jobs {
		names = append(names, id)
	}
	slices.Sort(names)
	whole := s.total
	s.total = accepted + dead
	for _, id := range names {
		j := jobs[id]
		ev := JobKept{Job: j.ID, Credential: j.Credential, Submitted: j.Submitted, Expires: j.Expires, Next: j.Next}
		for _, t := range j.Tasks {
			if r := s.rows[t.ID]; r.state == Remote {
				task := r.task
				task.Queue = nil
				ev.Tasks = append(ev.Tasks, task)
				remote[t.ID] = true
			}
		}
		s.total += int64(len(ev.Tasks))
		s.jobs[id] = j
		s.step(ev)
	}
	s.searchAgain()
	for id, r := range s.rows {
		if r.state == Remote && !remote[id] {
			s.fail("task %d is remote without a job", id)
		}
	}
	q := Queued{}
	for _, d := range s.domains {
		if by[d] > 0 {
			q.Domains = append(q.Domains, DomainCount{Domain: d, N: by[d], Oldest: s.now})
			s.total += by[d]
		}
	}
	if s.total != whole {
		s.fail("%d of %d tasks found again", s.total, whole)
	}
	s.step(q)
	if s.fed {
		s.step(InputEnded{})
	}
}

// searchAgain hands the submits without an answer to a new machine, as the engine does.
func (s *storm) searchAgain() {
	intents := s.intents
	s.intents = map[string][]int64{}
	if !s.cfg.Facts.FindsLost {
		return
	}
	names := make([]string, 0, len(intents))
	for id := range intents {
		names = append(names, id)
	}
	slices.Sort(names)
	for _, id := range names {
		ev := LostSubmit{Exchange: id, Credential: "k1", Sent: s.now}
		for _, task := range intents[id] {
			if r := s.rows[task]; r.state == InFlight {
				t := r.task
				t.Queue = nil
				ev.Tasks = append(ev.Tasks, t)
			}
		}
		if len(ev.Tasks) > 0 {
			s.intents[id] = intents[id]
			s.total += int64(len(ev.Tasks))
			s.step(ev)
		}
	}
}

// meddle is what people, clocks and disks do meanwhile.
func (s *storm) meddle() {
	switch s.rng.IntN(12) {
	case 0:
		s.step(Asked{Verb: "pause", Scope: budget.Domain, Key: s.domains[s.rng.IntN(len(s.domains))]})
		s.held = true
	case 1:
		s.step(Asked{Verb: "pause", Scope: budget.Tenant, Key: []string{"a", "b"}[s.rng.IntN(2)]})
		s.held = true
	case 2:
		s.step(Asked{Verb: "pause", Scope: budget.Global})
		s.held = true
	case 3, 4:
		s.release()
	case 5:
		d := s.domains[s.rng.IntN(len(s.domains))]
		s.step(Asked{Verb: "limit", Scope: budget.Domain, Key: d, Limit: s.rng.IntN(4)})
	case 6:
		gap := time.Duration(s.rng.IntN(5)) * time.Second
		for k, until := range s.waits {
			s.waits[k] = until.Add(-gap)
		}
		s.step(Suspended{For: gap})
	case 7:
		s.full = !s.full
		s.step(Backpressure{Full: s.full})
	case 8:
		if s.rng.IntN(3) == 0 {
			s.waits = map[budgetKey]time.Time{} // to keep cooldowns is the engine's
			s.restart()
			s.held = false
		}
	case 9:
		d := s.domains[s.rng.IntN(len(s.domains))]
		delete(s.waits, budgetKey{budget.Domain, d})
		s.step(Asked{Verb: "end cooldown", Scope: budget.Domain, Key: d})
	case 10:
		if !s.fed {
			s.feed(1 + s.rng.IntN(30))
		}
	case 11:
		if s.cfg.Direct {
			s.lookup++
			s.looked[s.lookup] = true
			d := s.domains[s.rng.IntN(len(s.domains))]
			s.step(LookupAsked{ID: s.lookup, URL: "http://" + d + "/" + []string{"sitemap", "private"}[s.rng.IntN(2)], Domain: d})
		}
	}
}

// release undoes whatever a person or a platform holds.
func (s *storm) release() {
	for _, d := range s.domains {
		s.step(Asked{Verb: "resume", Scope: budget.Domain, Key: d})
		s.step(Asked{Verb: "limit", Scope: budget.Domain, Key: d})
	}
	for _, t := range []string{"a", "b"} {
		s.step(Asked{Verb: "resume", Scope: budget.Tenant, Key: t})
	}
	s.step(Asked{Verb: "resume", Scope: budget.Global})
	for _, c := range s.m.creds {
		delete(s.waits, budgetKey{budget.Credential, c.name})
		delete(s.waits, budgetKey{budget.Account, c.account.Name})
		s.step(Asked{Verb: "end cooldown", Scope: budget.Credential, Key: c.name})
		s.step(Asked{Verb: "end cooldown", Scope: budget.Account, Key: c.account.Name})
	}
	s.held = false
	if s.full {
		s.full = false
		s.step(Backpressure{})
	}
}

// run lets the storm pass: for a while everything may happen, then it grows calm and the run must end.
func (s *storm) run() {
	for i := range 60 {
		s.always(time.Duration(i*3000+s.rng.IntN(3000))*ms, func() {
			if s.end == nil {
				s.meddle()
			}
		})
	}
	s.always(190*time.Second, func() {
		s.calm = true
		if s.end != nil {
			return
		}
		s.release()
		s.fed = true
		s.step(InputEnded{})
	})
	limit := s.now.Add(100 * time.Hour)
	for s.end == nil {
		at, ok := s.m.WakeAt()
		if len(s.queue) > 0 && (!ok || !s.queue[0].at.After(at)) {
			ev := heap.Pop(&s.queue).(labEvent)
			s.now = ev.at
			ev.run()
			continue
		}
		if !ok {
			s.fail("it stands still: %+v, %d in memory\n%s", s.m.counts, len(s.m.tasks), s.describe())
		}
		if at.After(limit) || s.steps > 300_000 {
			s.fail("it does not end: next wake-up %v, %+v", at.Sub(labStart), s.m.counts)
		}
		if at.After(s.now) {
			s.now = at
		}
		s.step(Tick{})
	}
}

// describe says what everything that waits is waiting for.
func (s *storm) describe() string {
	text := ""
	for _, l := range s.m.front.Lanes {
		text += fmt.Sprintf("tenant %q: size %d, parked %v, held %v, stop %q, gate %+v\n", l.Tenant, l.Size(), l.Parked, l.Held, l.Stop, l.Budget.Gate(s.now))
	}
	for _, d := range s.m.front.Domains {
		text += fmt.Sprintf("%s: in hand %d, stored %d, parked %v, barren %v, hungry %v, reading %v, gate %+v, wakes %v\n",
			d.Name, d.InHand, d.Stored, d.Parked, d.Barren, d.Hungry, d.Reading, d.Budget.Gate(s.now), d.WakeAt)
	}
	for _, b := range s.m.shared() {
		text += fmt.Sprintf("%s %q: %d in flight, %v, gate %+v\n", b.Scope, b.Name, b.InFlight(), b.State(s.now), b.Gate(s.now))
	}
	return text
}

// TestStorm: whatever happens in whatever order, the counts, slots and probes are right, nothing is sent inside a wait, and
// the run ends with every task ended.
func TestStorm(t *testing.T) {
	kinds := map[string]func(rng *rand.Rand) Config{
		"direct": func(rng *rand.Rand) Config {
			return Config{Provider: "direct", Direct: true, Robots: rng.IntN(2) == 0}
		},
		"sync": func(rng *rand.Rand) Config {
			return Config{Provider: "evomi", Facts: provider.Facts{Paid: true, AccountScope: "credential", FreeSlots: true, SlotLease: 60 * time.Second, DefaultWait: 5 * time.Second, WorstCredits: 2}}
		},
		"jobs": func(rng *rand.Rand) Config {
			return Config{Provider: "omni", Facts: provider.Facts{Paid: true, Polls: true, AccountScope: "account", SlotLease: 30 * time.Second, Retention: 10 * time.Minute,
				PollFirst: time.Second, PollMax: 10 * time.Second, WorstCredits: 2}}
		},
		"batches": func(rng *rand.Rand) Config {
			return Config{Provider: "spidra", Facts: provider.Facts{Paid: true, Polls: true, AccountScope: "account", Retention: 10 * time.Minute, PollFirst: time.Second,
				PollMax: 10 * time.Second, WorstCredits: 2, BatchMax: 5, Single: provider.JobKind{Name: "scrape", Pending: 3}, Batch: provider.JobKind{Name: "batch", Pending: 2},
				RateLimit: 120, RateWindow: time.Minute, PollsCount: true, FindsLost: true}}
		},
	}
	for kind, config := range kinds {
		t.Run(kind, func(t *testing.T) {
			for seed := range uint64(*storms) {
				rng := rand.New(rand.NewPCG(seed, 9))
				cfg := config(rng)
				cfg.Seed, cfg.MaxAttempts, cfg.ResubmitUnknown, cfg.ResubmitLost = seed, 4, rng.IntN(2) == 0, rng.IntN(2) == 0
				cfg.Global = budget.Limits{InFlight: 6}
				cfg.BlockHold = 20 * time.Second
				cfg.InMemory = 30 + rng.IntN(60)
				if !cfg.Direct {
					cfg.Credentials = []CredentialLimits{{Name: "k1", Account: "acc", Limits: budget.Limits{InFlight: 4}}, {Name: "k2", Account: "acc", Tenants: []string{"", "a"}}}
				}
				s := &storm{t: t, name: fmt.Sprintf("%s, seed %d", kind, seed), rng: rng, cfg: cfg, now: labStart, rows: map[int64]*kept{}, jobs: map[string]*Job{}, sends: map[*Call]bool{}, looked: map[int64]bool{}, intents: map[string][]int64{}, waits: map[budgetKey]time.Time{}}
				if rng.IntN(2) == 0 {
					s.cfg.Tenants = map[string]TenantLimits{"a": {MaxRequests: int64(5 + rng.IntN(60)), MaxCredits: float64(rng.IntN(2) * 40)}}
				}
				if rng.IntN(4) == 0 {
					s.cfg.MaxCredits, s.cfg.MaxRequests = float64(rng.IntN(300)), int64(rng.IntN(2)*200)
				}
				for i := range 4 {
					s.domains = append(s.domains, fmt.Sprintf("d%d.test", i))
				}
				s.m = New(s.cfg)
				s.feed(100 + rng.IntN(200))
				s.run()
				stopped := s.end.State == "failed" || s.end.Reason == "cap" && (s.cfg.MaxCredits > 0 || s.cfg.MaxRequests > 0)
				if len(s.looked) > 0 && !stopped {
					s.fail("ended %+v with lookups %v", *s.end, s.looked)
				}
				for id, r := range s.rows {
					if capped := s.cfg.Tenants != nil && r.task.Tenant == "a"; r.state != Accepted && r.state != Dead && !stopped && !capped {
						s.fail("ended %+v with task %d of %q %s\n%s", *s.end, id, r.task.Tenant, r.state, s.describe())
					}
				}
			}
		})
	}
}
