package simulator

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// omn is a client of the simulated OmniScrape API with one key.
type omn struct {
	t    *testing.T
	w    *World
	rt   http.RoundTripper
	base string
	key  string
}

func (a omn) call(ctx context.Context, method, path, body string) got {
	return fetch(ctx, a.rt, method, a.base+path, body, "X-API-Key", a.key)
}

func omniBody(url string) string {
	return fmt.Sprintf(`{"url":%q,"mode":"auto","output_format":"html"}`, url)
}

func (a omn) scrape(url string) got {
	return a.call(a.t.Context(), "POST", "/v1/scrape", omniBody(url))
}

func (a omn) submit(url string) got {
	return a.call(a.t.Context(), "POST", "/v1/scrape/async", omniBody(url))
}

// async submits and returns the path to poll.
func (a omn) async(url string) string {
	a.t.Helper()
	g := a.submit(url)
	if g.status != 202 {
		a.t.Fatalf("async: status %d, body %s, error %v", g.status, g.body, g.err)
	}
	return g.json(a.t)["poll"].(string)
}

// poll returns what is below data.
func (a omn) poll(path string) map[string]any {
	a.t.Helper()
	g := a.call(a.t.Context(), "GET", path, "")
	if g.status != 200 || g.json(a.t)["success"] != true {
		a.t.Fatalf("poll: status %d, body %s, error %v", g.status, g.body, g.err)
	}
	return g.json(a.t)["data"].(map[string]any)
}

func (a omn) counters() OmniScrapeAccountCounters { return a.w.Counters().OmniScrape.Accounts["one"] }

// omniWorld runs a test against a world with two accounts and a site that takes a second; a scrape takes two.
func omniWorld(t *testing.T, s OmniScrapeSettings, test func(t *testing.T, a omn)) {
	t.Helper()
	if s.Accounts == nil {
		s.Accounts = []OmniScrapeAccount{{Name: "one", Key: "k1", MoreKeys: []string{"k1b"}, Concurrency: 2}, {Name: "two", Key: "k2", Trial: true}}
	}
	if s.Overhead == 0 {
		s.Overhead = time.Second
	}
	synctest.Test(t, func(t *testing.T) {
		w := New(Options{OmniScrape: s, Sites: []Site{{Host: "a.test", Policy: Policy{Latency: Latency{Median: time.Second}}},
			{Host: "challenge.test", Policy: Policy{Latency: Latency{Median: time.Second}, Moods: Moods{Challenge: 1}}}}})
		test(t, omn{t, w, w.RoundTripper(), "http://" + OmniScrapeHost, "k1"})
	})
}

// with fills the slots with scrapes that last until it is done.
func (a omn) with(n int, do func()) {
	ctx, cancel := context.WithCancel(a.t.Context())
	defer synctest.Wait()
	defer cancel()
	for i := range n {
		go a.call(ctx, "POST", "/v1/scrape", omniBody(fmt.Sprintf("http://a.test/held%d?sim_delay=90s", i)))
	}
	synctest.Wait()
	do()
}

