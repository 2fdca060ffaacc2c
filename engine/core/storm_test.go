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
	out     map[*Call]bool     // handed out and not acknowledged: ours
	looked  map[int64]bool     // lookups under way
	intents map[string][]int64 // tasks of submits that are not settled, by exchange
	lookup  int64
	unacked int64
	waits   map[budgetKey]time.Time
	leases  []slotLease
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

// slotLease is a slot that the platform may still count after a submit without an answer.
type slotLease struct {
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
		if s.out[c] {
			s.fail("a call is used again that is out")
		}
		s.sends[c], s.out[c] = true, true
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
	case CallOff:
		c, id := a.Call, a.Call.ID
		s.at(time.Duration(s.rng.IntN(20))*ms, func() {
			if c.ID == id && s.sends[c] {
				delete(s.sends, c)
				s.step(&Replied{Call: c, Reply: provider.Reply{Outcome: provider.Transport, Error: "abandoned"}})
			}
		})
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
		t.Queue, t.Alone, t.Until = nil, false, time.Time{}
		all = append(all, Waiting{Task: t, NotBefore: r.notBefore})
	}
	return all
}

func (s *storm) store(a Action) {
	c := a.Call
	s.out[c] = true // of one that was never sent, too
	if len(a.Settled) == 0 || a.Settled[0].State != InFlight {
		delete(s.intents, s.exchange(c))
	}
	for _, x := range a.Settled {
		r := s.rows[x.Task.ID]
		if x.Item >= 0 || x.State != Dead && x.State != Cancelled || x.Number != r.number {
			if x.Number != r.number+1 {
				s.fail("task %d: attempt %d follows %d (%s)", x.Task.ID, x.Number, r.number, x.Decision)
			}
		}
		if r.state == Accepted || r.state == Dead || r.state == Cancelled {
			s.fail("task %d ended twice: %s then %s", x.Task.ID, r.state, x.State)
		}
		if x.Task.Tries > s.cfg.MaxAttempts || x.Task.Tries < r.task.Tries || x.Task.Tries > r.task.Tries+1 {
			s.fail("task %d: %d tries after %d", x.Task.ID, x.Task.Tries, r.task.Tries)
		}
		if x.Task.Unknowns > 2 {
			s.fail("task %d was submitted %d times without an answer", x.Task.ID, x.Task.Unknowns)
		}
		r.task, r.state, r.notBefore, r.number = *x.Task, x.State, x.NotBefore, x.Number
		if x.State == Accepted || x.State == Dead || x.State == Cancelled {
			s.unacked++
		}
	}
	s.at(time.Duration(s.rng.IntN(4))*ms, func() {
		for _, x := range c.Ends() {
			if x.State == Accepted || x.State == Dead || x.State == Cancelled {
				s.unacked--
			}
		}
		delete(s.out, c)
		s.step(Stored{Call: c})
	})
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
				s := &storm{t: t, name: fmt.Sprintf("%s, seed %d", kind, seed), rng: rng, cfg: cfg, now: labStart, rows: map[int64]*kept{}, jobs: map[string]*Job{}, sends: map[*Call]bool{}, out: map[*Call]bool{}, looked: map[int64]bool{}, intents: map[string][]int64{}, waits: map[budgetKey]time.Time{}}
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
					if capped := s.cfg.Tenants != nil && r.task.Tenant == "a"; r.state != Accepted && r.state != Dead && r.state != Cancelled && !stopped && !capped {
						s.fail("ended %+v with task %d of %q %s\n%s", *s.end, id, r.task.Tenant, r.state, s.describe())
					}
				}
			}
		})
	}
}
