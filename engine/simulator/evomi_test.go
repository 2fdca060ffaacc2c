package simulator

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// api is a client of the simulated Evomi API with one key.
type api struct {
	t   *testing.T
	w   *World
	rt  http.RoundTripper
	key string
}

const evomiBase = "http://" + EvomiHost + "/api/v1/scraper/"

func (a api) call(method, path, body string) got {
	return fetch(a.t.Context(), a.rt, method, evomiBase+path, body, "x-api-key", a.key)
}

func (a api) scrape(url string, fields string) got {
	return a.call("POST", "realtime", fmt.Sprintf(`{"url":%q%s}`, url, fields))
}

func (a api) counters() KeyCounters { return a.w.Counters().Evomi.Keys[a.key] }

const asJSON = `,"delivery":"json","include_content":true,"mode":"request","proxy_type":"datacenter"`

// platform runs a test against a world with the keys k1 and k2 and a site that takes a second.
func platform(t *testing.T, s EvomiSettings, test func(t *testing.T, a api)) {
	t.Helper()
	if s.Accounts == nil {
		s.Accounts = []EvomiAccount{{Key: "k1", Concurrency: 2, Credits: 50}, {Key: "k2"}}
	}
	synctest.Test(t, func(t *testing.T) {
		w := New(Options{Evomi: s, Sites: []Site{{Host: "a.test", Policy: Policy{Latency: Latency{Median: time.Second}}}}})
		test(t, api{t, w, w.RoundTripper(), "k1"})
	})
}

// TestEvomiKeyPrecedence is evomi 1, evomi 16: the key comes from the query, else the header, else the body; one in a query is told on the side.
func TestEvomiKeyPrecedence(t *testing.T) {
	platform(t, EvomiSettings{}, func(t *testing.T, a api) {
		for name, c := range map[string]struct {
			url, header, body string
			status            int
		}{
			"query wins over header": {"realtime?api_key=k1", "wrong", `{"url":"http://a.test/"}`, 200},
			"wrong query wins too":   {"realtime?api_key=wrong", "k1", `{"url":"http://a.test/"}`, 401},
			"header wins over body":  {"realtime", "wrong", `{"url":"http://a.test/","api_key":"k1"}`, 401},
			"body":                   {"realtime", "", `{"url":"http://a.test/","api_key":"k1"}`, 200},
			"none":                   {"realtime", "", `{"url":"http://a.test/"}`, 401},
		} {
			g := fetch(t.Context(), a.rt, "POST", evomiBase+c.url, c.body, "x-api-key", c.header)
			if g.status != c.status {
				t.Errorf("%s: status %d, want %d", name, g.status, c.status)
			}
			if c.status == 401 && g.json(t)["error"] != "Invalid API key" {
				t.Errorf("%s: body %s", name, g.body)
			}
			if g.header.Get("X-RateLimit-Limit") == "" || g.header.Get("X-RateLimit-Remaining") == "" {
				t.Errorf("%s: no slot headers", name)
			}
		}
		if c := a.w.Counters().Evomi; c.KeysInQuery != 2 || c.Unauthorized != 3 {
			t.Errorf("counters %+v", c)
		}
	})
}

// TestEvomiGet is evomi 2: GET reads its fields from the query.
func TestEvomiGet(t *testing.T) {
	platform(t, EvomiSettings{}, func(t *testing.T, a api) {
		g := a.call("GET", "realtime?url=http%3A%2F%2Fa.test%2Fp%3Fx%3D1&delivery=json&include_content=true&mode=request", "")
		if g.status != 200 || g.json(t)["url"] != "http://a.test/p?x=1" || !strings.Contains(g.json(t)["content"].(string), "<h1>") {
			t.Errorf("status %d, body %s", g.status, g.body)
		}
		g = a.call("GET", "realtime?url=http%3A%2F%2Fa.test%2Fp&async=true&wait_seconds=3&block_resources=image,font&capture_headers=false", "")
		if g.status != 202 {
			t.Errorf("GET with fields of every type: %d, %s", g.status, g.body)
		}
		if g := a.call("GET", "realtime?url=http%3A%2F%2Fa.test%2F&additional_headers=x", ""); g.status != 422 {
			t.Errorf("an object field in a query: %d", g.status)
		}
		if g := a.call("DELETE", "realtime", ""); g.status != 405 {
			t.Errorf("DELETE: %d", g.status)
		}
		if g := a.call("GET", "elsewhere", ""); g.status != 404 {
			t.Errorf("unknown path: %d", g.status)
		}
	})
}