// TestOmniScrapeKeysAndRequests is omniscrape 1, omniscrape 2: keys and requests that are refused.
func TestOmniScrapeKeysAndRequests(t *testing.T) {
	omniWorld(t, OmniScrapeSettings{}, func(t *testing.T, a omn) {
		for name, key := range map[string]string{"missing": "", "unknown": "k9"} {
			g := omn{a.t, a.w, a.rt, a.base, key}.scrape("http://a.test/")
			if g.status != 401 || g.json(t)["success"] != false || g.json(t)["error"] == "" {
				t.Errorf("%s key: %d %s", name, g.status, g.body)
			}
		}
		for _, body := range []string{`{`, `{}`, `[]`, `{"url":5}`, `{"url":"/p"}`, `{"url":"ftp://a.test/"}`, ``} {
			for _, path := range []string{"/v1/scrape", "/v1/scrape/async"} {
				if g := a.call(t.Context(), "POST", path, body); g.status != 400 || g.json(t)["success"] != false {
					t.Errorf("%s %q: %d %s", path, body, g.status, g.body)
				}
			}
		}
		if g := a.call(t.Context(), "POST", "/v1/scrape", `{"url":"http://a.test/","country":"de","js_rendering":7}`); g.status != 200 {
			t.Errorf("unknown fields: %d %s", g.status, g.body)
		}
		if g := a.call(t.Context(), "GET", "/v1/scrape", ""); g.status != 405 {
			t.Errorf("GET: %d", g.status)
		}
		if g := a.call(t.Context(), "GET", "/v2/scrape?key=k1", ""); g.status != 404 {
			t.Errorf("unknown path: %d", g.status)
		}
		if c := a.w.Counters().OmniScrape; c.Unauthorized != 2 || c.KeysInQuery != 1 || c.Accounts["one"].Rejected != 14 || c.Accounts["one"].Charged != 1 {
			t.Errorf("counters %+v", c)
		}
	})
}

// TestOmniScrapeEnvelope is omniscrape 6: the envelope; the target's status stands inside, the platform's stays 200.
func TestOmniScrapeEnvelope(t *testing.T) {
	omniWorld(t, OmniScrapeSettings{}, func(t *testing.T, a omn) {
		g := a.scrape("http://a.test/p").json(t)
		data, meta, billing := g["data"].(map[string]any), g["metadata"].(map[string]any), g["billing"].(map[string]any)
		if g["success"] != true || data["status_code"] != 200.0 || !strings.Contains(data["content"].(string), "<h1>") ||
			meta["elapsed_time"] != 2.0 || meta["solver_used"] != false || billing["charged"] != 0.004 {
			t.Errorf("%v", g)
		}
		for _, status := range []int{401, 403, 404, 429, 503} {
			g := a.scrape(fmt.Sprintf("http://a.test/?sim_status=%d&sim_wait=9", status))
			data := g.json(t)["data"].(map[string]any)
			if g.status != 200 || g.json(t)["success"] != true || data["status_code"] != float64(status) || g.header.Get("Retry-After") != "" {
				t.Errorf("inner %d: outer %d %s", status, g.status, g.body)
			}
			if want := map[bool]float64{true: 0.004}[data["content"] != ""]; g.json(t)["billing"].(map[string]any)["charged"] != want {
				t.Errorf("inner %d: %s", status, g.body)
			}
		}
		if g := a.scrape("http://challenge.test/").json(t); g["metadata"].(map[string]any)["solver_used"] != true {
			t.Errorf("a challenge: %v", g)
		}
	})
	omniWorld(t, OmniScrapeSettings{SuccessFalse: true, InnerWait: true, FreeErrors: true}, func(t *testing.T, a omn) {
		g := a.scrape("http://a.test/?sim_status=429&sim_wait=9")
		if g.status != 200 || g.json(t)["success"] != false || g.header.Get("Retry-After") != "9" || g.json(t)["billing"].(map[string]any)["charged"] != 0.0 {
			t.Errorf("status %d, %v, body %s", g.status, g.header, g.body)
		}
		if c := a.counters(); c.Charges != 0 || c.SentDuringWait != 0 {
			t.Errorf("counters %+v", c)
		}
	})
}

