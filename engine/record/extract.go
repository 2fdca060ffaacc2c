package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/PuerkitoBio/goquery"
	"github.com/andybalholm/cascadia"
)

// field is one compiled extraction.
type field struct {
	name string
	css  goquery.Matcher
	attr string // empty: the text
	many bool
}

// attrSuffix is the "@name" at the end of a selector; an at sign within a selector is followed by more than a name.
var attrSuffix = regexp.MustCompile(`@([A-Za-z_][-\w:.]*)$`)

func compileField(name string, s Selector) (field, error) {
	css := strings.TrimSpace(s.CSS)
	f := field{name: name, many: s.Many}
	if m := attrSuffix.FindStringSubmatchIndex(css); m != nil {
		f.attr = strings.ToLower(css[m[2]:m[3]])
		css = strings.TrimSpace(css[:m[0]])
	}
	if css == "" {
		return field{}, errors.New("the selector is empty")
	}
	compiled, err := cascadia.Compile(css)
	if err != nil {
		return field{}, fmt.Errorf("%q is not a CSS selector: %w", s.CSS, err)
	}
	f.css = compiled
	if !f.many && f.attr == "" {
		f.css = goquery.SingleMatcher(compiled)
	}
	return f, nil
}

// extract returns the fields as a JSON object with sorted keys: trimmed text or an attribute's value, null for what the
// page does not have, arrays for Many. An element without the attribute counts as no match. why is set instead when the
// fields are too large.
func extract(doc *goquery.Document, fields []field) (object []byte, why string) {
	record := make(map[string]any, len(fields))
	size := 0
	for _, f := range fields {
		values := []string{}
		for _, node := range doc.FindMatcher(f.css).EachIter() {
			value, ok := f.read(node)
			if !ok {
				continue
			}
			if size += len(value); size > maxFieldsBytes {
				return nil, fmt.Sprintf("[extract] %s: the fields take more than %d bytes", f.name, maxFieldsBytes)
			}
			values = append(values, value)
			if !f.many {
				break
			}
		}
		switch {
		case f.many:
			record[f.name] = values
		case len(values) > 0:
			record[f.name] = values[0]
		default:
			record[f.name] = nil
		}
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(record); err != nil {
		return nil, "the fields cannot be written as JSON: " + err.Error()
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), ""
}

func (f field) read(node *goquery.Selection) (string, bool) {
	if f.attr == "" {
		return strings.TrimSpace(node.Text()), true
	}
	value, ok := node.Attr(f.attr)
	return strings.TrimSpace(value), ok
}
