package budget

import (
	"testing"
	"time"
)

// startsAt lets a budget start as fast as it allows for a while, and returns how many did in each second.
func startsAt(b *Budget, from time.Time, seconds int) []int {
	n := make([]int, seconds)
	for at := from; at.Before(from.Add(time.Duration(seconds) * time.Second)); at = at.Add(5 * time.Millisecond) {
		for b.Gate(at).OK {
			b.Start(at)
			b.Release()
			n[int(at.Sub(from)/time.Second)]++
		}
	}
	return n
}

func sum(n []int) (all int) {
	for _, x := range n {
		all += x
	}
	return all
}

func TestRememberedLimitIsHeld(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name        string
		l           Learned
		trust       float64
		least, most int // starts in 20 s
	}{
		{"rate", Learned{Kind: KindRate, Limit: 3, PerSecond: 2}, 1, 38, 43},
		{"rate, two days old: half of it", Learned{Kind: KindRate, Limit: 3, PerSecond: 2}, 0.25, 18, 26},
		{"window", Learned{Kind: KindWindow, Limit: 30, Window: time.Minute}, 1, 10, 30},
	} {
		b := New(Domain, "a.test", Limits{Find: true})
		b.Remember(now, Memory{Learned: &c.l, Trust: c.trust})
		if n := sum(startsAt(b, now, 20)); n < c.least || n > c.most {
			t.Errorf("%s: %d starts in 20 s, want %d to %d", c.name, n, c.least, c.most)
		}
		if b.Evidence() == "" || !b.Lowered() {
			t.Errorf("%s: nothing is said of it", c.name)
		}
		if _, ok := b.Learned(); ok {
			t.Errorf("%s: what is only remembered was not learned in this run", c.name)
		}
	}
}

func TestRememberedNumberInFlight(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		trust float64
		limit int
		want  int
	}{{1, 12, 12}, {0.3, 12, 6}, {1, 1, 1}, {0.001, 12, 2}} {
		b := New(Domain, "a.test", Limits{Find: true})
		b.Remember(now, Memory{Learned: &Learned{Kind: KindConcurrency, Limit: c.limit}, Trust: c.trust})
		at := now
		for range 40 {
			at = at.Add(50 * time.Millisecond)
			for b.Gate(at).OK {
				b.Start(at)
			}
			if at.Sub(now) == 50*time.Millisecond && b.InFlight() > 3 {
				t.Errorf("limit %d: %d at once in the first step", c.limit, b.InFlight())
			}
		}
		if b.InFlight() != c.want {
			t.Errorf("limit %d, trust %v: %d in flight, want %d", c.limit, c.trust, b.InFlight(), c.want)
		}
	}
}

// TestRestartOverspendsNothing: what was sent just before a restart counts in a remembered window, bucket, configured rate
// and told window.
func TestRestartOverspendsNothing(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	var before []time.Time
	for i := range 8 {
		before = append(before, now.Add(time.Duration(i-8)*100*time.Millisecond))
	}
	told := func(at time.Time, left int64) Memory {
		return Memory{Starts: before, Told: left, ToldAt: at, Reset: now.Add(time.Minute)}
	}
	for _, c := range []struct {
		name string
		b    *Budget
		m    Memory
		most int // starts in 20 s
	}{
		{"window of 10", New(Domain, "a.test", Limits{Find: true}), Memory{Learned: &Learned{Kind: KindWindow, Limit: 10, Window: time.Minute}, Trust: 1, Starts: before}, 2},
		{"full bucket", New(Domain, "a.test", Limits{Find: true}), Memory{Learned: &Learned{Kind: KindRate, Limit: 8, PerSecond: 0.1}, Trust: 1, Starts: before}, 3},
		{"configured rate", New(IP, "p", Limits{Rate: Rate{N: 10, Per: time.Minute}}), Memory{Starts: before}, 2},
		{"told window", New(Domain, "a.test", Limits{Find: true}), told(before[4], 5), 2},
		{"told window, told before all of them", New(Domain, "a.test", Limits{Find: true}), told(before[0].Add(-time.Second), 9), 1},
	} {
		c.b.Remember(now, c.m)
		if n := sum(startsAt(c.b, now, 20)); n > c.most || n == 0 && c.most > 0 {
			t.Errorf("%s: %d starts, want 1 to %d", c.name, n, c.most)
		}
	}
}

