package spidra

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"dev.scrapetop/engine/limits"
	"dev.scrapetop/engine/provider"
)

// DefaultBaseURL is the platform's public address.
const DefaultBaseURL = "https://api.spidra.io/api"

// MaxBatch is how many URLs the platform takes in one batch.
const MaxBatch = 50

const name = "spidra"

// Options configure the provider. The zero Options are valid: batches as large as the platform takes, raw markdown, no
// prompt.
type Options struct {
	BaseURL string         // empty: DefaultBaseURL
	Fields  map[string]any // request fields, passed through: prompt, output, schema, useProxy, maxPages, ...
	Batch   int            // URLs of a batch at most; 0: MaxBatch, 1: single scrapes
	Crawl   bool           // each task is the root of a crawl
	Bearer  bool           // the key travels as Authorization: Bearer instead of x-api-key
	// BatchPath is where batches live below the base; empty: /batch/scrape. One page of the platform's documentation calls
	// it /batch-scrape.
	BatchPath string
	Plan      Plan
}

// Plan is what the account's plan allows, where that is not what is documented. Zero values are the documented ones. None
// of it is sent.
type Plan struct {
	RateLimit  int           // requests of one address within the window, polls included; 0: 300
	RateWindow time.Duration // its length; 0: 15 min
	// Jobs of a kind that may wait at the platform; 0: 10, 50 and 5.
	Scrapes, Batches, Crawls int
}

// The kinds of remote job, as the ids of this package start.
const (
	kindScrape = "scrape"
	kindBatch  = "batch"
	kindCrawl  = "crawl"
	kindLog    = "log" // a scrape in the logs: readable after the job has gone
)

// New makes the provider. It fails for a base URL that is not a plain http or https address, for a batch size that the
// platform does not take, and for fields that are not the user's to give: the key and the URLs. The field actions belongs to
// one URL and so makes single scrapes.
func New(o Options) (provider.Provider, error) {
	base, err := provider.BaseURL(name, o.BaseURL, DefaultBaseURL)
	if err != nil {
		return nil, err
	}
	if err := provider.CheckFields(name, o.Fields, "url", "urls", "baseurl"); err != nil {
		return nil, err
	}
	if o.Batch < 0 || o.Batch > MaxBatch {
		return nil, fmt.Errorf("spidra: a batch carries 1 to %d URLs, not %d", MaxBatch, o.Batch)
	}
	plan, err := o.Plan.whole()
	if err != nil {
		return nil, err
	}
	p := spidra{plan: plan, base: base, fields: maps.Clone(o.Fields), batch: cmp.Or(o.Batch, MaxBatch), crawl: o.Crawl, bearer: o.Bearer}
	p.batchPath = "/" + strings.Trim(cmp.Or(o.BatchPath, "/batch/scrape"), "/")
	if p.batchPath == "/" || strings.ContainsAny(p.batchPath, "?#%\\ ") || strings.Contains(p.batchPath, "..") {
		return nil, errors.New("spidra: the path of batches must be a plain path like /batch/scrape")
	}
	if p.fields == nil {
		p.fields = map[string]any{}
	}
	if actions, said := p.fields["actions"]; said {
		if o.Batch > 1 || o.Crawl {
			return nil, errors.New("spidra: the field actions belongs to one URL: use it with single scrapes (a batch of 1)")
		}
		p.actions, p.batch = actions, 1
		delete(p.fields, "actions")
	}
	output := text(p.fields, "output")
	p.json = output == "json" || p.fields["schema"] != nil
	p.ai = p.json || p.fields["prompt"] != nil || output == "text" || output == "table" || o.Crawl && p.fields["transformInstruction"] != nil
	p.pages = 1
	if o.Crawl {
		p.batch = 1
		p.pages = pages(p.fields["maxPages"])
		if _, said := p.fields["crawlInstruction"]; !said {
			p.fields["crawlInstruction"] = "Follow the site's own links."
		}
	}
	return p, nil
}

