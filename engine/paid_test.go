package engine

import (
	"context"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dev.scrapetop/engine/simulator"
	"dev.scrapetop/storage"
)

// What people pay for: that results which were bought are collected, and that caps hold.

func evomiWorld(latency time.Duration, s simulator.EvomiSettings) *simulator.World {
	if s.Accounts == nil {
		s.Accounts = []simulator.EvomiAccount{{Name: "demo", Key: simulator.DemoKey, Credits: 1e6, Concurrency: 5}}
	}
	return simulator.New(simulator.Options{
		Sites: []simulator.Site{{Host: "shop.test", Policy: simulator.Policy{Latency: simulator.Latency{Median: latency}}}}, Evomi: s,
	})
}

func evomiAsync() Config {
	cfg := evomiConfig()
	cfg.Async = true
	return cfg
}

// TestSlowJobIsNotGivenUp: a job that runs longer than results are kept has not expired.
func TestSlowJobIsNotGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inOurTime()
		w := evomiWorld(12*time.Minute, simulator.EvomiSettings{})
		d := driveRun(t, evomiAsync(), w.RoundTripper(), urls("shop.test", 3), nil)
		if k := w.Counters().Evomi.Keys["demo"]; d.summary.Accepted != 3 || k.Started != 3 || k.Collected != 3 {
			t.Fatalf("summary %+v, counters %+v", d.summary, k)
		}
	})
}

// TestManySlowBatchesComeHome: more work than the platform does within its retention.
func TestManySlowBatchesComeHome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inOurTime()
		w := simulator.New(simulator.Options{
			Sites:  []simulator.Site{{Host: "shop.test", Policy: simulator.Policy{Latency: simulator.Latency{Median: 20 * time.Second}}}},
			Spidra: simulator.SpidraSettings{Accounts: []simulator.SpidraAccount{{Name: "demo", Key: "spd_demo", Credits: 1e6, Workers: 2}}},
		})
		d := driveRun(t, spidraConfig(), w.RoundTripper(), urls("shop.test", 400), nil)
		if d.summary.Accepted != 400 || d.summary.Dead != 0 || d.summary.Limited.Rate > 0 {
			t.Fatalf("after %.0f s: %+v", d.summary.ElapsedSeconds, d.summary)
		}
	})
}

// TestUnpaidAccountHandsOutWhatWasPaid: without credits nothing is submitted, but finished jobs are collected.
func TestUnpaidAccountHandsOutWhatWasPaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inOurTime()
		w := evomiWorld(5*time.Second, simulator.EvomiSettings{Accounts: []simulator.EvomiAccount{{Name: "demo", Key: simulator.DemoKey, Credits: 9, Concurrency: 5}}})
		d := driveRun(t, evomiAsync(), w.RoundTripper(), urls("shop.test", 20), nil)
		k := w.Counters().Evomi.Keys["demo"]
		if d.end.State != storage.RunFailed || d.summary.Remote != 0 || d.summary.Dead != 0 || d.summary.Accepted != k.Started || k.Collected != k.Started {
			t.Fatalf("end %+v, summary %+v, counters %+v", d.end, d.summary, k)
		}
	})
}

// TestRequestsCapHoldsWithPolls: polls are requests too; what a cap leaves is enough to collect what was submitted.
func TestRequestsCapHoldsWithPolls(t *testing.T) {
	for _, most := range []int64{20, 100} {
		synctest.Test(t, func(t *testing.T) {
			inOurTime()
			for _, c := range []struct {
				name string
				cfg  Config
				list []string
			}{{"evomi", evomiAsync(), urls("shop.test", 200)}, {"spidra", spidraConfig(), urls("shop.test", 3000)}} {
				w := evomiWorld(10*time.Second, simulator.EvomiSettings{})
				c.cfg.MaxRequests = most
				if c.name == "spidra" {
					c.cfg.Batch = 10
				}
				d := driveRun(t, c.cfg, w.RoundTripper(), c.list, nil)
				t.Logf("%s: cap %d, %d requests, %d accepted, %d remote", c.name, most, d.summary.Requests, d.summary.Accepted, d.summary.Remote)
				if d.summary.Requests > most || d.summary.Accepted == 0 || d.summary.Remote > 0 || d.end.Reason != "cap" {
					t.Errorf("%s, cap %d: end %+v, summary %+v", c.name, most, d.end, d.summary)
				}
			}
		})
	}
}

