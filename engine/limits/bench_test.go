package limits

import (
	"net/http"
	"testing"
	"time"
)

// BenchmarkRead is what every answer costs: most say nothing of limits, some count, a few refuse.
func BenchmarkRead(b *testing.B) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	page := map[string]string{
		"Date": now.Format(http.TimeFormat), "Content-Type": "text/html; charset=utf-8", "Cache-Control": "max-age=60", "Server": "nginx",
		"Content-Encoding": "gzip", "Vary": "Accept-Encoding", "Etag": `"686897696a7c876b7e"`, "Strict-Transport-Security": "max-age=31536000",
	}
	for _, c := range []struct {
		name   string
		status int
		fields map[string]string
		body   string
		tells  bool
	}{
		{"silent", 200, nil, "", false},
		{"x-ratelimit", 200, map[string]string{"X-Ratelimit-Limit": "300", "X-Ratelimit-Remaining": "299", "X-Ratelimit-Reset": "1782908100"}, "", true},
		{"structured", 200, map[string]string{"Ratelimit-Policy": `"burst";q=100;w=60, "daily";q=1000;w=86400`, "Ratelimit": `"burst";r=50;t=30, "daily";r=900;t=3600`}, "", true},
		{"retry-after", 429, map[string]string{"Retry-After": now.Add(90 * time.Second).Format(http.TimeFormat)}, `{"error":"too many requests","retry_after":90}`, true},
	} {
		b.Run(c.name, func(b *testing.B) {
			r := Response{Status: c.status, Header: http.Header{}, Body: []byte(c.body), Received: now, Profile: Profile{Name: "direct", RoomyReset: true, WaitFields: []string{"retry_after"}}}
			for _, fields := range []map[string]string{page, c.fields} {
				for k, v := range fields {
					r.Header.Set(k, v)
				}
			}
			if s := Read(r); (s.Wait.OK || s.Remaining.OK) != c.tells {
				b.Fatalf("read as %+v", s)
			}
			b.ReportAllocs()
			for b.Loop() {
				Read(r)
			}
		})
	}
}
