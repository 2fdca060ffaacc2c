package main

import (
	"fmt"
	"math"
	"time"
)

// scenario is a list over scripted hosts with the time that it takes at best, in seconds.
type scenario struct {
	name  string
	ideal float64
	hosts func() []*target
	block int // of addresses
}

// one is a scenario of a single host.
func one(name string, n int, ideal float64, tell announce, rule func() rule) scenario {
	return scenario{name: name, ideal: ideal, hosts: func() []*target { return []*target{{name: "a", n: n, tell: tell, rule: rule()}} }}
}

const page = 15 * time.Millisecond

func scenarios(seconds int) []scenario {
	s := float64(seconds)
	fifty := func(tell announce, strict bool, name string) scenario {
		n := int(50 * s)
		return one("bucket 50/s burst 10, "+name, n, float64(n-10)/50, tell, func() rule { return bucket(50, 10, strict) })
	}
	all := []scenario{
		fifty(inSeconds, false, "Retry-After in seconds"),
		fifty(asDate, false, "Retry-After as a date"),
		fifty(silent, false, "silent"),
		fifty(inSeconds, true, "all refused during the wait"),
		one("bucket 10/s burst 5, Retry-After in seconds", int(10*s)+5, s, inSeconds, func() rule { return bucket(10, 5, false) }),
		one("5 at once of 100 ms, silent", int(50*s), s, silent, func() rule { return atOnce(5, 100*time.Millisecond) }),
		windowed(seconds),
		one("4 at work, 20 may wait, 25 ms", int(160*s), s, silent, func() rule { return queue(4, 24, 25*time.Millisecond) }),
		hosts(seconds),
	}
	if seconds >= 60 {
		third := s / 3
		n := int(50*third + 10*third + 50*third)
		all = append(all, one("bucket 50, 10, 50/s burst 10, silent", n, s-0.2, silent, func() rule { return phases(time.Duration(third*1e9), 50, 10, 50) }))
	}
	return all
}

// windowed lets 60 through in any 3 s and tells it in headers.
func windowed(seconds int) scenario {
	const n, span = 60, 3 * time.Second
	windows := seconds/3 + 1
	// A few fewer than fill the windows: one slot that is not used must not cost a whole window.
	return one("60 per 3 s, sliding, headers", windows*n-n/6, float64(windows-1)*span.Seconds()+0.05, inSeconds, func() rule {
		var log []time.Time
		return func(now time.Time, _ int) admission {
			for len(log) > 0 && !log[0].After(now.Add(-span)) {
				log = log[1:]
			}
			a := admission{ok: len(log) < n, took: page}
			if a.ok {
				log = append(log, now)
			}
			a.wait = log[0].Add(span).Sub(now)
			a.header = map[string]string{
				"RateLimit-Policy": fmt.Sprintf(`"all";q=%d;w=%d`, n, int(span.Seconds())),
				"RateLimit":        fmt.Sprintf(`"all";r=%d;t=%d`, n-len(log), int(math.Ceil(a.wait.Seconds()))),
			}
			return a
		}
	})
}

// hosts are fifty, of 1 to 5 requests a second each.
func hosts(seconds int) scenario {
	return scenario{name: "50 hosts of 1 to 5/s", ideal: float64(seconds), hosts: func() []*target {
		var all []*target
		for i := range 50 {
			rate := 1 + i%5
			burst := max(2, rate)
			all = append(all, &target{name: fmt.Sprintf("host %d", i), n: burst + rate*seconds, tell: inSeconds, rule: bucket(float64(rate), burst, false)})
		}
		return all
	}}
}

// bucket is a token bucket; strict: a refusal closes it until the announced wait, in whole seconds, is over.
func bucket(rate float64, burst int, strict bool) rule {
	tokens, at := float64(burst), time.Time{}
	var closed time.Time
	return func(now time.Time, _ int) admission {
		if !at.IsZero() {
			tokens = math.Min(float64(burst), tokens+now.Sub(at).Seconds()*rate)
		}
		at = now
		switch {
		case now.Before(closed):
			return admission{wait: closed.Sub(now)}
		case tokens >= 1:
			tokens--
			return admission{ok: true, took: page}
		}
		wait := time.Duration((1 - tokens) / rate * 1e9)
		if strict {
			closed = now.Add(time.Duration(math.Ceil(wait.Seconds())) * time.Second)
		}
		return admission{wait: wait}
	}
}

// phases is a bucket whose rate changes, each for a while from the first request on.
func phases(each time.Duration, rates ...float64) rule {
	const burst = 10
	tokens, at, began := float64(burst), time.Time{}, time.Time{}
	return func(now time.Time, _ int) admission {
		if began.IsZero() {
			began, at = now, now
		}
		rate := rates[min(int(now.Sub(began)/each), len(rates)-1)]
		tokens = math.Min(burst, tokens+now.Sub(at).Seconds()*rate)
		at = now
		if tokens >= 1 {
			tokens--
			return admission{ok: true, took: page}
		}
		return admission{wait: time.Duration((1 - tokens) / rate * 1e9)}
	}
}

func atOnce(n int, took time.Duration) rule {
	return func(_ time.Time, inFlight int) admission {
		return admission{ok: inFlight < n, took: took, wait: took}
	}
}

// queue serves n at once, lets more wait, most together, and refuses the rest.
func queue(n, most int, took time.Duration) rule {
	free := make([]time.Time, n)
	return func(now time.Time, inFlight int) admission {
		if inFlight >= most {
			return admission{wait: took}
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
		return admission{ok: true, took: free[first].Sub(now)}
	}
}
