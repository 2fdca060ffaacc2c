package budget

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestCeilings(t *testing.T) {
	for _, c := range []struct {
		name string
		l    Limits
		set  func(*Budget)
		want int // in flight at most; zero: none
	}{
		{"none", Limits{}, nil, 0},
		{"configured", Limits{InFlight: 5}, nil, 5},
		{"a person's is lower", Limits{InFlight: 5}, func(b *Budget) { b.SetUserLimit(3) }, 3},
		{"a person's never raises", Limits{InFlight: 5}, func(b *Budget) { b.SetUserLimit(30) }, 5},
		{"a person's given back", Limits{InFlight: 5}, func(b *Budget) { b.SetUserLimit(3); b.SetUserLimit(-1) }, 5},
		{"lease", Limits{InFlight: 5}, func(b *Budget) { b.SetLease(Lease{Bound: true, Slots: 2, Starts: 99}) }, 2},
		{"before the first answer", Limits{InFlight: 5, Start: 1}, nil, 1},
		{"after the first answer", Limits{InFlight: 5, Start: 1}, func(b *Budget) { b.Answered(t0, t0, 1, 0) }, 5},
		{"free slots", Limits{InFlight: 5}, func(b *Budget) { b.Slots(t0, 3, 3) }, 3},
		{"free slots never raise", Limits{InFlight: 5}, func(b *Budget) { b.Slots(t0, 30, 30) }, 5},
		{"a refusal told the limit", Limits{}, func(b *Budget) { b.SlotLimit(7); b.SlotLimit(0) }, 7},
		{"unknown domain", Limits{Find: true}, nil, 2},
		{"unknown domain, configured lower", Limits{Find: true, InFlight: 1}, nil, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := New(Domain, "a.test", c.l)
			if c.set != nil {
				c.set(b)
			}
			if b.Limit() != c.want {
				t.Fatalf("Limit() = %d, want %d", b.Limit(), c.want)
			}
			n := 0
			for ; b.Gate(t0).OK && n < 100; n++ {
				b.Start(t0)
			}
			if c.want > 0 && n != c.want {
				t.Errorf("%d could start, want %d", n, c.want)
			}
			if c.want > 0 && b.Gate(t0).Why != Slots {
				t.Errorf("closed by %q", b.Gate(t0).Why)
			}
			for b.InFlight() > 0 {
				b.Release()
			}
			b.Release()
			if b.InFlight() != 0 {
				t.Errorf("released below zero: %d", b.InFlight())
			}
		})
	}
}

func TestHeldSlotsCount(t *testing.T) {
	b := New(Credential, "main", Limits{InFlight: 2})
	b.Hold()
	b.Hold()
	if g := b.Gate(t0); g.OK || g.Why != Slots {
		t.Errorf("work of before a restart holds its slots: %+v", g)
	}
}

func TestRateHoldsInAnySpan(t *testing.T) {
	for _, c := range []struct {
		n   int
		per time.Duration
	}{{1, time.Second}, {3, time.Second}, {20, time.Second}, {300, 15 * time.Minute}} {
		b := New(Global, "", Limits{Rate: Rate{c.n, c.per}})
		var at []time.Time
		now := t0
		for len(at) < 4*c.n+3 {
			g := b.Gate(now)
			if !g.OK {
				if g.Why != Pace || !g.At.After(now) {
					t.Fatalf("closed without a wake-up: %+v", g)
				}
				now = g.At
				continue
			}
			b.Start(now)
			b.Release()
			at = append(at, now)
			now = now.Add(c.per / time.Duration(7*c.n))
		}
		for i := range at[c.n:] {
			if span := at[i+c.n].Sub(at[i]); span < c.per {
				t.Fatalf("%d starts in %v, allowed %d per %v", c.n+1, span, c.n, c.per)
			}
		}
	}
}

func TestGap(t *testing.T) {
	b := New(Credential, "main", Limits{Gap: 50 * time.Millisecond})
	b.Start(t0)
	if g := b.Gate(after(49 * time.Millisecond)); g.Why != Pace || !g.At.Equal(after(50*time.Millisecond)) {
		t.Errorf("within the gap: %+v", g)
	}
	b.SetGap(2 * time.Second)
	b.SetGap(time.Second)
	if g := b.Gate(after(time.Second)); !g.At.Equal(after(2 * time.Second)) {
		t.Errorf("a gap only grows: %+v", g)
	}
	if b.PerSecond() != 0.5 {
		t.Errorf("PerSecond() = %v, want 0.5", b.PerSecond())
	}
	// After a probe the gap still counts.
	until, _ := b.Refused(after(10*time.Second), announced(after(9*time.Second), time.Second), newRand(2))
	b.Start(until)
	b.Release()
	b.Answered(until, until, 1, b.probe)
	if g := b.Gate(until.Add(time.Second)); g.OK || g.Why != Pace {
		t.Errorf("after a probe: %+v", g)
	}
}

