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
