package limits

import (
	"math"
	"math/bits"
	"strings"
	"time"
)

// span is a non-negative length of time; saturated says that more than MaxWait was written.
type span struct {
	d         time.Duration
	saturated bool
}

// until is the span from now to t: zero when t is past. time.Sub saturates, so far dates do not wrap.
func until(now, t time.Time) span {
	return clamp(t.Sub(now))
}

func clamp(d time.Duration) span {
	switch {
	case d > MaxWait:
		return span{MaxWait, true}
	case d < 0:
		return span{}
	}
	return span{d: d}
}

func (s span) longerThan(o span) bool {
	return s.d > o.d || s.d == o.d && s.saturated && !o.saturated
}

// decimal is a non-negative number as it was written. Digits past the ninth place round up, so that a wait made of it is
// never shorter than written.
type decimal struct {
	whole uint64
	nanos uint64 // billionths, at most 1e9
	over  bool   // more than a uint64 holds
}

const billion = 1_000_000_000

// parseDecimal reads [+]digits[.digits] in ASCII digits and nothing else: no sign but plus, no exponent, no hexadecimal,
// no grouping.
func parseDecimal(s string) (decimal, bool) {
	s = strings.TrimPrefix(s, "+")
	whole, frac, _ := strings.Cut(s, ".")
	if whole == "" && frac == "" || !digits(whole) || !digits(frac) {
		return decimal{}, false
	}
	var n decimal
	for i := range len(whole) {
		digit := uint64(whole[i] - '0')
		if n.whole > (math.MaxUint64-digit)/10 {
			n.over = true
			break
		}
		n.whole = n.whole*10 + digit
	}
	place := uint64(billion)
	for i := range len(frac) {
		if place == 1 {
			if strings.Trim(frac[i:], "0") != "" {
				n.nanos++
			}
			break
		}
		place /= 10
		n.nanos += uint64(frac[i]-'0') * place
	}
	return n, true
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// times is the number of units as a span, rounded up to a nanosecond. The unit is at most a day.
func (n decimal) times(unit time.Duration) span {
	if n.over || n.whole > uint64(MaxWait/unit) {
		return span{MaxWait, true}
	}
	hi, lo := bits.Mul64(n.nanos, uint64(unit))
	part, rest := bits.Div64(hi, lo, billion)
	if rest > 0 {
		part++
	}
	return clamp(time.Duration(n.whole)*unit + time.Duration(part))
}

// count is the number as a count of things, rounded down; not ok beyond int64.
func (n decimal) count() (int64, bool) {
	if n.over || n.whole > math.MaxInt64 {
		return 0, false
	}
	return int64(n.whole), true
}

// unixScales are the units that programs print Unix times in: seconds, milliseconds, microseconds, nanoseconds.
var unixScales = [...]uint64{1, 1_000, 1_000_000, billion}

// unix is the number as a Unix time in 1/scale seconds.
func (n decimal) unix(scale uint64) time.Time {
	sec, rest := n.whole/scale, n.whole%scale
	if sec > math.MaxInt64/2 {
		sec = math.MaxInt64 / 2
	}
	return time.Unix(int64(sec), int64(rest*(billion/scale)+n.nanos/scale))
}

// nearUnix is the number as the Unix time, in whatever unit, that lies within a year of now; a number under a billion is
// never one. It tells a Unix time from a wait in fields that are meant to hold a wait.
func (n decimal) nearUnix(now time.Time) (time.Time, bool) {
	if n.over || n.whole < billion {
		return time.Time{}, false
	}
	for _, scale := range unixScales {
		t := n.unix(scale)
		if gap := t.Sub(now); gap <= MaxWait && gap >= -MaxWait {
			return t, true
		}
	}
	return time.Time{}, false
}

// bySize is the number as a Unix time in the unit that its size tells, for fields that may hold either: not ok under a
// billion. A billion and more are seconds, a hundred billion and more milliseconds, and so on by a thousand.
func (n decimal) bySize() (time.Time, bool) {
	if n.over {
		return n.unix(1), true
	}
	for i := len(unixScales) - 1; i > 0; i-- {
		if n.whole >= unixScales[i]*100_000_000 {
			return n.unix(unixScales[i]), true
		}
	}
	return n.unix(1), n.whole >= billion
}

// units of durations as text: Go's, and words that servers print.
var units = map[string]time.Duration{
	"ns": time.Nanosecond, "us": time.Microsecond, "µs": time.Microsecond, "μs": time.Microsecond,
	"ms": time.Millisecond, "millisecond": time.Millisecond, "milliseconds": time.Millisecond,
	"s": time.Second, "sec": time.Second, "secs": time.Second, "second": time.Second, "seconds": time.Second,
	"m": time.Minute, "min": time.Minute, "mins": time.Minute, "minute": time.Minute, "minutes": time.Minute,
	"h": time.Hour, "hr": time.Hour, "hrs": time.Hour, "hour": time.Hour, "hours": time.Hour,
	"d": day, "day": day, "days": day,
}

const day = 24 * time.Hour

// parseDuration reads numbers with units, as 6m0s, 7.66s or 20 ms. Every number needs its unit and none has a sign.
func parseDuration(s string) (span, bool) {
	var sum span
	if s == "" {
		return sum, false
	}
	for s != "" {
		end := strings.IndexFunc(s, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
		if end <= 0 {
			return span{}, false
		}
		n, ok := parseDecimal(s[:end])
		s = strings.TrimLeft(s[end:], " ")
		end = strings.IndexFunc(s, func(r rune) bool { return r == ' ' || r >= '0' && r <= '9' })
		if end < 0 {
			end = len(s)
		}
		unit, known := units[strings.ToLower(s[:end])]
		if !ok || !known {
			return span{}, false
		}
		part := n.times(unit)
		sum = span{d: sum.d + part.d, saturated: sum.saturated || part.saturated}
		if over := clamp(sum.d); over.saturated || sum.saturated {
			sum = span{MaxWait, true}
		}
		s = strings.TrimLeft(s[end:], " ")
	}
	return sum, true
}
