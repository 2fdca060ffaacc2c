package core

import (
	"container/heap"
	"fmt"
	"testing"
	"time"

	"dev.scrapetop/engine/budget"
	"dev.scrapetop/engine/frontier"
	"dev.scrapetop/engine/provider"
)

// listFor stores n tasks of a domain, the first of them a tenant's.
func (l *lab) listFor(tenant string, first int, domain string, n int, s server) {
	l.m.refills++ // nothing is read meanwhile
	l.list(domain, n, s)
	for i := range first {
		l.stock[domain][i].Tenant = tenant
	}
	l.m.refills--
}

// TestHeldTenantDoesNotFillTheMemory: a tenant that is paused, or whose cap is reached, stands first in a domain with more
// tasks than memory holds; the others' work goes on all the same.
func TestHeldTenantDoesNotFillTheMemory(t *testing.T) {
	for _, c := range []struct {
		name string
		cfg  Config
		ask  Event
		left int64
	}{
		{"paused", Config{Unattended: true}, Asked{Verb: "pause", Scope: budget.Tenant, Key: "a"}, 500},
		{"capped", Config{Tenants: map[string]TenantLimits{"a": {MaxRequests: 3}}}, Tick{}, 497},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.cfg.Direct, c.cfg.InMemory = true, 100
			l := newLab(t, c.cfg)
			l.listFor("a", 500, "a.test", 600, func(time.Time, int) answer { return pass(ms) })
			l.step(c.ask)
			l.run(time.Hour)
			if left := l.m.Counts().Pending; left != c.left || l.end == nil || l.end.State != "stopped" {
				t.Fatalf("%d left of tenant a, %d accepted, end %+v", left, l.accepted, l.end)
			}
			if n := len(l.m.tasks); n > 0 {
				t.Errorf("%d tasks in memory although nothing may start", n)
			}
		})
	}
}

// TestResumedTenantIsReadAgain: what was left in storage while its tenant was held comes back.
func TestResumedTenantIsReadAgain(t *testing.T) {
	l := newLab(t, Config{Direct: true, InMemory: 50})
	l.listFor("a", 200, "a.test", 200, func(time.Time, int) answer { return pass(ms) })
	l.step(Asked{Verb: "pause", Scope: budget.Tenant, Key: "a"})
	l.run(time.Minute)
	if l.accepted != 0 || l.end != nil {
		t.Fatalf("%d accepted while paused, end %+v", l.accepted, l.end)
	}
	l.step(Asked{Verb: "resume", Scope: budget.Tenant, Key: "a"})
	l.run(time.Minute)
	if l.accepted != 200 || l.end == nil || l.end.State != "finished" {
		t.Fatalf("%d accepted, end %+v", l.accepted, l.end)
	}
}

// TestPausedDomainsDoNotFillTheMemory: more paused domains than memory has room for hold nobody up.
func TestPausedDomainsDoNotFillTheMemory(t *testing.T) {
	l := newLab(t, Config{Direct: true, InMemory: 40, Unattended: true})
	for i := range 20 {
		l.list(fmt.Sprintf("p%d.test", i), 20, func(time.Time, int) answer { return pass(ms) })
	}
	for i := range 20 {
		l.step(Asked{Verb: "pause", Scope: budget.Domain, Key: fmt.Sprintf("p%d.test", i)})
	}
	l.list("z.test", 100, func(time.Time, int) answer { return pass(ms) })
	l.run(time.Hour)
	if l.byDomain["z.test"] == 0 || l.end == nil || l.end.State != "stopped" || l.m.Counts().Pending+int64(l.accepted) != 500 || l.accepted < 100 {
		t.Fatalf("%d accepted, %d pending, end %+v", l.accepted, l.m.Counts().Pending, l.end)
	}
}

// TestFedWhileReadIsNotForgotten: tasks that are stored while a read that saw none of them is under way still count.
func TestFedWhileReadIsNotForgotten(t *testing.T) {
	m := New(Config{Direct: true})
	var wants []Want
	for _, a := range m.Step(labStart, Queued{Domains: []DomainCount{{Domain: "a.test", N: 1}}}) {
		if a.Do == Refill {
			wants = append(wants, a.Wants...)
		}
	}
	m.Step(labStart, Queued{Domains: []DomainCount{{Domain: "a.test", N: 5}}})
	again := false
	for _, a := range m.Step(labStart, Refilled{Wants: wants}) {
		again = again || a.Do == Refill
	}
	if m.Counts().Pending != 6 || !again {
		t.Fatalf("%d pending of 6, read again: %v", m.Counts().Pending, again)
	}
}

