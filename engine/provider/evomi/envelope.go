package evomi

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"dev.scrapetop/engine/limits"
	"dev.scrapetop/engine/provider"
)

// state is what a task's status word means.
type state int

const (
	stateNone state = iota // no word: a synchronous envelope
	stateRunning
	stateDone
	stateFailed
	stateGone
	stateUnknown
)

var states = map[string]state{
	"processing": stateRunning, "pending": stateRunning, "queued": stateRunning, "running": stateRunning,
	"completed": stateDone, "done": stateDone, "success": stateDone,
	"failed": stateFailed, "error": stateFailed, "cancelled": stateFailed,
	"not_found": stateGone, "expired": stateGone,
}

func stateOf(object map[string]json.RawMessage) state {
	word := strings.ToLower(provider.Text(object["status"]))
	if word == "" {
		return stateNone
	}
	if s, known := states[word]; known {
		return s
	}
	return stateUnknown
}

// jobOf is the id of a task that can be polled, at the top or in data; empty when there is none.
func jobOf(object map[string]json.RawMessage) string {
	id := provider.Text(object["task_id"])
	if id == "" {
		if data, err := provider.Object(object["data"]); err == nil {
			id = provider.Text(data["task_id"])
		}
	}
	if !provider.ValidJob(id) {
		return ""
	}
	return id
}

// hasResult tells an envelope with an outcome in it, readable or not, from a bare hand-over.
func hasResult(object map[string]json.RawMessage, s state) bool {
	if s == stateDone {
		return true
	}
	if s == stateRunning {
		return false
	}
	payload, err := payloadOf(object)
	return err != nil || provider.Said(payload["content"]) || provider.Said(payload["status_code"])
}

// payloadOf is the object that holds the page: nested under result or data, or the envelope itself.
func payloadOf(object map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	for _, name := range []string{"result", "data"} {
		if !provider.Said(object[name]) {
			continue
		}
		payload, err := provider.Object(object[name])
		if err != nil {
			return nil, errors.New("the answer has an unexpected shape: its " + name + " is no object")
		}
		return payload, nil
	}
	return object, nil
}

// modeUsed is the header that tells how a page was fetched.
const modeUsed = "X-Mode-Used"

// result reads a finished scrape: the page, or what the target or the platform said instead.
func (x *reading) result(object map[string]json.RawMessage, s state) {
	payload, err := payloadOf(object)
	if err != nil {
		x.End(provider.Failed, provider.NoLayer, err.Error())
		return
	}
	if credits := orSaid(provider.Amount(payload["credits_used"]), provider.Amount(object["credits_used"])); credits.OK {
		x.Reply.Credits = credits.V
	}
	if mode := cmp.Or(provider.Text(payload["mode_used"]), provider.Text(object["mode_used"])); mode != "" && x.Response.Header.Get(modeUsed) == "" {
		x.Reply.Told = http.Header{modeUsed: {mode}}
	}
	x.End(provider.Accepted, provider.NoLayer, "")
	header := provider.TargetHeader(payload, "headers", "response_headers", "captured_headers")
	item := x.Visited(provider.Envelope{
		Status: orSaid(provider.Int(payload["status_code"]), provider.Int(object["status_code"])), Header: header,
		Failed:  s == stateFailed || provider.False(object["success"]) || provider.False(payload["success"]),
		Content: provider.Said(payload["content"]), Reason: cmp.Or(provider.Words(payload), provider.Words(object)),
	})
	item.Credits = x.Reply.Credits
	if item.Outcome == provider.Accepted {
		item.Page = x.page(payload, header, item.Target)
	}
	x.Reply.Items = []provider.Item{item}
}

func orSaid[T any](a, b limits.Opt[T]) limits.Opt[T] {
	if a.OK {
		return a
	}
	return b
}

// page is the fetched document. Screenshots and PDFs come as base64.
func (x *reading) page(payload map[string]json.RawMessage, header http.Header, status limits.Opt[int]) *provider.Page {
	var content string
	if json.Unmarshal(payload["content"], &content) != nil {
		content = string(payload["content"]) // structured content is kept as the platform wrote it
	}
	page := &provider.Page{
		Body: []byte(content), FinalURL: cmp.Or(provider.Text(payload["url"]), x.First().URL), Status: status, Header: header,
	}
	kind := "text/html; charset=utf-8"
	switch x.p.content {
	case "markdown":
		kind = "text/markdown; charset=utf-8"
	case "screenshot":
		kind = binary(page, "image/png")
	case "pdf":
		kind = binary(page, "application/pdf")
	}
	page.ContentType = cmp.Or(header.Get("Content-Type"), kind)
	if x.p.content != "" && x.p.content != "html" {
		page.ContentType = kind // the target's type is not the output's
	}
	return page
}

// binary decodes a page's base64, with or without a data: prefix; what is not base64 stays text.
func binary(page *provider.Page, kind string) string {
	text := string(page.Body)
	if strings.HasPrefix(text, "data:") {
		_, text, _ = strings.Cut(text, ",")
	}
	if raw, err := base64.StdEncoding.DecodeString(text); err == nil {
		page.Body = raw
		return kind
	}
	return "text/plain; charset=utf-8"
}
