package simulator

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestSpidraScrapeStates is spidra 6, spidra 7, spidra 8: a scrape waits, runs and is completed.
func TestSpidraScrapeStates(t *testing.T) {
	spidraWorld(t, SpidraSettings{}, func(t *testing.T, a spd) {
		first := a.call("POST", "/scrape", scrapeOf("http://a.test/p/mug-1"))
		if g := first.json(t); first.status != 202 || g["status"] != "queued" || g["jobId"] == "" {
			t.Fatalf("submit: %d %s", first.status, first.body)
		}
		path := "/scrape/" + first.json(t)["jobId"].(string)
		a.scrape("http://a.test/2")
		third := a.scrape("http://a.test/3")
		if s := a.get(path); s["status"] != "active" || s["result"] != nil || s["progress"].(map[string]any)["message"] == "" {
			t.Errorf("first: %v", s)
		}
		if s := a.get(third); s["status"] != "waiting" {
			t.Errorf("third: %v", s)
		}
		time.Sleep(10 * time.Second)
		done := a.get(path)
		result := done["result"].(map[string]any)
		page := result["data"].([]any)[0].(map[string]any)
		if done["status"] != "completed" || done["error"] != nil || !strings.HasPrefix(result["content"].(string), "# ") ||
			page["markdownContent"] != result["content"] || page["success"] != true || page["url"] != "http://a.test/p/mug-1" || result["ai_extraction_failed"] != false {
			t.Errorf("completed: %v", done)
		}
		if again := a.get(path); again["status"] != "completed" {
			t.Errorf("read again: %v", again)
		}
		if s := a.get(third); s["status"] != "active" {
			t.Errorf("third: %v", s)
		}
		if c := a.counters(); c.Charges != 2 || c.Collected != 2 || c.Polls != 5 || c.PeakWaiting != (SpidraKinds{Scrape: 1}) {
			t.Errorf("counters %+v", c)
		}
	})
}

// TestSpidraBatch is spidra 6, spidra 7, spidra 9, spidra 10: a batch, its aliases, its end with failures, and what failures cost.
func TestSpidraBatch(t *testing.T) {
	for name, c := range map[string]struct {
		partial bool
		failing int
		end     string
	}{"all": {false, 0, "completed"}, "some fail": {false, 2, "completed"}, "some fail, partial": {true, 2, "partial"}, "none": {true, 4, "failed"}} {
		t.Run(name, func(t *testing.T) {
			spidraWorld(t, SpidraSettings{PartialWord: c.partial}, func(t *testing.T, a spd) {
				urls := numbered(4, "")
				for i := range c.failing {
					urls[i] += "?sim_status=503"
				}
				g := a.call("POST", "/batch-scrape", batchOf(urls...))
				id, _ := g.json(t)["batchId"].(string)
				if g.status != 202 || g.json(t)["total"] != 4.0 || g.header.Get("Location") != "/api/batch/scrape/"+id {
					t.Fatalf("submit: %d %s %v", g.status, g.body, g.header)
				}
				running := a.get("/batch-scrape/" + id)
				if running["status"] != "running" || running["totalUrls"] != 4.0 || running["finishedAt"] != nil {
					t.Errorf("running: %v", running)
				}
				if s := running["items"].([]any)[3].(map[string]any); s["status"] != "pending" || s["jobId"] != nil || s["creditsUsed"] != 0.0 || s["result"] != nil {
					t.Errorf("an item that waits: %v", s)
				}
				if s := a.get(a.batch("http://a.test/later"))["status"]; s != "pending" {
					t.Errorf("a batch of which nothing has begun: %v", s)
				}
				time.Sleep(20 * time.Second)
				done := a.get("/batch/scrape/" + id)
				if done["status"] != c.end || done["failedCount"] != float64(c.failing) || done["completedCount"] != float64(4-c.failing) || done["finishedAt"] == nil {
					t.Errorf("done: %v", done)
				}
				for i, e := range done["items"].([]any) {
					it := e.(map[string]any)
					bad := i < c.failing
					if (it["status"] == "failed") != bad || (it["error"] != nil) != bad || (it["result"] == nil) != bad || (it["creditsUsed"] == 0.0) != bad {
						t.Errorf("item %d: %v", i, it)
					}
				}
				if n := a.counters(); n.Charges != float64(4-c.failing) || n.URLs != 5 {
					t.Errorf("counters %+v", n)
				}
			})
		})
	}
}