// TestEvomiValidation is evomi 3: what is refused, in both shapes of an error.
func TestEvomiValidation(t *testing.T) {
	bad := map[string]string{
		"no url": `{}`, "relative": `{"url":"/p"}`, "ftp": `{"url":"ftp://a.test/"}`, "mode": `{"url":"http://a.test/","mode":"fast"}`,
		"country": `{"url":"http://a.test/","proxy_country":"USA"}`, "session": `{"url":"http://a.test/","proxy_session_id":"abc"}`,
		"datacenter with auto": `{"url":"http://a.test/","proxy_type":"datacenter"}`,
		"screenshot":           `{"url":"http://a.test/","mode":"request","content":"screenshot"}`,
		"wait":                 `{"url":"http://a.test/","wait_seconds":31}`, "async": `{"url":"http://a.test/","async":"maybe"}`,
		"type": `{"url":5}`, "async as text": `{"url":"http://a.test/","async":"true"}`,
		"wait as text": `{"url":"http://a.test/","wait_seconds":"3"}`, "half a wait": `{"url":"http://a.test/","wait_seconds":1.5}`,
		"session as number": `{"url":"http://a.test/","proxy_session_id":123456}`,
		"resources as text": `{"url":"http://a.test/","block_resources":"image,font"}`,
		"a resource beyond": `{"url":"http://a.test/","block_resources":["image","script"]}`,
		"readiness":         `{"url":"http://a.test/","wait_until":"idle"}`,
		"headers as text":   `{"url":"http://a.test/","additional_headers":"x"}`,
		"headers as list":   `{"url":"http://a.test/","additional_headers":["x"]}`,
		"capture as number": `{"url":"http://a.test/","capture_headers":1}`,
	}
	for _, nested := range []bool{false, true} {
		platform(t, EvomiSettings{NestedErrors: nested}, func(t *testing.T, a api) {
			for name, body := range bad {
				g := a.call("POST", "realtime", body)
				_, flat := g.json(t)["error"].(string)
				if g.status != 422 || flat == nested {
					t.Errorf("%s: status %d, body %s", name, g.status, g.body)
				}
			}
			if g := a.call("POST", "realtime", `{"url":`); g.status != 400 {
				t.Errorf("broken JSON: %d", g.status)
			}
			if c := a.counters(); c.Rejected != int64(len(bad)+1) || c.Started != 0 || c.Charges != 0 {
				t.Errorf("counters %+v", c)
			}
		})
	}
}

