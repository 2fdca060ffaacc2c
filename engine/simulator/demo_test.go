package simulator

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestDemo(t *testing.T) {
	sites, urls := DemoSites(), DemoURLs()
	if len(sites) < 38 || len(urls) < 1500 || len(urls) > 3000 {
		t.Errorf("%d sites, %d URLs", len(sites), len(urls))
	}
	seen, early := map[string]bool{}, map[string]bool{}
	for i, u := range urls {
		if seen[u] {
			t.Errorf("%s twice", u)
		}
		seen[u] = true
		if i < 2*len(sites) {
			early[strings.SplitN(u, "/", 4)[2]] = true
		}
	}
	if len(early) != len(sites) {
		t.Errorf("%d of %d sites among the first URLs", len(early), len(sites))
	}
	// Three careless requests at a time to every site for a minute: all that the demo is to show must happen.
	synctest.Test(t, func(t *testing.T) {
		w := New(Options{})
		rt := w.RoundTripper()
		bySite := map[string][]string{}
		for _, u := range urls {
			host := strings.SplitN(u, "/", 4)[2]
			bySite[host] = append(bySite[host], u)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for _, list := range bySite {
			queue := make(chan string, len(list))
			for _, u := range list {
				queue <- u
			}
			for range 3 {
				go func() {
					for ctx.Err() == nil {
						select {
						case u := <-queue:
							fetch(ctx, rt, "GET", u, "")
						default:
							return
						}
					}
				}()
			}
		}
		<-ctx.Done()
		synctest.Wait()
		var sum SiteCounters
		for _, c := range w.Counters().Sites {
			sum.Accepted += c.Accepted
			sum.Refused += c.Refused
			sum.Busy += c.Busy
			sum.Blocked += c.Blocked
			sum.NotFound += c.NotFound
			sum.Soft += c.Soft
			sum.Failed += c.Failed
			sum.Dropped += c.Dropped
			sum.Redirected += c.Redirected
		}
		for name, n := range map[string]int64{"accepted": sum.Accepted, "refused": sum.Refused, "busy": sum.Busy, "blocked": sum.Blocked,
			"not found": sum.NotFound, "soft": sum.Soft, "failed": sum.Failed, "dropped": sum.Dropped, "redirected": sum.Redirected} {
			if n == 0 {
				t.Errorf("nothing was %s in the first minute", name)
			}
		}
	})
}
