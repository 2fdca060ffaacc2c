package frontier

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"dev.scrapetop/engine/budget"
)

func newFrontier() *Frontier {
	return New(
		func(name string) *budget.Budget { return budget.New(budget.Domain, name, budget.Limits{}) },
		func(name string) *budget.Budget { return budget.New(budget.Tenant, name, budget.Limits{}) },
	)
}

// fill pushes n tasks of a tenant and domain; ids go on from base.
func fill(f *Frontier, tenant, domain string, base int64, n int) *Domain {
	d := f.Domain(domain)
	for i := range n {
		f.Push(d, &Task{ID: base + int64(i), Domain: domain, Tenant: tenant})
	}
	return d
}

// take starts up to n tasks in turn order and names them as domain and id.
func take(f *Frontier, n int) []string {
	var got []string
	for len(got) < n {
		l := f.NextLane()
		if l == nil {
			break
		}
		q := l.Next()
		t := q.Pop()
		if t == nil {
			f.Drop(q)
			continue
		}
		l.Rotate()
		got = append(got, fmt.Sprintf("%s%d", q.Domain.Name, t.ID))
	}
	return got
}

func check(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("started %v, want %v", got, want)
	}
}

func TestDomainsTakeTurns(t *testing.T) {
	f := newFrontier()
	fill(f, "", "a", 1, 3)
	fill(f, "", "b", 1, 1)
	fill(f, "", "c", 1, 2)
	check(t, take(f, 10), "a1", "b1", "c1", "a2", "c2", "a3")
	if f.NextLane() != nil {
		t.Error("nothing is left")
	}
}

func TestTenantsTakeTurns(t *testing.T) {
	f := newFrontier()
	fill(f, "acme", "a", 1, 4)
	fill(f, "acme", "b", 1, 4)
	fill(f, "zeta", "z", 1, 4)
	// However many domains a tenant has, each tenant gets every second turn.
	check(t, take(f, 6), "a1", "z1", "b1", "z2", "a2", "z3")
}

// TestTenantsShareByTheirCeilings: of what is let through in all, tenants have in flight what their ceilings are to each
// other; one without a ceiling counts like the highest.
func TestTenantsShareByTheirCeilings(t *testing.T) {
	ceilings := map[string]int{"small": 5, "large": 20}
	f := New(func(name string) *budget.Budget { return budget.New(budget.Domain, name, budget.Limits{}) },
		func(name string) *budget.Budget {
			return budget.New(budget.Tenant, name, budget.Limits{InFlight: ceilings[name]})
		})
	for _, tenant := range []string{"small", "large", "free"} {
		fill(f, tenant, tenant+".test", 1, 100)
	}
	now := time.Now()
	for range 18 { // what the key lets through
		l := f.NextLane()
		l.Next().Pop()
		l.Budget.Start(now)
	}
	for tenant, want := range map[string]int{"small": 2, "large": 8, "free": 8} {
		if got := f.Lane(tenant).Budget.InFlight(); got != want {
			t.Errorf("%s has %d of 18 in flight, want %d", tenant, got, want)
		}
	}
}

func TestParkedAndStoppedLanesAreSkipped(t *testing.T) {
	f := newFrontier()
	fill(f, "acme", "a", 1, 2)
	fill(f, "zeta", "z", 1, 2)
	f.Lane("acme").Parked = true
	check(t, take(f, 1), "z1")
	f.Lane("zeta").Stop = "cap"
	if f.NextLane() != nil {
		t.Error("one lane waits, the other is stopped")
	}
	f.Lane("acme").Parked = false
	check(t, take(f, 5), "a1", "a2")
}