// TestEvomiConcurrency is evomi 4, evomi 16: one request beyond the limit of its key is refused; the peak is told on the side.
func TestEvomiConcurrency(t *testing.T) {
	platform(t, EvomiSettings{}, func(t *testing.T, a api) {
		answers := make(chan got, 2)
		for i := range 2 {
			go func() { answers <- a.scrape(fmt.Sprint("http://a.test/", i), asJSON) }()
		}
		synctest.Wait()
		over := a.scrape("http://a.test/over", asJSON)
		body := over.json(t)
		if over.status != 429 || body["limit"] != 2.0 || body["reset"] != 60.0 || body["error"] != "Concurrency limit exceeded (2/2)" || body["timestamp"] == "" {
			t.Errorf("status %d, body %s", over.status, over.body)
		}
		if over.header.Get("X-RateLimit-Limit") != "2" || over.header.Get("X-RateLimit-Remaining") != "0" || over.header.Get("Retry-After") != "" {
			t.Errorf("headers %v", over.header)
		}
		other := api{a.t, a.w, a.rt, "k2"}
		if g := other.scrape("http://a.test/k2", asJSON); g.status != 200 || g.header.Get("X-RateLimit-Remaining") != "4" {
			t.Errorf("another key: %d, remaining %s", g.status, g.header.Get("X-RateLimit-Remaining"))
		}
		for range 2 {
			if g := <-answers; g.status != 200 {
				t.Errorf("within the limit: %d", g.status)
			}
		}
		if g := a.scrape("http://a.test/after", asJSON); g.status != 200 {
			t.Errorf("once a slot is free: %d", g.status)
		}
		if c := a.counters(); c.PeakInFlight != 2 || c.Refused != 1 || c.SentDuringWait != 1 || c.Submits != 4 || c.Started != 3 {
			t.Errorf("counters %+v", c)
		}
	})
}

// TestEvomiSlotOfALostClientExpires is evomi 5: a slot whose request is stuck is free after its lease.
func TestEvomiSlotOfALostClientExpires(t *testing.T) {
	for _, whole := range []bool{false, true} {
		platform(t, EvomiSettings{LeaseWholeCounter: whole, HandOffRequest: 10 * time.Minute}, func(t *testing.T, a api) {
			for i := range 2 {
				go a.scrape(fmt.Sprintf("http://a.test/%d?sim_delay=5m", i), asJSON)
			}
			synctest.Wait()
			time.Sleep(59 * time.Second)
			if g := a.scrape("http://a.test/x", asJSON); g.status != 429 {
				t.Errorf("before the lease ended: %d", g.status)
			}
			time.Sleep(time.Second)
			if g := a.scrape("http://a.test/x", asJSON); g.status != 200 {
				t.Errorf("after the lease ended: %d", g.status)
			}
			time.Sleep(10 * time.Minute)
		})
	}
}

// TestEvomiTellsItsSlotsOnEveryAnswer is evomi 6: both headers, errors included.
func TestEvomiTellsItsSlotsOnEveryAnswer(t *testing.T) {
	platform(t, EvomiSettings{}, func(t *testing.T, a api) {
		for name, c := range map[string]struct {
			method, path, body string
			status             int
		}{
			"a page":          {"POST", "realtime", `{"url":"http://a.test/"}`, 200},
			"a hand-over":     {"POST", "realtime", `{"url":"http://a.test/","async":true}`, 202},
			"health":          {"GET", "health", "", 200},
			"broken JSON":     {"POST", "realtime", `{`, 400},
			"an unknown task": {"GET", "tasks/none", "", 404},
			"a wrong method":  {"DELETE", "realtime", "", 405},
			"a wrong field":   {"POST", "realtime", `{"url":"http://a.test/","mode":"fast"}`, 422},
			"a fault":         {"POST", "realtime", `{"url":"http://a.test/?sim_outer=500"}`, 500},
			"no capacity":     {"POST", "realtime", `{"url":"http://a.test/?sim_outer=503"}`, 503},
		} {
			g := a.call(c.method, c.path, c.body)
			if g.status != c.status || g.header.Get("X-RateLimit-Limit") != "2" || g.header.Get("X-RateLimit-Remaining") == "" {
				t.Errorf("%s: status %d, headers %v", name, g.status, g.header)
			}
		}
	})
}

