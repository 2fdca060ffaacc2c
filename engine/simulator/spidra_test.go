package simulator

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// spd is a client of the simulated Spidra API with one key.
type spd struct {
	t    *testing.T
	w    *World
	rt   http.RoundTripper
	base string
	key  string
}

func (a spd) call(method, path, body string, header ...string) got {
	return fetch(a.t.Context(), a.rt, method, a.base+path, body, append([]string{"x-api-key", a.key}, header...)...)
}

// job submits and returns the path to poll.
func (a spd) job(path, body string) string {
	a.t.Helper()
	g := a.call("POST", path, body)
	if g.status != 202 {
		a.t.Fatalf("POST %s: status %d, body %s, error %v", path, g.status, g.body, g.err)
	}
	if id, ok := g.json(a.t)["batchId"].(string); ok {
		return path + "/" + id
	}
	return path + "/" + g.json(a.t)["jobId"].(string)
}

func (a spd) get(path string) map[string]any {
	a.t.Helper()
	g := a.call("GET", path, "")
	if g.status != 200 {
		a.t.Fatalf("GET %s: status %d, body %s, error %v", path, g.status, g.body, g.err)
	}
	return g.json(a.t)
}

func (a spd) scrape(url string) string { return a.job("/scrape", scrapeOf(url)) }

func (a spd) batch(urls ...string) string { return a.job("/batch/scrape", batchOf(urls...)) }

func scrapeOf(url string) string { return fmt.Sprintf(`{"urls":[{"url":%q}]}`, url) }

func batchOf(urls ...string) string { return `{"urls":["` + strings.Join(urls, `","`) + `"]}` }

func numbered(n int, query string) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("http://a.test/%d%s", i, query)
	}
	return out
}

func (a spd) counters() SpidraAccountCounters { return a.w.Counters().Spidra.Accounts["one"] }

// spidraWorld runs a test against a world with two accounts and a site that takes a second; a scrape takes ten.
func spidraWorld(t *testing.T, s SpidraSettings, test func(t *testing.T, a spd)) {
	t.Helper()
	if s.Accounts == nil {
		s.Accounts = []SpidraAccount{{Name: "one", Key: "spd_1", MoreKeys: []string{"spd_1b"}, DisabledKeys: []string{"spd_off"}, Workers: 2},
			{Name: "two", Key: "spd_2"}}
	}
	if s.Overhead == 0 {
		s.Overhead = 9 * time.Second
	}
	synctest.Test(t, func(t *testing.T) {
		w := New(Options{Spidra: s, Sites: []Site{{Host: "a.test", Policy: Policy{Latency: Latency{Median: time.Second}}}}})
		test(t, spd{t, w, w.RoundTripper(), "http://" + SpidraHost + "/api", "spd_1"})
	})
}

func TestSpidraKeys(t *testing.T) {
	for _, bearer := range []bool{false, true} {
		spidraWorld(t, SpidraSettings{Bearer: bearer}, func(t *testing.T, a spd) {
			for name, c := range map[string]struct {
				header []string
				status int
				text   string
			}{
				"none":       {nil, 401, "Missing API key"},
				"unknown":    {[]string{"x-api-key", "spd_x"}, 403, "Invalid token or API key"},
				"disabled":   {[]string{"x-api-key", "spd_off"}, 403, "This API key is disabled"},
				"good":       {[]string{"x-api-key", "spd_1"}, 200, ""},
				"second key": {[]string{"x-api-key", "spd_1b"}, 200, ""},
				"bearer":     {[]string{"Authorization", "Bearer spd_1"}, map[bool]int{true: 200, false: 401}[bearer], ""},
			} {
				g := fetch(t.Context(), a.rt, "GET", a.base+"/batch/scrape", "", c.header...)
				if g.status != c.status || c.text != "" && (g.json(t)["message"] != c.text || g.json(t)["status"] != "error") {
					t.Errorf("%s: status %d, body %s", name, g.status, g.body)
				}
			}
			fetch(t.Context(), a.rt, "GET", a.base+"/batch/scrape?cursor=spd_1", "")
			fetch(t.Context(), a.rt, "GET", a.base+"/batch/scrape?api_key=unknown", "")
			want := int64(5)
			if !bearer {
				want++
			}
			if c := a.w.Counters().Spidra; c.Unauthorized != want || c.KeysInQuery != 2 || c.IPs[MemoryIP].Calls != 8 {
				t.Errorf("counters %+v", c)
			}
		})
	}
}

