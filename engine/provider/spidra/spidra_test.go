package spidra

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"dev.scrapetop/engine/limits"
	"dev.scrapetop/engine/provider"
)

const key = "spd_made-up"

func made(t testing.TB, o Options) provider.Provider {
	t.Helper()
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// call is a call of a kind for tasks 1, 2, ... with these URLs.
func call(kind provider.Kind, job string, urls ...string) provider.Call {
	c := provider.Call{Kind: kind, For: kind, Credential: "main", Job: job}
	for i, u := range urls {
		c.Targets = append(c.Targets, provider.Target{Task: int64(i + 1), URL: u})
	}
	return c
}

func submit(urls ...string) provider.Call { return call(provider.Submit, "", urls...) }

func probe(c provider.Call) provider.Call {
	c.Kind = provider.Probe
	return c
}

const one = "https://a.test/p?x=1&y=2"

func TestSubmits(t *testing.T) {
	for name, c := range map[string]struct {
		o    Options
		urls []string
		to   string
		want string
	}{
		"one URL is a single scrape": {Options{}, []string{one}, "https://api.spidra.io/api/scrape", `{"urls":[{"url":"` + one + `"}]}`},
		"several are a batch": {Options{}, []string{one, "https://b.test/"}, "https://api.spidra.io/api/batch/scrape",
			`{"urls":["` + one + `","https://b.test/"]}`},
		"the batch path of the limits page": {Options{BatchPath: "/batch-scrape"}, []string{one, one}, "https://api.spidra.io/api/batch-scrape",
			`{"urls":["` + one + `","` + one + `"]}`},
		"another base": {Options{BaseURL: "http://127.0.0.1:9/spidra/"}, []string{one}, "http://127.0.0.1:9/spidra/scrape", `{"urls":[{"url":"` + one + `"}]}`},
		"fields pass through": {Options{Fields: map[string]any{"prompt": "title", "output": "json", "useProxy": true, "schema": map[string]any{"type": "object"}}},
			[]string{one}, "https://api.spidra.io/api/scrape",
			`{"urls":[{"url":"` + one + `"}],"prompt":"title","output":"json","useProxy":true,"schema":{"type":"object"}}`},
		"actions belong to the URL": {Options{Fields: map[string]any{"actions": []any{map[string]any{"type": "click"}}}}, []string{one},
			"https://api.spidra.io/api/scrape", `{"urls":[{"url":"` + one + `","actions":[{"type":"click"}]}]}`},
		"a crawl": {Options{Crawl: true}, []string{one}, "https://api.spidra.io/api/crawl", `{"baseUrl":"` + one + `","crawlInstruction":"Follow the site's own links."}`},
		"a crawl's own instruction": {Options{Crawl: true, Fields: map[string]any{"crawlInstruction": "only /docs", "maxPages": 50}}, []string{one},
			"https://api.spidra.io/api/crawl", `{"baseUrl":"` + one + `","crawlInstruction":"only /docs","maxPages":50}`},
	} {
		t.Run(name, func(t *testing.T) {
			for _, call := range []provider.Call{submit(c.urls...), probe(submit(c.urls...))} {
				r, err := made(t, c.o).Request(call, key)
				if err != nil {
					t.Fatal(err)
				}
				if r.Method != "POST" || r.URL != c.to || r.Header.Get("X-Api-Key") != key || r.Header.Get("Content-Type") != "application/json" ||
					r.Header.Get("Authorization") != "" {
					t.Errorf("%+v", r)
				}
				var got, want any
				if json.Unmarshal(r.Body, &got) != nil || json.Unmarshal([]byte(c.want), &want) != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("body %s, want %s", r.Body, c.want)
				}
				if strings.Contains(string(r.Body)+r.URL, key) {
					t.Error("the key left its header")
				}
			}
		})
	}
}

func TestBearer(t *testing.T) {
	r, err := made(t, Options{Bearer: true}).Request(submit(one), key)
	if err != nil || r.Header.Get("Authorization") != "Bearer "+key || r.Header.Get("X-Api-Key") != "" {
		t.Fatalf("%v, %v", r.Header, err)
	}
}

