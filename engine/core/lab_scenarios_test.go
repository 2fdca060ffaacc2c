package core

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"dev.scrapetop/engine/budget"
	"dev.scrapetop/engine/provider"
)

// result is one run of a scenario.
type result struct {
	efficiency float64 // the shortest time in which it could be done, over the time it took
	refused    float64 // per 1,000 accepted
	note       string
}

// scenario is a scripted world with a list of URLs.
type scenario struct {
	name string
	run  func(t testing.TB, seed uint64) result
	goal goal
}

// goal is what its runs must reach; zero fields ask for nothing.
type goal struct {
	median, worst float64 // efficiency
	refused       float64 // per 1,000 accepted, the median; negative: none at all
}

type site struct {
	domain string
	n      int
	serve  server
}

// play runs the list to its end and checks what holds for every run: everything accepted, nothing sent inside an
// announced wait, the ceiling kept.
func play(t testing.TB, cfg Config, ideal float64, sites ...site) (*lab, result) {
	t.Helper()
	return playFrom(t, nil, cfg, ideal, sites...)
}

// playFrom is play from what an earlier run left.
func playFrom(t testing.TB, before *lab, cfg Config, ideal float64, sites ...site) (*lab, result) {
	t.Helper()
	if before != nil {
		cfg.Recall = func(_ time.Time, scope budget.Scope, name string) (budget.Memory, bool) {
			d := before.m.front.Domains[name]
			if scope != budget.Domain || d == nil {
				return budget.Memory{}, false
			}
			found, ok := d.Budget.Learned()
			return budget.Memory{Learned: &found, Trust: 1}, ok
		}
	}
	l := newLab(t, cfg)
	n := 0
	for _, s := range sites {
		l.list(s.domain, s.n, s.serve)
		n += s.n
	}
	l.run(240 * time.Hour)
	if l.accepted != n || l.end == nil || l.end.State != "finished" {
		t.Errorf("accepted %d of %d, ended %v after %v: %s", l.accepted, n, l.end, l.elapsed(), l.m.front.Domain(sites[0].domain).Budget.Evidence())
	}
	if l.inWait > 0 {
		t.Errorf("%d requests inside an announced wait", l.inWait)
	}
	if _, most := l.m.InFlight(); l.m.Counts().MaxInFlight > int64(most) {
		t.Errorf("%d in flight, ceiling %d", l.m.Counts().MaxInFlight, most)
	}
	for id, times := range l.paths {
		if times != 1 {
			t.Errorf("task %d accepted %d times", id, times)
		}
	}
	return l, result{efficiency: ideal / l.elapsed().Seconds(), refused: 1000 * float64(l.refused) / float64(max(1, l.accepted))}
}

// alone is a scenario of one direct domain. The server gets its own source of chance.
func alone(name string, n int, ideal float64, goal goal, serve func(rng *rand.Rand) server) scenario {
	return scenario{name, func(t testing.TB, seed uint64) result {
		rng := rand.New(rand.NewPCG(seed, 77))
		l, r := play(t, Config{Direct: true, Seed: seed, Deadline: 240 * time.Hour}, ideal, site{"a.test", n, serve(rng)})
		r.note = l.m.front.Domain("a.test").Budget.Evidence()
		return r
	}, goal}
}

// again is a scenario's second run over the same targets an hour later, from what the first has learned.
func again(name string, n int, ideal float64, goal goal, serve func(rng *rand.Rand) server) scenario {
	return scenario{name + ", remembered", func(t testing.TB, seed uint64) result {
		rng := rand.New(rand.NewPCG(seed, 77))
		cfg := Config{Direct: true, Seed: seed, Deadline: 240 * time.Hour}
		before, _ := play(t, cfg, ideal, site{"a.test", n, serve(rng)})
		l, r := playFrom(t, before, cfg, ideal, site{"a.test", n, serve(rng)})
		r.note = l.m.front.Domain("a.test").Budget.Evidence()
		return r
	}, goal}
}

func steps(at ...[2]int) func(time.Duration) int {
	return func(now time.Duration) int {
		n := 0
		for _, s := range at {
			if now >= time.Duration(s[0])*time.Second {
				n = s[1]
			}
		}
		return n
	}
}