func TestSpidraRateIsPerIPAndCountsEverything(t *testing.T) {
	for _, delta := range []bool{false, true} {
		spidraWorld(t, SpidraSettings{Calls: 20, ResetDelta: delta}, func(t *testing.T, a spd) {
			time.Sleep(300 * time.Millisecond)
			begin := time.Now()
			end := func(g got) time.Time {
				n := number(g.header.Get("RateLimit-Reset"))
				if delta {
					return time.Now().Add(time.Duration(n) * time.Second)
				}
				return time.Unix(int64(n), 0)
			}
			path := a.scrape("http://a.test/1")
			calls := []func() got{
				func() got { return a.call("GET", path, "") },
				func() got { return a.call("POST", "/scrape", "{") },
				func() got { return a.call("GET", "/nowhere", "") },
				func() got { return a.call("GET", "/scrape/unknown", "", "x-api-key", "spd_2") },
				func() got { return a.call("GET", path, "", "x-api-key", "") },
			}
			for n := 1; n < 20; n++ {
				g := calls[n%len(calls)]()
				if g.status == 429 || g.header.Get("RateLimit-Limit") != "20" || g.header.Get("RateLimit-Remaining") != strconv.Itoa(20-n-1) {
					t.Fatalf("call %d: status %d, headers %v", n+1, g.status, g.header)
				}
				if d := end(g).Sub(begin); d < 900*time.Second || d > 902*time.Second {
					t.Fatalf("the window ends after %v", d)
				}
			}
			for range 2 {
				g := a.call("GET", path, "", "x-api-key", "spd_2")
				if g.status != 429 || g.json(t)["code"] != nil || g.header.Get("RateLimit-Remaining") != "0" || g.header.Get("Retry-After") != "" {
					t.Fatalf("past the limit: status %d, body %s, headers %v", g.status, g.body, g.header)
				}
				time.Sleep(200 * time.Millisecond)
			}
			if g := a.call("GET", path, "", "X-Forwarded-For", "203.0.113.9"); g.status != 200 {
				t.Errorf("another address: %d", g.status)
			}
			last := a.call("GET", path, "")
			time.Sleep(time.Until(end(last)))
			if g := a.call("GET", path, ""); g.status != 200 || g.header.Get("RateLimit-Remaining") != "19" {
				t.Errorf("after the reset: %d, %v", g.status, g.header)
			}
			c := a.w.Counters().Spidra.IPs
			if m := c[MemoryIP]; m.Calls != 24 || m.Refused != 3 || m.SentDuringWait != 2 {
				t.Errorf("counters %+v", m)
			}
			if c["203.0.113.9"].Calls != 1 {
				t.Errorf("counters %+v", c)
			}
		})
	}
}

func TestSpidraSlidingWindow(t *testing.T) {
	for _, free := range []bool{false, true} {
		spidraWorld(t, SpidraSettings{Calls: 2, Sliding: true, RefusalsFree: free, RetryAfter: true, QuietHeaders: true, DraftHeaders: true}, func(t *testing.T, a spd) {
			status := func() int { return a.call("GET", "/nowhere", "").status }
			if g := a.call("GET", "/nowhere", ""); g.status != 404 || g.header.Get("RateLimit-Limit") != "" {
				t.Errorf("status %d, headers %v", g.status, g.header)
			}
			time.Sleep(600 * time.Second)
			if s := status(); s != 404 {
				t.Errorf("second: %d", s)
			}
			g, wait := a.call("GET", "/nowhere", ""), map[bool]string{true: "300", false: "900"}[free]
			if g.status != 429 || g.header.Get("Retry-After") != wait || g.header.Get("RateLimit") != `"default";r=0;t=`+wait ||
				g.header.Get("RateLimit-Policy") != `"default";q=2;w=900` {
				t.Errorf("third: %d %v", g.status, g.header)
			}
			time.Sleep(300 * time.Second)
			if s := status(); (s == 404) != free {
				t.Errorf("once the first has left the window: %d", s)
			}
		})
	}
}

