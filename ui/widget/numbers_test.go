package widget

import (
	"math"
	"testing"
	"time"
)

func TestNumbers(t *testing.T) {
	const s, m, h = time.Second, time.Minute, time.Hour
	for _, c := range []struct{ name, got, want string }{
		{"clock", Clock(48*m + 53*s), "48:53"},
		{"clock of an hour", Clock(81*m + 10*s + 900*time.Millisecond), "1:21:10"},
		{"clock of days", Clock(50*h + 5*s), "2d 02:00:05"},
		{"clock of nothing", Clock(0), "00:00"},
		{"clock below zero", Clock(-5 * s), "00:00"},
		{"clock of the longest wait", Clock(366 * 24 * h), "366d 00:00:00"},
		{"countdown rounds up", Countdown(41*s + time.Millisecond), "00:42"},
		{"countdown of whole seconds", Countdown(42 * s), "00:42"},
		{"countdown at its end", Countdown(0), "00:00"},
		{"longest countdown", Countdown(math.MaxInt64), "106751d 23:47:16"},
		{"longest estimate", Estimate(math.MaxInt64), "2562047h"},
		{"percent far beyond", Percent(1e300), ">9999%"},
		{"percent with a decimal far beyond", Percent1(1e300), ">9999%"},
		{"negative share", Percent(-0.5), "-50%"},
		{"countdown past its end", Countdown(-s), "00:00"},
		{"short clock", ShortClock(29*m + 31*s), "29:31"},
		{"short clock of hours", ShortClock(81 * m), "1h21m"},
		{"short clock of a day", ShortClock(27*h + m), "27h"},
		{"short clock of days", ShortClock(366 * 24 * h), "366d"},
		{"seconds", Seconds(410 * time.Millisecond), "0.41 s"},
		{"seconds above ten", Seconds(29400 * time.Millisecond), "29.4 s"},
		{"seconds just below ten", Seconds(9999 * time.Millisecond), "10.0 s"},
		{"many seconds", Seconds(412 * s), "412 s"},
		{"young", Age(3 * s), "<10s"},
		{"age in tens of seconds", Age(48 * s), "40s"},
		{"age in minutes", Age(5*m + 59*s), "5m"},
		{"age in hours", Age(65 * m), "1h05m"},
		{"age in days", Age(75 * h), "3d"},
		{"estimate at the end", Estimate(2 * s), "<10s"},
		{"estimate in seconds", Estimate(47 * s), "50s"},
		{"estimate under two minutes", Estimate(101 * s), "1m40s"},
		{"estimate of a minute", Estimate(58 * s), "1m"},
		{"estimate in minutes", Estimate(37*m + 20*s), "37m"},
		{"estimate near an hour", Estimate(59*m + 40*s), "1h00m"},
		{"estimate in hours", Estimate(64 * m), "1h05m"},
		{"estimate in days", Estimate(26 * h), "26h"},
		{"thousands", Thousands(6185), "6,185"},
		{"below a thousand", Thousands(999), "999"},
		{"millions", Thousands(1234567), "1,234,567"},
		{"hundreds of thousands", Thousands(100000), "100,000"},
		{"negative thousands", Thousands(-1234), "-1,234"},
		{"smallest", Thousands(math.MinInt64), "-9,223,372,036,854,775,808"},
		{"count in full", Count(9120), "9,120"},
		{"count in thousands", Count(10_000), "10k"},
		{"count just below a million", Count(999_999), "999k"},
		{"count in millions", Count(1_290_000), "1.2M"},
		{"count of one million", Count(1_000_000), "1M"},
		{"count in tens of millions", Count(45_900_000), "45M"},
		{"count in milliards", Count(3_100_000_000), "3.1G"},
		{"greatest count", Count(math.MaxInt64), "9.2E"},
		{"smallest count", Count(math.MinInt64), "-9.2E"},
		{"bytes", Bytes(512), "512 B"},
		{"kilobytes", Bytes(8294), "8.1 KB"},
		{"megabytes", Bytes(412 << 20), "412 MB"},
		{"just below a megabyte", Bytes(1<<20 - 1), "1.0 MB"},
		{"greatest size", Bytes(math.MaxInt64), "8192 PB"},
		{"negative size", Bytes(-1), "0 B"},
		{"percent", Percent(0.65), "65%"},
		{"percent of nothing", Percent(0), "0%"},
		{"percent of hardly anything", Percent(0.001), "<1%"},
		{"percent of nearly all", Percent(0.997), ">99%"},
		{"percent of all", Percent(1), "100%"},
		{"percent past the limit", Percent(1.3), "130%"},
		{"percent of an unknown", Percent(math.NaN()), "-"},
		{"percent with a decimal", Percent1(0.964), "96.4%"},
		{"a thousandth", Percent1(0.001), "0.1%"},
		{"less than a thousandth", Percent1(0.0002), "<0.1%"},
		{"all but a little", Percent1(0.9997), ">99.9%"},
		{"exactly all", Percent1(1), "100%"},
		{"unknown with a decimal", Percent1(math.Inf(1)), "-"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
}

// TestNumbersFitTheirColumns: what the screens plan columns for.
func TestNumbersFitTheirColumns(t *testing.T) {
	for n := int64(1); n > 0 && n < math.MaxInt64/3; n = n*3 + 1 {
		if got := Count(n); len(got) > 5 {
			t.Errorf("Count(%d) = %q", n, got)
		}
		if got := Count(-n); len(got) > 6 {
			t.Errorf("Count(%d) = %q", -n, got)
		}
		if got := ShortClock(time.Duration(n)); len(got) > 5 {
			t.Errorf("ShortClock(%d) = %q", n, got)
		}
		if got := axisNumber(RoundMax(float64(n), 0)); len(got) > 4 {
			t.Errorf("axis number of %d is %q", n, got)
		}
	}
}
