package engine

import (
	"fmt"
	"strings"
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

// TestFieldsGivenByHandHaveTheirType: what --set gives is sent as the type that the platform documents, for every field
// that it documents one for; a wrong type kills every task.
func TestFieldsGivenByHandHaveTheirType(t *testing.T) {
	for name, c := range map[string]struct {
		cfg Config
		set map[string]string
	}{
		"evomi": {evomiConfig(), map[string]string{"mode": "auto", "delivery": "json", "content": "html", "include_content": "true", "async": "false",
			"proxy_type": "residential", "proxy_country": "de", "proxy_session_id": "123456", "block_resources": "image,font", "wait_until": "load",
			"wait_seconds": "1", "additional_headers": `{"accept-language":"en"}`, "capture_headers": "true", "no_html": "false"}},
		"spidra": {spidraConfig(), map[string]string{"prompt": "12", "output": "json", "schema": `{"type":"object"}`, "useProxy": "true", "proxyCountry": "de",
			"extractContentOnly": "true", "screenshot": "false", "fullPageScreenshot": "false", "scrapeMode": "fast"}},
		"spidra crawl": {spidraConfig(), map[string]string{"crawlInstruction": "7", "transformInstruction": "12", "maxPages": "2", "maxDepth": "2",
			"includePaths": "/", "excludePaths": "/x,/y", "webhookUrl": "http://a.test/"}},
		"omniscrape": {omniConfig(), map[string]string{"mode": "auto", "output_format": "html", "js_rendering": "true"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				inOurTime()
				c.cfg.Options, c.cfg.Crawl = map[string]any{}, strings.HasSuffix(name, "crawl")
				for field, text := range c.set {
					v, err := ParseOption(c.cfg.Provider, field, text)
					if err != nil {
						t.Fatal(err)
					}
					c.cfg.Options[field] = v
				}
				w := simulator.New(simulator.Options{})
				if d := driveRun(t, c.cfg, w.RoundTripper(), pages(3), nil); d.summary.Accepted != 3 {
					t.Fatalf("end %+v, summary %+v", d.end, d.summary)
				}
			})
		})
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

// TestSpidraPlanIsObeyed: a plan of fewer requests than documented is kept to although no header tells of it.
func TestSpidraPlanIsObeyed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inOurTime()
		w := simulator.New(simulator.Options{Spidra: simulator.SpidraSettings{Calls: 40, Window: 5 * time.Minute, Sliding: true, QuietHeaders: true, Pending: simulator.SpidraKinds{Scrape: 2}}})
		cfg := spidraConfig()
		cfg.Batch = 1
		cfg.Plan = Plan{Rate: Rate{N: 40, Per: 5 * time.Minute}, PendingScrapes: 2}
		d := driveRun(t, cfg, w.RoundTripper(), pages(40), nil)
		if d.summary.Accepted != 40 || d.summary.Limited != (storage.LimitedCounts{}) {
			t.Fatalf("end %+v, summary %+v", d.end, d.summary)
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

// TestSpidraCrawlIsNotBoughtAgain: --max-age takes over all the pages of a crawl.
func TestSpidraCrawlIsNotBoughtAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inOurTime()
		w := simulator.New(simulator.Options{})
		cfg := spidraConfig()
		cfg.Crawl, cfg.MaxAge = true, time.Hour
		cfg.Options = map[string]any{"maxPages": 10}
		inStore(t, func(st *storage.Store) {
			first := driveOn(t, st, cfg, w.RoundTripper(), []string{"http://books.example/"}, nil)
			second := driveOn(t, st, cfg, w.RoundTripper(), []string{"http://books.example/"}, nil)
			if first.summary.Records < 2 || first.summary.Cached != 0 {
				t.Fatalf("the first: %+v", first.summary)
			}
			if s := second.summary; s.Accepted != 1 || s.Cached != 1 || s.Requests != 0 || s.Records != first.summary.Records {
				t.Fatalf("the second: %+v", s)
			}
		})
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

// TestSpidraLostSingleScrapesAreFound: a single scrape whose answer was lost is found in the logs, by the URL and the shape
// that the platform keeps there, and neither submitted nor charged twice.
func TestSpidraLostSingleScrapesAreFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inOurTime()
		w := simulator.New(simulator.Options{})
		list := pages(12)
		for i := range 4 {
			list[i] += "?sim_outer=reset-after&sim_times=1"
		}
		cfg := spidraConfig()
		cfg.Batch = 1
		d := driveRun(t, cfg, w.RoundTripper(), list, nil)
		a := w.Counters().Spidra.Accounts["demo"]
		if d.summary.Accepted != 12 || d.summary.Records != 12 || a.URLs != 12 || a.DuplicateScrapes != 0 || a.DuplicateCharges != 0 || a.Charges != d.summary.Credits {
			t.Fatalf("end %+v, summary %+v\naccount %+v", d.end, d.summary, a)
		}
	})
}

