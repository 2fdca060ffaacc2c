package source

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// readJSONL reads an object a line.
func (rd *reader) readJSONL(in *bufio.Reader) error {
	return rd.eachLine(in, func(n int, line []byte) error {
		e, err := parseObject(line)
		if err != nil {
			rd.refuse(n, err.Error())
			return nil
		}
		e.Line = n
		return rd.accept(e)
	})
}

var errNotJSON = errors.New("not a JSON object")

// parseObject reads one object. Keys are read token by token, values kept as written, so that order and digits survive.
func parseObject(line []byte) (Entry, error) {
	if !utf8.Valid(line) {
		return Entry{}, errors.New("not valid UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return Entry{}, errNotJSON
	}
	var (
		e      Entry
		meta   metaBuilder
		hasURL bool
		rawURL json.RawMessage
	)
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return Entry{}, errNotJSON
		}
		key, ok := token.(string)
		if !ok {
			return Entry{}, errNotJSON
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return Entry{}, errNotJSON
		}
		switch {
		case strings.EqualFold(key, "url"):
			if hasURL {
				return Entry{}, errors.New("url is given twice")
			}
			hasURL, rawURL = true, value
			continue
		case key == "tenant":
			if e.Tenant, ok = scalar(value); ok {
				e.Tenant = strings.TrimSpace(e.Tenant)
				continue
			}
			return Entry{}, errors.New("tenant is neither text nor a number")
		case key == "priority":
			text, _ := scalar(value)
			if n, err := strconv.Atoi(strings.TrimSpace(text)); err == nil {
				e.Priority = n
				continue
			}
		case key == "id":
			e.Key, _ = scalar(value)
		}
		if err := meta.add(key, value); err != nil {
			return Entry{}, errNotJSON
		}
	}
	if _, err := dec.Token(); err != nil {
		return Entry{}, errors.New("the JSON object is cut off")
	}
	if _, err := dec.Token(); err != io.EOF {
		return Entry{}, errors.New("more than one value on the line")
	}
	raw, err := urlText(rawURL)
	if err != nil {
		return Entry{}, err
	}
	if e.URL, err = Normalise(raw); err != nil {
		return Entry{}, err
	}
	e.InputURL = strings.TrimSpace(raw)
	e.Meta = meta.object()
	return e, nil
}

func urlText(raw json.RawMessage) (string, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", errors.New("no url")
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return "", errors.New("url is not text")
	}
	return text, nil
}

// scalar is the text of a string, the digits of a number, nothing for null.
func scalar(raw json.RawMessage) (string, bool) {
	switch raw[0] {
	case '"':
		var text string
		err := json.Unmarshal(raw, &text)
		return text, err == nil
	case '{', '[', 't', 'f':
		return "", false
	case 'n':
		return "", true
	}
	return string(raw), true
}

// metaBuilder writes a JSON object member by member.
type metaBuilder struct{ buf bytes.Buffer }

func (m *metaBuilder) addText(key, value string) {
	m.key(key)
	writeJSONString(&m.buf, value)
}

func (m *metaBuilder) add(key string, value json.RawMessage) error {
	m.key(key)
	return json.Compact(&m.buf, value)
}

func (m *metaBuilder) key(key string) {
	if m.buf.Len() == 0 {
		m.buf.WriteByte('{')
	} else {
		m.buf.WriteByte(',')
	}
	writeJSONString(&m.buf, key)
	m.buf.WriteByte(':')
}

// object ends the object; nil when it has no member.
func (m *metaBuilder) object() json.RawMessage {
	if m.buf.Len() == 0 {
		return nil
	}
	m.buf.WriteByte('}')
	return m.buf.Bytes()
}

func writeJSONString(buf *bytes.Buffer, s string) {
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	// A string cannot fail to encode; the encoder's line feed is taken back.
	_ = enc.Encode(s)
	buf.Truncate(buf.Len() - 1)
}
