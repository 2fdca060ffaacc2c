package core

import (
	"math/bits"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"dev.scrapetop/engine/budget"
	"dev.scrapetop/engine/frontier"
	"dev.scrapetop/engine/limits"
	"dev.scrapetop/engine/provider"
)

// scale drives a machine over very many domains in virtual time, as the laboratory does, but holds of a task no more than
// a byte: it is written down when it is read. What it allocates is little, so that the machine's allocations can be told.
type scale struct {
	t     testing.TB
	m     *Machine
	now   time.Time
	queue frontier.Wakes // of what happens outside the machine
	sites []scaleSite
	input []int32 // the domain of each task, in the order of the input
	read  Refilled
	fed   Queued
	spare []*exchange
	reply Replied
	item  [1]provider.Item
	end   *Ending

	total, steps  int
	sent, refused int
	most          int // tasks in memory
	rows          int // read from storage
	spent         map[string]time.Duration
	within        [40]int // steps by the bits of their nanoseconds, feeding aside
	heap          uint64  // live, when half of the tasks had ended
	allocations   uint64
}

// scaleSite is a domain: its server and the tasks that are stored of it.
type scaleSite struct {
	name     string
	serve    server
	first    int64  // id of its first task
	ended    []byte // by task: of its last state the first letter; 0: it waits
	stored   int    // how many of them the input has brought
	from     int    // those before have ended
	batch    int    // place in the batch that is being stored, from 1
	inFlight int
	wait     time.Time // announced
}

// exchange is a call on its way.
type exchange struct {
	call   *Call
	answer answer
}

// What happens outside, as kinds of frontier.Wakes.
const (
	scaleReply frontier.WakeKind = iota
	scaleStored
	scaleRead
	scaleFed
)

// What a step is about.
const (
	scaleYes   = "accepted"
	scaleNo    = "refused"
	scaleInput = "input"
	scaleDone  = "acknowledged"
	scaleBack  = "read"
	scaleTime  = "woken"
)

const (
	scaleFlight = 256
	scaleMemory = 10_000
	scaleBatch  = 1_000 // tasks that the input brings at a time
	scaleDead   = 12    // tasks that a domain which lets nobody in costs at most: five, those in flight, and its probes
)

// scalePolicy is the server of the k-th largest domain: all kinds, in turn.
func scalePolicy(k int) server {
	rng := rand.New(rand.NewPCG(uint64(k), 5))
	switch k % 7 {
	case 0:
		return func(time.Time, int) answer { return pass(20 * ms) }
	case 1:
		return slotsOf(always(5), constant(200*ms), silent, 20*ms)
	case 2:
		return windowed{n: 60, span: time.Minute, tells: true}.serve(constant(100*ms), 20*ms)
	case 3:
		return bucket(20, 10, constant(50*ms), silent)
	case 4:
		return func(time.Time, int) answer { return pass(8 * sec) }
	case 5: // busy now and then, for as long as it says
		return func(time.Time, int) answer {
			if rng.IntN(100) == 0 {
				return answer{outcome: provider.Busy, wait: 45 * sec, took: 20 * ms}
			}
			return pass(30 * ms)
		}
	}
	return func(now time.Time, _ int) answer { // lets nobody in for two hours
		if now.Sub(labStart) < 2*time.Hour {
			return answer{outcome: provider.Blocked, wait: silent, took: 20 * ms}
		}
		return pass(50 * ms)
	}
}

