package engine

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dev.scrapetop/storage"
)

// site is an in-memory server; its handler says status, header and body of each request.
type site struct {
	mu      sync.Mutex
	seen    map[string]int
	times   []time.Time
	handler func(n int, r *http.Request) (int, http.Header, string)
	took    time.Duration
}

func (s *site) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	s.seen[r.URL.String()]++
	n := s.seen[r.URL.String()]
	s.times = append(s.times, time.Now())
	s.mu.Unlock()
	if s.took > 0 {
		select {
		case <-time.After(s.took):
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	status, h, body := 200, http.Header{}, "<html><h1>page</h1></html>"
	if r.URL.Path == "/robots.txt" {
		status, body = 404, ""
	} else if s.handler != nil {
		var hh http.Header
		s.mu.Lock() // handlers keep counts
		status, hh, body = s.handler(n, r)
		s.mu.Unlock()
		if hh != nil {
			h = hh
		}
	}
	return &http.Response{StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: h, Body: io.NopCloser(bytes.NewReader([]byte(body))), ContentLength: int64(len(body)), Request: r}, nil
}

type drive struct {
	store   *storage.Store
	run     storage.Run
	end     Ending
	summary storage.Summary
}

// driveRun drives one run of urls over rt in a bubble, to its end.
func driveRun(t *testing.T, cfg Config, rt http.RoundTripper, urls []string, during func(*Engine)) drive {
	t.Helper()
	ctx := context.Background()
	st, err := storage.Open(ctx, filepath.Join(t.TempDir(), "t.db"), storage.Options{Fast: true})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	return driveOn(t, st, cfg, rt, urls, during)
}

// driveOn drives another run of a database.
func driveOn(t *testing.T, st *storage.Store, cfg Config, rt http.RoundTripper, urls []string, during func(*Engine)) drive {
	t.Helper()
	ctx := context.Background()
	run, err := st.CreateRun(ctx, storage.RunSpec{Name: "t", Input: "t", Provider: "direct"})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Transport, cfg.Seed, cfg.Headless = rt, 1, true
	e, err := New(cfg, st, run)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan Ending, 1)
	go func() {
		end, err := e.Run(ctx)
		if err != nil {
			t.Error(err)
		}
		done <- end
	}()
	var tasks []storage.NewTask
	for _, u := range urls {
		tasks = append(tasks, storage.NewTask{URL: u, InputURL: u, Domain: strings.Split(strings.TrimPrefix(u, "http://"), "/")[0]})
	}
	if _, err := e.Feed(ctx, tasks); err != nil {
		t.Fatal(err)
	}
	e.FeedDone()
	if during != nil {
		during(e)
	}
	d := drive{store: st, run: run, end: <-done}
	if d.summary, err = st.Summary(ctx, run.ID); err != nil {
		t.Fatal(err)
	}
	return d
}

func urls(host string, n int) []string {
	var u []string
	for i := range n {
		u = append(u, fmt.Sprintf("http://%s/p/%d", host, i))
	}
	return u
}

func TestRunAcceptsEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &site{seen: map[string]int{}, took: 50 * time.Millisecond}
		d := driveRun(t, Config{Robots: true}, s, append(urls("a.test", 200), urls("b.test", 50)...), nil)
		if d.end.State != storage.RunFinished || d.summary.Accepted != 250 || d.summary.Records != 250 {
			t.Fatalf("end %+v summary %+v", d.end, d.summary)
		}
		for u, n := range s.seen {
			if n != 1 {
				t.Errorf("%s was asked %d times", u, n)
			}
		}
		if d.summary.Requests != 252 {
			t.Errorf("requests %d, want 250 pages and 2 robots.txt", d.summary.Requests)
		}
	})
}

func TestRetryAfterIsObeyed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &site{seen: map[string]int{}, took: 10 * time.Millisecond}
		var refusedAt time.Time
		var early int
		s.handler = func(n int, r *http.Request) (int, http.Header, string) {
			if refusedAt.IsZero() {
				refusedAt = time.Now()
				return 429, http.Header{"Retry-After": {"7"}}, "slow down"
			}
			if d := time.Since(refusedAt); d > 20*time.Millisecond && d < 7*time.Second {
				early++
			}
			return 200, nil, "<html>ok</html>"
		}
		d := driveRun(t, Config{}, s, urls("a.test", 30), nil)
		if d.summary.Accepted != 30 || early > 0 || d.summary.Limited.Target != 1 || d.summary.Cooldowns != 1 || d.summary.Probes != 1 {
			t.Fatalf("early %d, summary %+v", early, d.summary)
		}
	})
}
