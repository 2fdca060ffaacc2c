package engine

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dev.scrapetop/engine/simulator"
	"dev.scrapetop/storage"
)

func evomiConfig() Config {
	return Config{
		Provider: Evomi, BaseURL: "http://" + simulator.EvomiHost, ResubmitUnknown: true,
		Options:     map[string]any{"mode": "request"},
		Credentials: []Credential{{Name: "main", Key: simulator.DemoKey}},
	}
}

// pages are URLs of hosts that the world has no policy for: a generic page each.
func pages(n int) []string { return urls("shop.pages.test", n) }

func TestEvomiNeverRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := simulator.New(simulator.Options{Evomi: simulator.EvomiSettings{Accounts: []simulator.EvomiAccount{{Name: "demo", Key: simulator.DemoKey, Credits: 1e6, Concurrency: 5}}}})
		d := driveRun(t, evomiConfig(), w.RoundTripper(), pages(200), nil)
		k := w.Counters().Evomi.Keys["demo"]
		if d.summary.Accepted != 200 || d.summary.Limited.Account != 0 || k.Refused != 0 {
			t.Fatalf("summary %+v, counters %+v", d.summary, k)
		}
		if d.summary.Credits == 0 || d.summary.MaxInFlight > 5 {
			t.Errorf("credits %v, peak %d", d.summary.Credits, d.summary.MaxInFlight)
		}
	})
}

func TestEvomiHandOffIsPolledToItsEnd(t *testing.T) {
	for _, c := range []struct {
		name     string
		settings simulator.EvomiSettings
		async    bool
	}{
		{"202", simulator.EvomiSettings{HandOffRequest: time.Millisecond}, false},
		{"408 with a task, nested result", simulator.EvomiSettings{HandOffRequest: time.Millisecond, HandOff408: true, NestedResult: true}, false},
		{"async, background holds a slot", simulator.EvomiSettings{BackgroundHoldsSlot: true}, true},
		{"async, background holds none", simulator.EvomiSettings{}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.settings.Accounts = []simulator.EvomiAccount{{Name: "demo", Key: simulator.DemoKey, Credits: 1e6, Concurrency: 5}}
				w := simulator.New(simulator.Options{Evomi: c.settings})
				cfg := evomiConfig()
				cfg.Async = c.async
				d := driveRun(t, cfg, w.RoundTripper(), pages(40), nil)
				k := w.Counters().Evomi.Keys["demo"]
				if d.summary.Accepted != 40 || d.summary.Records != 40 || d.summary.Remote != 0 {
					t.Fatalf("summary %+v, counters %+v", d.summary, k)
				}
				if k.Collected != 40 || k.Started != 40 || k.Refused != 0 {
					t.Errorf("collected %d, started %d, refused %d", k.Collected, k.Started, k.Refused)
				}
			})
		})
	}
}

// TestEvomiLearnsWhetherBackgroundHoldsASlot: 200 jobs of 10 s at 5 slots take 400 s while each holds one; where the header
// shows that none does, far less, and nothing is refused either way.
func TestEvomiLearnsWhetherBackgroundHoldsASlot(t *testing.T) {
	for _, holds := range []bool{true, false} {
		t.Run(fmt.Sprintf("holds %v", holds), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				inOurTime()
				w := simulator.New(simulator.Options{
					Sites: []simulator.Site{{Host: "shop.test", Policy: simulator.Policy{Latency: simulator.Latency{Median: 10 * time.Second}}}},
					Evomi: simulator.EvomiSettings{BackgroundHoldsSlot: holds, Accounts: []simulator.EvomiAccount{{Name: "demo", Key: simulator.DemoKey, Credits: 1e6, Concurrency: 5}}},
				})
				cfg := evomiConfig()
				cfg.Async = true
				d := driveRun(t, cfg, w.RoundTripper(), urls("shop.test", 200), nil)
				k := w.Counters().Evomi.Keys["demo"]
				took := d.summary.ElapsedSeconds
				t.Logf("%.0f s, refused %d", took, k.Refused)
				if d.summary.Accepted != 200 || k.Started != 200 || k.Collected != 200 || k.Refused != 0 {
					t.Fatalf("summary %+v, counters %+v", d.summary, k)
				}
				if quick := took < 200; quick == holds {
					t.Errorf("took %.0f s", took)
				}
			})
		})
	}
}

