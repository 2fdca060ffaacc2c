package omniscrape

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"strings"

	"dev.scrapetop/engine/limits"
	"dev.scrapetop/engine/provider"
)

// polled reads an answer about a job. Its success speaks of the poll: first comes the job's state, then the result's own
// success and the target's status. A state that we do not know is in progress: the job's own deadline ends it.
func (x *reading) polled(object map[string]json.RawMessage) {
	data, err := provider.Object(object["data"])
	if err != nil {
		if provider.Said(object["data"]) || !provider.Said(object["status"]) {
			x.End(provider.Failed, provider.NoLayer, "the answer has an unexpected shape: its data is no object")
			return
		}
		data = object
	}
	word := provider.Text(data["status"])
	result, resultErr := provider.Object(data["result"])
	switch state := strings.ToLower(word); state {
	case "queued", "processing":
		x.Running(state == "processing", minPollAfter)
	case "completed":
		if resultErr != nil {
			x.End(provider.Accepted, provider.NoLayer, "")
			x.target(provider.Item{Outcome: provider.Failed, Error: "the job is completed but has no result"})
			return
		}
		x.envelope(result)
	case "failed", "timed_out":
		x.failed(object, data, result, state)
	default:
		x.Running(false, minPollAfter)
		x.Note("job state %q is unknown: polling on", word)
	}
}

// failed is a job that ended without a page. Where its result tells the target's status, that counts.
func (x *reading) failed(object, data, result map[string]json.RawMessage, state string) {
	why := cmp.Or(provider.Words(data), provider.Words(object), provider.Words(result))
	inner, _ := provider.Object(result["data"])
	if status := provider.Int(inner["status_code"]); status.OK {
		result = maps.Clone(result)
		result["success"] = json.RawMessage("false")
		if text, err := json.Marshal(why); err == nil && why != "" {
			result["error"] = text
		}
		x.envelope(result)
		return
	}
	x.End(provider.Accepted, provider.NoLayer, "")
	x.charge(result)
	if state == "timed_out" {
		why = strings.TrimSuffix("the job passed the platform's time limit: "+why, ": ")
	}
	x.target(provider.Item{Outcome: provider.Failed, Layer: provider.LayerTarget, Error: cmp.Or(why, "the platform says that the job failed, not why")})
}

// envelope reads what a scrape brought: the page, or what the target or the platform said instead. The target's status
// goes before the flag success, which may be either on a refusal.
func (x *reading) envelope(object map[string]json.RawMessage) {
	refused := provider.False(object["success"])
	data, err := provider.Object(object["data"])
	switch {
	case err != nil && (provider.Said(object["data"]) || !refused && !provider.Said(object["content"]) && !provider.Said(object["status_code"])):
		x.End(provider.Failed, provider.NoLayer, "the answer has an unexpected shape: its data is no object")
		return
	case err != nil && !refused:
		data = object // the page at the top
	}
	x.End(provider.Accepted, provider.NoLayer, "")
	x.charge(object)
	header := provider.TargetHeader(data, "headers")
	item := x.Visited(provider.Envelope{
		Status: provider.Int(data["status_code"]), Header: header, Failed: refused,
		Content: provider.Said(data["content"]), Reason: cmp.Or(provider.Words(data), provider.Words(object)),
	})
	if item.Outcome == provider.Accepted {
		item.Page = x.page(data, header, item.Target)
	}
	x.target(item)
}

// page is the fetched document. Content that is no text is kept as the platform wrote it.
func (x *reading) page(data map[string]json.RawMessage, header http.Header, status limits.Opt[int]) *provider.Page {
	page := &provider.Page{Status: status, Header: header, FinalURL: cmp.Or(provider.Text(data["final_url"]), provider.Text(data["url"]), x.First().URL)}
	var text string
	if json.Unmarshal(data["content"], &text) != nil {
		page.Body, page.ContentType = data["content"], "application/json"
		return page
	}
	page.Body = []byte(text)
	switch x.p.output {
	case "html", "":
		page.ContentType = cmp.Or(header.Get("Content-Type"), "text/html; charset=utf-8")
	case "json":
		page.ContentType = "application/json"
	case "markdown":
		page.ContentType = "text/markdown; charset=utf-8"
	default:
		page.ContentType = "text/plain; charset=utf-8"
	}
	return page
}