func TestParkedDomainLeavesTheRingUntilItWakes(t *testing.T) {
	f := newFrontier()
	a := fill(f, "", "a", 1, 2)
	fill(f, "", "b", 1, 3)
	f.Park(a)
	f.Park(a)
	if f.Lane("").Size() != 1 {
		t.Errorf("%d queues in the ring, want 1", f.Lane("").Size())
	}
	check(t, take(f, 1), "b1")
	fill(f, "", "a", 3, 1) // work that comes meanwhile does not wake it
	check(t, take(f, 1), "b2")
	f.Wake(a)
	f.Wake(a)
	check(t, take(f, 9), "b3", "a1", "a2", "a3") // behind those that waited
}

func TestDomainOfSeveralTenantsParksWhole(t *testing.T) {
	f := newFrontier()
	d := fill(f, "acme", "a", 1, 1)
	fill(f, "zeta", "a", 2, 1)
	f.Park(d)
	if f.NextLane() != nil {
		t.Error("both tenants' queues of a parked domain wait")
	}
	f.Wake(d)
	check(t, take(f, 5), "a1", "a2")
	if len(d.Queues) != 2 {
		t.Errorf("%d queues, want one a tenant", len(d.Queues))
	}
}

func TestReturnedTaskGoesFirst(t *testing.T) {
	f := newFrontier()
	d := fill(f, "", "a", 1, 3)
	first := d.Queues[0].Pop()
	f.Return(d, first)
	check(t, take(f, 9), "a1", "a2", "a3")
	f.Return(d, first)
	check(t, take(f, 9), "a1")
}

func TestReturnedTaskMovesToTheHostItWasSentTo(t *testing.T) {
	f := newFrontier()
	a := fill(f, "", "a", 1, 1)
	task := a.Queues[0].Pop()
	b := f.Domain("b")
	f.Return(b, task)
	if task.Queue.Domain != b || a.InHand != 0 || b.InHand != 1 {
		t.Errorf("waits in %q; a holds %d, b holds %d", task.Queue.Domain.Name, a.InHand, b.InHand)
	}
}

func TestAssignPlacesNothing(t *testing.T) {
	f := newFrontier()
	d := f.Domain("a")
	task := &Task{ID: 1, Domain: "a"}
	f.Assign(d, task)
	if task.Queue == nil || d.InHand != 0 || f.NextLane() != nil {
		t.Errorf("a delayed task waits in no queue: %d in hand", d.InHand)
	}
	f.Push(d, task)
	check(t, take(f, 2), "a1")
}

func TestQueueKeepsItsOrderWhileItIsCompacted(t *testing.T) {
	f := newFrontier()
	d := f.Domain("a")
	next, popped := int64(1), int64(1)
	push := func(n int) { fill(f, "", "a", next, n); next += int64(n) }
	push(200)
	q := d.Queues[0]
	for round := range 300 {
		for range 3 {
			if task := q.Pop(); task.ID != popped {
				t.Fatalf("round %d: got %d, want %d", round, task.ID, popped)
			}
			popped++
		}
		if round%7 == 0 { // refused: it comes back to the front
			popped--
			f.Return(d, &Task{ID: popped, Domain: "a"})
		}
		push(3)
		if q.Len() != int(next-popped) || d.InHand != q.Len() {
			t.Fatalf("round %d: %d wait, want %d; in hand %d", round, q.Len(), next-popped, d.InHand)
		}
	}
	if cap(q.tasks) > 1024 {
		t.Errorf("a queue of %d holds room for %d", q.Len(), cap(q.tasks))
	}
}

func TestEmptyQueue(t *testing.T) {
	q := &Queue{Domain: &Domain{}}
	if q.Front() != nil || q.Pop() != nil || q.Len() != 0 {
		t.Error("an empty queue holds nothing")
	}
	l := &Lane{}
	l.Rotate()
	l.remove(q)
	if l.Next() != nil || l.Size() != 0 {
		t.Error("an empty ring has no turn")
	}
}

