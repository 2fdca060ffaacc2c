package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"dev.scrapetop/storage"
)

// gather is what becomes of exchanges told by time.
func gather(xs ...*storage.Exchange) *shared {
	var last time.Time
	for _, x := range xs {
		if end := x.StartedAt.Add(x.Elapsed); end.After(last) {
			last = end
		}
	}
	first := time.Time{}
	if len(xs) > 0 {
		first = xs[0].StartedAt
	}
	s := newShared(first, last)
	for _, x := range xs {
		s.add(x)
	}
	s.finish()
	return s
}

// through makes an exchange one with a platform.
func through(x *storage.Exchange, kind, credential string) *storage.Exchange {
	x.Provider, x.Kind, x.Credential = "evomi", kind, credential
	return x
}

// TestALayerClosesWhatItSpeaksOf: which requests count as sent during a cooldown after a refusal by each layer.
func TestALayerClosesWhatItSpeaksOf(t *testing.T) {
	later := []*storage.Exchange{
		through(exchange(2*time.Second, 0, "accepted"), "submit", "main"),
		through(exchange(3*time.Second, 0, "accepted"), "submit", "second"),
		through(exchange(4*time.Second, 0, "still_running"), "poll", "main"),
		exchange(5*time.Second, 0, "accepted"),
	}
	for layer, want := range map[string]int64{"account": 1, "pending": 1, "capacity": 2, "rate": 3, "target": 0, "quota": 0, "auth": 0} {
		refusal := asks(through(exchange(0, time.Second, "limited"), "submit", "main"), layer, time.Minute)
		s := gather(append([]*storage.Exchange{refusal}, later...)...)
		if l := s.layer(layer); l.During != want || l.Limited != 1 || l.Waits != 1 || l.Longest != time.Minute {
			t.Errorf("%s: %+v, want %d", layer, l, want)
		}
	}
}

// TestABatchIsOneRequest: it is refused once by a platform, and by the target of each of its pages.
func TestABatchIsOneRequest(t *testing.T) {
	batch := func(layer string) []*storage.Exchange {
		var xs []*storage.Exchange
		for range 5 {
			x := through(exchange(0, time.Second, "limited"), "submit", "main")
			x.Layer, x.Credits = layer, 2
			xs = append(xs, x)
		}
		return xs
	}
	for layer, want := range map[string]int64{"account": 1, "target": 5} {
		s := gather(batch(layer)...)
		if l := s.layer(layer); s.requests != 1 || s.rates.second.most != 1 || s.askers[0].Requests != 1 || l.Limited != want || s.askers[0].Credits != 10 || s.outcomes[0].Times != 5 {
			t.Errorf("%s: %d requests, %+v, %+v", layer, s.requests, l, s.askers)
		}
	}
}

func TestDomainsKeepTheWorstAndTheLargest(t *testing.T) {
	d := &domains{shown: 3}
	all := int64(0)
	for i := range 40 {
		name := fmt.Sprintf("%02d.test", i)
		if i == 17 { // impolite, and small
			d.add(&storage.Exchange{ID: "a", Domain: name, Kind: "fetch", StartedAt: noon, Outcome: "limited", Layer: "target", RetryAfter: new(4 * time.Second)})
			d.add(&storage.Exchange{ID: "b", Domain: name, Kind: "fetch", StartedAt: noon.Add(time.Second), Outcome: "accepted"})
			continue
		}
		for k := range i + 1 {
			d.add(&storage.Exchange{ID: fmt.Sprint(k), Domain: name, Kind: "fetch", StartedAt: noon.Add(time.Duration(k) * 100 * time.Millisecond), Outcome: "accepted", Credits: 1})
			all++
		}
		d.add(&storage.Exchange{ID: "poll", Domain: name, Kind: "poll", StartedAt: noon.Add(time.Hour), Outcome: "accepted"})
	}
	rows := d.rows()
	if len(rows) != 3 || rows[0].Name != "17.test" || rows[0].During != 1 || rows[0].Longest != 4*time.Second || rows[1].Name != "39.test" || rows[2].Name != "38.test" {
		t.Fatalf("%+v", rows)
	}
	if r := rows[1]; r.Requests != 40 || r.Accepted != 41 || r.Second != 10 || r.Minute != 40 {
		t.Errorf("%+v", r)
	}
	if d.n != 40 || d.rest.Requests != all-40-39 || d.rest.Credits != float64(all-40-39) || d.rest.Minute != 38 || d.during != 1 {
		t.Errorf("%d domains, the rest %+v", d.n, d.rest)
	}
}

