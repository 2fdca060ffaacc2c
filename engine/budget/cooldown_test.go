package budget

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

var t0 = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

func after(d time.Duration) time.Time { return t0.Add(d) }

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// announced is a refusal that names its wait.
func announced(sent time.Time, wait time.Duration) Refusal {
	return Refusal{Sent: sent, InFlight: 1, Wait: wait, Announced: true, Cause: "retry-after", Layer: "target"}
}

func quietly(sent time.Time) Refusal {
	return Refusal{Sent: sent, InFlight: 1, Cause: "backoff 1", Layer: "target"}
}

func TestBackoffDoublesToItsCap(t *testing.T) {
	for _, c := range []struct {
		k    int
		most time.Duration
	}{{-1, 1500 * time.Millisecond}, {0, 1500 * time.Millisecond}, {1, 2500 * time.Millisecond}, {3, 8500 * time.Millisecond}, {5, 32500 * time.Millisecond}, {6, 60500 * time.Millisecond}, {400, 60500 * time.Millisecond}} {
		least, most := Backoff(c.k)
		if least != 500*time.Millisecond || most != c.most {
			t.Errorf("Backoff(%d) = %v to %v, want 0.5 s to %v", c.k, least, most, c.most)
		}
		rng := newRand(uint64(c.k + 2))
		for range 200 {
			if w := Wait(c.k, rng); w < least || w > most {
				t.Fatalf("Wait(%d) = %v, outside %v to %v", c.k, w, least, most)
			}
		}
	}
}

func TestJitterOnlyAdds(t *testing.T) {
	rng := newRand(4)
	for _, c := range []struct{ wait, most time.Duration }{{-time.Second, 0}, {0, 0}, {time.Second, 50 * time.Millisecond}, {time.Hour, time.Second}} {
		for range 200 {
			if j := Jitter(c.wait, rng); j < 0 || j > c.most {
				t.Fatalf("Jitter(%v) = %v, want 0 to %v", c.wait, j, c.most)
			}
		}
	}
}

func TestRefusalWaits(t *testing.T) {
	for _, c := range []struct {
		name        string
		r           Refusal
		least, most time.Duration
	}{
		{"announced: at least that", announced(t0, 90*time.Second), 90 * time.Second, 91 * time.Second},
		{"announced zero: the floor", announced(t0, 0), Floor, Floor},
		{"announced a millisecond: the floor", announced(t0, time.Millisecond), Floor, Floor},
		{"a year", announced(t0, 366*24*time.Hour), 366 * 24 * time.Hour, 366*24*time.Hour + time.Second},
		{"nothing announced: own backoff", quietly(t0), 500 * time.Millisecond, 1500 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			for seed := range uint64(50) {
				b := New(Domain, "a.test", Limits{Find: true})
				b.Start(t0)
				now := after(time.Millisecond)
				until, fresh := b.Refused(now, c.r, newRand(seed))
				if wait := until.Sub(now); !fresh || wait < c.least || wait > c.most {
					t.Fatalf("waits %v (fresh %v), want %v to %v", wait, fresh, c.least, c.most)
				}
				if g := b.Gate(until.Add(-1)); g.OK || g.Why != Cooldown || !g.At.Equal(until) {
					t.Fatalf("just before the end: %+v", g)
				}
			}
		})
	}
}

// burst starts n calls, refuses them in the given order, and returns the budget.
func burst(order []int, waits []time.Duration) *Budget {
	b := New(Domain, "a.test", Limits{Find: true})
	b.Find()
	b.find.w = len(order)
	for range order {
		b.Start(t0)
	}
	rng := newRand(9)
	for i, k := range order {
		b.Release()
		r := quietly(t0)
		if waits[k] > 0 {
			r = announced(t0, waits[k])
		}
		r.InFlight = k + 1
		b.Refused(after(time.Duration(i+1)*time.Millisecond), r, rng)
	}
	return b
}

func TestLongestWaitOfABurstWins(t *testing.T) {
	waits := []time.Duration{30 * time.Second, 0, 120 * time.Second, 5 * time.Second}
	for _, order := range [][]int{{0, 1, 2, 3}, {2, 0, 1, 3}, {3, 1, 0, 2}} {
		b := burst(order, waits)
		if left := b.Cooldown().Until.Sub(t0); left < 120*time.Second || left > 122*time.Second {
			t.Errorf("order %v: cools for %v, want 120 s", order, left)
		}
	}
}

