package spidra

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"dev.scrapetop/engine/provider"
)

// crawl reads a poll of a crawl. Once it has ended there is an Item with a Part for each page that came, and a last one for
// the root: accepted when the crawl was completed with at least one page.
func (x *reading) crawl(object map[string]json.RawMessage) {
	s := stateOf(object["status"])
	raw := object["result"]
	if !provider.Said(raw) {
		raw = object["pages"]
	}
	if s == stateNone && provider.Said(raw) {
		s = stateDone
	}
	if s != stateDone && s != stateFailed && s != stateCancelled {
		x.running(object["status"], s)
		return
	}
	var entries []json.RawMessage
	if provider.Said(raw) && json.Unmarshal(raw, &entries) != nil {
		x.End(provider.Failed, provider.NoLayer, "the answer has an unexpected shape: its result is no list of pages")
		return
	}
	root := x.First()
	var items []provider.Item
	var lost []provider.Item
	seen := map[string]bool{}
	for i, raw := range entries {
		item, part := x.crawled(root, i, raw)
		switch {
		case item.Outcome != provider.Accepted:
			lost = append(lost, item)
		case seen[part]:
			x.Note("the crawl brought %s twice: the first counts", part)
		default:
			seen[part] = true
			item.Part = part
			items = append(items, item)
		}
	}
	if len(lost) > 0 {
		x.Note("%d of %d pages of the crawl failed: %s", len(lost), len(entries), lost[0].Error)
	}
	x.settle(append(items, x.verdict(object, s, len(items), lost))...)
}

// verdict is the root's item.
func (x *reading) verdict(object map[string]json.RawMessage, s state, pages int, lost []provider.Item) provider.Item {
	item := provider.Item{Task: x.First().Task, Outcome: provider.Accepted}
	switch {
	case s != stateDone:
		item = ended(x.First(), s, provider.Words(object))
	case pages == 0 && len(lost) > 0:
		item = lost[0]
		for _, page := range lost {
			if page.Outcome != provider.Limited { // one page that failed otherwise is enough to doubt a limit
				item = page
			}
		}
	case pages == 0:
		item.Outcome, item.Layer, item.Error = provider.Failed, provider.LayerTarget, "the crawl found no page"
	}
	if told := creditsOf(object); told.OK {
		item.Credits = told.V
	} else if pages > 0 {
		item.Credits = float64(pages * urlCredits)
		x.Note("credits are not told here: counted by the price list")
	}
	return item
}

// crawled is one page of a crawl and its identity.
func (x *reading) crawled(root provider.Target, i int, raw json.RawMessage) (provider.Item, string) {
	entry, err := provider.Object(raw)
	if err != nil {
		return ended(root, stateFailed, fmt.Sprintf("page %d cannot be read: %v", i+1, err)), ""
	}
	part := provider.Text(entry["url"])
	if s := stateOf(entry["status"]); s != stateDone && s != stateNone && s != stateUnknown {
		return ended(root, stateFailed, cmp.Or(provider.Words(entry), "the page was "+provider.Text(entry["status"])+" when the crawl ended")), part
	}
	item := x.document(root, content(entry))
	if item.Page != nil && part != "" {
		item.Page.FinalURL = part
	}
	return item, cmp.Or(part, fmt.Sprintf("page-%d", i+1))
}

// content is what a crawl made of a page. The field markdown may hold a signed link instead of text: a link is no content.
func content(entry map[string]json.RawMessage) json.RawMessage {
	text := strings.TrimSpace(provider.Text(entry["markdown"]))
	link := strings.HasPrefix(text, "http") && !strings.ContainsAny(text, " \n\t")
	if provider.Said(entry["data"]) || link {
		return entry["data"]
	}
	return entry["markdown"]
}
