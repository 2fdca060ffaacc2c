package view

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"
)

func TestRing(t *testing.T) {
	type add struct{ bin, n int64 }
	tests := []struct {
		name string
		adds []add
		last int64
		want []int64 // the three bins up to last
	}{
		{"empty", nil, 10, []int64{0, 0, 0}},
		{"in one bin", []add{{10, 1}, {10, 2}}, 10, []int64{0, 0, 3}},
		{"rolls over", []add{{8, 1}, {9, 2}, {10, 3}, {11, 4}, {12, 5}}, 12, []int64{3, 4, 5}},
		{"a skipped bin is zero", []add{{8, 1}, {9, 2}, {11, 4}}, 11, []int64{2, 0, 4}},
		{"what lies behind a long gap is gone", []add{{8, 1}, {9, 2}, {1_000_000, 4}}, 1_000_000, []int64{0, 0, 4}},
		{"read later without a new count", []add{{10, 3}}, 12, []int64{3, 0, 0}},
		{"read long after", []add{{10, 3}}, 1_000_000, []int64{0, 0, 0}},
		{"an older bin counts in the newest", []add{{10, 3}, {9, 1}}, 10, []int64{0, 0, 4}},
		{"a full bin saturates", []add{{10, math.MaxUint32}, {10, 5}}, 10, []int64{0, 0, math.MaxUint32}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := newRing(3)
			for _, a := range test.adds {
				r.add(a.bin, a.n)
			}
			got := make([]int64, 3)
			r.addTo(got, test.last)
			if !slices.Equal(got, test.want) {
				t.Errorf("bins are %v, want %v", got, test.want)
			}
			var sum int64
			for _, n := range test.want {
				sum += n
			}
			if n := r.sum(test.last, 3); n != sum {
				t.Errorf("the sum is %d, want %d", n, sum)
			}
		})
	}
}

func TestChartBins(t *testing.T) {
	tests := []struct {
		name     string
		run      time.Duration
		span     time.Duration
		bin      time.Duration
		values   int
		lastGone time.Duration // from the newest bin's end to now
	}{
		{"nothing closed yet", 4 * time.Second, 0, 5 * time.Second, 0, 4 * time.Second},
		{"the first closed", 6 * time.Second, 0, 5 * time.Second, 1, time.Second},
		{"whole run in the narrowest bins", 10 * time.Minute, 0, 5 * time.Second, 120, 0},
		{"whole run in wider bins", 10*time.Minute + 5*time.Second, 0, 10 * time.Second, 60, 5 * time.Second},
		{"five minutes of an hour", time.Hour, 5 * time.Minute, 5 * time.Second, 60, 0},
		{"fifty minutes of an hour", time.Hour, 50 * time.Minute, 40 * time.Second, 75, 0},
		{"more than there is", 5 * time.Minute, 50 * time.Minute, 5 * time.Second, 60, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := newDrive()
			d.pass(test.run, func() { d.work("a.example", 2) })
			s := d.Frame(Query{Range: test.span}).Chart
			if s.Bin != test.bin || len(s.Values) != test.values || d.at.Sub(s.End) != test.lastGone {
				t.Fatalf("%d bins of %v that end %v ago, want %d of %v and %v", len(s.Values), s.Bin, d.at.Sub(s.End), test.values, test.bin, test.lastGone)
			}
			for i, v := range s.Values[min(1, len(s.Values)):] { // the first holds the second before the clock was seen to move
				if math.Abs(v-120) > 1e-6 {
					t.Fatalf("bin %d is %v a minute, want 120", i+1, v)
				}
			}
		})
	}
}

func TestChartOfAYearKeepsToItsBins(t *testing.T) {
	var c chart
	at := t0
	for range 400 {
		at = at.Add(24 * time.Hour)
		c.add(at, 5)
	}
	s := c.series(t0, at, 0)
	if len(s.Values) == 0 || len(s.Values) > chartBins {
		t.Errorf("%d bins", len(s.Values))
	}
}

func TestAGapIsNotAZero(t *testing.T) {
	d := newDrive()
	d.pass(time.Minute, func() { d.work("a.example", 1) })
	d.at = d.at.Add(30 * time.Second) // the machine slept
	d.work("a.example", 10)           // what was in flight comes in at once
	d.send()
	d.pass(30*time.Second, nil)
	f := d.Frame(Query{})
	got := f.Chart.Values[13:] // from 12:01:05; the record of 12:01:00 is in the bin before
	want := []float64{-1, -1, -1, -1, -1}
	if len(got) != 11 || !slices.Equal(got[:5], want) {
		t.Fatalf("after the first minute the chart is %v", got)
	}
	if got[5] != 120 || got[6] != 0 { // ten records in a bin of five seconds
		t.Errorf("after the gap the chart is %v", got[5:])
	}
}

