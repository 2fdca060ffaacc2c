package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"
)

// places are the screens of a run in a database: the key that opens each, and what stands there once its rows are drawn.
var places = []struct {
	name, key string
	drawn     *regexp.Regexp
	moves     bool // it has a cursor that j and k move by a row
}{
	{"Overview", "1", regexp.MustCompile(`(In flight / limit by domain)`), false},
	{"Tasks", "3", regexp.MustCompile(`▶[^\n▶]*?(/item/[0-9]+) `), true},
	{"Dead letters", "4", regexp.MustCompile(`▶[^\n▶]*?(not found) `), false},
	{"Events", "5", regexp.MustCompile(`(a limit of 5 at once was found)`), false},
	{"History", "6", regexp.MustCompile(`▶[^\n▶]*?(million)`), false},
	{"Budgets", "2", regexp.MustCompile(`▶[^\n▶]*?(shop-[0-9]+\.example) `), true},
}

const (
	rounds  = 20
	presses = 10 // a round on each screen that has a cursor
)

// browse measures on the database of a run of n tasks.
func browse(binary string, n int) error {
	dir, err := os.MkdirTemp("", "keypress-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "million.db")
	if err := build(context.Background(), path, n); err != nil {
		return err
	}
	began := time.Now()
	s, stop, err := show(dir, binary, "--db", path)
	if err != nil {
		return err
	}
	defer stop()
	at, _, err := s.await(places[4].drawn, "", 30*time.Second)
	if err != nil {
		return err
	}
	start := at.Sub(began)
	if err := s.press("2"); err != nil {
		return err
	}
	if at, _, err = s.await(places[5].drawn, "", 60*time.Second); err != nil { // its domains are counted
		return err
	}
	counted := at.Sub(began)
	var opened, moved []time.Duration
	for range rounds {
		for _, p := range places {
			took, was, err := s.step(p.key, p.drawn, "")
			if err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			opened = append(opened, took)
			if !p.moves {
				continue
			}
			for i := range presses {
				if took, was, err = s.step([]string{"j", "k"}[i%2], p.drawn, was); err != nil {
					return fmt.Errorf("%s: %w", p.name, err)
				}
				moved = append(moved, took)
			}
		}
	}
	fmt.Printf("%d tasks: the first screen %.0f ms after the start, its domains counted after %.0f ms; %d screens opened: p50 %.1f ms, p95 %.1f ms; %d keys: p50 %.1f ms, p95 %.1f ms\n",
		n, ms(start), ms(counted), len(opened), ms(share(opened, 50)), ms(share(opened, 95)), len(moved), ms(share(moved, 50)), ms(share(moved, 95)))
	return nil
}

// step presses a key and returns how long it took until another text stood where one is wanted.
func (s *screen) step(key string, want *regexp.Regexp, was string) (time.Duration, string, error) {
	time.Sleep(20*time.Millisecond + rand.N(120*time.Millisecond)) // not in step with the screen's clock
	at := time.Now()
	if err := s.press(key); err != nil {
		return 0, "", err
	}
	seen, found, err := s.await(want, was, 10*time.Second)
	return seen.Sub(at), found, err
}

// share is the duration that so many of a hundred do not exceed.
func share(of []time.Duration, percent int) time.Duration {
	slices.Sort(of)
	return of[len(of)*percent/100]
}
