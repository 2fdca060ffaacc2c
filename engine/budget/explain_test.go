package budget

import (
	"math"
	"testing"
	"unsafe"
)

// history fills a record by sending as fast as every seconds against a rule, with a pause after each refusal.
func history(total int, every, pause float64, allow func(at float64) bool) (*record, float64) {
	r := newRecord(&outline{}, 0)
	r.whole = true
	t, refusedAt := 0.0, -1.0
	for sent := 0; sent < total; {
		if allow(t) {
			if refusedAt >= 0 {
				r.back(refusedAt, t)
				refusedAt = -1
			}
			r.add(t, 1)
			sent++
			t += every
			continue
		}
		r.refuse(t, 1)
		refusedAt = t
		t += pause
	}
	return r, t
}

func slidingRule(n int, span float64) func(float64) bool {
	var log []float64
	return func(t float64) bool {
		for len(log) > 0 && log[0] <= t-span {
			log = log[1:]
		}
		if len(log) >= n {
			return false
		}
		log = append(log, t)
		return true
	}
}

func fixedRule(n int, span, phase float64) func(float64) bool {
	c, last := 0, math.Inf(-1)
	return func(t float64) bool {
		if k := math.Floor((t + phase) / span); k != last {
			c, last = 0, k
		}
		if c >= n {
			return false
		}
		c++
		return true
	}
}

func bucketRule(rate, size float64) func(float64) bool {
	level, last := 0.0, 0.0
	return func(t float64) bool {
		level, last = max(0, level-(t-last)*rate), t
		if level+1 > size {
			return false
		}
		level++
		return true
	}
}

func TestFitFindsTheRule(t *testing.T) {
	for _, c := range []struct {
		name         string
		total        int
		every, pause float64
		rule         func(float64) bool
		want         model
	}{
		{"60 per 60 s, sliding", 300, 0.05, 3, slidingRule(60, 60), model{kind: windowModel, limit: 60, span: 60}},
		{"10 per 10 s, sliding", 60, 0.1, 1, slidingRule(10, 10), model{kind: windowModel, limit: 10, span: 10}},
		{"30 per 300 s, fixed", 150, 0.5, 20, fixedRule(30, 300, 100), model{kind: windowModel, limit: 30, span: 300}},
		{"20 a second, burst 40", 400, 0.01, 0.7, bucketRule(20, 40), model{kind: bucketModel, limit: 40, rate: 20}},
		{"2 a second, burst 5", 80, 0.05, 1.3, bucketRule(2, 5), model{kind: bucketModel, limit: 5, rate: 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, now := history(c.total, c.every, c.pause, c.rule)
			fit, ok := r.fit(now+1, -1, 0.02)
			if !ok || fit.kind != c.want.kind {
				t.Fatalf("found %+v (%v), want kind %d", fit, ok, c.want.kind)
			}
			near := func(what string, got, want, tolerance float64) {
				if math.Abs(got-want) > tolerance*want {
					t.Errorf("%s %.2f, want %.2f", what, got, want)
				}
			}
			if c.want.kind == windowModel {
				near("limit", fit.limit, c.want.limit, 0.03)
				near("span", fit.span, c.want.span, 0.01)
			} else {
				near("rate", fit.rate, c.want.rate, 0.08)
				near("size", fit.limit, c.want.limit, 0.25)
			}
		})
	}
}

func TestFitWithoutRefusalsFindsNothing(t *testing.T) {
	r, now := history(50, 0.1, 1, func(float64) bool { return true })
	if fit, ok := r.fit(now+1, -1, 0.02); ok {
		t.Errorf("found %+v", fit)
	}
	if fit, ok := newRecord(&outline{}, 0).fit(1, -1, 0.02); ok {
		t.Errorf("found %+v in an empty record", fit)
	}
}