// TestSpidraRetryBringsABatchBack is spidra 10: a retry of what failed.
func TestSpidraRetryBringsABatchBack(t *testing.T) {
	spidraWorld(t, SpidraSettings{}, func(t *testing.T, a spd) {
		path := a.batch("http://a.test/1", "http://a.test/2?sim_status=500&sim_times=1", "http://a.test/3?sim_status=500")
		time.Sleep(21 * time.Second)
		if s := a.get(path); s["status"] != "completed" || s["failedCount"] != 2.0 {
			t.Fatalf("before: %v", s)
		}
		g := a.call("POST", path+"/retry", "{}")
		if g.status != 202 || g.json(t)["status"] != "queued" || g.json(t)["retriedCount"] != 2.0 {
			t.Fatalf("retry: %d %s", g.status, g.body)
		}
		if s := a.get(path); s["status"] != "running" || s["failedCount"] != 0.0 {
			t.Errorf("brought back: %v", s)
		}
		time.Sleep(10 * time.Second)
		if s := a.get(path); s["status"] != "completed" || s["failedCount"] != 1.0 || s["completedCount"] != 2.0 {
			t.Errorf("after: %v", s)
		}
		clean := a.batch("http://a.test/4")
		time.Sleep(10 * time.Second)
		if g := a.call("POST", clean+"/retry", ""); g.status != 400 {
			t.Errorf("nothing to retry: %d", g.status)
		}
		if g := a.call("POST", "/batch/scrape/unknown/retry", ""); g.status != 404 {
			t.Errorf("an unknown batch: %d", g.status)
		}
		if c := a.counters(); c.Retries != 3 || c.Retried != 2 || c.Charges != 3 || c.DuplicateCharges != 0 || c.DuplicateScrapes != 0 {
			t.Errorf("counters %+v", c)
		}
		if u := a.w.spidra.users[0]; u.reserved != 0 || u.open != (SpidraKinds{}) || u.waitURLs != 0 || u.waiting != (SpidraKinds{}) || u.working != (SpidraKinds{}) {
			t.Errorf("left over: %+v", u)
		}
	})
}

// TestSpidraCancel is spidra 7, spidra 10: a cancelled batch, its refunds, and 409 when it has ended.
func TestSpidraCancel(t *testing.T) {
	spidraWorld(t, SpidraSettings{}, func(t *testing.T, a spd) {
		path := a.batch(numbered(5, "")...)
		other := a.batch("http://a.test/never")
		time.Sleep(time.Second)
		g := a.call("DELETE", path, "")
		if b := g.json(t); g.status != 200 || b["status"] != "cancelled" || b["cancelledItems"] != 3.0 || b["creditsRefunded"] != 3.0 {
			t.Fatalf("cancel: %d %s", g.status, g.body)
		}
		if g := a.call("DELETE", other, ""); g.status != 200 || g.json(t)["cancelledItems"] != 1.0 {
			t.Errorf("cancel of what has not begun: %d %s", g.status, g.body)
		}
		if g := a.call("DELETE", path, ""); g.status != 409 || g.json(t)["code"] != "ALREADY_TERMINAL" {
			t.Errorf("cancel again: %d %s", g.status, g.body)
		}
		time.Sleep(20 * time.Second)
		if s := a.get(path); s["status"] != "cancelled" || s["completedCount"] != 2.0 {
			t.Errorf("what had begun: %v", s)
		}
		if c := a.counters(); c.Cancelled != 4 || c.Refunded != 4 || c.Charges != 2 {
			t.Errorf("counters %+v", c)
		}
		if n := a.w.site("a.test").Requests; n != 2 {
			t.Errorf("%d visits", n)
		}
		if u := a.w.spidra.users[0]; u.reserved != 0 || u.open != (SpidraKinds{}) || u.waitURLs != 0 || u.waiting != (SpidraKinds{}) || u.working != (SpidraKinds{}) {
			t.Errorf("left over: %+v", u)
		}
	})
}

