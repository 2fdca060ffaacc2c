package provider

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Bounds of what is taken from one answer's words.
const (
	wordsItems = 5 // of a list or an object
	wordsDepth = 4
	wordsHead  = 120 // bytes of code and message that leave room for details
)

// Words is the reason that an answer, an item or a page gives: its code, its message, and the details of what was wrong,
// in whichever of the fields in use they stand. error may be a text or an object with the same fields. Empty: none is given.
func Words(object map[string]json.RawMessage) string {
	var said []string
	add := func(texts ...string) {
		for _, text := range texts {
			text = strings.TrimSpace(text)
			if text == "" || slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, text) }) {
				continue
			}
			said = append(said, text)
		}
	}
	nested, err := Object(object["error"])
	if err != nil {
		nested = nil
	}
	for _, o := range []map[string]json.RawMessage{object, nested} {
		add(Text(o["code"]), Text(o["error"]), Text(o["message"]), Text(o["error_message"]))
	}
	head := strings.Join(said, ": ")
	said = said[:0]
	for _, o := range []map[string]json.RawMessage{object, nested} {
		for _, field := range detailFields {
			if text := details(o[field], 0); !strings.Contains(head, text) {
				add(text)
			}
		}
	}
	switch {
	case len(said) == 0:
		return head
	case head == "":
		return strings.Join(said, "; ")
	}
	return line(head, wordsHead) + " (" + strings.Join(said, "; ") + ")"
}

// detailFields are where the details of a refusal stand, and in them where they lie nested.
var detailFields = []string{"details", "detail", "validation_errors", "errors"}

// details puts what may be a text, a list or an object of them on one line. Of the objects of a list of faults it takes the
// place and the message.
func details(raw json.RawMessage, depth int) string {
	if !Said(raw) || depth == wordsDepth {
		return ""
	}
	var texts []string
	switch raw[0] {
	case '[':
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil {
			return ""
		}
		for _, one := range list[:min(len(list), wordsItems)] {
			texts = append(texts, details(one, depth+1))
		}
	case '{':
		object, err := Object(raw)
		if err != nil {
			return ""
		}
		for _, field := range slices.Sorted(maps.Keys(object))[:min(len(object), wordsItems)] {
			text := details(object[field], depth+1)
			if text != "" && !slices.Contains(detailFields, field) && field != "message" && field != "msg" {
				text = field + ": " + text
			}
			texts = append(texts, text)
		}
	default:
		if text := Text(raw); text != "" {
			return text
		}
		return string(raw) // true or false
	}
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), "; ")
}
