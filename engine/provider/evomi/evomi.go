package evomi

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"dev.scrapetop/engine/limits"
	"dev.scrapetop/engine/provider"
)

// DefaultBaseURL is the platform's public address.
const DefaultBaseURL = "https://scrape.evomi.com"

const (
	name   = "evomi"
	prefix = "/api/v1/scraper"
)

// Options configure the provider. The zero Options are valid.
type Options struct {
	BaseURL string         // empty: DefaultBaseURL
	Fields  map[string]any // request fields, passed through; delivery=json and include_content=true unless they say otherwise
	Async   bool           // submit and poll instead of holding a connection
}

// New makes the provider. It fails for a base URL that is not a plain http or https address, and for fields that are not
// ours to be given: api_key and url.
func New(o Options) (provider.Provider, error) {
	base, err := provider.BaseURL(name, o.BaseURL, DefaultBaseURL)
	if err != nil {
		return nil, err
	}
	if err := provider.CheckFields(name, o.Fields, "url"); err != nil {
		return nil, err
	}
	p := evomi{base: base + prefix}
	fields := maps.Clone(o.Fields)
	if fields == nil {
		fields = map[string]any{}
	}
	p.async = o.Async || flag(fields["async"])
	delete(fields, "async")
	if p.async {
		fields["async"] = true
	}
	if _, said := fields["delivery"]; !said {
		fields["delivery"] = "json"
	}
	p.raw = text(fields, "delivery") == "raw"
	if _, said := fields["include_content"]; !said && !p.raw {
		fields["include_content"] = true
	}
	p.content = text(fields, "content")
	// Without a page each answer would be paid for, judged invalid and bought again.
	if said, no := fields["include_content"]; no && !p.raw && !flag(said) {
		return nil, errors.New("evomi: include_content = false brings no page to keep: leave it out, or set delivery = raw")
	}
	if flag(fields["no_html"]) && !p.raw && (p.content == "" || p.content == "html") {
		return nil, errors.New("evomi: no_html = true brings no page to keep: leave it out, or set content = markdown")
	}
	p.worst = worstCredits(text(fields, "mode"), text(fields, "proxy_type"))
	p.fields = fields
	return p, nil
}

func text(fields map[string]any, name string) string {
	s, _ := fields[name].(string)
	return strings.ToLower(s)
}

func flag(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case string:
		return strings.EqualFold(v, "true")
	}
	return false
}

// worstCredits is the most that one scrape costs (sheet section 8): a fixed request mode 1 or 2 by its proxy, a browser
// 5, auto 6 when it had to take a browser. A mode that we do not know may cost the most.
func worstCredits(mode, proxy string) float64 {
	switch {
	case mode == "request" && proxy == "datacenter":
		return 1
	case mode == "request":
		return 2
	case mode == "browser":
		return 5
	}
	return 6
}

type evomi struct {
	base    string
	fields  map[string]any
	async   bool
	raw     bool   // a 200 is the page itself
	content string // kind of output asked for; empty: html
	worst   float64
}

func (evomi) Name() string { return name }

// Facts are the sheet's: concurrency is counted per key, an abandoned request may stay counted for 60 s, results are kept
// for ten minutes, and 60 s is the wait of a refusal that names none. MinGap is ours: it spreads a burst a little.
func (p evomi) Facts() provider.Facts {
	return provider.Facts{
		Paid: true, Polls: true, AccountScope: "credential", FreeSlots: true,
		SlotLease: 60 * time.Second, Retention: 10 * time.Minute,
		MinGap: 50 * time.Millisecond, Timeout: 120 * time.Second,
		PollFirst: 2 * time.Second, PollMax: 5 * time.Second,
		DefaultWait: 60 * time.Second, WorstCredits: p.worst,
	}
}

func (evomi) Profile() limits.Profile {
	return limits.Profile{Name: name, FreeSlots: true, WaitFields: []string{"reset", "retry_after"}}
}

// Request builds a submit of exactly one target, a poll of c.Job, or, for a lookup, the question for the account's health.
func (p evomi) Request(c provider.Call, key string) (provider.Request, error) {
	if err := provider.CheckKey(name, key); err != nil {
		return provider.Request{}, err
	}
	r := provider.Request{Method: http.MethodGet, Header: http.Header{}}
	r.Header.Set("X-Api-Key", key)
	r.Header.Set("Accept", "application/json")
	switch c.As() {
	case provider.Submit:
		if len(c.Targets) != 1 {
			return provider.Request{}, fmt.Errorf("evomi: a submit carries one URL, not %d", len(c.Targets))
		}
		fields := maps.Clone(p.fields)
		fields["url"] = c.Targets[0].URL
		body, err := json.Marshal(fields)
		if err != nil {
			return provider.Request{}, fmt.Errorf("evomi: the request fields cannot be sent: %w", err)
		}
		r.Method, r.URL, r.Body = http.MethodPost, p.base+"/realtime", body
		r.Header.Set("Content-Type", "application/json")
		if p.raw {
			r.Header.Set("Accept", "*/*")
		}
	case provider.Poll:
		if !provider.ValidJob(c.Job) {
			return provider.Request{}, errors.New("evomi: a poll needs the task id that the platform gave")
		}
		r.URL = p.base + "/tasks/" + url.PathEscape(c.Job)
	case provider.Lookup:
		r.URL = p.base + "/health"
	default:
		return provider.Request{}, fmt.Errorf("evomi: no request is made for a call of kind %q", c.Kind)
	}
	return r, nil
}