// TestEvomiDeliveryAndPrices is evomi 7, evomi 8: the page or the envelope, and what each costs.
func TestEvomiDeliveryAndPrices(t *testing.T) {
	platform(t, EvomiSettings{}, func(t *testing.T, a api) {
		raw := a.scrape("http://a.test/p", `,"mode":"request"`)
		if !strings.Contains(raw.body, "<h1>") || raw.header.Get("Content-Type") != "text/html; charset=utf-8" {
			t.Errorf("raw: %q", raw.body)
		}
		if raw.header.Get("X-Credits-Used") != "2" || raw.header.Get("X-Credits-Remaining") != "48" || raw.header.Get("X-Mode-Used") != "request" {
			t.Errorf("raw: headers %v", raw.header)
		}
		bare := a.scrape("http://a.test/p2", `,"delivery":"json"`).json(t)
		if _, ok := bare["content"]; ok || bare["status_code"] != 200.0 || bare["credits_used"] != 2.0 || bare["mode_used"] != "auto (request)" {
			t.Errorf("json without content: %v", bare)
		}
		for fields, price := range map[string]float64{asJSON: 1, `,"delivery":"json","mode":"browser"`: 5} {
			if got := a.scrape("http://a.test/p3"+fmt.Sprint(price), fields).json(t)["credits_used"]; got != price {
				t.Errorf("%s costs %v, want %v", fields, got, price)
			}
		}
		if c := a.counters(); c.Charges != 2+2+1+5 {
			t.Errorf("charges %v", c.Charges)
		}
	})
	platform(t, EvomiSettings{UpgradeShare: 1}, func(t *testing.T, a api) {
		if g := a.scrape("http://a.test/p", `,"delivery":"json"`).json(t); g["credits_used"] != 6.0 || g["mode_used"] != "auto (browser)" {
			t.Errorf("an upgrade: %v", g)
		}
	})
}

// TestEvomiCreditsRunOut is evomi 8: 402 with what is left when it is too little.
func TestEvomiCreditsRunOut(t *testing.T) {
	platform(t, EvomiSettings{Accounts: []EvomiAccount{{Key: "k1", Credits: 1.5}}}, func(t *testing.T, a api) {
		if g := a.scrape("http://a.test/1", asJSON); g.status != 200 {
			t.Fatalf("status %d", g.status)
		}
		g := a.scrape("http://a.test/2", asJSON)
		if g.status != 402 || g.json(t)["credits_remaining"] != 0.5 {
			t.Errorf("status %d, body %s", g.status, g.body)
		}
		a.w.TopUp("k1", 10)
		if g := a.scrape("http://a.test/2", asJSON); g.status != 200 {
			t.Errorf("after a top-up: %d", g.status)
		}
		if c := a.counters(); c.Unpaid != 1 || c.Charges != 2 {
			t.Errorf("counters %+v", c)
		}
	})
}

// TestEvomiHandOff is evomi 9: what runs too long becomes a task, by 202 or by 408, and is scraped once.
func TestEvomiHandOff(t *testing.T) {
	for _, old := range []bool{false, true} {
		platform(t, EvomiSettings{HandOff408: old}, func(t *testing.T, a api) {
			begin := time.Now()
			g := a.scrape("http://a.test/slow?sim_delay=40s", asJSON)
			body := g.json(t)
			want := 202
			if old {
				want = 408
			}
			if g.status != want || body["success"] != true || body["task_id"] == "" || time.Since(begin) != 30*time.Second {
				t.Fatalf("status %d after %v: %s", g.status, time.Since(begin), g.body)
			}
			path := strings.TrimPrefix(body["check_url"].(string), "/api/v1/scraper/")
			if p := a.call("GET", path, "").json(t); p["status"] != "processing" || p["elapsed_seconds"] != 30.0 {
				t.Errorf("poll: %v", p)
			}
			time.Sleep(15 * time.Second)
			if p := a.call("GET", path, "").json(t); p["status"] != "completed" || p["status_code"] != 200.0 || p["content"] == "" {
				t.Errorf("poll: %v", p)
			}
			if c := a.counters(); c.Started != 1 || c.DuplicateScrapes != 0 || c.Charges != 1 || c.HandedOn != 1 || c.Collected != 1 {
				t.Errorf("counters %+v", c)
			}
		})
	}
}

