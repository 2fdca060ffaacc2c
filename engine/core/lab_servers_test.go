package core

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"dev.scrapetop/engine/limits"
)

// service draws how long an answer takes.
type service func() time.Duration

func constant(d time.Duration) service { return func() time.Duration { return d } }

// spread is log-normal with a mean of about d (sigma 0.4), never under 50 ms.
func spread(rng *rand.Rand, d time.Duration) service {
	return func() time.Duration {
		s := math.Exp(math.Log(d.Seconds()) - 0.08 + 0.4*rng.NormFloat64())
		return time.Duration(max(0.05, s) * 1e9)
	}
}

// silent is no announced wait.
const silent = time.Duration(-1)

// rated is a rate and burst from a time on.
type rated struct {
	from  time.Duration
	rate  float64
	burst int
}

// bucket answers like nginx limit_req with nodelay: rate a second, burst above it, everything else refused at once.
func bucket(rate float64, burst int, took service, wait time.Duration) server {
	return buckets([]rated{{0, rate, burst}}, took, wait)
}

// used is a server of which somebody else has just taken n.
func used(n int, s server) server {
	for range n {
		s(labStart, 1)
	}
	return s
}

// buckets is a bucket whose rate changes.
func buckets(phases []rated, took service, wait time.Duration) server {
	excess := -1.0
	var last time.Time
	return func(now time.Time, _ int) answer {
		p := phases[0]
		for _, x := range phases {
			if now.Sub(labStart) >= x.from {
				p = x
			}
		}
		e := 0.0
		if excess >= 0 {
			e = max(excess-p.rate*now.Sub(last).Seconds()+1, 0)
		}
		if e > float64(p.burst)+1e-6 {
			return refuse(wait, time.Millisecond)
		}
		excess, last = e, now
		return pass(took())
	}
}

// busy counts what a server has in flight.
type busy []time.Time

func (b *busy) at(now time.Time) int {
	*b = slices.DeleteFunc(*b, func(end time.Time) bool { return !end.After(now) })
	return len(*b)
}

func (b *busy) start(end time.Time) { *b = append(*b, end) }

// slotsOf answers like nginx limit_conn: n at once, as a function of the time.
func slotsOf(n func(at time.Duration) int, took service, wait, refusal time.Duration) server {
	var in busy
	return func(now time.Time, _ int) answer {
		if in.at(now) >= n(now.Sub(labStart)) {
			return refuse(wait, refusal)
		}
		d := took()
		in.start(now.Add(d))
		return pass(d)
	}
}

func always(n int) func(time.Duration) int { return func(time.Duration) int { return n } }

// stranger takes 0 to most of n slots, one more or less every 5 s.
func stranger(rng *rand.Rand, n, most int) func(time.Duration) int {
	var walk []int
	v := 0
	return func(at time.Duration) int {
		for len(walk) <= int(at/(5*time.Second)) {
			v = min(most, max(0, v+[]int{-1, 0, 0, 1}[rng.IntN(4)]))
			walk = append(walk, v)
		}
		return n - walk[at/(5*time.Second)]
	}
}

// windowed lets n through in a span.
type windowed struct {
	n     int
	span  time.Duration
	fixed bool          // edges at phase, phase+span, ...; otherwise any span
	phase time.Duration // how far the first fixed window has gone
	tells bool          // Retry-After in whole seconds
	hints bool          // headers: remaining and reset
	ban   time.Duration // a refusal begins a ban; each request in it begins it anew
}

func (p windowed) serve(took service, refusal time.Duration) server {
	var log []time.Time
	var until time.Time
	return func(now time.Time, _ int) answer {
		from := now.Add(-p.span)
		if p.fixed {
			gone := now.Sub(labStart) + p.phase
			from = now.Add(-(gone % p.span))
		}
		log = slices.DeleteFunc(log, func(at time.Time) bool { return at.Before(from) || !p.fixed && at.Equal(from) })
		reset := p.span
		switch {
		case p.fixed:
			reset = from.Add(p.span).Sub(now)
		case len(log) > 0:
			reset = log[0].Add(p.span).Sub(now)
		}
		banned := now.Before(until)
		ok := !banned && len(log) < p.n
		if ok {
			log = append(log, now)
		} else if p.ban > 0 {
			until = now.Add(p.ban)
			reset = max(reset, p.ban)
		}
		var sig limits.Signal
		if p.hints {
			sig = limits.Signal{
				Limit: limits.Some(int64(p.n)), Remaining: limits.Some(int64(p.n - len(log))), Reset: limits.Some(reset), Kind: limits.KindWindow,
			}
		}
		if ok {
			a := pass(took())
			a.signal = sig
			return a
		}
		wait := silent
		if p.tells || p.hints {
			wait = reset.Truncate(time.Second) + time.Second
		}
		a := refuse(wait, refusal)
		a.signal = sig
		return a
	}
}

// knee grows slower beyond k at once and refuses beyond n.
func knee(k, n int, took service) server {
	var in busy
	return func(now time.Time, _ int) answer {
		c := in.at(now)
		if c >= n {
			return refuse(silent, 100*time.Millisecond)
		}
		d := time.Duration(float64(took()) * max(1, float64(c+1)/float64(k)))
		in.start(now.Add(d))
		return pass(d)
	}
}

// freeSlots is a platform's account: n at once, told in headers.
func freeSlots(n int, took service) server {
	var in busy
	return func(now time.Time, _ int) answer {
		c := in.at(now)
		sig := limits.Signal{Limit: limits.Some(int64(n)), Remaining: limits.Some(int64(max(0, n-c-1))), Kind: limits.KindConcurrency}
		if c >= n {
			a := refuse(60*time.Second, 50*time.Millisecond)
			a.account, a.signal = true, sig
			return a
		}
		d := took()
		in.start(now.Add(d))
		a := pass(d)
		a.signal = sig
		return a
	}
}

// queue serves n at once and lets more wait, most together.
func queue(n, most int, took time.Duration) server {
	var in busy
	free := make([]time.Time, n)
	return func(now time.Time, _ int) answer {
		if in.at(now) >= most {
			return refuse(silent, 15*time.Millisecond)
		}
		first := 0
		for i := range free {
			if free[i].Before(free[first]) {
				first = i
			}
		}
		begin := free[first]
		if begin.Before(now) {
			begin = now
		}
		free[first] = begin.Add(took)
		in.start(free[first])
		return pass(free[first].Sub(now))
	}
}
