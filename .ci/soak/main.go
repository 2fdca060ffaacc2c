// Command soak keeps the engine at work for a long time, as a run overnight does, and says whether memory, goroutines and
// file handles stay what they are. In rounds it opens one database that grows all the time, drives a run of each provider
// against a world in a process of its own, reads frames and rows as a dashboard would, ends the runs while they are in the
// middle of their work, and closes everything:
//
//	go run ./.ci/soak                             six rounds of five minutes
//	go run ./.ci/soak -rounds 3 -round 20s        a short one
//
// It prints a table of what was there in each minute and at the end of each round, and fails when more is there at the end
// of the last round than at the end of the second one, when the log of the database grows beyond 64 MB, or when more than
// 150 MB are resident. It needs Linux.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"dev.scrapetop/storage"
	"dev.scrapetop/ui/heap"
)

type options struct {
	rounds int
	round  time.Duration
	every  time.Duration
	rate   int
}

func main() {
	var o options
	world := flag.Bool("world", false, "serve the world (used by the command itself)")
	flag.IntVar(&o.rounds, "rounds", 6, "rounds, at least three")
	flag.DurationVar(&o.round, "round", 5*time.Minute, "how long a round is")
	flag.DurationVar(&o.every, "every", time.Minute, "how often a line is written")
	flag.IntVar(&o.rate, "rate", 200, "URLs a second that are added to the run that fetches by itself")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := error(nil)
	if *world {
		err = serve(ctx)
	} else {
		err = soak(ctx, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// soak runs the rounds.
func soak(ctx context.Context, o options) (err error) {
	if o.rounds < 3 {
		return errors.New("it takes three rounds to see whether something grows")
	}
	defer heap.Keep()()
	at, end, err := startWorld()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	dir, err := os.MkdirTemp("", "soak")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "t.db")

	fmt.Println("| minute | round | resident MB | live heap MB | goroutines | file handles | log MB | database MB | accepted | dead |")
	fmt.Println("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
	began := time.Now()
	var closed []sample // after each round
	for n := range o.rounds {
		s, err := round(ctx, o, n, at, path, began)
		if err != nil {
			return err
		}
		closed = append(closed, s)
	}
	return verdict(closed)
}

// round is one sitting over the database.
func round(ctx context.Context, o options, n int, at addresses, path string, began time.Time) (sample, error) {
	st, err := storage.Open(ctx, path, storage.Options{})
	if err != nil {
		return sample{}, err
	}
	runs, err := begin(ctx, st, at, n, o.rate)
	if err != nil {
		return sample{}, errors.Join(err, st.Close())
	}
	end := time.NewTimer(o.round)
	defer end.Stop()
	tick := time.NewTicker(o.every)
	defer tick.Stop()
	for over := false; !over; {
		select {
		case <-ctx.Done():
			over = true
		case <-end.C:
			over = true
		case <-tick.C:
			s, err := take(path)
			if err != nil {
				return s, err
			}
			s.print(began, n, counted(runs))
			if err := s.bounded(); err != nil {
				return s, errors.Join(err, finish(runs), st.Close())
			}
		}
	}
	failed := finish(runs)
	accepted := counted(runs)
	if err := errors.Join(failed, st.Close(), ctx.Err()); err != nil {
		return sample{}, err
	}
	s, err := settled(path)
	if err != nil {
		return s, err
	}
	s.closed = true
	s.print(began, n, accepted)
	return s, nil
}

const (
	mostLog      = 64 << 20
	mostResident = 150 << 20
)

// bounded says whether a run that is going holds too much.
func (s *sample) bounded() error {
	switch {
	case s.log > mostLog:
		return fmt.Errorf("the log of the database has grown to %.0f MB", mb(s.log))
	case s.resident > mostResident:
		return fmt.Errorf("%.0f MB are resident", mb(s.resident))
	}
	return nil
}

// verdict compares what was left after the rounds. The first one is left out: it makes what is made once.
func verdict(closed []sample) error {
	first, last := closed[1], closed[len(closed)-1]
	switch {
	case last.goroutines > first.goroutines:
		return fmt.Errorf("%d goroutines are left where %d were", last.goroutines, first.goroutines)
	case last.handles > first.handles:
		return fmt.Errorf("%d file handles are left where %d were", last.handles, first.handles)
	case last.live > first.live+first.live/4+1<<20:
		return fmt.Errorf("%.1f MB are live where %.1f MB were", mb(last.live), mb(first.live))
	}
	return nil
}
