package spidra

import (
	"cmp"
	"encoding/json"

	"dev.scrapetop/engine/limits"
	"dev.scrapetop/engine/provider"
)

// polled reads an answer about a job. A job whose id has no kind of ours is read by the shape of the answer.
func (x *reading) polled(object map[string]json.RawMessage) {
	kind, _ := split(x.Call.Job)
	if kind == "" {
		kind = shape(object)
	}
	switch kind {
	case kindBatch:
		x.batch(object)
	case kindCrawl:
		x.crawl(object)
	case kindLog:
		x.log(object)
	default:
		x.scrape(object)
	}
}

// shape is the kind of job that an answer looks like.
func shape(object map[string]json.RawMessage) string {
	if result := object["result"]; len(result) > 0 && result[0] == '[' {
		return kindCrawl
	}
	if provider.Said(object["items"]) || provider.Said(object["totalUrls"]) {
		return kindBatch
	}
	return kindScrape
}

// running is a job that has not ended. A word that we do not know counts as running: the job's own deadline ends it.
func (x *reading) running(word json.RawMessage, s state) {
	x.Running(s == stateStarted, 0)
	if s == stateUnknown || s == stateNone {
		x.Note("job state %q is unknown: polling on", provider.Text(word))
	}
}

// settle ends a poll with the verdicts of its job's tasks. The platform answered well whatever the targets did.
func (x *reading) settle(items ...provider.Item) {
	x.End(provider.Accepted, provider.NoLayer, "")
	x.Reply.Items = items
	for _, item := range items {
		x.Reply.Credits += item.Credits
	}
}

// scrape reads a poll of a single scrape.
func (x *reading) scrape(object map[string]json.RawMessage) {
	s := stateOf(object["status"])
	if s == stateNone && provider.Said(object["result"]) {
		s = stateDone
	}
	switch s {
	case stateDone:
		x.settle(x.scraped(object["result"], object))
	case stateFailed, stateCancelled:
		x.settle(ended(x.First(), s, provider.Words(object)))
	default:
		x.running(object["status"], s)
	}
}

// log reads a scrape in the logs, where results are kept after the job has gone: below data or at the top.
func (x *reading) log(object map[string]json.RawMessage) {
	entry, err := provider.Object(object["data"])
	if err != nil {
		entry = object
	}
	result := entry["result_data"]
	if !provider.Said(result) {
		result = entry["result"]
	}
	s := stateOf(entry["status"])
	if s == stateNone || err != nil && s == stateDone && !provider.Said(result) {
		x.End(provider.Failed, provider.NoLayer, "the answer has an unexpected shape: it holds no log")
		return
	}
	switch s {
	case stateDone:
		x.settle(x.scraped(result, entry))
	case stateFailed, stateCancelled:
		x.settle(ended(x.First(), s, provider.Words(entry)))
	default:
		x.running(entry["status"], s)
	}
}

// ended is the item of a visit that brought nothing. What the target answered is not told, so it is a failure at the target,
// or its limit when the text says so; work that was called off says nothing about the target.
func ended(t provider.Target, s state, why string) provider.Item {
	item := provider.Item{Task: t.Task, Outcome: provider.Failed, Layer: provider.LayerTarget}
	switch {
	case s == stateCancelled:
		item.Layer = provider.NoLayer
		why = cmp.Or(why, "the job was cancelled at the platform")
	case hintsAtLimit(why):
		item.Outcome = provider.Limited
	default:
		why = cmp.Or(why, "the platform says that the scrape failed, not why")
	}
	item.Error = provider.Line(why)
	return item
}

