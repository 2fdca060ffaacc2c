package spidra

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"dev.scrapetop/engine/provider"
)

// Request builds a submit of the call's targets, a poll of c.Job, or a lookup: for a submit whose answer was lost when it
// carries targets, for what a batch holds when it also carries its id, and else for the account's usage, which tells
// whether platform and key work.
func (p spidra) Request(c provider.Call, key string) (provider.Request, error) {
	if err := provider.CheckKey(name, key); err != nil {
		return provider.Request{}, err
	}
	r := provider.Request{Method: http.MethodGet, Header: http.Header{}}
	if p.bearer {
		r.Header.Set("Authorization", "Bearer "+key)
	} else {
		r.Header.Set("X-Api-Key", key)
	}
	r.Header.Set("Accept", "application/json")
	var err error
	switch c.As() {
	case provider.Submit:
		r.Method = http.MethodPost
		r.Header.Set("Content-Type", "application/json")
		r.URL, r.Body, err = p.submit(c.Targets)
	case provider.Poll:
		r.URL, err = p.job(c.Job)
	case provider.Lookup:
		r.URL, err = p.lookup(c)
	default:
		err = fmt.Errorf("spidra: no request is made for a call of kind %q", c.Kind)
	}
	if err != nil {
		return provider.Request{}, err
	}
	return r, nil
}

func (p spidra) submit(targets []provider.Target) (to string, body []byte, err error) {
	if n := len(targets); n < 1 || n > p.batch {
		return "", nil, fmt.Errorf("spidra: a submit carries 1 to %d URLs, not %d", p.batch, n)
	}
	fields := maps.Clone(p.fields)
	switch p.submits(len(targets)) {
	case kindCrawl:
		to, fields["baseUrl"] = "/crawl", targets[0].URL
	case kindBatch:
		urls := make([]string, len(targets))
		for i, t := range targets {
			urls[i] = t.URL
		}
		to, fields["urls"] = p.batchPath, urls
	default:
		one := map[string]any{"url": targets[0].URL}
		if p.actions != nil {
			one["actions"] = p.actions
		}
		to, fields["urls"] = "/scrape", []any{one} // several here would be merged into one answer
	}
	if body, err = json.Marshal(fields); err != nil {
		return "", nil, fmt.Errorf("spidra: the request fields cannot be sent: %w", err)
	}
	return p.base + to, body, nil
}

// split takes an id of ours apart; kind is empty when it is none.
func split(job string) (kind, id string) {
	kind, id, _ = strings.Cut(job, "/")
	switch kind {
	case kindScrape, kindBatch, kindCrawl, kindLog:
		if provider.ValidJob(id) {
			return kind, id
		}
	}
	return "", ""
}

// job is where a remote job is read.
func (p spidra) job(job string) (string, error) {
	kind, id := split(job)
	switch id = url.PathEscape(id); kind {
	case kindScrape:
		return p.base + "/scrape/" + id, nil
	case kindBatch:
		return p.base + p.batchPath + "/" + id, nil
	case kindCrawl:
		return p.base + "/crawl/" + id, nil
	case kindLog:
		return p.base + "/scrape-logs/" + id, nil
	}
	return "", errors.New("spidra: a poll needs the id of a remote job, as in batch/ID")
}

// listed is how many entries a list is asked for at once; the platform gives no more.
const listed = 50

func (p spidra) lookup(c provider.Call) (string, error) {
	if c.Job != "" {
		if kind, _ := split(c.Job); kind != kindBatch {
			return "", errors.New("spidra: only a batch is asked for what it holds")
		}
		return p.job(c.Job)
	}
	if len(c.Targets) == 0 {
		return p.base + "/usage-stats?range=7d", nil
	}
	query := url.Values{"page": {strconv.Itoa(max(c.Page, 1))}, "limit": {strconv.Itoa(listed)}}
	switch p.submits(len(c.Targets)) {
	case kindCrawl:
		return p.base + "/crawl/history?" + query.Encode(), nil
	case kindBatch:
		return p.base + p.batchPath + "?" + query.Encode(), nil
	}
	query.Set("searchTerm", c.Targets[0].URL)
	return p.base + "/scrape-logs?" + query.Encode(), nil
}
