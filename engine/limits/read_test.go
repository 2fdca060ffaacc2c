package limits

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// wait reads one Retry-After value of a 429 at noon.
func wait(value string) Signal {
	return Read(Response{Status: 429, Header: http.Header{"Retry-After": {value}}, Received: noon})
}

func TestRetryAfterForms(t *testing.T) {
	const none = time.Duration(-1)
	for value, want := range map[string]time.Duration{
		"+30":                               30 * time.Second,
		".5":                                500 * time.Millisecond,
		"1.0000000001":                      time.Second + 1,
		"1_000":                             none,
		"+-5":                               none,
		"1.2.3":                             none,
		"１２０":                               none,
		"0b11":                              none,
		"inf":                               none,
		"31622400":                          MaxWait,
		"90s":                               90 * time.Second,
		"120 seconds":                       2 * time.Minute,
		"1m 30s":                            90 * time.Second,
		"1d":                                24 * time.Hour,
		"1 30s":                             none,
		"5 parsecs":                         none,
		"60, 120":                           2 * time.Minute,
		"abc, 5":                            5 * time.Second,
		"100,000":                           100_000 * time.Second,
		"120,300":                           5 * time.Minute,
		"1782907260000":                     time.Minute,
		"1782907260.5":                      time.Minute + 500*time.Millisecond,
		"1782907260000000":                  time.Minute,
		"2026-07-01T12:01:00":               time.Minute,
		"2026-06-31T12:01:00Z":              none,
		"2026-07-01":                        none,
		"Wednesday, 01-Jul-26 12:01:00 GMT": time.Minute,
		"Friday, 01-Jul-77 12:01:00 GMT":    0,
		"Sun, 29 Feb 2026 12:00:00 GMT":     none,
		"Thu, 29 Feb 2024 12:00:00 GMT":     0,
		"Wed, 01 Jul 2026 11:59:60 GMT":     0,
		"Wed, 01 Jul 2026 12:60:00 GMT":     none,
		"Wed, 01 Jul 2026 12:01:00 PST":     none,
		"Wed Jul  1 12:01:00 2026":          time.Minute,
		"Wed Jul 01 2026 14:01:00 GMT+0200 (CEST)":                     time.Minute,
		"Fri, 31 Dec 9999 23:59:59 GMT":                                MaxWait,
		"Wed, 01 Jul 2026 12:01:00 GMT, Wed, 01 Jul 2026 12:02:00 GMT": 2 * time.Minute,
	} {
		t.Run(value, func(t *testing.T) {
			s := wait(value)
			switch {
			case want == none && s.Wait.OK:
				t.Fatalf("read as %v, want malformed", s.Wait.V)
			case want != none && s.Wait != Some(want):
				t.Fatalf("wait %+v, want %v", s.Wait, want)
			case want == none && len(s.Notes) == 0:
				t.Fatal("malformed without a note")
			}
		})
	}
}

func TestSaturatesOnlyBeyondMaxWait(t *testing.T) {
	if s := wait("31622400"); s.Saturated {
		t.Errorf("%v is what we schedule, not beyond it", s.Wait.V)
	}
	for _, value := range []string{"31622401", "366d1s", strings.Repeat("9", 5000), "99999999999999999999d"} {
		if s := wait(value); !s.Saturated || s.Wait.V != MaxWait {
			t.Errorf("%.30s: %+v, want saturated", value, s.Wait)
		}
	}
	if s := wait(strings.Repeat("0", 5000) + "7"); s.Wait != Some(7*time.Second) {
		t.Errorf("leading zeros: %+v", s.Wait)
	}
}

