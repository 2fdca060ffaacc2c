package simulator

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestSpidraFaults is spidra 15, spidra 17: each fault of a submit, and the duplicates and charges that follow.
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

// TestSpidraPollFaults is spidra 15: each fault of a poll.
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

// TestSpidraDedupe is spidra 16: identical submits within a window are one.
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