// TestOmniScrapeConcurrency is omniscrape 3, omniscrape 4, omniscrape 16: the limit of an account, every form of its wait, and the times of its submits.
func TestOmniScrapeConcurrency(t *testing.T) {
	for form, c := range map[RetryAfterForm]struct {
		value string
		sent  int64
	}{
		RetryAfterSeconds: {"2", 1}, RetryAfterDate: {"Sat, 01 Jan 2000 00:00:03 GMT", 1}, RetryAfterPast: {"Fri, 31 Dec 1999 23:59:00 GMT", 0},
		RetryAfterAbsent: {"", 0}, RetryAfterMalformed: {"soon", 0},
	} {
		t.Run(string(form), func(t *testing.T) {
			omniWorld(t, OmniScrapeSettings{RetryAfterForm: form}, func(t *testing.T, a omn) {
				a.with(2, func() {
					g := a.scrape("http://a.test/over")
					if g.status != 429 || g.json(t)["code"] != "CONCURRENCY_LIMIT" || g.json(t)["success"] != false || g.header.Get("Retry-After") != c.value {
						t.Errorf("status %d, %v, body %s", g.status, g.header, g.body)
					}
					time.Sleep(200 * time.Millisecond)
					if g := (omn{a.t, a.w, a.rt, a.base, "k1b"}).scrape("http://a.test/over"); g.status != 429 {
						t.Errorf("another key of the account: %d", g.status)
					}
					if g := (omn{a.t, a.w, a.rt, a.base, "k2"}).scrape("http://a.test/x"); g.status != 200 {
						t.Errorf("another account: %d", g.status)
					}
					time.Sleep(91 * time.Second)
					if g := a.scrape("http://a.test/over"); g.status != 200 {
						t.Errorf("once a slot is free: %d", g.status)
					}
				})
				n := a.counters()
				if n.Refused != 2 || n.SentDuringWait != c.sent || n.PeakInFlight != 2 || n.InFlight != 0 || n.Charged != 3 || n.Submits != 5 || n.Jobs != 3 {
					t.Errorf("counters %+v", n)
				}
				if times := a.w.OmniScrapeSubmits("k1"); len(times) != 5 || times[3].Sub(times[2]) != 240*time.Millisecond {
					t.Errorf("times %v", times)
				}
			})
		})
	}
}

// TestOmniScrapeHasNoRateLimit is omniscrape 14: many short calls one after the other never see 429.
func TestOmniScrapeHasNoRateLimit(t *testing.T) {
	omniWorld(t, OmniScrapeSettings{Overhead: time.Millisecond}, func(t *testing.T, a omn) {
		for i := range 2000 {
			if g := a.scrape(fmt.Sprintf("http://a.test/%d?sim_delay=1ms", i)); g.status != 200 {
				t.Fatalf("call %d: %d", i, g.status)
			}
		}
		if c := a.counters(); c.Charged != 2000 || c.Charges != 2000*0.004 || c.PeakInFlight != 1 {
			t.Errorf("counters %+v", c)
		}
	})
}

// TestOmniScrapePollsAndRefusalsAreFree is omniscrape 15: they hold no slot and cost nothing.
func TestOmniScrapePollsAndRefusalsAreFree(t *testing.T) {
	omniWorld(t, OmniScrapeSettings{}, func(t *testing.T, a omn) {
		path := a.async("http://a.test/p")
		time.Sleep(3 * time.Second)
		a.with(2, func() {
			before := a.counters()
			if j := a.poll(path); j["status"] != "completed" {
				t.Errorf("a poll beside full slots: %v", j)
			}
			if g := a.scrape("http://a.test/over"); g.status != 429 {
				t.Errorf("past the limit: %d", g.status)
			}
			if g := a.scrape("ftp://a.test/"); g.status != 400 {
				t.Errorf("a wrong request: %d", g.status)
			}
			if n := a.counters(); n.InFlight != before.InFlight || n.PeakInFlight != 2 || n.Charges != before.Charges || n.Charged != 1 {
				t.Errorf("before %+v, after %+v", before, n)
			}
		})
	})
}

// TestOmniScrapeClientsThatHangUp is omniscrape 5: whether a slot is free when its client leaves or when the work ends.
func TestOmniScrapeClientsThatHangUp(t *testing.T) {
	for _, free := range []bool{false, true} {
		omniWorld(t, OmniScrapeSettings{FreeOnHangUp: free}, func(t *testing.T, a omn) {
			a.with(2, func() {})
			if g := a.scrape("http://a.test/x"); (g.status == 200) != free {
				t.Errorf("the slots after their clients left: %d", g.status)
			}
			time.Sleep(91 * time.Second)
			if g := a.scrape("http://a.test/y"); g.status != 200 {
				t.Errorf("once the work has ended: %d", g.status)
			}
			if c := a.counters(); c.HungUp != 2 || c.InFlight != 0 || c.PeakInFlight != 2 || c.Charged < 3 {
				t.Errorf("counters %+v", c)
			}
		})
	}
}