// TestSpidraRetention is spidra 13: jobs are gone after their time, and for other accounts.
func TestSpidraRetention(t *testing.T) {
	spidraWorld(t, SpidraSettings{}, func(t *testing.T, a spd) {
		good, bad := a.scrape("http://a.test/1"), a.scrape("http://a.test/2?sim_status=500")
		status := func(path, key string) int { return a.call("GET", path, "", "x-api-key", key).status }
		if s := status(good, "spd_2"); s != 404 {
			t.Errorf("another account's job: %d", s)
		}
		if s := status(strings.Replace(good, "/scrape/", "/crawl/", 1), "spd_1"); s != 404 {
			t.Errorf("a job of another kind: %d", s)
		}
		time.Sleep(time.Hour)
		if s := status(good, "spd_1b"); s != 200 {
			t.Errorf("within the hour: %d", s)
		}
		time.Sleep(11 * time.Second)
		if s := status(good, "spd_1"); s != 404 {
			t.Errorf("after an hour: %d", s)
		}
		time.Sleep(22 * time.Hour)
		if s := a.get(bad); s["status"] != "failed" || s["result"] != nil || s["error"] == "" {
			t.Errorf("failed: %v", s)
		}
		time.Sleep(time.Hour)
		if s := status(bad, "spd_1"); s != 404 {
			t.Errorf("after a day: %d", s)
		}
		if c := a.counters(); c.Gone != 3 { // the fourth was the other account's
			t.Errorf("counters %+v", c)
		}
		log := a.get(strings.Replace(good, "/scrape/", "/scrape-logs/", 1))
		if log["status"] != "completed" || !strings.HasPrefix(log["result"].(string), "# ") {
			t.Errorf("log: %v", log)
		}
		if list := a.get("/scrape-logs?limit=1"); list["total"] != 2.0 || len(list["logs"].([]any)) != 1 {
			t.Errorf("logs: %v", list)
		}
		if g := a.call("GET", "/scrape-logs/unknown", ""); g.status != 404 {
			t.Errorf("an unknown log: %d", g.status)
		}
	})
}

// TestSpidraTargets is spidra 14: targets are scripted by their URL, and their status is told nowhere.
func TestSpidraTargets(t *testing.T) {
	for query, want := range map[string]string{
		"?sim_status=403": "blocked", "?sim_status=429": "429 Too Many Requests", "?sim_status=503": "unavailable", "?sim_status=404": "not found",
		"?sim_status=500": "error", "?sim_fault=reset": "navigation failed", "?sim_fault=cut": "navigation failed", "?sim_status=301": "redirects",
	} {
		spidraWorld(t, SpidraSettings{}, func(t *testing.T, a spd) {
			path := a.scrape("http://a.test/" + query)
			time.Sleep(10 * time.Second)
			s := a.get(path)
			if text, _ := s["error"].(string); s["status"] != "failed" || !strings.Contains(text, want) || s["result"] != nil {
				t.Errorf("%s: %v", query, s)
			}
			if c := a.counters(); c.Charges != 0 {
				t.Errorf("%s: counters %+v", query, c)
			}
		})
	}
	spidraWorld(t, SpidraSettings{}, func(t *testing.T, a spd) {
		slow, elsewhere := a.scrape("http://a.test/?sim_delay=3m"), a.scrape("https://anywhere.com/")
		time.Sleep(3 * time.Minute)
		if a.get(slow)["status"] != "active" || a.get(elsewhere)["status"] != "completed" {
			t.Error("a slow page, and any other target")
		}
		time.Sleep(10 * time.Second)
		if a.get(slow)["status"] != "completed" {
			t.Error("a slow page")
		}
		page := a.scrape("http://a.test/?sim_fault=page")
		time.Sleep(11 * time.Second)
		s := a.get(page)
		if d := s["result"].(map[string]any)["data"].([]any)[0].(map[string]any); s["status"] != "completed" || d["success"] != false || d["markdownContent"] != nil {
			t.Errorf("a page that did not succeed: %v", s)
		}
		if body := a.call("GET", page, "").body; strings.Contains(body, "status_code") {
			t.Errorf("a target's status: %s", body)
		}
	})
}

