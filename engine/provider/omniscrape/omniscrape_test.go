package omniscrape

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"dev.scrapetop/engine/provider"
)

const key = "omni-made-up"

func made(t testing.TB, o Options) provider.Provider {
	t.Helper()
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func call(kind provider.Kind, job string) provider.Call {
	return provider.Call{
		Kind: kind, For: kind, Domain: "t.test", Credential: "main", Job: job,
		Targets: []provider.Target{{Task: 7, URL: "http://t.test/?a=1&b=2"}},
	}
}

func submit() provider.Call { return call(provider.Submit, "") }
func poll() provider.Call   { return call(provider.Poll, "5b1d") }

func probe() provider.Call {
	c := submit()
	c.Kind = provider.Probe
	return c
}

func TestSubmits(t *testing.T) {
	for name, c := range map[string]struct {
		o    Options
		to   string
		want map[string]any
	}{
		"defaults":     {Options{}, "https://api.omniscrape.io/v1/scrape", map[string]any{"mode": "auto", "output_format": "html"}},
		"asynchronous": {Options{Async: true}, "https://api.omniscrape.io/v1/scrape/async", map[string]any{"mode": "auto", "output_format": "html"}},
		"another base": {Options{BaseURL: "http://127.0.0.1:9/omni/"}, "http://127.0.0.1:9/omni/v1/scrape", map[string]any{"mode": "auto", "output_format": "html"}},
		"fields pass through": {Options{Fields: map[string]any{"mode": "fast", "js_rendering": true, "country": "de"}}, "https://api.omniscrape.io/v1/scrape",
			map[string]any{"mode": "fast", "output_format": "html", "js_rendering": true, "country": "de"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, call := range []provider.Call{submit(), probe()} {
				r, err := made(t, c.o).Request(call, key)
				if err != nil {
					t.Fatal(err)
				}
				if r.Method != "POST" || r.URL != c.to || r.Header.Get("X-Api-Key") != key || r.Header.Get("Content-Type") != "application/json" {
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

// TestWorstPrice: the most that a request may cost is configured; what is left out is the documented price.
func TestWorstPrice(t *testing.T) {
	if got := made(t, Options{}).Facts().WorstCredits; got != 0.004 {
		t.Errorf("documented: %v", got)
	}
	if got := made(t, Options{WorstPrice: 0.02}).Facts().WorstCredits; got != 0.02 {
		t.Errorf("configured: %v", got)
	}
	for _, wrong := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := New(Options{WorstPrice: wrong}); err == nil {
			t.Errorf("%v is taken", wrong)
		}
	}
}

// TestSyncForm: a deployment without a queue is asked synchronously although the provider was made to be asynchronous.
func TestSyncForm(t *testing.T) {
	p := made(t, Options{Async: true})
	c := submit()
	c.Sync = true
	if r, err := p.Request(c, key); err != nil || r.URL != "https://api.omniscrape.io/v1/scrape" {
		t.Errorf("%s, %v", r.URL, err)
	}
	if reply := p.Read(c, answer(200, `<html>`)); reply.Outcome != provider.Failed || reply.Unknown {
		t.Errorf("a page instead of JSON: %+v", reply)
	}
	if reply := p.Read(c, answer(503, ``)); strings.Contains(reply.Error, "queue") {
		t.Errorf("busy: %+v", reply)
	}
	if !p.Facts().SyncToo || made(t, Options{}).Facts().SyncToo {
		t.Error("only what is asynchronous has the other form")
	}
}

func TestPollsAndHealth(t *testing.T) {
	p := made(t, Options{})
	r, err := p.Request(call(provider.Poll, "a/../b?c"), key)
	if err != nil || r.Method != "GET" || r.URL != "https://api.omniscrape.io/v1/jobs/a%2F..%2Fb%3Fc" || r.Body != nil || r.Header.Get("X-Api-Key") != key {
		t.Errorf("poll %+v, %v", r, err)
	}
	r, err = p.Request(provider.Call{Kind: provider.Lookup, For: provider.Lookup}, key)
	if err != nil || r.Method != "GET" || r.URL != "https://api.omniscrape.io/v1/jobs/scrapetop-health" || r.Header.Get("X-Api-Key") != key {
		t.Errorf("health %+v, %v", r, err)
	}
}

func TestRequestRefuses(t *testing.T) {
	two := submit()
	two.Targets = append(two.Targets, two.Targets[0])
	for name, c := range map[string]struct {
		call provider.Call
		key  string
	}{
		"no key":             {submit(), ""},
		"a key with a break": {submit(), "s3cret\r\nX: y"},
		"two targets":        {two, key},
		"no target":          {provider.Call{Kind: provider.Submit, For: provider.Submit}, key},
		"a poll without job": {call(provider.Poll, ""), key},
		"a poll of dots":     {call(provider.Poll, ".."), key},
		"a fetch":            {call(provider.Fetch, ""), key},
	} {
		r, err := made(t, Options{}).Request(c.call, c.key)
		if err == nil || r.URL != "" || strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), key) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for name, o := range map[string]Options{
		"a key among the fields":   {Fields: map[string]any{"X-API-Key": "s3cret"}},
		"a URL among the fields":   {Fields: map[string]any{"URL": "http://a.test/"}},
		"a value that is no JSON":  {Fields: map[string]any{"x": make(chan int)}},
		"a base with a password":   {BaseURL: "https://u:s3cret@a.test"},
		"a base of another scheme": {BaseURL: "ftp://a.test"},
		"a base with a fragment":   {BaseURL: "https://a.test/#s3cret"},
		"a base without a host":    {BaseURL: "https://"},
	} {
		if _, err := New(o); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFacts(t *testing.T) {
	for _, o := range []Options{{}, {Async: true}} {
		f := made(t, o).Facts()
		if !f.Paid || !f.Polls || f.AccountScope != "account" || f.Retention != 24*time.Hour || f.PollFirst < time.Second || f.PollMax < f.PollFirst ||
			f.Timeout < 120*time.Second || f.DefaultWait != 2*time.Second || f.WorstCredits <= 0 || f.BatchMax > 1 || f.RateLimit != 0 || f.FreeSlots ||
			f.SlotLease != 120*time.Second || f.FindsLost || f.NoStatus {
			t.Errorf("%+v", f)
		}
	}
}

func TestOptionsAreNotShared(t *testing.T) {
	fields := map[string]any{"mode": "fast"}
	p := made(t, Options{Fields: fields})
	fields["mode"] = "slow"
	for range 2 {
		if r, err := p.Request(submit(), key); err != nil || !strings.Contains(string(r.Body), `"mode":"fast"`) {
			t.Errorf("%s, %v", r.Body, err)
		}
	}
	if len(fields) != 1 {
		t.Errorf("the caller's fields were changed: %v", fields)
	}
}
