package main

import "time"

// measured is how the hosts were treated, by their own log.
type measured struct {
	took, best     time.Duration // of the slowest host, from its first request to its last page
	efficiency     float64       // best / took
	refused        int
	refusedPer1000 float64
	insideWait     int
	doubles        int // URLs whose page was delivered more than once
}

// onTheWire is how long after a 429 was sent a request may still arrive that had left before the 429 was read.
const onTheWire = 100 * time.Millisecond

func measure(seen []exchange, o options) measured {
	var m measured
	pages := map[string]int{}
	hosts := map[string][]exchange{}
	for _, e := range seen {
		hosts[e.host] = append(hosts[e.host], e)
		switch e.status {
		case 200:
			pages[e.host+e.path]++
		case 429:
			m.refused++
		}
	}
	for _, n := range pages {
		if n > 1 {
			m.doubles++
		}
	}
	for _, es := range hosts {
		m.took = max(m.took, span(es))
		m.insideWait += insideWait(es)
	}
	m.best = max(time.Duration(float64(o.urls-o.burst)/float64(o.rate)*float64(time.Second)),
		time.Duration(float64(o.urls)/float64(o.conns)*float64(o.latency)))
	if m.took > 0 {
		m.efficiency = float64(m.best) / float64(m.took)
	}
	if len(seen) > 0 {
		m.refusedPer1000 = 1000 * float64(m.refused) / float64(len(seen))
	}
	return m
}

// span is the time from the first request to the last page.
func span(es []exchange) time.Duration {
	first, last := es[0].began, es[0].began
	for _, e := range es {
		if e.began.Before(first) {
			first = e.began
		}
		if e.status == 200 && e.ended.After(last) {
			last = e.ended
		}
	}
	return last.Sub(first)
}

// insideWait counts the requests that came after a 429 had arrived and before the wait it announced was over.
func insideWait(es []exchange) int {
	n := 0
	for _, e := range es {
		for _, r := range es {
			if r.status == 429 && r.wait > 0 && e.began.After(r.ended.Add(onTheWire)) && e.began.Before(r.ended.Add(r.wait)) {
				n++
				break
			}
		}
	}
	return n
}