func TestSpidraPendingJobs(t *testing.T) {
	crawl := func(i int) (string, string) {
		return "/crawl", fmt.Sprintf(`{"baseUrl":"http://a.test/%d","crawlInstruction":"all","maxPages":1}`, i)
	}
	scrape := func(i int) (string, string) { return "/scrape", scrapeOf(fmt.Sprint("http://a.test/", i)) }
	batch := func(i int) (string, string) { return "/batch-scrape", batchOf(fmt.Sprint("http://a.test/", i)) }
	for kind, c := range map[string]struct {
		submit func(i int) (string, string)
		limit  int
	}{"scrape": {scrape, 10}, "batch": {batch, 50}, "crawl": {crawl, 5}} {
		t.Run(kind, func(t *testing.T) {
			spidraWorld(t, SpidraSettings{}, func(t *testing.T, a spd) {
				for i := range c.limit + 2 { // two run at once
					path, body := c.submit(i)
					if g := a.call("POST", path, body); g.status != 202 {
						t.Fatalf("submit %d: %d %s", i+1, g.status, g.body)
					}
				}
				path, body := c.submit(99)
				g := a.call("POST", path, body)
				if g.status != 429 || g.json(t)["code"] != "TOO_MANY_PENDING_JOBS" || g.header.Get("Retry-After") != "" {
					t.Fatalf("past the limit: %d %s", g.status, g.body)
				}
				if g := a.call("POST", path, body, "x-api-key", "spd_1b"); g.status != 429 {
					t.Errorf("another key of the account: %d", g.status)
				}
				if g := a.call("POST", path, body, "x-api-key", "spd_2"); g.status != 202 {
					t.Errorf("another account: %d", g.status)
				}
				time.Sleep(10 * time.Second)
				if g := a.call("POST", path, body); g.status != 202 {
					t.Errorf("once a job started: %d %s", g.status, g.body)
				}
				n := a.counters()
				if *n.PeakWaiting.of(kind) != c.limit || n.RefusedPending != 2 || n.Jobs != int64(c.limit+3) || n.Submits != n.Jobs+2 {
					t.Errorf("counters %+v", n)
				}
			})
		})
	}
}

func TestSpidraPendingSwitches(t *testing.T) {
	spidraWorld(t, SpidraSettings{PendingURLs: true, PendingHint: 30 * time.Second}, func(t *testing.T, a spd) {
		a.batch(numbered(30, "")...)
		a.batch(numbered(22, "?b")...) // 50 wait and two run
		g := a.call("POST", "/batch/scrape", batchOf("http://a.test/x"))
		if g.status != 429 || g.header.Get("Retry-After") != "30" {
			t.Errorf("51 waiting URLs: %d %s", g.status, g.body)
		}
		time.Sleep(15 * time.Second)
		a.batch("http://a.test/x")
		if c := a.counters(); c.PeakWaitingURLs != 50 || c.SentDuringWait != 1 {
			t.Errorf("counters %+v", c)
		}
	})
	spidraWorld(t, SpidraSettings{PendingActive: true}, func(t *testing.T, a spd) {
		for _, u := range numbered(10, "") {
			a.scrape(u)
		}
		if g := a.call("POST", "/scrape", scrapeOf("http://a.test/x")); g.status != 429 {
			t.Errorf("with ten jobs, two of them active: %d", g.status)
		}
		time.Sleep(12 * time.Second)
		a.scrape("http://a.test/x")
	})
}

