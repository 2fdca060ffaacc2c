package view

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkUpdate is what the loop pays for handing over 1,000 changed domains while a frame is being made.
func BenchmarkUpdate(b *testing.B) {
	d := newDrive()
	d.put(many(20_000)...)
	changed := many(20_000)[:1000]
	d.mu.Lock()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		d.at = d.at.Add(100 * time.Millisecond)
		d.delta.Domains = changed
		d.send()
		if i%100 == 0 {
			d.inbox.deltas = nil
		}
	}
}

// BenchmarkUpdateUnwatched is the same when nobody asks for frames and the loop folds the changes in itself.
func BenchmarkUpdateUnwatched(b *testing.B) {
	d := newDrive()
	d.put(many(20_000)...)
	changed := many(20_000)[:1000]
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		d.at = d.at.Add(100 * time.Millisecond)
		domains := make([]DomainInput, len(changed))
		copy(domains, changed)
		for j := range domains {
			domains[j].InFlight = i % 5
		}
		d.delta.Domains = domains
		d.send()
	}
}

// BenchmarkTally is what the loop pays for one answer.
func BenchmarkTally(b *testing.B) {
	hosts := make([]string, 1000)
	for i := range hosts {
		hosts[i] = fmt.Sprintf("host-%03d.example", i)
	}
	var t Tally
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		t.Count(Answer{Domain: hosts[i%1000], Outcome: "limited", Layer: "target", Latency: time.Duration(i) * time.Microsecond})
		t.Accept(hosts[i%1000], 1)
	}
}

// BenchmarkFrame is one frame with 1,000 domains changed since the last, in each way of sorting that numbers move.
func BenchmarkFrame(b *testing.B) {
	for _, n := range []int{20_000, 100_000} {
		for _, by := range []Sort{SortAttention, SortInFlight, SortQueue} {
			b.Run(fmt.Sprintf("%d by %s", n, by), func(b *testing.B) {
				d := newDrive()
				d.put(many(n)...)
				q := Query{Sort: by, Selected: "host-000500.example"}
				d.Frame(q)
				all := many(n)
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					d.at = d.at.Add(100 * time.Millisecond)
					changed := make([]DomainInput, 1000)
					copy(changed, all[i*1000%n:])
					for j := range changed {
						changed[j].InFlight = i%7 + j%3
						changed[j].Queue = int64(i + j)
					}
					d.delta.Domains = changed
					d.send()
					d.Frame(q)
				}
			})
		}
	}
}

// BenchmarkFrameIdle is a frame in which nothing moved but time.
func BenchmarkFrameIdle(b *testing.B) {
	d := newDrive()
	d.put(many(100_000)...)
	b.ReportAllocs()
	for b.Loop() {
		d.at = d.at.Add(100 * time.Millisecond)
		d.send()
		d.Frame(Query{})
	}
}
