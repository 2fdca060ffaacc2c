package cli

import (
	"testing"
	"time"

	"dev.scrapetop/engine"
)

func TestSpans(t *testing.T) {
	day := 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"30s": 30 * time.Second, "1h30m": 90 * time.Minute, "120d": 120 * day, "2w": 14 * day, "1d12h": 36 * time.Hour,
		"1.5h": 90 * time.Minute, "0.5d": 12 * time.Hour, "50ms": 50 * time.Millisecond, "0": 0, " 5m ": 5 * time.Minute,
	} {
		if got, err := parseSpan(text); err != nil || got != want {
			t.Errorf("%q is %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "30", "-5s", "+5s", "s", "5x", "1h-5m", "1 h", "99999999d", "1e9h", "NaN", "5s5", "..s", "9999999h", "0x1h"} {
		if got, err := parseSpan(text); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
	if _, err := parsePositiveSpan("0s"); err == nil {
		t.Error("zero is taken for a span above zero")
	}
}

func TestRates(t *testing.T) {
	for text, want := range map[string]engine.Rate{
		"20/s": {N: 20, Per: time.Second}, "300/15m": {N: 300, Per: 15 * time.Minute}, "10/min": {N: 10, Per: time.Minute},
		"1/2s": {N: 1, Per: 2 * time.Second}, "0.5/s": {N: 1, Per: 2 * time.Second}, "2.5/s": {N: 5, Per: 2 * time.Second},
		"5000/d": {N: 5000, Per: 24 * time.Hour}, "1/h": {N: 1, Per: time.Hour}, " 3 / s ": {N: 3, Per: time.Second},
		"1/100ms": {N: 1, Per: 100 * time.Millisecond},
	} {
		if got, err := parseRate(text); err != nil || got != want {
			t.Errorf("%q is %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "20", "/s", "20/", "0/s", "-1/s", "+1/s", "1e3/s", "a/s", "20/x", "20/0s", "1/2/s", "NaN/s", "99999999999/s", "0.0000000001/9999d", "0x10/s"} {
		if got, err := parseRate(text); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]int64{
		"10MiB": 10 << 20, "64k": 64 << 10, "500kB": 500_000, "1.5GB": 1_500_000_000, "4096": 4096, "1 mib": 1 << 20, "7B": 7, "2G": 2 << 30,
	} {
		if got, err := parseSize(text); err != nil || got != want {
			t.Errorf("%q is %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "MiB", "-1", "0", "0k", "1e9", "inf", "nan", "99999999GiB", "10XB", "0x10"} {
		if got, err := parseSize(text); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, text := range []string{"0", "-1", "1.5", "", "a", "99999999999999999999"} {
		if got, err := parseCount(text); err == nil {
			t.Errorf("count %q is read as %v", text, got)
		}
		if got, err := parseCount64(text); err == nil {
			t.Errorf("count %q is read as %v", text, got)
		}
	}
	for _, text := range []string{"0", "-1", "NaN", "Inf", "", "x"} {
		if got, err := parseAmount(text); err == nil {
			t.Errorf("amount %q is read as %v", text, got)
		}
	}
	if got, err := parseAmount("2.5"); err != nil || got != 2.5 {
		t.Errorf("amount 2.5 is %v, %v", got, err)
	}
}

func TestBaseAddresses(t *testing.T) {
	if got, err := parseBase(" https://scrape.example/ "); err != nil || got != "https://scrape.example" {
		t.Errorf("got %q, %v", got, err)
	}
	for _, text := range []string{"", "scrape.example", "ftp://a.test", "https://u:p@a.test", "https://a.test/?api_key=x", "https://a.test/#x", "https://"} {
		if got, err := parseBase(text); err == nil {
			t.Errorf("%q is read as %q", text, got)
		}
	}
}

func FuzzValues(f *testing.F) {
	for _, s := range []string{"30s", "1d12h", "300/15m", "0.5/s", "10MiB", "1e9", "999999999999d"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if d, err := parseSpan(s); err == nil && (d < 0 || d > maxSpan) {
			t.Errorf("span %q is %v", s, d)
		}
		if r, err := parseRate(s); err == nil && (r.N <= 0 || r.Per <= 0 || r.Per > maxSpan) {
			t.Errorf("rate %q is %v", s, r)
		}
		if n, err := parseSize(s); err == nil && n <= 0 {
			t.Errorf("size %q is %v", s, n)
		}
	})
}