func TestSpidraBusy(t *testing.T) {
	spidraWorld(t, SpidraSettings{}, func(t *testing.T, a spd) {
		path := a.scrape("http://a.test/1")
		failing := a.batch("http://a.test/?sim_status=500")
		a.w.SetSpidraBusy(true)
		for range 2 {
			g := a.call("POST", "/scrape", scrapeOf("http://a.test/2"))
			if g.status != 503 || g.json(t)["code"] != "SERVICE_BUSY" || g.json(t)["retry_after"] != 60.0 {
				t.Errorf("status %d, body %s", g.status, g.body)
			}
			time.Sleep(12 * time.Second)
		}
		if a.get(path)["status"] != "completed" {
			t.Error("a poll while busy")
		}
		if g := a.call("POST", failing+"/retry", ""); g.status != 503 {
			t.Errorf("a retry while busy: %d", g.status)
		}
		time.Sleep(time.Minute)
		a.w.SetSpidraBusy(false)
		a.scrape("http://a.test/2")
		if c := a.counters(); c.Busy != 3 || c.SentDuringWait != 2 || c.Jobs != 3 {
			t.Errorf("counters %+v", c)
		}
	})
	spidraWorld(t, SpidraSettings{Busy: true, BusySilent: true}, func(t *testing.T, a spd) {
		if g := a.call("POST", "/crawl", `{"baseUrl":"http://a.test/","crawlInstruction":"x"}`); g.status != 503 || g.json(t)["retry_after"] != nil {
			t.Errorf("status %d, body %s", g.status, g.body)
		}
	})
}

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

func TestSpidraValidation(t *testing.T) {
	bad := map[string][2]string{
		"no urls": {"/scrape", `{}`}, "empty": {"/scrape", `{"urls":[]}`}, "strings": {"/scrape", `{"urls":["http://a.test/"]}`},
		"four":           {"/scrape", `{"urls":[{"url":"http://a.test/1"},{"url":"http://a.test/2"},{"url":"http://a.test/3"},{"url":"http://a.test/4"}]}`},
		"ftp":            {"/scrape", scrapeOf("ftp://a.test/")},
		"private":        {"/scrape", scrapeOf("http://10.1.2.3/")},
		"loopback":       {"/scrape", scrapeOf("http://[::1]:8080/")},
		"localhost":      {"/scrape", scrapeOf("http://localhost/")},
		"prompt":         {"/scrape", `{"urls":[{"url":"http://a.test/"}],"prompt":5}`},
		"output":         {"/scrape", `{"urls":[{"url":"http://a.test/"}],"output":"xml"}`},
		"schema":         {"/scrape", `{"urls":[{"url":"http://a.test/"}],"schema":{"type":"thing"}}`},
		"inner schema":   {"/scrape", `{"urls":[{"url":"http://a.test/"}],"schema":{"type":"object","properties":{"a":{"type":1}}}}`},
		"batch of none":  {"/batch/scrape", `{"urls":[]}`},
		"batch of 51":    {"/batch/scrape", batchOf(numbered(51, "")...)},
		"batch objects":  {"/batch/scrape", `{"urls":[{"url":"http://a.test/"}]}`},
		"crawl base":     {"/crawl", `{"crawlInstruction":"x"}`},
		"crawl policy":   {"/crawl", `{"baseUrl":"http://a.test/"}`},
		"crawl pages":    {"/crawl", `{"baseUrl":"http://a.test/","crawlInstruction":"x","maxPages":51}`},
		"crawl depth":    {"/crawl", `{"baseUrl":"http://a.test/","crawlInstruction":"x","maxDepth":"deep"}`},
		"crawl includes": {"/crawl", `{"baseUrl":"http://a.test/","crawlInstruction":"x","includePaths":"/p"}`},
	}
	for _, list := range []bool{false, true} {
		spidraWorld(t, SpidraSettings{ErrorsList: list}, func(t *testing.T, a spd) {
			for name, c := range bad {
				g := a.call("POST", c[0], c[1])
				texts, isList := g.json(t)["errors"].([]any)
				text, hasText := g.json(t)["message"].(string)
				if g.status != 422 || isList != list || hasText == list || list && texts[0] == "" || !list && text == "" {
					t.Errorf("%s: status %d, body %s", name, g.status, g.body)
				}
			}
			for _, body := range []string{`{"urls":`, `[]`, ``, `null`} {
				if g := a.call("POST", "/scrape", body); g.status != 400 {
					t.Errorf("body %q: %d", body, g.status)
				}
			}
			if c := a.counters(); c.Rejected != int64(len(bad)+4) || c.Jobs != 0 || c.Charges != 0 {
				t.Errorf("counters %+v", c)
			}
		})
	}
}

