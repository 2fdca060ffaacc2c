package cli

import (
	"math"

	"dev.scrapetop/engine"
)

// plan is what a provider's table says of the platform's plan. A key that its provider has no use for is an error: whoever
// wrote it believes in a limit that nobody keeps.
func (c *configFile) plan(name string) (engine.Plan, error) {
	t, at := c.Providers[name], "providers."+name
	var p engine.Plan
	for _, key := range []struct {
		name, of string
		given    bool
	}{
		{"rate_limit", engine.Spidra, t.RateLimit != nil},
		{"rate_window", engine.Spidra, t.RateWindow != ""},
		{"pending", engine.Spidra, t.Pending != nil},
		{"worst_price", engine.OmniScrape, t.WorstPrice != nil},
	} {
		if key.given && key.of != name {
			return p, c.wrong(at+"."+key.name, "is for %s alone, remove it", key.of)
		}
	}
	queues := pendingTable{}
	if t.Pending != nil {
		queues = *t.Pending
	}
	for _, n := range []struct {
		key   string
		given *int
		to    *int
	}{
		{"rate_limit", t.RateLimit, &p.Rate.N},
		{"pending.scrape", queues.Scrape, &p.PendingScrapes},
		{"pending.batch", queues.Batch, &p.PendingBatches},
		{"pending.crawl", queues.Crawl, &p.PendingCrawls},
	} {
		if n.given == nil {
			continue
		}
		if *n.given < 1 || *n.given > math.MaxInt32 {
			return p, c.wrong(at+"."+n.key, "must be at least 1")
		}
		*n.to = *n.given
	}
	if t.RateWindow != "" {
		var err error
		if p.Rate.Per, err = parsePositiveSpan(t.RateWindow); err != nil {
			return p, c.wrong(at+".rate_window", "%v", err)
		}
	}
	if t.WorstPrice != nil {
		if p.WorstPrice = *t.WorstPrice; !(p.WorstPrice > 0) || math.IsInf(p.WorstPrice, 0) {
			return p, c.wrong(at+".worst_price", "must be above zero")
		}
	}
	return p, nil
}