func TestOneBurstIsOneEvent(t *testing.T) {
	var first *Budget
	for _, order := range [][]int{{0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}, {2, 4, 0, 3, 1}} {
		b := burst(order, make([]time.Duration, 5))
		if b.Cooldown().Failed != 0 {
			t.Errorf("order %v: %d failed probes counted", order, b.Cooldown().Failed)
		}
		if first == nil {
			first = b
		}
		if b.Limit() != first.Limit() {
			t.Errorf("order %v leaves %d in flight, another order %d", order, b.Limit(), first.Limit())
		}
	}
}

func TestLateRefusalNeverShortens(t *testing.T) {
	b := New(Domain, "a.test", Limits{Find: true})
	rng := newRand(3)
	b.Start(t0)
	b.Start(t0)
	long, _ := b.Refused(after(time.Second), announced(t0, time.Minute), rng)
	if until, fresh := b.Refused(after(2*time.Second), announced(t0, 2*time.Second), rng); fresh || !until.Equal(long) {
		t.Errorf("a shorter wait made it %v (fresh %v), it was %v", until, fresh, long)
	}
	if until, _ := b.Refused(after(3*time.Second), quietly(t0), rng); !until.Equal(long) {
		t.Errorf("no wait made it %v, it was %v", until, long)
	}
	b.HoldUntil(after(4*time.Second), after(10*time.Second), "failures", "", false)
	if got := b.Cooldown().Until; !got.Equal(long) {
		t.Errorf("a shorter hold made it %v, it was %v", got, long)
	}
}

func TestExactlyOneProbe(t *testing.T) {
	b := New(Domain, "a.test", Limits{Find: true})
	rng := newRand(5)
	b.Start(t0)
	b.Release()
	until, _ := b.Refused(after(time.Millisecond), announced(t0, 2*time.Second), rng)
	if !b.Gate(until).OK || b.State(until) != Probing {
		t.Fatalf("after the cooldown: %+v, %v", b.Gate(until), b.State(until))
	}
	if b.Start(until) == 0 {
		t.Fatal("the first start after a cooldown is the probe")
	}
	for range 3 {
		if g := b.Gate(until.Add(time.Minute)); g.OK || g.Why != ProbeOut {
			t.Fatalf("a second one may start: %+v", g)
		}
	}
	b.Release()
	now := until.Add(time.Second)
	next, fresh := b.Refused(now, Refusal{Sent: until, InFlight: 1, Wait: 3 * time.Second, Announced: true, Probe: b.probe}, rng)
	if !fresh || b.Cooldown().Failed != 1 || next.Sub(now) < 3*time.Second {
		t.Errorf("refused probe: fresh %v, failed %d, waits %v", fresh, b.Cooldown().Failed, next.Sub(now))
	}
}

func TestLostProbeIsFollowedByAnotherSingleOne(t *testing.T) {
	b := New(Domain, "a.test", Limits{Find: true})
	rng := newRand(6)
	b.Start(t0)
	b.Release()
	until, _ := b.Refused(t0, announced(t0, time.Second), rng)
	for range 3 {
		b.Start(until)
		b.Release()
		b.ProbeLost(until.Add(time.Second), b.probe, BackoffMost, rng)
		next := b.Cooldown().Until
		if wait := next.Sub(until.Add(time.Second)); wait < Floor || b.Gate(next.Add(-1)).OK || !b.Gate(next).OK {
			t.Fatalf("after a lost probe: waits %v, gate %+v", wait, b.Gate(next))
		}
		until = next
	}
	b.Start(until)
	b.Release()
	b.ProbeVoid(b.probe)
	if !b.Gate(until).OK {
		t.Error("a probe that was never sent leaves its place")
	}
}

