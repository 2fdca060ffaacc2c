package engine

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"dev.scrapetop/engine/simulator"
	"dev.scrapetop/storage"
)

// The laboratory's worlds through the whole engine: storage, transport and the simulated sites in virtual time. What the
// scheduler alone reaches is in core/testdata/laboratory.md; here it is seen that nothing is lost on the way.

// world is a site with limits that are not told otherwise than the policy says.
type labWorld struct {
	name   string
	policy simulator.Policy
	later  []simulator.Phase
	n      int
	ideal  float64 // s
	least  float64 // efficiency
	most   int64   // refusals per 1,000
}

func steadily(d time.Duration) simulator.Latency { return simulator.Latency{Median: d, Spread: 0.3} }

func labWorlds() []labWorld {
	at := func(n int, tell simulator.Tell) simulator.Policy {
		return simulator.Policy{Latency: steadily(2 * time.Second), Tell: tell, Limits: []simulator.Limit{{Kind: simulator.Concurrency, N: n}}}
	}
	bucket := func(tell simulator.Tell) simulator.Policy {
		return simulator.Policy{Latency: steadily(15 * time.Millisecond), Tell: tell, Limits: []simulator.Limit{{Kind: simulator.Bucket, N: 20, Per: time.Second, Burst: 10}}}
	}
	window := func(kind simulator.LimitKind, n int, per time.Duration, tell simulator.Tell) simulator.Policy {
		return simulator.Policy{Latency: steadily(300 * time.Millisecond), Tell: tell, Limits: []simulator.Limit{{Kind: kind, N: n, Per: per}}}
	}
	banning := window(simulator.Sliding, 30, time.Minute, simulator.TellSeconds)
	banning.Limits[0].Penalty = 30 * time.Second
	return []labWorld{
		{"bucket, Retry-After in seconds", bucket(simulator.TellSeconds), nil, 300, 14.5, 0.75, 40},
		{"bucket, Retry-After as a date", bucket(simulator.TellDate), nil, 300, 14.5, 0.70, 40},
		{"bucket, silent", bucket(simulator.TellNothing), nil, 300, 14.5, 0.70, 60},
		{"12 at once, silent", at(12, simulator.TellNothing), nil, 600, 100, 0.85, 15},
		{"20, 6, 20 at once, silent", at(20, simulator.TellNothing), []simulator.Phase{{At: 40 * time.Second, Policy: at(6, simulator.TellNothing)}, {At: 140 * time.Second, Policy: at(20, simulator.TellNothing)}}, 1100, 180, 0.75, 40},
		{"60 per 60 s sliding, silent", window(simulator.Sliding, 60, time.Minute, simulator.TellNothing), nil, 300, 241, 0.75, 80},
		{"300 per 900 s fixed, headers", window(simulator.Fixed, 300, 15*time.Minute, simulator.TellXRateLimit), nil, 870, 1810, 0.90, 0},
		{"30 per 60 s, a refusal closes for 30 s", banning, nil, 120, 181, 0.65, 120},
	}
}

func TestLaboratoryThroughTheEngine(t *testing.T) {
	for _, c := range labWorlds() {
		for seed := range uint64(3) {
			t.Run(fmt.Sprintf("%s/%d", c.name, seed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					inOurTime()
					w := simulator.New(simulator.Options{Seed: seed + 1, Sites: []simulator.Site{{Host: "a.test", Policy: c.policy, Phases: c.later}}})
					d := driveRun(t, Config{}, w.RoundTripper(), urls("a.test", c.n), nil)
					site, s := w.Counters().Sites["a.test"], d.summary
					efficiency, refused := c.ideal/s.ElapsedSeconds, 1000*site.Refused/int64(c.n)
					t.Logf("efficiency %.2f, refused %d per 1,000", efficiency, refused)
					if d.end.State != storage.RunFinished || s.Accepted != int64(c.n) || s.Records != int64(c.n) || s.Limited.Target != site.Refused {
						t.Fatalf("end %+v, summary %+v, site %+v", d.end, s, site)
					}
					if site.SentDuringWait > 0 || site.Duplicates > 0 {
						t.Errorf("%d sent inside a wait, %d twice", site.SentDuringWait, site.Duplicates)
					}
					if efficiency < c.least || refused > c.most {
						t.Errorf("efficiency %.2f, want %.2f; refused %d per 1,000, want at most %d", efficiency, c.least, refused, c.most)
					}
				})
			})
		}
	}
}