func (a api) async(url string) string {
	a.t.Helper()
	g := a.scrape(url, asJSON+`,"async":true`)
	body := g.json(a.t)
	id, _ := body["task_id"].(string)
	if _, said := body["success"]; g.status != 202 || id == "" || said || body["status"] != "processing" || body["check_url"] != "/api/v1/scraper/tasks/"+id {
		a.t.Fatalf("async: status %d, body %s", g.status, g.body)
	}
	return "tasks/" + id
}

// TestEvomiTasks is evomi 10, evomi 11, evomi 12, evomi 13: a task is handed over at once, polled by its own key and gone once collected.
func TestEvomiTasks(t *testing.T) {
	for _, nested := range []bool{false, true} {
		platform(t, EvomiSettings{NestedResult: nested}, func(t *testing.T, a api) {
			begin := time.Now()
			path := a.async("http://a.test/p")
			if d := time.Since(begin); d > 100*time.Millisecond {
				t.Errorf("the hand-over took %v", d)
			}
			other := api{a.t, a.w, a.rt, "k2"}
			if g := other.call("GET", path, ""); g.status != 404 || g.json(t)["success"] != false {
				t.Errorf("another key sees the task: %d %s", g.status, g.body)
			}
			time.Sleep(2 * time.Second)
			done := a.call("GET", path, "").json(t)
			result, isNested := done["result"].(map[string]any)
			if !isNested {
				result = done
			}
			if done["status"] != "completed" || isNested != nested || !strings.Contains(result["content"].(string), "<h1>") {
				t.Errorf("completed: %v", done)
			}
			if g := a.call("GET", path, ""); g.status != 404 {
				t.Errorf("a collected result is there still: %d", g.status)
			}
			if c := a.counters(); c.Polls != 2 || c.Collected != 1 || c.Gone != 1 {
				t.Errorf("counters %+v", c)
			}
		})
	}
}

// TestEvomiRetention is evomi 12: a result expires, counted from completion or from the submit.
func TestEvomiRetention(t *testing.T) {
	platform(t, EvomiSettings{GoneStatus: 410}, func(t *testing.T, a api) {
		kept, expired := a.async("http://a.test/1"), a.async("http://a.test/2")
		time.Sleep(600 * time.Second)
		if g := a.call("GET", kept, ""); g.status != 200 {
			t.Errorf("after 600 s from the submit: %d", g.status)
		}
		time.Sleep(2 * time.Second)
		if g := a.call("GET", expired, ""); g.status != 410 {
			t.Errorf("after 600 s from completion: %d", g.status)
		}
	})
	platform(t, EvomiSettings{RetentionFromSubmit: true}, func(t *testing.T, a api) {
		path := a.async("http://a.test/1")
		time.Sleep(600 * time.Second)
		if g := a.call("GET", path, ""); g.status != 404 {
			t.Errorf("after 600 s from the submit: %d", g.status)
		}
	})
}

// TestEvomiFailedTasks is evomi 11: a task that failed says so.
func TestEvomiFailedTasks(t *testing.T) {
	for _, collect := range []bool{false, true} {
		platform(t, EvomiSettings{CollectFailed: collect}, func(t *testing.T, a api) {
			path := a.async("http://a.test/?sim_fault=reset")
			time.Sleep(2 * time.Second)
			if p := a.call("GET", path, "").json(t); p["status"] != "failed" || p["error"] == "" {
				t.Errorf("poll: %v", p)
			}
			if g := a.call("GET", path, ""); (g.status == 404) != collect {
				t.Errorf("read again: %d", g.status)
			}
			if g := a.scrape("http://a.test/?sim_fault=reset", asJSON); g.status != 200 || g.json(t)["success"] != false {
				t.Errorf("synchronously: %d %s", g.status, g.body)
			}
			if c := a.counters(); c.Charges != 0 {
				t.Errorf("charges %v", c.Charges)
			}
		})
	}
}

