package limits

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// maxNotes bounds what one hostile response can make us say.
const maxNotes = 12

// Read says what one response means for limits. It is pure; every duration in the Signal counts from r.Received.
//
// Retry-After is read whatever the status (on a 202 it is the polling interval) and from cached answers too; quota
// fields of an answer that came out of a cache (Age above zero) speak of the past and are ignored.
func Read(r Response) Signal {
	s := Signal{Kind: KindUnknown}
	if !speaks(r) {
		return s
	}
	note := func(format string, args ...any) {
		if len(s.Notes) < maxNotes {
			s.Notes = append(s.Notes, fmt.Sprintf(format, args...))
		}
	}
	f := gather(r.Header)
	age := ageOf(f)
	now := serverNow(f, r.Received, age, note)

	var reset Opt[span]
	if age > 0 {
		note("the answer is %s old out of a cache: its quota fields are ignored", age)
	} else if b, ok := binding(buckets(f, r.Profile, now, note)); ok {
		s.report(b)
		reset = b.reset
	}

	wait, announced := retryAfter(f, now, note)
	if refuses(r.Status) {
		if body, ok := bodyWait(r.Body, r.Profile.WaitFields, now, note); ok && (!announced || body.longerThan(wait.span)) {
			wait, announced = origin{body, "body"}, true
		}
	}
	if announced {
		s.Wait, s.WaitSource, s.Saturated = Some(wait.d), wait.source, wait.saturated
	} else if s.Reset.OK && waitsForReset(r.Status, s.Remaining, r.Profile) {
		s.Wait, s.WaitSource, s.Saturated = s.Reset, "ratelimit-reset", reset.V.saturated
	}
	if s.Saturated {
		note("the announced wait is longer than %d days: parked at that", int(MaxWait/day))
	}
	return s
}

// speaks reports whether anything in the response can tell of a limit: most answers say nothing, and every answer is read.
func speaks(r Response) bool {
	if refuses(r.Status) && len(r.Body) > 0 && len(r.Profile.WaitFields) > 0 {
		return true
	}
	for name := range r.Header {
		if tells(name) {
			return true
		}
	}
	return false
}

// tells reports the names, in any case, of fields that speak of limits.
func tells(name string) bool {
	for i := range len(name) {
		var word string
		switch name[i] | 0x20 {
		case 'l':
			word = "limit"
		case 'c':
			word = "concurren"
		case 'r':
			word = "retry-after"
		default:
			continue
		}
		if rest := name[i:]; len(rest) >= len(word) && strings.EqualFold(rest[:len(word)], word) {
			return true
		}
	}
	return false
}

// refuses reports the statuses whose body may announce a wait.
func refuses(status int) bool {
	return status == http.StatusTooManyRequests || status >= 500 && status <= 599
}

// waitsForReset reports whether an answer without a wait of its own asks to wait for the reset: it refuses and the
// counter is at zero. A 429 without a counter counts as zero; 402 and 403 are how some servers spell an empty quota.
func waitsForReset(status int, remaining Opt[int64], p Profile) bool {
	switch status {
	case http.StatusTooManyRequests:
		return !remaining.OK || remaining.V == 0 || p.RoomyReset
	case http.StatusPaymentRequired, http.StatusForbidden, http.StatusServiceUnavailable:
		return remaining.OK && remaining.V == 0
	}
	return false
}

// gather keeps the header lines that can matter, by lower-case name. Header maps made by hand may hold one name in
// several spellings; they are joined in a fixed order.
func gather(h http.Header) fields {
	f := fields{}
	for _, name := range slices.Sorted(maps.Keys(h)) {
		lower := strings.ToLower(name)
		if lower == "date" || lower == "age" || tells(lower) {
			f[lower] = append(f[lower], h[name]...)
		}
	}
	return f
}

// ageOf is how old a cached answer is; zero when it is fresh or does not say.
func ageOf(f fields) time.Duration {
	for _, line := range f["age"] {
		line = strings.Trim(line, " \t")
		if line != "" && digits(line) {
			n, _ := parseDecimal(line)
			return n.times(time.Second).d
		}
	}
	return 0
}

// serverNow is the moment of receipt by the clock that wrote the response's dates: its Date plus its Age, or this side's
// clock when it has no readable Date.
func serverNow(f fields, received time.Time, age time.Duration, note func(string, ...any)) time.Time {
	for _, line := range f["date"] {
		date, ok := parseDate(strings.Trim(line, " \t"), received)
		if !ok {
			note("Date %s is malformed: dates are read by our own clock", quote(line))
			continue
		}
		now := date.Add(age)
		if skew := received.Sub(now).Round(time.Second); skew.Abs() > time.Minute {
			note("the server's clock differs from ours by %s: dates are read by its clock", skew)
		}
		return now
	}
	return received
}

// report copies the binding bucket.
func (s *Signal) report(b bucket) {
	s.Limit, s.Remaining, s.Window = b.limit, b.remaining, b.window
	s.Binding, s.Unit = b.name, b.unit
	if b.reset.OK {
		s.Reset = Some(b.reset.V.d)
	}
	switch {
	case b.slots:
		s.Kind = KindConcurrency
	case b.reset.OK || b.window.OK:
		s.Kind = KindWindow
	}
}