// TestSpidraLostCrawlIsFound: a crawl whose answer was lost is found in the history of crawls.
func TestSpidraLostCrawlIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inOurTime()
		w := simulator.New(simulator.Options{})
		cfg := spidraConfig()
		cfg.Crawl = true
		d := driveRun(t, cfg, w.RoundTripper(), []string{"http://books.example/?sim_outer=reset-after&sim_times=1", "http://garden.example/"}, nil)
		a := w.Counters().Spidra.Accounts["demo"]
		if d.summary.Accepted != 2 || a.Jobs != 2 || a.DuplicateScrapes != 0 || a.Charges != d.summary.Credits {
			t.Fatalf("end %+v, summary %+v\naccount %+v", d.end, d.summary, a)
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

// TestOmniScrapeWithoutAQueueIsAskedSynchronously: a deployment that answers 503 to every asynchronous submit does not keep
// the run waiting without end.
func TestOmniScrapeWithoutAQueueIsAskedSynchronously(t *testing.T) {
	for _, wait := range []time.Duration{0, 5 * time.Second} {
		t.Run(wait.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				inOurTime()
				w := simulator.New(simulator.Options{OmniScrape: simulator.OmniScrapeSettings{NoQueue: true, BusyWait: wait}})
				cfg := omniConfig()
				cfg.Async, cfg.RunDeadline = true, time.Hour
				d := driveRun(t, cfg, w.RoundTripper(), pages(60), nil)
				a := w.Counters().OmniScrape.Accounts["demo"]
				if d.summary.Accepted != 60 || d.summary.ElapsedSeconds > 120 || a.SentDuringWait != 0 || a.DuplicateScrapes != 0 {
					t.Fatalf("end %+v, summary %+v\naccount %+v", d.end, d.summary, a)
				}
			})
		})
	}
}

// TestOmniScrapeBusyQueueStaysAsynchronous: a queue that took a submit before is busy, not missing.
func TestOmniScrapeBusyQueueStaysAsynchronous(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inOurTime()
		w := simulator.New(simulator.Options{})
		cfg := omniConfig()
		cfg.Async, cfg.RunDeadline = true, time.Hour
		d := driveRun(t, cfg, w.RoundTripper(), pages(200), func(*Engine) {
			time.Sleep(5 * time.Second)
			w.SetOmniScrapeBusy(false, true)
			time.Sleep(2 * time.Minute)
			w.SetOmniScrapeBusy(false, false)
		})
		a := w.Counters().OmniScrape.Accounts["demo"]
		if d.summary.Accepted != 200 || d.summary.Busy < 4 || a.Async != a.Submits {
			t.Fatalf("end %+v, summary %+v\naccount %+v", d.end, d.summary, a)
		}
	})
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

// The numbers that the platforms' users pay for, in virtual time.

func TestEvomiMakespan(t *testing.T) {
	for _, c := range []struct {
		name  string
		limit int
	}{{"limit told by headers alone", 0}, {"limit configured", 5}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				inOurTime()
				w := simulator.New(simulator.Options{
					Sites: []simulator.Site{{Host: "shop.test", Policy: simulator.Policy{Latency: simulator.Latency{Median: 999 * time.Millisecond}}}},
					Evomi: simulator.EvomiSettings{Overhead: time.Millisecond, Accounts: []simulator.EvomiAccount{{Name: "demo", Key: simulator.DemoKey, Credits: 1e6, Concurrency: 5}}},
				})
				cfg := evomiConfig()
				cfg.Credentials[0].MaxInFlight = c.limit
				d := driveRun(t, cfg, w.RoundTripper(), urls("shop.test", 300), nil)
				took := d.summary.ElapsedSeconds
				t.Logf("%.1f s", took)
				if d.summary.Accepted != 300 || d.summary.Limited.Account > 0 || took > 60*1.03 {
					t.Fatalf("took %.1f s, want 60 s within 3 %%; summary %+v", took, d.summary)
				}
			})
		})
	}
}

func TestSpidraMakespan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inOurTime()
		w := simulator.New(simulator.Options{
			Sites: []simulator.Site{{Host: "shop.test", Policy: simulator.Policy{Latency: simulator.Latency{Median: time.Millisecond}}}},
			Spidra: simulator.SpidraSettings{
				PendingActive: true, Overhead: 45 * time.Second,
				Accounts: []simulator.SpidraAccount{{Name: "demo", Key: "spd_demo", Credits: 1e6, Workers: 1e6}},
			},
		})
		d := driveRun(t, spidraConfig(), w.RoundTripper(), urls("shop.test", 5000), nil)
		s := d.summary
		t.Logf("%.1f s, %.3f requests for each URL, %+v", s.ElapsedSeconds, float64(s.Requests)/5000, s.Limited)
		if s.Accepted != 5000 || s.ElapsedSeconds > 106 || float64(s.Requests) > 0.06*5000 || s.Limited != (storage.LimitedCounts{}) {
			t.Fatalf("summary %+v", s)
		}
	})
}

func TestOmniScrapeOneDomainRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inOurTime()
		sites := []simulator.Site{{Host: "slow.test", Policy: simulator.Policy{Latency: simulator.Latency{Median: 2 * time.Second}, Limits: []simulator.Limit{{Kind: simulator.Bucket, N: 1, Per: time.Second, Burst: 1}}}}}
		list := urls("slow.test", 100)
		for i := range 7 {
			host := fmt.Sprintf("site%d.test", i)
			sites = append(sites, simulator.Site{Host: host, Policy: simulator.Policy{Latency: simulator.Latency{Median: 2 * time.Second}}})
			list = append(list, urls(host, 400)...)
		}
		w := simulator.New(simulator.Options{Sites: sites, OmniScrape: simulator.OmniScrapeSettings{Overhead: time.Millisecond,
			Accounts: []simulator.OmniScrapeAccount{{Name: "demo", Key: "omni-demo", Balance: 1e6, Concurrency: 16}},
		}})
		cfg := omniConfig()
		cfg.Credentials[0].MaxInFlight = 16
		d := driveRun(t, cfg, w.RoundTripper(), list, nil)
		s := d.summary
		// 2,900 pages of 2 s at 16 at once.
		ideal := 2900 * 2.0 / 16
		t.Logf("%.1f s of at best %.1f, %+v", s.ElapsedSeconds, ideal, s.Limited)
		if s.Accepted != 2900 || s.Records != 2900 || s.ElapsedSeconds > ideal/0.97 || s.Limited.Account > 0 {
			t.Fatalf("end %+v, summary %+v", d.end, s)
		}
	})
}
