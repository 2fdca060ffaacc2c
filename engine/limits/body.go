package limits

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"time"
)

// bodyWait reads the profile's wait fields from a JSON object, at its top or in its "error" object. A field given twice
// counts with its longest valid value. Text that is not one whole JSON value announces nothing.
func bodyWait(body []byte, names []string, now time.Time, note func(string, ...any)) (span, bool) {
	if len(names) == 0 || !json.Valid(body) {
		return span{}, false
	}
	var best span
	var found bool
	take := func(name string, value json.RawMessage) {
		if !slices.Contains(names, name) {
			return
		}
		got, ok := jsonWait(value, now)
		if !ok {
			note("body field %s %s is not a wait: ignored", quote(name), quote(string(value)))
		}
		if ok && (!found || got.longerThan(best)) {
			best, found = got, true
		}
	}
	members(body, func(name string, value json.RawMessage) {
		take(name, value)
		if name == "error" {
			members(value, take)
		}
	})
	return best, found
}

// members calls each for every member of a valid JSON object, in order, duplicates too. Anything else has none.
func members(object []byte, each func(string, json.RawMessage)) {
	dec := json.NewDecoder(bytes.NewReader(object))
	if start, err := dec.Token(); err != nil || start != json.Delim('{') {
		return
	}
	for dec.More() {
		token, err := dec.Token()
		name, isName := token.(string)
		var value json.RawMessage
		if err != nil || !isName || dec.Decode(&value) != nil {
			return
		}
		each(name, value)
	}
}

// jsonWait reads a wait in seconds: a number or a numeric string. Booleans, negatives and the rest are malformed; a
// number that no float holds saturates.
func jsonWait(value json.RawMessage, now time.Time) (span, bool) {
	text := string(value)
	if len(value) > 0 && value[0] == '"' {
		if json.Unmarshal(value, &text) != nil {
			return span{}, false
		}
		if n, ok := parseDecimal(text); ok {
			return secondsOrUnix(n, now), true
		}
		return parseDuration(text)
	}
	if n, ok := parseDecimal(text); ok {
		return secondsOrUnix(n, now), true
	}
	f, err := strconv.ParseFloat(text, 64) // an exponent is well-formed in JSON
	switch {
	case err != nil && !math.IsInf(f, 1), math.IsNaN(f), f < 0 || text[0] == '-':
		return span{}, false
	case f >= MaxWait.Seconds():
		return span{MaxWait, f > MaxWait.Seconds()}, true
	}
	return clamp(time.Duration(math.Ceil(f * float64(time.Second)))), true
}
