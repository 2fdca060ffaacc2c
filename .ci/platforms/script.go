package main

import (
	"errors"
	"fmt"
	"time"

	"dev.scrapetop/engine/simulator"
)

// script is a platform's world, what the program is asked to do in it, and what is expected.
type script struct {
	platform string
	world    simulator.Options
	list     []string
	config   string
	address  func(simulator.Addresses) (base, key string)
	count    func(simulator.Counters) seen // of the platform alone
	judge    func(measured) (figures string, err error)
}

// inTime is the share by which a real clock may be late: the program's start and a busy machine are in it.
const inTime = 0.05

func scripts() []script { return []script{evomi(), spidra(), omniScrape()} }

// evomi: a limit of 5 that only the headers tell, and 300 URLs of a second.
func evomi() script {
	const n, limit = 300, 5
	return script{
		platform: "evomi",
		world: simulator.Options{
			Sites: []simulator.Site{steady("shop.test", 999*time.Millisecond)},
			Evomi: simulator.EvomiSettings{Overhead: time.Millisecond,
				Accounts: []simulator.EvomiAccount{{Name: "main", Key: simulator.DemoKey, Credits: 1e6, Concurrency: limit}}},
		},
		list:    urls("shop.test", n),
		address: func(a simulator.Addresses) (string, string) { return a.Evomi, a.EvomiKey },
		count: func(c simulator.Counters) seen {
			k := c.Evomi.Keys["main"]
			return seen{requests: k.Submits + k.Polls + k.Health, account: k.Refused, busy: k.Busy, charges: k.Charges}
		},
		judge: func(m measured) (string, error) {
			best := n * time.Second / limit
			late := lateness(m.took, best)
			figures := fmt.Sprintf("%.1f s of at best %.1f (%+.1f %%)", m.took.Seconds(), best.Seconds(), 100*late)
			var err error
			if late > inTime {
				err = fmt.Errorf("it took %.1f s, want %.1f within %.0f %%", m.took.Seconds(), best.Seconds(), 100*inTime)
			}
			return figures, errors.Join(err, m.unrefused())
		},
	}
}

// spidra: 300 calls in 15 minutes and 50 batches at a time, running ones among them, for 5,000 URLs by 50 in jobs of 45 s:
// two turns of 50 batches.
func spidra() script {
	const n, most, perURL = 5000, 106 * time.Second, 0.06
	return script{
		platform: "spidra",
		world: simulator.Options{
			Sites: []simulator.Site{steady("shop.test", time.Millisecond)},
			Spidra: simulator.SpidraSettings{PendingActive: true, Overhead: 45 * time.Second,
				Accounts: []simulator.SpidraAccount{{Name: "main", Key: simulator.SpidraDemoKey, Credits: 1e6, Workers: 1e6}}},
		},
		list:    urls("shop.test", n),
		address: func(a simulator.Addresses) (string, string) { return a.Spidra, a.SpidraKey },
		count: func(c simulator.Counters) seen {
			u := c.Spidra.Accounts["main"]
			s := seen{pending: u.RefusedPending, busy: u.Busy, charges: u.Charges}
			for _, ip := range c.Spidra.IPs {
				s.requests += ip.Calls
				s.rate += ip.Refused
			}
			return s
		},
		judge: func(m measured) (string, error) {
			each := float64(m.seen.requests) / n
			figures := fmt.Sprintf("%.1f s of at most %.0f, %.4f requests for each URL of at most %.2f", m.took.Seconds(), most.Seconds(), each, perURL)
			var slow, many error
			if m.took > most {
				slow = fmt.Errorf("it took %.1f s, want at most %.0f", m.took.Seconds(), most.Seconds())
			}
			if each > perURL {
				many = fmt.Errorf("%.4f requests for each URL, want at most %.2f", each, perURL)
			}
			return figures, errors.Join(slow, many, m.unrefused())
		},
	}
}

// omniScrape: 16 at a time over eight domains with pages of a second, of which one refuses above a request a second, inside
// good answers: the other seven must not pay for it.
func omniScrape() script {
	const slots, others, each, few, least = 16, 7, 220, 60, 0.97
	slow := steady("slow.test", 999*time.Millisecond)
	slow.Policy.Limits = []simulator.Limit{{Kind: simulator.Bucket, N: 1, Per: time.Second, Burst: 1}}
	s := script{
		platform: "omniscrape",
		world: simulator.Options{
			Sites: []simulator.Site{slow},
			OmniScrape: simulator.OmniScrapeSettings{Overhead: time.Millisecond,
				Accounts: []simulator.OmniScrapeAccount{{Name: "main", Key: simulator.OmniScrapeDemoKey, Balance: 1e6, Concurrency: slots}}},
		},
		list: urls(slow.Host, few),
		config: fmt.Sprintf("[[providers.omniscrape.credentials]]\nname = \"main\"\nkey_env = \"OMNISCRAPE_API_KEY\"\nmax_in_flight = %d\n",
			slots),
		address: func(a simulator.Addresses) (string, string) { return a.OmniScrape, a.OmniScrapeKey },
		count: func(c simulator.Counters) seen {
			u := c.OmniScrape.Accounts["main"]
			return seen{requests: u.Submits + u.Polls, account: u.Refused, busy: u.Busy, charges: u.Charges}
		},
		judge: func(m measured) (string, error) {
			// The slow domain needs less than the whole time for its pages, so what it leaves is the others'.
			best := (others*each + few) * time.Second / slots
			worst, share := worstShare(m, slow.Host, best)
			pages := refusalPages(m.records)
			figures := fmt.Sprintf("%.1f s of at best %.1f, the worst of %d other domains at %.3f of its share", m.took.Seconds(), best.Seconds(), others, share)
			var unfair, stored, account, tame error
			if share < least {
				unfair = fmt.Errorf("%s got %.3f of its share, want at least %.2f", worst, share, least)
			}
			if pages > 0 {
				stored = fmt.Errorf("%d pages that refuse are records", pages)
			}
			if m.seen.account > 0 {
				account = fmt.Errorf("the account was refused %d times", m.seen.account)
			}
			if m.seen.target == 0 {
				tame = errors.New("the slow domain refused nothing: this says nothing")
			}
			return figures, errors.Join(unfair, stored, account, tame)
		},
	}
	for i := range others {
		host := fmt.Sprintf("site%d.test", i)
		s.world.Sites = append(s.world.Sites, steady(host, 999*time.Millisecond))
		s.list = append(s.list, urls(host, each)...)
	}
	return s
}

// steady is a site without limits whose pages take the same time each.
func steady(host string, latency time.Duration) simulator.Site {
	return simulator.Site{Host: host, Policy: simulator.Policy{Latency: simulator.Latency{Median: latency}}}
}

func urls(host string, n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("http://%s/p/%d", host, i))
	}
	return out
}
