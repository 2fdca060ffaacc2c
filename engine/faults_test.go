package engine

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"dev.scrapetop/engine/simulator"
	"dev.scrapetop/storage"
)

// rough is a server without manners on loopback: what it does with a connection is said by path.
type rough struct {
	port string
	mu   sync.Mutex
	does map[string]func(net.Conn)
	got  map[string][]string // header sections by path
}

func newRough(t *testing.T) *rough {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	s := &rough{port: port, does: map[string]func(net.Conn){}, got: map[string][]string{}}
	var open sync.WaitGroup
	open.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			open.Go(func() {
				defer c.Close()
				s.serve(c)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		open.Wait()
	})
	return s
}

func (s *rough) serve(c net.Conn) {
	r, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil {
		return
	}
	var h strings.Builder
	_ = r.Header.Write(&h)
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.got[r.URL.Path] = append(s.got[r.URL.Path], h.String()+string(body))
	do := s.does[r.URL.Path]
	s.mu.Unlock()
	if do == nil {
		do = says200
	}
	do(c)
}

func says200(c net.Conn) {
	fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 20\r\nConnection: close\r\n\r\n<html>a page</html>\n")
}

func sends(text string) func(net.Conn) {
	return func(c net.Conn) { _, _ = io.WriteString(c, text) }
}

// cut breaks the connection off so that the other side meets a reset.
func cut(c net.Conn) {
	_ = c.(*net.TCPConn).SetLinger(0)
	c.Close()
}

// endless sends a text over and over, every so often, until the other side has had enough.
func endless(begin, again string, every time.Duration) func(net.Conn) {
	return func(c net.Conn) {
		_, err := io.WriteString(c, begin)
		for err == nil {
			if every > 0 {
				<-time.After(every)
			}
			_, err = io.WriteString(c, again)
		}
	}
}

func squeezed(n int) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(make([]byte, n))
	z.Close()
	return b.String()
}

// rows are the records of a run, as an export tells them.
func rows(t *testing.T, st *storage.Store, run int64, what string) (all []map[string]any) {
	t.Helper()
	var b bytes.Buffer
	if _, err := st.Export(t.Context(), &b, storage.ExportSpec{What: what, Run: run}); err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(&b); ; {
		var row map[string]any
		if err := d.Decode(&row); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, row)
	}
}

// met is what has to stand in the database of a fault: outcome and layer of the last attempt at the task, a part of its error,
// what became of the task, and a part of an event.
type met struct {
	outcome, layer, error string
	state, reason         string
	event                 string
}

// meet drives a run of one faulty URL beside a good one of another domain, and compares.
func meet(t *testing.T, cfg Config, faulty, good string, want met) {
	t.Helper()
	ctx := context.Background()
	st, err := storage.Open(ctx, filepath.Join(t.TempDir(), "t.db"), storage.Options{Fast: true})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	run, err := st.CreateRun(ctx, storage.RunSpec{Name: "t", Input: "t", Provider: cfg.Provider})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Headless, cfg.Seed, cfg.MaxWait = true, 1, 500*time.Millisecond
	e, err := New(cfg, st, run)
	if err != nil {
		t.Fatal(err)
	}
	var tasks []storage.NewTask
	for _, u := range []string{faulty, good} {
		if u != "" {
			r, err := http.NewRequest("GET", u, nil)
			if err != nil {
				t.Fatal(err)
			}
			tasks = append(tasks, storage.NewTask{URL: u, InputURL: u, Domain: r.URL.Hostname()})
		}
	}
	end, err := fedRun(t, e, tasks)
	if err != nil {
		t.Fatal(err)
	}
	var got met
	for _, row := range rows(t, st, run.ID, "tasks") {
		switch row["url"] {
		case good:
			if row["state"] != "accepted" {
				t.Errorf("the good page beside it: %v", row)
			}
		default:
			got.state = fmt.Sprint(row["state"])
			if row["reason"] != nil {
				got.reason = fmt.Sprint(row["reason"])
			}
		}
	}
	var attempts []string
	for _, row := range rows(t, st, run.ID, "attempts") {
		attempts = append(attempts, fmt.Sprint(row))
		if row["kind"] != "probe" && row["url"] != good || good == "" {
			got.outcome, got.layer, got.error = fmt.Sprint(row["outcome"]), fmt.Sprint(row["layer"]), fmt.Sprint(row["error"])
		}
	}
	var events []string
	for _, row := range rows(t, st, run.ID, "events") {
		events = append(events, fmt.Sprint(row["text"]))
	}
	if !strings.Contains(got.error, want.error) || got.outcome != want.outcome || got.layer != want.layer || got.state != want.state || got.reason != want.reason {
		t.Errorf("got  %+v\nwant %+v\n%s", got, want, strings.Join(attempts, "\n"))
	}
	if all := strings.Join(events, "\n"); !strings.Contains(all, want.event) {
		t.Errorf("no event tells %q:\n%s", want.event, all)
	}
	// Work left or none: the run says which.
	switch left := want.state != "accepted" && want.state != "dead"; {
	case left && (end.State == storage.RunFinished || end.Left == 0), !left && end.State != storage.RunFinished:
		t.Errorf("end %+v", end)
	}
}

