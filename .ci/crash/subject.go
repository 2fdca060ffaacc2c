package main

import (
	"fmt"
	"math"
	"net/http"
	"time"

	"dev.scrapetop/engine/simulator"
)

// subject is a provider in one of its forms, and the world in which it is killed.
type subject struct {
	name     string
	args     []string // of the run
	key      string   // environment variable and its value; empty: none
	config   string
	base     string // path of the platform; empty: the sites themselves are asked
	polls    int    // of a life that are waited for at most; 0: it has none
	collects bool   // a poll may destroy what it reads, or the job is known by its id alone
	finds    bool   // a submit without an answer is searched for
	size     int    // URLs of a submit at most
	patience time.Duration
	failing  int // URLs that end in a dead letter
	settle   func(*simulator.Options)
	again    func(c simulator.Counters, pages int64) int64 // pages paid for that had been paid for, of the distinct ones that were delivered
}

const (
	goodURLs    = 60
	hosts       = 3
	maxAttempts = 3 // of a URL that fails
	account     = "main"
	credits     = 1e6
	unavailable = 0.05 // share of submits that are answered with 503 and a wait
	told        = time.Second
)

func subjects() []subject {
	evomi := subject{name: "evomi", args: []string{"--provider", "evomi"}, key: "EVOMI_API_KEY=" + simulator.DemoKey, base: simulator.EvomiPath, size: 1,
		patience: 3 * time.Second, failing: 2,
		settle: func(w *simulator.Options) {
			w.Evomi = simulator.EvomiSettings{Overhead: 20 * time.Millisecond, UnavailableWait: told, Faults: simulator.EvomiFaults{Unavailable: unavailable},
				Accounts: []simulator.EvomiAccount{{Name: account, Key: simulator.DemoKey, Credits: credits, Concurrency: 200}}}
		},
		again: func(c simulator.Counters, pages int64) int64 {
			const price = 2
			return int64(math.Round(c.Evomi.Keys[account].Charges/price)) - pages
		}}
	spidra := subject{name: "spidra", args: []string{"--provider", "spidra", "--batch", "1"}, key: "SPIDRA_API_KEY=" + simulator.SpidraDemoKey,
		base: simulator.SpidraPath + "/api", polls: 1, size: 1, finds: true, patience: 15 * time.Second, // without failing URLs: their polls are spaced by how long jobs took, kills included
		config: "[providers.spidra]\nrate_limit = 300\nrate_window = \"30s\"\npending = { scrape = 100, batch = 100 }\n",
		settle: func(w *simulator.Options) {
			w.Spidra = simulator.SpidraSettings{Overhead: 300 * time.Millisecond, BusyWait: told, Calls: 300, Window: 30 * time.Second, RetryAfter: true,
				Pending: simulator.SpidraKinds{Scrape: 100, Batch: 100}, Faults: simulator.PlatformFaults{Unavailable: unavailable},
				Accounts: []simulator.SpidraAccount{{Name: account, Key: simulator.SpidraDemoKey, Credits: credits, Workers: 200}}}
		},
		again: func(c simulator.Counters, _ int64) int64 { return c.Spidra.Accounts[account].DuplicateCharges }}
	omni := subject{name: "omniscrape", args: []string{"--provider", "omniscrape"}, key: "OMNISCRAPE_API_KEY=" + simulator.OmniScrapeDemoKey,
		// A ceiling of its own: what may still run of before a kill would take the few slots that a start without one allows.
		config: "[[providers.omniscrape.credentials]]\nname = \"main\"\nkey_env = \"OMNISCRAPE_API_KEY\"\nmax_in_flight = 50\n",
		base:   simulator.OmniScrapePath, size: 1, patience: 3 * time.Second, failing: 2,
		settle: func(w *simulator.Options) {
			w.OmniScrape = simulator.OmniScrapeSettings{Overhead: 30 * time.Millisecond, QueueTime: 50 * time.Millisecond, BusyWait: told, FreeErrors: true,
				Faults:   simulator.PlatformFaults{Unavailable: unavailable},
				Accounts: []simulator.OmniScrapeAccount{{Name: account, Key: simulator.OmniScrapeDemoKey, Balance: credits, Concurrency: 50}}}
		},
		again: func(c simulator.Counters, _ int64) int64 { return c.OmniScrape.Accounts[account].DuplicateCharges }}
	direct := subject{name: "direct", size: 1, patience: 3 * time.Second, failing: 2, settle: func(w *simulator.Options) {
		for i := range w.Sites {
			p := &w.Sites[i].Policy
			p.Tell = simulator.TellSeconds
			p.Limits = []simulator.Limit{{Kind: simulator.Bucket, N: 6, Per: time.Second, Burst: 3, Penalty: told}}
		}
	}, again: func(simulator.Counters, int64) int64 { return 0 }} // nothing is paid for

	background := func(s subject) subject {
		s.name += "-async"
		s.args = append(s.args[:len(s.args):len(s.args)], "--async")
		s.polls, s.collects, s.patience = 3, true, 6*time.Second
		return s
	}
	batch := spidra
	batch.name, batch.args, batch.size = "spidra-batch", []string{"--provider", "spidra", "--batch", "3"}, 3
	return []subject{evomi, background(evomi), spidra, batch, omni, background(omni), direct}
}

// site is a host of the world: an address of its own, because direct work is kept apart by hostname.
func site(i int) string { return fmt.Sprintf("127.77.9.%d", i+1) }

// world makes the world of one run. The sites' pages are large enough for an export that takes its time.
func (s subject) world(seed uint64) *simulator.World {
	o := simulator.Options{Seed: seed}
	for i := range hosts {
		o.Sites = append(o.Sites, simulator.Site{Host: site(i), Policy: simulator.Policy{BodyBytes: 20_000, Latency: simulator.Latency{Median: 40 * time.Millisecond, Spread: 0.6}}})
	}
	s.settle(&o)
	return simulator.New(o)
}

// list is the input of a run: pages that come, and some that fail until their tries are spent.
func (s subject) list(ports []string) (good, bad []string) {
	for i := range goodURLs {
		good = append(good, fmt.Sprintf("http://%s:%s/p/%d", site(i%hosts), ports[i%hosts], i))
	}
	for i := range s.failing {
		bad = append(bad, fmt.Sprintf("http://%s:%s/bad/%d?sim_status=%d", site(i%hosts), ports[i%hosts], i, http.StatusInternalServerError))
	}
	return good, bad
}
