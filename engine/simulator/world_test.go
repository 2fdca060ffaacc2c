package simulator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// TestMain fails when a test left goroutines behind.
func TestMain(m *testing.M) {
	code := m.Run()
	deadline := time.Now().Add(5 * time.Second)
	for len(leftBehind()) > 0 && time.Now().Before(deadline) {
		time.Sleep(5 * time.Millisecond)
	}
	if left := leftBehind(); len(left) > 0 && code == 0 {
		fmt.Fprintf(os.Stderr, "%d goroutines were left behind:\n%s\n", len(left), strings.Join(left, "\n\n"))
		code = 1
	}
	os.Exit(code)
}

// leftBehind are the stacks of goroutines that are neither this one nor the runtime's own.
func leftBehind() []string {
	buf := make([]byte, 1<<20)
	var out []string
	for _, s := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n")[1:] {
		if !strings.Contains(s, "os/signal.") {
			out = append(out, s)
		}
	}
	return out
}

// got is an answer with its body read.
type got struct {
	status int
	header http.Header
	body   string
	err    error // of the exchange, or of its body
}

func (g got) json(t *testing.T) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal([]byte(g.body), &out); err != nil {
		t.Fatalf("not JSON: %v: %q", err, g.body)
	}
	return out
}

func fetch(ctx context.Context, rt http.RoundTripper, method, url, body string, header ...string) got {
	var in io.Reader
	if body != "" {
		in = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, url, in)
	if err != nil {
		return got{err: err}
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := rt.RoundTrip(req)
	if err != nil {
		return got{err: err}
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return got{resp.StatusCode, resp.Header, string(data), err}
}

// bubble runs a test in a world inside a synctest bubble.
func bubble(t *testing.T, o Options, test func(t *testing.T, w *World, get func(url string) got)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := New(o)
		rt := w.RoundTripper()
		test(t, w, func(url string) got { return fetch(t.Context(), rt, "GET", url, "") })
	})
}

func one(p Policy, phases ...Phase) Options {
	return Options{Sites: []Site{{Host: "a.test", Policy: p, Phases: phases}}}
}

func (w *World) site(host string) SiteCounters { return w.Counters().Sites[host] }

func TestPagesAreTheSameForTheSameURL(t *testing.T) {
	bubble(t, one(Policy{BodyBytes: 5000}), func(t *testing.T, w *World, get func(string) got) {
		first, again, other := get("http://a.test/p/x-1"), get("https://A.test:8443/p/x-1"), get("http://a.test/p/x-2")
		if first.status != 200 || other.body == first.body {
			t.Errorf("status %d, two URLs with one page: %v", first.status, other.body == first.body)
		}
		for _, part := range []string{"<title>", "<h1>", `class="price"`, "EUR", `<a href="/p/`} {
			if !strings.Contains(first.body, part) || !strings.Contains(again.body, part) {
				t.Errorf("page lacks %q", part)
			}
		}
		if n := len(first.body); n < 4500 || n > 5500 {
			t.Errorf("a page of %d bytes, want about 5000", n)
		}
		if c := w.site("a.test"); c.Accepted != 3 || c.Requests != 3 || c.Duplicates != 1 {
			t.Errorf("counters %+v", c)
		}
	})
}

func TestSameSeedSameWorld(t *testing.T) {
	run := func(seed uint64, reverse bool) string {
		var out []string
		synctest.Test(t, func(t *testing.T) {
			w := New(Options{Seed: seed, Sites: []Site{{Host: "a.test", Policy: Policy{Latency: Latency{Spread: 0.5},
				Moods: Moods{Fail: 0.3, Reset: 0.2, NotFound: 0.2, Soft: 0.1}}}}})
			out = make([]string, 40)
			for k := range out {
				i := k
				if reverse {
					i = len(out) - 1 - k
				}
				begin := time.Now()
				g := fetch(t.Context(), w.RoundTripper(), "GET", fmt.Sprintf("http://a.test/p/%d", i), "")
				out[i] = fmt.Sprintf("%d %d %v", g.status, len(g.body), time.Since(begin))
			}
		})
		return strings.Join(out, "\n")
	}
	if run(7, false) != run(7, true) {
		t.Error("the order of requests changed the answers")
	}
	if run(7, false) == run(8, false) {
		t.Error("another seed made the same world")
	}
}

