package core

import (
	"strings"
	"testing"
	"time"

	"dev.scrapetop/engine/budget"
	"dev.scrapetop/engine/limits"
	"dev.scrapetop/engine/provider"
)

// script answers by turn, then with its last answer for ever.
func script(answers ...answer) server {
	n := 0
	return func(time.Time, int) answer {
		a := answers[min(n, len(answers)-1)]
		n++
		return a
	}
}

func outcomeOf(o provider.Outcome) answer { return answer{outcome: o, wait: -1, took: 10 * ms} }

// TestWaitBeyondTheDeadline: the tasks that were refused are given up at once, their untried siblings wait.
func TestWaitBeyondTheDeadline(t *testing.T) {
	l := newLab(t, Config{Direct: true, Deadline: time.Hour})
	l.list("day.test", 20, script(refuse(24*time.Hour, 10*ms)))
	l.list("good.test", 20, func(time.Time, int) answer { return pass(10 * ms) })
	l.run(2 * time.Hour)
	if l.accepted != 20 || l.end != nil {
		t.Fatalf("accepted %d, end %v", l.accepted, l.end)
	}
	if n := l.reasons["deadline"]; n == 0 || n > 2 {
		t.Errorf("%d dead for the deadline, want only the refused (at most two were in flight)", n)
	}
	if left := l.m.Counts().Pending; left != int64(20-l.dead) {
		t.Errorf("%d pending, %d dead of 20", left, l.dead)
	}
}

// TestRefusalsCostNoTry: however often it is refused, a task keeps its tries.
func TestRefusalsCostNoTry(t *testing.T) {
	l := newLab(t, Config{Direct: true, MaxAttempts: 2})
	l.list("a.test", 1, script(refuse(-1, ms), refuse(-1, ms), refuse(time.Second, ms), refuse(0, ms), refuse(-1, ms), pass(ms)))
	tries := -1
	l.settled = func(s Settled) { tries = s.Task.Tries }
	l.run(time.Hour)
	if l.accepted != 1 || tries != 0 {
		t.Fatalf("accepted %d, tries %d", l.accepted, tries)
	}
}

// TestAttemptsEnd: failures, faults and invalid pages cost tries; the last one is a dead letter.
func TestAttemptsEnd(t *testing.T) {
	for _, c := range []struct {
		name    string
		outcome provider.Outcome
		facts   provider.Facts
		sent    int
		reason  string
	}{
		{"failed", provider.Failed, provider.Facts{}, 4, "attempts"},
		{"transport", provider.Transport, provider.Facts{}, 4, "attempts"},
		{"invalid", provider.Invalid, provider.Facts{}, 4, "attempts"},
		{"not found", provider.NotFound, provider.Facts{}, 1, "not_found"},
		{"blocked", provider.Blocked, provider.Facts{}, 1, "blocked"},
		{"refused", provider.Refused, provider.Facts{}, 1, "refused"},
		{"too large", provider.TooLarge, provider.Facts{}, 1, "too_large"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLab(t, Config{Direct: true, MaxAttempts: 4, Facts: c.facts})
			l.list("a.test", 1, script(outcomeOf(c.outcome)))
			l.run(24 * time.Hour)
			if l.sent != c.sent || l.reasons[c.reason] != 1 || l.end == nil || l.end.State != "finished" {
				t.Fatalf("sent %d, reasons %v, end %v", l.sent, l.reasons, l.end)
			}
		})
	}
}

// TestInvalidBehindAPaidPlatform is tried at most twice more.
func TestInvalidBehindAPaidPlatform(t *testing.T) {
	v := Verdict{Facts: provider.Facts{Paid: true}, Outcome: provider.Invalid, Max: 8}
	for i, want := range []string{"", "", "attempts"} {
		v.Tries, v.Invalids = i, i
		if d := Decide(v); d.Dead != want {
			t.Errorf("invalid answer %d: dead %q, want %q", i+1, d.Dead, want)
		}
	}
}

