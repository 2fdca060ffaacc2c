// Command realtime runs the compiled program against scripted servers on loopback, in real time, without telling it any of
// their limits, and then once more over the same targets, from what it remembered. It prints a table.
//
//	go run ./.ci/realtime -binary ./scrapetop -seconds 8
//	go run ./.ci/realtime -binary ./scrapetop -seconds 60 -only bucket
//
// A list takes about so many seconds at best. Efficiency is that time over the time from the first request to the last page
// at the server; refusals are per 1,000 pages.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

func main() {
	binary := flag.String("binary", "./scrapetop", "the program")
	seconds := flag.Int("seconds", 8, "length of a list at best: 8 or 60")
	only := flag.String("only", "", "only scenarios with this in their name")
	least := flag.Float64("least", 0, "fail when an efficiency of the second run is below this")
	flag.Parse()
	if err := run(*binary, *seconds, *only, *least); err != nil {
		fmt.Fprintln(os.Stderr, "realtime:", err)
		os.Exit(1)
	}
}

func run(binary string, seconds int, only string, least float64) error {
	binary, err := filepath.Abs(binary)
	if err != nil {
		return err
	}
	fmt.Printf("| list of about %d s | at best | first run | refused per 1,000 | second run | refused per 1,000 | inside a wait |\n| --- | --- | --- | --- | --- | --- | --- |\n", seconds)
	var chosen []scenario
	for _, s := range scenarios(seconds) {
		if strings.Contains(s.name, only) {
			s.block = len(chosen)
			chosen = append(chosen, s)
		}
	}
	// They go together: each has hosts of its own and little to do.
	results := make([]struct {
		first, second result
		err           error
	}, len(chosen))
	var wg sync.WaitGroup
	for i, s := range chosen {
		wg.Go(func() { results[i].first, results[i].second, results[i].err = both(binary, s) })
	}
	wg.Wait()
	var errs []error
	for i, s := range chosen {
		first, second, err := results[i].first, results[i].second, results[i].err
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s.name, err))
			continue
		}
		fmt.Printf("| %s | %.1f s | %.2f | %.0f | %.2f | %.0f | %d |\n", s.name, s.ideal, first.efficiency, first.refused, second.efficiency, second.refused, first.inside+second.inside)
		if n := first.inside + second.inside; n > 0 {
			errs = append(errs, fmt.Errorf("%s: %d requests inside an announced wait", s.name, n))
		}
		if second.efficiency < least {
			errs = append(errs, fmt.Errorf("%s: efficiency %.2f of the second run, want %.2f", s.name, second.efficiency, least))
		}
	}
	return errors.Join(errs...)
}

// result is one run, as the servers saw it.
type result struct {
	efficiency, refused float64
	inside              int // requests that arrived inside a wait announced before they were sent
}

// between is the time between two runs: what was sent just before a run still counts in the windows that the program
// remembers, though these servers begin anew.
const between = 5 * time.Second

// both runs a scenario twice on one database, against servers that begin anew.
func both(binary string, s scenario) (first, second result, err error) {
	dir, err := os.MkdirTemp("", "realtime")
	if err != nil {
		return first, second, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	port := 0
	for i, r := range []*result{&first, &second} {
		if i > 0 {
			time.Sleep(between)
		}
		f, err := listen(s, port)
		if err != nil {
			return first, second, err
		}
		port = f.port
		list := filepath.Join(dir, "list.txt")
		if err := os.WriteFile(list, []byte(strings.Join(f.urls(), "\n")+"\n"), 0o600); err != nil {
			return first, second, err
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
		cmd := exec.CommandContext(ctx, binary, "run", "--headless", "--robots", "off", "--db", filepath.Join(dir, "runs.db"), list)
		out, err := cmd.CombinedOutput()
		cancel()
		if closed := f.close(); err == nil {
			err = closed
		}
		if err != nil {
			return first, second, fmt.Errorf("run %d: %w\n%s", i+1, err, out)
		}
		if *r, err = f.result(s); err != nil {
			return first, second, fmt.Errorf("run %d: %w", i+1, err)
		}
	}
	return first, second, nil
}
