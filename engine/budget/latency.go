package budget

// tally counts acceptances of the last 10 to 20 seconds.
type tally struct {
	start     float64
	now, past int
}

const tallySpan = 10.0 // s

func (c *tally) add(t float64) {
	for t >= c.start+tallySpan {
		if t >= c.start+2*tallySpan {
			c.start, c.now, c.past = t, 0, 0
			break
		}
		c.start, c.past, c.now = c.start+tallySpan, c.now, 0
	}
	c.now++
}

// rate is the acceptances a second, at least 0.02.
func (c *tally) rate(t float64) float64 {
	span := min(tallySpan, c.start) + t - c.start
	return max(0.02, float64(c.now+c.past)/max(1, span))
}

// latency watches for answers that grow slower: a queue builds up on the other side.
type latency struct {
	sum    float64
	n      int
	best   float64
	before int // allowed before it was lowered for slowness
}

const (
	latencySamples = 20
	latencyTwice   = 2.0
	latencyCalm    = 1.5
	latencyDrift   = 1.01
	latencyLeast   = 0.1 // s: below, noise doubles it
)

// slower lowers w when the mean of the last answers is above twice the best.
func (f *finder) slower(t, sent float64) {
	l := &f.lat
	l.sum += t - sent
	if l.n++; l.n < latencySamples {
		return
	}
	mean := l.sum / latencySamples
	l.sum, l.n = 0, 0
	if l.best == 0 {
		l.best = mean
	}
	l.best = min(mean, l.best*latencyDrift)
	if f.w < l.before && mean <= latencyCalm*l.best {
		f.w = min(l.before, f.w+max(1, f.w/4)) // so many were let through before, and what slowed them has passed
	}
	if mean <= latencyTwice*l.best || mean < latencyLeast || f.w <= 2 || f.limit() == 0 {
		return
	}
	l.before = max(l.before, f.w)
	f.w = max(2, int(float64(f.w)*max(0.6, 1.5*l.best/mean)))
	if f.study != nil {
		f.keep(t, min(holdMost, 2*f.hold))
	} else {
		f.grown = t + f.confirm()
	}
}
