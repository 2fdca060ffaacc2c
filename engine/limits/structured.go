package limits

import (
	"strings"
	"time"

	"github.com/dunglas/httpsfv"
)

// maxStructured is the longest structured field, its lines joined, that is parsed.
const maxStructured = 8 << 10

// readStructured reads RateLimit in both of its shapes: the list of items with r and t (draft 08 and later) and the
// dictionary limit, remaining, reset (draft 07). A field that breaks its grammar anywhere is ignored whole (RFC 9651
// section 4.2).
func readStructured(lines []string, policies []policy, note func(string, ...any)) []bucket {
	lines, ok := structuredLines("RateLimit", lines, note)
	if !ok {
		return nil
	}
	if all, ok := readItems(lines, policies); ok {
		return all
	}
	if b, ok := readDictionary(lines); ok {
		return []bucket{b.governed(policies)}
	}
	note("RateLimit %s is malformed: ignored whole", quote(strings.Join(lines, ", ")))
	return nil
}

// structuredLines drops empty lines, which carry no member; not ok when nothing is left or it is too long.
func structuredLines(name string, lines []string, note func(string, ...any)) ([]string, bool) {
	var kept []string
	size := 0
	for _, line := range lines {
		if line = strings.Trim(line, " \t"); line != "" {
			kept = append(kept, line)
			size += len(line)
		}
	}
	if size > maxStructured {
		note("%s is %d bytes long: ignored", name, size)
		return nil, false
	}
	return kept, len(kept) > 0
}

func readItems(lines []string, policies []policy) ([]bucket, bool) {
	list, err := httpsfv.UnmarshalList(lines)
	if err != nil {
		return nil, false
	}
	var all []bucket
	for _, member := range list {
		item, isItem := member.(httpsfv.Item)
		if !isItem {
			return nil, false
		}
		name, named := nameOf(item.Value)
		remaining, okR := whole(item.Params, "r")
		reset, okT := whole(item.Params, "t")
		if !named || !okR || !okT {
			return nil, false
		}
		b := bucket{generation: "structured", name: name, remaining: remaining}
		if reset.OK {
			b.reset = Some(seconds(reset.V))
		}
		all = append(all, matched(b, policies, len(list)))
	}
	return all, true
}

// matched puts a named bucket under the policy of its name; names may change with the numbers, so an only bucket is
// under an only policy whatever they are called.
func matched(b bucket, policies []policy, of int) bucket {
	for _, q := range policies {
		if q.name == b.name {
			return b.under(q)
		}
	}
	if of == 1 && len(policies) == 1 {
		return b.under(policies[0])
	}
	return b
}

func readDictionary(lines []string) (bucket, bool) {
	dict, err := httpsfv.UnmarshalDictionary(lines)
	if err != nil {
		return bucket{}, false
	}
	values := httpsfv.NewParams()
	for _, name := range dict.Names() {
		member, _ := dict.Get(name)
		if item, isItem := member.(httpsfv.Item); isItem {
			values.Add(name, item.Value)
		}
	}
	limit, okL := whole(values, "limit")
	remaining, okR := whole(values, "remaining")
	reset, okT := whole(values, "reset")
	if !okL || !okR || !okT || !limit.OK && !remaining.OK {
		return bucket{}, false
	}
	b := bucket{generation: "structured", limit: limit, remaining: remaining}
	if reset.OK {
		b.reset = Some(seconds(reset.V))
	}
	return b, true
}

// readPolicies reads RateLimit-Policy: "name";q=100;w=60 (draft 08 and later) or 100;w=60 (before).
func readPolicies(lines []string, note func(string, ...any)) []policy {
	lines, ok := structuredLines("RateLimit-Policy", lines, note)
	if !ok {
		return nil
	}
	list, err := httpsfv.UnmarshalList(lines)
	var all []policy
	for _, member := range list {
		q, ok := policyOf(member)
		if !ok {
			all = nil
			break
		}
		all = append(all, q)
	}
	if err != nil || len(all) == 0 {
		note("RateLimit-Policy %s is malformed: ignored whole", quote(strings.Join(lines, ", ")))
		return nil
	}
	return all
}

func policyOf(member httpsfv.Member) (policy, bool) {
	item, isItem := member.(httpsfv.Item)
	if !isItem {
		return policy{}, false
	}
	var q policy
	if quota, isNumber := item.Value.(int64); isNumber {
		q.quota = quota
	} else {
		name, named := nameOf(item.Value)
		quota, ok := whole(item.Params, "q")
		if !named || !ok || !quota.OK {
			return policy{}, false
		}
		q.name, q.quota = name, quota.V
	}
	window, ok := whole(item.Params, "w")
	if !ok || q.quota < 0 {
		return policy{}, false
	}
	if window.OK && window.V > 0 {
		q.window = Some(seconds(window.V).d)
	}
	if unit, has := item.Params.Get("qu"); has {
		q.unit, ok = nameOf(unit)
		switch q.unit {
		case "requests":
			q.unit = ""
		case "concurrent-requests":
			q.unit, q.slots = "", true
		}
	}
	return q, ok
}

// nameOf is the text of a string or a token.
func nameOf(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case httpsfv.Token:
		return string(v), true
	}
	return "", false
}

// whole is a non-negative integer parameter; not ok when it is there and is something else.
func whole(params *httpsfv.Params, name string) (Opt[int64], bool) {
	v, has := params.Get(name)
	if !has {
		return Opt[int64]{}, true
	}
	n, isInt := v.(int64)
	return Opt[int64]{V: n, OK: isInt && n >= 0}, isInt && n >= 0
}

func seconds(n int64) span {
	if n > int64(MaxWait/time.Second) {
		return span{MaxWait, true}
	}
	return span{d: time.Duration(n) * time.Second}
}