func TestRatesOfTheLastMinute(t *testing.T) {
	d := newDrive()
	d.pass(5*time.Minute, func() { d.work("a.example", 5); d.delta.Counts.Requests += 10 })
	d.pass(time.Minute, func() { d.work("a.example", 2); d.delta.Counts.Requests += 3 })
	d.pass(time.Second, nil)
	f := d.Frame(Query{})
	if math.Round(f.AcceptedPerMin) != 120 || math.Round(f.RequestsPerMin) != 187 { // one second of the faster time is in the bins
		t.Errorf("%v accepted and %v requests a minute", f.AcceptedPerMin, f.RequestsPerMin)
	}
	if want := (5*300 + 2*60.0) / 6; math.Abs(f.AcceptedAverage-want) > 4 {
		t.Errorf("the average is %v, want about %v", f.AcceptedAverage, want)
	}
}

func TestAClockThatStepsBackStopsNothing(t *testing.T) {
	d := newDrive()
	d.put(busy("a.example", 600))
	d.pass(2*time.Minute, func() { d.work("a.example", 1) })
	d.at = d.at.Add(-time.Hour)
	d.pass(2*time.Minute, func() { d.work("a.example", 1) })
	f := d.Frame(Query{})
	if math.Round(f.AcceptedPerMin) != 60 || f.Domains.Rows[0].OKPerMin != 60 || !f.At.Equal(d.at) {
		t.Errorf("%v a minute, the domain %v, at %v", f.AcceptedPerMin, f.Domains.Rows[0].OKPerMin, f.At)
	}
}

func TestHistogram(t *testing.T) {
	for _, want := range []time.Duration{3 * time.Millisecond, 220 * time.Millisecond, time.Second, 29400 * time.Millisecond, 40 * time.Minute} {
		var h histogram
		h.add(want)
		if got := h.quantile(0.5); math.Abs(float64(got-want)) > 0.065*float64(want) {
			t.Errorf("%v is kept as %v", want, got)
		}
	}
	var h histogram
	if h.quantile(0.99) != 0 {
		t.Error("nothing counted has a quantile")
	}
	h.add(-time.Second)
	h.add(365 * 24 * time.Hour)
	if got := h.quantile(1); got < time.Hour {
		t.Errorf("a year is kept as %v", got)
	}
	var all histogram
	for i := range 100 {
		h := histogram{}
		h.add(time.Duration(i+1) * 10 * time.Millisecond)
		all.merge(&h)
	}
	for q, want := range map[float64]time.Duration{0.5: 500 * time.Millisecond, 0.95: 950 * time.Millisecond, 0.99: 990 * time.Millisecond} {
		if got := all.quantile(q); math.Abs(float64(got-want)) > 0.065*float64(want) {
			t.Errorf("p%v is %v, want about %v", 100*q, got, want)
		}
	}
}

func TestLatenciesOfTheLastQuarter(t *testing.T) {
	d := newDrive()
	count := func(latency time.Duration) func() {
		return func() { d.delta.Tally.Count(Answer{Outcome: "accepted", Latency: latency}) }
	}
	d.pass(5*time.Minute, count(10*time.Second))
	if p := d.Frame(Query{}).LatencyP50; p < 9*time.Second || p > 11*time.Second {
		t.Errorf("p50 is %v", p)
	}
	d.pass(16*time.Minute, count(100*time.Millisecond))
	if f := d.Frame(Query{}); f.LatencyP99 > 110*time.Millisecond {
		t.Errorf("p99 is %v although the slow answers are 16 minutes old", f.LatencyP99)
	}
}

func TestTallyAllocatesOnlyForNewDomains(t *testing.T) {
	hosts := make([]string, 100)
	for i := range hosts {
		hosts[i] = fmt.Sprint("host-", i)
	}
	var tally Tally
	round := func() {
		for _, h := range hosts {
			tally.Count(Answer{Domain: h, Outcome: "limited", Layer: "target", Latency: time.Second})
			tally.Accept(h, 1)
			tally.Bury(h)
		}
		tally.clear()
	}
	round()
	if n := testing.AllocsPerRun(100, round); n != 0 {
		t.Errorf("%v allocations a round of known domains", n)
	}
}

func TestRareDeltasMakeAnEvenChart(t *testing.T) {
	d := newDrive()
	for range 60 { // as when nobody looks
		d.at = d.at.Add(7 * time.Second)
		d.work("a.example", 7)
		d.send()
	}
	var sum float64
	values := d.Frame(Query{}).Chart.Values
	for i, v := range values {
		if v < 36 || v > 84 { // 60 a minute, five records in a bin, one more or less by rounding
			t.Errorf("bin %d is %v a minute", i, v)
		}
		sum += v
	}
	if got := sum / float64(len(values)); math.Abs(got-60) > 1 {
		t.Errorf("on average %v a minute", got)
	}
}

func TestTheBurstOfTheStartIsNoRate(t *testing.T) {
	d := &drive{Model: New(Options{}), at: t0.Add(4 * time.Second)} // a second before a bin closes
	d.delta = Delta{Live: true, Tally: d.Tally()}
	d.send()
	d.pass(time.Second, func() { d.work("a.example", 40) })
	d.pass(time.Second, nil)
	if got := d.Frame(Query{}).AcceptedPerMin; got != 480 {
		t.Errorf("40 records in the first second are %v a minute, want them spread over 5 s", got)
	}
}
