package view

import (
	"fmt"
	"testing"
	"time"
)

// t0 is a whole minute, so that bins of every width begin here.
var t0 = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// drive plays the engine's loop: it holds what a delta tells whole and hands it over as time is stepped.
type drive struct {
	*Model
	at    time.Time
	delta Delta
}

func newDrive() *drive {
	d := &drive{Model: New(Options{}), at: t0}
	d.delta = Delta{Live: true, Run: Run{ID: 1, State: "running"}, Tally: d.Tally()}
	d.send()
	return d
}

// send hands over what gathered, at the present instant.
func (d *drive) send() {
	out := d.delta
	out.At, out.Run.Elapsed = d.at, d.at.Sub(t0)
	d.Update(out)
	d.delta.Tally, d.delta.Domains, d.delta.Events, d.delta.Alerts = d.Tally(), nil, nil, nil
}

// pass lets time pass in steps of a second, calling each before each delta.
func (d *drive) pass(span time.Duration, each func()) {
	for end := d.at.Add(span); d.at.Before(end); {
		d.at = d.at.Add(time.Second)
		if each != nil {
			each()
		}
		d.send()
	}
}

// put hands the domains over at once, without time passing.
func (d *drive) put(domains ...DomainInput) {
	d.delta.Domains = append(d.delta.Domains, domains...)
	d.send()
}

// work accepts n tasks of a domain.
func (d *drive) work(domain string, n int) {
	for range n {
		d.delta.Tally.Count(Answer{Domain: domain, Outcome: "accepted", Latency: 200 * time.Millisecond})
		d.delta.Tally.Accept(domain, 1)
		d.delta.Counts.Accepted++
		d.delta.Counts.Records++
	}
}

func (d *drive) refuse(domain, layer string, n int) {
	for range n {
		d.delta.Tally.Count(Answer{Domain: domain, Outcome: "limited", Layer: layer, Retry: true})
	}
}

func names(f *Frame) []string {
	var out []string
	for _, r := range f.Domains.Rows {
		out = append(out, r.Domain)
	}
	return out
}

func wantNames(t *testing.T, f *Frame, want ...string) {
	t.Helper()
	if got := names(f); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("domains are %v, want %v", got, want)
	}
}

// many are n quiet domains with something in their queues.
func many(n int) []DomainInput {
	out := make([]DomainInput, n)
	for i := range out {
		out[i] = DomainInput{Domain: fmt.Sprintf("host-%06d.example", i*7919%n), State: StateRun, Queue: int64(i % 97), Oldest: t0}
	}
	return out
}
