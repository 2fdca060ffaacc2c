package view

import (
	"cmp"
	"slices"
	"time"
)

// Evidence is what a diagnosis needs beside the rest of a frame, of the last 15 minutes. It is made when a query asks for it,
// since it walks over the domains that refused.
type Evidence struct {
	Refusers int       // domains whose target sent a 429
	Worst    []Refuser // of those the ones with most, at most five
	Hit      int       // domains whose work met a 429 of the platform itself

	Blocked, Failed, Transport, Invalid int64 // answers by outcome

	// LatencyNow and LatencyBefore are the 95th percentiles of the last two minutes and of the earlier half of what was seen;
	// zero: too few answers to compare.
	LatencyNow, LatencyBefore time.Duration
}

// Refuser is a domain whose target sent 429s.
type Refuser struct {
	Domain  string
	Recent  int64 // of the target, in 15 minutes
	Limit   int   // its ceiling in flight now; zero: none
	Learned string
}

// The outcomes that are no answer to work with and no refusal either.
const (
	faultBlocked = iota
	faultFailed
	faultTransport
	faultInvalid
	faults
)

const (
	worstRefusers = 5
	latencyNow    = 2  // minutes that are called now, the open one included
	latencyLeast  = 20 // answers on either side of a comparison
)

func (s *state) evidence() *Evidence {
	bin := s.bin()
	e := &Evidence{
		Blocked: s.faults[faultBlocked].sum(bin, trendBins), Failed: s.faults[faultFailed].sum(bin, trendBins),
		Transport: s.faults[faultTransport].sum(bin, trendBins), Invalid: s.faults[faultInvalid].sum(bin, trendBins),
	}
	for d := range s.refused {
		var target, outer, all int64
		for i := range d.refusal {
			n := d.refusal[i].ring.sum(bin, trendBins)
			all += n
			switch layerNames[d.refusal[i].layer] {
			case layerTarget:
				target += n
			case layerAccount, layerRate, layerPending:
				outer += n
			}
		}
		if all == 0 {
			delete(s.refused, d) // it comes back with its next refusal
			continue
		}
		if outer > 0 {
			e.Hit++
		}
		if target == 0 {
			continue
		}
		e.Refusers++
		r := Refuser{Domain: d.in.Domain, Recent: target, Limit: d.in.Limit, Learned: d.in.Learned}
		at, _ := slices.BinarySearchFunc(e.Worst, r, moreFirst)
		e.Worst = slices.Insert(e.Worst, at, r)
		e.Worst = e.Worst[:min(len(e.Worst), worstRefusers)]
	}
	e.LatencyNow, e.LatencyBefore = s.latencyMoved()
	return e
}

func moreFirst(a, b Refuser) int {
	return cmp.Or(cmp.Compare(b.Recent, a.Recent), cmp.Compare(a.Domain, b.Domain))
}

// latencyMoved compares the last minutes with the earlier half of what was seen: the minutes between would hide a rise that
// goes on.
func (s *state) latencyMoved() (now, before time.Duration) {
	minute, oldest := binOf(s.line, time.Minute), int64(0)
	age := func(i int) int64 {
		if a := minute - s.latency[i].minute; a < trendMinutes && s.latency[i].h.total > 0 {
			return a
		}
		return -1
	}
	for i := range s.latency {
		oldest = max(oldest, age(i))
	}
	earlier := max(latencyNow, (oldest+1)/2)
	var late, early histogram
	for i := range s.latency {
		switch a := age(i); {
		case a < 0:
		case a < latencyNow:
			late.merge(&s.latency[i].h)
		case a >= earlier:
			early.merge(&s.latency[i].h)
		}
	}
	if late.total < latencyLeast || early.total < latencyLeast {
		return 0, 0
	}
	return late.quantile(0.95), early.quantile(0.95)
}