func TestReopensInSteps(t *testing.T) {
	b := New(Domain, "a.test", Limits{Find: true})
	rng := newRand(7)
	b.find.w = 16
	for range 17 {
		b.Start(t0)
	}
	for range 17 {
		b.Release()
	}
	r := quietly(t0)
	r.InFlight = 17
	until, _ := b.Refused(after(5*time.Millisecond), r, rng)
	b.Start(until)
	b.Release()
	now := until.Add(time.Millisecond)
	b.Answered(now, until, 1, b.probe)
	var steps []int
	for ; b.State(now) == Recovering && len(steps) < 20; now = now.Add(60 * time.Millisecond) {
		for b.Gate(now).OK {
			b.Start(now)
		}
		steps = append(steps, b.InFlight())
	}
	if steps[0] > 2 || !slices.IsSorted(steps) || len(steps) < 4 || steps[len(steps)-1] != 16 {
		t.Errorf("in flight after each step: %v, want from 1 or 2 to 16", steps)
	}
}

func TestReopensInStepsWithoutFinder(t *testing.T) {
	b := New(Credential, "main", Limits{InFlight: 8})
	rng := newRand(8)
	b.Start(t0)
	b.Release()
	until, _ := b.Refused(t0, announced(t0, time.Second), rng)
	b.Start(until)
	b.Release()
	b.Answered(until, until, 1, b.probe)
	want := 2
	for b.State(until) == Recovering {
		if b.Limit() != want {
			t.Fatalf("allows %d, want %d", b.Limit(), want)
		}
		b.Start(until)
		b.Release()
		b.Answered(until, until, 1, 0)
		want = min(2*want, 8)
	}
	if b.State(until) != Open || b.Limit() != 8 {
		t.Errorf("ends %v with %d", b.State(until), b.Limit())
	}
}

func TestEndCooldownAndShorten(t *testing.T) {
	b := New(Domain, "a.test", Limits{})
	if b.EndCooldown(t0) {
		t.Error("nothing to end")
	}
	until, _ := b.Refused(t0, announced(t0, time.Minute), newRand(1))
	b.Shorten(10 * time.Second)
	if got := b.Cooldown().Until; !got.Equal(until.Add(-10 * time.Second)) {
		t.Errorf("shortened to %v, want ten seconds less than %v", got, until)
	}
	if !b.EndCooldown(after(time.Second)) || !b.Gate(after(time.Second)).OK || b.Start(after(time.Second)) == 0 {
		t.Error("ended by a person: the probe may go")
	}
}

func TestStopAndUnstop(t *testing.T) {
	b := New(Credential, "main", Limits{InFlight: 4})
	b.Stop("auth: key unknown", true)
	if g := b.Gate(t0); g.OK || g.Why != Stopped || b.PollGate(t0).OK || b.StoppedWhy() != "auth: key unknown" {
		t.Errorf("stopped: %+v, polls %+v, %q", g, b.PollGate(t0), b.StoppedWhy())
	}
	b.Unstop(t0)
	if b.Start(t0) == 0 || b.Gate(t0).Why != ProbeOut {
		t.Errorf("unstopped: one probe, then %+v", b.Gate(t0))
	}
	b.Answered(t0, t0, 1, b.probe)
	b.Unstop(t0)
	if b.State(t0) != Recovering {
		t.Errorf("unstopping what is not stopped made it %v", b.State(t0))
	}
}

func TestPause(t *testing.T) {
	b := New(Account, "acme", Limits{})
	b.SetPaused(true)
	if g := b.Gate(t0); g.Why != Paused || !g.At.IsZero() || !b.PollGate(t0).OK || !b.IsPaused() {
		t.Errorf("paused: %+v, polls %+v", g, b.PollGate(t0))
	}
	b.SetPaused(false)
	if !b.Gate(t0).OK {
		t.Error("resumed: open")
	}
}

func TestRowsOfFailures(t *testing.T) {
	b := New(Domain, "a.test", Limits{})
	for want := 1; want <= InARow; want++ {
		if b.Failure() != want || b.Access() != want {
			t.Fatalf("row %d is not counted", want)
		}
	}
	b.Good()
	if b.Failure() != 1 || b.Access() != 1 {
		t.Error("an acceptance ends both rows")
	}
	b.HoldUntil(t0, after(BlockHold), "403 x5", "target", true)
	if c := b.Cooldown(); !c.Hold || c.Cause != "403 x5" || b.Gate(after(BlockHold-1)).OK || !b.Gate(after(BlockHold)).OK {
		t.Errorf("held: %+v", c)
	}
	b.Start(after(BlockHold))
	b.Answered(after(BlockHold), after(BlockHold), 1, b.probe)
	if b.Cooldown().Hold {
		t.Error("a good probe ends the hold")
	}
}