func TestSpidraBilling(t *testing.T) {
	spidraWorld(t, SpidraSettings{Accounts: []SpidraAccount{{Name: "one", Key: "spd_1", Credits: 2}}}, func(t *testing.T, a spd) {
		path := a.batch("http://a.test/1", "http://a.test/2?sim_status=500")
		g := a.call("POST", "/scrape", scrapeOf("http://a.test/3"))
		if g.status != 403 || g.json(t)["code"] != nil || !strings.Contains(g.json(t)["message"].(string), "credits") {
			t.Errorf("credits that are reserved: %d %s", g.status, g.body)
		}
		time.Sleep(10 * time.Second)
		a.get(path)
		a.scrape("http://a.test/3") // the failed one was free
		if g := a.call("POST", "/scrape", scrapeOf("http://a.test/4")); g.status != 403 {
			t.Errorf("credits used up: %d", g.status)
		}
		a.w.ChangeSpidra("spd_1", func(a *SpidraAccount) { a.Overdue = true; a.Credits += 10 })
		if g := a.call("POST", "/scrape", scrapeOf("http://a.test/4")); g.status != 402 || g.json(t)["code"] != "PAYMENT_OVERDUE" {
			t.Errorf("overdue: %d %s", g.status, g.body)
		}
		a.w.ChangeSpidra("spd_1", func(a *SpidraAccount) { a.Overdue = false })
		a.scrape("http://a.test/4")
		if c := a.counters(); c.NoCredits != 2 || c.Unpaid != 1 || c.Charges != 1 {
			t.Errorf("counters %+v", c)
		}
	})
}

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

func TestSpidraFaults(t *testing.T) {
	for fault, c := range map[string]struct {
		status int
		jobs   int64
	}{
		"500": {500, 0}, "502": {502, 0}, "503": {503, 0}, "504": {504, 1}, "html": {502, 0}, "reset-before": {0, 0}, "reset-after": {0, 1},
		"truncated": {202, 1}, "empty": {202, 1}, "slow": {202, 1},
	} {
		t.Run(fault, func(t *testing.T) {
			spidraWorld(t, SpidraSettings{}, func(t *testing.T, a spd) {
				begin := time.Now()
				url := "http://a.test/?sim_times=1&sim_outer=" + fault
				g := a.call("POST", "/scrape", scrapeOf(url))
				if g.status != c.status || c.status == 0 && !errors.Is(g.err, syscall.ECONNRESET) {
					t.Errorf("status %d, error %v", g.status, g.err)
				}
				if fault == "html" != strings.Contains(g.body, "<html>") || fault == "empty" && g.body != "" {
					t.Errorf("body %q", g.body)
				}
				if fault == "truncated" && strings.HasSuffix(g.body, "}") || (fault == "slow") != (time.Since(begin) > 5*time.Second) {
					t.Errorf("after %v: %q", time.Since(begin), g.body)
				}
				if c.status != 0 && g.header.Get("RateLimit-Remaining") != "299" {
					t.Errorf("headers %v", g.header)
				}
				a.scrape(url)
				if n := a.counters(); n.Jobs != c.jobs+1 || n.DuplicateScrapes != c.jobs {
					t.Errorf("counters %+v", n)
				}
				time.Sleep(20 * time.Second)
				if n := a.counters(); n.Charges != float64(c.jobs+1) || n.DuplicateCharges != c.jobs {
					t.Errorf("counters %+v", n)
				}
			})
		})
	}
}