// slotTime is the time in which n tasks of a service fit into slots that change.
func slotTime(slots func(time.Duration) int, n int, service float64) float64 {
	at, done := 0.0, 0.0
	for done < float64(n) {
		done += float64(max(0, slots(time.Duration(at*1e9)))) / service
		at++
	}
	return at
}

// windowTime is the time in which n tasks fit into windows.
func windowTime(p windowed, n int, service float64) float64 {
	flight := float64(n) * service / 64
	if n <= p.n {
		return flight
	}
	full := math.Ceil(float64(n)/float64(p.n)) - 1
	first := p.span.Seconds()
	if p.fixed {
		first -= p.phase.Seconds()
	}
	return max(flight, first+(full-1)*p.span.Seconds()+(float64(n)-full*float64(p.n))*service/64+service)
}

const (
	ms  = time.Millisecond
	sec = time.Second
)

// scenarios are the worlds of the table.
func scenarios() []scenario {
	sliding := windowed{n: 60, span: 60 * sec}
	quota := windowed{n: 300, span: 900 * sec, fixed: true, hints: true}
	banning := windowed{n: 30, span: 60 * sec, tells: true, ban: 30 * sec}
	dated := windowed{n: 100, span: 30 * sec, tells: true}
	fall := steps([2]int{0, 20}, [2]int{120, 6}, [2]int{420, 20})
	wave := []rated{{0, 50, 9}, {3 * sec, 10, 9}, {9 * sec, 50, 9}}
	return []scenario{
		alone("bucket 20/s burst 10, Retry-After 1; 300", 300, 14.5, goal{0.80, 0.70, 60}, func(*rand.Rand) server { return bucket(20, 10, constant(ms), sec) }),
		alone("bucket 20/s burst 10, silent; 300", 300, 14.5, goal{0.80, 0.70, 60}, func(*rand.Rand) server { return bucket(20, 10, constant(ms), silent) }),
		alone("bucket 20/s burst 10, six taken before, silent; 300", 300, 14.8, goal{0.80, 0.65, 60}, func(*rand.Rand) server { return used(6, bucket(20, 10, constant(ms), silent)) }),
		alone("bucket 50/s burst 9, Retry-After 1; 400", 400, 7.8, goal{0.70, 0.60, 60}, func(*rand.Rand) server { return bucket(50, 9, constant(15*ms), sec) }),
		alone("bucket 50/s burst 9, silent; 400", 400, 7.8, goal{0.70, 0.55, 60}, func(*rand.Rand) server { return bucket(50, 9, constant(15*ms), silent) }),
		alone("bucket 5/s burst 1, silent; 200", 200, 39.6, goal{0.75, 0.70, 60}, func(*rand.Rand) server { return bucket(5, 1, constant(20*ms), silent) }),
		alone("bucket 10/s burst 4, Retry-After 1; 85", 85, 8, goal{0.65, 0.50, 0}, func(*rand.Rand) server { return bucket(10, 4, constant(15*ms), sec) }),
		alone("bucket 10/s burst 50, silent, 0.5 s; 5,000", 5000, 495.5, goal{0.93, 0.88, 30}, func(r *rand.Rand) server { return bucket(10, 49, spread(r, 500*ms), silent) }),
		alone("bucket 20/min burst 2, silent, 0.3 s; 100", 100, 291, goal{0.80, 0.60, 0}, func(r *rand.Rand) server { return bucket(1.0/3, 2, spread(r, 300*ms), silent) }),
		alone("bucket 50, 10, 50/s burst 9, silent; 400", 400, 13.8, goal{0.45, 0.30, 0}, func(*rand.Rand) server { return buckets(wave, constant(15*ms), silent) }),
		alone("5 at once, 200 ms; 500", 500, 20, goal{0.93, 0.90, 10}, func(*rand.Rand) server { return slotsOf(always(5), constant(200*ms), silent, ms) }),
		alone("12 at once, 2 s; 1,000", 1000, 166.7, goal{0.90, 0.87, 10}, func(*rand.Rand) server { return slotsOf(always(12), constant(2*sec), silent, ms) }),
		alone("12 at once, 2 s give or take; 3,000", 3000, 500, goal{0.92, 0.88, 10}, func(r *rand.Rand) server { return slotsOf(always(12), spread(r, 2*sec), silent, 50*ms) }),
		alone("20, 6, 20 at once, 2 s; 5,000", 5000, slotTime(fall, 5000, 2), goal{0.88, 0.80, 15}, func(r *rand.Rand) server { return slotsOf(fall, spread(r, 2*sec), silent, 50*ms) }),
		{"10 at once shared with a stranger, 2 s; 2,000", runStranger, goal{0.70, 0.50, 0}},
		alone("slower beyond 8, refused beyond 24, 1 s; 2,000", 2000, 250, goal{0.85, 0.70, 30}, func(r *rand.Rand) server { return knee(8, 24, spread(r, sec)) }),
		alone("queue: 4 at once, 20 wait, 40 ms; 800", 800, 8, goal{0.75, 0.60, 20}, func(*rand.Rand) server { return queue(4, 24, 40*ms) }),
		again("bucket 20/s burst 10, Retry-After 1; 300", 300, 14.5, goal{0.93, 0.90, 10}, func(*rand.Rand) server { return bucket(20, 10, constant(ms), sec) }),
		again("bucket 50/s burst 9, Retry-After 1; 400", 400, 7.8, goal{0.93, 0.90, 10}, func(*rand.Rand) server { return bucket(50, 9, constant(15*ms), sec) }),
		again("bucket 50/s burst 9, silent; 400", 400, 7.8, goal{0.93, 0.90, 10}, func(*rand.Rand) server { return bucket(50, 9, constant(15*ms), silent) }),
		again("bucket 10/s burst 4, Retry-After 1; 85", 85, 8, goal{0.93, 0.90, 10}, func(*rand.Rand) server { return bucket(10, 4, constant(15*ms), sec) }),
		again("5 at once, 100 ms; 400", 400, 8, goal{0.93, 0.90, 10}, func(*rand.Rand) server { return slotsOf(always(5), constant(100*ms), silent, ms) }),
		again("60 per 3 s, sliding, headers; 180", 180, 6.05, goal{0.88, 0.60, 5}, func(r *rand.Rand) server {
			return windowed{n: 60, span: 3 * sec, hints: true}.serve(spread(r, 50*ms), 50*ms)
		}),
		again("slower beyond 8, refused beyond 24, 100 ms; 640", 640, 8, goal{0.93, 0.90, 10}, func(r *rand.Rand) server { return knee(8, 24, spread(r, 100*ms)) }),
		alone("60 per 60 s, sliding, silent, 0.5 s; 900", 900, 841, goal{0.90, 0.80, 40}, func(r *rand.Rand) server { return sliding.serve(spread(r, 500*ms), 50*ms) }),
		alone("300 per 900 s, fixed, headers, 1 s; 1,200", 1200, 2716, goal{0.97, 0.95, -1}, func(r *rand.Rand) server { return quota.serve(spread(r, sec), 50*ms) }),
		alone("30 per 60 s, a ban that begins anew, Retry-After, 1 s; 300", 300, windowTime(banning, 300, 1), goal{0.80, 0.60, 60}, func(r *rand.Rand) server { return banning.serve(spread(r, sec), 50*ms) }),
		alone("100 per 30 s, Retry-After, 0.5 s; 1,000", 1000, 270.5, goal{0.85, 0.70, 30}, func(r *rand.Rand) server { return dated.serve(spread(r, 500*ms), 50*ms) }),
		{"fifty hosts, 1 to 5/s, 10 to 45 each", runHosts, goal{0.60, 0.40, 250}},
		{"fifty hosts, 1 to 5/s, 10 to 45 each, remembered", runHostsAgain, goal{0.75, 0.50, 10}},
		{"forty hosts by Zipf, 4 each, 16 in all; one says 600 s", runZipf, goal{0.92, 0.90, 5}},
		{"platform, 5 at once by headers, 4 s; 600", runFreeSlots, goal{0.95, 0.92, -1}},
		{"platform, 16 at once, a domain refused inside above 0.5/s; 2,950", runInner, goal{0.85, 0.70, 30}},
	}
}

