package view

import (
	"sync"
	"testing"
	"time"
)

func TestAnEmptyModelHasAFrame(t *testing.T) {
	f := New(Options{}).Frame(Query{Selected: "a.example", Sort: SortQueue, Range: time.Hour, Hold: true, Filter: "/a/"})
	if f == nil || f.Domains.Index != -1 || f.Domains.Total != 0 || f.Detail != nil || f.Live {
		t.Errorf("the frame is %+v", f)
	}
}

func TestUpdateDoesNotWaitForAFrame(t *testing.T) {
	d := newDrive()
	d.mu.Lock() // a frame is being made
	d.pass(5*time.Minute, func() { d.work("a.example", 1) })
	d.mu.Unlock()
	if f := d.Frame(Query{}); f.Counts.Records != 300 || !f.At.Equal(d.at) {
		t.Errorf("the frame of %v counts %d records", f.At, f.Counts.Records)
	}
}

func TestUnwatchedChangesDoNotPileUp(t *testing.T) {
	d := newDrive()
	d.put(busy("a.example", 1))
	d.pass(10*time.Minute, func() { d.work("a.example", 1); d.refuse("a.example", "target", 1) })
	if n := len(d.inbox.deltas); n > inboxPatience+1 {
		t.Errorf("%d deltas wait", n)
	}
	if n := len(d.inbox.spare); n > 2 {
		t.Errorf("%d tallies lie around", n)
	}
	f := d.Frame(Query{})
	if f.Domains.Rows[0].OKPerMin != 60 || f.Layers[3].Total != 600 {
		t.Errorf("%v a minute, %d refusals", f.Domains.Rows[0].OKPerMin, f.Layers[3].Total)
	}
}

func TestFramesFromManyGoroutines(t *testing.T) {
	d := newDrive()
	d.put(many(500)...)
	queries := []Query{{}, {Sort: SortQueue, Selected: "host-000007.example"}, {Filter: "/7/", Hold: true}, {Faults: true, Range: time.Minute}}
	done := make(chan struct{})
	var readers sync.WaitGroup
	for _, q := range queries {
		readers.Go(func() {
			var last time.Time
			for {
				f := d.Frame(q)
				if f.At.Before(last) {
					t.Errorf("a frame of %v came after one of %v", f.At, last)
				}
				last = f.At
				for _, r := range f.Domains.Rows {
					_ = append([]int64(nil), r.Trend...)
				}
				_ = append([]EventRow(nil), f.Events...)
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	d.pass(2*time.Minute, func() {
		d.work("host-000007.example", 2)
		d.refuse("host-000007.example", "target", 1)
		in := busy("host-000007.example", int64(d.at.Second()))
		d.delta.Domains = append(d.delta.Domains, in)
		d.delta.Events = append(d.delta.Events, EventRow{At: d.at, Key: in.Domain, Text: "x"})
	})
	close(done)
	readers.Wait()
	if f := d.Frame(Query{}); f.Counts.Records != 240 {
		t.Errorf("%d records", f.Counts.Records)
	}
}
