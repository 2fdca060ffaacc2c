package provider

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// FieldKind is the type of a request field as a platform documents it.
type FieldKind uint8

// The kinds of field. UnknownField is a field that no documentation of ours names.
const (
	UnknownField FieldKind = iota
	TextField
	FlagField   // true or false
	WholeField  // an integer
	TextsField  // a list of texts
	ObjectField // a JSON object
)

// ParseField reads a field's value from the text that a person gave by hand. A documented field takes its own type and
// nothing else: a text is taken as it stands (in quotes: what JSON reads), a list is written with commas or as JSON. Of a
// field that is not documented true, false, numbers, quoted texts, lists and objects are what JSON reads, and anything else
// is a text.
func ParseField(kind FieldKind, text string) (any, error) {
	switch kind {
	case TextField:
		var quoted string
		if json.Unmarshal([]byte(text), &quoted) == nil && strings.HasPrefix(text, `"`) {
			return quoted, nil
		}
		return text, nil
	case FlagField:
		switch strings.ToLower(text) {
		case "true":
			return true, nil
		case "false":
			return false, nil
		}
		return nil, fmt.Errorf("takes true or false")
	case WholeField:
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("takes a whole number")
		}
		return n, nil
	case TextsField:
		return parseTexts(text)
	case ObjectField:
		var object map[string]any
		if err := decode(text, &object); err != nil || object == nil {
			return nil, fmt.Errorf("takes a JSON object, as in {\"a\":\"b\"}")
		}
		return object, nil
	}
	var v any
	if decode(text, &v) == nil && v != nil {
		return v, nil
	}
	return text, nil
}

func parseTexts(text string) (any, error) {
	list := []string{}
	if strings.HasPrefix(strings.TrimSpace(text), "[") {
		if decode(text, &list) != nil {
			return nil, fmt.Errorf("takes a list of texts, as in a,b or [\"a\",\"b\"]")
		}
		return list, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list, nil
}

// decode reads one whole JSON value and keeps numbers as they are written.
func decode(text string, into any) error {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return ErrNotJSON
	}
	return nil
}
