package record

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

func TestScanFindsWhatStandsThere(t *testing.T) {
	var all []mark
	for _, m := range marked.by {
		all = append(all, m...)
	}
	if len(all) != marked.count {
		t.Fatalf("%d marks are looked for, want %d", len(all), marked.count)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var body []byte // of marks, parts of them and bytes between them
		for range rng.IntN(6) {
			text := all[rng.IntN(len(all))].text
			if rng.IntN(2) == 0 {
				text = text[rng.IntN(len(text)):]
			}
			if rng.IntN(3) == 0 {
				text = text[:rng.IntN(len(text)+1)]
			}
			body = append(body, text...)
			if rng.IntN(3) == 0 {
				body = append(body, byte(rng.IntN(256)))
			}
		}
		var want uint64
		for _, m := range all {
			if bytes.Contains(body, m.text) {
				want |= m.bit
			}
		}
		if got := scan(body); got != want {
			t.Fatalf("scan(%q) = %b, want %b", body, got, want)
		}
	}
}