func TestPollsAndLookups(t *testing.T) {
	const base = "https://api.spidra.io/api"
	paged := call(provider.Lookup, "", one, one)
	paged.Page = 3
	for name, c := range map[string]struct {
		o    Options
		call provider.Call
		want string
	}{
		"a scrape":                {Options{}, call(provider.Poll, "scrape/j-1", one), base + "/scrape/j-1"},
		"a batch":                 {Options{}, call(provider.Poll, "batch/b-1", one, one), base + "/batch/scrape/b-1"},
		"a batch, other path":     {Options{BatchPath: "batch-scrape"}, call(provider.Poll, "batch/b-1", one), base + "/batch-scrape/b-1"},
		"a crawl":                 {Options{Crawl: true}, call(provider.Poll, "crawl/c-1", one), base + "/crawl/c-1"},
		"a job of another mode":   {Options{Crawl: true}, call(provider.Poll, "scrape/j-1", one), base + "/scrape/j-1"},
		"a log":                   {Options{}, call(provider.Poll, "log/u-1", one), base + "/scrape-logs/u-1"},
		"an id that is no path":   {Options{}, call(provider.Poll, "scrape/../x?y", one), base + "/scrape/..%2Fx%3Fy"},
		"a lost scrape":           {Options{}, call(provider.Lookup, "", one), base + "/scrape-logs?limit=50&page=1&searchTerm=https%3A%2F%2Fa.test%2Fp%3Fx%3D1%26y%3D2"},
		"a lost batch":            {Options{}, call(provider.Lookup, "", one, one), base + "/batch/scrape?limit=50&page=1"},
		"the third page of lists": {Options{}, paged, base + "/batch/scrape?limit=50&page=3"},
		"what a batch holds":      {Options{}, call(provider.Lookup, "batch/b-1", one, one), base + "/batch/scrape/b-1"},
		"a lost crawl":            {Options{Crawl: true}, call(provider.Lookup, "", one), base + "/crawl/history?limit=50&page=1"},
		"whether the key works":   {Options{}, call(provider.Lookup, ""), base + "/usage-stats?range=7d"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := made(t, c.o).Request(c.call, key)
			if err != nil || r.Method != "GET" || r.URL != c.want || r.Body != nil || r.Header.Get("X-Api-Key") != key {
				t.Errorf("%+v, %v, want %s", r, err, c.want)
			}
		})
	}
}

