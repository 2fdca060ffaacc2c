package storage

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// sink is a format.
type sink interface {
	begin([]column) error
	row([]column, []any) error
	end() error
}

// jsonSink writes an object a line, in an array or alone.
type jsonSink struct {
	out   *bufio.Writer
	array bool
	rows  int
	buf   bytes.Buffer
	enc   *json.Encoder
}

func (j *jsonSink) begin([]column) error {
	j.enc = json.NewEncoder(&j.buf)
	j.enc.SetEscapeHTML(false) // pages stay readable
	if j.array {
		return j.out.WriteByte('[')
	}
	return nil
}

func (j *jsonSink) row(columns []column, values []any) error {
	j.buf.Reset()
	if j.array {
		if j.rows > 0 {
			j.buf.WriteByte(',')
		}
		j.buf.WriteByte('\n')
	}
	j.rows++
	for i, c := range columns {
		if i == 0 {
			j.buf.WriteByte('{')
		} else {
			j.buf.WriteByte(',')
		}
		j.buf.WriteString(strconv.Quote(c.name))
		j.buf.WriteByte(':')
		if c.kind == flat || c.kind == nested {
			j.buf.WriteString(objectText(values[i]))
			continue
		}
		v := values[i]
		if b, ok := v.([]byte); ok { // text that was stored as bytes
			v = string(b)
		}
		if err := j.enc.Encode(v); err != nil {
			return err
		}
		j.buf.Truncate(j.buf.Len() - 1) // the encoder's line end
	}
	j.buf.WriteByte('}')
	if !j.array {
		j.buf.WriteByte('\n')
	}
	_, err := j.out.Write(j.buf.Bytes())
	return err
}

func (j *jsonSink) end() error {
	if !j.array {
		return nil
	}
	if j.rows > 0 {
		if err := j.out.WriteByte('\n'); err != nil {
			return err
		}
	}
	_, err := j.out.WriteString("]\n")
	return err
}

// objectText is a stored JSON object, byte for byte where it is UTF-8. It was found to be JSON when it was stored.
func objectText(v any) string {
	s, _ := v.(string)
	if s == "" {
		return "{}"
	}
	if !utf8.ValidString(s) {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	return s
}

// csvSink writes a header line and a line a record (RFC 4180, lines ended by LF).
type csvSink struct {
	out  *csv.Writer
	keys map[string][]string // of flattened columns
	line []string
}

func (c *csvSink) begin(columns []column) error {
	for _, col := range columns {
		if col.kind != flat {
			c.line = append(c.line, col.name)
			continue
		}
		for _, key := range c.keys[col.name] {
			c.line = append(c.line, csvCell(col.name+"."+key))
		}
	}
	return c.out.Write(c.line)
}

func (c *csvSink) row(columns []column, values []any) error {
	c.line = c.line[:0]
	for i, col := range columns {
		switch col.kind {
		case flat:
			cells, err := flatten(values[i], c.keys[col.name])
			if err != nil {
				return err
			}
			c.line = append(c.line, cells...)
		case nested:
			c.line = append(c.line, objectText(values[i]))
		default:
			c.line = append(c.line, plainCell(values[i]))
		}
	}
	return c.out.Write(c.line)
}

func (c *csvSink) end() error {
	c.out.Flush()
	return c.out.Error()
}

func plainCell(v any) string {
	switch v := v.(type) {
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case string:
		return csvCell(v)
	case []byte:
		return csvCell(string(v))
	}
	return ""
}

// flatten is the cells of an object for a list of keys: texts as they are, numbers digit for digit, null and missing
// empty, arrays and objects as JSON.
func flatten(v any, keys []string) ([]string, error) {
	cells := make([]string, len(keys))
	s, _ := v.(string)
	if s == "" {
		return cells, nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(s), &members); err != nil {
		return nil, err
	}
	for i, key := range keys {
		raw := members[key]
		switch {
		case len(raw) == 0 || string(raw) == "null":
		case raw[0] == '"':
			var text string
			if err := json.Unmarshal(raw, &text); err != nil {
				return nil, err
			}
			cells[i] = csvCell(text)
		default:
			cells[i] = strings.ToValidUTF8(string(raw), "\uFFFD")
		}
	}
	return cells, nil
}
