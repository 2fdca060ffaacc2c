package main

import (
	"strings"
	"testing"
	"time"
)

func TestMissedFiguresAreTold(t *testing.T) {
	began := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	page := func(domain string, status int, after time.Duration) record {
		return record{Domain: domain, Status: status, Fetched: began.Add(after)}
	}
	good := []record{page("site0.test", 200, 103*time.Second)}
	for name, c := range map[string]struct {
		s    script
		m    measured
		want string // in the error; empty: none
	}{
		"evomi in time":        {evomi(), measured{took: 63 * time.Second}, ""},
		"evomi late":           {evomi(), measured{took: 64 * time.Second}, "took 64.0 s"},
		"evomi refused":        {evomi(), measured{took: time.Minute, seen: seen{account: 1}}, "account 1"},
		"spidra in time":       {spidra(), measured{took: 106 * time.Second, seen: seen{requests: 300}}, ""},
		"spidra late":          {spidra(), measured{took: 107 * time.Second, seen: seen{requests: 300}}, "took 107.0 s"},
		"spidra polls much":    {spidra(), measured{took: 106 * time.Second, seen: seen{requests: 301}}, "0.0602 requests"},
		"spidra refused":       {spidra(), measured{seen: seen{pending: 1}}, "pending 1"},
		"omniscrape fair":      {omniScrape(), measured{seen: seen{target: 2}, records: good}, ""},
		"omniscrape unfair":    {omniScrape(), measured{seen: seen{target: 2}, records: []record{page("site3.test", 200, 104*time.Second)}}, "site3.test got 0.962"},
		"omniscrape stores it": {omniScrape(), measured{seen: seen{target: 2}, records: append(good, page("slow.test", 429, 0))}, "1 pages that refuse"},
		"omniscrape refused":   {omniScrape(), measured{seen: seen{target: 2, account: 1}, records: good}, "account was refused 1"},
		"omniscrape untested":  {omniScrape(), measured{records: good}, "refused nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			c.m.began = began
			_, err := c.s.judge(c.m)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("judged as %v, want %q", err, c.want)
			}
		})
	}
}
