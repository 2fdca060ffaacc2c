// Platforms drives the built program against the simulated platforms over loopback sockets, in real time, and says for each
// whether its users get what they pay for:
//
//	go run ./.ci/platforms -binary ./scrapetop               all three, about five minutes
//	go run ./.ci/platforms -binary ./scrapetop -only evomi   one of evomi, spidra, omniscrape
//
// It prints a line for each platform and fails when a figure is missed or the summary's counters are not the simulator's.
package main

import (
	"bytes"
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

	"dev.scrapetop/engine/simulator"
)

type options struct {
	binary string
	only   string
	within time.Duration
	keep   bool
}

func main() {
	var o options
	flag.StringVar(&o.binary, "binary", "./scrapetop", "the program to drive")
	flag.StringVar(&o.only, "only", "", "a single platform")
	flag.DurationVar(&o.within, "within", 5*time.Minute, "the longest that a platform may take")
	flag.BoolVar(&o.keep, "keep", false, "keep the folders with the databases")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "platforms:", err)
		os.Exit(1)
	}
}

// run drives the platforms one after the other, so that none is measured under another's load.
func run(ctx context.Context, o options) (err error) {
	if o.binary, err = filepath.Abs(o.binary); err != nil {
		return err
	}
	if _, err := exec.LookPath(o.binary); err != nil {
		return fmt.Errorf("there is nothing to drive, go build -o FILE . and name it with -binary: %w", err)
	}
	var errs []error
	found := false
	for _, s := range scripts() {
		if o.only != "" && o.only != s.platform {
			continue
		}
		found = true
		line, err := s.drive(ctx, o)
		if line != "" {
			fmt.Printf("%-10s %s\n", s.platform, line)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s.platform, err))
		}
	}
	if !found {
		return fmt.Errorf("there is no platform %q", o.only)
	}
	return errors.Join(errs...)
}

// drive serves the script's world, runs the program on its list and judges both sides' numbers.
func (s script) drive(ctx context.Context, o options) (line string, err error) {
	dir, err := os.MkdirTemp("", "platforms")
	if err != nil {
		return "", err
	}
	if o.keep {
		fmt.Printf("%-10s folder: %s\n", s.platform, dir)
	} else {
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	if err := os.WriteFile(filepath.Join(dir, "list.txt"), []byte(strings.Join(s.list, "\n")+"\n"), 0o600); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "scrapetop.toml"), []byte(s.config), 0o600); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, o.within)
	world := simulator.New(s.world)
	defer world.Wait()
	defer cancel()
	at, err := world.Listen(ctx)
	if err != nil {
		return "", err
	}
	base, key := s.address(at)

	began := time.Now()
	out, err := s.command(ctx, dir, o.binary, key, "run", "list.txt", "--headless", "--summary", "json", "--provider", s.platform, "--base-url", base)
	took := time.Since(began)
	if err != nil {
		return "", err
	}
	counters := world.Counters()
	m := measured{began: began, took: took, seen: s.count(counters)}
	for _, site := range counters.Sites {
		m.seen.pages += site.Accepted
		m.seen.target += site.Refused
	}
	if err := json.Unmarshal(out, &m.sum); err != nil {
		return "", fmt.Errorf("the summary %q: %w", out, err)
	}
	if out, err = s.command(ctx, dir, o.binary, key, "export", "--format", "jsonl"); err != nil {
		return "", err
	}
	if m.records, err = readRecords(bytes.NewReader(out)); err != nil {
		return "", err
	}
	figures, err := s.judge(m)
	return figures + "; " + m.line(), errors.Join(err, m.agree(len(s.list)))
}

// command runs the program in a folder of its own, so that no config of the caller is found, and returns what it printed.
func (s script) command(ctx context.Context, dir, binary, key string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+dir, "XDG_STATE_HOME="+dir, strings.ToUpper(s.platform)+"_API_KEY="+key)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil, fmt.Errorf("%s: %w: %s%s", strings.Join(args, " "), err, exit.Stderr, out)
	}
	return out, err
}
