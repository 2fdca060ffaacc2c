package spidra

import (
	"encoding/json"
	"fmt"

	"dev.scrapetop/engine/provider"
)

// batch reads a poll of a batch: one Item for each target once it has ended as a whole. "completed" does not mean that
// every URL worked, and what a cancelled batch was at goes on to its end.
func (x *reading) batch(object map[string]json.RawMessage) {
	var entries []json.RawMessage
	listed := provider.Said(object["items"])
	if listed && json.Unmarshal(object["items"], &entries) != nil {
		x.End(provider.Failed, provider.NoLayer, "the answer has an unexpected shape: its items are no list")
		return
	}
	items := make([]map[string]json.RawMessage, len(entries))
	urls := make([]string, len(entries))
	busy, over := false, 0
	for i, raw := range entries {
		item, err := provider.Object(raw)
		if err != nil {
			x.Note("item %d of the batch cannot be read: %v", i+1, err)
			continue
		}
		items[i], urls[i] = item, provider.Text(item["url"])
		switch s := stateOf(item["status"]); s {
		case stateStarted:
			busy = true
		case stateDone, stateFailed, stateCancelled:
			over++
		}
	}
	s := stateOf(object["status"])
	switch {
	case (s == stateCancelled || s == stateDone || s == stateFailed) && busy: // items go on, or came to life again
		x.running(object["status"], stateStarted)
		x.Reply.Done = min(over, len(x.Call.Targets))
	case s == stateDone && !listed:
		x.End(provider.Failed, provider.NoLayer, "the batch is finished but its items are not told")
	case s == stateDone || s == stateFailed || s == stateCancelled:
		x.settleBatch(object, s, items, urls)
	default:
		x.running(object["status"], s)
		x.Reply.Started = x.Reply.Started || busy || over > 0
		x.Reply.Done = min(over, len(x.Call.Targets))
	}
}

func (x *reading) settleBatch(object map[string]json.RawMessage, s state, items []map[string]json.RawMessage, urls []string) {
	of := assign(x.Call.Targets, urls)
	settled := make([]provider.Item, len(x.Call.Targets))
	have := make([]bool, len(x.Call.Targets))
	for i, at := range of {
		if at < 0 {
			if items[i] != nil {
				x.Note("item %d of the batch is none of ours: %s", i+1, urls[i])
			}
			continue
		}
		have[at] = true
		settled[at] = x.batchItem(x.Call.Targets[at], items[i], s, provider.Words(object))
	}
	missing := 0
	for i, t := range x.Call.Targets {
		if have[i] {
			continue
		}
		missing++
		settled[i] = provider.Item{Task: t.Task, Outcome: provider.Failed, Error: "the batch ended without this URL"}
		if s != stateDone {
			settled[i] = ended(t, s, provider.Words(object))
			settled[i].Layer = provider.NoLayer
			settled[i].Outcome = provider.Failed
		}
	}
	if missing > 0 {
		x.Note("the batch ended without %d of its %d URLs", missing, len(x.Call.Targets))
	}
	x.settle(settled...)
}

// batchItem is the verdict of one URL. An item that never ended when its batch did says nothing about its target.
func (x *reading) batchItem(t provider.Target, entry map[string]json.RawMessage, batch state, why string) (item provider.Item) {
	switch s := stateOf(entry["status"]); s {
	case stateFailed, stateCancelled:
		item = ended(t, s, provider.Words(entry))
	case stateDone:
		item = x.document(t, entry["result"])
		if result, err := provider.Object(entry["result"]); err == nil && x.p.ai && string(result["ai_extraction_failed"]) == "true" {
			item = provider.Item{Task: t.Task, Outcome: provider.Invalid, Error: "the platform's extraction failed"}
		}
	default:
		if text := provider.Words(entry); text != "" {
			item = ended(t, stateFailed, text)
			break
		}
		if why != "" {
			why = ": " + why
		}
		word := provider.Text(entry["status"])
		item = provider.Item{Task: t.Task, Outcome: provider.Failed, Error: provider.Line(fmt.Sprintf("the batch ended while this URL was %q%s", word, why))}
		if batch == stateCancelled {
			item.Error = "the batch was cancelled before this URL ran"
		}
	}
	if told := creditsOf(entry); told.OK {
		item.Credits = told.V
	} else if item.Outcome == provider.Accepted || item.Outcome == provider.Invalid {
		item.Credits = urlCredits
	}
	return item
}