// TestEndedCooldownReadsASpilledDomain: a domain whose tasks were given back to storage for a long wait goes on at once when
// a person ends the wait.
func TestEndedCooldownReadsASpilledDomain(t *testing.T) {
	l := newLab(t, Config{Direct: true, InMemory: 20})
	l.list("a.test", 50, script(refuse(time.Hour, ms), pass(ms)))
	l.run(time.Minute)
	d := l.m.front.Domain("a.test")
	for _, q := range d.Queues {
		l.m.giveBack(q)
	}
	before := l.now
	l.step(Asked{Verb: "end cooldown", Scope: budget.Domain, Key: "a.test"})
	l.waits["a.test"] = time.Time{}
	l.run(10 * time.Minute)
	if l.accepted != 50 || l.now.Sub(before) > time.Minute {
		t.Fatalf("%d accepted after %v", l.accepted, l.now.Sub(before))
	}
}

// batches is a platform with batches and little room for jobs that wait.
func batches() Config {
	return Config{Provider: "p", ResubmitLost: true, Credentials: []CredentialLimits{{Name: "k"}}, Facts: provider.Facts{
		Paid: true, Polls: true, AccountScope: "account", Retention: time.Hour, PollFirst: time.Second, PollMax: 10 * time.Second,
		BatchMax: 3, Single: provider.JobKind{Name: "scrape", Pending: 1}, Batch: provider.JobKind{Name: "batch", Pending: 5},
	}}
}

// TestSubmitPutBackWakesItsDomain: a call that finds the platform's queue full gives its domain's slots back and the domain,
// which was full with them, may start again.
func TestSubmitPutBackWakesItsDomain(t *testing.T) {
	cfg := batches()
	cfg.Domain = budget.Limits{InFlight: 1} // each batch gets one task of it, and is a single scrape
	m := New(cfg)
	m.Step(labStart, InputEnded{})
	full := m.pendingJobs(m.creds[0], cfg.Facts.Single)
	full.Hold()
	l := m.front.Lane("")
	d := m.front.Domain("a.test")
	for id := range int64(2) {
		task := &frontier.Task{ID: id + 1, URL: "http://a.test/", Domain: "a.test", Created: labStart}
		m.tasks[task.ID] = task
		m.counts.Pending++
		m.front.Push(d, task)
	}
	for _, a := range m.Step(labStart, Tick{}) {
		if a.Do == Send {
			t.Fatal("sent although the queue is full")
		}
	}
	if d.Budget.InFlight() != 0 || d.Parked || l.Size() != 1 {
		t.Fatalf("%d in flight, parked %v, ring %d", d.Budget.InFlight(), d.Parked, l.Size())
	}
}

// TestUnknownSubmitIsNotALostResult: resubmit_lost does not let a submit without an answer be repeated without end.
func TestUnknownSubmitIsNotALostResult(t *testing.T) {
	cfg := batches()
	cfg.ResubmitUnknown = true
	m := New(cfg)
	task := &frontier.Task{ID: 1, Unknowns: 1, FirstTry: labStart, Domain: "a.test"}
	m.counts.InFlight = 1
	c := m.newCall()
	m.onceMore(labStart, c, task, provider.Transport, "reset")
	if len(c.settle) != 1 || c.settle[0].State != Dead || c.settle[0].Reason != "lost" {
		t.Fatalf("%+v", c.settle)
	}
}

// TestCappedWhileAnotherIsPaused: a run in which a person holds something does not end because somebody else's cap is
// reached; unattended it does, and names the cap.
func TestCappedWhileAnotherIsPaused(t *testing.T) {
	for _, unattended := range []bool{false, true} {
		l := newLab(t, Config{Direct: true, Unattended: unattended, Tenants: map[string]TenantLimits{"a": {MaxRequests: 2}}})
		l.listFor("a", 10, "a.test", 10, func(time.Time, int) answer { return pass(ms) })
		l.listFor("b", 10, "b.test", 10, func(time.Time, int) answer { return pass(ms) })
		l.step(Asked{Verb: "pause", Scope: budget.Tenant, Key: "b"})
		l.run(time.Hour)
		if ended := l.end != nil && l.end.Reason == "cap"; ended != unattended || l.accepted != 2 {
			t.Errorf("unattended %v: %d accepted, end %+v", unattended, l.accepted, l.end)
		}
	}
}