func TestTrustHalvesAfterADay(t *testing.T) {
	for _, c := range []struct {
		age  time.Duration
		want float64
	}{{0, 1}, {-time.Hour, 1}, {24 * time.Hour, 0.5}, {72 * time.Hour, 0.125}} {
		if got := TrustAt(c.age); got != c.want {
			t.Errorf("%v: %v, want %v", c.age, got, c.want)
		}
	}
}

// TestSlotEdgeIsRemembered: a number that a refusal of a platform found holds from the start, and is tried again after a
// while.
func TestSlotEdgeIsRemembered(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	b := New(Account, "main", Limits{})
	b.Remember(now, Memory{Learned: &Learned{Kind: KindConcurrency, Limit: 4}, Trust: 1})
	for b.Gate(now).OK {
		b.Start(now)
	}
	if b.InFlight() != 4 {
		t.Fatalf("%d in flight", b.InFlight())
	}
	later := now.Add(edgeHold)
	b.Answered(later, now, 4, 0)
	if !b.Gate(later).OK {
		t.Error("one more is never tried")
	}
}

// TestRefusalCorrectsAMemory: a remembered number that is too high is lowered by the first refusal.
func TestRefusalCorrectsAMemory(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	b := New(Domain, "a.test", Limits{Find: true})
	b.Remember(now, Memory{Learned: &Learned{Kind: KindConcurrency, Limit: 12}, Trust: 1})
	rng := newRand(1)
	at := now.Add(time.Second)
	for range 8 {
		b.Start(at)
	}
	b.Refused(at.Add(10*time.Millisecond), Refusal{Sent: at, InFlight: 8}, rng)
	b.Release()
	if l, ok := b.Learned(); !ok || l.Limit > 7 {
		t.Fatalf("learned %+v, %v", l, ok)
	}
}

// TestSlownessThatPassedIsForgiven: what slow answers took away comes back when they are quick again, also from a number
// that was learned and is held.
func TestSlownessThatPassedIsForgiven(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	b := New(Domain, "a.test", Limits{Find: true})
	b.Remember(now, Memory{Learned: &Learned{Kind: KindConcurrency, Limit: 12}, Trust: 1})
	answers := func(took time.Duration, n int) {
		for range n {
			b.Start(now)
			now = now.Add(took)
			b.Release()
			b.Answered(now, now.Add(-took), 1, 0)
		}
	}
	answers(100*time.Millisecond, 2*latencySamples)
	answers(500*time.Millisecond, 4*latencySamples)
	if b.Limit() > 4 {
		t.Fatalf("%d allowed while answers take five times as long", b.Limit())
	}
	answers(100*time.Millisecond, 12*latencySamples)
	if b.Limit() != 12 {
		t.Errorf("%d allowed after it passed, want the 12 of before", b.Limit())
	}
}

// TestRememberedLimitIsRenewedByWork: a limit that was worked under counts as found anew, one that nothing was done under
// or that only half is believed of does not.
func TestRememberedLimitIsRenewedByWork(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		trust float64
		work  bool
		want  bool
	}{{1, true, true}, {1, false, false}, {0.2, true, false}} {
		b := New(Domain, "a.test", Limits{Find: true})
		b.Remember(now, Memory{Learned: &Learned{Kind: KindConcurrency, Limit: 12}, Trust: c.trust})
		if c.work {
			b.Start(now)
			b.Release()
			b.Answered(now.Add(time.Second), now, 1, 0)
		}
		if l, ok := b.Learned(); ok != c.want || ok && l.Limit != 12 {
			t.Errorf("trust %v, work %v: %+v, %v", c.trust, c.work, l, ok)
		}
	}
}