func TestSpeed(t *testing.T) {
	o := one(Policy{Latency: Latency{Median: 2 * time.Second}, Limits: []Limit{{Kind: Fixed, N: 1, Per: 40 * time.Second}}, Tell: TellSeconds})
	o.Speed = 4
	bubble(t, o, func(t *testing.T, w *World, get func(string) got) {
		begin := time.Now()
		get("http://a.test/1")
		if d := time.Since(begin); d != 500*time.Millisecond {
			t.Errorf("2 s at speed 4 took %v", d)
		}
		g := get("http://a.test/2")
		if g.status != 429 || g.header.Get("Retry-After") != "10" {
			t.Errorf("status %d, Retry-After %q", g.status, g.header.Get("Retry-After"))
		}
		time.Sleep(10 * time.Second)
		if g := get("http://a.test/2"); g.status != 200 {
			t.Errorf("status %d after the announced wait", g.status)
		}
	})
}

// Every announced wait is kept to the second: one request as it ends is let in, and none before.
func TestAnnouncedWaits(t *testing.T) {
	for name, c := range map[string]struct {
		limit Limit
		tell  Tell
	}{
		"bucket, seconds":       {Limit{Kind: Bucket, N: 1, Per: 4 * time.Second, Burst: 2}, TellSeconds},
		"bucket, penalty":       {Limit{Kind: Bucket, N: 1, Per: 4 * time.Second, Burst: 2, Penalty: 9 * time.Second}, TellSeconds},
		"fixed, date":           {Limit{Kind: Fixed, N: 2, Per: 7 * time.Second}, TellDate},
		"fixed, x-ratelimit":    {Limit{Kind: Fixed, N: 2, Per: 7 * time.Second}, TellXRateLimit},
		"sliding, unix":         {Limit{Kind: Sliding, N: 2, Per: 7 * time.Second}, TellXRateLimitUnix},
		"sliding, draft":        {Limit{Kind: Sliding, N: 2, Per: 7 * time.Second}, TellDraft},
		"fixed, draft and date": {Limit{Kind: Fixed, N: 2, Per: 7 * time.Second}, TellDraft | TellDate},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, one(Policy{Limits: []Limit{c.limit}, Tell: c.tell}), func(t *testing.T, w *World, get func(string) got) {
				time.Sleep(300 * time.Millisecond)
				for i := range 2 {
					if g := get(fmt.Sprintf("http://a.test/%d", i)); g.status != 200 {
						t.Fatalf("request %d: status %d", i, g.status)
					}
				}
				g := get("http://a.test/over")
				if g.status != 429 {
					t.Fatalf("status %d past the limit", g.status)
				}
				wait := announcedWait(t, g.header)
				if wait <= 0 || wait > 20*time.Second {
					t.Fatalf("announced %v in %v", wait, g.header)
				}
				time.Sleep(wait / 2)
				if g := get("http://a.test/early"); g.status != 429 && c.limit.Kind != Bucket {
					t.Errorf("status %d in the middle of the wait", g.status)
				}
				if n := w.site("a.test").SentDuringWait; n != 1 {
					t.Errorf("%d sent during the wait, want 1", n)
				}
				time.Sleep(wait)
				if g := get("http://a.test/after"); g.status != 200 {
					t.Errorf("status %d after the announced wait", g.status)
				}
				if n := w.site("a.test").SentDuringWait; n != 1 {
					t.Errorf("%d sent during the wait after it, want 1", n)
				}
			})
		})
	}
}

