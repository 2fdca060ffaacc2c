package spidra

import (
	"cmp"
	"encoding/json"
	"time"

	"dev.scrapetop/engine/limits"
	"dev.scrapetop/engine/provider"
)

// looked reads a search for a submit whose answer was lost.
func (x *reading) looked(object map[string]json.RawMessage) {
	x.End(provider.Accepted, provider.NoLayer, "")
	if x.Call.Job != "" {
		x.lookedInto(object)
		return
	}
	inner, err := provider.Object(object["data"])
	if err != nil {
		inner = object
	}
	kind := x.p.submits(len(x.Call.Targets))
	entries, ok := list(inner)
	if !ok {
		x.End(provider.Failed, provider.NoLayer, "the answer has an unexpected shape: it holds no list")
		return
	}
	for _, raw := range entries {
		entry, err := provider.Object(raw)
		if err != nil {
			continue
		}
		if f, ok := x.found(kind, entry); ok {
			x.Reply.Found = append(x.Reply.Found, f)
		}
	}
	x.Reply.More = x.more(inner, len(entries))
}

// lookedInto reads what a batch holds.
func (x *reading) lookedInto(object map[string]json.RawMessage) {
	var entries []json.RawMessage
	if json.Unmarshal(object["items"], &entries) != nil {
		x.End(provider.Failed, provider.NoLayer, "the answer has an unexpected shape: its items are no list")
		return
	}
	if urls := urlsOf(entries); holds(x.Call.Targets, urls) {
		x.Reply.Found = []provider.Found{{Job: x.Call.Job, URLs: urls, Created: created(object)}}
	}
}

// list is the list of jobs or logs of an answer.
func list(object map[string]json.RawMessage) (entries []json.RawMessage, ok bool) {
	for _, field := range []string{"jobs", "batches", "logs", "items", "data"} {
		if raw := object[field]; len(raw) > 0 && raw[0] == '[' && json.Unmarshal(raw, &entries) == nil {
			return entries, true
		}
	}
	return nil, false
}

// found reads one entry of a list: not ok when it cannot be the submit that is searched for.
func (x *reading) found(kind string, entry map[string]json.RawMessage) (provider.Found, bool) {
	job := firstText(entry, "batchId", "batch_id", "jobId", "job_id")
	own := firstText(entry, "uuid", "id")
	f := provider.Found{Created: created(entry)}
	id := cmp.Or(own, job)
	switch {
	case kind == kindScrape && own != "":
		kind = kindLog // a log has an id of its own, and outlives its job
	case kind != kindScrape:
		id = cmp.Or(job, own)
	}
	if !provider.ValidJob(id) {
		return provider.Found{}, false
	}
	f.Job = kind + "/" + id
	if f.URLs = urlsIn(entry); len(f.URLs) > 0 {
		return f, holds(x.Call.Targets, f.URLs)
	}
	total := firstInt(entry, "totalUrls", "total_urls")
	return f, kind == kindBatch && (!total.OK || total.V == len(x.Call.Targets))
}

// urlsIn are the URLs of an entry, where it names them: its one, the root of its crawl, or its list.
func urlsIn(entry map[string]json.RawMessage) []string {
	if one := firstText(entry, "url", "base_url", "baseUrl"); one != "" {
		return []string{one}
	}
	for _, field := range []string{"urls", "items"} {
		var entries []json.RawMessage
		if json.Unmarshal(entry[field], &entries) == nil && len(entries) > 0 {
			return urlsOf(entries)
		}
	}
	return nil
}

// firstText is the text of the first of the fields that has one: the platform spells its names in two ways.
func firstText(object map[string]json.RawMessage, fields ...string) string {
	for _, field := range fields {
		if text := provider.Text(object[field]); text != "" {
			return text
		}
	}
	return ""
}

// urlsOf are the URLs of a list of texts or of objects with a url.
func urlsOf(entries []json.RawMessage) (urls []string) {
	for _, raw := range entries {
		text := provider.Text(raw)
		if object, err := provider.Object(raw); err == nil {
			text = provider.Text(object["url"])
		}
		urls = append(urls, text)
	}
	return urls
}

// firstInt is firstText for a number.
func firstInt(object map[string]json.RawMessage, fields ...string) limits.Opt[int] {
	for _, field := range fields {
		if n := provider.Int(object[field]); n.OK {
			return n
		}
	}
	return limits.Opt[int]{}
}

func created(entry map[string]json.RawMessage) time.Time {
	for _, field := range []string{"createdAt", "created_at", "started_at", "startedAt"} {
		text := provider.Text(entry[field])
		for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05"} {
			if at, err := time.Parse(layout, text); err == nil {
				return at.UTC()
			}
		}
	}
	return time.Time{}
}

// more reports that the list goes on behind this page.
func (x *reading) more(object map[string]json.RawMessage, n int) bool {
	page := max(x.Call.Page, 1)
	pages := object
	if inner, err := provider.Object(object["pagination"]); err == nil {
		pages = inner
	}
	if last := firstInt(pages, "totalPages", "total_pages"); last.OK {
		return n > 0 && page < last.V
	}
	total := provider.Int(pages["total"])
	return n > 0 && total.OK && total.V/listed >= page && total.V != page*listed
}