// TestBarrenDomainIsReadWhenTasksGoBack: a domain in which only a held tenant's tasks were left in storage is read again
// when another's are given back to it.
func TestBarrenDomainIsReadWhenTasksGoBack(t *testing.T) {
	l := newLab(t, Config{Direct: true, InMemory: 40, Global: budget.Limits{InFlight: 1}, Tenants: map[string]TenantLimits{"a": {MaxRequests: 1}}})
	l.listFor("a", 30, "a.test", 40, func(time.Time, int) answer { return pass(time.Second) })
	l.at(5*time.Second, func() { l.step(Asked{Verb: "pause", Scope: budget.Domain, Key: "a.test"}) })
	l.at(20*time.Second, func() { l.step(Asked{Verb: "resume", Scope: budget.Domain, Key: "a.test"}) })
	l.run(time.Hour)
	if l.accepted != 11 || l.end == nil || l.end.Reason != "cap" {
		t.Fatalf("%d accepted, end %+v", l.accepted, l.end)
	}
}

// TestClosedDomainsLeaveTheMemoryToOthers: an input that goes on while its domains cool for a day does not fill the memory
// with work that may not start.
func TestClosedDomainsLeaveTheMemoryToOthers(t *testing.T) {
	l := newLab(t, Config{Direct: true, InMemory: 100})
	never := func(time.Time, int) answer { t.Error("sent inside a cooldown"); return pass(ms) }
	for i := range 30 {
		l.step(CooldownKept{Scope: budget.Domain, Key: fmt.Sprintf("closed%d.test", i), Until: l.now.Add(24 * time.Hour), Cause: "Retry-After: 86400", Layer: "target"})
	}
	list := func() {
		for i := range 30 {
			l.list(fmt.Sprintf("closed%d.test", i), 20, never)
		}
		l.list("open.test", 200, func(time.Time, int) answer { return pass(10 * ms) })
	}
	list()
	for i := range 4 {
		l.at(time.Duration(i+1)*time.Minute, list)
	}
	l.run(time.Hour)
	if l.accepted != 1000 || l.elapsed() > 5*time.Minute {
		t.Errorf("%d of 1,000 accepted after %v, %d tasks in memory", l.accepted, l.elapsed(), len(l.m.tasks))
	}
}

// TestDomainsThatCoolOftenAreNotReadOverAndOver: what goes back to storage when a domain cools is little, however many it
// might have in flight.
func TestDomainsThatCoolOftenAreNotReadOverAndOver(t *testing.T) {
	l := newLab(t, Config{Direct: true, InMemory: 300})
	for i := range 5 {
		asked := 0
		l.list(fmt.Sprintf("d%d.test", i), 2000, func(time.Time, int) answer {
			if asked++; asked%100 == 0 {
				return answer{outcome: provider.Busy, wait: 45 * sec, took: 5 * ms}
			}
			return pass(20 * ms)
		})
	}
	l.run(24 * time.Hour)
	if l.accepted != 10_000 || l.rows > 15_000 {
		t.Errorf("%d rows read for %d tasks", l.rows, l.accepted)
	}
}

// TestAQueueThatRunsEmptyLeavesTheRing: thousands of domains with a task each leave no ring of empty queues behind.
func TestAQueueThatRunsEmptyLeavesTheRing(t *testing.T) {
	l := newLab(t, Config{Direct: true})
	for i := range 100 {
		l.list(fmt.Sprintf("d%d.test", i), 1, func(time.Time, int) answer { return pass(ms) })
	}
	for len(l.queue) > 0 && l.accepted == 0 {
		ev := heap.Pop(&l.queue).(labEvent)
		l.now = ev.at
		ev.run()
	}
	waiting := 0
	for _, d := range l.m.front.Domains {
		waiting += d.InHand
	}
	if size := l.m.front.Lanes[0].Size(); waiting == 0 || size != waiting {
		t.Errorf("%d queues in the ring, %d have a task", size, waiting)
	}
}