func TestQuota(t *testing.T) {
	minute := time.Minute
	b := New(Domain, "a.test", Limits{})
	spend := func(now time.Time, n int) (started int) {
		for started < n && b.Gate(now).OK {
			b.Start(now)
			b.Release()
			started++
		}
		return started
	}
	b.Start(t0)
	b.Release()
	b.Quota(after(time.Second), 9, minute)
	b.Answered(after(time.Second), t0, 1, 0)
	if n := spend(after(time.Second), 4); n != 4 {
		t.Fatalf("%d of 9 could start, want 4", n)
	}
	// Inside one window a larger number is an older one: what was started since may be missing in it.
	b.Start(after(time.Second))
	b.Release()
	b.Quota(after(2*time.Second), 20, minute-time.Second)
	b.Answered(after(2*time.Second), after(time.Second), 1, 0)
	if n := spend(after(2*time.Second), 100); n != 5 {
		t.Fatalf("%d more could start, want 5", n)
	}
	end := after(61 * time.Second)
	if g := b.Gate(after(3 * time.Second)); g.Why != Quota || !g.At.Equal(end) {
		t.Fatalf("spent: %+v, want closed until %v", g, end)
	}
	if !b.Gate(end).OK {
		t.Error("open at the reset")
	}
	// Another user: fewer left than we counted.
	b.Start(end)
	b.Release()
	b.Quota(end.Add(time.Second), 2, minute)
	b.Answered(end.Add(time.Second), end, 1, 0)
	if n := spend(end.Add(time.Second), 100); n != 2 {
		t.Errorf("%d could start, want the 2 that were told", n)
	}
	// Room is told in a window that ends far later: a new one.
	b.Quota(end.Add(2*time.Second), 50, 10*minute)
	if !b.Gate(end.Add(2 * time.Second)).OK {
		t.Error("a new window reopens")
	}
}

// TestQuotaOfABurstWhoseAnswersOvertakeEachOther: while some are under way they may be missing in what is told; when all
// have answered, as many are left as the least of them says.
func TestQuotaOfABurstWhoseAnswersOvertakeEachOther(t *testing.T) {
	b := New(Domain, "a.test", Limits{})
	for range 20 {
		b.Start(t0)
	}
	told := rand.New(rand.NewPCG(1, 2)).Perm(20) // the server took them in another order
	for i, k := range told {
		now := after(time.Duration(i+1) * time.Millisecond)
		b.Release()
		b.Quota(now, int64(99-k), time.Minute)
		b.Answered(now, t0, 1, 0)
		least := slices.Max(told[:i+1]) + 1
		if left, _ := b.Left(now); left > 100-least || left > 80 || left < 100-least-(19-i) {
			t.Fatalf("after %d answers: %d left, the server has counted at least %d", i+1, left, least)
		}
	}
	if left, _ := b.Left(after(time.Second)); left != 80 {
		t.Errorf("%d left of 100 after 20", left)
	}
}

// TestQuotaWithoutAnAnswer: a call that ends without telling may have been counted.
func TestQuotaWithoutAnAnswer(t *testing.T) {
	b := New(Domain, "a.test", Limits{})
	b.Start(t0)
	b.Release()
	b.Quota(after(time.Millisecond), 9, time.Minute)
	b.Answered(after(time.Millisecond), t0, 1, 0)
	b.Start(after(time.Second))
	b.Release() // its connection broke
	if left, _ := b.Left(after(2 * time.Second)); left != 8 {
		t.Errorf("%d left, want 8", left)
	}
	b.Start(after(3 * time.Second))
	b.Release()
	b.Quota(after(4*time.Second), 8, time.Minute)
	if left, _ := b.Left(after(4 * time.Second)); left != 8 {
		t.Errorf("%d left, told 8", left)
	}
}

func TestFreeSlotsKeepRoomForOthers(t *testing.T) {
	b := New(Credential, "main", Limits{InFlight: 50})
	b.Start(t0)
	// Ten at once, six free: three are somebody else's (one is ours, one may be the answered call).
	b.Slots(t0, 10, 5)
	if b.Limit() != 7 {
		t.Errorf("Limit() = %d, want 7", b.Limit())
	}
	b.Slots(after(time.Second), 10, 8)
	if b.Limit() != 7 {
		t.Errorf("the worst use by others is believed for a while: %d", b.Limit())
	}
	b.Slots(after(othersBelieved+time.Second), 10, 8)
	if b.Limit() != 10 {
		t.Errorf("then the last: %d", b.Limit())
	}
	b.Slots(after(time.Minute), 10, 0)
	if b.Limit() < 1 {
		t.Errorf("never less than one: %d", b.Limit())
	}
	b.Slots(after(time.Minute), -1, 0)
	if b.Limit() < 1 {
		t.Errorf("a negative limit changes nothing: %d", b.Limit())
	}
}

func TestPollsObeyRateAndStopAlone(t *testing.T) {
	b := New(Credential, "main", Limits{InFlight: 1})
	b.Start(t0)
	b.Refused(t0, announced(t0, time.Minute), newRand(1))
	if !b.PollGate(t0).OK {
		t.Error("a poll waits for no cooldown of submits")
	}
	ip := New(IP, "", Limits{})
	ip.Refused(t0, announced(t0, time.Minute), newRand(1))
	if ip.PollGate(t0).OK {
		t.Error("a poll obeys the rate of its address")
	}
	g := New(Global, "", Limits{InFlight: 1})
	g.Start(t0)
	if g.InFlight() != 1 || g.PollGate(t0).OK {
		t.Error("a poll takes a slot of the program")
	}
}

func TestNames(t *testing.T) {
	for s, want := range map[State]string{Open: "open", Cooling: "cooling", Probing: "probing", Recovering: "recovering"} {
		if s.String() != want {
			t.Errorf("%d is %q, want %q", s, s.String(), want)
		}
	}
}
