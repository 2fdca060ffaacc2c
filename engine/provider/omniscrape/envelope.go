package omniscrape

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"dev.scrapetop/engine/limits"
	"dev.scrapetop/engine/provider"
)

// polled reads an answer about a job. Its success speaks of the poll: first comes the job's state, then the result's own
// success and the target's status. A state that we do not know is in progress: the job's own deadline ends it.
func (x *reading) polled(object map[string]json.RawMessage) {
	data, err := provider.Object(object["data"])
	if err != nil {
		if said(object["data"]) || !said(object["status"]) {
			x.end(provider.Failed, provider.NoLayer, "the answer has an unexpected shape: its data is no object")
			return
		}
		data = object
	}
	word := provider.Text(data["status"])
	result, resultErr := provider.Object(data["result"])
	switch state := strings.ToLower(word); state {
	case "queued", "processing":
		x.running(state == "processing")
	case "completed":
		if resultErr != nil {
			x.end(provider.Accepted, provider.NoLayer, "")
			x.target(provider.Item{Outcome: provider.Failed, Error: "the job is completed but has no result"})
			return
		}
		x.envelope(result)
	case "failed", "timed_out":
		x.failed(object, data, result, state)
	default:
		x.running(false)
		x.reply.Notes = append(x.reply.Notes, fmt.Sprintf("job state %q is unknown: polling on", provider.Line(word)))
	}
}

func (x *reading) running(started bool) {
	x.end(provider.StillRunning, provider.NoLayer, "")
	x.reply.PollAfter, x.reply.Started = x.pollAfter(), started
}

// failed is a job that ended without a page. Where its result tells the target's status, that counts.
func (x *reading) failed(object, data, result map[string]json.RawMessage, state string) {
	why := cmp.Or(errorText(data), errorText(object), errorText(result))
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
	x.end(provider.Accepted, provider.NoLayer, "")
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
	case err != nil && (said(object["data"]) || !refused && !said(object["content"]) && !said(object["status_code"])):
		x.end(provider.Failed, provider.NoLayer, "the answer has an unexpected shape: its data is no object")
		return
	case err != nil && !refused:
		data = object // the page at the top
	}
	x.end(provider.Accepted, provider.NoLayer, "")
	x.charge(object)
	reason := cmp.Or(errorText(data), errorText(object))
	header := headerOf(data)
	item := provider.Item{Outcome: provider.Accepted, Target: provider.Int(data["status_code"])}
	if item.Target.OK {
		item.Signal = limits.Read(limits.Response{
			Status: item.Target.V, Header: header, Received: x.r.Received, Profile: limits.Profile{Name: "target", RoomyReset: true},
		})
		item.Outcome, item.Layer = provider.JudgeTarget(item.Target.V, item.Signal)
	}
	switch {
	case provider.Challenged(header) && item.Target.V != http.StatusTooManyRequests:
		item.Outcome, item.Layer, reason = provider.Blocked, provider.LayerTarget, "the target answered with a challenge"
	case item.Outcome == provider.Limited || item.Outcome == provider.Busy:
		x.outerWait(&item)
	case item.Outcome != provider.Accepted:
	case refused:
		item.Outcome, item.Layer = provider.Failed, provider.LayerTarget
		reason = cmp.Or(reason, "the platform says that the scrape failed, not why")
	case !said(data["content"]):
		item.Outcome, item.Layer, reason = provider.Failed, provider.LayerTarget, "the answer has no content"
	default:
		item.Page, reason = x.page(data, header, item.Target), ""
	}
	if item.Outcome != provider.Accepted {
		item.Error = cmp.Or(reason, "the target answered "+provider.Text(data["status_code"]))
	}
	x.target(item)
}

// outerWait lets the envelope's own Retry-After stand in for the target's: it is a least wait for that target and for
// nothing else.
func (x *reading) outerWait(item *provider.Item) {
	outer := x.reply.Signal
	if !item.Signal.Wait.OK && outer.Wait.OK {
		item.Signal.Wait, item.Signal.WaitSource, item.Signal.Saturated = outer.Wait, outer.WaitSource, outer.Saturated
	}
}

// headerOf are the target's headers, where the platform passes them on; nil when it does not.
func headerOf(data map[string]json.RawMessage) http.Header {
	fields, err := provider.Object(data["headers"])
	if err != nil {
		return nil
	}
	h := http.Header{}
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		lines := []json.RawMessage{fields[field]}
		if fields[field][0] == '[' && json.Unmarshal(fields[field], &lines) != nil {
			continue
		}
		for _, line := range lines {
			if text := provider.Text(line); text != "" {
				h.Add(field, text)
			}
		}
	}
	return h
}

// page is the fetched document. Content that is no text is kept as the platform wrote it.
func (x *reading) page(data map[string]json.RawMessage, header http.Header, status limits.Opt[int]) *provider.Page {
	page := &provider.Page{Status: status, Header: header, FinalURL: cmp.Or(provider.Text(data["final_url"]), provider.Text(data["url"]))}
	if page.FinalURL == "" && len(x.c.Targets) > 0 {
		page.FinalURL = x.c.Targets[0].URL
	}
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