func TestSpidraPollFaults(t *testing.T) {
	for name, c := range map[string]struct {
		faults PlatformFaults
		status int
	}{
		"500": {PlatformFaults{ServerError: 1}, 500}, "502": {PlatformFaults{BadGateway: 1}, 502}, "504": {PlatformFaults{LateGateway: 1}, 504},
		"html": {PlatformFaults{HTML: 1}, 502}, "reset": {PlatformFaults{ResetAfter: 1}, 0}, "truncated": {PlatformFaults{Truncated: 1}, 200},
	} {
		spidraWorld(t, SpidraSettings{PollFaults: c.faults}, func(t *testing.T, a spd) {
			path := a.scrape("http://a.test/")
			time.Sleep(10 * time.Second)
			if g := a.call("GET", path, ""); g.status != c.status || strings.HasSuffix(g.body, "}") && c.status == 200 {
				t.Errorf("%s: status %d, body %q", name, g.status, g.body)
			}
			a.w.SetSpidraFaults(PlatformFaults{}, PlatformFaults{})
			if s := a.get(path); s["status"] != "completed" {
				t.Errorf("%s: then %v", name, s)
			}
		})
	}
}

func TestSpidraDedupe(t *testing.T) {
	spidraWorld(t, SpidraSettings{DedupeFor: 30 * time.Second}, func(t *testing.T, a spd) {
		first := a.scrape("http://a.test/")
		if again := a.scrape("http://a.test/"); again != first {
			t.Errorf("%s and %s", first, again)
		}
		time.Sleep(30 * time.Second)
		if later := a.scrape("http://a.test/"); later == first {
			t.Error("after the window it is the same job still")
		}
		if c := a.counters(); c.Deduped != 1 || c.Jobs != 2 || c.DuplicateScrapes != 1 {
			t.Errorf("counters %+v", c)
		}
	})
}