func TestBodyWait(t *testing.T) {
	sheet := Profile{WaitFields: []string{"retry_after"}}
	for name, c := range map[string]struct {
		body   string
		status int
		header string
		want   Opt[time.Duration]
		source string
	}{
		"number":             {`{"retry_after":6}`, 503, "", Some(6 * time.Second), "body"},
		"numeric string":     {`{"retry_after":"6"}`, 503, "", Some(6 * time.Second), "body"},
		"decimal":            {`{"retry_after":1.5}`, 429, "", Some(1500 * time.Millisecond), "body"},
		"exponent":           {`{"retry_after":6e1}`, 429, "", Some(time.Minute), "body"},
		"zero":               {`{"retry_after":0}`, 503, "", Some(time.Duration(0)), "body"},
		"negative":           {`{"retry_after":-5}`, 503, "", Opt[time.Duration]{}, ""},
		"negative zero":      {`{"retry_after":-0.0}`, 503, "", Opt[time.Duration]{}, ""},
		"boolean":            {`{"retry_after":true}`, 503, "", Opt[time.Duration]{}, ""},
		"null":               {`{"retry_after":null}`, 503, "", Opt[time.Duration]{}, ""},
		"object":             {`{"retry_after":{"s":5}}`, 503, "", Opt[time.Duration]{}, ""},
		"NaN":                {`{"retry_after":NaN}`, 503, "", Opt[time.Duration]{}, ""},
		"NaN string":         {`{"retry_after":"NaN"}`, 503, "", Opt[time.Duration]{}, ""},
		"huge":               {`{"retry_after":1000000000000}`, 503, "", Some(MaxWait), "body"},
		"beyond a float":     {`{"retry_after":1e999}`, 503, "", Some(MaxWait), "body"},
		"in an error object": {`{"error":{"retry_after":9}}`, 429, "", Some(9 * time.Second), "body"},
		"given twice":        {`{"retry_after":3,"retry_after":9}`, 429, "", Some(9 * time.Second), "body"},
		"header longer":      {`{"retry_after":3}`, 503, "8", Some(8 * time.Second), "retry-after"},
		"body longer":        {`{"retry_after":8}`, 503, "3", Some(8 * time.Second), "body"},
		"bad body, header":   {`{"retry_after":-8}`, 503, "3", Some(3 * time.Second), "retry-after"},
		"520":                {`{"retry_after":4}`, 520, "", Some(4 * time.Second), "body"},
		"a page":             {`{"retry_after":4}`, 200, "", Opt[time.Duration]{}, ""},
		"trailing data":      {`{"retry_after":4} x`, 503, "", Opt[time.Duration]{}, ""},
		"array":              {`[{"retry_after":4}]`, 503, "", Opt[time.Duration]{}, ""},
		"too deep":           {strings.Repeat(`{"error":`, 20000), 503, "", Opt[time.Duration]{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := Response{Status: c.status, Header: http.Header{}, Body: []byte(c.body), Received: noon, Profile: sheet}
			if c.header != "" {
				r.Header.Set("Retry-After", c.header)
			}
			s := Read(r)
			if s.Wait != c.want || s.WaitSource != c.source {
				t.Fatalf("wait %+v from %q, want %+v from %q", s.Wait, s.WaitSource, c.want, c.source)
			}
		})
	}
}