func TestSpidraFollowsRedirects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := New(Options{Sites: []Site{{Host: "a.test", Policy: Policy{Latency: Latency{Median: time.Second}, Moods: Moods{Redirect: 1}}}}})
		a := spd{t, w, w.RoundTripper(), "http://" + SpidraHost + "/api", SpidraDemoKey}
		path := a.scrape("http://a.test/p/x")
		time.Sleep(10 * time.Second)
		if s := a.get(path); s["status"] != "completed" {
			t.Errorf("%v", s)
		}
		if c := w.site("a.test"); c.Redirected != 1 || c.Accepted != 1 || c.PeakInFlight != 1 {
			t.Errorf("counters %+v", c)
		}
	})
}

// TestSpidraExtraction is spidra 14: an extraction that failed.
func TestSpidraExtraction(t *testing.T) {
	spidraWorld(t, SpidraSettings{}, func(t *testing.T, a spd) {
		ask := func(url string) (g got, path string) {
			g = a.call("POST", "/scrape", fmt.Sprintf(`{"urls":[{"url":%q}],"schema":{"type":"object","pattern":"x","properties":{"t":{"type":"string"}}}}`, url))
			return g, "/scrape/" + g.json(t)["jobId"].(string)
		}
		g, good := ask("http://a.test/1")
		if w := g.json(t)["schema_warnings"].([]any); len(w) != 1 || w[0] != "pattern is ignored" {
			t.Errorf("warnings: %v", w)
		}
		_, bad := ask("http://a.test/2?sim_fault=ai")
		time.Sleep(10 * time.Second)
		r := a.get(good)["result"].(map[string]any)
		if c := r["content"].(map[string]any); c["title"] == "" || r["ai_extraction_failed"] != false || r["stats"].(map[string]any)["totalTokens"] == 0.0 {
			t.Errorf("extracted: %v", r)
		}
		r = a.get(bad)["result"].(map[string]any)
		if !strings.HasPrefix(r["content"].(string), "# ") || r["ai_extraction_failed"] != true {
			t.Errorf("degraded: %v", r)
		}
		if c := a.counters(); c.Charges != 4 {
			t.Errorf("charges %v", c.Charges)
		}
		if u := a.get("/usage-stats?range=2d")["data"].([]any); len(u) != 2 || u[1].(map[string]any)["credits"] != 4.0 || u[1].(map[string]any)["requests"] != 2.0 {
			t.Errorf("usage: %v", u)
		}
		if g := a.call("GET", "/usage-stats?range=0d", ""); g.status != 422 {
			t.Errorf("usage of no day: %d", g.status)
		}
		three := a.job("/scrape", `{"urls":[{"url":"http://a.test/5"},{"url":"http://a.test/6?sim_status=403"}]}`)
		time.Sleep(11 * time.Second)
		if s := a.get(three); s["status"] != "completed" || len(s["result"].(map[string]any)["data"].([]any)) != 2 {
			t.Errorf("several pages in one answer: %v", s)
		}
	})
}

func TestSpidraBatchList(t *testing.T) {
	spidraWorld(t, SpidraSettings{}, func(t *testing.T, a spd) {
		for i := range 3 {
			a.batch(fmt.Sprint("http://a.test/", i))
		}
		list := a.get("/batch/scrape?page=2&limit=2")
		if b := list["batches"].([]any); list["total"] != 3.0 || len(b) != 1 || b[0].(map[string]any)["status"] != "running" || b[0].(map[string]any)["batchId"] == "" {
			t.Errorf("%v", list)
		}
		if list := a.get("/batch-scrape?page=9&limit=1000"); list["limit"] != 50.0 || len(list["batches"].([]any)) != 0 {
			t.Errorf("%v", list)
		}
		time.Sleep(2 * time.Hour)
		if list := a.get("/batch/scrape"); list["total"] != 0.0 {
			t.Errorf("after their time: %v", list)
		}
	})
}

func TestSpidraForgetsWhatHasExpired(t *testing.T) {
	spidraWorld(t, SpidraSettings{DedupeFor: time.Second, Calls: 1000}, func(t *testing.T, a spd) {
		for i := range sweepEvery + 5 {
			a.batch(fmt.Sprint("http://a.test/", i))
			time.Sleep(20 * time.Second)
		}
		if u := a.w.spidra.users[0]; len(u.jobs) > 190 || len(u.jobs) < 180 || len(u.batches) != len(u.jobs) || len(u.recent) > 6 { // of an hour
			t.Errorf("%d jobs, %d batches, %d submits", len(u.jobs), len(u.batches), len(u.recent))
		}
	})
}
