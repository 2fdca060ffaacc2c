package engine

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"time"

	"dev.scrapetop/engine/core"
	"dev.scrapetop/engine/provider"
	"dev.scrapetop/engine/provider/direct"
	"dev.scrapetop/engine/provider/evomi"
	"dev.scrapetop/engine/provider/omniscrape"
	"dev.scrapetop/engine/provider/spidra"
	"dev.scrapetop/engine/record"
	"dev.scrapetop/engine/source"
)

// The providers by name.
const (
	Direct     = "direct"
	Evomi      = "evomi"
	Spidra     = "spidra"
	OmniScrape = "omniscrape"
)

// NewProvider makes the provider that cfg names (empty: direct), with its options. It fails for options that the provider
// does not take.
func NewProvider(cfg Config) (provider.Provider, error) {
	switch cfg.Provider {
	case Direct, "":
		return direct.New(direct.Options{UserAgent: cfg.UserAgent, Header: cfg.Header}), nil
	case Evomi:
		return evomi.New(evomi.Options{BaseURL: cfg.BaseURL, Fields: cfg.Options, Async: cfg.Async})
	case Spidra:
		return spidra.New(spidra.Options{BaseURL: cfg.BaseURL, Fields: cfg.Options, Batch: cfg.Batch, Crawl: cfg.Crawl, Plan: spidra.Plan{
			RateLimit: cfg.Plan.Rate.N, RateWindow: cfg.Plan.Rate.Per,
			Scrapes: cfg.Plan.PendingScrapes, Batches: cfg.Plan.PendingBatches, Crawls: cfg.Plan.PendingCrawls,
		}})
	case OmniScrape:
		return omniscrape.New(omniscrape.Options{BaseURL: cfg.BaseURL, Fields: cfg.Options, Async: cfg.Async, WorstPrice: cfg.Plan.WorstPrice})
	}
	return nil, fmt.Errorf("provider %q is not known", cfg.Provider)
}

// ParseOption reads a request field of a platform from the text that a person gave, as the type that the platform documents
// for it, or else as provider.ParseField guesses.
func ParseOption(name, field, text string) (any, error) {
	kind := provider.UnknownField
	switch name {
	case Evomi:
		kind = evomi.FieldKind(field)
	case Spidra:
		kind = spidra.FieldKind(field)
	case OmniScrape:
		kind = omniscrape.FieldKind(field)
	}
	return provider.ParseField(kind, text)
}

// robots are the rules that a lookup brought.
type robots struct {
	rules source.Robots
	delay time.Duration
}

// carryOut does the I/O of one call and reads what came back. It runs in the call's own goroutine.
func (e *Engine) carryOut(ctx context.Context, c *core.Call) {
	call := c.Call
	if call.Kind == provider.Probe {
		call.Kind = call.For // a probe is asked and read like what it stands for
	}
	o := &outcome{Replied: core.Replied{Call: c}}
	req, err := e.provider.Request(call, e.keys[c.Credential])
	if err != nil {
		o.Reply = provider.Reply{Outcome: provider.Refused, Error: e.redactor.Text(err.Error())}
		e.inbox.post(o)
		return
	}
	req.Documents = e.documents(call)
	o.response = e.client.Do(ctx, req)
	if c.Robots != nil {
		e.followRobots(ctx, call, o)
	}
	o.Reply = e.provider.Read(call, o.response)
	o.Reply.Error = e.redactor.Text(o.Reply.Error)
	for i := range o.Reply.Items {
		e.judgeItem(o, i, c)
	}
	if c.Robots != nil {
		e.readRobots(o)
	}
	e.describe(o)
	e.inbox.post(o)
}

// crawlPages is how many pages one platform crawl brings at most (Spidra sheet, section 8).
const crawlPages = 50

// documents is how many pages an answer may hold: the body's cap is for each.
func (e *Engine) documents(c provider.Call) int {
	n := max(len(c.Targets), 1)
	if e.cfg.Crawl && c.Kind == provider.Poll {
		n *= crawlPages
	}
	return n
}

// describe prepares what an attempt keeps of the answer, here rather than on the loop.
func (e *Engine) describe(o *outcome) {
	r := &o.response
	h := r.Header
	if o.Reply.Told != nil {
		h = maps.Clone(o.Reply.Told)
		maps.Copy(h, r.Header)
	}
	if h != nil {
		o.headers = e.redactor.Headers(h)
	}
	good := o.Call.Robots != nil
	switch o.Reply.Outcome {
	case provider.Accepted, provider.AcceptedRemote, provider.StillRunning, provider.Redirected:
		good = true
	}
	for i := range o.Reply.Items {
		good = good && o.Reply.Items[i].Outcome == provider.Accepted
	}
	if len(o.verdicts) == 1 && len(o.Reply.Items) == 1 {
		o.kind = o.verdicts[0].Kind
	} else {
		o.kind = record.Kind(provider.Page{Body: r.Body, ContentType: r.Header.Get("Content-Type"), Header: r.Header})
	}
	if !good && !e.cfg.NoSamples && len(r.Body) > 0 {
		o.sample = e.redactor.Sample(r.Body, sampleBytes)
	}
}

