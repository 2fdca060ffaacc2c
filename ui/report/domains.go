package report

import (
	"cmp"
	"slices"
	"time"

	"dev.scrapetop/storage"
)

// domain is what was asked of one domain and how it answered.
type domain struct {
	Name     string
	Requests int64 // pages asked of it, each of a batch too; polls apart
	Accepted int64
	Limited  int64
	Busy     int64
	Blocked  int64
	Other    int64 // everything else that was no page
	Second   int64 // the most that began within a second, a minute
	Minute   int64
	Longest  time.Duration // the longest wait that it asked for
	During   int64         // requests that began inside such a wait
	Credits  float64
}

// domains gathers the exchanges of a run, told domain after domain, and keeps the rows that are shown.
type domains struct {
	shown int // how many

	all  []domain // the best so far; cut when twice as many
	n    int64    // domains seen
	rest domain   // the sum of those that are not shown, after rows

	now   domain
	began bool
	rates rates
	waits waits

	during int64 // requests that began inside the wait of a domain
}

// add takes the next exchange.
func (d *domains) add(x *storage.Exchange) {
	if !d.began || x.Domain != d.now.Name {
		d.finish()
		d.now, d.began = domain{Name: x.Domain}, true
		d.rates, d.waits = newRates(), waits{}
	}
	r := &d.now
	if x.Kind != "poll" {
		r.Requests++
		d.rates.add(x.StartedAt)
		if d.waits.covers(x.StartedAt) {
			r.During++
		}
	}
	r.Credits += x.Credits
	switch x.Outcome {
	case "accepted":
		if x.Kind != "lookup" {
			r.Accepted++
		}
	case "limited":
		r.Limited++
	case "busy":
		r.Busy++
	case "blocked":
		r.Blocked++
	case "accepted_remote", "still_running", "redirected": // on the way to a page
	default:
		r.Other++
	}
	if x.Layer == "target" {
		d.waits.ask(x)
		if waitsAfter(x) && x.RetryAfter != nil {
			r.Longest = max(r.Longest, *x.RetryAfter)
		}
	}
}

// finish closes the domain that was gathered last.
func (d *domains) finish() {
	if !d.began {
		return
	}
	d.n++
	d.now.Second, d.now.Minute = d.rates.second.most, d.rates.minute.most
	d.during += d.now.During
	if d.all = append(d.all, d.now); len(d.all) >= 2*d.shown {
		d.cut()
	}
}

// cut keeps the rows that are shown and sums up the others.
func (d *domains) cut() {
	slices.SortFunc(d.all, func(a, b domain) int {
		return cmp.Or(cmp.Compare(b.During, a.During), cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Name, b.Name))
	})
	if len(d.all) <= d.shown {
		return
	}
	for i := range d.all[d.shown:] {
		x, r := &d.all[d.shown+i], &d.rest
		r.Requests += x.Requests
		r.Accepted += x.Accepted
		r.Limited += x.Limited
		r.Busy += x.Busy
		r.Blocked += x.Blocked
		r.Other += x.Other
		r.Second, r.Minute = max(r.Second, x.Second), max(r.Minute, x.Minute)
		r.Longest = max(r.Longest, x.Longest)
		r.During += x.During
		r.Credits += x.Credits
	}
	d.all = d.all[:d.shown]
}

// rows are the domains to show: those with requests during a cooldown first, then by requests.
func (d *domains) rows() []domain {
	d.finish()
	d.began = false
	d.cut()
	return d.all
}
