package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// TestTablesAreOfTheseSources fails when the figures in the tree are of other sources: take them anew.
func TestTablesAreOfTheseSources(t *testing.T) {
	root := filepath.Join("..", "..")
	for _, x := range []struct {
		table, command string
		folders        []string
	}{
		{table, "go run ./.ci/measure", measured},
		{realtimeTable, "go run ./.ci/measure -realtime", measured},
		{crashTable, "go run ./.ci/measure -crash", measured},
		{soakTable, "go run ./.ci/measure -soak", measured},
		{benchmarksTable, "go run ./.ci/measure -benchmarks", benchmarked},
	} {
		want, err := sources(root, x.folders)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(root, x.table))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "sources: "+want+"\n") {
			t.Errorf("%s is not of these sources (%s): run %s", x.table, want, x.command)
		}
	}
}

// TestStepKeepsItsPrice: a step allocates nothing, and with a thousand times the domains it costs at most twice as much.
func TestStepKeepsItsPrice(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", benchmarksTable))
	if err != nil {
		t.Fatal(err)
	}
	price := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		f := strings.Split(strings.Trim(strings.TrimSpace(line), "| "), " | ")
		if len(f) != 4 || !strings.HasPrefix(f[0], "Step/") {
			continue
		}
		ns, err := strconv.ParseFloat(strings.TrimSuffix(f[1], " ns"), 64)
		if err != nil {
			t.Fatalf("%s: %v", f[0], err)
		}
		if price[f[0]] = ns; f[3] != "0" {
			t.Errorf("%s: %s allocations", f[0], f[3])
		}
	}
	few, many := price["Step/100"], price["Step/100000"]
	if few == 0 || many == 0 || many > 2*few {
		t.Errorf("%.0f ns at 100,000 domains, %.0f at 100", many, few)
	}
}

func TestReadBenchmark(t *testing.T) {
	line := fmt.Sprintf("BenchmarkStep/read/100-%d  \t 1209681\t       992.0 ns/op\t       1 B/op\t       0 allocs/op\n", runtime.GOMAXPROCS(0))
	name, units, ok := readBenchmark(line)
	if !ok || name != "Step/read/100" || units["ns/op"] != 992 || units["B/op"] != 1 || len(units) != 3 {
		t.Errorf("read as %q %v %v", name, units, ok)
	}
	for _, other := range []string{"", "PASS\n", "goos: linux\n", "BenchmarkStep/100\n", "Benchmark turned over and out\n"} {
		if _, _, ok := readBenchmark(other); ok {
			t.Errorf("%q was read as a benchmark", other)
		}
	}
}