// scraped is the item of a finished scrape: its result has the text, and an entry for the URL.
func (x *reading) scraped(raw json.RawMessage, job map[string]json.RawMessage) provider.Item {
	t := x.First()
	result, err := provider.Object(raw)
	if err != nil {
		item := x.document(t, raw)
		item.Credits = x.charged(item, nil, job)
		return item
	}
	entry := entryFor(t, result["data"])
	var item provider.Item
	switch {
	case provider.False(entry["success"]):
		item = ended(t, stateFailed, cmp.Or(provider.Words(entry), provider.Words(job), "the platform says that the visit failed, not why"))
	case x.p.ai && string(result["ai_extraction_failed"]) == "true":
		item = provider.Item{Task: t.Task, Outcome: provider.Invalid, Error: "the platform's extraction failed; the page came only as markdown"}
	case blank(result["content"]) && provider.Said(entry["markdownContent"]):
		item = x.document(t, entry["markdownContent"])
	case entry == nil && !provider.Said(result["content"]) && !provider.Said(result["stats"]) && len(result) > 0:
		item = x.document(t, raw) // a log keeps what was extracted alone
	default:
		item = x.document(t, result["content"])
	}
	if at := provider.Text(entry["url"]); item.Page != nil && at != "" {
		item.Page.FinalURL = at
	}
	item.Credits = x.charged(item, result, job)
	return item
}

func blank(raw json.RawMessage) bool { return !provider.Said(raw) || string(raw) == `""` }

// entryFor is the entry of a result's list that is about the target: by its URL, else the first. Nil: there is none.
func entryFor(t provider.Target, raw json.RawMessage) map[string]json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	var first map[string]json.RawMessage
	for _, raw := range list {
		entry, err := provider.Object(raw)
		if err != nil {
			continue
		}
		if first == nil {
			first = entry
		}
		if normal(provider.Text(entry["url"])) == normal(t.URL) {
			return entry
		}
	}
	return first
}

// charged is what an item cost: as the platform tells, else by its price list. Failed items cost nothing.
func (x *reading) charged(item provider.Item, result, job map[string]json.RawMessage) float64 {
	if told := creditsOf(job); told.OK {
		return told.V
	}
	if told := creditsOf(result); told.OK {
		return told.V
	}
	if item.Outcome != provider.Accepted && item.Outcome != provider.Invalid {
		return 0
	}
	credits := float64(urlCredits)
	if stats, err := provider.Object(result["stats"]); err == nil {
		if told := creditsOf(stats); told.OK {
			return told.V
		}
		credits += captchaCredits * min(provider.Amount(stats["captchaSolvedCount"]).V, 1000)
	}
	x.Note("credits are not told here: counted by the price list")
	return credits
}

func creditsOf(object map[string]json.RawMessage) limits.Opt[float64] {
	for _, field := range []string{"creditsUsed", "credits_used"} {
		if told := provider.Amount(object[field]); told.OK {
			return told
		}
	}
	return limits.Opt[float64]{}
}

// document is the item of a text or a value that the platform made of the page.
func (x *reading) document(t provider.Target, raw json.RawMessage) provider.Item {
	item := provider.Item{Task: t.Task}
	page := &provider.Page{FinalURL: t.URL, ContentType: "text/markdown; charset=utf-8"}
	var body string
	switch {
	case !provider.Said(raw):
		item.Outcome, item.Layer, item.Error = provider.Failed, provider.LayerTarget, "the answer has no content"
		return item
	case json.Unmarshal(raw, &body) == nil:
		page.Body = []byte(body)
		if x.p.json && body != "" && json.Valid(page.Body) {
			page.ContentType = "application/json"
		}
	default:
		if inner := textOf(raw); !x.p.json && provider.Said(inner) {
			return x.document(t, inner)
		}
		if !x.p.ai {
			item.Outcome, item.Error = provider.Failed, "the answer has an unexpected shape: its result is no text"
			return item
		}
		page.Body, page.ContentType = raw, "application/json" // structured data is kept as the platform wrote it
	}
	item.Outcome, item.Page = provider.Accepted, page
	return item
}

// textOf is the text inside a result that came as an object although no structured data was asked for.
func textOf(raw json.RawMessage) json.RawMessage {
	object, err := provider.Object(raw)
	if err != nil {
		return nil
	}
	for _, field := range []string{"content", "markdownContent", "markdown"} {
		if inner := object[field]; len(inner) > 0 && inner[0] == '"' {
			return inner
		}
	}
	return nil
}
