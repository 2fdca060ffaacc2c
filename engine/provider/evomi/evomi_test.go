package evomi

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"dev.scrapetop/engine/provider"
)

const key = "k3y-made-up"

func made(t testing.TB, o Options) provider.Provider {
	t.Helper()
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func submit() provider.Call {
	return provider.Call{
		Kind: provider.Submit, For: provider.Submit, Domain: "t.test", Credential: "main",
		Targets: []provider.Target{{Task: 7, URL: "http://t.test/?a=1&b=2"}},
	}
}

func poll() provider.Call {
	c := submit()
	c.Kind, c.For, c.Job = provider.Poll, provider.Poll, "task_k1"
	return c
}

func probe() provider.Call {
	c := submit()
	c.Kind = provider.Probe
	return c
}

func TestSubmitRequest(t *testing.T) {
	for name, c := range map[string]struct {
		o    Options
		want map[string]any
	}{
		"defaults": {Options{}, map[string]any{"delivery": "json", "include_content": true}},
		"fields pass through": {Options{Fields: map[string]any{"mode": "request", "proxy_type": "datacenter", "block_resources": []string{"image"}}},
			map[string]any{"delivery": "json", "include_content": true, "mode": "request", "proxy_type": "datacenter", "block_resources": []any{"image"}}},
		"fields win over defaults": {Options{Fields: map[string]any{"content": "markdown", "delivery": "json", "include_content": true}}, map[string]any{"content": "markdown", "delivery": "json", "include_content": true}},
		"raw delivery":             {Options{Fields: map[string]any{"delivery": "raw"}}, map[string]any{"delivery": "raw"}},
		"async":                    {Options{Async: true}, map[string]any{"delivery": "json", "include_content": true, "async": true}},
		"async as a field":         {Options{Fields: map[string]any{"async": "true"}}, map[string]any{"delivery": "json", "include_content": true, "async": true}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, call := range []provider.Call{submit(), probe()} {
				r, err := made(t, c.o).Request(call, key)
				if err != nil {
					t.Fatal(err)
				}
				if r.Method != "POST" || r.URL != "https://scrape.evomi.com/api/v1/scraper/realtime" || r.Header.Get("X-Api-Key") != key ||
					r.Header.Get("Content-Type") != "application/json" {
					t.Errorf("%+v", r)
				}
				var got map[string]any
				if err := json.Unmarshal(r.Body, &got); err != nil {
					t.Fatal(err)
				}
				want := map[string]any{"url": "http://t.test/?a=1&b=2"}
				for k, v := range c.want {
					want[k] = v
				}
				if !reflect.DeepEqual(got, want) {
					t.Errorf("fields %v, want %v", got, want)
				}
				if strings.Contains(string(r.Body)+r.URL, key) {
					t.Error("the key left its header")
				}
			}
		})
	}
}

func TestPollAndHealthRequests(t *testing.T) {
	p := made(t, Options{BaseURL: "http://127.0.0.1:9/evomi/"})
	c := poll()
	c.Job = "task/../x?y"
	r, err := p.Request(c, key)
	if err != nil || r.Method != "GET" || r.URL != "http://127.0.0.1:9/evomi/api/v1/scraper/tasks/task%2F..%2Fx%3Fy" || r.Body != nil || r.Header.Get("X-Api-Key") != key {
		t.Errorf("poll %+v, %v", r, err)
	}
	r, err = p.Request(provider.Call{Kind: provider.Lookup, For: provider.Lookup}, key)
	if err != nil || r.Method != "GET" || r.URL != "http://127.0.0.1:9/evomi/api/v1/scraper/health" || r.Header.Get("X-Api-Key") != key {
		t.Errorf("health %+v, %v", r, err)
	}
}

func TestRequestRefuses(t *testing.T) {
	p := made(t, Options{})
	two := submit()
	two.Targets = append(two.Targets, two.Targets[0])
	jobless, dots := poll(), poll()
	jobless.Job, dots.Job = "", ".."
	for name, c := range map[string]struct {
		call provider.Call
		key  string
	}{
		"no key":             {submit(), ""},
		"a key with a break": {submit(), "s3cret\r\nX: y"},
		"two targets":        {two, key},
		"no target":          {provider.Call{Kind: provider.Submit, For: provider.Submit}, key},
		"a poll without job": {jobless, key},
		"a poll of dots":     {dots, key},
		"a fetch":            {provider.Call{Kind: provider.Fetch, For: provider.Fetch}, key},
	} {
		r, err := p.Request(c.call, c.key)
		if err == nil || r.URL != "" || strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), key) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for name, o := range map[string]Options{
		"a key among the fields":     {Fields: map[string]any{"api_key": "s3cret"}},
		"however spelled":            {Fields: map[string]any{"API_Key": "s3cret"}},
		"a URL among the fields":     {Fields: map[string]any{"url": "http://a.test/"}},
		"a value that is no JSON":    {Fields: map[string]any{"x": make(chan int)}},
		"a base without a host":      {BaseURL: "https://"},
		"a base of another scheme":   {BaseURL: "ftp://a.test"},
		"a base with a key":          {BaseURL: "https://a.test/?api_key=s3cret"},
		"a base with a password":     {BaseURL: "https://u:s3cret@a.test"},
		"a base that is no URL":      {BaseURL: "https://a.test:s3cret"},
		"a base that is just a word": {BaseURL: "s3cret"},
	} {
		if _, err := New(o); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOptionsAreNotShared(t *testing.T) {
	fields := map[string]any{"mode": "request"}
	p := made(t, Options{Fields: fields})
	fields["mode"] = "browser"
	if r, err := p.Request(submit(), key); err != nil || !strings.Contains(string(r.Body), `"mode":"request"`) {
		t.Errorf("%s, %v", r.Body, err)
	}
	if len(fields) != 1 {
		t.Errorf("the caller's fields were changed: %v", fields)
	}
}

func TestFacts(t *testing.T) {
	for name, c := range map[string]struct {
		fields map[string]any
		worst  float64
	}{
		"auto by default":         {nil, 6},
		"browser":                 {map[string]any{"mode": "browser"}, 5},
		"request, residential":    {map[string]any{"mode": "request"}, 2},
		"request, datacenter":     {map[string]any{"mode": "request", "proxy_type": "datacenter"}, 1},
		"a mode that may come":    {map[string]any{"mode": "turbo"}, 6},
		"auto through datacenter": {map[string]any{"proxy_type": "datacenter"}, 6},
	} {
		if got := made(t, Options{Fields: c.fields}).Facts(); got.WorstCredits != c.worst || got.SlotLease != time.Minute || got.Retention != 10*time.Minute || !got.FreeSlots {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestOptionsThatBringNoPageAreRefused: they would be paid for at each try.
func TestOptionsThatBringNoPageAreRefused(t *testing.T) {
	for _, c := range []struct {
		fields map[string]any
		ok     bool
	}{
		{map[string]any{"include_content": false}, false},
		{map[string]any{"include_content": true}, true},
		{map[string]any{"include_content": false, "delivery": "raw"}, true},
		{map[string]any{"no_html": true}, false},
		{map[string]any{"no_html": true, "content": "markdown"}, true},
		{map[string]any{"no_html": false}, true},
	} {
		if _, err := New(Options{Fields: c.fields}); (err == nil) != c.ok {
			t.Errorf("%v: %v", c.fields, err)
		}
	}
}
