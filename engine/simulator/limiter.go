package simulator

import (
	"math"
	"time"
)

// limiter decides about requests by the limits of one policy. It is not safe for concurrent use.
type limiter struct {
	began  time.Time
	states []limitState
	closed time.Time // end of a penalty
}

type limitState struct {
	Limit
	tokens float64     // bucket
	at     time.Time   // bucket: when tokens was true; fixed: begin of the window
	used   int         // fixed
	times  []time.Time // sliding, oldest first
}

func newLimiter(limits []Limit, began time.Time) *limiter {
	l := &limiter{began: began, states: make([]limitState, len(limits))}
	for i, lim := range limits {
		lim.Burst = max(lim.Burst, 1)
		l.states[i] = limitState{Limit: lim, tokens: float64(lim.Burst), at: began}
	}
	return l
}

// take lets a request in, or says how long until one could come in. inFlight does not count the request itself.
func (l *limiter) take(now time.Time, inFlight int) (ok bool, wait time.Duration) {
	if now.Before(l.closed) {
		return false, l.closed.Sub(now)
	}
	ok = true
	var penalty time.Duration
	for i := range l.states {
		s := &l.states[i]
		s.advance(now, l.began)
		if w := s.wait(now, inFlight); w > 0 {
			ok = false
			wait = max(wait, w)
			penalty = max(penalty, s.Penalty)
		}
	}
	if !ok {
		if penalty > 0 {
			wait = max(wait, penalty)
			l.closed = now.Add(wait)
		}
		return false, wait
	}
	for i := range l.states {
		l.states[i].spend(now)
	}
	return true, 0
}

func (s *limitState) advance(now, began time.Time) {
	switch s.Kind {
	case Bucket:
		s.tokens = math.Min(float64(s.Burst), s.tokens+now.Sub(s.at).Seconds()*s.rate())
		s.at = now
	case Fixed:
		if begin := began.Add(now.Sub(began).Truncate(s.Per)); begin.After(s.at) {
			s.at, s.used = begin, 0
		}
	case Sliding:
		n := 0
		for n < len(s.times) && now.Sub(s.times[n]) >= s.Per {
			n++
		}
		s.times = append(s.times[:0], s.times[n:]...)
	}
}

// rate is in tokens per second.
func (s *limitState) rate() float64 { return float64(s.N) / s.Per.Seconds() }

// concurrencyWait is what a full site asks to wait: nobody knows when a slot will be free.
const concurrencyWait = time.Second

// wait is zero where the limit has room.
func (s *limitState) wait(now time.Time, inFlight int) time.Duration {
	switch s.Kind {
	case Bucket:
		if s.tokens < 1-1e-9 {
			return max(time.Nanosecond, time.Duration(math.Ceil((1-s.tokens)/s.rate()*1e9)))
		}
	case Fixed:
		if s.used >= s.N {
			return s.at.Add(s.Per).Sub(now)
		}
	case Sliding:
		if len(s.times) >= s.N {
			return s.times[len(s.times)-s.N].Add(s.Per).Sub(now)
		}
	case Concurrency:
		if inFlight >= s.N {
			return concurrencyWait
		}
	}
	return 0
}

func (s *limitState) spend(now time.Time) {
	switch s.Kind {
	case Bucket:
		s.tokens = math.Max(0, s.tokens-1)
	case Fixed:
		s.used++
	case Sliding:
		s.times = append(s.times, now)
	}
}

// report is what a limit's headers say: of the limit with the least room. ok is false when no limit counts requests in time.
func (l *limiter) report(now time.Time) (limit, remaining int, reset, window time.Duration, ok bool) {
	for i := range l.states {
		s := &l.states[i]
		s.advance(now, l.began)
		var left int
		var r time.Duration
		switch s.Kind {
		case Bucket:
			left = int(s.tokens + 1e-9)
			r = time.Duration((float64(s.Burst) - s.tokens) / s.rate() * 1e9)
			if left == 0 {
				r = s.wait(now, 0)
			}
		case Fixed:
			left, r = s.N-s.used, s.at.Add(s.Per).Sub(now)
		case Sliding:
			left = s.N - len(s.times)
			if len(s.times) > 0 {
				r = s.times[max(0, len(s.times)-s.N)].Add(s.Per).Sub(now)
			}
		default:
			continue
		}
		if !ok || left < remaining {
			limit, remaining, reset, window, ok = s.N, max(0, left), r, s.Per, true
		}
	}
	if now.Before(l.closed) && ok {
		remaining, reset = 0, l.closed.Sub(now)
	}
	return limit, remaining, reset, window, ok
}
