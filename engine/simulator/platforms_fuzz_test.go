package simulator

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// Whatever a client sends, it is answered with one of the documented statuses, and what was taken ends.
func FuzzPlatformRequests(f *testing.F) {
	for path, body := range map[string]string{
		"/spidra/api/scrape":          `{"urls":[{"url":"http://a.test/?sim_status=301"}],"schema":{"type":"object","items":{"type":"null"}}}`,
		"/spidra/api/batch/scrape":    `{"urls":["http://a.test/","http://a.test/?sim_outer=truncated"],"output":"json"}`,
		"/spidra/api/crawl":           `{"baseUrl":"http://a.test/","crawlInstruction":"x","maxPages":3,"maxDepth":1e300,"excludePaths":["*"]}`,
		"/spidra/api/batch/scrape//a": `null`,
		"/omniscrape/v1/scrape":       `{"url":"http://a.test/?sim_fault=cut"}`,
		"/omniscrape/v1/scrape/async": `{"url":"http://[::1]:99999999/%zz"}`,
		"/spidra/files/i-1.md":        ``,
	} {
		f.Add(path, body)
	}
	f.Fuzz(func(t *testing.T, path, body string) {
		now := time.Unix(1_700_000_000, 0)
		w := New(Options{Now: func() time.Time { return now }, Sites: []Site{{Host: "a.test", Policy: Policy{Latency: quick}}},
			Spidra:     SpidraSettings{CallTime: 1, SlowFor: 1, Overhead: 1},
			OmniScrape: OmniScrapeSettings{CallTime: 1, SlowFor: 1, Overhead: 1, SyncLimit: 1}})
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		r.URL.Path, r.Host = path, "simulator.invalid"
		for _, key := range []string{SpidraDemoKey, OmniScrapeDemoKey} {
			r := r.Clone(t.Context())
			r.Body = io.NopCloser(strings.NewReader(body))
			r.Header.Set("X-Api-Key", key)
			out := &answer{header: http.Header{}}
			if dropped := serve(w, out, r); !dropped && (out.status < 200 || out.status > 504) {
				t.Fatalf("status %d", out.status)
			}
		}
		now = now.Add(240 * time.Hour)
		c := w.Counters()
		if a := c.OmniScrape.Accounts["demo"]; a.InFlight != 0 || a.Started != a.Jobs {
			t.Errorf("%+v", a)
		}
		if u := w.spidra.users[0]; u.reserved != 0 || u.open != (SpidraKinds{}) || u.waiting != (SpidraKinds{}) || u.working != (SpidraKinds{}) || u.waitURLs != 0 {
			t.Errorf("left over: reserved %v, %+v %+v %+v %d", u.reserved, u.open, u.waiting, u.working, u.waitURLs)
		}
	})
}
