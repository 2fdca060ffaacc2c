package view

import (
	"math"
	"time"
)

// Widths and lengths of the rings. A ring holds one bin more than it is asked for: the one still open.
const (
	rateBin   = 5 * time.Second  // rates over the last minute
	rateBins  = 12               // one minute
	trendBin  = 15 * time.Second // refusals, shares, latencies, paces
	trendBins = 60               // 15 minutes
	paceBins  = 20               // 5 minutes, what forecasts are made from
	maxStep   = 15 * time.Second // between two deltas; a longer step is a gap
)

// ring counts into bins of fixed width along the time axis; bins are known by number (time since the epoch divided by the
// width). A bin saturates instead of wrapping.
type ring struct {
	newest int64
	bins   []uint32
}

func newRing(n int) ring { return ring{bins: make([]uint32, n+1)} }

// add counts n in the bin, or in the newest one when the bin is older than that.
func (r *ring) add(bin, n int64) {
	size := int64(len(r.bins))
	if bin > r.newest {
		for b := max(r.newest+1, bin-size+1); b <= bin; b++ {
			r.bins[b%size] = 0
		}
		r.newest = bin
	}
	at := &r.bins[r.newest%size]
	*at = uint32(min(int64(*at)+n, math.MaxUint32))
}

// at is the count of one bin; zero outside the ring.
func (r *ring) at(bin int64) int64 {
	size := int64(len(r.bins))
	if bin > r.newest || bin <= r.newest-size {
		return 0
	}
	return int64(r.bins[bin%size])
}

// sum counts the n bins up to and including last.
func (r *ring) sum(last int64, n int) int64 {
	var total int64
	for b := last - int64(n) + 1; b <= last; b++ {
		total += r.at(b)
	}
	return total
}

// addTo adds the n bins up to and including last to the values, oldest first.
func (r *ring) addTo(values []int64, last int64) {
	for i := range values {
		values[i] += r.at(last - int64(len(values)-1-i))
	}
}

// binOf is the number of the bin an instant lies in.
func binOf(t time.Time, width time.Duration) int64 { return t.UnixNano() / int64(width) }

// startOf is when a bin begins.
func startOf(bin int64, width time.Duration) time.Time { return time.Unix(0, bin*int64(width)) }
