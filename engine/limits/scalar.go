package limits

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// role is what a one-number field tells of its bucket.
type role int

const (
	roleLimit role = iota
	roleRemaining
	roleUsed
	roleReset      // a number is seconds left or a Unix time, by its size
	roleResetAfter // a number is always seconds left
	roleWindow
)

// roles are the words that name a role within a field name.
var roles = map[string]role{
	"limit": roleLimit, "remaining": roleRemaining, "used": roleUsed, "observed": roleUsed,
	"reset": roleReset, "resettime": roleReset, "resetdate": roleReset, "resetat": roleReset,
	"resetafter": roleResetAfter, "resetin": roleResetAfter, "window": roleWindow, "period": roleWindow,
}

// fieldPart is a field name taken apart: x-ratelimit-limit-requests is the limit of bucket "requests" in generation
// x-ratelimit; anthropic-ratelimit-requests-limit likewise in its own.
type fieldPart struct {
	generation string
	name       string
	role       role
	millis     bool // the name says that its number is milliseconds
}

// classify takes a lower-case field name apart; not ok when it tells no number of a limit.
func classify(name string) (fieldPart, bool) {
	words := strings.Split(strings.ReplaceAll(name, "rate-limit-", "ratelimit-"), "-")
	family := slices.IndexFunc(words, func(w string) bool {
		return w == "ratelimit" || w == "concurrency" || w == "concurrent"
	})
	if family < 0 {
		return fieldPart{}, false
	}
	part := fieldPart{generation: strings.Join(words[:family+1], "-")}
	rest := words[family+1:]
	at := slices.IndexFunc(rest, func(w string) bool { _, ok := roles[w]; return ok })
	if at < 0 {
		return fieldPart{}, false
	}
	part.role = roles[rest[at]]
	tail := rest[at+1:]
	for part.role >= roleReset && len(tail) > 0 {
		switch tail[0] {
		case "after", "in":
			part.role = roleResetAfter
		case "ms", "millis", "milliseconds":
			part.millis = true
		case "time", "date", "at", "timestamp", "epoch", "utc", "seconds", "sec":
		default:
			part.name = tail[0]
		}
		if part.name != "" {
			break
		}
		tail = tail[1:]
	}
	part.name = strings.Join(append(slices.Clone(rest[:at]), tail...), "-")
	return part, true
}

// scalars gathers the fields of one bucket.
type scalars struct {
	limit, remaining, used counts
	reset, resetAfter      Opt[span]
	window                 Opt[time.Duration]
	policies               []policy
	unlimited              bool // the limit was negative, which servers send for none
}

// counts are the numbers of one field: doubled values are common, the smallest is believed.
type counts struct {
	least Opt[int64]
	n     int
}

func (s *scalars) read(part fieldPart, name string, lines []string, p Profile, now time.Time, note func(string, ...any)) {
	switch part.role {
	case roleLimit:
		s.limit = s.count(part.role, name, lines, note)
	case roleRemaining:
		s.remaining = s.count(part.role, name, lines, note)
	case roleUsed:
		s.used = s.count(part.role, name, lines, note)
	case roleWindow:
		if got, ok := longest(name, lines, note, func(v string) (span, bool) { return deltaOf(v, time.Second) }); ok && got.d > 0 {
			s.window = Some(got.d)
		}
	case roleReset, roleResetAfter:
		unit := time.Second
		if part.millis {
			unit = time.Millisecond
		}
		after := part.role == roleResetAfter
		got, ok := longest(name, lines, note, func(v string) (span, bool) {
			if after || part.millis {
				return deltaOf(v, unit)
			}
			return resetOf(v, p, now)
		})
		target := &s.reset
		if after {
			target = &s.resetAfter
		}
		if ok && (!target.OK || got.longerThan(target.V)) {
			*target = Some(got)
		}
	}
}

// deltaOf reads a time left: a number of units, or a duration as text.
func deltaOf(v string, unit time.Duration) (span, bool) {
	if n, ok := parseDecimal(v); ok {
		return n.times(unit), true
	}
	return parseDuration(v)
}

// resetOf reads a moment or a time left. A number under a billion is seconds left, above it Unix time, above a hundred
// billion Unix time in milliseconds; a profile may say milliseconds left.
func resetOf(v string, p Profile, now time.Time) (span, bool) {
	n, ok := parseDecimal(v)
	if !ok {
		if d, ok := parseDuration(v); ok {
			return d, true
		}
		t, ok := parseDate(v, now)
		return until(now, t), ok
	}
	if p.ResetMillis && n.whole < 100*billion && !n.over {
		return n.times(time.Millisecond), true
	}
	if t, ok := n.bySize(); ok {
		return until(now, t), true
	}
	return n.times(time.Second), true
}