// TestOmniScrapeUnlockFailures is omniscrape 7, omniscrape 9: 502 with the solver used, and a job that failed.
func TestOmniScrapeUnlockFailures(t *testing.T) {
	for name, url := range map[string]string{"by the platform": "http://a.test/?sim_outer=502", "by the target": "http://a.test/?sim_fault=unlock",
		"no page": "http://a.test/?sim_fault=reset", "403": "http://challenge.test/"} {
		omniWorld(t, OmniScrapeSettings{UnlockFails: true}, func(t *testing.T, a omn) {
			g := a.scrape(url)
			if m, _ := g.json(t)["metadata"].(map[string]any); g.status != 502 || g.json(t)["success"] != false || m["solver_used"] != true || m["elapsed_time"] != 2.0 {
				t.Errorf("%s: %d %s", name, g.status, g.body)
			}
			path := a.async(url)
			time.Sleep(3 * time.Second)
			if j := a.poll(path); j["status"] != "failed" || j["error"] != unlockFailed {
				t.Errorf("%s: %v", name, j)
			}
			if c := a.counters(); c.Charges != 0 || c.InFlight != 0 || c.Started != 2 {
				t.Errorf("%s: counters %+v", name, c)
			}
		})
	}
}

// TestOmniScrapePayment is omniscrape 8: the three forms of 402, and what counts for the month.
func TestOmniScrapePayment(t *testing.T) {
	omniWorld(t, OmniScrapeSettings{Accounts: []OmniScrapeAccount{{Name: "one", Key: "k1", Monthly: 3, Used: 2, Trial: true}}}, func(t *testing.T, a omn) {
		code := func(g got) any {
			if g.status != 402 || g.json(t)["success"] != false {
				t.Errorf("status %d, body %s", g.status, g.body)
			}
			return g.json(t)["code"]
		}
		if c := code(a.call(t.Context(), "POST", "/v1/proxy/fetch", omniBody("http://a.test/"))); c != "PROXY_LOCKED" {
			t.Errorf("the proxy: %v", c)
		}
		if c := code(a.scrape("http://a.test/?sim_outer=proxy-locked")); c != "PROXY_LOCKED" {
			t.Errorf("the proxy, scripted: %v", c)
		}
		if g := a.scrape("http://a.test/?sim_fault=reset"); g.status != 502 {
			t.Errorf("a failure is not counted: %d", g.status)
		}
		if g := a.scrape("http://a.test/1"); g.status != 200 {
			t.Errorf("the last of the month: %d", g.status)
		}
		g := a.scrape("http://a.test/2")
		if c := code(g); c != "MONTHLY_QUOTA_EXCEEDED" || !strings.Contains(g.json(t)["error"].(string), "(3/3)") {
			t.Errorf("quota: %s", g.body)
		}
		time.Sleep(31 * 24 * time.Hour) // the bubble begins on the first of January
		if g := a.scrape("http://a.test/2"); g.status != 200 {
			t.Errorf("a month later: %d", g.status)
		}
		a.w.ChangeOmniScrape("k1", func(a *OmniScrapeAccount) { a.Balance = 0.012 })
		if g := a.scrape("http://a.test/3"); g.status != 200 {
			t.Errorf("the last money: %d %s", g.status, g.body)
		}
		if c := code(a.scrape("http://a.test/4")); c != nil {
			t.Errorf("balance: %v", c)
		}
		if n := a.counters(); n.Unpaid != 3 || n.Charged != 3 {
			t.Errorf("counters %+v", n)
		}
	})
}
