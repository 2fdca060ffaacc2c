package budget

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Own backoff (DESIGN section 5): Floor + U(0, min(BackoffCap, 1 s * 2^k)).
const (
	Floor      = 500 * time.Millisecond
	BackoffCap = 60 * time.Second
	// BlockHold is how long a target that refuses access five times in a row is left alone.
	BlockHold = 30 * time.Minute
	// InARow is how many failures, or refusals of access, without an acceptance between them close a budget.
	InARow = 5
	// BackoffMost is the k from which the backoff does not grow any more.
	BackoffMost = 6
)

// Backoff is the range of our own wait after k failures in a row (k from 0): capped exponential with full jitter.
func Backoff(k int) (least, most time.Duration) {
	span := BackoffCap
	if k < BackoffMost { // 1 s * 2^6 is past the cap
		span = min(BackoffCap, time.Second<<max(k, 0))
	}
	return Floor, Floor + span
}

// Wait draws from Backoff(k).
func Wait(k int, rng *rand.Rand) time.Duration {
	least, most := Backoff(k)
	return least + time.Duration(rng.Int64N(int64(most-least)+1))
}

// Jitter is what an announced wait is lengthened by: up to min(1 s, 5 %), never negative.
func Jitter(announced time.Duration, rng *rand.Rand) time.Duration {
	most := min(time.Second, announced/20)
	if most <= 0 {
		return 0
	}
	return time.Duration(rng.Int64N(int64(most) + 1))
}

// Refusal is one answer that refuses.
type Refusal struct {
	Sent      time.Time
	InFlight  int // calls of this budget in flight when it was sent, itself included
	Wait      time.Duration
	Announced bool // Wait is the server's; otherwise the budget backs off by itself
	Cause     string
	Layer     string
	Probe     Probe
}

// Refused records a refusal and returns the cooldown's end. fresh tells that it began a new event: a refusal of a call
// sent before the cut belongs to the burst that set it and can only extend the wait.
func (b *Budget) Refused(now time.Time, r Refusal, rng *rand.Rand) (until time.Time, fresh bool) {
	b.answered = true
	b.quota.answered(now)
	if r.Probe != b.probe {
		r.Probe = 0 // one that had counted as let through is like any other
	}
	fresh = r.Probe != 0 || b.state == Open || b.state == Recovering
	if r.Probe == 0 && !b.cut.IsZero() && !r.Sent.After(b.cut) {
		fresh = false
	}
	if r.Probe != 0 {
		b.probe = 0
		b.cool.Failed++
	}
	var wait time.Duration
	if fresh {
		own := Wait(b.cool.Failed, rng)
		switch {
		case !r.Announced:
			wait = own
		case b.cool.Failed > 0:
			if wait = r.Wait + Jitter(r.Wait, rng); own > wait {
				wait = own
				r.Cause = fmt.Sprintf("backoff %d, longer than %s", b.cool.Failed+1, r.Cause)
			}
		default:
			// Zero is an announcement too, and so is a past date: the floor still applies.
			wait = max(r.Wait+Jitter(r.Wait, rng), Floor)
		}
	} else if r.Announced {
		wait = r.Wait
	}
	if b.find != nil {
		b.find.refused(now, r, fresh)
	}
	if fresh {
		b.cut = now
		until := now.Add(wait)
		if b.find != nil && !r.Announced {
			until = b.find.notBefore(until)
		}
		if b.cool.Until.After(until) { // another call's refusal had extended it while the probe was out
			until = b.cool.Until
		}
		b.cool = Cool{Since: now, Full: until.Sub(now), Until: until, Cause: r.Cause, Layer: r.Layer, Announced: r.Announced, Failed: b.cool.Failed}
		b.state = Cooling
		b.slots.reopen = 1
		return b.cool.Until, true
	}
	b.extend(now, wait, r.Cause, r.Layer, r.Announced)
	return b.cool.Until, false
}

// extend moves the end of an active cooldown; it never moves it back.
func (b *Budget) extend(now time.Time, wait time.Duration, cause, layer string, announced bool) {
	until := now.Add(wait)
	if wait <= 0 || !until.After(b.cool.Until) {
		return
	}
	if b.state == Open || b.state == Recovering {
		b.cool.Since = now
		b.slots.reopen = 1
	}
	b.state = Cooling // also while the probe is out: its answer does not end a wait that was announced after it was sent
	b.cool.Until, b.cool.Full, b.cool.Cause, b.cool.Layer, b.cool.Announced = until, until.Sub(b.cool.Since), cause, layer, announced
}

