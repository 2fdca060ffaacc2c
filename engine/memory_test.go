package engine

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"dev.scrapetop/engine/simulator"
	"dev.scrapetop/storage"
)

// twice drives a list through two runs on one database, with a pause between them.
func twice(t *testing.T, cfg Config, w *simulator.World, list []string, between time.Duration) (first, second drive) {
	t.Helper()
	st, err := storage.Open(t.Context(), filepath.Join(t.TempDir(), "t.db"), storage.Options{Fast: true})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	first = driveOn(t, st, cfg, w.RoundTripper(), list, nil)
	time.Sleep(between)
	return first, driveOn(t, st, cfg, w.RoundTripper(), list, nil)
}

// TestSecondRunStartsFromWhatTheFirstLearned: limits that nobody told are not found out again.
func TestSecondRunStartsFromWhatTheFirstLearned(t *testing.T) {
	for _, c := range []struct {
		name   string
		policy simulator.Policy
		n      int
		ideal  float64 // s
	}{
		{"bucket", simulator.Policy{Latency: simulator.Latency{Median: 15 * time.Millisecond}, Limits: []simulator.Limit{{Kind: simulator.Bucket, N: 20, Per: time.Second, Burst: 10}}}, 300, 14.5},
		{"in flight", simulator.Policy{Latency: simulator.Latency{Median: 200 * time.Millisecond}, Limits: []simulator.Limit{{Kind: simulator.Concurrency, N: 5}}}, 300, 12},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				inOurTime()
				w := simulator.New(simulator.Options{Sites: []simulator.Site{{Host: "a.test", Policy: c.policy}}})
				most := int64(0)
				if c.name == "bucket" { // its rate is known to a percent or two
					most = 1
				}
				first, second := twice(t, Config{}, w, urls("a.test", c.n), time.Minute)
				t.Logf("first %.1f s, %d refused; second %.1f s, %d refused; ideal %.1f s", first.summary.ElapsedSeconds, first.summary.Limited.Target,
					second.summary.ElapsedSeconds, second.summary.Limited.Target, c.ideal)
				if second.summary.Accepted != int64(c.n) || second.summary.Limited.Target > most || second.summary.ElapsedSeconds > c.ideal/0.9 {
					t.Errorf("second: %+v", second.summary)
				}
			})
		})
	}
}

// TestSecondRunSparesTheWindowOfTheFirst: a window that a platform counts for the address is still spent when the next run
// starts.
func TestSecondRunSparesTheWindowOfTheFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inOurTime()
		w := simulator.New(simulator.Options{})
		cfg := spidraConfig()
		cfg.Batch = 1
		first, second := twice(t, cfg, w, pages(120), time.Second)
		if first.end.State != storage.RunFinished || second.end.State != storage.RunFinished || second.summary.Limited.Rate > 0 {
			t.Fatalf("first %+v, second %+v", first.summary, second.summary)
		}
		// What the first sent leaves the second next to nothing for a quarter of an hour; after it there is enough.
		if s := second.summary.ElapsedSeconds; s < 600 || s > 1500 {
			t.Errorf("the second took %.0f s", s)
		}
		t.Logf("%d and %d requests in %.0f and %.0f s", first.summary.Requests, second.summary.Requests, first.summary.ElapsedSeconds, second.summary.ElapsedSeconds)
	})
}

// TestTargetsWindowIsNotThePlatforms: what a target's headers said behind a platform closes nothing of the platform's after
// a restart.
func TestTargetsWindowIsNotThePlatforms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inOurTime()
		st, err := storage.Open(t.Context(), filepath.Join(t.TempDir(), "t.db"), storage.Options{Fast: true})
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		run, err := st.CreateRun(t.Context(), storage.RunSpec{Name: "before", Input: "t", Provider: Evomi})
		if err != nil {
			t.Fatal(err)
		}
		left, reset := int64(0), 50*time.Minute
		done := make(chan error, 1)
		st.Write(storage.Tx{Run: run.ID, Attempts: []storage.Attempt{{
			Number: 1, URL: "http://a.test/", Domain: "a.test", Provider: Evomi, Credential: "main", Kind: "submit", Exchange: "x", StartedAt: time.Now(),
			Outcome: "limited", Layer: "target", Remaining: &left, Reset: &reset,
		}}}, func(err error) { done <- err })
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		d := driveOn(t, st, evomiConfig(), simulator.New(simulator.Options{}).RoundTripper(), pages(5), nil)
		if d.summary.Accepted != 5 || d.summary.ElapsedSeconds > 60 {
			t.Fatalf("after %.0f s: %+v", d.summary.ElapsedSeconds, d.summary)
		}
	})
}
