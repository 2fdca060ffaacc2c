package simulator

import (
	"fmt"
	"strings"
	"time"
)

const (
	ms  = time.Millisecond
	sec = time.Second
)

// DemoSites are about forty sites with as many characters. With a ceiling of 48 requests in flight they show, within a
// minute, a site in every state: fast and slow ones, limits of each kind told in each form, sites that refuse, fail, move,
// go down and come back, and a few that are done early; the limited ones keep it going for some minutes.
func DemoSites() []Site {
	bucket := func(n int, per time.Duration, burst int, penalty time.Duration) []Limit {
		return []Limit{{Kind: Bucket, N: n, Per: per, Burst: burst, Penalty: penalty}}
	}
	window := func(kind LimitKind, n int, per time.Duration) []Limit { return []Limit{{Kind: kind, N: n, Per: per}} }
	atOnce := func(n int, penalty time.Duration) []Limit {
		return []Limit{{Kind: Concurrency, N: n, Penalty: penalty}}
	}
	usual := func(median time.Duration) Latency { return Latency{Median: median, Spread: 0.4} }
	up := Policy{Latency: usual(900 * ms)}
	down := func(wait time.Duration) Policy { return Policy{Latency: usual(300 * ms), Down: true, DownWait: wait} }

	return []Site{
		{Host: "books.example", Kind: "fast", URLs: 110, Policy: Policy{Latency: usual(400 * ms)}},
		{Host: "garden.example", Kind: "fast", URLs: 95, Policy: Policy{Latency: usual(580 * ms)}},
		{Host: "kitchen.example", Kind: "ordinary", URLs: 100, Policy: Policy{Latency: usual(1080 * ms)}},
		{Host: "lamps.example", Kind: "ordinary", URLs: 85, Policy: Policy{Latency: usual(1350 * ms)}},
		{Host: "records.example", Kind: "ordinary", URLs: 90, Policy: Policy{Latency: usual(1620 * ms), BodyBytes: 24_000}},
		{Host: "travel.example", Kind: "ordinary, wild latency", URLs: 80, Policy: Policy{Latency: Latency{Median: 1100 * ms, Spread: 0.9}}},
		{Host: "posters.example", Kind: "large pages", URLs: 50, Policy: Policy{Latency: usual(1440 * ms), BodyBytes: 180_000}},
		{Host: "toys.example", Kind: "few pages", URLs: 8, Policy: Policy{Latency: usual(300 * ms)}},
		{Host: "maps.example", Kind: "few pages", URLs: 10, Policy: Policy{Latency: usual(500 * ms)}},
		{Host: "tea.example", Kind: "few pages", URLs: 12, Policy: Policy{Latency: usual(400 * ms)}},
		{Host: "clocks.example", Kind: "few pages", URLs: 6, Policy: Policy{Latency: usual(900 * ms)}},

		{Host: "archive.example", Kind: "slow", URLs: 60, Policy: Policy{Latency: Latency{Median: 3500 * ms, Spread: 0.5}}},
		{Host: "library.example", Kind: "slow", URLs: 45, Policy: Policy{Latency: Latency{Median: 5 * sec, Spread: 0.6}}},
		{Host: "museum.example", Kind: "slows down", URLs: 90,
			Policy: Policy{Latency: Latency{Median: 400 * ms, Spread: 0.3, Drift: 1800 * ms, DriftMax: 5 * sec}}},
		{Host: "bakery.example", Kind: "slow start", URLs: 60,
			Policy: Policy{Latency: Latency{Median: 350 * ms, Spread: 0.3, Cold: 4 * sec, ColdFor: 12}}},
		{Host: "tickets.example", Kind: "queues, then 5 at once", URLs: 80,
			Policy: Policy{Latency: Latency{Median: 500 * ms, Spread: 0.3, PerInFlight: 250 * ms}, Limits: atOnce(5, 4*sec), Tell: TellSeconds}},

		{Host: "shop.example", Kind: "2/s, Retry-After", URLs: 160,
			Policy: Policy{Latency: usual(300 * ms), Limits: bucket(2, sec, 4, 8*sec), Tell: TellSeconds}},
		{Host: "outlet.example", Kind: "1/s, Retry-After date", URLs: 110,
			Policy: Policy{Latency: usual(350 * ms), Limits: bucket(1, sec, 3, 10*sec), Tell: TellDate}},
		{Host: "prices.example", Kind: "1/s, says nothing", URLs: 100,
			Policy: Policy{Latency: usual(300 * ms), Limits: bucket(1, sec, 4, 6*sec)}},
		{Host: "wine.example", Kind: "20 per 30 s, X-RateLimit", URLs: 120,
			Policy: Policy{Latency: usual(400 * ms), Limits: window(Fixed, 20, 30*sec), Tell: TellXRateLimit | TellSeconds}},
		{Host: "jobs.example", Kind: "30 per minute, X-RateLimit epoch", URLs: 110,
			Policy: Policy{Latency: usual(450 * ms), Limits: window(Fixed, 30, 60*sec), Tell: TellXRateLimitUnix}},
		{Host: "homes.example", Kind: "15 in any 20 s, RateLimit draft", URLs: 120,
			Policy: Policy{Latency: usual(900 * ms), Limits: window(Sliding, 15, 20*sec), Tell: TellDraft | TellSeconds}},
		{Host: "cars.example", Kind: "40 in any minute, Retry-After", URLs: 130,
			Policy: Policy{Latency: usual(1080 * ms), Limits: window(Sliding, 40, 60*sec), Tell: TellSeconds}},
		{Host: "auction.example", Kind: "12 at a time per 10 s, then 45 s closed", URLs: 70, Policy: Policy{Latency: usual(400 * ms),
			Limits: []Limit{{Kind: Sliding, N: 12, Per: 10 * sec, Penalty: 45 * sec}}, Tell: TellSeconds}},
		{Host: "stamps.example", Kind: "2 at once, Retry-After", URLs: 70,
			Policy: Policy{Latency: usual(1620 * ms), Limits: atOnce(2, 5*sec), Tell: TellSeconds}},
		{Host: "radio.example", Kind: "3 at once, says nothing", URLs: 75,
			Policy: Policy{Latency: usual(1440 * ms), Limits: atOnce(3, 3*sec)}},
		{Host: "fashion.example", Kind: "tightens after 25 s", URLs: 110, Policy: Policy{Latency: usual(720 * ms)},
			Phases: []Phase{{At: 25 * sec, Policy: Policy{Latency: usual(900 * ms), Limits: bucket(1, sec, 2, 12*sec), Tell: TellSeconds}}}},

		{Host: "forum.example", Kind: "flaky", URLs: 70,
			Policy: Policy{Latency: usual(1080 * ms), Moods: Moods{Fail: 0.12, Reset: 0.04}}},
		{Host: "weather.example", Kind: "drops connections", URLs: 60,
			Policy: Policy{Latency: usual(900 * ms), Moods: Moods{Truncate: 0.08, Reset: 0.06}}},
		{Host: "vault.example", Kind: "403", URLs: 7, Policy: Policy{Latency: usual(200 * ms), Moods: Moods{Blocked: 1}}},
		{Host: "sneakers.example", Kind: "challenges from 12 s to 45 s", URLs: 60, Policy: Policy{Latency: usual(450 * ms)},
			Phases: []Phase{{At: 12 * sec, Policy: Policy{Latency: usual(200 * ms), Moods: Moods{Challenge: 1}}}, {At: 45 * sec, Policy: Policy{Latency: usual(450 * ms)}}}},
		{Host: "club.example", Kind: "login for some", URLs: 40,
			Policy: Policy{Latency: usual(720 * ms), Moods: Moods{Login: 0.2}}},
		{Host: "news.example", Kind: "soft errors", URLs: 60,
			Policy: Policy{Latency: usual(630 * ms), Moods: Moods{Soft: 0.12, Empty: 0.05}}},
		{Host: "old.example", Kind: "a third is gone", URLs: 60,
			Policy: Policy{Latency: usual(540 * ms), Moods: Moods{NotFound: 0.35}}},
		{Host: "moving.example", Kind: "redirects", URLs: 60,
			Policy: Policy{Latency: usual(540 * ms), Moods: Moods{Redirect: 0.6}}},
		{Host: "bank.example", Kind: "down from 8 s to 35 s, Retry-After", URLs: 70, Policy: up,
			Phases: []Phase{{At: 8 * sec, Policy: down(14 * sec)}, {At: 35 * sec, Policy: up}}},
		{Host: "metro.example", Kind: "down from 20 s to 50 s, says nothing", URLs: 70, Policy: up,
			Phases: []Phase{{At: 20 * sec, Policy: down(0)}, {At: 50 * sec, Policy: up}}},
		{Host: "seeds.example", Kind: "crawl-delay 2 s", URLs: 60,
			Policy: Policy{Latency: usual(540 * ms), CrawlDelay: 2 * sec}},
		{Host: "paper.example", Kind: "robots.txt closes a part", URLs: 50,
			Policy: Policy{Latency: usual(720 * ms), Disallow: []string{"/private/"}}},
		{Host: "quiet.example", Kind: "no robots.txt", URLs: 40, Policy: Policy{Latency: usual(1260 * ms), NoRobots: true}},
	}
}

// DemoURLs are the pages of DemoSites, mixed so that every site is met early. They are plain http, so that a dialler alone
// can lead them to the simulator.
func DemoURLs() []string {
	sites := DemoSites()
	total := 0
	for _, s := range sites {
		total += s.URLs
	}
	out := make([]string, 0, total)
	given := make([]int, len(sites))
	for step := 1; len(out) < total; step++ {
		for i, s := range sites {
			// One page of each site at once; then each has given that share of its pages that the steps are of 40.
			for given[i] < min(s.URLs, 1+s.URLs*(step-1)/40) {
				out = append(out, demoURL(s, given[i]))
				given[i]++
			}
		}
	}
	return out
}

func demoURL(s Site, n int) string {
	c := chance(0).of(s.Host, n)
	section := []string{"p", "item", "offers", "catalogue"}[n%4]
	if len(s.Policy.Disallow) > 0 && n%6 == 5 {
		section = strings.Trim(s.Policy.Disallow[0], "/")
	}
	return fmt.Sprintf("http://%s/%s/%s-%s-%d", s.Host, section, c.word(0), c.word(1), n+1)
}