// judgeItem validates a page and normalises a redirect.
func (e *Engine) judgeItem(o *outcome, i int, c *core.Call) {
	item := &o.Reply.Items[i]
	item.Error = e.redactor.Text(item.Error)
	switch {
	case c.Robots != nil || c.LookupID != 0:
	case item.Outcome == provider.Accepted && item.Page != nil:
		v := e.judge.Page(*item.Page)
		if o.verdicts == nil {
			o.verdicts = make([]record.Verdict, len(o.Reply.Items))
		}
		o.verdicts[i] = v
		if v.Outcome != provider.Accepted {
			item.Outcome, item.Layer, item.Error = v.Outcome, provider.LayerTarget, e.redactor.Text(v.Why)
			if e.cfg.Provider == Direct {
				o.Reply.Outcome, o.Reply.Layer, o.Reply.Error = item.Outcome, item.Layer, item.Error
			}
		}
	case item.Outcome == provider.Accepted && item.Part == "":
		e.judgeParts(o.Reply.Items, item)
	case item.Outcome == provider.Redirected:
		u, err := source.Normalise(item.Location)
		if err != nil {
			item.Outcome, item.Layer, item.Error = provider.Failed, provider.LayerTarget, "it redirects to an address that cannot be followed: "+err.Error()
			o.Reply.Outcome, o.Reply.Layer, o.Reply.Error = item.Outcome, item.Layer, item.Error
			return
		}
		item.Location = u.String
		e.hosts.follow(c.Domain, u.Host)
	}
}

// judgeParts ends a task whose documents came in parts: when none of them passed validation, it did not either.
func (e *Engine) judgeParts(items []provider.Item, last *provider.Item) {
	why := ""
	for i := range items {
		if p := &items[i]; p.Task == last.Task && p.Part != "" {
			if p.Outcome == provider.Accepted {
				return
			}
			why = p.Error
		}
	}
	if why != "" {
		last.Outcome, last.Layer, last.Error = provider.Invalid, provider.LayerTarget, "none of its pages is valid: "+why
	}
}

// followRobots follows the redirects of a robots.txt (RFC 9309 section 2.3.1.2).
func (e *Engine) followRobots(ctx context.Context, call provider.Call, o *outcome) {
	at := call.Targets[0].URL
	for range maxHops {
		next := locationOf(at, o.response)
		if next == "" {
			return
		}
		u, err := source.Normalise(next)
		if err != nil {
			return
		}
		hop := call
		hop.Targets = []provider.Target{{URL: u.String, Home: call.Targets[0].Home}}
		req, err := e.provider.Request(hop, "")
		if err != nil {
			return
		}
		o.response = e.client.Do(ctx, req)
		o.hops++
		at = u.String
	}
}

// readRobots turns the answer into rules, unless it says to come back later: 429, 5xx and faults leave them unknown.
func (e *Engine) readRobots(o *outcome) {
	switch o.Reply.Outcome {
	case provider.Limited, provider.Busy, provider.Transport, provider.Failed:
		if o.response.Status < 300 || o.response.Status > 499 || o.response.Status == 429 || o.response.Fault != provider.NoFault {
			return
		}
	}
	agent := e.cfg.UserAgent
	if agent == "" {
		agent = direct.DefaultUserAgent
	}
	r := source.RobotsFor(o.response.Status, o.response.Body, agent)
	if r.Unreachable() {
		return
	}
	o.robots = &robots{rules: r}
	if d, ok := r.CrawlDelay(); ok {
		o.robots.delay = d
	}
}

// locationOf is where a redirect leads, absolute; empty: the response is none.
func locationOf(from string, r provider.Response) string {
	if r.Fault != provider.NoFault || r.Status < 300 || r.Status > 399 {
		return ""
	}
	loc := r.Header.Get("Location")
	if loc == "" {
		return ""
	}
	base, err := url.Parse(from)
	if err != nil {
		return ""
	}
	u, err := base.Parse(loc)
	if err != nil {
		return ""
	}
	return u.String()
}

// sampleBytes is the most that is kept of a body that was not accepted (CONTRACT section 5).
const sampleBytes = 512
