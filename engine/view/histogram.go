package view

import (
	"math"
	"math/bits"
	"time"
)

const (
	histogramSub     = 8       // buckets per doubling: a quantile is off by at most 6 %
	histogramOctaves = 22      // 1 ms up to about 70 min
	histogramUnit    = 1 << 20 // ns, the upper end of the first bucket: about 1 ms
	histogramBuckets = histogramSub*histogramOctaves + 1
)

// histogram counts durations in logarithmic buckets. The zero histogram is empty.
type histogram struct {
	total   int64
	buckets [histogramBuckets]uint32
}

func (h *histogram) add(d time.Duration) {
	h.total++
	h.buckets[bucketOf(d)]++
}

func (h *histogram) merge(o *histogram) {
	if o.total == 0 {
		return
	}
	h.total += o.total
	for i, n := range o.buckets {
		h.buckets[i] += n
	}
}

// quantile is the duration that the share q (0..1) of the counted ones does not pass; zero when nothing was counted.
func (h *histogram) quantile(q float64) time.Duration {
	if h.total == 0 {
		return 0
	}
	rank := max(int64(math.Ceil(q*float64(h.total))), 1)
	var seen int64
	for i, n := range h.buckets {
		if seen += int64(n); seen >= rank {
			return bucketMiddle(i)
		}
	}
	return bucketMiddle(histogramBuckets - 1)
}

// bucketOf: everything below the unit is bucket 0; then each doubling is cut into histogramSub equal parts.
func bucketOf(d time.Duration) int {
	u := uint64(max(d, 0))
	if u < histogramUnit {
		return 0
	}
	octave := bits.Len64(u) - bits.Len64(histogramUnit)
	part := (u >> (octave + bits.Len64(histogramUnit) - 1 - 3)) & (histogramSub - 1)
	return min(octave*histogramSub+int(part)+1, histogramBuckets-1)
}

func bucketMiddle(i int) time.Duration {
	if i == 0 {
		return histogramUnit / 2
	}
	octave, part := (i-1)/histogramSub, (i-1)%histogramSub
	low := uint64(histogramUnit) << octave
	step := low / histogramSub
	return time.Duration(low + uint64(part)*step + step/2)
}
