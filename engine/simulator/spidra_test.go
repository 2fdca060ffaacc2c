package simulator

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
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

// TestSpidraKeys is spidra 1, spidra 12: no key, one that is unknown or disabled, and bearer.
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

// TestSpidraRateIsPerIPAndCountsEverything is spidra 2, spidra 3, spidra 17: the window of an address counts every call and is told on every answer.
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

// TestSpidraSlidingWindow is spidra 3: the headers of other editions, and a window that slides.
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

// TestSpidraPendingJobs is spidra 4, spidra 8, spidra 17: jobs that wait behind the workers, by account and kind; a started one makes room.
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

// TestSpidraBusy is spidra 5: no capacity for submits; polls go on.
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

// TestSpidraValidation is spidra 11: what is refused, in both shapes of an error.
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
		"proxy as text":  {"/batch/scrape", `{"urls":["http://a.test/"],"useProxy":"true"}`},
		"country":        {"/scrape", `{"urls":[{"url":"http://a.test/"}],"proxyCountry":"europe"}`},
		"mode":           {"/scrape", `{"urls":[{"url":"http://a.test/"}],"scrapeMode":"slow"}`},
		"screenshot":     {"/scrape", `{"urls":[{"url":"http://a.test/"}],"screenshot":1}`},
		"schema as text": {"/scrape", `{"urls":[{"url":"http://a.test/"}],"schema":"{}"}`},
		"webhook":        {"/crawl", `{"baseUrl":"http://a.test/","crawlInstruction":"x","webhookUrl":5}`},
		"policy":         {"/crawl", `{"baseUrl":"http://a.test/","crawlInstruction":5}`},
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

// TestSpidraBilling is spidra 12: unpaid, and out of credits.
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