// HoldUntil cools the budget until a time for a cause that is no refusal of load: access refused, failures in a row, a
// cooldown kept from before a restart. It only grows.
func (b *Budget) HoldUntil(now, until time.Time, cause, layer string, block bool) {
	if !until.After(now) || b.state == Cooling && !until.After(b.cool.Until) {
		return
	}
	failed := b.cool.Failed
	b.cool = Cool{Since: now, Until: until, Full: until.Sub(now), Cause: cause, Layer: layer, Failed: failed, Hold: block}
	b.state, b.cut = Cooling, now
	b.slots.reopen = 1
}

// EndCooldown lets the probe go now: a person's wish.
func (b *Budget) EndCooldown(now time.Time) bool {
	if b.state != Cooling || !now.Before(b.cool.Until) {
		return false
	}
	b.cool.Until = now
	return true
}

// Shorten moves an active cooldown's end back by a suspend's length, for the time that passed unseen.
func (b *Budget) Shorten(d time.Duration) {
	if b.state == Cooling {
		b.cool.Until = b.cool.Until.Add(-d)
	}
}

// ProbeLost frees the probe's place when its call ended without telling anything about the limit (invalid, blocked,
// failed, transport): another single probe follows after a backoff, which grows to Backoff(most). It reports whether the
// call was the probe.
func (b *Budget) ProbeLost(now time.Time, probe Probe, most int, rng *rand.Rand) bool {
	if probe == 0 || probe != b.probe {
		return false
	}
	b.probe = 0
	b.cool.Failed++
	b.state = Cooling
	if until := now.Add(Wait(min(b.cool.Failed, most), rng)); until.After(b.cool.Until) {
		b.cool.Until, b.cool.Full = until, until.Sub(b.cool.Since)
	}
	return true
}

// ProbeVoid frees the probe's place without any judgement: its call was never sent.
func (b *Budget) ProbeVoid(probe Probe) {
	if probe == b.probe {
		b.probe = 0
	}
}

// Answered records an answer that the limit let through: accepted, not found, or our own wrong request.
func (b *Budget) Answered(now, sent time.Time, inFlight int, probe Probe) {
	b.answered = true
	b.quota.answered(now)
	if probe != 0 && probe == b.probe {
		if b.recover(now, sent, inFlight); b.state != Recovering {
			return
		}
	}
	if b.find != nil {
		b.find.answered(now, sent, inFlight)
		if b.state == Recovering && b.find.reopened(b.find.seconds(now)) {
			b.state = Open
		}
		return
	}
	if b.state == Open {
		b.slots.grow(now, inFlight)
	}
	if b.state == Recovering {
		b.slots.reopen *= 2
		if limit := b.slots.allowed(); b.slots.reopen > 64 || limit > 0 && b.slots.reopen >= limit {
			b.state = Open
		}
	}
}

// recover ends the probe well.
func (b *Budget) recover(now, sent time.Time, inFlight int) {
	b.probe = 0
	b.cool.Failed = 0
	if now.Before(b.cool.Until) {
		return // a refusal of another call has extended the wait meanwhile: it holds, then another probe goes
	}
	b.state = Recovering
	b.cool.Hold = false
	b.slots.reopen = 1
	if b.find != nil {
		b.find.reopen(now, sent, inFlight, b.inFlight)
	}
}

// unrefusedLeast is how long a probe is out at least before the lack of a refusal speaks for it.
const unrefusedLeast = 200 * time.Millisecond

// unrefusedAt is when a probe that was neither refused nor answered counts as let through: refusals come back fast. Zero:
// only its answer tells, because the server named the wait, or how fast it refuses is not known.
func (b *Budget) unrefusedAt() time.Time {
	if b.find == nil || b.find.study == nil || b.cool.Announced || b.cool.Hold || b.find.refusals == 0 {
		return time.Time{}
	}
	return b.probeAt.Add(max(unrefusedLeast, time.Duration(b.find.confirm()*float64(time.Second))))
}

// Elapse makes what time alone decides the budget's state.
func (b *Budget) Elapse(now time.Time) {
	if at := b.unrefusedAt(); b.probe != 0 && !at.IsZero() && !now.Before(at) {
		b.recover(now, b.probeAt, b.probeN)
	}
}

// Failure counts a failure in a row; it returns how many.
func (b *Budget) Failure() int { b.streak++; return b.streak }

// Access counts a refusal of access in a row; it returns how many.
func (b *Budget) Access() int { b.blocked++; return b.blocked }

// Good ends both rows.
func (b *Budget) Good() { b.streak, b.blocked = 0, 0 }
