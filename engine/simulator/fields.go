package simulator

import (
	"fmt"
	"math"
	"slices"
)

// reader reads the fields of a request's JSON object and keeps its first complaint. A field that is missing, or null, is what
// the caller takes instead.
type reader struct {
	in  map[string]any
	err error
}

func (r *reader) complain(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

func (r *reader) text(name, or string) string {
	switch v := r.in[name].(type) {
	case nil:
		return or
	case string:
		return v
	}
	r.complain("%s must be a string", name)
	return or
}

// word is a text that is one of a few.
func (r *reader) word(name, or string, words ...string) string {
	text := r.text(name, or)
	if text != or && !slices.Contains(words, text) {
		r.complain("%s must be one of %v", name, words)
	}
	return text
}

func (r *reader) flag(name string) bool {
	switch v := r.in[name].(type) {
	case nil:
		return false
	case bool:
		return v
	}
	r.complain("%s must be true or false", name)
	return false
}

// whole is an integer from low to high.
func (r *reader) whole(name string, or, low, high int) int {
	switch v := r.in[name].(type) {
	case nil:
		return or
	case float64:
		if v == math.Trunc(v) && v >= float64(low) && v <= float64(high) {
			return int(v)
		}
	}
	r.complain("%s must be an integer from %d to %d", name, low, high)
	return or
}

// texts is a list of strings, each one of the words where there are any.
func (r *reader) texts(name string, words ...string) []string {
	out, err := texts(name, r.in[name])
	if err != nil {
		r.complain("%v", err)
	}
	for _, text := range out {
		if len(words) > 0 && !slices.Contains(words, text) {
			r.complain("%s must be of %v", name, words)
		}
	}
	return out
}

func (r *reader) object(name string) {
	if _, ok := r.in[name].(map[string]any); !ok && r.in[name] != nil {
		r.complain("%s must be an object", name)
	}
}
