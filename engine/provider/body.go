package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"dev.scrapetop/engine/limits"
)

// What is wrong with a body that Object refuses.
var (
	ErrEmpty     = errors.New("the answer is empty")
	ErrNotJSON   = errors.New("the answer is not JSON")
	ErrNotObject = errors.New("the answer is JSON but not an object")
	ErrDuplicate = errors.New("the answer names a field twice")
)

// Object reads a platform's answer: one JSON object and nothing after it, no name given twice at its top, nested no
// deeper than encoding/json allows (10,000). Anything else is one of the errors above: half an answer is none.
func Object(body []byte) (map[string]json.RawMessage, error) {
	body = bytes.Trim(body, " \t\r\n")
	if len(body) == 0 {
		return nil, ErrEmpty
	}
	if !json.Valid(body) {
		var none any
		return nil, fmt.Errorf("%w: %w", ErrNotJSON, json.Unmarshal(body, &none))
	}
	if body[0] != '{' {
		return nil, ErrNotObject
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	if _, err := dec.Token(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotJSON, err)
	}
	object := map[string]json.RawMessage{}
	for dec.More() {
		token, err := dec.Token()
		name, isName := token.(string)
		var value json.RawMessage
		if err != nil || !isName || dec.Decode(&value) != nil {
			return nil, ErrNotJSON
		}
		if _, twice := object[name]; twice {
			return nil, ErrDuplicate
		}
		object[name] = value
	}
	return object, nil
}

// Int reads an integer that may be sent as a number or as text of digits; anything else was not said.
func Int(raw json.RawMessage) limits.Opt[int] {
	n, err := strconv.Atoi(strings.TrimSuffix(scalar(raw), ".0"))
	if err != nil {
		return limits.Opt[int]{}
	}
	return limits.Some(n)
}

// Amount reads a non-negative number that may be sent as text; anything else was not said.
func Amount(raw json.RawMessage) limits.Opt[float64] {
	f, err := strconv.ParseFloat(scalar(raw), 64)
	if err != nil || !(f >= 0 && f < 1e15) {
		return limits.Opt[float64]{}
	}
	return limits.Some(f)
}

// Text reads a string, or a number as its digits; empty when it is neither.
func Text(raw json.RawMessage) string {
	return scalar(raw)
}

// False reports that a flag was said and is false, as a boolean or as text.
func False(raw json.RawMessage) bool {
	return string(raw) == "false" || strings.EqualFold(scalar(raw), "false")
}

// Said reports that a field was given, and not as null.
func Said(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// scalar is the text of a JSON string or number.
func scalar(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	switch c := raw[0]; {
	case c == '"':
		var s string
		if json.Unmarshal(raw, &s) == nil {
			return s
		}
	case c == '-' || c >= '0' && c <= '9':
		return string(raw)
	}
	return ""
}

// maxLine is the longest text of a server that is carried in an error, in bytes.
const maxLine = 240

// Line makes a server's text fit for an error: one line, valid UTF-8, no control characters, short.
func Line(text string) string { return line(text, maxLine) }

func line(text string, most int) string {
	cut := len(text) > most
	if cut {
		text = text[:most]
		for len(text) > 0 && !utf8.RuneStart(text[len(text)-1]) {
			text = text[:len(text)-1]
		}
		if r, size := utf8.DecodeLastRuneInString(text); r == utf8.RuneError && size == 1 {
			text = text[:len(text)-1]
		}
	}
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "\uFFFD"), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	if cut {
		text += "..."
	}
	return text
}