// TestWaitAnnouncedWhileTheProbeIsOut: a call sent before the cut is refused with a longer wait while the probe is out.
// However the probe ends, that wait holds.
func TestWaitAnnouncedWhileTheProbeIsOut(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name string
		end  func(b *Budget, now, sent time.Time)
	}{
		{"answered", func(b *Budget, now, sent time.Time) { b.Answered(now, sent, 1, b.probe) }},
		{"lost", func(b *Budget, now, _ time.Time) { b.ProbeLost(now, b.probe, BackoffMost, rng) }},
		{"refused", func(b *Budget, now, sent time.Time) {
			b.Refused(now, Refusal{Sent: sent, InFlight: 1, Wait: time.Second, Announced: true, Probe: b.probe}, rng)
		}},
		{"never sent", func(b *Budget, _, _ time.Time) { b.ProbeVoid(b.probe) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := New(Domain, "a", Limits{Find: true})
			b.Start(t0)
			b.Start(t0)
			b.Refused(after(time.Second), Refusal{Sent: t0, InFlight: 2, Wait: time.Second, Announced: true}, rng)
			probe := after(5 * time.Second)
			if !b.Gate(probe).OK || b.Start(probe) == 0 {
				t.Fatal("no probe")
			}
			late := after(6 * time.Second)
			until, _ := b.Refused(late, Refusal{Sent: t0, InFlight: 1, Wait: time.Minute, Announced: true}, rng)
			if until.Before(late.Add(time.Minute)) {
				t.Fatalf("it cools until %v", until)
			}
			c.end(b, after(7*time.Second), probe)
			if g := b.Gate(until.Add(-time.Second)); g.Why != Cooldown {
				t.Errorf("inside the wait: %+v", g)
			}
			b.Release()
			b.Release()
			b.Release()
			if g := b.Gate(b.Cooldown().Until); !g.OK {
				t.Errorf("after it: %+v", g)
			}
		})
	}
}

// TestPausedRunGoesOnPolling: polls free what they wait for, also while a person holds the run.
func TestPausedRunGoesOnPolling(t *testing.T) {
	b := New(Global, "", Limits{InFlight: 1})
	b.SetPaused(true)
	if b.Gate(t0).Why != Paused || !b.PollGate(t0).OK {
		t.Errorf("gate %+v, polls %+v", b.Gate(t0), b.PollGate(t0))
	}
	b.Start(t0)
	if b.PollGate(t0).OK {
		t.Error("a poll passes the ceiling")
	}
}

// TestUnrefusedProbe: after our own backoff a probe that is neither refused nor answered for a while counts as let through,
// since refusals come back fast; where the server named the wait only its answer does. Refused late, it cools again, and
// what it says ends no other probe.
func TestUnrefusedProbe(t *testing.T) {
	for _, named := range []bool{false, true} {
		b := New(Domain, "a.test", Limits{Find: true})
		rng := newRand(8)
		for range 3 {
			b.Start(t0)
		}
		r := Refusal{Sent: t0, InFlight: 3}
		if named {
			r = announced(t0, 2*time.Second)
		}
		until, _ := b.Refused(after(10*time.Millisecond), r, rng)
		for range 3 {
			b.Release()
		}
		probe := b.Start(until)
		soon, late := until.Add(unrefusedLeast-time.Millisecond), until.Add(unrefusedLeast)
		b.Elapse(soon)
		if g := b.Gate(soon); g.Why != ProbeOut || g.At.IsZero() != named {
			t.Fatalf("named %v: %+v", named, g)
		}
		b.Elapse(late)
		if b.ProbeIsOut() != named {
			t.Fatalf("named %v: probe out %v after %v", named, b.ProbeIsOut(), unrefusedLeast)
		}
		if named {
			continue
		}
		end, fresh := b.Refused(late.Add(time.Second), Refusal{Sent: until, InFlight: 1, Probe: probe}, rng)
		if !fresh || b.State(late.Add(time.Second)) != Cooling {
			t.Error("refused late: it does not cool")
		}
		again := b.Start(end)
		b.ProbeVoid(probe)
		b.ProbeLost(end, probe, BackoffMost, rng)
		b.Answered(end, until, 1, probe)
		if !b.IsProbe(again) {
			t.Error("the old probe ended the new one")
		}
	}
}
