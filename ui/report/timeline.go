package report

import (
	"time"

	"dev.scrapetop/storage"
)

// maxBars is how many bars a chart has at most.
const maxBars = 120

// widths are the lengths of time that a bar may stand for; beyond the last, whole multiples of it.
var widths = []time.Duration{
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

// timeline counts by bar.
type timeline struct {
	from  time.Time
	width time.Duration

	accepted []float64 // requests by how they were answered
	waiting  []float64 // told to come back later
	rest     []float64
	layers   [][]float64 // refusals, in the order of layers
	// change and part tell the time in flight: what is in flight from the next bar on, and the time within a bar, in bars.
	change, part []float64
}

func newTimeline(from, to time.Time) *timeline {
	t := &timeline{from: from, width: widths[0]}
	span := max(to.Sub(from), 0)
	for _, w := range widths {
		if t.width = w; span < maxBars*w {
			break
		}
	}
	if day := widths[len(widths)-1]; span >= maxBars*day {
		t.width = day * time.Duration(1+int64(span/(maxBars*day)))
	}
	n := 0
	if !from.IsZero() {
		t.from = from.Truncate(min(t.width, time.Minute))
		n = int((max(to.Sub(t.from), 0))/t.width) + 1
	}
	for _, counts := range []*[]float64{&t.accepted, &t.waiting, &t.rest, &t.part} {
		*counts = make([]float64, n)
	}
	t.change = make([]float64, n+1)
	for range layers {
		t.layers = append(t.layers, make([]float64, n))
	}
	return t
}

// bar is the bar of an instant, held within the chart.
func (t *timeline) bar(at time.Time) int {
	return min(max(int(at.Sub(t.from)/t.width), 0), len(t.part)-1)
}

// request counts a request, and the time that it was in flight.
func (t *timeline) request(x *storage.Exchange) {
	if len(t.part) == 0 {
		return
	}
	end := x.StartedAt.Add(max(x.Elapsed, 0))
	first, last := t.bar(x.StartedAt), t.bar(end)
	switch {
	case waitsAfter(x):
		t.waiting[first]++
	case x.Outcome == "accepted" || x.Outcome == "accepted_remote":
		t.accepted[first]++
	default:
		t.rest[first]++
	}
	into := func(at time.Time, bar int) float64 {
		return float64(at.Sub(t.from)-time.Duration(bar)*t.width) / float64(t.width)
	}
	if first == last {
		t.part[first] += into(end, last) - into(x.StartedAt, first)
		return
	}
	t.part[first] += 1 - into(x.StartedAt, first)
	t.part[last] += into(end, last)
	t.change[first+1]++
	t.change[last]--
}

// refusal counts a refusal at its layer.
func (t *timeline) refusal(x *storage.Exchange) {
	for i, l := range layers {
		if l.name == x.Layer && len(t.part) > 0 {
			t.layers[i][t.bar(x.StartedAt.Add(max(x.Elapsed, 0)))]++
		}
	}
}

// inFlight is how many requests were in flight in each bar, on average.
func (t *timeline) inFlight() []float64 {
	all := make([]float64, len(t.part))
	whole := 0.0
	for i := range all {
		whole += t.change[i]
		all[i] = whole + t.part[i]
	}
	return all
}