func TestSpidraCrawl(t *testing.T) {
	spidraWorld(t, SpidraSettings{}, func(t *testing.T, a spd) {
		path := a.job("/crawl", `{"baseUrl":"http://a.test/start","crawlInstruction":"all","maxPages":4,"excludePaths":["/private/*"]}`)
		time.Sleep(10500 * time.Millisecond)
		if s := a.get(path); s["status"] != "running" || s["progress"].(map[string]any)["pagesCrawled"] != 1.0 || s["progress"].(map[string]any)["maxPages"] != 4.0 || s["result"] != nil {
			t.Errorf("running: %v", s)
		}
		if s := a.get(path + "/pages")["pages"].([]any); len(s) != 4 || s[0].(map[string]any)["status"] != "success" || s[3].(map[string]any)["status"] != "pending" {
			t.Errorf("pages: %v", s)
		}
		time.Sleep(10 * time.Second)
		s := a.get(path)
		pages := s["result"].([]any)
		first := pages[0].(map[string]any)
		if s["status"] != "completed" || len(pages) != 4 || first["url"] != "http://a.test/start" || first["status"] != "success" || !strings.HasPrefix(first["data"].(string), "# ") {
			t.Errorf("done: %v", s)
		}
		link := a.get(path + "/pages")["pages"].([]any)[0].(map[string]any)
		for _, name := range []string{"html_url", "markdown_url"} {
			if g := fetch(t.Context(), a.rt, "GET", link[name].(string), ""); g.status != 200 || !strings.Contains(g.body, "in stock") {
				t.Errorf("%v: %d %q", link[name], g.status, g.body)
			}
			if g := fetch(t.Context(), a.rt, "GET", link[name].(string)+"0", ""); g.status != 403 {
				t.Errorf("a forged link: %d", g.status)
			}
		}
		cancelled := a.job("/crawl", `{"baseUrl":"http://a.test/other","crawlInstruction":"all","maxPages":9}`)
		time.Sleep(11500 * time.Millisecond)
		if g := a.call("DELETE", cancelled, ""); g.status != 200 {
			t.Errorf("cancel: %d %s", g.status, g.body)
		}
		if g := a.call("DELETE", cancelled, ""); g.status != 409 {
			t.Errorf("cancel again: %d %s", g.status, g.body)
		}
		time.Sleep(20 * time.Second)
		if s := a.get(cancelled); s["status"] != "cancelled" || len(s["result"].([]any)) != 2 {
			t.Errorf("the finished pages are kept: %v", s)
		}
		failing := a.job("/crawl", `{"baseUrl":"http://a.test/?sim_status=403","crawlInstruction":"all"}`)
		time.Sleep(11 * time.Second)
		if s := a.get(failing); s["status"] != "failed" || s["error"] != "target blocked the visit" {
			t.Errorf("failed: %v", s)
		}
		if c := a.counters(); c.Charges != 6 {
			t.Errorf("charges %v", c.Charges)
		}
		if u := a.w.spidra.users[0]; u.reserved != 0 || u.open != (SpidraKinds{}) || u.waiting != (SpidraKinds{}) || u.working != (SpidraKinds{}) {
			t.Errorf("left over: reserved %v, %+v %+v %+v", u.reserved, u.open, u.waiting, u.working)
		}
		if h := a.get("/crawl/history")["jobs"].([]any); len(h) != 3 || h[2].(map[string]any)["pages_crawled"] != 4.0 {
			t.Errorf("history: %v", h)
		}
		if j := a.get(strings.Replace(path, "/crawl/", "/crawl/job/", 1)); j["status"] != "completed" || j["credits_used"] != 4.0 {
			t.Errorf("job: %v", j)
		}
		if s := a.get("/crawl/stats"); s["total_jobs"] != 3.0 || s["completed_jobs"] != 1.0 || s["failed_jobs"] != 1.0 {
			t.Errorf("stats: %v", s)
		}
		time.Sleep(time.Hour)
		if g := fetch(t.Context(), a.rt, "GET", link["html_url"].(string), ""); g.status != 403 {
			t.Errorf("a link after an hour: %d", g.status)
		}
		if g := a.call("GET", path+"/pages", ""); g.status != 404 {
			t.Errorf("pages after an hour: %d", g.status)
		}
	})
	spidraWorld(t, SpidraSettings{ShortLinks: true}, func(t *testing.T, a spd) {
		path := a.job("/crawl", `{"baseUrl":"http://a.test/start","crawlInstruction":"all","maxDepth":1,"maxPages":50,"includePaths":["/start"],"transformInstruction":"title"}`)
		time.Sleep(11 * time.Second)
		s := a.get(path)["result"].([]any)
		if len(s) != 1 || s[0].(map[string]any)["data"].(map[string]any)["title"] == "" {
			t.Errorf("only what is included: %v", s)
		}
		if l := a.get(path + "/pages")["pages"].([]any)[0].(map[string]any); l["html"] == nil || l["markdown"] == nil || l["html_url"] != nil {
			t.Errorf("links: %v", l)
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

func TestSpidraSpeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := New(Options{Speed: 10, Spidra: SpidraSettings{Calls: 3, ResetDelta: true}, Sites: []Site{{Host: "a.test", Policy: Policy{Latency: Latency{Median: 2 * time.Second}}}}})
		a := spd{t, w, w.RoundTripper(), "http://" + SpidraHost + "/api", SpidraDemoKey}
		path := a.scrape("http://a.test/")
		time.Sleep(time.Second)
		if a.get(path)["status"] != "completed" {
			t.Error("10 s at speed 10 took more than one")
		}
		a.get(path)
		if g := a.call("GET", path, ""); g.status != 429 || g.header.Get("RateLimit-Reset") != "89" {
			t.Errorf("status %d, reset %s", g.status, g.header.Get("RateLimit-Reset"))
		}
	})
}
