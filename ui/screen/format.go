package screen

import (
	"math"
	"time"

	"dev.scrapetop/engine/view"
	"dev.scrapetop/ui/widget"
)

// countIn writes n in full where it fits in width cells, else with a unit. A number is never cut.
func countIn(n int64, width int) string {
	if s := widget.Thousands(n); len(s) <= width {
		return s
	}
	return widget.Count(n)
}

// rate writes a number a minute, one below ten with a decimal; what is no number is unknown.
func rate(f float64) string {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0) || f < 0:
		return widget.Unknown
	case f > 0 && f < 9.95:
		// A tenth is the least that is told, so that some is not shown as none.
		tenths := max(int64(math.Round(f*10)), 1)
		return widget.Thousands(tenths/10) + "." + widget.Thousands(tenths%10)
	}
	return countIn(whole(f), 9)
}

// whole rounds to what an int64 holds.
func whole(f float64) int64 {
	if f >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(math.Round(f))
}

// amount writes a quantity that may have parts, such as credits.
func amount(f float64) string {
	if f == math.Trunc(f) || math.Abs(f) >= 1000 || math.IsNaN(f) || math.IsInf(f, 0) {
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return widget.Unknown
		}
		return countIn(whole(f), 9)
	}
	return rate(f)
}

// percent writes a share; what is past any meaning is held within three figures.
func percent(share float64) string { return widget.Percent(within(share)) }

// tenths is percent with one decimal.
func tenths(share float64) string { return widget.Percent1(within(share)) }

func within(share float64) float64 {
	if math.IsInf(share, 0) {
		return math.NaN()
	}
	return min(max(share, 0), 9.99)
}

// longest is more than any wait that is scheduled; what is longer is not told apart.
const longest = 999 * 24 * time.Hour

// wholeWait rounds a wait up to the second, as the countdown does: what is left is never more than the whole.
func wholeWait(d time.Duration) time.Duration { return min(max(d, 0), longest) + time.Second - 1 }

// until is the countdown to a deadline.
func until(at, now time.Time) string { return widget.Countdown(min(at.Sub(now), longest)) }

// until5 is until in at most five cells.
func until5(at, now time.Time) string {
	d := min(max(at.Sub(now), 0), longest)
	return widget.ShortClock(d + time.Second - 1)
}

// since5 is the age of an instant in at most five cells, to the second.
func since5(at, now time.Time) string {
	return widget.ShortClock(min(now.Sub(at), longest))
}

// estimate is the forecast of a domain in a cell.
func estimate(e view.ETA) string {
	if !e.Known {
		return widget.Unknown
	}
	return widget.Estimate(min(e.Left, longest))
}

// longETA is the forecast of the run: ETA 37m ±5m, or the reason there is none: ETA - measuring.
func longETA(e view.ETA) string {
	switch {
	case !e.Known && e.Why == "":
		return "ETA " + widget.Unknown
	case !e.Known:
		return "ETA " + widget.Unknown + " " + e.Why
	}
	return "ETA " + estimate(e) + " ±" + widget.Estimate(min(max(e.PlusMinus, time.Minute), longest))
}

// remaining is what a header last reported, in at most width cells where units make that possible: 412/600, or 412 when
// no limit was told. Never seen although answers came is "no header"; no answer yet "-".
func remaining(r view.Remaining, width int) string {
	switch {
	case !r.Known && r.Asked && width >= len("no header"):
		return "no header"
	case !r.Known && r.Asked:
		return "none"
	case !r.Known:
		return widget.Unknown
	case !r.HasLimit:
		return countIn(r.Remaining, width)
	}
	for _, s := range []string{
		widget.Thousands(r.Remaining) + "/" + widget.Thousands(r.Limit),
		widget.Thousands(r.Remaining) + "/" + widget.Count(r.Limit),
	} {
		if len(s) <= width {
			return s
		}
	}
	return widget.Count(r.Remaining) + "/" + widget.Count(r.Limit)
}

// low tells that under 15 % of a known limit is left.
func low(r view.Remaining) bool {
	return r.Known && r.HasLimit && r.Limit > 0 && float64(r.Remaining) < .15*float64(r.Limit)
}

// staleAfter is the age from which a reported value is called old.
const staleAfter = 2 * time.Minute

// stale tells that a reported value is older than two minutes or than the window it speaks of.
func stale(r view.Remaining, now time.Time) bool {
	return r.Known && (now.Sub(r.At) >= staleAfter || !r.ResetAt.IsZero() && r.ResetAt.Before(now))
}

// share is part of all, between 0 and 1.
func share(part, all float64) float64 {
	if !(all > 0) || math.IsNaN(part) {
		return 0
	}
	return min(max(part/all, 0), 1)
}

// passed is the part of a wait of length full that is over.
func passed(at, now time.Time, full time.Duration) float64 {
	return 1 - share(float64(at.Sub(now)), float64(full))
}

// plural is a number with its noun: 1 domain, 2 domains.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return widget.Thousands(int64(n)) + " " + noun + "s"
}

// clockOf is the time of day of an instant in the picture's zone.
func (p *Picture) clockOf(t time.Time) string { return t.In(p.Now.Location()).Format(time.TimeOnly) }
