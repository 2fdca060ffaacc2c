package frontier

import (
	"slices"
	"time"

	"dev.scrapetop/engine/budget"
)

// Task is one task in memory.
type Task struct {
	ID       int64
	URL      string // what to fetch: the task's own URL, or where a redirect led
	Own      string // the task's own URL
	Home     string // the hostname of the task's own URL
	Hop      bool   // URL is where a redirect led
	Domain   string // the domain it is stored under
	Tenant   string
	Priority int
	Tries    int
	Attempts int
	Invalids int
	Unknowns int // submits whose answer never came
	Hops     int
	Created  time.Time
	FirstTry time.Time // zero before the first
	Alone    bool      // never part of a batch: one with it was refused as a whole
	Until    time.Time // its own backoff's end, while it waits for that
	// Cancelled: a person called it off while it was in flight. It is not tried again; an answer that is accepted still counts.
	Cancelled bool
	Lookup    bool // not a stored task: a document that the engine needs (a sitemap)

	Queue *Queue // where it waits or will return to; nil while it is not placed
}

// Queue is one tenant's waiting tasks of one domain, first in first out; refused tasks return to the front.
type Queue struct {
	Domain *Domain
	Lane   *Lane

	tasks      []*Task
	head       int
	prev, next *Queue
	inRing     bool
}

// Len is the number of tasks that wait in memory.
func (q *Queue) Len() int { return len(q.tasks) - q.head }

// Front is the next task, or nil.
func (q *Queue) Front() *Task {
	if q.Len() == 0 {
		return nil
	}
	return q.tasks[q.head]
}

// Pop takes the next task.
func (q *Queue) Pop() *Task {
	t := q.Front()
	if t == nil {
		return nil
	}
	q.tasks[q.head] = nil
	q.head++
	q.Domain.InHand--
	if q.head == len(q.tasks) {
		q.tasks, q.head = q.tasks[:0], 0
	} else if q.head >= 64 && q.head*2 >= len(q.tasks) {
		n := copy(q.tasks, q.tasks[q.head:])
		clear(q.tasks[n:])
		q.tasks, q.head = q.tasks[:n], 0
	}
	return t
}

// Remove takes a task out, wherever it stands; false: it is not there.
func (q *Queue) Remove(t *Task) bool {
	at := slices.Index(q.tasks[q.head:], t)
	if at < 0 {
		return false
	}
	q.tasks = slices.Delete(q.tasks, q.head+at, q.head+at+1)
	q.Domain.InHand--
	if q.head == len(q.tasks) {
		q.tasks, q.head = q.tasks[:0], 0
	}
	return true
}

func (q *Queue) pushBack(t *Task) {
	q.tasks = append(q.tasks, t)
	q.Domain.InHand++
}

func (q *Queue) pushFront(t *Task) {
	q.Domain.InHand++
	if q.head > 0 {
		q.head--
		q.tasks[q.head] = t
		return
	}
	q.tasks = append(q.tasks, nil)
	copy(q.tasks[1:], q.tasks)
	q.tasks[0] = t
}

// Lane is one tenant's ring of queues that may start.
type Lane struct {
	Tenant string
	Budget *budget.Budget
	Stop   string // why the tenant starts nothing (its cap is reached); empty: it may

	Queues []*Queue // all of them, whether they may start or not
	Held   bool     // nothing of it may start until somebody acts

	ring   *Queue // the next to start
	size   int
	Parked bool // waits for a shared budget
}

// Next is the queue whose turn it is, or nil when none may start.
func (l *Lane) Next() *Queue { return l.ring }

// Size is the number of queues that may start.
func (l *Lane) Size() int { return l.size }

// Ready is the number of tasks in memory that wait in the ring, counted up to most.
func (l *Lane) Ready(most int) int {
	n := 0
	for q, i := l.ring, 0; i < l.size && n < most; q, i = q.next, i+1 {
		n += q.Len()
	}
	return n
}

// Rotate gives the turn to the following queue.
func (l *Lane) Rotate() {
	if l.ring != nil {
		l.ring = l.ring.next
	}
}

func (l *Lane) insert(q *Queue) {
	if q.inRing {
		return
	}
	q.inRing = true
	l.size++
	if l.ring == nil {
		q.prev, q.next = q, q
		l.ring = q
		return
	}
	// Behind everybody who waits already.
	last := l.ring.prev
	q.prev, q.next = last, l.ring
	last.next, l.ring.prev = q, q
}

func (l *Lane) remove(q *Queue) {
	if !q.inRing {
		return
	}
	q.inRing = false
	l.size--
	if l.size == 0 {
		l.ring = nil
	} else {
		q.prev.next, q.next.prev = q.next, q.prev
		if l.ring == q {
			l.ring = q.next
		}
	}
	q.prev, q.next = nil, nil
}

// Frontier is all the work that waits.
type Frontier struct {
	Domains map[string]*Domain
	Lanes   []*Lane
	InHand  int // tasks in memory, wherever they are

	lanes     map[string]*Lane
	turn      int
	hungry    []*Domain
	working   []*Domain // every domain that has work, and some that had
	newDomain func(name string) *budget.Budget
	newLane   func(tenant string) *budget.Budget
}

// New makes an empty frontier; the functions make the budgets of domains and tenants that appear.
func New(domain, tenant func(name string) *budget.Budget) *Frontier {
	return &Frontier{Domains: map[string]*Domain{}, lanes: map[string]*Lane{}, newDomain: domain, newLane: tenant}
}

