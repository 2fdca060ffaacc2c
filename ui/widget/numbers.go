package widget

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Unknown is shown where a number is not known, which is not zero.
const Unknown = "-"

// Clock writes a duration to the second as 48:53, 1:21:10, 2d 03:15:00. A negative one is 00:00.
func Clock(d time.Duration) string {
	s := int64(max(d, 0) / time.Second)
	h, m, s := s/3600, s/60%60, s%60
	switch {
	case h == 0:
		return pad2(m) + ":" + pad2(s)
	case h < 24:
		return strconv.FormatInt(h, 10) + ":" + pad2(m) + ":" + pad2(s)
	}
	return strconv.FormatInt(h/24, 10) + "d " + pad2(h%24) + ":" + pad2(m) + ":" + pad2(s)
}

// Countdown is Clock of what is left until a deadline; it rounds up, so it reads 00:00 only when the time has come.
func Countdown(left time.Duration) string {
	return Clock(min(max(left, 0), math.MaxInt64-time.Second) + time.Second - 1)
}

// ShortClock is Clock in at most five cells: 48:53, 1h21m, 27h, 12d, 365d.
func ShortClock(d time.Duration) string {
	d = max(d, 0)
	h := int64(d / time.Hour)
	switch {
	case h == 0:
		return Clock(d)
	case h < 10:
		return strconv.FormatInt(h, 10) + "h" + pad2(int64(d/time.Minute)%60) + "m"
	case h < 100:
		return strconv.FormatInt(h, 10) + "h"
	}
	return strconv.FormatInt(min(h/24, 9999), 10) + "d"
}

// Seconds writes a short time with its unit: 0.41 s, 2.90 s, 29.4 s, 412 s. Latencies are written so.
func Seconds(d time.Duration) string {
	s := max(d, 0).Seconds()
	switch {
	case s < 9.995:
		return strconv.FormatFloat(s, 'f', 2, 64) + " s"
	case s < 99.95:
		return strconv.FormatFloat(s, 'f', 1, 64) + " s"
	}
	return strconv.FormatFloat(s, 'f', 0, 64) + " s"
}

// Age writes how old something is, coarsely so that a row does not change each second: <10s, 40s, 5m, 1h05m, 3d.
func Age(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < 10*time.Second:
		return "<10s"
	case d < time.Minute:
		return strconv.Itoa(int(d/time.Second)/10*10) + "s"
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + "m"
	case d < 24*time.Hour:
		return strconv.Itoa(int(d/time.Hour)) + "h" + pad2(int64(d/time.Minute)%60) + "m"
	}
	return strconv.FormatInt(int64(d/(24*time.Hour)), 10) + "d"
}

// Estimate writes a forecast in steps, so that it does not flicker: under two minutes in 10 s, under an hour in minutes,
// then in 5 minutes, from a day on in hours: <10s, 50s, 1m40s, 37m, 1h05m, 26h.
func Estimate(d time.Duration) string {
	switch {
	case d < 5*time.Second:
		return "<10s"
	case d < 115*time.Second:
		d = d.Round(10 * time.Second)
		if d < time.Minute {
			return strconv.Itoa(int(d/time.Second)) + "s"
		}
		if s := int64(d/time.Second) % 60; s != 0 {
			return "1m" + pad2(s) + "s"
		}
		return "1m"
	case d < 59*time.Minute+30*time.Second:
		return strconv.Itoa(int(d.Round(time.Minute)/time.Minute)) + "m"
	case d < 23*time.Hour+57*time.Minute+30*time.Second:
		d = d.Round(5 * time.Minute)
		return strconv.Itoa(int(d/time.Hour)) + "h" + pad2(int64(d/time.Minute)%60) + "m"
	}
	return strconv.FormatInt(int64(d.Round(time.Hour)/time.Hour), 10) + "h"
}

// Thousands writes a number with its thousands apart: 6,185.
func Thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	if len(s) <= 3 {
		return sign + s
	}
	var b strings.Builder
	b.WriteString(sign)
	head := len(s) % 3
	b.WriteString(s[:head])
	for i := head; i < len(s); i += 3 {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(s[i : i+3])
	}
	return b.String()
}

// Count writes a number in at most six cells: 9,120 in full, then 10k, 999k, 1.2M, 45M, 3.1G. It rounds down, so it
// never tells of more than there is.
func Count(n int64) string {
	sign := ""
	if n < 0 {
		if n == math.MinInt64 {
			n++
		}
		sign, n = "-", -n
	}
	if n < 10_000 {
		return sign + Thousands(n)
	}
	if n < 1_000_000 {
		return sign + strconv.FormatInt(n/1000, 10) + "k"
	}
	unit, name := int64(1_000_000), "M"
	for _, next := range []string{"G", "T", "P", "E"} {
		if n/unit < 1000 {
			break
		}
		unit, name = unit*1000, next
	}
	if tenths := n / (unit / 10); tenths < 100 && tenths%10 != 0 {
		return sign + strconv.FormatInt(tenths/10, 10) + "." + strconv.FormatInt(tenths%10, 10) + name
	}
	return sign + strconv.FormatInt(n/unit, 10) + name
}

// Bytes writes a size with its unit, in steps of 1,024: 512 B, 8.1 KB, 9.4 MB, 412 MB.
func Bytes(n int64) string {
	n = max(n, 0)
	if n < 1024 {
		return strconv.FormatInt(n, 10) + " B"
	}
	v := float64(n)
	for _, unit := range []string{" KB", " MB", " GB", " TB", " PB"} {
		v /= 1024
		if v < 9.95 {
			return strconv.FormatFloat(v, 'f', 1, 64) + unit
		}
		if v < 1023.5 {
			return strconv.FormatFloat(v, 'f', 0, 64) + unit
		}
	}
	return strconv.FormatFloat(v, 'f', 0, 64) + " PB"
}

// Percent writes a share as 65%. Something is never 0% and less than all never 100%: <1%, >99%. Far beyond the
// limit it is >9999%. A share that is not a number is unknown.
func Percent(share float64) string {
	switch {
	case math.IsNaN(share) || math.IsInf(share, 0):
		return Unknown
	case share > 0 && share < 0.005:
		return "<1%"
	case share < 1 && share >= 0.995:
		return ">99%"
	case share > 99.99:
		return ">9999%"
	}
	return strconv.FormatFloat(share*100, 'f', 0, 64) + "%"
}

// Percent1 is Percent with one decimal: 96.4%, 0.1%, <0.1%, >99.9%, and 0% and 100% when that is exact.
func Percent1(share float64) string {
	switch {
	case math.IsNaN(share) || math.IsInf(share, 0):
		return Unknown
	case share == 0 || share == 1:
		return Percent(share)
	case share > 0 && share < 0.0005:
		return "<0.1%"
	case share < 1 && share >= 0.9995:
		return ">99.9%"
	case share > 99.99:
		return Percent(share)
	}
	return strconv.FormatFloat(share*100, 'f', 1, 64) + "%"
}

func pad2(n int64) string {
	if n < 10 {
		return "0" + strconv.FormatInt(n, 10)
	}
	return strconv.FormatInt(n, 10)
}
