package simulator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func lost(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) }

func TestSpidraOnSockets(t *testing.T) {
	w, at, rt := served(t, Options{Speed: 1000, Sites: []Site{{Host: "a.test", Policy: Policy{Latency: quick}}}, Spidra: SpidraSettings{Window: 1e6 * time.Second, Calls: 60}})
	a := spd{t, w, rt, at.Spidra, at.SpidraKey}
	until := func(path, state string) map[string]any {
		t.Helper()
		for {
			switch s := a.get(path); s["status"] {
			case state:
				return s
			case "waiting", "active", "pending", "running":
				time.Sleep(5 * time.Millisecond)
			default:
				t.Fatalf("%s: %v", path, s)
			}
		}
	}
	until(a.scrape(at.Sites[0].URL+"/p"), "completed") // although its address is a loopback one
	g := a.call("POST", "/batch/scrape", batchOf("http://a.test/1", "http://a.test/2"))
	base, err := url.Parse(at.Spidra)
	if err != nil {
		t.Fatal(err)
	}
	status, err := base.Parse(g.header.Get("Location"))
	if err != nil || g.status != 202 {
		t.Fatal(g.status, err)
	}
	if g := fetch(t.Context(), rt, "GET", status.String(), "", "x-api-key", at.SpidraKey); g.status != 200 {
		t.Errorf("the Location of a batch: %s is %d", status, g.status)
	}
	crawl := a.job("/crawl", `{"baseUrl":"http://a.test/","crawlInstruction":"all","maxPages":2}`)
	until(crawl, "completed")
	link := a.get(crawl + "/pages")["pages"].([]any)[1].(map[string]any)["markdown_url"].(string)
	if g := fetch(t.Context(), rt, "GET", link, ""); g.status != 200 {
		t.Errorf("a file of a crawl: %d %s", g.status, g.body)
	}
	if g := a.call("POST", "/scrape", scrapeOf("http://a.test/?sim_outer=reset-after")); !lost(g.err) {
		t.Errorf("accepted, then dropped: %d, error %v", g.status, g.err)
	}
	calls := w.Counters().Spidra.IPs["127.0.0.1"].Calls
	for range 60 - calls {
		a.call("GET", "/nowhere", "")
	}
	if g := a.call("GET", crawl, ""); g.status != 429 || g.header.Get("RateLimit-Remaining") != "0" {
		t.Errorf("call 61: %d", g.status)
	}
	if c := w.Counters().Spidra; c.Accounts["demo"].Jobs != 4 || c.IPs["127.0.0.1"].Calls != 61 {
		t.Errorf("counters %+v", c)
	}
}

func TestOmniScrapeOnSockets(t *testing.T) {
	w, at, rt := served(t, Options{Speed: 100, Sites: []Site{{Host: "a.test", Policy: Policy{Latency: quick}}}, OmniScrape: OmniScrapeSettings{
		Accounts: []OmniScrapeAccount{{Name: "one", Key: "k1", Concurrency: 1}}}})
	a := omn{t, w, rt, at.OmniScrape, at.OmniScrapeKey}
	if g := a.scrape(at.Sites[0].URL + "/p"); g.status != 200 {
		t.Fatalf("status %d %s %v", g.status, g.body, g.err)
	}
	path := a.async("http://a.test/2")
	for a.poll(path)["status"] != "completed" {
		time.Sleep(11 * time.Millisecond)
	}
	for _, fault := range []string{"reset-before", "reset-after"} {
		if g := a.scrape("http://a.test/?sim_outer=" + fault); !lost(g.err) {
			t.Errorf("%s: %d, error %v", fault, g.status, g.err)
		}
	}
	if g := a.scrape("http://a.test/?sim_outer=slow"); g.status != 200 || !json.Valid([]byte(g.body)) {
		t.Errorf("slow: %d, error %v, body %q", g.status, g.err, g.body)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if g := a.call(ctx, "POST", "/v1/scrape", omniBody("http://a.test/?sim_delay=60s")); !errors.Is(g.err, context.DeadlineExceeded) {
		t.Errorf("status %d, error %v", g.status, g.err)
	}
	if g := a.scrape("http://a.test/3"); g.status != 429 || g.header.Get("Retry-After") != "1" {
		t.Errorf("while the work of a lost client goes on: %d %v", g.status, g.header)
	}
	for w.Counters().OmniScrape.Accounts["one"].InFlight > 0 {
		time.Sleep(5 * time.Millisecond)
	}
	if g := a.scrape("http://a.test/3"); g.status != 200 {
		t.Errorf("once it has ended: %d", g.status)
	}
	if c := w.Counters().OmniScrape.Accounts["one"]; c.HungUp != 1 || c.PeakInFlight != 1 || c.Charged != 6 || c.Refused != 1 {
		t.Errorf("counters %+v", c)
	}
}

func TestPlatformsAreFoundByHostAndByPath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := New(Options{})
		for url, key := range map[string]string{
			"http://spidra.sim/api/batch/scrape":                    SpidraDemoKey,
			"http://localhost.invalid/spidra/api/scrape-logs":       SpidraDemoKey,
			"https://omniscrape.sim:443/v1/jobs/x":                  OmniScrapeDemoKey,
			"http://localhost.invalid/omniscrape/v1/jobs/x":         OmniScrapeDemoKey,
			"http://evomi.sim/api/v1/scraper/health":                DemoKey,
			"http://localhost.invalid/evomi/api/v1/scraper/tasks/x": DemoKey,
		} {
			g := fetch(t.Context(), w.RoundTripper(), "GET", url, "", "x-api-key", key)
			if g.status != 200 && g.json(t)["error"] != "Job not found" && g.json(t)["error"] != "Task not found" {
				t.Errorf("%s: %d %s", url, g.status, g.body)
			}
		}
		for _, url := range []string{"http://localhost.invalid/spidraapi/scrape-logs", "http://localhost.invalid/"} {
			if g := fetch(t.Context(), w.RoundTripper(), "GET", url, "", "x-api-key", SpidraDemoKey); g.status != 404 || g.header.Get("RateLimit-Limit") != "" {
				t.Errorf("%s: %d %s", url, g.status, g.body)
			}
		}
	})
}

