package limits

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// maxValue is the longest field line that is looked at; digits alone may be longer, they saturate.
const maxValue = 512

// fields are the lines of a response by lower-case name, in a fixed order.
type fields map[string][]string

// origin is what a wait was read from, in the order of precedence among equals.
type origin struct {
	span
	source string
}

// retryAfter reads Retry-After and its siblings. Of those that disagree the longest counts; where the millisecond sibling
// agrees with Retry-After to the second, the finer one is the exact value.
func retryAfter(f fields, now time.Time, note func(string, ...any)) (origin, bool) {
	var best origin
	var found bool
	for _, name := range []string{"retry-after", "x-ratelimit-retry-after", "x-rate-limit-retry-after",
		"ratelimit-retry-after", "x-retry-after"} {
		got, ok := longest(name, f[name], note, func(s string) (span, bool) { return waitOf(s, now) })
		if ok && (!found || got.longerThan(best.span)) {
			best, found = origin{got, strings.Replace(name, "x-rate-limit", "x-ratelimit", 1)}, true
		}
	}
	for _, name := range []string{"retry-after-ms", "x-retry-after-ms", "x-ms-retry-after-ms"} {
		fine, ok := longest(name, f[name], note, func(s string) (span, bool) {
			n, ok := parseDecimal(s)
			return n.times(time.Millisecond), ok
		})
		if !ok {
			continue
		}
		if agrees := best.d-fine.d >= 0 && best.d-fine.d < time.Second; !found || agrees || fine.longerThan(best.span) {
			best, found = origin{fine, "retry-after-ms"}, true
		}
	}
	return best, found
}

// waitOf reads one Retry-After value: seconds, a date, or a duration as text.
func waitOf(s string, now time.Time) (span, bool) {
	if n, ok := parseDecimal(s); ok {
		return secondsOrUnix(n, now), true
	}
	if d, ok := parseDuration(s); ok {
		return d, true
	}
	t, ok := parseDate(s, now)
	return until(now, t), ok
}

// secondsOrUnix is a number of seconds to wait, unless it is a Unix time within a year of now: taken literally that would
// wait half a century.
func secondsOrUnix(n decimal, now time.Time) span {
	if t, ok := n.nearUnix(now); ok {
		return until(now, t)
	}
	return n.times(time.Second)
}

// grouped is a number with thousands commas. Only a later group that starts with 0 tells it from a list.
var grouped = regexp.MustCompile(`^\d{1,3}(,\d{3})*,0\d\d(,\d{3})*$`)

// longest is the longest valid value among lines and, within a line, among the parts of a comma-separated list. Trimming
// is of SP and HTAB only (RFC 9110 section 5.6.3).
func longest(name string, lines []string, note func(string, ...any), one func(string) (span, bool)) (span, bool) {
	var best span
	var found bool
	take := func(s string) bool {
		got, ok := one(unquote(s))
		if ok && (!found || got.longerThan(best)) {
			best, found = got, true
		}
		return ok
	}
	for _, line := range lines {
		line = strings.Trim(line, " \t")
		switch {
		case line == "":
		case len(line) > maxValue && !digits(line):
			note("%s is %d bytes long: ignored", name, len(line))
		case take(line):
		case grouped.MatchString(line) && take(strings.ReplaceAll(line, ",", "")):
			note("%s %s read with thousands commas", name, quote(line))
		default:
			any := false
			eachPart(line, func(part string) bool {
				ok := take(part)
				any = any || ok
				return ok
			})
			if any {
				note("%s %s holds several values: the longest counts", name, quote(line))
			} else {
				note("%s %s is malformed: ignored", name, quote(line))
			}
		}
	}
	return best, found
}

// eachPart offers the parts of a list to take. A date holds a comma of its own, so two neighbours are offered together
// before the first of them alone.
func eachPart(line string, take func(string) bool) {
	parts := strings.Split(line, ",")
	for i := 0; i < len(parts); i++ {
		part := strings.Trim(parts[i], " \t")
		if i+1 < len(parts) && part != "" && (part[0] > '9' || part[0] < '0') &&
			take(part+", "+strings.Trim(parts[i+1], " \t")) {
			i++
			continue
		}
		if part != "" {
			take(part)
		}
	}
}

func unquote(s string) string {
	if len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' {
		return s[1 : len(s)-1]
	}
	return s
}

// quote makes foreign text fit for a note: printable ASCII, short.
func quote(s string) string {
	if len(s) > 48 {
		return strconv.QuoteToASCII(s[:48]) + "..."
	}
	return strconv.QuoteToASCII(s)
}