func TestEvomiWithoutCreditsStopsAndResumes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := simulator.New(simulator.Options{Evomi: simulator.EvomiSettings{Accounts: []simulator.EvomiAccount{{Name: "demo", Key: simulator.DemoKey, Credits: 20, Concurrency: 5}}}})
		d := driveRun(t, evomiConfig(), w.RoundTripper(), pages(40), nil)
		if d.end.State != storage.RunFailed || !strings.Contains(d.end.Reason, "quota") || d.summary.Dead != 0 {
			t.Fatalf("end %+v, summary %+v", d.end, d.summary)
		}
		if d.summary.Accepted == 0 || d.summary.Pending+d.summary.Accepted != 40 {
			t.Errorf("summary %+v", d.summary)
		}
	})
}

func TestEvomiWrongKeyFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := simulator.New(simulator.Options{})
		cfg := evomiConfig()
		cfg.Credentials[0].Key = "wrong-key"
		d := driveRun(t, cfg, w.RoundTripper(), pages(10), nil)
		if d.end.State != storage.RunFailed || !strings.Contains(d.end.Reason, "auth") || d.summary.Pending != 10 {
			t.Fatalf("end %+v, summary %+v", d.end, d.summary)
		}
		if n := w.Counters().Evomi.Unauthorized; n != 1 {
			t.Errorf("%d requests with the wrong key, want one", n)
		}
		if strings.Contains(d.end.Reason, "wrong-key") {
			t.Error("the key stands in the reason")
		}
	})
}

// TestDemoWorld drives the whole demo: every state appears, nothing is lost, nothing is sent inside an announced wait.
func TestDemoWorld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// A bubble begins in 2000, when Unix times had nine digits: some sites announce theirs.
		time.Sleep(time.Until(time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)))
		w := simulator.New(simulator.Options{Seed: 7})
		d := driveRun(t, Config{Robots: true, MaxInFlight: 48, BlockHold: 45 * time.Second}, w.RoundTripper(), simulator.DemoURLs(), nil)
		s := d.summary
		t.Logf("%+v", s)
		if d.end.State != storage.RunFinished || s.Accepted+s.Dead != s.Tasks || s.Pending != 0 {
			t.Fatalf("end %+v", d.end)
		}
		for host, c := range w.Counters().Sites {
			if c.SentDuringWait > 0 || c.Duplicates > 0 || c.Disallowed > 0 {
				t.Errorf("%s: %d inside a wait, %d twice, %d disallowed", host, c.SentDuringWait, c.Duplicates, c.Disallowed)
			}
			if c.Refused > 30 {
				t.Logf("%s: %d of %d refused", host, c.Refused, c.Requests)
			}
		}
	})
}

// TestLearnedLimitsAreKept: what a run found out about a limit stands in the view, in words too.
func TestLearnedLimitsAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := simulator.New(simulator.Options{Sites: []simulator.Site{{Host: "five.test", Policy: simulator.Policy{
			Latency: simulator.Latency{Median: 200 * time.Millisecond}, Limits: []simulator.Limit{{Kind: simulator.Concurrency, N: 5}},
		}}}})
		var learned []storage.Learned
		driveRun(t, Config{}, w.RoundTripper(), urls("five.test", 200), func(e *Engine) {
			time.Sleep(40 * time.Second)
			var err error
			if learned, err = e.store.LearnedLimits(t.Context(), Direct); err != nil {
				t.Error(err)
			}
		})
		if len(learned) != 1 || learned[0].Kind != "concurrency" || learned[0].Key != "five.test" || *learned[0].QuotaLimit != 5 || learned[0].Evidence == "" {
			t.Fatalf("%+v", learned)
		}
	})
}
