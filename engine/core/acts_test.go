package core

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"dev.scrapetop/engine/budget"
	"dev.scrapetop/engine/frontier"
	"dev.scrapetop/engine/limits"
	"dev.scrapetop/engine/provider"
)

// desk drives a machine by hand over three tasks of one domain, one in flight at a time.
type desk struct {
	t    *testing.T
	m    *Machine
	now  time.Time
	out  []*Call  // sent and not answered
	off  []*Call  // called off
	ends []string // stored, in order
}

func newDesk(t *testing.T) *desk {
	d := &desk{t: t, now: labStart, m: New(Config{Provider: "direct", Direct: true, Global: budget.Limits{InFlight: 1}})}
	d.step(Queued{Domains: []DomainCount{{Domain: "a.test", N: 3, Oldest: d.now}}})
	return d
}

func deskTask(id int64) frontier.Task {
	u := fmt.Sprint("http://a.test/", id)
	return frontier.Task{ID: id, URL: u, Own: u, Home: "a.test", Domain: "a.test", Created: labStart}
}

func (d *desk) step(ev Event) {
	var more []Event
	for _, a := range d.m.Step(d.now, ev) {
		switch a.Do {
		case Send:
			d.out = append(d.out, a.Call)
		case CallOff:
			d.off = append(d.off, a.Call)
		case Store:
			for _, s := range a.Settled {
				d.ends = append(d.ends, fmt.Sprint(s.Task.ID, " ", s.State))
			}
			more = append(more, Stored{Call: a.Call})
		case Refill:
			r := Refilled{Wants: append([]Want(nil), a.Wants...)}
			if len(d.m.tasks) == 0 && d.m.nextID == 0 {
				for id := int64(1); id <= 3; id++ {
					r.Tasks = append(r.Tasks, Waiting{Task: deskTask(id)})
				}
			}
			more = append(more, r)
		}
	}
	for _, ev := range more {
		d.step(ev)
	}
}

// answer ends the call that has been out longest.
func (d *desk) answer(o provider.Outcome) {
	c := d.out[0]
	d.out = d.out[1:]
	d.now = d.now.Add(10 * ms)
	r := provider.Reply{Outcome: o}
	if o != provider.Transport {
		r.HTTPStatus = limits.Some(200)
	}
	d.step(&Replied{Call: c, Reply: r})
}

func (d *desk) counts(want Counts) {
	d.t.Helper()
	c := d.m.Counts()
	got := Counts{Pending: c.Pending, Delayed: c.Delayed, InFlight: c.InFlight, Accepted: c.Accepted, Dead: c.Dead, Cancelled: c.Cancelled}
	if got != want {
		d.t.Errorf("counts %+v, want %+v", got, want)
	}
}

func cancelled(from State, tasks ...int64) Returned {
	r := Returned{Tasks: tasks}
	for _, id := range tasks {
		r.Changes = append(r.Changes, Change{Task: id, Domain: "a.test", From: from, To: Cancelled})
	}
	return r
}