func TestQuotaFields(t *testing.T) {
	for name, c := range map[string]struct {
		status  int
		profile Profile
		header  http.Header
		check   func(Signal) bool
	}{
		"a cached answer's counters are of the past": {200, Profile{}, http.Header{
			"Age": {"30"}, "X-Ratelimit-Limit": {"10"}, "X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {"9"},
		}, func(s Signal) bool { return !s.Remaining.OK && !s.Reset.OK && len(s.Notes) == 1 }},
		"a fresh answer out of a cache counts": {200, Profile{}, http.Header{
			"Age": {"0"}, "X-Ratelimit-Remaining": {"0"},
		}, func(s Signal) bool { return s.Exhausted() }},
		"a cached answer's date is Date plus Age": {503, Profile{}, http.Header{
			"Age": {"30"}, "Date": {"Wed, 01 Jul 2020 12:00:00 GMT"}, "Retry-After": {"Wed, 01 Jul 2020 12:01:00 GMT"},
		}, func(s Signal) bool { return s.Wait == Some(30*time.Second) }},
		"milliseconds left": {200, Profile{ResetMillis: true}, http.Header{"X-Rate-Limit-Reset": {"600000"}},
			func(s Signal) bool { return s.Reset == Some(10*time.Minute) }},
		"milliseconds by the name": {200, Profile{}, http.Header{"X-Ratelimit-Reset-Ms": {"1500"}},
			func(s Signal) bool { return s.Reset == Some(1500*time.Millisecond) }},
		"a reset beyond the sheet's window": {429, Profile{MaxReset: 15 * time.Minute}, http.Header{
			"Ratelimit-Remaining": {"0"}, "Ratelimit-Reset": {"99999999"},
		}, func(s Signal) bool { return s.Wait == Some(15*time.Minute) && !s.Saturated }},
		"a far reset saturates": {429, Profile{}, http.Header{"Ratelimit-Remaining": {"0"}, "Ratelimit-Reset": {"999999999"}},
			func(s Signal) bool { return s.Wait == Some(MaxWait) && s.Saturated }},
		"a 429 whose counter shows room": {429, Profile{}, http.Header{"X-Ratelimit-Remaining": {"9"}, "X-Ratelimit-Reset": {"40"}},
			func(s Signal) bool { return !s.Wait.OK }},
		"the same of a web server": {429, Profile{RoomyReset: true}, http.Header{"X-Ratelimit-Remaining": {"9"}, "X-Ratelimit-Reset": {"40"}},
			func(s Signal) bool { return s.Wait == Some(40*time.Second) && s.WaitSource == "ratelimit-reset" }},
		"a 429 with a reset and no counter": {429, Profile{}, http.Header{"X-Ratelimit-Reset": {"40"}},
			func(s Signal) bool { return s.Wait == Some(40*time.Second) }},
		"a 403 with a reset and no counter": {403, Profile{}, http.Header{"X-Ratelimit-Reset": {"40"}},
			func(s Signal) bool { return !s.Wait.OK }},
		"a 200 waits for nothing": {200, Profile{}, http.Header{"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {"40"}},
			func(s Signal) bool { return !s.Wait.OK && s.Exhausted() && s.Reset == Some(40*time.Second) }},
		"less than nothing left is nothing": {200, Profile{}, http.Header{"X-Ratelimit-Limit": {"10"}, "X-Ratelimit-Remaining": {"-3"}},
			func(s Signal) bool { return s.Remaining == Some(int64(0)) }},
		"thousands commas": {200, Profile{}, http.Header{"X-Ratelimit-Limit": {"5,000"}, "X-Ratelimit-Remaining": {"4,987"}},
			func(s Signal) bool { return s.Limit == Some(int64(5000)) && s.Remaining == Some(int64(4987)) }},
		"a doubled counter": {200, Profile{}, http.Header{"X-Ratelimit-Limit": {"100,100"}, "X-Ratelimit-Remaining": {"99, 98"}},
			func(s Signal) bool { return s.Limit == Some(int64(100)) && s.Remaining == Some(int64(98)) }},
		"a time as Go prints it": {200, Profile{}, http.Header{"X-Ratelimit-Reset": {"2026-07-01 12:00:30 +0000 UTC"}},
			func(s Signal) bool { return s.Reset == Some(30*time.Second) }},
		"a negative limit is none": {200, Profile{}, http.Header{"X-Ratelimit-Limit": {"-1"}, "X-Ratelimit-Remaining": {"-1"}},
			func(s Signal) bool { return !s.Limit.OK && !s.Remaining.OK && !s.Exhausted() }},
		"draft 07 with its policy": {200, Profile{}, http.Header{
			"Ratelimit": {"limit=100, remaining=25, reset=5"}, "Ratelimit-Policy": {"100;w=60, 1000;w=3600"},
		}, func(s Signal) bool {
			return s.Limit == Some(int64(100)) && s.Remaining == Some(int64(25)) && s.Window == Some(time.Minute)
		}},
		"structured lines are joined": {200, Profile{}, http.Header{"Ratelimit": {`"a";r=5;t=1`, "", `"b";r=0;t=9`}},
			func(s Signal) bool { return s.Binding == "b" && s.Reset == Some(9*time.Second) }},
		"one bad line spoils the field": {200, Profile{}, http.Header{"Ratelimit": {`"a";r=5;t=1`, `"b";r=0;t=`}},
			func(s Signal) bool { return !s.Remaining.OK && s.Kind == KindUnknown && len(s.Notes) == 1 }},
		"simultaneous requests as a unit": {200, Profile{}, http.Header{
			"Ratelimit": {`"slots";r=2`}, "Ratelimit-Policy": {`"slots";q=5;qu="concurrent-requests"`},
		}, func(s Signal) bool {
			return s.Kind == KindConcurrency && s.Limit == Some(int64(5)) && s.Unit == ""
		}},
		"only a policy": {200, Profile{}, http.Header{"Ratelimit-Policy": {`"hour";q=1000;w=3600`}},
			func(s Signal) bool {
				return s.Limit == Some(int64(1000)) && s.Window == Some(time.Hour) && s.Kind == KindWindow
			}},
		"two spellings of one name": {200, Profile{}, http.Header{"X-RateLimit-Remaining": {"7"}, "x-ratelimit-remaining": {"3"}},
			func(s Signal) bool { return s.Remaining == Some(int64(3)) }},
		"only a source": {200, Profile{}, http.Header{"Docker-Ratelimit-Source": {"192.0.2.1"}},
			func(s Signal) bool { return s.Kind == KindUnknown && !s.Limit.OK && !s.Remaining.OK }},
	} {
		t.Run(name, func(t *testing.T) {
			s := Read(Response{Status: c.status, Header: c.header, Received: noon, Profile: c.profile})
			if !c.check(s) {
				t.Fatalf("read as %+v", s)
			}
		})
	}
}

func TestNotesAreBoundedAndPrintable(t *testing.T) {
	h := http.Header{}
	for range 100 {
		h.Add("Retry-After", "\x1b]0;owned\a"+strings.Repeat("\u202e", 100))
		h.Add("X-RateLimit-Remaining", "\x00")
	}
	s := Read(Response{Status: 429, Header: h, Received: noon})
	if len(s.Notes) == 0 || len(s.Notes) > maxNotes {
		t.Fatalf("%d notes", len(s.Notes))
	}
	for _, note := range s.Notes {
		if len(note) > 600 || strings.IndexFunc(note, func(r rune) bool { return r < ' ' || r > '~' }) >= 0 {
			t.Errorf("note %q", note)
		}
	}
}
