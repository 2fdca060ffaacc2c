package cli

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
)

func free(t *testing.T) (net.Listener, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l, l.Addr().String()
}

func get(t *testing.T, url string) string {
	resp, err := http.Get(url)
	if err != nil {
		t.Error(err)
		return ""
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

// TestMetricsAreServedWhileTheRunGoesOn: a page looks at them while it is fetched, and afterwards the address is free again.
func TestMetricsAreServedWhileTheRunGoesOn(t *testing.T) {
	l, address := free(t)
	l.Close()
	wanted := map[string]string{"/metrics": "\nscrapetop_requests_total 2\n", "/healthz": "run 1 is running\n"}
	var told atomic.Int64
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		for path, want := range wanted {
			for !strings.Contains(get(t, "http://"+address+path), want) && t.Context().Err() == nil && r.Context().Err() == nil {
				runtime.Gosched() // a picture of the run comes while somebody looks
			}
			told.Add(1)
		}
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<!doctype html><title>page</title><p>text</p>")
	}))
	defer site.Close()
	s := newShell(t)
	if got := s.run("run", "--headless", "--metrics", address, site.URL+"/a"); got.code != exitOK || told.Load() != 2 {
		t.Fatalf("%+v", got)
	}
	http.DefaultClient.CloseIdleConnections()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatalf("the address is still taken: %v", err)
	}
	l.Close()
}

// TestMetricsOnAnAddressThatIsTaken: nothing begins, and nothing is left to resume.
func TestMetricsOnAnAddressThatIsTaken(t *testing.T) {
	l, address := free(t)
	defer l.Close()
	s := newShell(t)
	for _, c := range []struct{ address, why string }{{address, "address already in use"}, {"no address", "missing port"}, {"127.0.0.1:99999", "invalid port"}} {
		got := s.run("run", "--headless", "--metrics", c.address, "http://127.0.0.1:1/a")
		if got.code != exitUsage || !strings.Contains(got.err, "--metrics "+c.address) || !strings.Contains(got.err, c.why) || strings.Count(got.err, c.address) > 2 {
			t.Errorf("%+v", got)
		}
	}
	if got := s.run("history"); strings.Contains(got.out, "direct") {
		t.Errorf("a run was left: %+v", got)
	}
}
