package view

import "time"

const (
	chartBin    = 5 * time.Second
	chartBins   = 120 // a chart's most
	chartLevels = 16  // each twice as wide as the one before: the last covers 120 bins of 45 hours
)

// chart keeps accepted records over time at every width it may be shown in, 5 s times a power of two: each width has a
// fixed number of bins, so a run of any length costs the same.
type chart struct {
	levels [chartLevels]chartLevel
}

// chartLevel is a ring of bins; covered is the part of a bin's time in which the engine told something.
type chartLevel struct {
	newest  int64
	records [chartBins + 2]int64
	covered [chartBins + 2]time.Duration
}

func (l *chartLevel) advance(bin int64) {
	size := int64(len(l.records))
	for b := max(l.newest+1, bin-size+1); b <= bin; b++ {
		l.records[b%size], l.covered[b%size] = 0, 0
	}
	l.newest = max(l.newest, bin)
}

func (l *chartLevel) at(bin int64) (records int64, covered time.Duration) {
	size := int64(len(l.records))
	if bin > l.newest || bin <= l.newest-size {
		return 0, 0
	}
	return l.records[bin%size], l.covered[bin%size]
}

// pass notes that time went by under the model's eyes (at most maxStep) and spreads the records that came in it evenly.
func (c *chart) pass(from, to time.Time, records int64) {
	for i := range c.levels {
		l, width := &c.levels[i], chartBin<<i
		spread := int64(0)
		for at := from; at.Before(to); {
			end := startOf(binOf(at, width)+1, width)
			if end.After(to) {
				end = to
			}
			l.advance(binOf(at, width))
			slot := l.newest % int64(len(l.records))
			l.covered[slot] += end.Sub(at)
			share := int64(float64(records)*float64(end.Sub(from))/float64(to.Sub(from))) - spread
			l.records[slot] += share
			spread += share
			at = end
		}
	}
}

// add counts records that came at an instant, after a gap.
func (c *chart) add(at time.Time, records int64) {
	for i := range c.levels {
		l := &c.levels[i]
		l.advance(binOf(at, chartBin<<i))
		l.records[l.newest%int64(len(l.records))] += records
	}
}

// series is the chart of the last span before now (zero: since start), in the narrowest bins that are at most chartBins.
func (c *chart) series(start, now time.Time, span time.Duration) Series {
	since := now.Add(-span)
	if span <= 0 || since.Before(start) {
		since = start
	}
	i := 0
	for i < chartLevels-1 && now.Sub(since) > chartBins*(chartBin<<i) {
		i++
	}
	l, width := &c.levels[i], chartBin<<i
	last := binOf(now, width) - 1
	first := max(binOf(since, width), last-chartBins+1)
	s := Series{Bin: width, End: startOf(last+1, width)}
	for b := first; b <= last; b++ {
		s.Values = append(s.Values, perMinute(l, b, width))
	}
	return s
}

// perMinute is a closed bin's rate, negative where nothing is known. What a stalled engine hands over at once after a gap
// must not look like a burst: a bin counts as at least half its width.
func perMinute(l *chartLevel, bin int64, width time.Duration) float64 {
	records, covered := l.at(bin)
	if records == 0 && covered == 0 {
		return -1
	}
	return float64(records) / max(covered, width/2).Minutes()
}

// lastMinute counts the records of the last minute of closed bins, and how much of it was seen.
func (c *chart) lastMinute(now time.Time) (records int64, covered time.Duration) {
	l, bin := &c.levels[0], binOf(now, chartBin)
	for b := bin - rateBins; b < bin; b++ {
		n, d := l.at(b)
		records, covered = records+n, covered+d
	}
	return records, covered
}