// fedRun drives a run that is given these tasks, to its end.
func fedRun(t *testing.T, e *Engine, tasks []storage.NewTask) (end Ending, err error) {
	t.Helper()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		end, err = e.Run(context.Background())
	}()
	if _, err := e.Feed(t.Context(), tasks); err != nil {
		t.Error(err)
	}
	e.FeedDone()
	<-ended
	return end, err
}

// TestFaults: what a network can do to a request ends as the contract's outcome, in the events, and the run goes on beside it.
func TestFaults(t *testing.T) {
	s := newRough(t)
	self := httptest.NewUnstartedServer(http.NotFoundHandler())
	self.Config.ErrorLog = log.New(io.Discard, "", 0)
	self.StartTLS()
	t.Cleanup(self.Close)
	ours, other := "http://127.0.0.1:"+s.port, "http://localhost:"+s.port
	lost := func(why string) met {
		return met{"transport", "transport", why, "dead", "attempts", "dead letter: attempts: "}
	}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + closed.Addr().String() + "/"
	closed.Close()
	const ok = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
	for _, c := range []struct {
		name string
		url  string // empty: a page of the server, where does is done
		does func(net.Conn)
		want met
	}{
		{"name does not resolve", "http://" + strings.Repeat("a", 64) + ".test/", nil, lost("dns")},
		{"nobody listens", nobody, nil, lost("connect")},
		{"TLS with somebody who speaks none", "https://127.0.0.1:" + s.port + "/", nil, lost("tls")},
		{"TLS with an unknown authority", self.URL, nil, lost("tls")},
		{"reset before any answer", "", cut, lost("reset")},
		{"reset amid the header", "", func(c net.Conn) { fmt.Fprint(c, ok[:20]); cut(c) }, lost("")},
		{"closed amid the body", "", sends(ok + "Content-Length: 1000\r\n\r\npart"), lost("truncated")},
		{"silence", "", func(c net.Conn) { _, _ = c.Read(make([]byte, 1)) }, lost("timeout")},
		{"slow body", "", endless(ok+"Content-Length: 60000\r\n\r\n", "x", 20*time.Millisecond), lost("timeout")},
		{"slow header", "", endless(ok, "X-More: x\r\n", 20*time.Millisecond), lost("timeout")},
		{"endless body", "", endless(ok+"\r\n", strings.Repeat("x", 4096), 0), met{"too_large", "target", "", "dead", "too_large", "dead letter: too_large"}},
		{"endless header", "", endless(ok, "X-More: "+strings.Repeat("x", 4096)+"\r\n", 0), lost("protocol")},
		{"header flood", "", sends(ok + strings.Repeat("X-Many: y\r\n", 3000) + "Content-Length: 9\r\nConnection: close\r\n\r\n<p>ok</p>"), met{"accepted", "", "", "accepted", "", "the run finished"}},
		{"gzip bomb", "", sends(ok + "Content-Encoding: gzip\r\nConnection: close\r\n\r\n" + squeezed(10<<20)), met{"too_large", "target", "", "dead", "too_large", "dead letter: too_large"}},
		{"redirect loop", "", nil, met{"failed", "", "too many redirects", "dead", "attempts", "too many redirects"}},
		{"redirect to an address that no input named", "", sends("HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/secret\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"), met{"refused", "target", "forbidden", "dead", "refused", "dead letter: refused: forbidden"}},
		{"redirect to nowhere", "", sends("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:99999/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"), met{"failed", "target", "port", "dead", "attempts", "dead letter: attempts"}},
		{"not HTTP", "", sends("SSH-2.0-x\r\n\r\n"), lost("protocol")},
	} {
		t.Run(c.name, func(t *testing.T) {
			path, url := "/"+strings.ReplaceAll(c.name, " ", "-"), c.url
			if url == "" {
				url = ours + path
				do := c.does
				if do == nil {
					do = sends("HTTP/1.1 302 Found\r\nLocation: " + path + "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
				}
				s.mu.Lock()
				s.does[path] = do
				s.mu.Unlock()
			}
			meet(t, Config{MaxAttempts: 1, Timeout: 400 * time.Millisecond, MaxBody: 64 << 10}, url, other+"/good"+path, c.want)
		})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.got["/redirect-loop"]); n != 11 {
		t.Errorf("the loop was followed %d times, want 10 hops", n-1)
	}
}

// TestKeysDoNotTravel: a redirect to another host takes along neither the headers of the configuration nor a platform's key.
func TestKeysDoNotTravel(t *testing.T) {
	s := newRough(t)
	other := "http://localhost:" + s.port
	s.does["/from"] = sends("HTTP/1.1 302 Found\r\nLocation: " + other + "/to\r\nSet-Cookie: session=s3cret\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
	cfg := Config{MaxAttempts: 1, Header: http.Header{"Authorization": {"Bearer s3cret"}, "Cookie": {"id=s3cret"}, "X-Api-Key": {"s3cret"}}}
	meet(t, cfg, "http://127.0.0.1:"+s.port+"/from", other+"/good", met{"accepted", "", "", "accepted", "", ""})
	if !strings.Contains(strings.Join(s.got["/from"], ""), "s3cret") {
		t.Fatal("the headers of the configuration were not sent at all")
	}
	for _, base := range []string{"evomi", "spidra", "omniscrape"} {
		cfg := paidConfigs()[base]
		cfg.BaseURL, cfg.MaxAttempts, cfg.ResubmitUnknown = "http://127.0.0.1:"+s.port+"/base", 1, false
		s.mu.Lock()
		before := len(s.got)
		for _, path := range []string{"/base/api/v1/scraper/realtime", "/base/scrape", "/base/batch/scrape", "/base/v1/scrape"} {
			s.does[path] = s.does["/from"]
		}
		s.mu.Unlock()
		inStore(t, func(st *storage.Store) {
			run, err := st.CreateRun(t.Context(), storage.RunSpec{Name: "t", Input: "t", Provider: base})
			if err != nil {
				t.Fatal(err)
			}
			cfg.Headless, cfg.MaxWait = true, time.Millisecond
			e, err := New(cfg, st, run)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := fedRun(t, e, []storage.NewTask{{URL: "http://a.test/", InputURL: "http://a.test/", Domain: "a.test"}}); err != nil && strings.Contains(err.Error(), simulator.DemoKey) {
				t.Error(err)
			}
		})
		s.mu.Lock()
		if len(s.got) == before {
			t.Errorf("%s asked nobody", base)
		}
		s.mu.Unlock()
	}
	if all := strings.Join(s.got["/to"], "\n"); all == "" || strings.Contains(all, "s3cret") || strings.Contains(all, simulator.DemoKey) {
		t.Errorf("the other host was sent %q", all)
	}
}