// TestBlockedInARowHoldsTheDomain: five refusals of access hold it, then one probe.
func TestBlockedInARowHoldsTheDomain(t *testing.T) {
	l := newLab(t, Config{Direct: true})
	l.list("bank.test", 10, script(outcomeOf(provider.Blocked)))
	l.run(29 * time.Minute)
	if l.sent < 5 || l.sent > 8 || l.reasons["blocked"] != l.sent {
		t.Fatalf("sent %d, reasons %v", l.sent, l.reasons)
	}
	before := l.sent
	l.run(45 * time.Minute) // of the lab, whose clock stands at the last event
	if l.sent != before+1 {
		t.Errorf("%d sent after the hold, want one probe", l.sent-before)
	}
}

// TestProbeIsOne: a cooldown ends with exactly one request until its answer is in (50 queued, answer after 2 s).
func TestProbeIsOne(t *testing.T) {
	l := newLab(t, Config{Direct: true})
	peak := 0
	n := 0
	var first time.Time
	l.list("a.test", 50, func(now time.Time, in int) answer {
		n++
		if n <= 2 {
			return refuse(5*time.Second, 10*ms)
		}
		if first.IsZero() {
			first = now
		}
		if now.Sub(first) < 2*time.Second {
			peak = max(peak, in)
		}
		return pass(2 * time.Second)
	})
	l.run(time.Hour)
	if peak != 1 || l.accepted != 50 || l.inWait != 0 {
		t.Fatalf("peak %d while the probe was out, accepted %d, %d inside the wait", peak, l.accepted, l.inWait)
	}
}

// TestLongerWaitWins: a second, longer wait for a domain that is cooling moves its end (from a call in flight).
func TestLongerWaitWins(t *testing.T) {
	b := budget.New(budget.Domain, "a", budget.Limits{Find: true})
	m := New(Config{Direct: true})
	now := labStart
	b.Start(now)
	b.Start(now)
	b.Refused(now.Add(10*ms), budget.Refusal{Sent: now, InFlight: 1, Wait: 2 * time.Second, Announced: true}, m.rng)
	until, fresh := b.Refused(now.Add(20*ms), budget.Refusal{Sent: now, InFlight: 2, Wait: 20 * time.Second, Announced: true}, m.rng)
	if fresh || until.Sub(now) < 20*time.Second {
		t.Fatalf("fresh %v, until %v", fresh, until.Sub(now))
	}
	until2, _ := b.Refused(now.Add(30*ms), budget.Refusal{Sent: now, InFlight: 2, Wait: time.Second, Announced: true}, m.rng)
	if until2.Before(until) {
		t.Error("a shorter wait moved the end back")
	}
}

// TestPausedDomainStartsNothing, and goes on when it is resumed; unattended, a run left with only paused work ends.
func TestPausedDomainStartsNothing(t *testing.T) {
	l := newLab(t, Config{Direct: true})
	l.step(Asked{Verb: "pause", Scope: budget.Domain, Key: "a.test"})
	l.list("a.test", 5, script(pass(ms)))
	l.list("b.test", 5, script(pass(ms)))
	l.run(time.Minute)
	if l.accepted != 5 || l.end != nil {
		t.Fatalf("accepted %d, end %v", l.accepted, l.end)
	}
	l.step(Asked{Verb: "resume", Scope: budget.Domain, Key: "a.test"})
	l.run(time.Minute)
	if l.accepted != 10 || l.end == nil || l.end.State != "finished" {
		t.Fatalf("accepted %d, end %v", l.accepted, l.end)
	}
	l = newLab(t, Config{Direct: true, Unattended: true})
	l.step(Asked{Verb: "pause", Scope: budget.Domain, Key: "a.test"})
	l.list("a.test", 5, script(pass(ms)))
	l.run(time.Minute)
	if l.end == nil || l.end.State != "stopped" || !strings.Contains(l.end.Reason, "paused") {
		t.Fatalf("end %v", l.end)
	}
}

