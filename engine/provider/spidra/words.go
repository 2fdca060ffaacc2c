package spidra

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strings"

	"dev.scrapetop/engine/provider"
)

// state is what a job's, an item's or a page's status word means.
type state int

const (
	stateNone state = iota // no word
	stateWaiting
	stateStarted
	stateDone
	stateFailed
	stateCancelled
	stateUnknown
)

var states = map[string]state{
	"queued": stateWaiting, "waiting": stateWaiting, "pending": stateWaiting, "delayed": stateWaiting,
	"active": stateStarted, "running": stateStarted, "in_progress": stateStarted,
	"completed": stateDone, "partial": stateDone, "success": stateDone,
	"failed": stateFailed, "error": stateFailed,
	"cancelled": stateCancelled, "canceled": stateCancelled,
}

func stateOf(raw json.RawMessage) state {
	word := strings.ToLower(provider.Text(raw))
	if word == "" {
		return stateNone
	}
	if s, known := states[word]; known {
		return s
	}
	return stateUnknown
}

// errorText is the reason that an answer, an item or a page gives, in whichever field of the several that are in use.
func errorText(object map[string]json.RawMessage) string {
	if text := cmp.Or(provider.Text(object["message"]), provider.Text(object["error"]), provider.Text(object["error_message"])); text != "" {
		return text
	}
	if nested, err := provider.Object(object["error"]); err == nil {
		return cmp.Or(provider.Text(nested["message"]), provider.Text(nested["code"]))
	}
	var list []json.RawMessage
	if json.Unmarshal(object["errors"], &list) != nil {
		return ""
	}
	var texts []string
	for _, raw := range list {
		text := provider.Text(raw)
		if nested, err := provider.Object(raw); err == nil {
			text = provider.Text(nested["message"])
		}
		if text != "" && len(texts) < 5 {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "; ")
}

var (
	address    = regexp.MustCompile(`(?i)\bhttps?://\S+`)
	overloaded = regexp.MustCompile(`(?i)too[ _-]?many[ _-]?requests|rate[ _-]?limit(ed|s? exceeded|s? reached|ing)?\b`)
	number429  = regexp.MustCompile(`(^|[^0-9.,])429($|[^0-9])`)
	// measure is what makes a 429 a length or a duration instead of a status.
	measure = regexp.MustCompile(`(?i)(^|[^0-9.,])429([.,][0-9]|\s*(ms|msec|s|sec|secs|seconds?|milliseconds?|b|kb|bytes?|px|chars?|characters|pages?|urls?|tokens?|credits?)\b)`)
)

// hintsAtLimit reports that the text of a failed visit says that the target asked for fewer requests. There is no field for
// the target's status, so this is a hint, good for that target's pause and for nothing else. A number in an address is
// none.
func hintsAtLimit(text string) bool {
	text = address.ReplaceAllString(text, " ")
	return overloaded.MatchString(text) || number429.MatchString(measure.ReplaceAllString(text, " "))
}
