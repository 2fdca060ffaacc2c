package report

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"dev.scrapetop/storage"
)

var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// exchange is one at a time after noon.
func exchange(at, elapsed time.Duration, outcome string) *storage.Exchange {
	return &storage.Exchange{ID: at.String(), Domain: "a.test", Provider: "direct", Kind: "fetch", StartedAt: noon.Add(at), Elapsed: elapsed, Outcome: outcome}
}

// asks makes an exchange a refusal by a layer that asks for a wait.
func asks(x *storage.Exchange, layer string, wait time.Duration) *storage.Exchange {
	x.Layer, x.RetryAfter = layer, &wait
	return x
}

func TestWaitsCoverFromTheLastByteOn(t *testing.T) {
	const s, ms = time.Second, time.Millisecond
	refusal := func(at, elapsed, wait time.Duration) *storage.Exchange {
		return asks(exchange(at, elapsed, "limited"), "target", wait)
	}
	silent := exchange(0, s, "limited")
	tests := []struct {
		name    string
		refused []*storage.Exchange
		start   time.Duration
		want    bool
	}{
		{"nothing was asked", nil, s, false},
		{"while the refusal was on its way", []*storage.Exchange{refusal(0, s, 4*s)}, 500 * ms, false},
		{"at its last byte", []*storage.Exchange{refusal(0, s, 4*s)}, s, false},
		{"decided before it was read", []*storage.Exchange{refusal(0, s, 4*s)}, s + slack, false},
		{"inside", []*storage.Exchange{refusal(0, s, 4*s)}, s + slack + ms, true},
		{"in its last millisecond", []*storage.Exchange{refusal(0, s, 4*s)}, 5*s - ms, true},
		{"when it is over", []*storage.Exchange{refusal(0, s, 4*s)}, 5 * s, false},
		{"a shorter one does not end a longer", []*storage.Exchange{refusal(0, s, 9*s), refusal(ms, s, s)}, 8 * s, true},
		{"one that is read later counts later", []*storage.Exchange{refusal(0, 6*s, 9*s), refusal(s, s, s)}, 5 * s, false},
		{"a refusal without a wait", []*storage.Exchange{silent}, 2 * s, false},
		{"a wait of nothing", []*storage.Exchange{refusal(0, s, 0)}, s + slack + ms, false},
		{"a wait below zero", []*storage.Exchange{refusal(0, s, -5*s)}, 500 * ms, false},
		{"an answer that is no refusal", []*storage.Exchange{asks(exchange(0, s, "accepted"), "", 9*s)}, 5 * s, false},
		{"busy is a refusal", []*storage.Exchange{asks(exchange(0, s, "busy"), "target", 9*s)}, 5 * s, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var w waits
			for _, x := range tt.refused {
				w.covers(x.StartedAt)
				w.ask(x)
			}
			if got := w.covers(noon.Add(tt.start)); got != tt.want {
				t.Errorf("%v", got)
			}
		})
	}
}

// TestPeakIsTheBestWindow compares with every window that ends at a start.
func TestPeakIsTheBestWindow(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		p := peak{window: time.Second}
		var starts []time.Time
		at := noon
		for range 3000 {
			if r.IntN(3) == 0 {
				at = at.Add(time.Duration(r.IntN(40)) * time.Millisecond)
			}
			starts = append(starts, at)
			p.add(at)
		}
		most := 0
		for i := range starts {
			from, _ := slices.BinarySearchFunc(starts, starts[i].Add(-time.Second+1), time.Time.Compare)
			most = max(most, i+1-from)
		}
		if p.most != int64(most) {
			t.Fatalf("%d, want %d", p.most, most)
		}
		if len(p.starts) > 4096 {
			t.Fatalf("%d bursts are kept of a second", len(p.starts))
		}
	}
}