func TestRefillIsWantedOnce(t *testing.T) {
	f := newFrontier()
	a, b, c := f.Domain("a"), f.Domain("b"), f.Domain("c")
	a.Stored, b.Stored = 5, 5
	f.WantRefill(a)
	f.WantRefill(a)
	f.WantRefill(c) // nothing stored
	f.WantRefill(b)
	if f.Hungry() != 2 {
		t.Fatalf("%d want a refill, want 2", f.Hungry())
	}
	got := f.TakeHungry(1)
	if len(got) != 1 || got[0] != a || !a.Reading || a.Hungry {
		t.Fatalf("took %v", got)
	}
	f.WantRefill(a) // its read is under way
	if got := f.TakeHungry(5); len(got) != 1 || got[0] != b || f.Hungry() != 0 {
		t.Errorf("took %d, %d are left", len(got), f.Hungry())
	}
	a.Reading = false
	f.WantRefill(a)
	if f.Hungry() != 1 {
		t.Error("after its read it may want again")
	}
}

func TestRefillPosition(t *testing.T) {
	type pos struct {
		priority int
		id       int64
	}
	for _, c := range []struct {
		name   string
		passed []pos
		want   pos
	}{
		{"first", []pos{{5, 7}}, pos{5, 7}},
		{"later of one priority", []pos{{5, 7}, {5, 9}}, pos{5, 9}},
		{"lower priority is later", []pos{{5, 9}, {0, 3}}, pos{0, 3}},
		{"higher priority is earlier", []pos{{0, 3}, {5, 9}}, pos{0, 3}},
		{"earlier of one priority", []pos{{5, 9}, {5, 7}}, pos{5, 9}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := &Domain{}
			for _, p := range c.passed {
				d.Passed(p.priority, p.id)
			}
			if got := (pos{d.AfterPriority, d.AfterID}); got != c.want {
				t.Errorf("position %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestWaitingCountsWhatIsStoredToo(t *testing.T) {
	f := newFrontier()
	d := fill(f, "", "a", 1, 3)
	d.Stored = 40
	if d.Waiting() != 43 {
		t.Errorf("%d wait, want 43", d.Waiting())
	}
}

func TestFairnessHolds(t *testing.T) {
	f := newFrontier()
	for i := range 1000 {
		fill(f, "", fmt.Sprintf("d%04d.", i), 1, 5)
	}
	seen := map[string]int{}
	for i, s := range take(f, 5000) {
		d := s[:5]
		seen[d]++
		if seen[d] != i/1000+1 {
			t.Fatalf("start %d is the %d. of %s", i, seen[d], d)
		}
	}
	if len(seen) != 1000 {
		t.Errorf("%d domains started", len(seen))
	}
}

// TestWorkingLeavesOutWhatHasEnded: a look passes over a domain whose work has ended once, not each time, and finds it again
// when it has work.
func TestWorkingLeavesOutWhatHasEnded(t *testing.T) {
	f := newFrontier()
	look := func(want ...string) {
		t.Helper()
		var got []string
		for d := range f.Working {
			got = append(got, d.Name)
		}
		slices.Sort(got)
		check(t, got, want...)
	}
	for i := range 100 {
		fill(f, "", fmt.Sprintf("d%02d.", i), 1, 1)
	}
	stored := f.Domain("stored")
	stored.Stored = 2
	f.Works(stored)
	delayed := f.Domain("delayed")
	delayed.Log.Delayed++
	f.Assign(delayed, &Task{ID: 1, Domain: "delayed"})
	if take(f, 99); len(f.working) != 102 {
		t.Fatalf("%d in the list", len(f.working))
	}
	look("d99.", "delayed", "stored")
	if len(f.working) != 3 {
		t.Errorf("%d in the list after a look", len(f.working))
	}
	fill(f, "", "d07.", 2, 1)
	stored.Stored = 0
	look("d07.", "d99.", "delayed")
	for d := range f.Working {
		if d.Name == "d07." {
			break
		}
	}
	look("d07.", "d99.", "delayed")
}
