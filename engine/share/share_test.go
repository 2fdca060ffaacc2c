package share

import (
	"errors"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dev.scrapetop/engine/budget"
	"dev.scrapetop/engine/lease"
)

// room is a place in memory.
type room struct {
	mu    sync.Mutex
	chair *chair
	known int
}

type chair struct {
	room *room
	in   chan net.Conn
	left chan struct{}
}

func (r *room) dial() (net.Conn, error) {
	r.mu.Lock()
	c := r.chair
	r.mu.Unlock()
	if c == nil {
		return nil, errors.New("nobody is there")
	}
	mine, its := net.Pipe()
	select {
	case c.in <- its:
		return mine, nil
	case <-c.left:
		return nil, errors.New("it left")
	}
}

func (r *room) hold() (seat, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.chair != nil {
		return nil, errHeld
	}
	r.chair = &chair{r, make(chan net.Conn), make(chan struct{})}
	return r.chair, nil
}

func (c *chair) accept() (net.Conn, error) {
	select {
	case conn := <-c.in:
		return conn, nil
	case <-c.left:
		return nil, net.ErrClosed
	}
}

func (c *chair) before() int {
	c.room.mu.Lock()
	defer c.room.mu.Unlock()
	return c.room.known
}

func (c *chair) note(n int) error {
	c.room.mu.Lock()
	defer c.room.mu.Unlock()
	c.room.known = n
	return nil
}

func (c *chair) leave(alone bool) error {
	c.room.mu.Lock()
	defer c.room.mu.Unlock()
	if close(c.left); alone {
		c.room.known = 0
	}
	c.room.chair = nil
	return nil
}

var key = lease.Key{Provider: "evomi", Scope: budget.Credential, Name: "main"}

// worker is a process that always wants so many slots of five.
type worker struct {
	t       *testing.T
	mu      sync.Mutex
	m       *member
	news    lease.News
	slots   int
	want    int
	flying  int
	whole   bool
	cooled  []time.Time
	stopped bool
}

const five = 5

func enter(t *testing.T, r *room, want int) *worker {
	t.Helper()
	w := &worker{t: t, want: want}
	sharing, first, err := open(r, w.hear)
	if err != nil {
		t.Fatal(err)
	}
	w.m = sharing.(*member)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.take(first)
	return w
}

func (w *worker) hear(n lease.News) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.take(n)
}

func (w *worker) take(n lease.News) {
	if w.stopped {
		return
	}
	if n.Bound && !n.Lost && (!w.news.Bound || w.news.Lost) {
		w.slots, w.whole = w.flying, true
	}
	w.news = n
	for _, g := range n.Grants {
		w.slots = g.Slots
	}
	for range n.Cooled {
		w.cooled = append(w.cooled, time.Now())
	}
	switch {
	case !n.Bound:
		w.slots = five
	case n.Lost:
		w.slots = lease.Safe(five, n.Members)
	}
	w.work()
}

// work uses what it may and says so.
func (w *worker) work() {
	w.flying = min(w.slots, w.want)
	if !w.news.Bound {
		return
	}
	w.m2().Report(lease.Report{Done: w.news.Number, Whole: w.whole, Demands: []lease.Demand{{
		Key: key, Want: w.want, InFlight: w.flying, Ceiling: five, Holds: w.slots,
	}}})
	w.whole = false
}

// m2 is the member, which is not known yet while it opens.
func (w *worker) m2() lease.Sharing {
	if w.m == nil {
		return nobody{}
	}
	return w.m
}

type nobody struct{}

func (nobody) Report(lease.Report) {}
func (nobody) Leave()              {}

func (w *worker) has() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.flying
}

func (w *worker) leave() {
	w.mu.Lock()
	w.stopped, w.flying, w.slots = true, 0, 0
	w.mu.Unlock()
	w.m.Leave()
}

