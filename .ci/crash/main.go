// Crash kills the built program with SIGKILL at drawn instants of its work against the simulator, resumes it, kills it
// again, until each run has finished; then it says from the simulator's own counters, from a journal of every request and
// from the database whether a kill cost anything that it must not cost:
//
//	go run ./.ci/crash -binary ./scrapetop                          200 kills for each provider, five to ten minutes
//	go run ./.ci/crash -binary ./scrapetop -kills 5                 a short one
//	go run ./.ci/crash -binary ./scrapetop -only evomi,direct       some of the providers, by their names in the table
//	go run ./.ci/crash -binary ./scrapetop -seed 1 -only evomi -run 7   the one run that a complaint names
//
// The simulator lives in the command's own process, so its counters survive the kill. Instants are drawn as "after the
// nth request of a kind came, or was answered, and so many milliseconds later": what a seed draws is the same each time, what
// the machine makes of it is not. Every second run forbids that an unanswered submit is made again. Halfway a run's file is
// replaced by one of an earlier version, and the kills after it meet its migration.
//
// A quarter of the kills are power cuts: strace writes down what the program did to the file and its log, and after the kill
// they hold what was synced and, of the rest, nothing, the beginning with its last write torn, or any sectors.
//
// It fails when a URL is neither accepted once nor a dead letter that the events name, when a page was paid for again
// beyond what was in flight at a kill, when the events do not name the end of each submit that was in flight, when a request
// left inside a wait that was on disk, when tries or results went back, when a submit or a collect left before its intent or
// a poll before its job was on disk, when the file is damaged, or when half an export bears the name of a whole one. It needs
// Linux, which has the whole of 127.0.0.0/8, and strace.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

type options struct {
	binary string
	kills  int
	seed   uint64
	only   string
	run    int
	lanes  int
	within time.Duration
	keep   bool
	schema []string // the migrations
}

// killsOfRun is how often a run is killed before it may finish.
const killsOfRun = 10

func main() {
	var o options
	flag.StringVar(&o.binary, "binary", "./scrapetop", "the program to kill")
	flag.IntVar(&o.kills, "kills", 200, "kills of each provider, those of exports aside")
	flag.Uint64Var(&o.seed, "seed", 1, "what the instants and the worlds are drawn from")
	flag.StringVar(&o.only, "only", "", "some of the providers, separated by commas")
	flag.IntVar(&o.run, "run", 0, "a single run of each provider; 0: as many as the kills need")
	flag.IntVar(&o.lanes, "lanes", 4, "runs of a provider at a time")
	flag.DurationVar(&o.within, "within", 5*time.Minute, "the longest that a run may take")
	flag.BoolVar(&o.keep, "keep", false, "keep the folders with the databases")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := laboratory(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "crash:", err)
		os.Exit(1)
	}
}

// laboratory runs the providers side by side: what they do is mostly waiting.
func laboratory(ctx context.Context, o options) (err error) {
	if o.binary, err = filepath.Abs(o.binary); err != nil {
		return err
	}
	if _, err := exec.LookPath(o.binary); err != nil {
		return fmt.Errorf("there is nothing to kill, go build -o FILE . and name it with -binary: %w", err)
	}
	if o.schema, err = migrations(folder); err != nil {
		return err
	}
	if _, err := exec.LookPath("strace"); err != nil {
		return fmt.Errorf("power cuts are made with strace, install it: %w", err)
	}
	var chosen []subject
	for _, s := range subjects() {
		if o.only == "" || slices.Contains(strings.Split(o.only, ","), s.name) {
			chosen = append(chosen, s)
		}
	}
	if n := len(strings.Split(o.only, ",")); len(chosen) == 0 || o.only != "" && len(chosen) < n {
		return fmt.Errorf("not all of the providers %q are known", o.only)
	}
	began := time.Now()
	rows := make([]row, len(chosen))
	errs := make([]error, len(chosen))
	var all sync.WaitGroup
	for i, s := range chosen {
		all.Go(func() {
			rows[i], errs[i] = s.suffer(ctx, o)
			fmt.Fprintf(os.Stderr, "%s: %v\n", s.name, time.Since(began).Round(time.Second))
		})
	}
	all.Wait()
	fmt.Fprintf(os.Stderr, "all: %v\n", time.Since(began).Round(time.Second))
	table := head
	for i, s := range chosen {
		table += rows[i].line(s.name)
	}
	fmt.Print(table)
	return errors.Join(errs...)
}