// announcedWait reads an announcement as a client would.
func announcedWait(t *testing.T, h http.Header) time.Duration {
	t.Helper()
	var n int64
	switch v := h.Get("Retry-After"); {
	case strings.HasSuffix(v, "GMT"):
		at, err := http.ParseTime(v)
		if err != nil {
			t.Fatal(err)
		}
		return time.Until(at)
	case v != "":
		fmt.Sscan(v, &n)
		return time.Duration(n) * time.Second
	}
	if v := h.Get("RateLimit"); v != "" {
		if _, err := fmt.Sscanf(v, `"default";r=0;t=%d`, &n); err != nil {
			t.Fatalf("%q: %v", v, err)
		}
		return time.Duration(n) * time.Second
	}
	fmt.Sscan(h.Get("X-RateLimit-Reset"), &n)
	if n > 1e6 {
		return time.Until(time.Unix(n, 0))
	}
	return time.Duration(n) * time.Second
}

func TestBareRefusalAnnouncesNothing(t *testing.T) {
	bubble(t, one(Policy{Limits: []Limit{{Kind: Fixed, N: 1, Per: time.Minute}}}), func(t *testing.T, w *World, get func(string) got) {
		get("http://a.test/1")
		g := get("http://a.test/2")
		time.Sleep(time.Second)
		get("http://a.test/3")
		for name := range g.header {
			if strings.Contains(strings.ToLower(name), "rate") || name == "Retry-After" {
				t.Errorf("header %s", name)
			}
		}
		if c := w.site("a.test"); c.Refused != 2 || c.SentDuringWait != 0 {
			t.Errorf("counters %+v", c)
		}
	})
}

func TestCountersOnEveryAnswer(t *testing.T) {
	bubble(t, one(Policy{Limits: []Limit{{Kind: Fixed, N: 3, Per: time.Minute}}, Tell: TellXRateLimit}), func(t *testing.T, w *World, get func(string) got) {
		for want := 2; want >= 0; want-- {
			g := get(fmt.Sprint("http://a.test/", want))
			if g.header.Get("X-RateLimit-Limit") != "3" || g.header.Get("X-RateLimit-Remaining") != fmt.Sprint(want) {
				t.Errorf("limit %q, remaining %q, want 3, %d", g.header.Get("X-RateLimit-Limit"), g.header.Get("X-RateLimit-Remaining"), want)
			}
		}
	})
}

func TestConcurrencyLimit(t *testing.T) {
	bubble(t, one(Policy{Limits: []Limit{{Kind: Concurrency, N: 2}}, Tell: TellSeconds}), func(t *testing.T, w *World, get func(string) got) {
		statuses := make(chan int, 5)
		for i := range 5 {
			go func() { statuses <- get(fmt.Sprint("http://a.test/", i)).status }()
		}
		count := map[int]int{}
		for range 5 {
			count[<-statuses]++
		}
		if count[200] != 2 || count[429] != 3 {
			t.Errorf("answers %v", count)
		}
		c := w.site("a.test")
		if c.PeakInFlight != 5 || c.InFlight != 0 || c.Accepted != 2 || c.Refused != 3 {
			t.Errorf("counters %+v", c)
		}
		if g := get("http://a.test/late"); g.status != 200 {
			t.Errorf("status %d once the slots were free", g.status)
		}
	})
}

func TestMoods(t *testing.T) {
	for name, c := range map[string]struct {
		moods  Moods
		status int
		part   string
		count  func(SiteCounters) int64
	}{
		"not found": {Moods{NotFound: 1}, 404, "Not found", func(c SiteCounters) int64 { return c.NotFound }},
		"blocked":   {Moods{Blocked: 1}, 403, "Access denied", func(c SiteCounters) int64 { return c.Blocked }},
		"challenge": {Moods{Challenge: 1}, 403, "Just a moment", func(c SiteCounters) int64 { return c.Blocked }},
		"soft":      {Moods{Soft: 1}, 200, "Something went wrong", func(c SiteCounters) int64 { return c.Soft }},
		"empty":     {Moods{Empty: 1}, 200, "", func(c SiteCounters) int64 { return c.Soft }},
		"redirect":  {Moods{Redirect: 1}, 301, "", func(c SiteCounters) int64 { return c.Redirected }},
		"login":     {Moods{Login: 1}, 302, "", func(c SiteCounters) int64 { return c.Blocked }},
		"fail":      {Moods{Fail: 1}, 500, "internal error", func(c SiteCounters) int64 { return c.Failed }},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, one(Policy{Moods: c.moods}), func(t *testing.T, w *World, get func(string) got) {
				g := get("http://a.test/p/1?q=2")
				if g.status != c.status || !strings.Contains(g.body, c.part) || (c.part == "" && g.body != "") || g.err != nil {
					t.Errorf("status %d, body %q, error %v", g.status, g.body, g.err)
				}
				if s := w.site("a.test"); c.count(s) != 1 || s.Accepted != 0 {
					t.Errorf("counters %+v", s)
				}
				if to := g.header.Get("Location"); name == "redirect" {
					if next := get("http://a.test" + to); next.status != 200 || to != "/moved/p/1?q=2" {
						t.Errorf("redirect to %q gave %d", to, next.status)
					}
				}
			})
		})
	}
}