func runStranger(t testing.TB, seed uint64) result {
	free := stranger(rand.New(rand.NewPCG(seed, 99)), 10, 6)
	rng := rand.New(rand.NewPCG(seed, 77))
	l, r := play(t, Config{Direct: true, Seed: seed}, slotTime(free, 2000, 2), site{"a.test", 2000, slotsOf(free, spread(rng, 2*sec), silent, 50*ms)})
	r.note = l.m.front.Domain("a.test").Budget.Evidence()
	return r
}

// hosts is a list over fifty small hosts, with the shortest time for it.
func hosts(rng *rand.Rand) (sites []site, ideal float64) {
	for i := range 50 {
		rate, burst := float64(1+i%5), max(2, 1+i%5)
		n := burst + (1+i%5)*8
		wait := sec
		if i/5%5 == 4 {
			wait = silent
		}
		took := spread(rng, 60*ms)
		sites = append(sites, site{fmt.Sprintf("h%02d.test", i), n, bucket(rate, burst-1, took, wait)})
		ideal = max(ideal, float64(n-burst)/rate)
	}
	return sites, ideal
}

// runHosts serves fifty small hosts: each must be learned by itself.
func runHosts(t testing.TB, seed uint64) result {
	_, r := playHosts(t, nil, seed)
	return r
}