// suffer does runs of a provider until it was killed often enough.
func (s subject) suffer(ctx context.Context, o options) (row, error) {
	var mu sync.Mutex
	var sum row
	var errs []error
	next, first := 1, 1
	if o.run > 0 {
		next, first = o.run, o.run
	}
	most := 1
	if o.run == 0 {
		most = 2*o.kills/killsOfRun + 2 // a run may end before all its kills came
	}
	claim := func() (n, kills int) {
		mu.Lock()
		defer mu.Unlock()
		left := o.kills - sum.kills - sum.planned
		if o.run > 0 {
			left = killsOfRun
		}
		if left <= 0 || next-first >= most || len(errs) > 0 {
			return 0, 0
		}
		n, kills = next, min(left, killsOfRun)
		next++
		sum.planned += kills
		return n, kills
	}
	var lanes sync.WaitGroup
	for range max(1, o.lanes) {
		lanes.Go(func() {
			for n, kills := claim(); n > 0; n, kills = claim() {
				r, err := s.run(ctx, o, n, kills)
				mu.Lock()
				sum.planned -= kills
				sum.add(r)
				if err != nil {
					errs = append(errs, fmt.Errorf("%s, reproduce with -seed %d -only %s -run %d: %w", s.name, o.seed, s.name, n, err))
				}
				mu.Unlock()
			}
		})
	}
	lanes.Wait()
	if len(errs) == 0 && o.run == 0 && o.kills >= 10*killsOfRun {
		errs = append(errs, sum.phasesHit(s))
	}
	return sum, errors.Join(errs...)
}

// row is what a provider's runs came to.
type row struct {
	planned                                        int // kills of runs under way
	kills, runs, urls, accepted, lost, resubmitted int
	unknown                                        int // submits in flight at a kill whose end the events name
	cuts, dropped, torn                            int // power cuts; those that lost something, and that tore something
	again, double, inside                          int // paid again, results too many, requests inside a wait
	waits, exports, cut                            int // waits told; exports killed, and those of them that were cut short
	at                                             phases
}

// phases count what a kill met; one may meet several.
type phases struct{ start, migration, submit, poll, commit, idle int }

func (r *row) add(o row) {
	for _, f := range []struct {
		to *int
		n  int
	}{
		{&r.kills, o.kills}, {&r.runs, o.runs}, {&r.urls, o.urls}, {&r.accepted, o.accepted}, {&r.lost, o.lost}, {&r.resubmitted, o.resubmitted},
		{&r.again, o.again}, {&r.double, o.double}, {&r.inside, o.inside}, {&r.waits, o.waits}, {&r.exports, o.exports}, {&r.cut, o.cut},
		{&r.at.start, o.at.start}, {&r.at.migration, o.at.migration}, {&r.unknown, o.unknown}, {&r.cuts, o.cuts}, {&r.dropped, o.dropped}, {&r.torn, o.torn},
		{&r.at.submit, o.at.submit}, {&r.at.poll, o.at.poll}, {&r.at.commit, o.at.commit}, {&r.at.idle, o.at.idle},
	} {
		*f.to += f.n
	}
}

const head = `| provider | kills | at start | in a migration | in a submit | in a poll | before a commit | idle | power cuts (lost, tore) | exports killed (cut) | runs | URLs | accepted | lost | named unknown | resubmitted | paid again | double | waits told | inside a wait |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
`

func (r row) line(name string) string {
	return fmt.Sprintf("| %s | %d | %d | %d | %d | %d | %d | %d | %d (%d, %d) | %d (%d) | %d | %d | %d | %d | %d | %d | %d | %d | %d | %d |\n", name, r.kills,
		r.at.start, r.at.migration, r.at.submit, r.at.poll, r.at.commit, r.at.idle, r.cuts, r.dropped, r.torn, r.exports, r.cut, r.runs, r.urls, r.accepted,
		r.lost, r.unknown, r.resubmitted, r.again, r.double, r.waits, r.inside)
}

// phasesHit fails when the kills missed what they were meant for: then the figures say nothing.
func (r row) phasesHit(s subject) error {
	var missed []string
	for what, n := range map[string]int{"start": r.at.start, "submit": r.at.submit, "commit": r.at.commit, "export": r.cut, "announced wait": r.waits,
		"migration": r.at.migration, "unsynced write": r.dropped, "torn write": r.torn} {
		if n == 0 {
			missed = append(missed, what)
		}
	}
	if s.polls > 0 && r.at.poll == 0 {
		missed = append(missed, "poll")
	}
	slices.SortFunc(missed, cmp.Compare[string])
	if len(missed) > 0 {
		return fmt.Errorf("%s: %d kills met no %s: this says nothing", s.name, r.kills, strings.Join(missed, ", no "))
	}
	return nil
}
