package budget

import (
	"testing"
	"time"
)

// TestOneAsksAfterAToldWindowEnds: a sliding window says "0 left, room in 1 s" when one of its places frees; the others must
// not follow at once.
func TestOneAsksAfterAToldWindowEnds(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	b := New(Domain, "homes.test", Limits{InFlight: 40})
	start := func() time.Time {
		if g := b.Gate(now); !g.OK {
			t.Fatalf("closed: %+v", g)
		}
		b.Start(now)
		return now
	}
	answer := func(sent time.Time, remaining int64, reset time.Duration) {
		now = now.Add(50 * time.Millisecond)
		b.Release()
		if reset > 0 {
			b.Quota(now, remaining, reset)
		}
		b.Answered(now, sent, 1, 0)
	}
	answer(start(), 0, time.Second)
	if g := b.Gate(now); g.OK || g.Why != Quota || g.At.IsZero() {
		t.Fatalf("a spent window is open: %+v", g)
	}
	now = now.Add(1100 * time.Millisecond)
	sent := start()
	if g := b.Gate(now); g.OK || g.Why != Quota {
		t.Fatalf("a second start while the first still asks what is free: %+v", g)
	}
	answer(sent, 0, time.Second)
	if g := b.Gate(now); g.OK {
		t.Fatal("open although nothing is left")
	}
	now = now.Add(1100 * time.Millisecond)
	answer(start(), 14, 20*time.Second)
	for range 14 {
		start()
	}
	if g := b.Gate(now); g.OK {
		t.Fatal("more starts than were told to be left")
	}
	for range 14 {
		b.Release()
	}
	now = now.Add(21 * time.Second)
	answer(start(), 0, 0) // it is not told of any more
	start()
	start()
}

// TestToldPolicyEndsASlidingWindow: a reset in whole seconds lies up to a second behind the end of a sliding window; with
// the policy told, our own starts say when it is.
func TestToldPolicyEndsASlidingWindow(t *testing.T) {
	for _, told := range []bool{false, true} {
		b := New(Domain, "a.test", Limits{})
		for i := range 10 {
			at := after(time.Duration(i) * 100 * time.Millisecond)
			b.Start(at)
			b.Release()
			b.Quota(at, int64(9-i), 4*time.Second)
			if told {
				b.Policy(at, 10, 3*time.Second)
			}
			b.Answered(at, at, 1, 0)
		}
		now := after(time.Second)
		g := b.Gate(now)
		if want := after(3*time.Second + 3*time.Second/slack); told && (g.Why != Quota || !g.At.Equal(want)) {
			t.Errorf("told: %+v, want it at %v", g, want)
		}
		if !told && !g.At.After(after(3900*time.Millisecond)) {
			t.Errorf("not told: %+v", g)
		}
		if told && !b.Gate(g.At).OK {
			t.Error("it does not open")
		}
	}
}