func runHostsAgain(t testing.TB, seed uint64) result {
	before, _ := playHosts(t, nil, seed)
	_, r := playHosts(t, before, seed)
	return r
}

func playHosts(t testing.TB, before *lab, seed uint64) (*lab, result) {
	sites, ideal := hosts(rand.New(rand.NewPCG(seed, 55)))
	l, r := playFrom(t, before, Config{Direct: true, Seed: seed}, ideal, sites...)
	last := ""
	for d, at := range l.byDomain {
		if last == "" || at > l.byDomain[last] {
			last = d
		}
	}
	r.note = "last " + last + ": " + l.m.front.Domain(last).Budget.Evidence()
	return l, r
}

// runZipf is forty hosts, the first large; the third refuses once for ten minutes. The others must not feel it.
func runZipf(t testing.TB, seed uint64) result {
	rng := rand.New(rand.NewPCG(seed, 66))
	var sites []site
	sum := 0.0
	for i := range 40 {
		sum += 1 / float64(i+1)
	}
	others, largest, third := 0, 0, 0
	for i := range 40 {
		n := int(math.Round(4000 / sum / float64(i+1)))
		took := spread(rng, sec)
		serve := server(func(time.Time, int) answer { return pass(took()) })
		if i == 2 {
			third = n
			asked := false
			serve = func(time.Time, int) answer {
				if !asked {
					asked = true
					return refuse(600*sec, 50*ms)
				}
				return pass(took())
			}
		} else {
			others += n
			largest = max(largest, n)
		}
		sites = append(sites, site{fmt.Sprintf("z%02d.test", i), n, serve})
	}
	cfg := Config{Direct: true, Seed: seed, Global: budget.Limits{InFlight: 16}, Domain: budget.Limits{InFlight: 4}}
	l, r := play(t, cfg, 600+float64(third)/4, sites...)
	slowest := time.Duration(0)
	for _, s := range sites {
		if s.domain != "z02.test" {
			slowest = max(slowest, l.byDomain[s.domain])
		}
	}
	share := max(float64(others)/16, float64(largest)/4) / slowest.Seconds()
	r.note = fmt.Sprintf("the others at %.2f of theirs", share)
	// In turns, the largest host is served last; only a list in order of size would bring the others to 1.
	if share < 0.6 {
		t.Errorf("the others reached %.2f of their optimum", share)
	}
	return r
}

func runFreeSlots(t testing.TB, seed uint64) result {
	rng := rand.New(rand.NewPCG(seed, 44))
	cfg := Config{
		Seed: seed, Facts: provider.Facts{FreeSlots: true, AccountScope: "credential"},
		Credentials: []CredentialLimits{{Name: "main", Limits: budget.Limits{Start: 2}}},
	}
	l, r := play(t, cfg, 480, site{"a.test", 600, freeSlots(5, spread(rng, 4*sec))})
	r.note = fmt.Sprintf("at most %d at once", l.peak["a.test"])
	return r
}