// TestCreditsCapCountsWhatNobodyPriced: a scrape whose result is lost was charged all the same.
func TestCreditsCapCountsWhatNobodyPriced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inOurTime()
		w := evomiWorld(2*time.Second, simulator.EvomiSettings{Retention: time.Millisecond, ChargeAll: true})
		cfg := evomiAsync()
		cfg.MaxCredits = 13
		d := driveRun(t, cfg, w.RoundTripper(), urls("shop.test", 40), nil)
		k := w.Counters().Evomi.Keys["demo"]
		t.Logf("charged %v, counted %v", k.Charges, d.summary.Credits)
		if k.Charges > 13 || k.Charges == 0 || d.end.Reason != "cap" {
			t.Fatalf("charged %v of 13: end %+v, summary %+v", k.Charges, d.end, d.summary)
		}
	})
}

// TestRefusedPollCoolsSubmits: a platform that counts polls refuses one for concurrency: submits wait as announced, and
// from then on leave room for polls.
func TestRefusedPollCoolsSubmits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inOurTime()
		w := evomiWorld(5*time.Second, simulator.EvomiSettings{BackgroundHoldsSlot: true, PollsHoldSlot: true})
		d := driveRun(t, evomiAsync(), w.RoundTripper(), urls("shop.test", 60), nil)
		k := w.Counters().Evomi.Keys["demo"]
		t.Logf("%.0f s, refused %d, cooldowns %d", d.summary.ElapsedSeconds, k.Refused, d.summary.Cooldowns)
		if d.summary.Accepted != 60 || k.SentDuringWait > 0 || k.Refused > 8 {
			t.Fatalf("summary %+v, counters %+v", d.summary, k)
		}
	})
}

// TestFreeSlotsAreAskedForFirst: before its first work a credential knows what others leave of its slots.
func TestFreeSlotsAreAskedForFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inOurTime()
		w := evomiWorld(time.Second, simulator.EvomiSettings{})
		d := driveRun(t, evomiConfig(), w.RoundTripper(), urls("shop.test", 20), func(e *Engine) {
			time.Sleep(300 * time.Millisecond) // less than the first page takes
			if k := w.Counters().Evomi.Keys["demo"]; k.PeakInFlight < 5 {
				t.Errorf("%d of 5 slots in use at the start", k.PeakInFlight)
			}
		})
		if d.summary.Accepted != 20 || d.summary.Requests != 21 || d.summary.Attempts != 21 || d.summary.Limited.Account > 0 {
			t.Fatalf("summary %+v", d.summary)
		}
	})
}

// TestTasksThatCountAsPending: where the platform counts the URLs of batches that wait, one refusal tells, and batches are
// fitted to what is left.
func TestTasksThatCountAsPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inOurTime()
		w := simulator.New(simulator.Options{
			Sites:  []simulator.Site{{Host: "shop.test", Policy: simulator.Policy{Latency: simulator.Latency{Median: time.Second}}}},
			Spidra: simulator.SpidraSettings{PendingURLs: true, Accounts: []simulator.SpidraAccount{{Name: "demo", Key: "spd_demo", Credits: 1e6, Workers: 5}}},
		})
		d := driveRun(t, spidraConfig(), w.RoundTripper(), urls("shop.test", 600), nil)
		t.Logf("%.0f s, %d requests, refused %d, %d retries", d.summary.ElapsedSeconds, d.summary.Requests, d.summary.Limited.Pending, d.summary.Retries)
		if d.summary.Accepted != 600 || d.summary.Limited.Pending > 2 {
			t.Fatalf("summary %+v", d.summary)
		}
	})
}

