package provider_test

import (
	"net/http"
	"strings"
	"testing"

	"dev.scrapetop/engine/provider"
	"dev.scrapetop/engine/provider/evomi"
	"dev.scrapetop/engine/provider/omniscrape"
	"dev.scrapetop/engine/provider/spidra"
)

// platforms are the three, as they are without options.
func platforms(t *testing.T) map[string]provider.Provider {
	t.Helper()
	all := map[string]provider.Provider{}
	keep := func(p provider.Provider, err error) {
		if err != nil {
			t.Fatal(err)
		}
		all[p.Name()] = p
	}
	keep(evomi.New(evomi.Options{}))
	keep(spidra.New(spidra.Options{Batch: 1}))
	keep(omniscrape.New(omniscrape.Options{}))
	return all
}

func calls() (submit, poll, lookup provider.Call) {
	submit = provider.Call{ID: 1, Kind: provider.Submit, For: provider.Submit, Targets: []provider.Target{{Task: 7, URL: "http://t.test/"}}}
	poll = provider.Call{ID: 1, Kind: provider.Poll, For: provider.Poll, Targets: submit.Targets, Job: "scrape/j"}
	return submit, poll, provider.Call{ID: 1, Kind: provider.Lookup, For: provider.Lookup}
}

// TestPagesAreNotThePlatforms: every platform speaks JSON, so a page is somebody else's and says nothing of task, key or
// money.
func TestPagesAreNotThePlatforms(t *testing.T) {
	submit, poll, lookup := calls()
	const page = "\ufeff\n<!doctype html><title>Sign in</title>"
	for name, c := range map[string]struct {
		call   provider.Call
		status int
		kind   string
		body   string
		astray bool
		want   provider.Outcome
		says   string
	}{
		"submit, 200":             {submit, 200, "", page, true, provider.Failed, "the platform answered with an HTML page (status 200): is the base URL right?"},
		"submit, 404":             {submit, 404, "", page, true, provider.Failed, "the platform answered with an HTML page (status 404): is the base URL right?"},
		"submit, 405":             {submit, 405, "", page, true, provider.Failed, "the platform answered with an HTML page (status 405): is the base URL right?"},
		"submit, by its type":     {submit, 404, "text/HTML; charset=x", "Not here", true, provider.Failed, "an HTML page (status 404)"},
		"submit, a redirect":      {submit, 308, "", "", true, provider.Failed, "a redirect (status 308): is the base URL right?"},
		"submit, text":            {submit, 404, "", "404 page not found", true, provider.Failed, "text that is not JSON (status 404): is"},
		"submit, 404, half JSON":  {submit, 404, "text/html", `{"error":`, false, provider.Refused, "404"},
		"submit, 200, half JSON":  {submit, 200, "text/html", `{"error":`, false, provider.Failed, "unexpected end"},
		"submit, 403":             {submit, 403, "", page, false, provider.Denied, "an HTML page (status 403): does a firewall or proxy stand before it?"},
		"submit, 401":             {submit, 401, "", page, false, provider.Denied, "an HTML page (status 401): does a firewall or proxy stand before it?"},
		"submit, 502":             {submit, 502, "", page, false, provider.Failed, "the platform answered with an HTML page (status 502)"},
		"submit, 504":             {submit, 504, "", page, false, provider.Failed, "the platform answered with an HTML page (status 504)"},
		"submit, 503":             {submit, 503, "", page, false, provider.Busy, "the platform answered with an HTML page (status 503)"},
		"poll, 200":               {poll, 200, "", page, true, provider.Failed, "an HTML page (status 200): is the base URL right?"},
		"poll, 404":               {poll, 404, "", page, true, provider.Failed, "an HTML page (status 404): is the base URL right?"},
		"poll, 404, nothing said": {poll, 404, "", "", false, provider.Lost, "no longer knows"},
		"lookup, 200":             {lookup, 200, "", page, true, provider.Failed, "an HTML page (status 200): is the base URL right?"},
		"lookup, 404":             {lookup, 404, "", page, true, provider.Failed, "an HTML page (status 404): is the base URL right?"},
		"lookup, half JSON":       {lookup, 200, "", `{"success":true`, false, provider.Failed, "unexpected end"},
		"lookup":                  {lookup, 200, "", `{"success":true}`, false, provider.Accepted, ""},
	} {
		for platform, p := range platforms(t) {
			r := provider.Response{Status: c.status, Header: http.Header{}, Body: []byte(c.body), Sent: true}
			if c.kind != "" {
				r.Header.Set("Content-Type", c.kind)
			}
			reply := p.Read(c.call, r)
			if reply.Astray != c.astray || reply.Outcome != c.want || reply.Layer != provider.NoLayer && c.want != provider.Busy || len(reply.Items) > 0 {
				t.Errorf("%s, %s: %+v", platform, name, reply)
			}
			if !strings.Contains(reply.Error, c.says) || (reply.Error == "") != (c.says == "") {
				t.Errorf("%s, %s: %q, want %q", platform, name, reply.Error, c.says)
			}
		}
	}
}

// TestARawPageIsThePage: in raw delivery a page with 200 is what was paid for, and whose it is cannot be told.
func TestARawPageIsThePage(t *testing.T) {
	p, err := evomi.New(evomi.Options{Fields: map[string]any{"delivery": "raw"}})
	if err != nil {
		t.Fatal(err)
	}
	submit, _, _ := calls()
	for status, astray := range map[int]bool{200: false, 404: true} {
		reply := p.Read(submit, provider.Response{Status: status, Header: http.Header{}, Body: []byte("<p>mug"), Sent: true})
		if reply.Astray != astray || (len(reply.Items) == 1) == astray {
			t.Errorf("%d: %+v", status, reply)
		}
	}
}