// settle lets a while pass in which never more than five are in flight, and returns what each has then.
func settle(t *testing.T, long time.Duration, all ...*worker) []int {
	t.Helper()
	var each []int
	for end := time.Now().Add(long); time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
		each = each[:0]
		sum := 0
		for _, w := range all {
			each = append(each, w.has())
			sum += each[len(each)-1]
		}
		if sum > five {
			t.Fatalf("%v in flight of %d", each, five)
		}
	}
	return each
}

func TestProcessesJoinShareAndLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &room{}
		a := enter(t, r, 9)
		if got := settle(t, time.Second, a); got[0] != five || a.news.Bound {
			t.Fatalf("alone: %v, bound %v", got, a.news.Bound)
		}
		b := enter(t, r, 9)
		if got := settle(t, 20*time.Second, a, b); got[0]+got[1] != five || got[0] < 2 || got[1] < 2 {
			t.Fatalf("two: %v", got)
		}
		c := enter(t, r, 1)
		if got := settle(t, 20*time.Second, a, b, c); got[0]+got[1]+got[2] != five || got[2] != 1 {
			t.Fatalf("three, of which one wants one: %v", got)
		}
		// The one that serves leaves: another takes over.
		a.leave()
		if got := settle(t, 2*term, b, c); got[0] != 4 || got[1] != 1 {
			t.Fatalf("the holder left: %v", got)
		}
		c.leave()
		if got := settle(t, 2*term, b); got[0] != five || b.news.Bound {
			t.Fatalf("alone again: %v, bound %v", got, b.news.Bound)
		}
		b.leave()
		if r.chair != nil || r.known != 0 {
			t.Errorf("something was left behind: %+v", r)
		}
	})
}

func TestCooldownReachesTheOthersAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &room{}
		a := enter(t, r, 1)
		b, c := enter(t, r, 1), enter(t, r, 1)
		settle(t, time.Second, a, b, c)
		met := time.Now()
		b.m.Report(lease.Report{Cooled: []lease.Cooldown{{Key: key, Left: time.Minute, Cause: "Retry-After: 60"}}})
		b.m.Report(lease.Report{Cooled: []lease.Cooldown{{Key: key, Left: 30 * time.Second, Cause: "shorter"}}})
		settle(t, time.Second, a, b, c)
		for _, w := range []*worker{a, c} {
			if len(w.cooled) != 1 || w.cooled[0].Sub(met) > 250*time.Millisecond {
				t.Errorf("told at %v, met at %v", w.cooled, met)
			}
		}
		for _, w := range []*worker{a, b, c} {
			w.leave()
		}
	})
}

// TestHolderThatDoesNotAnswer: what was granted holds until the lease ends, then an even part does.
func TestHolderThatDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &room{}
		mute, its := net.Pipe()
		r.chair = &chair{r, make(chan net.Conn), make(chan struct{})}
		go func() { // it grants four of five, and is not heard of again
			conn := <-r.chair.in
			l := newLink(conn)
			said := false
			_ = read(l, func(m told) {
				if !said {
					l.send(heard{Version: version, Number: m.Number, Members: 2, Bound: true})
					l.send(heard{Number: m.Number, Deal: 1, Grants: []lease.Grant{{Key: key, Slots: 4, Starts: lease.UnlimitedStarts}}})
				}
				said = true
			})
			l.close()
			its.Close()
		}()
		w := enter(t, r, 9)
		if got := settle(t, term-time.Second, w); got[0] != 4 || w.news.Lost {
			t.Fatalf("while its lease lasts: %v", got)
		}
		if got := settle(t, 2*time.Second+graceFor, w); got[0] != 2 || !w.news.Lost {
			t.Fatalf("after it: %v, lost %v", got, w.news.Lost)
		}
		w.m.link.close() // the silent one ends, and its seat is free
		r.mu.Lock()
		close(r.chair.left)
		r.chair, r.known = nil, 2
		r.mu.Unlock()
		if got := settle(t, 2*term, w); got[0] != five || w.news.Bound {
			t.Fatalf("when it has taken over and learned: %v, bound %v", got, w.news.Bound)
		}
		w.leave()
		mute.Close()
	})
}
