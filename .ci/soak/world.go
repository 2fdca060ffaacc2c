package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"dev.scrapetop/engine/simulator"
)

type addresses = simulator.Addresses

// swift are sites without limits and with faults of each kind, so that much happens.
const swift = 20

// sites are those of the demo and the swift ones.
func sites() []simulator.Site {
	all := simulator.DemoSites()
	for i := range swift {
		all = append(all, simulator.Site{Host: fmt.Sprintf("swift-%d.example", i), Kind: "swift", URLs: 1, Policy: simulator.Policy{
			Latency: simulator.Latency{Median: 60 * time.Millisecond, Spread: 0.5}, BodyBytes: 6000,
			Moods: simulator.Moods{Fail: 0.01, Reset: 0.01, Truncate: 0.005, NotFound: 0.01, Redirect: 0.05, Soft: 0.005},
		}})
	}
	return all
}

// serve serves the world until the parent is gone: it holds our stdin.
func serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w := simulator.New(simulator.Options{
		Sites: sites(),
		Evomi: simulator.EvomiSettings{Accounts: []simulator.EvomiAccount{{Name: "main", Key: simulator.DemoKey, Credits: 1e9, Concurrency: 20}}},
		Spidra: simulator.SpidraSettings{
			Accounts: []simulator.SpidraAccount{{Name: "main", Key: simulator.SpidraDemoKey, Credits: 1e9, Workers: 200}}},
		OmniScrape: simulator.OmniScrapeSettings{
			Accounts: []simulator.OmniScrapeAccount{{Name: "main", Key: simulator.OmniScrapeDemoKey, Balance: 1e9, Concurrency: 20}}},
	})
	at, err := w.Listen(ctx)
	if err != nil {
		return err
	}
	line, err := json.Marshal(at)
	if err != nil {
		return err
	}
	fmt.Printf("%s\n", line)
	_, err = io.Copy(io.Discard, os.Stdin)
	cancel()
	w.Wait()
	return err
}

// startWorld starts the world in a process of its own; end ends it.
func startWorld() (at addresses, end func() error, err error) {
	self, err := os.Executable()
	if err != nil {
		return at, nil, err
	}
	cmd := exec.Command(self, "-world")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return at, nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return at, nil, err
	}
	if err := cmd.Start(); err != nil {
		return at, nil, err
	}
	end = func() error { return errors.Join(in.Close(), cmd.Wait()) }
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &at)
	}
	if err != nil {
		return at, nil, errors.Join(fmt.Errorf("the world did not start: %w", err), end())
	}
	return at, end, nil
}