// TestCancelled is what becomes of a task that is cancelled, by where it is.
func TestCancelled(t *testing.T) {
	cases := []struct {
		name  string
		drive func(d *desk)
		want  Counts
		ends  string
	}{
		{"waiting", func(d *desk) {
			d.step(Lent{Tasks: []int64{2}, Cancel: true})
			d.answer(provider.Accepted) // 1: what is lent does not go next
			d.step(cancelled(Pending, 2))
			d.answer(provider.Accepted) // 3
		}, Counts{Accepted: 2, Cancelled: 1}, "1 accepted, 3 accepted"},
		{"waiting for its backoff", func(d *desk) {
			d.answer(provider.Failed) // 1
			d.step(Lent{Tasks: []int64{1}, Cancel: true})
			d.step(cancelled(Pending, 1))
			d.now = d.now.Add(time.Hour)
			d.step(Tick{})
			d.answer(provider.Accepted)
			d.answer(provider.Accepted)
		}, Counts{Accepted: 2, Cancelled: 1}, "1 delayed, 2 accepted, 3 accepted"},
		{"in flight, broken off", func(d *desk) {
			d.step(Lent{Tasks: []int64{1}, Cancel: true})
			if len(d.off) != 1 || !d.m.AtWork(1) {
				d.t.Error("it is not called off")
			}
			d.answer(provider.Transport)
			if b := d.m.Domain("a.test").Budget; b.Failure() != 1 {
				d.t.Error("the site is blamed for it")
			}
		}, Counts{Pending: 1, InFlight: 1, Cancelled: 1}, "1 cancelled"},
		{"in flight, answered before that", func(d *desk) {
			d.step(Lent{Tasks: []int64{1}, Cancel: true})
			d.answer(provider.Accepted)
		}, Counts{Pending: 1, InFlight: 1, Accepted: 1}, "1 accepted"},
		{"in flight, failed before that", func(d *desk) {
			d.step(Lent{Tasks: []int64{1}, Cancel: true})
			d.answer(provider.Failed)
		}, Counts{Pending: 1, InFlight: 1, Cancelled: 1}, "1 cancelled"},
		{"in flight, never sent", func(d *desk) {
			d.step(Lent{Tasks: []int64{1}, Cancel: true})
			d.step(NotSent{Call: d.out[0]})
			d.out = d.out[1:]
		}, Counts{Pending: 1, InFlight: 1, Cancelled: 1}, "1 cancelled"},
		{"dead", func(d *desk) {
			d.answer(provider.NotFound)
			d.step(Lent{Tasks: []int64{1}, Cancel: true})
			d.step(cancelled(Dead, 1))
		}, Counts{Pending: 1, InFlight: 1, Cancelled: 1}, "1 dead"},
		{"lent to two acts", func(d *desk) {
			d.step(Lent{Tasks: []int64{2, 3}, Cancel: true})
			d.step(Lent{Tasks: []int64{3}})
			d.step(cancelled(Pending, 2, 3))
			d.answer(provider.Accepted)
			d.step(Returned{Tasks: []int64{3}})
		}, Counts{Accepted: 1, Cancelled: 2}, "1 accepted"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t)
			c.drive(d)
			d.counts(c.want)
			if ends := strings.Join(d.ends, ", "); ends != c.ends {
				t.Errorf("ended %q, want %q", ends, c.ends)
			}
		})
	}
}

// TestTriedNext: a task whose backoff a person ends goes before the others of its domain, and its old wake-up wakes nobody.
func TestTriedNext(t *testing.T) {
	d := newDesk(t)
	d.answer(provider.Failed) // 1; now 2 is out
	d.step(Lent{Tasks: []int64{1}})
	again := deskTask(1)
	again.Tries, again.Attempts = 1, 1
	d.step(Returned{Tasks: []int64{1}, Next: []frontier.Task{again}})
	d.counts(Counts{Pending: 2, InFlight: 1})
	d.answer(provider.Accepted)
	if d.out[0].Tasks[0].ID != 1 || d.out[0].Number != 2 {
		t.Errorf("task %d goes next", d.out[0].Tasks[0].ID)
	}
	d.now = d.now.Add(time.Hour)
	d.step(Tick{})
	d.counts(Counts{Pending: 1, InFlight: 1, Accepted: 1})
}

// TestRequeuedAndBuried: a dead letter waits again, and is dead again when that is undone.
func TestRequeuedAndBuried(t *testing.T) {
	d := newDesk(t)
	for range 3 {
		d.answer(provider.NotFound)
	}
	d.counts(Counts{Dead: 3})
	d.step(Lent{Tasks: []int64{1}})
	d.step(Returned{Tasks: []int64{1}, Changes: []Change{{Task: 1, Domain: "a.test", From: Dead, To: Pending}}})
	d.step(Lent{Tasks: []int64{1}})
	d.step(Returned{Tasks: []int64{1}, Changes: []Change{{Task: 1, Domain: "a.test", From: Pending, To: Dead}}})
	d.counts(Counts{Dead: 3})
	if n := d.m.Domain("a.test").Log.Dead; n != 3 {
		t.Errorf("the domain has %d dead", n)
	}
}

// TestNoRunEndsWhileTasksAreLent: what an act holds is neither work that only a person can let go on, nor done.
func TestNoRunEndsWhileTasksAreLent(t *testing.T) {
	for _, drained := range []bool{false, true} {
		d := newDesk(t)
		d.m.cfg.Unattended = true
		d.step(InputEnded{})
		d.step(Lent{Tasks: []int64{1, 2, 3}, Cancel: true})
		if drained {
			d.step(Draining{Reason: "you asked"})
		}
		d.answer(provider.Transport) // 1 was in flight
		if d.m.over {
			t.Fatalf("drained %v: it ended before the act", drained)
		}
		d.step(cancelled(Pending, 2, 3))
		d.counts(Counts{Cancelled: 3})
		if !d.m.over {
			t.Errorf("drained %v: it goes on after the act", drained)
		}
	}
}
