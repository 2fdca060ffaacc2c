package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"time"
)

// seen is what the simulator counted: the HTTP requests, the pages that the targets delivered, the 429 by layer, the capacity
// refusals and what was charged.
type seen struct {
	requests, pages                int64
	account, rate, pending, target int64
	busy                           int64
	charges                        float64
}

// summary is the part of the closing summary that is judged.
type summary struct {
	State    string  `json:"state"`
	Accepted int64   `json:"accepted"`
	Records  int64   `json:"records"`
	Requests int64   `json:"requests"`
	Elapsed  float64 `json:"elapsed_seconds"`
	Limited  struct {
		Account int64 `json:"account"`
		Rate    int64 `json:"rate"`
		Pending int64 `json:"pending"`
		Target  int64 `json:"target"`
	} `json:"limited"`
	Busy    int64   `json:"busy"`
	Credits float64 `json:"credits"`
}

// record is the part of an exported result that is judged.
type record struct {
	URL     string    `json:"url"`
	Domain  string    `json:"domain"`
	Status  int       `json:"status"` // the target's
	Fetched time.Time `json:"fetched_at"`
}

// measured is a run from both sides. It took the time from the program's start to its end.
type measured struct {
	began   time.Time
	took    time.Duration
	seen    seen
	sum     summary
	records []record
}

func readRecords(r io.Reader) ([]record, error) {
	var out []record
	for d := json.NewDecoder(r); ; {
		var rec record
		switch err := d.Decode(&rec); {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, fmt.Errorf("exported result %d: %w", len(out)+1, err)
		}
		out = append(out, rec)
	}
}

// line is what every platform reports.
func (m measured) line() string {
	return fmt.Sprintf("summary %.1f s, %d accepted, %d requests, 429 account %d rate %d pending %d target %d, busy %d, credits %.6g (charged %.6g)",
		m.sum.Elapsed, m.sum.Accepted, m.sum.Requests, m.sum.Limited.Account, m.sum.Limited.Rate, m.sum.Limited.Pending, m.sum.Limited.Target,
		m.sum.Busy, m.sum.Credits, m.seen.charges)
}

// agree says where the run is not whole, or its summary is not what the simulator counted.
func (m measured) agree(tasks int) error {
	var errs []error
	same := func(what string, got, want int64) {
		if got != want {
			errs = append(errs, fmt.Errorf("the summary says %s %d, the simulator %d", what, got, want))
		}
	}
	distinct := map[string]bool{}
	for _, r := range m.records {
		distinct[r.URL] = true
	}
	if n := int64(tasks); m.sum.State != "finished" || m.sum.Accepted != n || m.sum.Records != n || len(m.records) != tasks || len(distinct) != tasks {
		errs = append(errs, fmt.Errorf("of %d URLs %d are accepted, %d records are told and %d exported of %d URLs, the run is %s",
			tasks, m.sum.Accepted, m.sum.Records, len(m.records), len(distinct), m.sum.State))
	}
	same("records", m.sum.Records, m.seen.pages)
	same("requests", m.sum.Requests, m.seen.requests)
	same("429 of the account", m.sum.Limited.Account, m.seen.account)
	same("429 of the rate", m.sum.Limited.Rate, m.seen.rate)
	same("429 of pending jobs", m.sum.Limited.Pending, m.seen.pending)
	same("429 of targets", m.sum.Limited.Target, m.seen.target)
	same("busy", m.sum.Busy, m.seen.busy)
	if math.Abs(m.sum.Credits-m.seen.charges) > 1e-6 { // sums of fractions, in another order
		errs = append(errs, fmt.Errorf("the summary says credits %v, the simulator charged %v", m.sum.Credits, m.seen.charges))
	}
	return errors.Join(errs...)
}

// unrefused fails on any 429 that the simulator gave.
func (m measured) unrefused() error {
	if n := m.seen.account + m.seen.rate + m.seen.pending + m.seen.target; n > 0 {
		return fmt.Errorf("%d answers were 429: account %d, rate %d, pending %d, target %d", n, m.seen.account, m.seen.rate, m.seen.pending, m.seen.target)
	}
	return nil
}

// lateness is the share by which it took longer than the best.
func lateness(took, best time.Duration) float64 { return float64(took-best) / float64(best) }

// worstShare is the domain, the one named aside, whose last page came latest, and the best time as a share of its own: all
// have as many pages, so at the best they end together.
func worstShare(m measured, aside string, best time.Duration) (domain string, share float64) {
	last := m.began
	for _, r := range m.records {
		if r.Domain != aside && r.Fetched.After(last) {
			domain, last = r.Domain, r.Fetched
		}
	}
	if domain == "" {
		return "no domain", 0
	}
	return domain, float64(best) / float64(last.Sub(m.began))
}

// refusalPages counts the records that are not a page that the target delivered.
func refusalPages(records []record) (n int) {
	for _, r := range records {
		if r.Status != 200 {
			n++
		}
	}
	return n
}