// TestPlatformThatIsDownIsLeftAlone: with few domains nothing tells the platform from the site; either way each attempt may
// cost, and the tasks must live to see the end of it.
func TestPlatformThatIsDownIsLeftAlone(t *testing.T) {
	for _, c := range []struct {
		name   string
		list   []string
		status int
		body   string
		down   time.Duration
		most   int64 // requests until then
	}{
		{"one domain, 500", urls("one.test", 40), 500, "{}", 20 * time.Minute, 90},
		{"one domain, not JSON", urls("one.test", 40), 200, "{", 20 * time.Minute, 90},
		{"three domains of a task each", []string{"http://a.test/", "http://b.test/", "http://c.test/"}, 500, "{}", 20 * time.Minute, 90},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				inOurTime()
				w := evomiWorld(time.Second, simulator.EvomiSettings{})
				back := time.Now().Add(c.down)
				var during atomic.Int64
				rt := roundTrip(func(r *http.Request) (*http.Response, error) {
					if time.Now().Before(back) {
						during.Add(1)
						return &http.Response{
							StatusCode: c.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{"Content-Type": {"application/json"}},
							Body: io.NopCloser(strings.NewReader(c.body)), ContentLength: int64(len(c.body)), Request: r,
						}, nil
					}
					return w.RoundTripper().RoundTrip(r)
				})
				d := driveRun(t, evomiConfig(), rt, c.list, nil)
				t.Logf("%d requests in %v, %.0f s in all", during.Load(), c.down, d.summary.ElapsedSeconds)
				if during.Load() > c.most || d.summary.Accepted != int64(len(c.list)) {
					t.Fatalf("%d requests while it was down; summary %+v", during.Load(), d.summary)
				}
			})
		})
	}
}

// TestCapsHoldOverRestarts: what a killed drive submitted and never heard of is spent, for the run and for its tenant.
func TestCapsHoldOverRestarts(t *testing.T) {
	for name, capped := range map[string]func(*Config){
		"run":             func(c *Config) { c.MaxCredits = 16 },
		"tenant":          func(c *Config) { c.Tenants = map[string]Ceilings{"acme": {MaxCredits: 16}} },
		"tenant requests": func(c *Config) { c.Tenants = map[string]Ceilings{"acme": {MaxRequests: 8}} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				inOurTime()
				w := evomiWorld(3*time.Second, simulator.EvomiSettings{})
				st, err := storage.Open(t.Context(), filepath.Join(t.TempDir(), "t.db"), storage.Options{Fast: true})
				if err != nil {
					t.Fatal(err)
				}
				defer st.Close()
				ctx := context.Background()
				run, err := st.CreateRun(ctx, storage.RunSpec{Name: "t", Input: "t", Provider: Evomi})
				if err != nil {
					t.Fatal(err)
				}
				cfg := evomiConfig()
				capped(&cfg)
				cfg.Transport, cfg.Headless = w.RoundTripper(), true
				var list []storage.NewTask
				for _, u := range urls("shop.test", 40) {
					list = append(list, storage.NewTask{URL: u, InputURL: u, Domain: "shop.test", Tenant: "acme"})
				}
				for drive := range 8 {
					e, err := New(cfg, st, run)
					if err != nil {
						t.Fatal(err)
					}
					driving, kill := context.WithCancel(ctx)
					done := make(chan struct{})
					go func() {
						if _, err := e.Run(driving); err != nil {
							t.Error(err)
						}
						close(done)
					}()
					if drive == 0 {
						if _, err := e.Feed(ctx, list); err != nil {
							t.Fatal(err)
						}
					}
					e.FeedDone()
					time.Sleep(2 * time.Second) // in the middle of the first pages
					kill()
					<-done
					if run, err = st.Run(ctx, run.ID); err != nil {
						t.Fatal(err)
					}
				}
				if k := w.Counters().Evomi.Keys["demo"]; k.Started > 8 || k.Charges > 16 {
					t.Fatalf("%d scrapes for %v credits under a cap of 8", k.Started, k.Charges)
				}
			})
		})
	}
}
