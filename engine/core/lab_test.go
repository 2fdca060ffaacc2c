package core

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
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

	accepted, refused, inWait, sent, dead int
	reasons                               map[string]int
	waits                                 map[string]time.Time
	flight, peak                          map[string]int
	end                                   *Ending
	told                                  []string
	settled                               func(Settled)
}

// server says how a request that arrives at now, as the nth in flight, is answered and how long that takes.
type server func(now time.Time, inFlight int) (reply answer)

type answer struct {
	outcome provider.Outcome
	status  int
	wait    time.Duration // announced; negative: none
	took    time.Duration
}

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
		paths: map[int64]int{}, waits: map[string]time.Time{}, flight: map[string]int{}, peak: map[string]int{}, reasons: map[string]int{},
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
				l.paths[s.Task.ID]++
				l.taken[s.Task.ID] = true
			case Dead:
				l.dead++
				l.reasons[s.Reason]++
				l.taken[s.Task.ID] = true
			}
		}
		l.at(time.Millisecond, func() { l.step(Stored{Call: c}) })
	case Ended:
		e := a.End
		l.end = &e
	case Tell:
		l.told = append(l.told, a.Event.Text)
	}
}

func (l *lab) send(c *Call) {
	d := c.Domain
	l.sent++
	if l.now.Before(l.waits[d]) {
		l.inWait++
	}
	l.flight[d]++
	l.peak[d] = max(l.peak[d], l.flight[d])
	ans := l.servers[d](l.now, l.flight[d])
	l.at(ans.took, func() {
		l.flight[d]--
		r := provider.Reply{Outcome: ans.outcome, HTTPStatus: limits.Some(ans.status)}
		sig := limits.Signal{}
		if ans.outcome == provider.Limited || ans.outcome == provider.Busy {
			r.Layer = provider.LayerTarget
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
			r.Items = append(r.Items, provider.Item{Task: t.Task, Outcome: ans.outcome, Layer: r.Layer, Signal: sig, Target: r.HTTPStatus})
		}
		l.step(&Replied{Call: c, Reply: r})
	})
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

// bucket answers like nginx limit_req with nodelay: rate a second, burst above it, everything else refused at once.
func bucket(rate float64, burst int, took, wait time.Duration) server {
	excess := -1.0
	var last time.Time
	return func(now time.Time, _ int) answer {
		e := 0.0
		if excess >= 0 {
			e = max(excess-rate*now.Sub(last).Seconds()+1, 0)
		}
		if e > float64(burst)+1e-6 {
			return answer{provider.Limited, 429, wait, took}
		}
		excess, last = e, now
		return answer{provider.Accepted, 200, -1, took}
	}
}

// slots answers like nginx limit_conn: n at once.
func slotsOf(n int, took time.Duration, wait time.Duration) server {
	busy := map[time.Time]int{}
	return func(now time.Time, _ int) answer {
		in := 0
		for end, k := range busy {
			if end.After(now) {
				in += k
			} else {
				delete(busy, end)
			}
		}
		if in >= n {
			return answer{provider.Limited, 429, wait, 2 * time.Millisecond}
		}
		busy[now.Add(took)]++
		return answer{provider.Accepted, 200, -1, took}
	}
}

func TestLabFindsLimits(t *testing.T) {
	cases := []struct {
		name    string
		n       int
		ideal   float64
		server  func(rng *rand.Rand) server
		least   float64
		refused int // per 1,000
	}{
		{"bucket 20/s burst 10, Retry-After 1", 300, 14.5, func(*rand.Rand) server { return bucket(20, 10, time.Millisecond, time.Second) }, 0.6, 150},
		{"bucket 20/s burst 10, silent", 300, 14.5, func(*rand.Rand) server { return bucket(20, 10, time.Millisecond, -1) }, 0.6, 150},
		{"bucket 5/s burst 1, silent", 200, 39.8, func(*rand.Rand) server { return bucket(5, 1, 20*time.Millisecond, -1) }, 0.5, 150},
		{"5 at once, 200 ms", 500, 20, func(*rand.Rand) server { return slotsOf(5, 200*time.Millisecond, -1) }, 0.8, 50},
		{"12 at once, 2 s", 1000, 166.7, func(*rand.Rand) server { return slotsOf(12, 2*time.Second, -1) }, 0.8, 50},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for seed := range uint64(5) {
				l := newLab(t, Config{Direct: true, Seed: seed})
				l.list("a.test", c.n, c.server(nil))
				l.run(time.Hour)
				eff := c.ideal / l.elapsed().Seconds()
				per := 1000 * l.refused / max(l.accepted, 1)
				t.Logf("seed %d: efficiency %.2f, %d refusals per 1,000, peak %d, %v, %s", seed, eff, per, l.peak["a.test"], l.elapsed(), l.m.front.Domain("a.test").Budget.Evidence())
				if l.accepted != c.n || l.inWait > 0 {
					t.Fatalf("accepted %d of %d, %d inside a wait, end %v", l.accepted, c.n, l.inWait, l.end)
				}
				if eff < c.least || per > c.refused {
					t.Errorf("efficiency %.2f (least %.2f), refusals %d (most %d)", eff, c.least, per, c.refused)
				}
				if l.end == nil || l.end.State != "finished" {
					t.Errorf("ended %v", l.end)
				}
			}
		})
	}
}