func TestShares(t *testing.T) {
	bubble(t, one(Policy{Moods: Moods{NotFound: 0.2, Blocked: 0.1, Soft: 0.1, Fail: 0.25}}), func(t *testing.T, w *World, get func(string) got) {
		const n = 2000
		for i := range n {
			get(fmt.Sprint("http://a.test/", i))
		}
		c := w.site("a.test")
		for name, x := range map[string][2]float64{"not found": {float64(c.NotFound), 0.2}, "blocked": {float64(c.Blocked), 0.1},
			"soft": {float64(c.Soft), 0.1}, "failed": {float64(c.Failed), 0.25 * 0.6}} {
			if share := x[0] / n; share < x[1]-0.03 || share > x[1]+0.03 {
				t.Errorf("%s: share %.3f, want about %.2f", name, share, x[1])
			}
		}
		if sum := c.Accepted + c.NotFound + c.Blocked + c.Soft + c.Failed; sum != n || c.Requests != n {
			t.Errorf("outcomes sum to %d of %d", sum, c.Requests)
		}
	})
}

func TestDroppedConnectionsInMemory(t *testing.T) {
	bubble(t, one(Policy{Moods: Moods{Reset: 1}}), func(t *testing.T, w *World, get func(string) got) {
		if g := get("http://a.test/"); !errors.Is(g.err, syscall.ECONNRESET) {
			t.Errorf("error %v", g.err)
		}
	})
	bubble(t, one(Policy{Moods: Moods{Truncate: 1}}), func(t *testing.T, w *World, get func(string) got) {
		if g := get("http://a.test/"); !errors.Is(g.err, io.ErrUnexpectedEOF) || g.status != 200 || g.body == "" {
			t.Errorf("status %d, %d bytes, error %v", g.status, len(g.body), g.err)
		}
		if c := w.site("a.test"); c.Dropped != 1 || c.Accepted != 0 {
			t.Errorf("counters %+v", c)
		}
	})
}

func TestPhases(t *testing.T) {
	o := one(Policy{}, Phase{At: 10 * time.Second, Policy: Policy{Down: true, DownWait: 5 * time.Second}}, Phase{At: 20 * time.Second})
	bubble(t, o, func(t *testing.T, w *World, get func(string) got) {
		if g := get("http://a.test/"); g.status != 200 {
			t.Errorf("status %d at first", g.status)
		}
		time.Sleep(10 * time.Second)
		if g := get("http://a.test/"); g.status != 503 || g.header.Get("Retry-After") != "5" {
			t.Errorf("status %d, Retry-After %q while down", g.status, g.header.Get("Retry-After"))
		}
		time.Sleep(2 * time.Second)
		get("http://a.test/")
		time.Sleep(10 * time.Second)
		if g := get("http://a.test/"); g.status != 200 {
			t.Errorf("status %d afterwards", g.status)
		}
		if c := w.site("a.test"); c.Busy != 2 || c.SentDuringWait != 1 {
			t.Errorf("counters %+v", c)
		}
	})
}