func newScale(t testing.TB, domains, tasks int) *scale {
	s := &scale{t: t, now: labStart, sites: make([]scaleSite, domains), spent: map[string]time.Duration{}}
	first := int64(1)
	for k, n := range zipf(domains, int64(tasks)) {
		s.sites[k] = scaleSite{name: domainName(k), serve: scalePolicy(k), first: first, ended: make([]byte, n)}
		first += n
		for range n {
			s.input = append(s.input, int32(k))
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	rng.Shuffle(len(s.input), func(i, j int) { s.input[i], s.input[j] = s.input[j], s.input[i] })
	s.reply.Reply.Items = s.item[:]
	return s
}

func (s *scale) site(domain string) *scaleSite { return &s.sites[domainNumber(domain)] }

// step is a step of the machine; what it takes is booked under a name.
func (s *scale) step(name string, ev Event) {
	began := time.Now()
	actions := s.m.Step(s.now, ev)
	took := time.Since(began)
	s.spent[name] += took
	s.steps++
	if name != scaleInput {
		s.within[bits.Len64(uint64(took))]++
	}
	s.most = max(s.most, len(s.m.tasks))
	for i := range actions {
		s.act(&actions[i])
	}
}

func (s *scale) act(a *Action) {
	switch a.Do {
	case Refill:
		s.read.Wants = a.Wants
		s.queue.Set(s.now.Add(ms), scaleRead, nil)
	case Send:
		s.send(a.Call)
	case Store:
		for i := range a.Settled {
			x := &a.Settled[i]
			if x.State != Accepted && x.State != Dead {
				continue
			}
			site := s.site(x.Task.Domain)
			end := &site.ended[x.Task.ID-site.first]
			if *end != 0 {
				s.t.Errorf("task %d of %s ended twice: %c, %s", x.Task.ID, x.Task.Domain, *end, x.State)
			}
			*end = x.State[0]
		}
		s.queue.Set(s.now.Add(ms), scaleStored, a.Call)
	case Ended:
		end := a.End
		s.end = &end
	}
}

func (s *scale) send(c *Call) {
	site := s.site(c.Domain)
	s.sent++
	if s.now.Before(site.wait) {
		s.t.Errorf("%s is asked %v before the end of a wait that it announced", c.Domain, site.wait.Sub(s.now))
	}
	site.inFlight++
	if len(s.spare) == 0 {
		s.spare = append(s.spare, &exchange{})
	}
	last := len(s.spare) - 1
	x := s.spare[last]
	s.spare = s.spare[:last]
	x.call, x.answer = c, site.serve(s.now, site.inFlight)
	s.queue.Set(s.now.Add(x.answer.took+trip), scaleReply, x)
}

// answered gives the machine what a server said.
func (s *scale) answered(x *exchange) {
	c, a := x.call, x.answer
	s.spare = append(s.spare, x)
	site := s.site(c.Domain)
	site.inFlight--
	item := provider.Item{Task: c.Tasks[0].ID, Outcome: a.outcome, Layer: provider.LayerTarget, Target: limits.Some(statusOf(a.outcome)), Signal: a.signal}
	name := scaleYes
	if a.outcome != provider.Accepted {
		name = scaleNo
		s.refused++
		if a.wait >= 0 {
			item.Signal.Wait, item.Signal.WaitSource = limits.Some(a.wait), "retry-after"
			if u := s.now.Add(a.wait); u.After(site.wait) {
				site.wait = u
			}
		}
	}
	r := &s.reply
	s.item[0], r.Call = item, c
	r.Reply.Outcome, r.Reply.Layer, r.Reply.Signal, r.Reply.HTTPStatus = a.outcome, item.Layer, item.Signal, item.Target
	s.step(name, r)
}

// feed stores the next tasks of the input and tells how many of each domain.
func (s *scale) feed() {
	n := min(scaleBatch, len(s.input))
	s.fed.Domains = s.fed.Domains[:0]
	for _, k := range s.input[:n] {
		site := &s.sites[k]
		if site.batch == 0 {
			s.fed.Domains = append(s.fed.Domains, DomainCount{Domain: site.name, Oldest: s.now})
			site.batch = len(s.fed.Domains)
		}
		s.fed.Domains[site.batch-1].N++
		site.stored++
	}
	for _, k := range s.input[:n] {
		s.sites[k].batch = 0
	}
	s.input = s.input[n:]
	s.step(scaleInput, s.fed)
	if len(s.input) == 0 {
		s.step(scaleInput, InputEnded{})
		return
	}
	s.queue.Set(s.now.Add(5*ms), scaleFed, nil)
}

// refill reads what the machine asked for.
func (s *scale) refill() {
	r := &s.read
	r.Tasks = r.Tasks[:0]
	for _, want := range r.Wants {
		site := s.site(want.Domain)
		for site.from < site.stored && site.ended[site.from] != 0 {
			site.from++
		}
		i := max(site.from, int(want.AfterID-site.first)+1)
		for n := 0; i < site.stored && n < want.N; i++ {
			if site.ended[i] == 0 {
				n++
				r.Tasks = append(r.Tasks, Waiting{Task: frontier.Task{
					ID: site.first + int64(i), URL: want.Domain, Own: want.Domain, Home: want.Domain, Domain: want.Domain, Created: labStart,
				}})
			}
		}
	}
	s.rows += len(r.Tasks)
	s.step(scaleBack, *r)
}

// run lets time pass until every task has ended.
func (s *scale) run() {
	s.total = len(s.input)
	var base runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&base)
	s.m = New(Config{Provider: "direct", Direct: true, Global: budget.Limits{InFlight: scaleFlight}, InMemory: scaleMemory, Seed: 1})
	s.queue.Set(s.now, scaleFed, nil)
	for s.end == nil {
		if c := &s.m.counts; s.heap == 0 && 2*(c.Accepted+c.Dead) >= int64(s.total) {
			var half runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&half)
			s.heap = half.HeapAlloc - base.HeapAlloc
		}
		at, ok := s.m.WakeAt()
		next, some := s.queue.Next()
		switch {
		case some && (!ok || !next.After(at)):
			s.now = next
			w, _ := s.queue.Due(next)
			switch w.Kind {
			case scaleReply:
				s.answered(w.Of.(*exchange))
			case scaleStored:
				s.step(scaleDone, Stored{Call: w.Of.(*Call)})
			case scaleRead:
				s.refill()
			default:
				s.feed()
			}
		case ok:
			if at.After(s.now) {
				s.now = at
			}
			s.step(scaleTime, Tick{})
		default:
			s.t.Fatalf("it stands still after %v: %+v, %d in memory", s.now.Sub(labStart), s.m.counts, len(s.m.tasks))
		}
		if s.steps%1000 == 0 {
			s.m.TakeDirty()
		}
	}
	var after runtime.MemStats
	runtime.ReadMemStats(&after)
	s.allocations = after.Mallocs - base.Mallocs
}