// runInner is a platform with one domain that refuses inside good answers.
func runInner(t testing.TB, seed uint64) result {
	rng := rand.New(rand.NewPCG(seed, 33))
	cfg := Config{
		Seed: seed, Facts: provider.Facts{AccountScope: "credential"},
		Credentials: []CredentialLimits{{Name: "main", Limits: budget.Limits{InFlight: 16}}},
	}
	var sites []site
	for i := range 7 {
		took := spread(rng, 2*sec)
		sites = append(sites, site{fmt.Sprintf("p%d.test", i), 400, func(time.Time, int) answer { return pass(took()) }})
	}
	sites = append(sites, site{"slow.test", 150, bucket(0.5, 4, spread(rng, 2*sec), silent)})
	l, r := play(t, cfg, 368.75, sites...)
	r.note = l.m.front.Domain("slow.test").Budget.Evidence()
	return r
}

// policies are hidden limits drawn at random: one scenario, a policy a seed.
func policies() []scenario {
	logU := func(rng *rand.Rand, a, b float64) float64 {
		return math.Exp(math.Log(a) + rng.Float64()*(math.Log(b)-math.Log(a)))
	}
	at := func(t testing.TB, seed uint64, ideal float64, n int, serve server, what string) result {
		l, r := play(t, Config{Direct: true, Seed: seed, Deadline: 240 * time.Hour}, ideal, site{"a.test", n, serve})
		r.note = what + "; " + l.m.front.Domain("a.test").Budget.Evidence()
		return r
	}
	return []scenario{
		{"hidden number at once, 1 to 60, 0.3 to 8 s", func(t testing.TB, seed uint64) result {
			rng := rand.New(rand.NewPCG(seed, 1001))
			c, s := 1+rng.IntN(60), logU(rng, 0.3, 8)
			n := max(300, 60*c)
			return at(t, seed, float64(n)*s/float64(c), n, slotsOf(always(c), spread(rng, time.Duration(s*1e9)), silent, 100*ms), fmt.Sprintf("%d at once, %.1f s", c, s))
		}, goal{0.93, 0.78, 10}},
		{"hidden window, 5 to 300 per 1 to 900 s, 0.3 to 4 s", func(t testing.TB, seed uint64) result {
			rng := rand.New(rand.NewPCG(seed, 1002))
			spans := []int{1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900}
			span := spans[rng.IntN(len(spans))]
			if rng.Float64() >= 0.8 {
				span = 1 + rng.IntN(900)
			}
			s := logU(rng, 0.3, 4)
			p := windowed{n: int(math.Round(logU(rng, 5, 300))), span: time.Duration(span) * sec, fixed: rng.IntN(2) == 0}
			if p.fixed {
				p.phase = time.Duration(rng.Float64() * float64(p.span))
			}
			n := max(60, min(3000, 8*p.n))
			return at(t, seed, windowTime(p, n, s), n, p.serve(spread(rng, time.Duration(s*1e9)), 100*ms), fmt.Sprintf("%d per %d s, fixed %v, %.1f s", p.n, span, p.fixed, s))
		}, goal{0.90, 0.10, 90}},
		{"hidden bucket, 0.3 to 40/s, 0.05 to 2 s", func(t testing.TB, seed uint64) result {
			rng := rand.New(rand.NewPCG(seed, 1003))
			rate := logU(rng, 0.3, 40)
			b := max(1, int(logU(rng, 1, max(2, 5*rate))))
			s := min(logU(rng, 0.05, 2), 50/rate)
			n := min(4000, int(max(100, float64(b)+rate*150)))
			ideal := max(float64(n)*s/64, float64(n-b)/rate+s)
			return at(t, seed, ideal, n, bucket(rate, b-1, spread(rng, time.Duration(s*1e9)), silent), fmt.Sprintf("%.2f/s, burst %d, %.2f s", rate, b, s))
		}, goal{0.90, 0.50, 30}},
	}
}
