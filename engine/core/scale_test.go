package core

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	scalePath = "testdata/scale.md"
	scaleRuns = 5
	// scaleFlat is how many times the cost at the fewest domains the cost at the most may be.
	scaleFlat = 2.0
)

// scaleRows are the rows of the table.
var scaleRows = []struct{ domains, tasks, runs int }{
	{100, 300_000, scaleRuns}, {1_000, 300_000, scaleRuns}, {10_000, 300_000, scaleRuns}, {100_000, 300_000, scaleRuns}, {100_000, 1_000_000, 3},
}

// scaleCost is what one run cost the machine, by task that was sent.
type scaleCost struct {
	task, refusal, input, late, allocations, steps, rows, heap float64
}

// late is the time within which 999 of 1,000 steps are done, to the next power of two.
func (s *scale) late() float64 {
	all, n := 0, 0
	for _, k := range s.within {
		all += k
	}
	for b, k := range s.within {
		if n += k; 1000*n >= 999*all {
			return float64(int(1) << b)
		}
	}
	return 0
}

func (s *scale) cost() scaleCost {
	all := time.Duration(0)
	for _, d := range s.spent {
		all += d
	}
	n, input := float64(s.sent), s.spent[scaleInput]
	return scaleCost{
		task: float64(all-input) / n, refusal: float64(s.spent[scaleNo]) / float64(max(1, s.refused)), input: float64(input) / float64(s.total),
		late: s.late(), allocations: float64(s.allocations) / n, steps: float64(s.steps) / n, rows: float64(s.rows) / float64(s.total), heap: float64(s.heap) / (1 << 20),
	}
}

// median is the median of what a function says of each cost.
func median(all []scaleCost, of func(scaleCost) float64) float64 {
	var v []float64
	for _, c := range all {
		v = append(v, of(c))
	}
	slices.Sort(v)
	return v[len(v)/2]
}

const scaleHead = `# Scale

The scheduler alone against scripted servers in virtual time: sizes are Zipf's, policies take turns (without limit, five at
once, 60 a minute, a bucket of 20/s, 8 s slow, a Retry-After now and then, no access for two hours), 256 in flight, 10,000
tasks in memory. The input is stored while the run goes on and read back a few hundred domains at a time. Each run is
checked: every task ends, none twice, nothing is sent inside an announced wait, the memory keeps its bound.

Cost is time in Step by request sent, feeding aside; a step is measured from outside, so some 60 ns of each are the clock's.
"Stored" is what a task of the input costs, with the first mention of its domain. The heap is the machine's when half of the tasks have ended.
Medians of several runs. The cost at 100,000 domains must be at most %.0f times that at 100.

Written on %s with %s, %d processors, by

    go test ./engine/core -run TestScale -full -update

Sources: %s

| domains | tasks | rows read a task | steps a request | cost of a request, ns | of a refusal, µs | 999 of 1,000 steps within, µs | allocations a request | stored, ns a task | heap, MB |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
`

// TestScale: of many domains with all kinds of policies every task ends, none twice, none inside an announced wait, within a
// bounded memory. In full size it is a million tasks of 100,000 domains; with -update its costs are written down.
func TestScale(t *testing.T) {
	if *full && *update {
		writeScale(t)
	}
	domains, tasks := 2_000, 20_000
	if *full {
		domains, tasks = 100_000, 1_000_000
	}
	s := newScale(t, domains, tasks)
	s.run()
	s.check()
	checkScaleTable(t)
}

// checkScaleTable fails when the table is of other sources, or says that the cost grows with the domains.
func checkScaleTable(t *testing.T) {
	text, err := os.ReadFile(scalePath)
	if err != nil {
		t.Fatalf("the table: %v; write it with -full -update", err)
	}
	if want := scaleSources(t); !strings.Contains(string(text), "\nSources: "+want+"\n") {
		t.Errorf("%s is not of these sources (%s): write it anew with -full -update", scalePath, want)
	}
	cost := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		if f := strings.Split(line, " | "); len(f) == 10 {
			if v, err := strconv.ParseFloat(f[4], 64); err == nil {
				cost[strings.TrimPrefix(f[0], "| ")+"/"+f[1]] = v
			}
		}
	}
	few, many := cost["100/300,000"], cost["100,000/300,000"]
	if few == 0 || many == 0 || many > scaleFlat*few {
		t.Errorf("%s: %.0f ns a request at 100,000 domains, %.0f at 100", scalePath, many, few)
	}
}

func scaleSources(t *testing.T) string { return sources(t, ".", "../frontier", controller) }

func writeScale(t *testing.T) {
	costs := make([][]scaleCost, len(scaleRows))
	for i := range scaleRuns { // rows take turns, so that a slow minute of the machine is nobody's
		for k, r := range scaleRows {
			if i < r.runs {
				s := newScale(t, r.domains, r.tasks)
				s.run()
				s.check()
				costs[k] = append(costs[k], s.cost())
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, scaleHead, scaleFlat, time.Now().UTC().Format(time.DateOnly), runtime.Version(), runtime.NumCPU(), scaleSources(t))
	for k, r := range scaleRows {
		of := func(f func(scaleCost) float64) float64 { return median(costs[k], f) }
		fmt.Fprintf(&b, "| %s | %s | %.1f | %.1f | %.0f | %.0f | %.0f | %.1f | %.0f | %.0f |\n", grouped(r.domains), grouped(r.tasks),
			of(func(c scaleCost) float64 { return c.rows }), of(func(c scaleCost) float64 { return c.steps }), round2(of(func(c scaleCost) float64 { return c.task })),
			of(func(c scaleCost) float64 { return c.refusal / 1000 }), of(func(c scaleCost) float64 { return c.late / 1000 }),
			of(func(c scaleCost) float64 { return c.allocations }),
			round2(of(func(c scaleCost) float64 { return c.input })), of(func(c scaleCost) float64 { return c.heap }))
	}
	if err := os.WriteFile(scalePath, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// round2 leaves two digits.
func round2(x float64) float64 {
	unit := 1.0
	for x/unit >= 100 {
		unit *= 10
	}
	return unit * float64(int(x/unit+0.5))
}

// grouped writes a number with its thousands apart.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
