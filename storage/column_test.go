package storage

import (
	"encoding/json"
	"maps"
	"testing"
)

func TestPairsAreTheObjectThatJSONWouldBe(t *testing.T) {
	var p pairs
	for name, of := range map[string]map[string]string{
		"none":      {},
		"one":       {"Retry-After": "3"},
		"sorted":    {"B": "2", "A": "1", "C": "3"},
		"quotes":    {`a"b`: `c\d`},
		"controls":  {"X": "a\tb\n\x00\x7f"},
		"no UTF-8":  {"X": "a\xffb"},
		"not ASCII": {"Näme": "日本\u2028"},
	} {
		t.Run(name, func(t *testing.T) {
			text := p.object(of)
			var back, want map[string]string
			if err := json.Unmarshal([]byte(text), &back); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			std, err := json.Marshal(of)
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(std, &want); err != nil {
				t.Fatal(err)
			}
			if !maps.Equal(back, want) {
				t.Errorf("%s, want %s", text, std)
			}
		})
	}
}

func TestIDsAreAJSONArray(t *testing.T) {
	for want, list := range map[string][]int64{"[]": nil, "[7]": {7}, "[1,-2,9007199254740993]": {1, -2, 9007199254740993}} {
		if got := ids(list); got != want {
			t.Errorf("%v: got %s, want %s", list, got, want)
		}
	}
}

func TestStatementsRefuseWhatDoesNotFit(t *testing.T) {
	s := openTemp(t, Options{})
	for name, args := range map[string][]any{"too few": {1}, "too many": {1, 2, 3}, "no value": {1, struct{}{}}} {
		t.Run(name, func(t *testing.T) {
			if err := s.writer.exec(`UPDATE total SET tasks = ? WHERE run = ?`, args...); err == nil {
				t.Error("accepted")
			}
		})
	}
}
