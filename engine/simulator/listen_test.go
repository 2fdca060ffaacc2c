package simulator

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// served is a world on loopback, with an ordinary client that is shut before the world.
func served(t *testing.T, o Options) (*World, Addresses, *http.Transport) {
	t.Helper()
	w := New(o)
	a, err := w.Listen(t.Context()) // which ends before the clean-up
	if err != nil {
		t.Fatal(err)
	}
	rt := &http.Transport{DisableCompression: true}
	t.Cleanup(func() {
		rt.CloseIdleConnections()
		w.Wait()
	})
	return w, a, rt
}

var quick = Latency{Median: time.Millisecond}

func TestSitesHaveHostsOfTheirOwn(t *testing.T) {
	w, a, rt := served(t, Options{Sites: []Site{
		{Host: "a.test", Kind: "plain", Policy: Policy{Latency: quick}},
		{Host: "b.test", Kind: "blocked", Policy: Policy{Latency: quick, Moods: Moods{Blocked: 1}}},
	}})
	hosts := map[string]bool{}
	for i, want := range []int{200, 403} {
		u, err := url.Parse(a.Sites[i].URL)
		if err != nil {
			t.Fatal(err)
		}
		hosts[u.Hostname()] = true
		if g := fetch(t.Context(), rt, "GET", a.Sites[i].URL+"/x", ""); g.status != want || g.err != nil {
			t.Errorf("%s: status %d, error %v", a.Sites[i].URL, g.status, g.err)
		}
	}
	if len(hosts) != 2 {
		t.Errorf("the sites share a host: %v", a.Sites)
	}
	if c := w.Counters(); c.Sites["a.test"].Accepted != 1 || c.Sites["b.test"].Blocked != 1 {
		t.Errorf("counters %+v", c)
	}
}

func TestAddressesAsJSON(t *testing.T) {
	_, a, rt := served(t, Options{})
	data, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"evomi", "evomi_key", "spidra", "spidra_key", "omniscrape", "omniscrape_key", "sites", "control"} {
		if out[key] == nil {
			t.Errorf("%s is missing in %s", key, data)
		}
	}
	if n := len(out["sites"].([]any)); n != len(DemoSites()) {
		t.Errorf("%d sites", n)
	}
	health := fetch(t.Context(), rt, "GET", a.Evomi+"/api/v1/scraper/health", "", "x-api-key", a.EvomiKey)
	if health.status != 200 || health.header.Get("X-RateLimit-Limit") != "5" {
		t.Errorf("health: %d %v", health.status, health.header)
	}
	var c Counters
	if err := json.Unmarshal([]byte(fetch(t.Context(), rt, "GET", a.Control, "").body), &c); err != nil {
		t.Fatal(err)
	}
	if _, ok := c.Evomi.Keys["demo"]; !ok {
		t.Errorf("control: %+v", c)
	}
}

func TestDropsOnSockets(t *testing.T) {
	_, a, rt := served(t, Options{Sites: []Site{
		{Host: "reset.test", Policy: Policy{Latency: quick, Moods: Moods{Reset: 1}}},
		{Host: "cut.test", Policy: Policy{Latency: quick, Moods: Moods{Truncate: 1}}},
	}})
	if g := fetch(t.Context(), rt, "GET", a.Sites[0].URL, ""); g.err == nil || g.status != 0 {
		t.Errorf("reset: status %d, error %v", g.status, g.err)
	}
	if g := fetch(t.Context(), rt, "GET", a.Sites[1].URL, ""); !errors.Is(g.err, io.ErrUnexpectedEOF) || g.status != 200 {
		t.Errorf("cut: status %d, error %v", g.status, g.err)
	}
}

func TestDialContextLeadsEveryHostToTheWorld(t *testing.T) {
	w, a, rt := served(t, Options{Sites: []Site{{Host: "a.test", Policy: Policy{Latency: quick}}}})
	rt.DialContext = w.DialContext
	for url, want := range map[string]int{"http://a.test/x": 200, "http://stranger.example/": 200, "http://" + EvomiHost + "/api/v1/scraper/health": 200,
		"http://" + SpidraHost + "/api/scrape-logs": 403, "http://" + OmniScrapeHost + "/v1/jobs/x": 401} { // the key is Evomi's
		if g := fetch(t.Context(), rt, "GET", url, "", "x-api-key", a.EvomiKey); g.status != want {
			t.Errorf("%s: status %d, error %v", url, g.status, g.err)
		}
	}
	var dns *net.DNSError
	if g := fetch(t.Context(), rt, "GET", "http://real.com/", ""); !errors.As(g.err, &dns) {
		t.Errorf("a real host: status %d, error %v", g.status, g.err)
	}
	if _, err := New(Options{}).DialContext(t.Context(), "tcp", "a.test:80"); err == nil || !strings.Contains(err.Error(), "Listen") {
		t.Errorf("a world that does not listen: %v", err)
	}
}

func TestCountersAreExactUnderLoad(t *testing.T) {
	w, a, rt := served(t, Options{Sites: []Site{{Host: "a.test", Policy: Policy{Latency: quick,
		Limits: []Limit{{Kind: Fixed, N: 50, Per: time.Hour}}, Tell: TellSeconds}}}})
	var (
		wg sync.WaitGroup
		mu sync.Mutex
		by = map[int]int64{}
	)
	for range 8 {
		wg.Go(func() {
			for range 25 {
				g := fetch(t.Context(), rt, "GET", a.Sites[0].URL+"/same", "")
				mu.Lock()
				by[g.status]++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	c := w.Counters().Sites["a.test"]
	if by[200] != 50 || by[429] != 150 || c.Accepted != 50 || c.Refused != 150 || c.Requests != 200 || c.Duplicates != 49 {
		t.Errorf("answers %v, counters %+v", by, c)
	}
	if c.PeakInFlight > 8 || c.PeakInFlight < 1 || c.InFlight != 0 {
		t.Errorf("in flight: %+v", c)
	}
}