func TestEvomiBackgroundSlots(t *testing.T) {
	platform(t, EvomiSettings{}, func(t *testing.T, a api) {
		for i := range 5 {
			a.async(fmt.Sprintf("http://a.test/%d?sim_delay=1m", i))
		}
	})
	platform(t, EvomiSettings{BackgroundHoldsSlot: true}, func(t *testing.T, a api) {
		for i := range 2 {
			a.async(fmt.Sprintf("http://a.test/%d?sim_delay=90s", i))
		}
		time.Sleep(80 * time.Second)
		if g := a.scrape("http://a.test/x", asJSON); g.status != 429 {
			t.Errorf("while tasks hold the slots: %d", g.status)
		}
		time.Sleep(15 * time.Second)
		if g := a.scrape("http://a.test/x", asJSON); g.status != 200 {
			t.Errorf("after the tasks ended: %d", g.status)
		}
	})
}

func TestEvomiPollsAndSlots(t *testing.T) {
	for _, hold := range []bool{false, true} {
		platform(t, EvomiSettings{PollsHoldSlot: hold}, func(t *testing.T, a api) {
			done := make(chan got, 2)
			for i := range 2 {
				go func() { done <- a.scrape(fmt.Sprint("http://a.test/", i), asJSON) }()
			}
			synctest.Wait()
			if g := a.call("GET", "health", ""); (g.status == 429) != hold {
				t.Errorf("health with full slots: %d", g.status)
			}
			<-done
			<-done
			g := a.call("GET", "health", "")
			if body := g.json(t); g.status != 200 || body["concurrency"] != 2.0 || body["credits"] != 48.0 {
				t.Errorf("health: %d %s", g.status, g.body)
			}
		})
	}
}

// TestEvomiTargetsStatusStaysInside is evomi 14: the target's status is scripted by its URL and stands inside.
func TestEvomiTargetsStatusStaysInside(t *testing.T) {
	platform(t, EvomiSettings{}, func(t *testing.T, a api) {
		for _, status := range []int{403, 404, 429, 500, 503} {
			g := a.scrape(fmt.Sprintf("http://a.test/?sim_status=%d", status), asJSON)
			if g.status != 200 || g.json(t)["status_code"] != float64(status) || g.json(t)["credits_used"] != 0.0 {
				t.Errorf("inner %d: outer %d, body %s", status, g.status, g.body)
			}
			if g := a.scrape(fmt.Sprintf("http://a.test/?sim_status=%d", status), `,"mode":"request"`); g.status != 200 {
				t.Errorf("inner %d, raw: outer %d", status, g.status)
			}
		}
		if g := a.scrape("https://anywhere.com/p", asJSON); g.json(t)["status_code"] != 200.0 {
			t.Errorf("any other target: %s", g.body)
		}
		if c := a.w.site("a.test"); c.Refused != 2 || c.SentDuringWait != 0 {
			t.Errorf("a wait that no client was told of: %+v", c)
		}
	})
	platform(t, EvomiSettings{ChargeAll: true}, func(t *testing.T, a api) {
		a.scrape("http://a.test/?sim_status=404", asJSON)
		if c := a.counters(); c.Charges != 1 {
			t.Errorf("charges %v", c.Charges)
		}
	})
}

