// Laboratory drives the built program against a real nginx on loopback addresses that limits requests and connections and
// answers 429, and says from nginx's own access log how well it was treated:
//
//	go run ./.ci/laboratory -binary ./scrapetop            full size: 300 URLs on each of 4 hosts
//	go run ./.ci/laboratory -binary ./scrapetop -urls 60   a short one
//	go run ./.ci/laboratory -binary ./scrapetop -kill      kill -9 halfway, then resume
//
// It fails when a URL was not accepted or is stored twice, when one was fetched twice (after a kill: more than was in
// flight), or when requests were sent inside an announced wait. It needs nginx and the sqlite3 shell; only Linux has the whole of 127.0.0.0/8.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

type options struct {
	binary     string
	urls       int
	hosts      int
	rate       int           // requests a second that a host allows
	burst      int           // at once, on top
	conns      int           // simultaneous requests that a host allows
	latency    time.Duration // of a page
	retryAfter int           // seconds announced with a 429; zero: nothing is announced
	kill       bool
	within     time.Duration
	keep       bool
}

func main() {
	var o options
	flag.StringVar(&o.binary, "binary", "./scrapetop", "the program to drive")
	flag.IntVar(&o.urls, "urls", 300, "URLs on each host")
	flag.IntVar(&o.hosts, "hosts", 4, "hosts, from 127.0.0.2 on")
	flag.IntVar(&o.rate, "rate", 20, "requests a second that a host allows")
	flag.IntVar(&o.burst, "burst", 10, "requests that a host allows at once, on top of the rate")
	flag.IntVar(&o.conns, "conns", 8, "simultaneous requests that a host allows")
	flag.DurationVar(&o.latency, "latency", 80*time.Millisecond, "of a page")
	flag.IntVar(&o.retryAfter, "retry-after", 2, "seconds announced with a 429; 0 announces nothing")
	flag.BoolVar(&o.kill, "kill", false, "kill -9 halfway, then resume")
	flag.DurationVar(&o.within, "within", 3*time.Minute, "the longest it may take")
	flag.BoolVar(&o.keep, "keep", false, "keep the folder with logs and database")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "laboratory:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) (err error) {
	ctx, cancel := context.WithTimeout(ctx, o.within)
	defer cancel()
	if o.binary, err = filepath.Abs(o.binary); err != nil {
		return err
	}
	for _, tool := range []string{o.binary, "nginx", "sqlite3"} {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Errorf("a tool is missing: %w", err)
		}
	}
	dir, err := os.MkdirTemp("", "laboratory")
	if err != nil {
		return err
	}
	if o.keep {
		fmt.Println("folder:", dir)
	} else {
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	site, err := serve(ctx, dir, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, site.close()) }()

	urls := site.urls()
	list := filepath.Join(dir, "list.txt")
	if err := os.WriteFile(list, []byte(strings.Join(urls, "\n")+"\n"), 0o600); err != nil {
		return err
	}
	sum, killed, err := drive(ctx, dir, o, site, list)
	if err != nil {
		return err
	}
	seen, err := readLog(site.log)
	if err != nil {
		return err
	}
	stored, err := storedResults(ctx, filepath.Join(dir, "lab.db"))
	if err != nil {
		return err
	}
	return judge(o, len(urls), sum, killed, measure(seen, o), stored)
}

// summary is the part of the closing summary that is judged.
type summary struct {
	State       string  `json:"state"`
	Accepted    int     `json:"accepted"`
	MaxInFlight int     `json:"max_in_flight"`
	Elapsed     float64 `json:"elapsed_seconds"`
}

// drive runs the program to its end, with a kill halfway if asked for, and reads its summary.
func drive(ctx context.Context, dir string, o options, site *site, list string) (sum summary, killed bool, err error) {
	db := filepath.Join(dir, "lab.db")
	args := []string{"run", list, "--db", db, "--headless", "--summary", "json"}
	if o.kill {
		cmd := command(ctx, dir, o.binary, args...)
		if err := cmd.Start(); err != nil {
			return sum, false, err
		}
		waitErr := site.waitServed(ctx, o.urls*o.hosts/2)
		if err := errors.Join(waitErr, cmd.Process.Kill()); err != nil {
			return sum, false, fmt.Errorf("killing it halfway: %w", err)
		}
		if err := cmd.Wait(); err == nil {
			return sum, false, errors.New("it ended before it could be killed: give it more URLs")
		}
		args = []string{"resume", "--db", db, "--headless", "--summary", "json"}
	}
	cmd := command(ctx, dir, o.binary, args...)
	cmd.Stdout = nil
	out, err := cmd.Output()
	if err != nil {
		return sum, o.kill, fmt.Errorf("%s: %w", strings.Join(args, " "), err)
	}
	if err := json.Unmarshal(out, &sum); err != nil {
		return sum, o.kill, fmt.Errorf("the summary %q: %w", out, err)
	}
	return sum, o.kill, nil
}

// command runs in the laboratory's folder, so that no config of the caller is found.
func command(ctx context.Context, dir, binary string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+dir, "XDG_STATE_HOME="+dir)
	cmd.Stderr = os.Stderr
	return cmd
}

// storedResults asks the database as a user would.
func storedResults(ctx context.Context, db string) (stored [2]int, err error) {
	out, err := exec.CommandContext(ctx, "sqlite3", "-readonly", "-separator", " ", db, "select count(*), count(distinct url) from results").Output()
	if err != nil {
		return stored, fmt.Errorf("reading %s with sqlite3: %w", db, err)
	}
	_, err = fmt.Sscan(string(out), &stored[0], &stored[1])
	return stored, err
}

func judge(o options, urls int, sum summary, killed bool, m measured, stored [2]int) error {
	fmt.Printf("urls %d  accepted %d  stored %d  state %s\n", urls, sum.Accepted, stored[0], sum.State)
	fmt.Printf("efficiency %.0f%%  (%.1f s, at best %.1f s)\n", 100*m.efficiency, m.took.Seconds(), m.best.Seconds())
	fmt.Printf("refusals %d  (%.1f per 1000 requests)  inside an announced wait %d  fetched twice %d\n", m.refused, m.refusedPer1000, m.insideWait, m.doubles)
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	check(sum.State == "finished" && sum.Accepted == urls, "%d of %d URLs were accepted, the run is %s", sum.Accepted, urls, sum.State)
	check(stored == [2]int{urls, urls}, "%d results of %d URLs are stored, want %d", stored[0], stored[1], urls)
	check(m.insideWait == 0, "%d requests were sent inside an announced wait", m.insideWait)
	most := 0
	if killed {
		most = sum.MaxInFlight // answered, but not yet committed
	}
	check(m.doubles <= most, "%d URLs were fetched twice, want at most %d", m.doubles, most)
	return errors.Join(errs...)
}
