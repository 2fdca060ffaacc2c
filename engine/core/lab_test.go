package core

import (
	"container/heap"
	"fmt"
	"testing"
	"time"

	"dev.scrapetop/engine/frontier"
	"dev.scrapetop/engine/limits"
	"dev.scrapetop/engine/provider"
)

// lab drives a machine against scripted servers from an event queue in virtual time: no goroutine, no sleep.
type lab struct {
	t       testing.TB
	m       *Machine
	now     time.Time
	queue   labQueue
	seq     int
	stock   map[string][]frontier.Task // stored tasks by domain, in order
	taken   map[int64]bool
	servers map[string]server
	paths   map[int64]int // accepted by task
	rows    int           // read from storage

	accepted, refused, inWait, sent, dead int
	reasons                               map[string]int
	waits                                 map[string]time.Time
	flight, peak                          map[string]int
	end                                   *Ending
	told                                  []string
	looked                                []Action                 // lookups that ended
	when                                  []time.Duration          // each acceptance
	byDomain                              map[string]time.Duration // the last acceptance
	settled                               func(Settled)
}

// server says how a request that arrives at now, as the nth in flight, is answered and how long that takes.
type server func(now time.Time, inFlight int) (reply answer)

type answer struct {
	outcome provider.Outcome
	wait    time.Duration // announced; negative: none
	took    time.Duration
	signal  limits.Signal // what the headers say besides
	account bool          // the platform itself refuses, not the target
}

func pass(took time.Duration) answer { return answer{outcome: provider.Accepted, wait: -1, took: took} }

func refuse(wait, took time.Duration) answer {
	return answer{outcome: provider.Limited, wait: wait, took: took}
}

// trip is the way there and back.
const trip = time.Millisecond

type labEvent struct {
	at  time.Time
	seq int
	run func()
}

type labQueue []labEvent

func (q labQueue) Len() int { return len(q) }
func (q labQueue) Less(i, j int) bool {
	if q[i].at.Equal(q[j].at) {
		return q[i].seq < q[j].seq
	}
	return q[i].at.Before(q[j].at)
}
func (q labQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *labQueue) Push(x any)   { *q = append(*q, x.(labEvent)) }
func (q *labQueue) Pop() any {
	old := *q
	x := old[len(old)-1]
	*q = old[:len(old)-1]
	return x
}

var labStart = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

func newLab(t testing.TB, cfg Config) *lab {
	if cfg.Global.InFlight == 0 {
		cfg.Global.InFlight = 64
	}
	if cfg.MaxAttempts == 0 {
		cfg.MaxAttempts = 8
	}
	if cfg.Deadline == 0 {
		cfg.Deadline = 6 * time.Hour
	}
	return &lab{
		t: t, m: New(cfg), now: labStart, stock: map[string][]frontier.Task{}, taken: map[int64]bool{}, servers: map[string]server{},
		paths: map[int64]int{}, waits: map[string]time.Time{}, flight: map[string]int{}, peak: map[string]int{}, byDomain: map[string]time.Duration{}, reasons: map[string]int{},
	}
}

// list stores n tasks for a domain served by s.
func (l *lab) list(domain string, n int, s server) {
	l.servers[domain] = s
	base := int64(len(l.taken) + 1)
	for _, st := range l.stock {
		base += int64(len(st))
	}
	for i := range n {
		id := base + int64(i)
		u := fmt.Sprintf("http://%s/%d", domain, id)
		l.stock[domain] = append(l.stock[domain], frontier.Task{ID: id, URL: u, Own: u, Home: domain, Domain: domain, Created: l.now})
	}
	l.step(Queued{Domains: []DomainCount{{Domain: domain, N: int64(n), Oldest: l.now}}})
}

func (l *lab) at(d time.Duration, run func()) {
	l.seq++
	heap.Push(&l.queue, labEvent{l.now.Add(d), l.seq, run})
}

func (l *lab) step(ev Event) {
	for _, a := range l.m.Step(l.now, ev) {
		l.act(a)
	}
}