func text(fields map[string]any, name string) string {
	s, _ := fields[name].(string)
	return strings.ToLower(s)
}

// pages is how many pages a crawl may bring: the platform's default is 5, its most 50.
func pages(v any) int {
	n, err := strconv.Atoi(fmt.Sprint(v))
	switch {
	case v == nil || err == nil && n < 1:
		return 5
	case err != nil || n > 50:
		return 50
	}
	return n
}

type spidra struct {
	base      string
	plan      Plan // without zeros
	batchPath string
	fields    map[string]any
	actions   any
	batch     int
	crawl     bool
	bearer    bool
	json      bool // the answer is structured data
	ai        bool // the answer is made by a model
	pages     int  // of one task at most
}

func (spidra) Name() string { return name }

// documented are the platform's limits where nothing else is configured (sheet section 8).
var documented = Plan{RateLimit: 300, RateWindow: 15 * time.Minute, Scrapes: 10, Batches: 50, Crawls: 5}

// whole is the plan with what it leaves open filled in.
func (p Plan) whole() (Plan, error) {
	if min(p.RateLimit, p.Scrapes, p.Batches, p.Crawls) < 0 || p.RateWindow < 0 {
		return Plan{}, errors.New("spidra: a limit of the plan cannot be negative")
	}
	return Plan{
		RateLimit: cmp.Or(p.RateLimit, documented.RateLimit), RateWindow: cmp.Or(p.RateWindow, documented.RateWindow),
		Scrapes: cmp.Or(p.Scrapes, documented.Scrapes), Batches: cmp.Or(p.Batches, documented.Batches), Crawls: cmp.Or(p.Crawls, documented.Crawls),
	}, nil
}

// Credits, in the platform's unit. The newer price list stands for what was charged where an answer does not tell; the
// older, dearer one for what may be charged. Tokens of a model are priced by no list and come on top.
const (
	urlCredits          = 1
	captchaCredits      = 5
	worstURLCredits     = 2
	worstCaptchaCredits = 10
)

// Facts are the sheet's: a finished job can be read for an hour, a refusal of a full queue is met again after 30 s, one of
// a full platform after 60 s. Polls count against the address's window, so they start late and grow to 15 s. MinGap is
// ours: it spreads a burst a little. WorstCredits is one URL, or every page that a crawl may bring, each with a CAPTCHA.
func (p spidra) Facts() provider.Facts {
	f := provider.Facts{
		Paid: true, Polls: true, AccountScope: "account", Retention: time.Hour,
		MinGap: 50 * time.Millisecond, Timeout: 120 * time.Second,
		PollFirst: 5 * time.Second, PollMax: 15 * time.Second,
		DefaultWait: 30 * time.Second, BusyWait: 60 * time.Second,
		WorstCredits: float64(p.pages * (worstURLCredits + worstCaptchaCredits)),
		BatchMax:     p.batch, RateLimit: p.plan.RateLimit, RateWindow: p.plan.RateWindow, PollsCount: true, NoStatus: true, FindsLost: true,
		Single: provider.JobKind{Name: kindScrape, Pending: p.plan.Scrapes},
		Batch:  provider.JobKind{Name: kindBatch, Pending: p.plan.Batches},
	}
	if p.crawl {
		f.Single = provider.JobKind{Name: kindCrawl, Pending: p.plan.Crawls}
	}
	if p.batch == 1 {
		f.Batch = f.Single
	}
	return f
}

// Profile clamps a reset to the length of the window: the platform documents a Unix time, its own client reads seconds left.
// A 429 with room in the window is about the queue of jobs, so it does not wait for the window.
func (p spidra) Profile() limits.Profile {
	return limits.Profile{Name: name, WaitFields: []string{"retry_after"}, MaxReset: p.plan.RateWindow}
}

// submits is the kind of job that a submit of n tasks becomes.
func (p spidra) submits(n int) string {
	switch {
	case p.crawl:
		return kindCrawl
	case n > 1:
		return kindBatch
	}
	return kindScrape
}