// Whatever arrives at once, what is counted adds up.
func TestPlatformCountersAreExactUnderLoad(t *testing.T) {
	w := New(Options{Speed: 1000, Sites: []Site{{Host: "a.test", Policy: Policy{Latency: quick}}}, Spidra: SpidraSettings{Calls: 300, Window: 1e6 * time.Second},
		OmniScrape: OmniScrapeSettings{Overhead: time.Millisecond}})
	rt := w.RoundTripper()
	s := spd{t, w, rt, "http://" + SpidraHost + "/api", SpidraDemoKey}
	o := omn{t, w, rt, "http://" + OmniScrapeHost, OmniScrapeDemoKey}
	var (
		wg sync.WaitGroup
		mu sync.Mutex
		by = map[string]int64{}
	)
	count := func(kind string, status int) {
		mu.Lock()
		defer mu.Unlock()
		by[fmt.Sprint(kind, status)]++
	}
	for n := range 8 {
		wg.Go(func() {
			for i := range 50 {
				count("s", s.call("POST", "/scrape", scrapeOf(fmt.Sprintf("http://a.test/%d-%d", n, i))).status)
				count("o", o.scrape(fmt.Sprintf("http://a.test/o%d-%d", n, i)).status)
				w.Counters()
			}
		})
	}
	wg.Wait()
	deadline := time.Now().Add(5 * time.Second)
	for w.Counters().Spidra.Accounts["demo"].Charged < by["s202"] && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	c := w.Counters()
	demo, ip, omni := c.Spidra.Accounts["demo"], c.Spidra.IPs[MemoryIP], c.OmniScrape.Accounts["demo"]
	if by["s202"]+by["s429"] != 400 || ip.Calls != 400 || ip.Refused != 100 || demo.Jobs != by["s202"] || demo.RefusedPending != by["s429"]-100 || demo.Charged != demo.Jobs {
		t.Errorf("%v, %+v, %+v", by, ip, demo)
	}
	if by["o200"]+by["o429"] != 400 || omni.Charged != by["o200"] || omni.Refused != by["o429"] || omni.PeakInFlight > 5 || omni.InFlight != 0 {
		t.Errorf("%v, %+v", by, omni)
	}
	if site := c.Sites["a.test"]; site.Requests != demo.Charged+omni.Charged || site.Duplicates != 0 || site.InFlight != 0 {
		t.Errorf("%+v", site)
	}
}

func TestAgenda(t *testing.T) {
	var a agenda[string]
	begin := time.Unix(1000, 0)
	for _, s := range []struct {
		after time.Duration
		what  string
	}{{3, "d"}, {1, "a"}, {2, "b"}, {2, "c"}} {
		a.add(begin.Add(s.after), s.what)
	}
	out := ""
	for {
		what, _, ok := a.due(begin.Add(2))
		if !ok {
			break
		}
		out += what
	}
	if out != "abc" {
		t.Errorf("due: %s", out)
	}
	if what, at, ok := a.due(begin.Add(9)); what != "d" || !ok || !at.Equal(begin.Add(3)) {
		t.Errorf("%s %v %v", what, at, ok)
	}
}