// thousands is a count with thousands commas. Doubled counters are of one size and joined with a blank, so a short first
// group before groups of three is no list.
var thousands = regexp.MustCompile(`^(\d{1,2}(,\d{3})+|\d{3}(,000)+)$`)

// count reads a count, alone or in a list, each perhaps with its window as in "100;w=21600". Numbers with a window are
// policies as well; they are the count itself only when no bare number stands beside them (the early drafts put the
// limit first and the policies behind it).
func (s *scalars) count(r role, name string, lines []string, note func(string, ...any)) counts {
	var bare, windowed counts
	for _, line := range lines {
		if len(line) > maxValue {
			note("%s is %d bytes long: ignored", name, len(line))
			continue
		}
		if thousands.MatchString(strings.Trim(line, " \t")) {
			line = strings.ReplaceAll(line, ",", "")
		}
		for item := range strings.SplitSeq(line, ",") {
			number, params, hasParams := strings.Cut(strings.Trim(item, " \t"), ";")
			number = strings.Trim(number, " \t")
			if number == "" && !hasParams {
				continue
			}
			v, ok := countOf(number)
			if !ok {
				note("%s %s is not a count: ignored", name, quote(item))
				continue
			}
			window := windowParam(params)
			switch {
			case r == roleLimit && strings.HasPrefix(number, "-"):
				s.unlimited = true
			case window.OK && r == roleLimit:
				s.policies = append(s.policies, policy{quota: v, window: window})
				windowed.add(v)
			case window.OK:
				windowed.add(v)
			default:
				bare.add(v)
			}
		}
	}
	if bare.n > 0 {
		return bare
	}
	return windowed
}

func (c *counts) add(v int64) {
	if !c.least.OK || v < c.least.V {
		c.least = Some(v)
	}
	c.n++
}

// countOf reads a whole number; a fraction is dropped, and less than nothing is nothing.
func countOf(text string) (int64, bool) {
	magnitude, negative := strings.CutPrefix(unquote(text), "-")
	n, ok := parseDecimal(magnitude)
	if !ok {
		return 0, false
	}
	v, ok := n.count()
	if negative {
		v = 0
	}
	return v, ok
}

// windowParam finds w=SECONDS among the parameters of a count.
func windowParam(params string) Opt[time.Duration] {
	for param := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(strings.Trim(param, " \t"), "=")
		if name != "w" && name != "window" {
			continue
		}
		if n, ok := parseDecimal(value); ok && n.whole > 0 {
			return Some(n.times(time.Second).d)
		}
	}
	return Opt[time.Duration]{}
}

// bucket is what the fields say together; not ok when none was readable.
func (s *scalars) bucket() (bucket, bool) {
	b := bucket{limit: s.limit.least, remaining: s.remaining.least, reset: s.reset}
	if s.unlimited {
		b.limit, b.remaining = Opt[int64]{}, Opt[int64]{}
	}
	if !b.limit.OK && s.limit.n == 0 && s.used.n == 1 && s.remaining.n == 1 {
		if sum := s.used.least.V + s.remaining.least.V; sum >= 0 {
			b.limit = Some(sum)
		}
	}
	// A time left needs no clock, so it is believed over a moment; where both agree but for rounding the later avoids
	// one refusal more.
	if s.resetAfter.OK && (!s.reset.OK || (s.reset.V.d-s.resetAfter.V.d).Abs() > 2*time.Second ||
		s.resetAfter.V.longerThan(s.reset.V)) {
		b.reset = s.resetAfter
	}
	return b, b.limit.OK || b.remaining.OK || b.reset.OK
}

// readPairs reads used/limit pairs, as X-Shopify-Shop-Api-Call-Limit sends them for a leaky bucket.
func readPairs(f fields, note func(string, ...any)) []bucket {
	var all []bucket
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if !strings.HasSuffix(name, "-call-limit") {
			continue
		}
		var b bucket
		for _, line := range f[name] {
			usedText, limitText, _ := strings.Cut(strings.Trim(line, " \t"), "/")
			used, okUsed := countOf(usedText)
			limit, okLimit := countOf(limitText)
			if !okUsed || !okLimit {
				note("%s %s is not used/limit: ignored", name, quote(line))
				continue
			}
			if left := max(0, limit-used); !b.remaining.OK || left < b.remaining.V {
				b = bucket{generation: name, limit: Some(limit), remaining: Some(left)}
			}
		}
		if b.remaining.OK {
			all = append(all, b)
		}
	}
	return all
}