// TestMaxWait: a run whose whole remainder waits for longer ends and names the earliest wake-up.
func TestMaxWait(t *testing.T) {
	l := newLab(t, Config{Direct: true, MaxWait: time.Minute})
	l.list("a.test", 5, script(refuse(10*time.Minute, ms)))
	l.run(time.Hour)
	if l.end == nil || l.end.State != "stopped" || !strings.Contains(l.end.Reason, "earliest wake-up") {
		t.Fatalf("end %v", l.end)
	}
}

// TestCaps: requests are capped before they are sent; the run drains.
func TestCaps(t *testing.T) {
	l := newLab(t, Config{Direct: true, MaxRequests: 7})
	l.list("a.test", 50, script(pass(ms)))
	l.run(time.Hour)
	if l.sent != 7 || l.accepted != 7 || l.end == nil || l.end.State != "stopped" || l.end.Reason != "cap" {
		t.Fatalf("sent %d, accepted %d, end %v", l.sent, l.accepted, l.end)
	}
}

// TestDrain: nothing new starts, what is in flight finishes.
func TestDrain(t *testing.T) {
	l := newLab(t, Config{Direct: true})
	l.list("a.test", 50, script(pass(time.Second)))
	l.at(1500*ms, func() { l.step(Draining{Reason: "stopped by you", By: l.now.Add(30 * time.Second)}) })
	l.run(time.Hour)
	if l.end == nil || l.end.State != "stopped" || l.accepted != l.sent || l.accepted == 0 || l.accepted == 50 {
		t.Fatalf("sent %d, accepted %d, end %v", l.sent, l.accepted, l.end)
	}
	if c := l.m.Counts(); c.Pending != int64(50-l.accepted) || c.InFlight != 0 {
		t.Errorf("counts %+v", c)
	}
}

// TestGlobalCeilings: slots and starts of the whole program are never exceeded.
func TestGlobalCeilings(t *testing.T) {
	l := newLab(t, Config{Direct: true, Global: budget.Limits{InFlight: 3, Rate: budget.Rate{N: 10, Per: time.Second}}})
	var at []time.Time
	in, peak := 0, 0
	s := func(now time.Time, _ int) answer {
		at = append(at, now)
		in++
		peak = max(peak, in)
		l.at(100*ms, func() { in-- })
		return pass(100 * ms)
	}
	for _, d := range []string{"a.test", "b.test", "c.test", "d.test"} {
		l.list(d, 20, s)
	}
	l.run(time.Hour)
	if l.accepted != 80 || peak > 3 {
		t.Fatalf("accepted %d, peak %d", l.accepted, peak)
	}
	for i := 10; i < len(at); i++ {
		if at[i].Sub(at[i-10]) < time.Second {
			t.Fatalf("11 starts within %v", at[i].Sub(at[i-10]))
		}
	}
}

// TestOneSlowDomainHoldsNobodyUp: work blocked by its domain waits on that domain alone.
func TestOneSlowDomainHoldsNobodyUp(t *testing.T) {
	l := newLab(t, Config{Direct: true})
	l.list("slow.test", 100, script(refuse(10*time.Minute, ms)))
	l.list("fast.test", 1000, func(time.Time, int) answer { return pass(10 * ms) })
	l.run(time.Minute)
	if l.byDomain["fast.test"] == 0 || l.accepted < 1000 {
		t.Fatalf("accepted %d of the fast domain", l.accepted)
	}
	if l.byDomain["fast.test"] > 5*time.Second {
		t.Errorf("the fast domain took %v", l.byDomain["fast.test"])
	}
}

// TestBusyIsCountedApart from 429, and obeyed alike.
func TestBusyIsCountedApart(t *testing.T) {
	l := newLab(t, Config{Direct: true})
	busy := answer{outcome: provider.Busy, wait: 2 * time.Second, took: ms}
	l.list("a.test", 5, script(busy, busy, pass(ms)))
	l.run(time.Hour)
	c := l.m.Counts()
	if l.accepted != 5 || c.Busy == 0 || c.Target != 0 || l.inWait != 0 {
		t.Fatalf("accepted %d, counts %+v, %d inside the wait", l.accepted, c, l.inWait)
	}
}

