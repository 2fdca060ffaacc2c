package omniscrape

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"strings"
	"time"

	"dev.scrapetop/engine/limits"
	"dev.scrapetop/engine/provider"
)

// DefaultBaseURL is the platform's public address.
const DefaultBaseURL = "https://api.omniscrape.io"

const (
	name   = "omniscrape"
	prefix = "/v1"
)

// Options configure the provider. The zero Options are valid.
type Options struct {
	BaseURL string         // empty: DefaultBaseURL
	Fields  map[string]any // request fields, passed through; mode=auto and output_format=html unless they say otherwise
	Async   bool           // submit and poll instead of holding a connection
	// WorstPrice is the most that one request may cost, in the platform's unit of money; zero: the dearest documented one. It
	// is not sent: a cap on money is kept by it.
	WorstPrice float64
}

// New makes the provider. It fails for a base URL that is not a plain http or https address, and for fields that are not
// the user's to give: the key and the URL.
func New(o Options) (provider.Provider, error) {
	base, err := provider.BaseURL(name, o.BaseURL, DefaultBaseURL)
	if err != nil {
		return nil, err
	}
	if err := provider.CheckFields(name, o.Fields, "url"); err != nil {
		return nil, err
	}
	if !(o.WorstPrice >= 0) || math.IsInf(o.WorstPrice, 0) {
		return nil, errors.New("omniscrape: the worst price must be a number, and not negative")
	}
	fields := map[string]any{"mode": "auto", "output_format": "html"}
	maps.Copy(fields, o.Fields)
	output, _ := fields["output_format"].(string)
	return omniscrape{base: base + prefix, fields: fields, async: o.Async, output: strings.ToLower(output),
		worst: cmp.Or(o.WorstPrice, worstPrice)}, nil
}

type omniscrape struct {
	base   string
	fields map[string]any
	async  bool
	output string
	worst  float64
}

func (omniscrape) Name() string { return name }

// worstPrice is the dearest request of which the platform's documentation tells, in its unit of money. No price depends on
// an option there.
const worstPrice = 0.004

// Facts are the sheet's: simultaneous work is counted for the account, sync and async alike, and a slot is held until the
// work ends: for an abandoned request at the latest when the platform itself gives up, assumed 120 s. Results are kept for
// 24 hours, polls may come once a second and are advised every 2 to 5. A refusal without a wait is met again after 2 s.
// MinGap is ours: it spreads a burst a little.
func (p omniscrape) Facts() provider.Facts {
	return provider.Facts{
		Paid: true, Polls: true, AccountScope: "account", SlotLease: 120 * time.Second, Retention: 24 * time.Hour,
		MinGap: 50 * time.Millisecond, Timeout: 120 * time.Second,
		PollFirst: 2 * time.Second, PollMax: 5 * time.Second,
		DefaultWait: 2 * time.Second, WorstCredits: p.worst, BatchMax: 1, SyncToo: p.async,
	}
}

// Profile has nothing of its own: the platform tells a wait by Retry-After alone, and no counters.
func (omniscrape) Profile() limits.Profile { return limits.Profile{Name: name} }

// health stands for no job: asked for it, the platform tells by 404 that it is there and takes the key.
const health = "scrapetop-health"

// Request builds a submit of exactly one target, a poll of c.Job, or, for a lookup, a question that shows whether platform
// and key work.
func (p omniscrape) Request(c provider.Call, key string) (provider.Request, error) {
	if err := provider.CheckKey(name, key); err != nil {
		return provider.Request{}, err
	}
	r := provider.Request{Method: http.MethodGet, Header: http.Header{}}
	r.Header.Set("X-Api-Key", key)
	r.Header.Set("Accept", "application/json")
	switch c.As() {
	case provider.Submit:
		if len(c.Targets) != 1 {
			return provider.Request{}, fmt.Errorf("omniscrape: a submit carries one URL, not %d", len(c.Targets))
		}
		fields := maps.Clone(p.fields)
		fields["url"] = c.Targets[0].URL
		body, err := json.Marshal(fields)
		if err != nil {
			return provider.Request{}, fmt.Errorf("omniscrape: the request fields cannot be sent: %w", err)
		}
		r.Method, r.URL, r.Body = http.MethodPost, p.base+"/scrape", body
		if p.asyncSubmit(c) {
			r.URL += "/async"
		}
		r.Header.Set("Content-Type", "application/json")
	case provider.Poll:
		if !provider.ValidJob(c.Job) {
			return provider.Request{}, errors.New("omniscrape: a poll needs the job id that the platform gave")
		}
		r.URL = p.base + "/jobs/" + url.PathEscape(c.Job)
	case provider.Lookup:
		r.URL = p.base + "/jobs/" + health
	default:
		return provider.Request{}, fmt.Errorf("omniscrape: no request is made for a call of kind %q", c.Kind)
	}
	return r, nil
}

// asyncSubmit reports whether a submit is answered with a job instead of the page. A deployment without a queue takes none.
func (p omniscrape) asyncSubmit(c provider.Call) bool { return p.async && !c.Sync }
