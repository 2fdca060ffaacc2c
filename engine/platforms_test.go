package engine

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"dev.scrapetop/engine/simulator"
	"dev.scrapetop/storage"
)

// inOurTime moves a bubble's clock from 2000 to when Unix times have ten digits.
func inOurTime() { time.Sleep(time.Until(time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC))) }

func spidraConfig() Config {
	return Config{
		Provider: Spidra, BaseURL: "http://spidra.sim/api", ResubmitUnknown: true,
		Credentials: []Credential{{Name: "main", Key: "spd_demo"}},
	}
}

func omniConfig() Config {
	return Config{
		Provider: OmniScrape, BaseURL: "http://omniscrape.sim", ResubmitUnknown: true,
		Credentials: []Credential{{Name: "main", Key: "omni-demo"}},
	}
}

func TestSpidraBatchesAList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inOurTime()
		w := simulator.New(simulator.Options{})
		d := driveRun(t, spidraConfig(), w.RoundTripper(), pages(1000), nil)
		c := w.Counters().Spidra
		t.Logf("%+v\n%+v", d.summary, c)
		if d.end.State != storage.RunFinished || d.summary.Accepted != 1000 || d.summary.Records != 1000 {
			t.Fatalf("end %+v", d.end)
		}
		if d.summary.Requests > 250 || d.summary.Limited.Rate > 0 {
			t.Errorf("%d requests for 1,000 URLs, %d refused by the window", d.summary.Requests, d.summary.Limited.Rate)
		}
	})
}

func TestSpidraSingleScrapesStayInsideTheWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inOurTime()
		w := simulator.New(simulator.Options{})
		cfg := spidraConfig()
		cfg.Batch = 1
		d := driveRun(t, cfg, w.RoundTripper(), pages(200), nil)
		t.Logf("%+v\n%+v", d.summary, w.Counters().Spidra)
		if d.summary.Accepted != 200 || d.summary.Limited.Rate > 0 || d.summary.Limited.Pending > 2 {
			t.Fatalf("end %+v", d.end)
		}
	})
}

func TestSpidraCrawlKeepsPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inOurTime()
		w := simulator.New(simulator.Options{})
		cfg := spidraConfig()
		cfg.Crawl = true
		cfg.Options = map[string]any{"maxPages": 10}
		d := driveRun(t, cfg, w.RoundTripper(), []string{"http://books.example/", "http://garden.example/"}, nil)
		t.Logf("%+v\n%+v", d.summary, w.Counters().Spidra)
		if d.summary.Tasks != 2 || d.summary.Accepted != 2 || d.summary.Records < 4 {
			t.Fatalf("end %+v summary %+v", d.end, d.summary)
		}
	})
}

func TestSpidraBusyIsCountedApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inOurTime()
		w := simulator.New(simulator.Options{})
		w.SetSpidraBusy(true)
		d := driveRun(t, spidraConfig(), w.RoundTripper(), pages(100), func(*Engine) {
			time.Sleep(3 * time.Minute)
			w.SetSpidraBusy(false)
		})
		if d.summary.Accepted != 100 || d.summary.Busy == 0 || d.summary.Limited != (storage.LimitedCounts{}) {
			t.Fatalf("summary %+v", d.summary)
		}
	})
}

func TestSpidraLostSubmitIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inOurTime()
		w := simulator.New(simulator.Options{})
		list := pages(30)
		for i := range list {
			if i == 0 {
				list[i] += "?sim_outer=reset-after&sim_times=1"
			}
		}
		d := driveRun(t, spidraConfig(), w.RoundTripper(), list, nil)
		c := w.Counters().Spidra
		t.Logf("%+v\n%+v", d.summary, c)
		if d.summary.Accepted != 30 || d.summary.Records != 30 {
			t.Fatalf("end %+v", d.end)
		}
		for name, a := range c.Accounts {
			if a.DuplicateScrapes > 0 {
				t.Errorf("%s: %d scrapes twice", name, a.DuplicateScrapes)
			}
		}
	})
}

func TestOmniScrapeBothWays(t *testing.T) {
	for _, async := range []bool{false, true} {
		t.Run(fmt.Sprintf("async %v", async), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				inOurTime()
				w := simulator.New(simulator.Options{})
				cfg := omniConfig()
				cfg.Async = async
				d := driveRun(t, cfg, w.RoundTripper(), pages(150), nil)
				t.Logf("%+v\n%+v", d.summary, w.Counters().OmniScrape)
				if d.summary.Accepted != 150 || d.summary.Records != 150 {
					t.Fatalf("end %+v", d.end)
				}
			})
		})
	}
}

// TestOmniScrapeInnerRefusalCoolsTheDomainAlone: the target's 429 inside a good envelope holds that domain and nobody else.
func TestOmniScrapeInnerRefusalCoolsTheDomainAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inOurTime()
		w := simulator.New(simulator.Options{})
		list := pages(50)
		for i := range 5 {
			list = append(list, fmt.Sprintf("http://slow.pages.test/p/%d?sim_status=429&sim_wait=30&sim_times=1", i))
		}
		d := driveRun(t, omniConfig(), w.RoundTripper(), list, nil)
		t.Logf("%+v", d.summary)
		if d.summary.Accepted != 55 || d.summary.Limited.Target == 0 || d.summary.Limited.Account > 2 {
			t.Fatalf("end %+v", d.end)
		}
	})
}
