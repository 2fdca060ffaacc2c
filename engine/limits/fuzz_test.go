package limits

import (
	"net/http"
	"reflect"
	"testing"
	"time"
)

func FuzzRead(f *testing.F) {
	f.Add(429, "120", "Wed, 01 Jul 2026 12:00:00 GMT", "1782907210", `"a";r=0;t=5`, `"a";q=5;w=9`, `{"reset":60}`)
	f.Add(503, "Wed, 01 Jul 2026 12:05:00 GMT, 7", "", "6m0s", "limit=1, remaining=0, reset=3", "10;w=1, 50;w=60", `{"error":{"reset":"1e9"}}`)
	f.Add(200, "9999999999999999999999.5d", "Thu, 01 Jan 1970 00:00:00 GMT", "100;w=21600", ";r=", "a;q=-1", "[")
	f.Add(403, "99999d 99999d", "31-Dec-99 23:59:60", "-1", `"";r=0`, `?1;w=1`, `{"reset":-0}`)
	f.Fuzz(func(t *testing.T, status int, retry, date, scalar, structured, policy, body string) {
		r := Response{
			Status: status, Received: noon, Body: []byte(body),
			Profile: Profile{WaitFields: []string{"reset"}, ResetMillis: len(scalar)%2 == 0, RoomyReset: len(body)%2 == 0},
			Header: http.Header{
				"Retry-After": {retry, scalar}, "Retry-After-Ms": {scalar}, "Date": {date},
				"X-Ratelimit-Limit": {scalar}, "X-Ratelimit-Remaining": {scalar, retry}, "X-Ratelimit-Reset": {scalar},
				"X-Ratelimit-Reset-After": {retry}, "X-Ratelimit-Remaining-Tokens": {scalar},
				"Ratelimit": {structured}, "Ratelimit-Policy": {policy}, "Some-Call-Limit": {scalar},
			},
		}
		s := Read(r)
		for _, d := range []Opt[time.Duration]{s.Wait, s.Reset, s.Window} {
			if d.V < 0 || d.V > MaxWait || !d.OK && d.V != 0 {
				t.Fatalf("a span of %v (%+v)", d.V, s)
			}
		}
		if s.Limit.V < 0 || s.Remaining.V < 0 {
			t.Fatalf("negative counts: %+v", s)
		}
		if s.Wait.OK == (s.WaitSource == "") || s.Saturated && s.Wait.V != MaxWait {
			t.Fatalf("wait and its source disagree: %+v", s)
		}
		if again := Read(r); !reflect.DeepEqual(s, again) {
			t.Fatalf("two readings differ:\n%+v\n%+v", s, again)
		}
	})
}