func TestLatencyGrows(t *testing.T) {
	took := func(get func(string) got) time.Duration {
		begin := time.Now()
		get("http://a.test/")
		return time.Since(begin)
	}
	bubble(t, one(Policy{Latency: Latency{Median: time.Second, Drift: time.Second, DriftMax: 2 * time.Second}}), func(t *testing.T, w *World, get func(string) got) {
		first := took(get)
		time.Sleep(time.Minute)
		second := took(get)
		time.Sleep(time.Hour)
		if third := took(get); first != time.Second || second < 2*time.Second || third != 3*time.Second {
			t.Errorf("%v, then %v, then %v", first, second, third)
		}
	})
	bubble(t, one(Policy{Latency: Latency{Median: time.Second, Cold: 4 * time.Second, ColdFor: 2}}), func(t *testing.T, w *World, get func(string) got) {
		if a, b, c := took(get), took(get), took(get); a != 5*time.Second || b != 3*time.Second || c != time.Second {
			t.Errorf("%v, %v, %v", a, b, c)
		}
	})
	bubble(t, one(Policy{Latency: Latency{Median: time.Second, PerInFlight: time.Second}}), func(t *testing.T, w *World, get func(string) got) {
		go get("http://a.test/other")
		synctest.Wait()
		if d := took(get); d != 2*time.Second {
			t.Errorf("beside another request: %v", d)
		}
	})
}

func TestAbortedRequests(t *testing.T) {
	bubble(t, one(Policy{Latency: Latency{Median: time.Minute}}), func(t *testing.T, w *World, get func(string) got) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if g := fetch(ctx, w.RoundTripper(), "GET", "http://a.test/", ""); !errors.Is(g.err, context.DeadlineExceeded) {
			t.Errorf("error %v", g.err)
		}
		if c := w.site("a.test"); c.Aborted != 1 || c.Accepted != 0 || c.InFlight != 0 {
			t.Errorf("counters %+v", c)
		}
	})
}

func TestRobots(t *testing.T) {
	bubble(t, one(Policy{CrawlDelay: 1500 * time.Millisecond, Disallow: []string{"/private/"}}), func(t *testing.T, w *World, get func(string) got) {
		want := "User-agent: *\nDisallow: /private/\nCrawl-delay: 1.5\n"
		if g := get("http://a.test/robots.txt"); g.body != want {
			t.Errorf("robots.txt %q", g.body)
		}
		get("http://a.test/private/1")
		if c := w.site("a.test"); c.Robots != 1 || c.Disallowed != 1 || c.Requests != 1 {
			t.Errorf("counters %+v", c)
		}
	})
	bubble(t, one(Policy{NoRobots: true}), func(t *testing.T, w *World, get func(string) got) {
		if g := get("http://a.test/robots.txt"); g.status != 404 {
			t.Errorf("status %d", g.status)
		}
	})
}

func TestScriptedURLs(t *testing.T) {
	bubble(t, one(Policy{}), func(t *testing.T, w *World, get func(string) got) {
		begin := time.Now()
		url := "http://a.test/?sim_status=429&sim_wait=3&sim_delay=5s&sim_times=2"
		for range 2 {
			if g := get(url); g.status != 429 || g.header.Get("Retry-After") != "3" {
				t.Errorf("status %d, Retry-After %q", g.status, g.header.Get("Retry-After"))
			}
		}
		if d := time.Since(begin); d != 10*time.Second {
			t.Errorf("two answers took %v", d)
		}
		if g := get(url); g.status != 200 {
			t.Errorf("status %d at the third try", g.status)
		}
		if g := get("http://a.test/?sim_status=999"); g.status != 999 {
			t.Errorf("status %d", g.status)
		}
	})
}

func TestUnknownHosts(t *testing.T) {
	bubble(t, Options{Sites: []Site{}}, func(t *testing.T, w *World, get func(string) got) {
		if g := get("http://new.test/"); g.status != 200 {
			t.Errorf("a host that can only be simulated: %d", g.status)
		}
		if g := get("http://real.com/"); g.status != 404 {
			t.Errorf("a real host: %d", g.status)
		}
	})
}

func BenchmarkInMemory(b *testing.B) {
	w := New(Options{Sites: []Site{{Host: "a.test", Policy: Policy{Latency: Latency{Median: 1}}}}})
	rt := w.RoundTripper()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		fetch(b.Context(), rt, "GET", "http://a.test/p/x", "")
	}
}