// check is what must hold for every run, whatever its size.
func (s *scale) check() {
	s.t.Helper()
	if s.end.State != "finished" {
		s.t.Errorf("ended %+v", *s.end)
	}
	accepted, dead := int64(0), int64(0)
	for k := range s.sites {
		was := dead
		for i, end := range s.sites[k].ended {
			switch end {
			case Accepted[0]:
				accepted++
			case Dead[0]:
				dead++
			default:
				s.t.Fatalf("task %d of %s did not end", i, domainName(k))
			}
		}
		if n := dead - was; n > 0 && k%7 != 6 || n > scaleDead {
			s.t.Errorf("%d tasks of %s are dead", n, domainName(k))
		}
	}
	if c := s.m.Counts(); c.Accepted != accepted || c.Dead != dead || c.Pending+c.Delayed+c.InFlight != 0 {
		s.t.Errorf("%d accepted and %d dead; the counts are %+v", accepted, dead, c)
	}
	if s.rows > 2*s.total {
		s.t.Errorf("%d rows read for %d tasks", s.rows, s.total)
	}
	if s.most > scaleMemory {
		s.t.Errorf("%d tasks in memory, at most %d", s.most, scaleMemory)
	}
	if n := s.m.Counts().MaxInFlight; n > scaleFlight {
		s.t.Errorf("%d in flight, at most %d", n, scaleFlight)
	}
}
