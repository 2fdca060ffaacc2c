package provider

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"dev.scrapetop/engine/limits"
)

func TestObject(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		want error
	}{
		"an object":       {` {"a":1,"b":{"a":2}} `, nil},
		"nothing":         {"", ErrEmpty},
		"blanks":          {" \r\n", ErrEmpty},
		"an array":        {"[]", ErrNotObject},
		"a string":        {`"x"`, ErrNotObject},
		"null":            {"null", ErrNotObject},
		"NaN":             {`{"a":NaN}`, ErrNotJSON},
		"cut off":         {`{"a":"half of`, ErrNotJSON},
		"trailing data":   {`{"a":1} {"a":2}`, ErrNotJSON},
		"a page":          {"<html>", ErrNotJSON},
		"a name twice":    {`{"a":1,"a":2}`, ErrDuplicate},
		"twice, escaped":  {`{"a":1,"\u0061":2}`, ErrDuplicate},
		"too deep":        {strings.Repeat(`{"a":`, 12000) + "1" + strings.Repeat("}", 12000), ErrNotJSON},
		"an invalid rune": {"{\"a\":\"\xff\"}", nil},
	} {
		t.Run(name, func(t *testing.T) {
			object, err := Object([]byte(c.body))
			if !errors.Is(err, c.want) || (err == nil) != (object != nil) {
				t.Fatalf("%v, %v, want %v", object, err, c.want)
			}
		})
	}
}

func TestScalars(t *testing.T) {
	none := limits.Opt[int]{}
	for raw, want := range map[string]limits.Opt[int]{
		`429`: limits.Some(429), `"429"`: limits.Some(429), `429.0`: limits.Some(429), `0`: limits.Some(0),
		`429.5`: none, `"4 29"`: none, `true`: none, `null`: none, `{}`: none, ``: none, `99999999999999999999`: none,
	} {
		if got := Int(json.RawMessage(raw)); got != want {
			t.Errorf("Int(%s) = %+v", raw, got)
		}
	}
	for raw, want := range map[string]limits.Opt[float64]{
		`2.5`: limits.Some(2.5), `"2"`: limits.Some(2.0), `-1`: {}, `"NaN"`: {}, `"Inf"`: {}, `1e300`: {}, `true`: {},
	} {
		if got := Amount(json.RawMessage(raw)); got != want {
			t.Errorf("Amount(%s) = %+v", raw, got)
		}
	}
	for raw, want := range map[string]bool{`false`: true, `"False"`: true, `true`: false, `0`: false, ``: false, `null`: false} {
		if got := False(json.RawMessage(raw)); got != want {
			t.Errorf("False(%s) = %v", raw, got)
		}
	}
}

func FuzzLine(f *testing.F) {
	f.Add("one\nline\x1b[31m")
	f.Add(strings.Repeat("é", 300))
	f.Add(strings.Repeat("a", maxLine-1) + "\xe2\x82\xac")
	f.Fuzz(func(t *testing.T, text string) {
		line := Line(text)
		if !utf8.ValidString(line) || len(line) > 3*maxLine+3 || strings.ContainsAny(line, "\n\r\t\x00\x1b\u0085\u2028") {
			t.Fatalf("%q", line)
		}
	})
}