// TestInFlightIsTheTimeInFlight: the sum over the bars is the sum of the exchanges' lengths.
func TestInFlightIsTheTimeInFlight(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		length := time.Duration(r.Int64N(int64(40*24*time.Hour))) + 1
		line := newTimeline(noon, noon.Add(length))
		want := 0.0
		n := 1 + r.IntN(50)
		for range n {
			at := time.Duration(r.Int64N(int64(length)))
			elapsed := time.Duration(r.Int64N(int64(length - at)))
			line.request(exchange(at, elapsed, "accepted"))
			want += elapsed.Seconds()
		}
		got, counted := 0.0, 0.0
		for i, f := range line.inFlight() {
			if f < -1e-9 {
				t.Fatalf("%v in flight", f)
			}
			got += f * line.width.Seconds()
			counted += line.accepted[i]
		}
		if math.Abs(got-want) > 1e-3*want+1e-6 || int(counted) != n {
			t.Fatalf("%v s and %v requests in flight, want %v and %d", got, counted, want, n)
		}
		if bars := len(line.part); bars > maxBars+2 {
			t.Fatalf("%d bars of %v for %v", bars, line.width, length)
		}
	}
}

func TestTimelineOfOddTimes(t *testing.T) {
	far := time.UnixMilli(math.MaxInt64 / 2)
	for name, ends := range map[string][2]time.Time{
		"nothing": {}, "one instant": {noon, noon}, "backwards": {noon, noon.Add(-time.Hour)}, "centuries": {time.UnixMilli(1), far},
	} {
		line := newTimeline(ends[0], ends[1])
		if len(line.part) > maxBars+2 {
			t.Errorf("%s: %d bars", name, len(line.part))
		}
		for _, at := range []time.Time{ends[0], ends[1], noon, far} {
			x := exchange(0, time.Second, "limited")
			x.StartedAt, x.Layer = at, "target"
			line.request(x)
			line.refusal(x)
		}
		line.charts()
	}
}

// TestMemoryDoesNotGrowWithTheRun tells many exchanges over many domains, keys and outcomes.
func TestMemoryDoesNotGrowWithTheRun(t *testing.T) {
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	const n = 400_000
	before := heap()
	s, d := newShared(noon, noon.Add(n*time.Millisecond)), &domains{shown: maxDomains}
	wait := 5 * time.Second
	for i := range n {
		x := storage.Exchange{ID: fmt.Sprint(i), Domain: fmt.Sprint(i*3/10, ".test"), Provider: fmt.Sprint("p", i%60), Credential: fmt.Sprint("key", i%100), Kind: "fetch",
			StartedAt: noon.Add(time.Duration(i) * time.Millisecond), Elapsed: 800 * time.Millisecond, Outcome: fmt.Sprint("odd", i%100)}
		if i%5 == 0 {
			x.Outcome, x.Layer, x.RetryAfter = "limited", []string{"rate", "account", "target"}[i%3], &wait
		}
		s.add(&x)
		d.add(&x)
	}
	s.finish()
	grown := int64(heap()) - int64(before)
	if rows := d.rows(); len(rows) != maxDomains || d.n != n*3/10 || s.requests != n || len(s.askers) > maxAskers+1 || len(s.outcomes) > maxOutcomes+1 || len(s.providers) > maxAskers+1 {
		t.Errorf("%d rows of %d domains, %d requests, %d keys, %d outcomes", len(rows), d.n, s.requests, len(s.askers), len(s.outcomes))
	}
	if grown > 32<<20 {
		t.Errorf("%d MiB are kept", grown>>20)
	}
}
