package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	benchmarksTable = ".ci/benchmarks.md"
	benchmarkTurns  = 5 // medians of so many
)

// benchmarked are the folders whose sources the benchmarks are about.
var benchmarked = []string{"engine", "storage", "ui/screen", "ui/widget"}

// benchmarks are what is on the way of each task and of each frame.
var benchmarks = []struct{ what, folder, pattern string }{
	{"One admission and one completion through `Step`, by number of domains, half of them cooling, Zipf sizes; `read`: with the task's share of a read from storage.", "engine/core", "^BenchmarkStep$"},
	{"What an answer's headers say of limits; most are silent.", "engine/limits", "^BenchmarkRead$"},
	{"A snapshot for the screens: `Frame` of so many domains of which 1,000 changed, `FrameIdle` of 100,000 in which only time moved; `Update` hands 1,000 changes over.", "engine/view", "^Benchmark(Frame|Update|FrameIdle)$"},
	{"`Write`: a task, its page included, as one of many in a batch. `Pending`: 4,000 tasks of 1,000 domains read.", "storage", "^Benchmark(Write|Pending)$"},
	{"A screen of 120x36 drawn.", "ui/screen", "^BenchmarkDraw$"},
	{"A full frame of parts drawn, by what the terminal can show.", "ui/widget", "^BenchmarkFullFrame$"},
}

// figures are what a benchmark's turns said, by unit.
type figures map[string][]float64

// benchmark runs every benchmark some times and writes the medians.
func benchmark(dir string) error {
	hash, err := sources(".", benchmarked)
	if err != nil {
		return err
	}
	said := make([]map[string]figures, len(benchmarks))
	order := make([][]string, len(benchmarks))
	for turn := range benchmarkTurns { // packages take turns, so that a slow minute of the machine is nobody's
		for i, x := range benchmarks {
			binary := filepath.Join(dir, strconv.Itoa(i)+".test")
			if turn == 0 {
				said[i] = map[string]figures{}
				if out, err := exec.Command("go", "test", "-c", "-o", binary, "./"+x.folder).CombinedOutput(); err != nil {
					return fmt.Errorf("build %s: %w: %s", x.folder, err, out)
				}
			}
			fmt.Fprintf(os.Stderr, "%d of %d: %s\n", turn+1, benchmarkTurns, x.folder)
			cmd := exec.Command(binary, "-test.run", "^$", "-test.bench", x.pattern, "-test.benchmem", "-test.benchtime", "300ms")
			cmd.Dir = x.folder
			out, err := cmd.CombinedOutput()
			if err != nil {
				return fmt.Errorf("benchmarks of %s: %w\n%s", x.folder, err, out)
			}
			for line := range strings.Lines(string(out)) {
				name, units, ok := readBenchmark(line)
				if !ok {
					continue
				}
				if said[i][name] == nil {
					said[i][name] = figures{}
					order[i] = append(order[i], name)
				}
				for unit, v := range units {
					said[i][name][unit] = append(said[i][name][unit], v)
				}
			}
			if len(order[i]) == 0 {
				return fmt.Errorf("%s has no benchmark %s", x.folder, x.pattern)
			}
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Benchmarks\n\nMade by `go run ./.ci/measure -benchmarks` on %s with %s, %d processors: medians of %d. Figures of one machine under\nwhatever else it did: trust ratios.\n\nsources: %s\n",
		time.Now().UTC().Format(time.DateOnly), runtime.Version(), runtime.NumCPU(), benchmarkTurns, hash)
	for i, x := range benchmarks {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| benchmark | time | bytes | allocations |\n| --- | --- | --- | --- |\n", x.folder, x.what)
		for _, name := range order[i] {
			f := said[i][name]
			fmt.Fprintf(&b, "| %s | %s | %.0f | %.0f |\n", name, span(f.median("ns/op")), f.median("B/op"), f.median("allocs/op"))
		}
	}
	return os.WriteFile(benchmarksTable, b.Bytes(), 0o644)
}

// readBenchmark reads a line such as "BenchmarkStep/100-2  1361085  868.1 ns/op  0 B/op  0 allocs/op".
func readBenchmark(line string) (name string, units map[string]float64, ok bool) {
	f := strings.Fields(line)
	if len(f) < 4 || !strings.HasPrefix(f[0], "Benchmark") {
		return "", nil, false
	}
	name = strings.TrimPrefix(f[0], "Benchmark")
	name = strings.TrimSuffix(name, fmt.Sprintf("-%d", runtime.GOMAXPROCS(0)))
	units = map[string]float64{}
	for i := 2; i+1 < len(f); i += 2 {
		v, err := strconv.ParseFloat(f[i], 64)
		if err != nil {
			return "", nil, false
		}
		units[f[i+1]] = v
	}
	return name, units, true
}

func (f figures) median(unit string) float64 {
	all := f[unit]
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// span writes nanoseconds with three digits or a few more.
func span(ns float64) string {
	switch {
	case ns < 10e3:
		return fmt.Sprintf("%.0f ns", ns)
	case ns < 100e3:
		return fmt.Sprintf("%.1f µs", ns/1e3)
	case ns < 10e6:
		return fmt.Sprintf("%.0f µs", ns/1e3)
	}
	return fmt.Sprintf("%.0f ms", ns/1e6)
}
