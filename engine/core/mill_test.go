package core

import (
	"fmt"
	"math"
	"testing"
	"time"

	"dev.scrapetop/engine/budget"
	"dev.scrapetop/engine/frontier"
	"dev.scrapetop/engine/limits"
	"dev.scrapetop/engine/provider"
)

// mill keeps a machine at work for ever: each turn answers the call that has been in flight longest and acknowledges its
// end, and the machine starts the next. Half of the domains cool all the while. What ended is stored anew and read again
// every few turns. The mill itself allocates nothing.
type mill struct {
	m       *Machine
	now     time.Time
	flight  []*Call // a ring of n calls from head on
	head, n int
	reply   Replied
	items   [1]provider.Item
	read    Refilled // the answer to the read that is under way
	asked   bool
	fed     Queued  // what ended since the last meal
	stored  []int64 // by domain
	nextID  int64
}

const (
	millFlight = 256
	millTasks  = 400_000
	millFeed   = 256 // turns between two meals
)

// zipf shares total tasks among n domains: each gets one, and the k-th of the others a share of 1/k.
func zipf(n int, total int64) []int64 {
	sum := 0.0
	for k := range n {
		sum += 1 / float64(k+1)
	}
	sizes := make([]int64, n)
	due, given := 0.0, int64(0) // what rounding leaves of one is the next one's
	for k := range sizes {
		due += float64(total-int64(n)) / sum / float64(k+1)
		more := int64(math.Round(due)) - given
		given += more
		sizes[k] = 1 + more
	}
	return sizes
}

func newMill(domains int) *mill {
	w := &mill{
		m:   New(Config{Provider: "direct", Direct: true, Global: budget.Limits{InFlight: millFlight}}),
		now: labStart, flight: make([]*Call, 2*millFlight),
	}
	w.reply.Reply = provider.Reply{Outcome: provider.Accepted, HTTPStatus: limits.Some(200)}
	for k, size := range zipf(domains, millTasks) {
		name := domainName(k)
		if k%2 == 1 {
			w.step(CooldownKept{Scope: budget.Domain, Key: name, Until: w.now.Add(24 * time.Hour), Cause: "Retry-After: 86400", Layer: "target"})
		}
		w.fed.Domains = append(w.fed.Domains, DomainCount{Domain: name, N: size, Oldest: labStart})
		w.stored = append(w.stored, 0)
	}
	w.feed()
	for i := 0; i < 2*domains/millFeed+50; i++ { // until every pool, queue and ring has its size
		w.cycle()
	}
	return w
}

func (w *mill) step(ev Event) {
	for _, a := range w.m.Step(w.now, ev) {
		switch a.Do {
		case Send:
			w.flight[(w.head+w.n)%len(w.flight)] = a.Call
			w.n++
		case Refill:
			w.read.Wants, w.asked = a.Wants, true
		}
	}
}

// turn is one completion and one admission.
func (w *mill) turn() {
	c := w.flight[w.head]
	w.head, w.n = (w.head+1)%len(w.flight), w.n-1
	w.now = w.now.Add(100 * time.Microsecond)
	w.fed.Domains = append(w.fed.Domains, DomainCount{Domain: c.Domain, N: 1, Oldest: labStart})
	w.items[0] = provider.Item{Task: c.Tasks[0].ID, Outcome: provider.Accepted, Layer: provider.LayerTarget, Target: limits.Some(200)}
	w.reply.Call, w.reply.Reply.Items = c, w.items[:]
	w.step(&w.reply)
	w.step(Stored{Call: c})
}

// cycle is a meal and the turns that it lasts for.
func (w *mill) cycle() {
	for range min(millFeed, w.n) {
		w.turn()
	}
	w.feed()
}

// feed stores what ended, and brings what the machine wants to read until it wants no more.
func (w *mill) feed() {
	for _, d := range w.fed.Domains {
		w.stored[domainNumber(d.Domain)] += d.N
	}
	w.step(w.fed)
	w.fed.Domains = w.fed.Domains[:0]
	w.m.TakeDirty()
	for w.asked {
		w.asked = false
		w.read.Tasks = w.read.Tasks[:0]
		for _, want := range w.read.Wants {
			left := &w.stored[domainNumber(want.Domain)]
			for range min(int64(want.N), *left) {
				*left--
				w.nextID++
				w.read.Tasks = append(w.read.Tasks, Waiting{Task: frontier.Task{
					ID: w.nextID, URL: want.Domain, Own: want.Domain, Home: want.Domain, Domain: want.Domain, Created: labStart,
				}})
			}
		}
		w.step(w.read)
	}
}

func domainName(k int) string { return fmt.Sprintf("d%d.test", k) }

// domainNumber undoes domainName without a map, whose cost would be taken for the machine's.
func domainNumber(name string) (k int) {
	for i := 1; name[i] != '.'; i++ {
		k = 10*k + int(name[i]-'0')
	}
	return k
}

// BenchmarkStep is one admission and one completion: the answer to a call, which starts the next, and its acknowledgement.
// Half of the domains cool, sizes are Zipf's. With "read" the task's share of being stored and read is part of it.
func BenchmarkStep(b *testing.B) {
	for _, read := range []bool{false, true} {
		for _, domains := range []int{100, 1_000, 10_000, 100_000} {
			name := fmt.Sprint(domains)
			if read {
				name = "read/" + name
			}
			b.Run(name, func(b *testing.B) {
				w := newMill(domains)
				b.ReportAllocs()
				for i := 1; b.Loop(); i++ {
					w.turn()
					if i%millFeed > 0 {
						continue
					}
					if read {
						w.feed()
						continue
					}
					b.StopTimer()
					w.feed()
					b.StartTimer()
				}
				if w.n < millFlight/2 {
					b.Fatalf("%d in flight", w.n)
				}
			})
		}
	}
}

// TestAStepAllocatesNothing: in steady state neither an admission nor a completion costs an allocation, and the read of some
// hundred tasks costs a few.
func TestAStepAllocatesNothing(t *testing.T) {
	for _, domains := range []int{100, 10_000} {
		w := newMill(domains)
		const turns = millFeed / 4
		for range 5 {
			if n := testing.AllocsPerRun(3, func() {
				for range turns {
					w.turn()
				}
			}); n > 0 {
				t.Errorf("%d domains: %v allocations in %d turns", domains, n, turns)
			}
			w.feed()
		}
		if n := testing.AllocsPerRun(10, w.cycle); n > 20 {
			t.Errorf("%d domains: %v allocations for a read and %d turns", domains, n, millFeed)
		}
		if w.n < millFlight/2 {
			t.Errorf("%d domains: only %d in flight", domains, w.n)
		}
	}
}