func TestRequestRefuses(t *testing.T) {
	many := make([]string, 51)
	for name, c := range map[string]struct {
		o    Options
		call provider.Call
		key  string
	}{
		"no key":                         {Options{}, submit(one), ""},
		"a key with a break":             {Options{}, submit(one), "s3cret\r\nX: y"},
		"no target":                      {Options{}, submit(), key},
		"more than a batch takes":        {Options{}, submit(many...), key},
		"two of single scrapes":          {Options{Batch: 1}, submit(one, one), key},
		"two roots of a crawl":           {Options{Crawl: true}, submit(one, one), key},
		"a poll without a job":           {Options{}, call(provider.Poll, ""), key},
		"a poll without a kind":          {Options{}, call(provider.Poll, "b-1"), key},
		"a poll of dots":                 {Options{}, call(provider.Poll, "batch/.."), key},
		"a poll of a kind unknown":       {Options{}, call(provider.Poll, "usage/1"), key},
		"a look into a scrape":           {Options{}, call(provider.Lookup, "scrape/j-1", one), key},
		"a fetch":                        {Options{}, call(provider.Fetch, "", one), key},
		"a probe that stands for a poll": {Options{}, provider.Call{Kind: provider.Probe, For: provider.Poll}, key},
	} {
		r, err := made(t, c.o).Request(c.call, c.key)
		if err == nil || r.URL != "" || strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), key) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for name, o := range map[string]Options{
		"a key among the fields":         {Fields: map[string]any{"API_Key": "s3cret"}},
		"URLs among the fields":          {Fields: map[string]any{"urls": []string{"http://a.test/"}}},
		"a root among the fields":        {Fields: map[string]any{"baseUrl": "http://a.test/"}},
		"a value that is no JSON":        {Fields: map[string]any{"x": make(chan int)}},
		"a base with a password":         {BaseURL: "https://u:s3cret@a.test"},
		"a base with a key":              {BaseURL: "https://a.test/?key=s3cret"},
		"a base of another scheme":       {BaseURL: "ftp://a.test"},
		"a batch of more than 50":        {Batch: 51},
		"a batch of less than none":      {Batch: -1},
		"actions in a batch":             {Batch: 10, Fields: map[string]any{"actions": []any{}}},
		"actions in a crawl":             {Crawl: true, Fields: map[string]any{"actions": []any{}}},
		"a plan of less than nothing":    {Plan: Plan{RateLimit: -1}},
		"a queue of less than nothing":   {Plan: Plan{Crawls: -1}},
		"a batch path that leads away":   {BatchPath: "/../x"},
		"a batch path with a query":      {BatchPath: "/batch?x=1"},
		"a batch path that is no path":   {BatchPath: "/"},
		"a batch path that is encoded":   {BatchPath: "/%2e%2e"},
		"a base that is no URL, with it": {BaseURL: "https://a.test:s3cret"},
	} {
		if _, err := New(o); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFacts(t *testing.T) {
	scrape, batch, crawl := provider.JobKind{Name: "scrape", Pending: 10}, provider.JobKind{Name: "batch", Pending: 50}, provider.JobKind{Name: "crawl", Pending: 5}
	for name, c := range map[string]struct {
		o      Options
		max    int
		single provider.JobKind
		batch  provider.JobKind
		worst  float64
	}{
		"by default":                 {Options{}, 50, scrape, batch, 12},
		"smaller batches":            {Options{Batch: 7}, 7, scrape, batch, 12},
		"single scrapes":             {Options{Batch: 1}, 1, scrape, scrape, 12},
		"actions":                    {Options{Fields: map[string]any{"actions": []any{}}}, 1, scrape, scrape, 12},
		"a crawl":                    {Options{Crawl: true}, 1, crawl, crawl, 60},
		"a crawl of 20 pages":        {Options{Crawl: true, Fields: map[string]any{"maxPages": "20"}}, 1, crawl, crawl, 240},
		"a crawl of too many":        {Options{Crawl: true, Fields: map[string]any{"maxPages": 500.0}}, 1, crawl, crawl, 600},
		"a crawl of a number unread": {Options{Crawl: true, Fields: map[string]any{"maxPages": "all"}}, 1, crawl, crawl, 600},
	} {
		f := made(t, c.o).Facts()
		if f.BatchMax != c.max || f.Single != c.single || f.Batch != c.batch || f.WorstCredits != c.worst {
			t.Errorf("%s: %+v", name, f)
		}
		if f.RateLimit != 300 || f.RateWindow != 15*time.Minute || !f.PollsCount || !f.NoStatus || !f.FindsLost || f.Retention != time.Hour ||
			f.DefaultWait != 30*time.Second || f.BusyWait != time.Minute || f.PollFirst < 5*time.Second || f.PollMax != 15*time.Second || f.AccountScope != "account" {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// TestPlan: what a plan allows is configured, and no constant; what is left out stays as documented.
func TestPlan(t *testing.T) {
	f := made(t, Options{Plan: Plan{RateLimit: 1000, RateWindow: time.Hour, Scrapes: 20, Batches: 100}}).Facts()
	if f.RateLimit != 1000 || f.RateWindow != time.Hour || f.Single.Pending != 20 || f.Batch.Pending != 100 {
		t.Errorf("%+v", f)
	}
	if f = made(t, Options{Crawl: true, Plan: Plan{RateLimit: 60, Crawls: 2}}).Facts(); f.RateLimit != 60 || f.RateWindow != 15*time.Minute || f.Single.Pending != 2 {
		t.Errorf("%+v", f)
	}
	r := answer(429, ``)
	r.Header = http.Header{"Ratelimit-Reset": {"5000"}}
	if reply := made(t, Options{Plan: Plan{RateWindow: time.Hour}}).Read(submit(one), r); reply.Signal.Wait != limits.Some(time.Hour) {
		t.Errorf("a reset in a longer window: %+v", reply.Signal)
	}
}

func TestOptionsAreNotShared(t *testing.T) {
	fields := map[string]any{"prompt": "a", "actions": []any{}}
	p := made(t, Options{Fields: fields})
	fields["prompt"] = "b"
	if r, err := p.Request(submit(one), key); err != nil || !strings.Contains(string(r.Body), `"prompt":"a"`) {
		t.Errorf("%s, %v", r.Body, err)
	}
	if len(fields) != 2 {
		t.Errorf("the caller's fields were changed: %v", fields)
	}
}

func TestResetsInEitherReading(t *testing.T) {
	for name, c := range map[string]struct {
		reset string
		want  time.Duration
	}{
		"a Unix time":          {"1782908100", 900 * time.Second},
		"a Unix time in ms":    {"1782907260000", time.Minute},
		"seconds left":         {"420", 420 * time.Second},
		"nothing left":         {"0", 0},
		"a time that has gone": {"1782900000", 0},
		"longer than a window": {"5000", 900 * time.Second},
	} {
		r := answer(429, `{"status":"error","message":"Too many requests, please try again later."}`)
		r.Header = http.Header{"Ratelimit-Limit": {"300"}, "Ratelimit-Remaining": {"0"}, "Ratelimit-Reset": {c.reset}}
		reply := made(t, Options{}).Read(submit(one), r)
		if reply.Layer != provider.LayerRate || reply.Signal.Wait != limits.Some(c.want) || reply.Signal.Limit != limits.Some(int64(300)) {
			t.Errorf("%s: %+v", name, reply)
		}
	}
}
