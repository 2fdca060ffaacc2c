package cli

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"net/url"
	"strconv"
	"strings"
	"time"

	"dev.scrapetop/engine"
)

// parsed is a flag (and config) value that is checked while it is read: the flag set's error names the flag, the
// config's the file, line and key.
type parsed[T any] struct {
	to    *T
	text  string
	kind  string // what help shows
	parse func(string) (T, error)
}

func newParsed[T any](to *T, kind, initial string, parse func(string) (T, error)) *parsed[T] {
	return &parsed[T]{to: to, text: initial, kind: kind, parse: parse}
}

// Set implements pflag.Value.
func (p *parsed[T]) Set(s string) error {
	v, err := p.parse(s)
	if err != nil {
		return err
	}
	*p.to, p.text = v, s
	return nil
}

// String implements pflag.Value.
func (p *parsed[T]) String() string { return p.text }

// Type implements pflag.Value.
func (p *parsed[T]) Type() string { return p.kind }

const maxSpan = 100 * 366 * 24 * time.Hour

// parseSpan reads a time span: Go's units and d (24 h) and w (7 d), e.g. 90s, 1h30m, 120d. Never negative, at most a
// hundred years.
func parseSpan(s string) (time.Duration, error) {
	text := strings.TrimSpace(s)
	if text == "0" {
		return 0, nil
	}
	bad := func() (time.Duration, error) {
		return 0, fmt.Errorf("%s is no time span, write one like 30s, 15m, 6h or 120d", strconv.Quote(shorten(s, 40)))
	}
	if text == "" || strings.ContainsAny(text, "+-") {
		return bad()
	}
	var total time.Duration
	for rest := text; rest != ""; {
		i := strings.IndexFunc(rest, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
		if i <= 0 {
			return bad()
		}
		j := i
		for j < len(rest) && (rest[j] < '0' || rest[j] > '9') && rest[j] != '.' {
			j++
		}
		number, unit := rest[:i], rest[i:j]
		rest = rest[j:]
		part, err := spanOf(number, unit)
		if err != nil || part > maxSpan-total {
			return bad()
		}
		total += part
	}
	return total, nil
}

func spanOf(number, unit string) (time.Duration, error) {
	day := time.Duration(0)
	switch unit {
	case "d":
		day = 24 * time.Hour
	case "w":
		day = 7 * 24 * time.Hour
	default:
		return time.ParseDuration(number + unit)
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil || f*float64(day) > float64(maxSpan) {
		return 0, errors.New("out of range")
	}
	return time.Duration(f * float64(day)), nil
}

// parsePositiveSpan is parseSpan without zero.
func parsePositiveSpan(s string) (time.Duration, error) {
	d, err := parseSpan(s)
	if err == nil && d == 0 {
		err = errors.New("must be more than zero")
	}
	return d, err
}

// parseRate reads a ceiling on starts: a number per span, e.g. 20/s, 300/15m, 0.5/s. Fractions become whole numbers per
// a longer span, so that 0.5/s is one in two seconds.
func parseRate(s string) (engine.Rate, error) {
	bad := func() (engine.Rate, error) {
		return engine.Rate{}, fmt.Errorf("%s is no rate, write one like 20/s or 300/15m", strconv.Quote(shorten(s, 40)))
	}
	number, per, ok := strings.Cut(s, "/")
	if !ok {
		return bad()
	}
	number, per = strings.TrimSpace(number), strings.TrimSpace(per)
	switch per {
	case "sec", "second":
		per = "s"
	case "min", "minute":
		per = "m"
	case "hour":
		per = "h"
	case "day":
		per = "d"
	}
	if per == "" || len(number) > 12 || strings.ContainsAny(number, "eE/xX_+-") {
		return bad()
	}
	if per[0] < '0' || per[0] > '9' {
		per = "1" + per
	}
	span, err := parsePositiveSpan(per)
	if err != nil {
		return bad()
	}
	n, ok := new(big.Rat).SetString(number)
	if !ok || n.Sign() <= 0 || !n.Num().IsInt64() || !n.Denom().IsInt64() || n.Num().Int64() > math.MaxInt32 {
		return bad()
	}
	if n.Denom().Int64() > int64(maxSpan/span) {
		return bad()
	}
	return engine.Rate{N: int(n.Num().Int64()), Per: span * time.Duration(n.Denom().Int64())}, nil
}

var sizeUnits = []struct {
	suffix string
	bytes  float64
}{ // longest first; a bare K, M, G is binary, as dd and sort read it
	{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30},
	{"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9},
	{"k", 1 << 10}, {"m", 1 << 20}, {"g", 1 << 30}, {"b", 1}, {"", 1},
}

// parseSize reads a number of bytes: 10MiB, 64k, 1.5GB, 4096.
func parseSize(s string) (int64, error) {
	text := strings.ToLower(strings.TrimSpace(s))
	for _, u := range sizeUnits {
		number, ok := strings.CutSuffix(text, u.suffix)
		if !ok {
			continue
		}
		number = strings.TrimSpace(number)
		f, err := strconv.ParseFloat(number, 64)
		if err != nil || strings.ContainsAny(number, "ex_+-in") || f*u.bytes < 1 || f*u.bytes > 1<<50 {
			break
		}
		return int64(f * u.bytes), nil
	}
	return 0, fmt.Errorf("%s is no size, write one like 10MiB or 500kB", strconv.Quote(shorten(s, 40)))
}

// parseCount reads a whole number of at least one.
func parseCount(s string) (int, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 32)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%s is not a whole number of at least 1", strconv.Quote(shorten(s, 40)))
	}
	return int(n), nil
}

func parseCount64(s string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%s is not a whole number of at least 1", strconv.Quote(shorten(s, 40)))
	}
	return n, nil
}

// parseAmount reads a number above zero.
func parseAmount(s string) (float64, error) {
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) || f <= 0 {
		return 0, fmt.Errorf("%s is not a number above zero", strconv.Quote(shorten(s, 40)))
	}
	return f, nil
}

// oneOf accepts one of the words.
func oneOf(words ...string) func(string) (string, error) {
	return func(s string) (string, error) {
		for _, w := range words {
			if s == w {
				return s, nil
			}
		}
		return "", fmt.Errorf("%s is not one of %s", strconv.Quote(shorten(s, 40)), strings.Join(words, ", "))
	}
}

// parseBase checks a provider's base URL; a trailing slash is dropped. Credentials and a query are refused: they would
// end up in logs.
func parseBase(s string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(s))
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return "", errors.New("is no absolute http or https URL")
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", errors.New("may hold neither credentials nor a query")
	}
	return strings.TrimRight(u.String(), "/"), nil
}