// Domain returns the domain of that name, made if it is new.
func (f *Frontier) Domain(name string) *Domain {
	d := f.Domains[name]
	if d == nil {
		d = &Domain{Name: name, Budget: f.newDomain(name), Dirty: false}
		f.Domains[name] = d
	}
	return d
}

// Lane returns a tenant's lane, made if it is new.
func (f *Frontier) Lane(tenant string) *Lane {
	l := f.lanes[tenant]
	if l == nil {
		l = &Lane{Tenant: tenant, Budget: f.newLane(tenant)}
		f.lanes[tenant] = l
		f.Lanes = append(f.Lanes, l)
	}
	return l
}

// queue returns the queue of a tenant and domain.
func (f *Frontier) queue(d *Domain, tenant string) *Queue {
	for _, q := range d.Queues {
		if q.Lane.Tenant == tenant {
			return q
		}
	}
	q := &Queue{Domain: d, Lane: f.Lane(tenant)}
	d.Queues = append(d.Queues, q)
	q.Lane.Queues = append(q.Lane.Queues, q)
	return q
}

// Push places a task behind the others of its tenant and domain.
func (f *Frontier) Push(d *Domain, t *Task) { f.place(d, t).pushBack(t); f.wakeQueue(t.Queue) }

// Return places a task before the others: it had its turn and was refused, or must go on (a redirect).
func (f *Frontier) Return(d *Domain, t *Task) { f.place(d, t).pushFront(t); f.wakeQueue(t.Queue) }

// Assign tells which queue a task will wait in, without placing it: it is delayed.
func (f *Frontier) Assign(d *Domain, t *Task) { f.place(d, t) }

func (f *Frontier) place(d *Domain, t *Task) *Queue {
	if t.Queue == nil || t.Queue.Domain != d {
		t.Queue = f.queue(d, t.Tenant)
	}
	if d.Oldest.IsZero() || t.Created.Before(d.Oldest) {
		d.Oldest = t.Created
	}
	f.Works(d)
	return t.Queue
}

// Works notes that a domain has work: tasks in a queue, delayed, or stored.
func (f *Frontier) Works(d *Domain) {
	if !d.working {
		d.working = true
		f.working = append(f.working, d)
	}
}

// Working are the domains that have work. Those that have none any more leave the list here, so that a look costs nothing
// for what ended before the last look.
func (f *Frontier) Working(yield func(*Domain) bool) {
	for i := 0; i < len(f.working); {
		d := f.working[i]
		if d.InHand == 0 && d.Stored <= 0 && d.Log.Delayed == 0 {
			last := len(f.working) - 1
			f.working[i], f.working[last] = f.working[last], nil
			f.working, d.working = f.working[:last], false
			continue
		}
		if !yield(d) {
			return
		}
		i++
	}
}

func (f *Frontier) wakeQueue(q *Queue) {
	if !q.Domain.Parked && q.Len() > 0 {
		q.Lane.insert(q)
	}
}

// Park takes a domain's queues out of the rings until Wake.
func (f *Frontier) Park(d *Domain) {
	if d.Parked {
		return
	}
	d.Parked = true
	for _, q := range d.Queues {
		q.Lane.remove(q)
	}
}

// Wake puts a parked domain's queues back, behind those that wait.
func (f *Frontier) Wake(d *Domain) {
	if !d.Parked {
		return
	}
	d.Parked = false
	for _, q := range d.Queues {
		if q.Len() > 0 {
			q.Lane.insert(q)
		}
	}
}

// Drop takes a queue without tasks out of its ring.
func (f *Frontier) Drop(q *Queue) { q.Lane.remove(q) }

// NextLane is the tenant whose turn it is among those that have work and are not parked or stopped; nil: none. What tenants
// have in flight stands in the ratio of their ceilings; one without a ceiling counts like the one with the highest. Among
// equals it goes round.
func (f *Frontier) NextLane() *Lane {
	most := 1
	for _, l := range f.Lanes {
		most = max(most, l.ceiling())
	}
	var next *Lane
	least, at := 0.0, 0
	for i := range f.Lanes {
		l := f.Lanes[(f.turn+i)%len(f.Lanes)]
		if l.size == 0 || l.Parked || l.Stop != "" {
			continue
		}
		if share := l.share(most); next == nil || share < least {
			next, least, at = l, share, i
		}
	}
	if next != nil {
		f.turn += at + 1
	}
	return next
}

// ceiling is how many the tenant may have in flight; zero: no ceiling is set.
func (l *Lane) ceiling() int {
	return l.Budget.Limit()
}

// share is what the tenant has in flight in proportion to its ceiling.
func (l *Lane) share(otherwise int) float64 {
	weight := l.ceiling()
	if weight == 0 {
		weight = otherwise
	}
	return float64(l.Budget.InFlight()) / float64(weight)
}

// WantRefill notes that a domain runs low; one that is paused or barren wants nothing.
func (f *Frontier) WantRefill(d *Domain) {
	if d.Hungry || d.Reading || d.Stored <= 0 || d.Barren || d.Budget.IsPaused() {
		return
	}
	d.Hungry = true
	f.hungry = append(f.hungry, d)
}

// TakeHungry takes up to n domains that want a refill, in the order in which they asked.
func (f *Frontier) TakeHungry(n int) []*Domain {
	n = min(n, len(f.hungry))
	taken := f.hungry[:n:n]
	f.hungry = f.hungry[n:]
	if len(f.hungry) == 0 {
		f.hungry = nil
	}
	for _, d := range taken {
		d.Hungry, d.Reading = false, true
	}
	return taken
}

// Hungry is the number of domains that want a refill.
func (f *Frontier) Hungry() int { return len(f.hungry) }
