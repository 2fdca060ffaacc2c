package spidra

import (
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
