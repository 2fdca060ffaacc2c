package storage

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// ms is an instant as a column keeps it.
func ms(t time.Time) int64 { return t.UnixMilli() }

// instant is ms, or NULL for the zero time.
func instant(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}

// at reads a column written by instant.
func at(v sql.NullInt64) time.Time {
	if !v.Valid {
		return time.Time{}
	}
	return time.UnixMilli(v.Int64).UTC()
}

// text is a string, or NULL for the empty one.
func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// known is a number, or NULL for zero.
func known(n int64) any {
	if n == 0 {
		return nil
	}
	return n
}

// said is what a pointer points to, or NULL.
func said[T int | int64 | float64](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}

// span is a length of time in whole milliseconds, or NULL.
func span(d *time.Duration) any {
	if d == nil {
		return nil
	}
	return d.Milliseconds()
}

// unspan reads a column written by span.
func unspan(v sql.NullInt64) *time.Duration {
	if !v.Valid {
		return nil
	}
	d := time.Duration(v.Int64) * time.Millisecond
	return &d
}

// ids is a list of ids as JSON.
func ids(list []int64) string {
	b := make([]byte, 0, 2+8*len(list))
	b = append(b, '[')
	for i, id := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, id, 10)
	}
	return string(append(b, ']'))
}

// pairs writes maps of texts as JSON objects, quicker than encoding/json does: an answer's headers are written with every
// attempt. The zero value is ready; it keeps its memory.
type pairs struct {
	names []string
	buf   []byte
}

// object is a map as a JSON object, sorted by name.
func (p *pairs) object(of map[string]string) string {
	p.names = p.names[:0]
	for name := range of {
		p.names = append(p.names, name)
	}
	slices.Sort(p.names)
	b := append(p.buf[:0], '{')
	for i, name := range p.names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendText(b, name), ':')
		b = appendText(b, of[name])
	}
	b = append(b, '}')
	p.buf = b
	clear(p.names)
	return string(b)
}

// appendText appends a JSON string. What is not plain ASCII is left to encoding/json, which also replaces what is no UTF-8.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			quoted, _ := json.Marshal(s) // a string is always JSON
			return append(b, quoted...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

// object is a JSON object as a column keeps it: compact, numbers digit for digit; NULL for none.
func object(raw json.RawMessage) (any, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if b.String() == "null" {
		return nil, nil
	}
	if b.Bytes()[0] != '{' {
		return nil, fmt.Errorf("%w: want a JSON object", ErrInvalid)
	}
	return b.String(), nil
}
