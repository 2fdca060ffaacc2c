package limits

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	reWeekday = `(?:(?i:(?:sun|mon|fri)(?:day)?|tue(?:sday)?|wed(?:nesday)?|thu(?:rsday)?|sat(?:urday)?)[ ]*,?[ ]*)?`
	reClock   = `(?P<hour>\d{1,2}):(?P<min>\d{2})(?::(?P<sec>\d{2})(?:[.,](?P<frac>\d{1,9})\d*)?)?`
	reZone    = `(?P<zone>(?i:Z|UT|UTC|GMT|(?:GMT|UTC)?[+-]\d{2}:?\d{2}))(?:[ ]+(?i:UTC|GMT))?`
	reComment = `(?:[ ]*\([^()]*\))?`
)

// The shapes of a date. The first holds IMF-fixdate and the RFC 850 form (RFC 9110 section 5.6.7) with what mail and
// sloppy servers make of them, the second asctime and JavaScript's text, the third RFC 3339 and its relatives.
var dateShapes = []*regexp.Regexp{
	regexp.MustCompile(`^` + reWeekday + `(?P<day>\d{1,2})[ -](?P<month>[A-Za-z]{3,9})[ -](?P<year>\d{4}|\d{2})[ ]+` +
		reClock + `(?:[ ]*` + reZone + `)?` + reComment + `$`),
	regexp.MustCompile(`^` + reWeekday + `(?P<month>[A-Za-z]{3,9})[ ]+(?P<day>\d{1,2})(?:,?[ ]+(?P<year>\d{4}))?[ ]+` +
		reClock + `(?:[ ]*` + reZone + `)?(?:[ ]+(?P<year2>\d{4}))?` + reComment + `$`),
	regexp.MustCompile(`^(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})[Tt ][ ]*` +
		reClock + `(?:[ ]*` + reZone + `)?` + reComment + `$`),
}

// parseDate reads a date. A missing zone is UTC, as all HTTP dates are; an unknown zone name, an impossible day or hour
// make it malformed; the weekday is not compared. A two-digit year more than 50 years after now is of the century
// before (RFC 9110 section 5.6.7).
func parseDate(s string, now time.Time) (time.Time, bool) {
	if len(s) > 100 {
		return time.Time{}, false
	}
	for _, shape := range dateShapes {
		m := shape.FindStringSubmatch(s)
		if m == nil {
			continue
		}
		return dateOf(func(name string) string {
			if i := shape.SubexpIndex(name); i >= 0 {
				return m[i]
			}
			return ""
		}, now)
	}
	return time.Time{}, false
}

// dateOf builds the time of the named parts, refusing what time.Date would roll over.
func dateOf(part func(string) string, now time.Time) (time.Time, bool) {
	number := func(name string) int {
		n, _ := strconv.Atoi(part(name)) // the shapes hold digits only; an absent part is zero
		return n
	}
	month, ok := monthOf(part("month"))
	if !ok {
		return time.Time{}, false
	}
	years := part("year") + part("year2")
	if len(years) != 2 && len(years) != 4 { // none, or one before and one after the clock
		return time.Time{}, false
	}
	year, _ := strconv.Atoi(years)
	dayOf := number("day")
	hour, minute, sec := number("hour"), number("min"), number("sec")
	if hour > 23 || minute > 59 || sec > 60 { // 60 is a leap second
		return time.Time{}, false
	}
	offset, ok := offsetOf(part("zone"))
	if !ok {
		return time.Time{}, false
	}
	nanos, _ := strconv.Atoi((part("frac") + "000000000")[:9])
	on := func(year int) time.Time {
		return time.Date(year, month, dayOf, hour, minute, sec, nanos, time.UTC).Add(-offset)
	}
	if len(years) == 2 {
		year += now.UTC().Year() / 100 * 100
		if on(year).After(now.AddDate(50, 0, 0)) {
			year -= 100
		}
	}
	if d := time.Date(year, month, dayOf, 0, 0, 0, 0, time.UTC); d.Day() != dayOf || d.Month() != month {
		return time.Time{}, false
	}
	return on(year), true
}

func monthOf(s string) (time.Month, bool) {
	if n, err := strconv.Atoi(s); err == nil {
		return time.Month(n), n >= 1 && n <= 12
	}
	for m := time.January; m <= time.December; m++ {
		if strings.EqualFold(s, m.String()) || strings.EqualFold(s, m.String()[:3]) {
			return m, true
		}
	}
	return time.September, strings.EqualFold(s, "Sept")
}

// offsetOf is the distance of a zone east of UTC; the shapes let only UTC's names and numeric offsets through.
func offsetOf(zone string) (time.Duration, bool) {
	at := strings.IndexAny(zone, "+-")
	if at < 0 {
		return 0, true
	}
	hhmm := strings.Replace(zone[at+1:], ":", "", 1)
	hours, _ := strconv.Atoi(hhmm[:2])
	minutes, _ := strconv.Atoi(hhmm[2:])
	offset := time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute
	if zone[at] == '-' {
		offset = -offset
	}
	return offset, hours <= 23 && minutes <= 59
}