func (l *lab) act(a Action) {
	switch a.Do {
	case Refill:
		r := Refilled{Wants: a.Wants}
		for _, w := range a.Wants {
			n := 0
			for _, t := range l.stock[w.Domain] {
				if n == w.N {
					break
				}
				if t.ID > w.AfterID && !l.taken[t.ID] {
					r.Tasks = append(r.Tasks, Waiting{Task: t})
					n++
				}
			}
		}
		l.rows += len(r.Tasks)
		l.at(0, func() { l.step(r) })
	case Send:
		l.send(a.Call)
	case Store:
		c := a.Call
		for _, s := range a.Settled {
			if l.settled != nil {
				l.settled(s)
			}
			switch s.State {
			case Accepted:
				l.accepted++
				l.when = append(l.when, l.now.Sub(labStart))
				l.byDomain[s.Task.Domain] = l.now.Sub(labStart)
				l.paths[s.Task.ID]++
				l.taken[s.Task.ID] = true
			case Dead:
				l.dead++
				l.reasons[s.Reason]++
				l.taken[s.Task.ID] = true
			}
		}
		l.at(time.Millisecond, func() { l.step(Stored{Call: c}) })
	case LookupDone:
		l.looked = append(l.looked, a)
	case Ended:
		e := a.End
		l.end = &e
	case Tell:
		l.told = append(l.told, a.Event.Text)
	}
}

func (l *lab) send(c *Call) {
	l.sent++
	if c.health { // told nothing, it finds out
		l.at(trip, func() { l.step(&Replied{Call: c, Reply: provider.Reply{Outcome: provider.Failed}}) })
		return
	}
	d := c.Domain
	if l.now.Before(l.waits[d]) {
		l.inWait++
	}
	l.flight[d]++
	l.peak[d] = max(l.peak[d], l.flight[d])
	ans := l.servers[d](l.now, l.flight[d])
	l.at(ans.took+trip, func() {
		l.flight[d]--
		r := provider.Reply{Outcome: ans.outcome, HTTPStatus: limits.Some(statusOf(ans.outcome))}
		sig := ans.signal
		if ans.outcome == provider.Limited || ans.outcome == provider.Busy {
			r.Layer = provider.LayerTarget
			if ans.account {
				r.Layer = provider.LayerAccount
			}
			l.refused++
			if ans.wait >= 0 {
				sig.Wait, sig.WaitSource = limits.Some(ans.wait), "retry-after"
				if u := l.now.Add(ans.wait); u.After(l.waits[d]) {
					l.waits[d] = u
				}
			}
		}
		if ans.outcome == provider.Blocked || ans.outcome == provider.Failed {
			r.Layer = provider.LayerTarget
		}
		if ans.outcome == provider.Transport {
			r.Layer, r.HTTPStatus = provider.LayerTransport, limits.Opt[int]{}
		}
		r.Signal = sig
		for _, t := range c.Targets {
			if ans.account {
				break
			}
			r.Items = append(r.Items, provider.Item{Task: t.Task, Outcome: ans.outcome, Layer: r.Layer, Signal: sig, Target: r.HTTPStatus})
		}
		l.step(&Replied{Call: c, Reply: r})
	})
}

func statusOf(o provider.Outcome) int {
	switch o {
	case provider.Limited:
		return 429
	case provider.Busy:
		return 503
	}
	return 200
}

// run lets time pass until the run ended or until it passed the limit.
func (l *lab) run(most time.Duration) {
	l.step(InputEnded{})
	limit := l.now.Add(most)
	for l.end == nil {
		at, ok := l.m.WakeAt()
		if len(l.queue) > 0 && (!ok || l.queue[0].at.Before(at) || l.queue[0].at.Equal(at)) {
			ev := heap.Pop(&l.queue).(labEvent)
			l.now = ev.at
			ev.run()
			continue
		}
		if !ok || at.After(limit) {
			return
		}
		if at.After(l.now) {
			l.now = at
		}
		l.step(Tick{})
	}
}

func (l *lab) elapsed() time.Duration { return l.now.Sub(labStart) }