// TestEvomiFaults is evomi 5, evomi 15, evomi 16: each fault, the slot that it frees, and the duplicates and charges that follow.
func TestEvomiFaults(t *testing.T) {
	for fault, c := range map[string]struct {
		status  int
		started int64
	}{
		"500": {500, 0}, "503": {503, 0}, "408": {408, 0}, "reset-before": {0, 0}, "reset-after": {0, 1}, "slow": {200, 1},
		"truncated": {200, 1}, "html": {502, 1},
	} {
		t.Run(fault, func(t *testing.T) {
			platform(t, EvomiSettings{UnavailableWait: 7 * time.Second}, func(t *testing.T, a api) {
				begin := time.Now()
				g := a.scrape("http://a.test/?sim_times=1&sim_outer="+fault, asJSON)
				if g.status != c.status {
					t.Errorf("status %d, error %v, want %d", g.status, g.err, c.status)
				}
				switch {
				case c.status == 0 && !errors.Is(g.err, syscall.ECONNRESET):
					t.Errorf("error %v", g.err)
				case fault == "truncated" && json.Valid([]byte(g.body)):
					t.Error("the JSON is whole")
				case fault == "html" && !strings.Contains(g.body, "<html>"):
					t.Errorf("body %q", g.body)
				case fault == "slow" && (time.Since(begin) < 6*time.Second || !json.Valid([]byte(g.body))):
					t.Errorf("after %v: %q", time.Since(begin), g.body)
				case fault == "503" && g.header.Get("Retry-After") != "7":
					t.Errorf("Retry-After %q", g.header.Get("Retry-After"))
				}
				if n := a.counters(); n.Started != c.started || n.Charges != float64(c.started) {
					t.Errorf("counters %+v", n)
				}
				if g := a.scrape("http://a.test/?sim_times=1&sim_outer="+fault, asJSON); g.status != 200 || g.header.Get("X-RateLimit-Remaining") != "1" {
					t.Errorf("the second try: %d, remaining %s", g.status, g.header.Get("X-RateLimit-Remaining"))
				}
				if n := a.counters(); n.DuplicateScrapes != c.started {
					t.Errorf("duplicate scrapes %d, want %d", n.DuplicateScrapes, c.started)
				}
			})
		})
	}
	platform(t, EvomiSettings{Faults: EvomiFaults{ServerError: 0.3}}, func(t *testing.T, a api) {
		failed := 0
		for i := range 40 {
			if a.scrape(fmt.Sprint("http://a.test/", i), asJSON).status == 500 {
				failed++
			}
		}
		if failed < 5 || failed > 20 {
			t.Errorf("%d of 40 failed with a share of 0.3", failed)
		}
		a.w.SetEvomiFaults(EvomiFaults{})
		a.w.TopUp("k1", 100)
		for i := range 10 {
			if g := a.scrape(fmt.Sprint("http://a.test/", i), asJSON); g.status != 200 {
				t.Errorf("without faults: %d", g.status)
			}
		}
	})
}

func TestEvomiLimitChanges(t *testing.T) {
	platform(t, EvomiSettings{RetryAfter: true}, func(t *testing.T, a api) {
		a.w.SetConcurrency("k1", 0)
		if g := a.scrape("http://a.test/", asJSON); g.status != 429 || g.header.Get("Retry-After") != "60" || g.header.Get("X-RateLimit-Limit") != "0" {
			t.Errorf("status %d, headers %v", g.status, g.header)
		}
	})
}

// TestEvomiFaultsOnSockets is evomi 15: connections that are really reset.
func TestEvomiFaultsOnSockets(t *testing.T) {
	_, a, rt := served(t, Options{Sites: []Site{{Host: "a.test", Policy: Policy{Latency: quick}}}, Evomi: EvomiSettings{Overhead: time.Millisecond, SlowFor: 20 * time.Millisecond}})
	post := func(outer string) got {
		return fetch(t.Context(), rt, "POST", a.Evomi+"/api/v1/scraper/realtime", fmt.Sprintf(`{"url":"http://a.test/?sim_outer=%s"%s}`, outer, asJSON), "x-api-key", a.EvomiKey)
	}
	for _, outer := range []string{"reset-before", "reset-after"} {
		if g := post(outer); !errors.Is(g.err, io.EOF) && !errors.Is(g.err, syscall.ECONNRESET) {
			t.Errorf("%s: status %d, error %v", outer, g.status, g.err)
		}
	}
	if g := post("slow"); g.status != 200 || !json.Valid([]byte(g.body)) || g.header.Get("X-Credits-Used") != "1" {
		t.Errorf("slow: status %d, error %v, body %q", g.status, g.err, g.body)
	}
}
