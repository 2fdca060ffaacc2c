package simulator

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestOmniScrapeJobs is omniscrape 9, omniscrape 10, omniscrape 11, omniscrape 16: a job's states, its day, its owner, and polls that come too soon.
func TestOmniScrapeJobs(t *testing.T) {
	omniWorld(t, OmniScrapeSettings{}, func(t *testing.T, a omn) {
		g := a.submit("http://a.test/p")
		id, _ := g.json(t)["job_id"].(string)
		if g.status != 202 || g.json(t)["success"] != true || g.json(t)["status"] != "queued" || g.json(t)["poll"] != "/v1/jobs/"+id || id == "" {
			t.Fatalf("submit: %d %s", g.status, g.body)
		}
		path := "/v1/jobs/" + id
		if j := a.poll(path); j["status"] != "queued" || j["job_id"] != id || j["url"] != "http://a.test/p" || j["created_at"] == "" || j["result"] != nil {
			t.Errorf("queued: %v", j)
		}
		time.Sleep(time.Second)
		if j := a.poll(path); j["status"] != "processing" || j["updated_at"] == nil {
			t.Errorf("processing: %v", j)
		}
		time.Sleep(500 * time.Millisecond)
		a.poll(path) // too soon
		if g := (omn{a.t, a.w, a.rt, a.base, "k2"}).call(t.Context(), "GET", path, ""); g.status != 404 || g.json(t)["success"] != false {
			t.Errorf("another account's job: %d %s", g.status, g.body)
		}
		time.Sleep(time.Second)
		for range 2 {
			j := a.poll(path)
			result := j["result"].(map[string]any)
			if j["status"] != "completed" || result["success"] != true || result["data"].(map[string]any)["status_code"] != 200.0 ||
				result["billing"].(map[string]any)["charged"] != 0.004 || result["metadata"].(map[string]any)["elapsed_time"] != 2.0 {
				t.Errorf("completed: %v", j)
			}
			time.Sleep(2 * time.Second)
		}
		inner := a.async("http://a.test/?sim_status=429")
		time.Sleep(24*time.Hour - 5*time.Second)
		a.poll(path)
		if j := a.poll(inner); j["status"] != "completed" || j["result"].(map[string]any)["data"].(map[string]any)["status_code"] != 429.0 {
			t.Errorf("an inner refusal: %v", j)
		}
		time.Sleep(10 * time.Second)
		for _, p := range []string{path, "/v1/jobs/unknown"} {
			if g := a.call(t.Context(), "GET", p, ""); g.status != 404 {
				t.Errorf("%s: %d", p, g.status)
			}
		}
		if c := a.counters(); c.Polls != 9 || c.FastPolls != 1 || c.Gone != 2 || c.Collected != 4 || c.Async != 2 || c.PeakInFlight != 1 {
			t.Errorf("counters %+v", c)
		}
	})
}

// TestOmniScrapeQueue is omniscrape 3, omniscrape 16: sync and asynchronous work share the limit; peaks by account and hostname.
func TestOmniScrapeQueue(t *testing.T) {
	omniWorld(t, OmniScrapeSettings{}, func(t *testing.T, a omn) {
		var paths []string
		for i := range 5 {
			paths = append(paths, a.async(fmt.Sprint("http://a.test/", i)))
		}
		time.Sleep(time.Second)
		if g := a.scrape("http://a.test/sync"); g.status != 429 {
			t.Errorf("a synchronous scrape beside two that are processed: %d", g.status)
		}
		states := ""
		for _, p := range paths {
			states += a.poll(p)["status"].(string)[:1]
		}
		if states != "ppqqq" {
			t.Errorf("states %s", states)
		}
		time.Sleep(time.Minute)
		if c := a.counters(); c.PeakInFlight != 2 || c.PeakQueued != 5 || c.Charged != 5 || c.InFlight != 0 || c.Started != 5 {
			t.Errorf("counters %+v", c)
		}
		if c := a.w.site("a.test"); c.PeakInFlight != 2 || c.Requests != 5 {
			t.Errorf("counters %+v", c)
		}
	})
	for _, s := range []OmniScrapeSettings{{AsyncRefused: true}, {QueuedHolds: true}} {
		omniWorld(t, s, func(t *testing.T, a omn) {
			a.async("http://a.test/1")
			a.async("http://a.test/2")
			if !s.QueuedHolds {
				time.Sleep(time.Second)
			}
			if g := a.submit("http://a.test/3"); g.status != 429 {
				t.Errorf("%+v: %d", s, g.status)
			}
			time.Sleep(3 * time.Second)
			a.async("http://a.test/3")
			time.Sleep(3 * time.Second)
			if c := a.counters(); c.PeakInFlight != 2 || c.Charged != 3 || c.InFlight != 0 {
				t.Errorf("counters %+v", c)
			}
		})
	}
}

// TestOmniScrapeTimeLimits is omniscrape 9: a job that timed out.
func TestOmniScrapeTimeLimits(t *testing.T) {
	for place, read := range map[string]func(body map[string]any) any{
		FailureInData: func(b map[string]any) any { return b["data"].(map[string]any)["error"] },
		FailureOnTop:  func(b map[string]any) any { return b["error"] },
		FailureInResult: func(b map[string]any) any {
			return b["data"].(map[string]any)["result"].(map[string]any)["error"]
		},
	} {
		for _, charge := range []bool{false, true} {
			omniWorld(t, OmniScrapeSettings{FailureAt: place, ChargeTimeouts: charge, GoneStatus: 410}, func(t *testing.T, a omn) {
				begin := time.Now()
				if g := a.scrape("http://a.test/?sim_delay=10m"); g.status != 504 || time.Since(begin) != 120*time.Second {
					t.Errorf("synchronous: %d after %v", g.status, time.Since(begin))
				}
				path := a.async("http://a.test/?sim_delay=10m&x")
				time.Sleep(301 * time.Second)
				g := a.call(t.Context(), "GET", path, "")
				if text, _ := read(g.json(t)).(string); g.status != 200 || a.poll(path)["status"] != "timed_out" || !strings.Contains(text, "time limit") {
					t.Errorf("asynchronous: %d %s", g.status, g.body)
				}
				want := map[bool]int64{true: 2}[charge]
				if c := a.counters(); c.Charged != want || c.InFlight != 0 {
					t.Errorf("counters %+v", c)
				}
				if g := a.call(t.Context(), "GET", "/v1/jobs/x", ""); g.status != 410 {
					t.Errorf("an unknown job: %d", g.status)
				}
			})
		}
	}
}

func TestOmniScrapeForgetsWhatHasExpired(t *testing.T) {
	omniWorld(t, OmniScrapeSettings{}, func(t *testing.T, a omn) {
		for i := range sweepEvery + 5 {
			a.async(fmt.Sprint("http://a.test/", i))
			time.Sleep(10 * time.Minute)
		}
		if n := len(a.w.omni.keys["k1"].jobs); n > 160 || n < 140 { // of a day
			t.Errorf("%d jobs", n)
		}
	})
}