func TestRecordIsBounded(t *testing.T) {
	var past outline
	for i := range 5000 {
		past.add(float64(i) / 50)
	}
	r := newRecord(&past, 3)
	for i := range 5000 {
		r.add(100+float64(i)/10, i%40)
		r.refuse(100+float64(i)/10, 3)
		r.back(float64(i), float64(i)+0.5)
	}
	bytes := cap(r.at)*8 + cap(r.n)*2 + cap(r.refs)*int(unsafe.Sizeof(refusedAt{})) + cap(r.edges)*int(unsafe.Sizeof(edge{})) +
		int(unsafe.Sizeof(study{})+unsafe.Sizeof(*r))
	if bytes > 16<<10 || len(r.at) > recordMost || r.whole {
		t.Errorf("the record of a refused domain takes %d bytes, %d starts, whole %v", bytes, len(r.at), r.whole)
	}
	if New(Domain, "a.test", Limits{Find: true}).find.study != nil {
		t.Error("a domain that was never refused keeps a record")
	}
}

func TestRecordKeepsTheOrderOfABurst(t *testing.T) {
	r := newRecord(&outline{}, 0)
	for range 5 {
		r.add(1, 1)
	}
	for i := 1; i < len(r.at); i++ {
		if r.at[i] <= r.at[i-1] {
			t.Fatalf("start %d at %v, the one before at %v", i, r.at[i], r.at[i-1])
		}
	}
	r.drop(1)
	if len(r.at) != 4 {
		t.Errorf("%d starts left, want 4", len(r.at))
	}
	r.drop(7)
	r.drop(0.5)
	if len(r.at) != 4 {
		t.Errorf("dropped a start of another time: %d left", len(r.at))
	}
}

func TestMadeUpRecordFollowsTheOutline(t *testing.T) {
	for _, count := range []int{1, 2, 15, 16, 17, 33, 100, 900, 1777} {
		var past outline
		at := func(i int) float64 { return 50 * math.Sqrt(float64(i)) } // faster and faster
		for i := range count {
			past.add(at(i))
		}
		r := newRecord(&past, 4)
		kept := min(count, recordMost)
		if len(r.at) != kept || r.whole != (kept == count) {
			t.Fatalf("%d starts: %d in the record, whole %v", count, len(r.at), r.whole)
		}
		for k, got := range r.at {
			i := count - kept + k
			if want := at(i); math.Abs(got-want) > 0.1*at(count)+1e-3 {
				t.Errorf("start %d of %d at %.1f, was %.1f", i, count, got, want)
			}
		}
		if last := r.at[kept-1]; math.Abs(last-at(count-1)) > 1e-3 {
			t.Errorf("the last of %d at %.3f, was %.3f", count, last, at(count-1))
		}
		r.drop(at(count-1) * 0.99)
		if len(r.at) != kept-1 {
			t.Errorf("a refused start of before is not taken out of %d", kept)
		}
	}
}

func TestContradictions(t *testing.T) {
	r := newRecord(&outline{}, 0)
	for i, s := range []struct {
		n       int
		refused bool
	}{{4, false}, {5, true}, {5, false}, {5, true}, {3, false}, {5, true}} {
		if s.refused {
			r.refuse(float64(i), s.n)
		} else {
			r.add(float64(i), s.n)
		}
	}
	if got := r.contradictions(); got != 1 {
		t.Errorf("contradicted %d times, want once: five were let through between two refusals of five", got)
	}
}

func TestRoundest(t *testing.T) {
	for _, c := range []struct{ lo, hi, rate, want float64 }{
		{18, 22, 19.3, 20}, {0.9, 1.3, 1.1, 1}, {0.3, 0.35, 0.31, 20.0 / 60}, {7.1, 7.4, 7.2, 7.2}, {29, 31, 30.4, 30}, {450, 600, 470, 500},
	} {
		if got := roundest(c.lo, c.hi, c.rate); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("roundest(%v, %v, %v) = %v, want %v", c.lo, c.hi, c.rate, got, c.want)
		}
	}
}

// A fit happens once a refusal; it must not be felt by the loop: about a millisecond.
func BenchmarkFit(b *testing.B) {
	r, now := history(recordMost, 0.05, 3, slidingRule(60, 60))
	b.ReportAllocs()
	for b.Loop() {
		r.fit(now, -1, 0.02)
	}
}

func BenchmarkGate(b *testing.B) {
	bu := New(Domain, "a.test", Limits{Find: true})
	bu.Start(t0)
	bu.Refused(t0, announced(t0, 1), newRand(1))
	now := bu.Cooldown().Until
	bu.Start(now)
	bu.Answered(now, now, 1, 0)
	b.ReportAllocs()
	for b.Loop() {
		bu.Gate(now)
	}
}