// TestDecide is the table of DESIGN section 6.
func TestDecide(t *testing.T) {
	evomi := provider.Facts{Paid: true, AccountScope: "credential", DefaultWait: 60 * time.Second}
	wait := limits.Signal{Wait: limits.Some(7 * time.Second), WaitSource: "retry-after"}
	for _, c := range []struct {
		name  string
		v     Verdict
		cools budget.Scope
		stops budget.Scope
		dead  string
		retry bool
		try   bool
		wait  time.Duration
	}{
		{"platform concurrency", Verdict{Facts: evomi, Outcome: provider.Limited, Layer: provider.LayerAccount}, budget.Credential, budget.None, "", true, false, 60 * time.Second},
		{"platform concurrency of an account", Verdict{Facts: provider.Facts{AccountScope: "account"}, Outcome: provider.Limited, Layer: provider.LayerAccount, Signal: wait}, budget.Account, budget.None, "", true, false, 7 * time.Second},
		{"platform request rate", Verdict{Outcome: provider.Limited, Layer: provider.LayerRate, Signal: wait}, budget.IP, budget.None, "", true, false, 7 * time.Second},
		{"pending jobs", Verdict{Outcome: provider.Limited, Layer: provider.LayerPending}, budget.Pending, budget.None, "", true, false, 0},
		{"platform busy", Verdict{Facts: evomi, Outcome: provider.Busy, Layer: provider.LayerCapacity}, budget.Provider, budget.None, "", true, false, 0},
		{"quota", Verdict{Facts: evomi, Outcome: provider.Denied, Layer: provider.LayerQuota}, budget.Credential, budget.Credential, "", false, false, 0},
		{"auth", Verdict{Facts: evomi, Outcome: provider.Denied, Layer: provider.LayerAuth}, budget.Credential, budget.Credential, "", false, false, 0},
		{"target 429 behind a platform", Verdict{Facts: evomi, Outcome: provider.Limited, Layer: provider.LayerTarget}, budget.Domain, budget.None, "", true, false, 0},
		{"target 429 with a wait", Verdict{Outcome: provider.Limited, Layer: provider.LayerTarget, Signal: wait}, budget.Domain, budget.None, "", true, false, 7 * time.Second},
		{"target 503 with a wait", Verdict{Outcome: provider.Busy, Layer: provider.LayerTarget, Signal: wait}, budget.Domain, budget.None, "", true, false, 7 * time.Second},
		{"failed", Verdict{Outcome: provider.Failed}, budget.None, budget.None, "", true, true, 0},
		{"failed with a wait", Verdict{Outcome: provider.Failed, Signal: wait}, budget.None, budget.None, "", true, true, 7 * time.Second},
		{"failed for the last time", Verdict{Outcome: provider.Failed, Tries: 7}, budget.None, budget.None, "attempts", false, true, 0},
		{"lost", Verdict{Facts: evomi, Outcome: provider.Lost}, budget.None, budget.None, "lost", false, false, 0},
		{"lost, resubmitted by policy", Verdict{Facts: evomi, Outcome: provider.Lost, Resubmit: true}, budget.None, budget.None, "", true, true, 0},
		{"accepted", Verdict{Outcome: provider.Accepted}, budget.None, budget.None, "", false, false, 0},
		{"handed over", Verdict{Facts: evomi, Outcome: provider.AcceptedRemote}, budget.None, budget.None, "", false, false, 0},
	} {
		d := Decide(c.v)
		if d.Cools != c.cools || d.Stops != c.stops || d.Dead != c.dead || d.Retry != c.retry || d.Try != c.try || d.Wait != c.wait || d.Advice == "" {
			t.Errorf("%s: %+v", c.name, d)
		}
	}
}
