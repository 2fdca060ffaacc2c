package simulator

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestOmniScrapeCapacity is omniscrape 12: 503 with and without a wait, and a deployment without a queue.
func TestOmniScrapeCapacity(t *testing.T) {
	omniWorld(t, OmniScrapeSettings{BusyWait: 7 * time.Second, Busy: true}, func(t *testing.T, a omn) {
		if g := a.scrape("http://a.test/"); g.status != 503 || g.header.Get("Retry-After") != "7" || g.json(t)["success"] != false {
			t.Errorf("status %d, %v", g.status, g.header)
		}
		time.Sleep(time.Second)
		a.w.SetOmniScrapeBusy(false, true)
		if g := a.submit("http://a.test/"); g.status != 503 {
			t.Errorf("without a queue: %d", g.status)
		}
		if g := a.scrape("http://a.test/"); g.status != 200 {
			t.Errorf("without a queue, synchronously: %d", g.status)
		}
		if c := a.counters(); c.Busy != 2 || c.SentDuringWait != 2 || c.PeakInFlight != 1 {
			t.Errorf("counters %+v", c)
		}
	})
	omniWorld(t, OmniScrapeSettings{NoQueue: true}, func(t *testing.T, a omn) {
		if g := a.submit("http://a.test/"); g.status != 503 || g.header.Get("Retry-After") != "" {
			t.Errorf("status %d, %v", g.status, g.header)
		}
	})
}

// TestOmniScrapeFaults is omniscrape 13, omniscrape 16: each fault of a scrape, and the duplicates that follow.
func TestOmniScrapeFaults(t *testing.T) {
	for fault, c := range map[string]struct {
		status int
		jobs   int64
	}{
		"500": {500, 0}, "503": {503, 0}, "429": {429, 0}, "504": {504, 1}, "reset-before": {0, 0}, "reset-after": {0, 1}, "truncated": {200, 1},
		"empty": {200, 1}, "html": {200, 1}, "slow": {200, 1},
	} {
		for _, async := range []bool{false, true} {
			t.Run(fmt.Sprint(fault, " async ", async), func(t *testing.T) {
				omniWorld(t, OmniScrapeSettings{}, func(t *testing.T, a omn) {
					begin, url, send := time.Now(), "http://a.test/?sim_times=1&sim_outer="+fault, a.scrape
					status := c.status
					if async {
						send = a.submit
						if status == 200 {
							status = 202
						}
					}
					g := send(url)
					if g.status != status || status == 0 && !errors.Is(g.err, syscall.ECONNRESET) {
						t.Errorf("status %d, error %v", g.status, g.err)
					}
					if (fault == "html") != strings.HasPrefix(g.body, "<!doctype") || (fault == "slow") != (time.Since(begin) > 5*time.Second) ||
						fault == "truncated" && strings.HasSuffix(g.body, "}") || fault == "empty" && g.body != "" {
						t.Errorf("after %v: %q", time.Since(begin), g.body)
					}
					if fault == "429" && (g.json(t)["code"] != nil || g.header.Get("Retry-After") != "") {
						t.Errorf("body %s", g.body)
					}
					a.scrape(url)
					time.Sleep(5 * time.Second)
					if n := a.counters(); n.Jobs != c.jobs+1 || n.Charged != c.jobs+1 || n.DuplicateScrapes != c.jobs || n.DuplicateCharges != c.jobs || n.InFlight != 0 {
						t.Errorf("counters %+v", n)
					}
				})
			})
		}
	}
}

// TestOmniScrapePollFaults is omniscrape 13: each fault of a poll.
func TestOmniScrapePollFaults(t *testing.T) {
	for name, c := range map[string]struct {
		faults PlatformFaults
		status int
	}{
		"500": {PlatformFaults{ServerError: 1}, 500}, "502": {PlatformFaults{BadGateway: 1}, 504}, "503": {PlatformFaults{Unavailable: 1}, 503},
		"reset": {PlatformFaults{ResetBefore: 1}, 0}, "empty": {PlatformFaults{Empty: 1}, 200}, "html": {PlatformFaults{HTML: 1}, 200},
	} {
		omniWorld(t, OmniScrapeSettings{PollFaults: c.faults}, func(t *testing.T, a omn) {
			path := a.async("http://a.test/")
			time.Sleep(3 * time.Second)
			if g := a.call(t.Context(), "GET", path, ""); g.status != c.status || strings.HasSuffix(g.body, "}") && c.status == 200 {
				t.Errorf("%s: status %d, body %q", name, g.status, g.body)
			}
			a.w.SetOmniScrapeFaults(PlatformFaults{}, PlatformFaults{})
			time.Sleep(time.Second)
			if j := a.poll(path); j["status"] != "completed" {
				t.Errorf("%s: then %v", name, j)
			}
		})
	}
}

func TestOmniScrapeShares(t *testing.T) {
	omniWorld(t, OmniScrapeSettings{Faults: PlatformFaults{ServerError: 0.3, ResetAfter: 0.3}}, func(t *testing.T, a omn) {
		by := map[int]int{}
		for i := range 60 {
			by[a.scrape(fmt.Sprint("http://a.test/", i)).status]++
		}
		if by[500] < 8 || by[500] > 30 || by[0] < 8 || by[0] > 30 || by[200] < 10 {
			t.Errorf("%v", by)
		}
		if c := a.counters(); int(c.Charged) != by[200]+by[0] {
			t.Errorf("counters %+v", c)
		}
	})
}
