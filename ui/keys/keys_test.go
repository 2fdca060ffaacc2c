package keys

import (
	"slices"
	"testing"
)

func TestNoTwoActionsShareAKeyInAMode(t *testing.T) {
	for _, mode := range Modes() {
		seen := map[string]Action{}
		for _, b := range table {
			if !slices.Contains(b.Modes, mode) {
				continue
			}
			for _, k := range b.Keys {
				if other, ok := seen[k]; ok {
					t.Errorf("%s: %q is both %s and %s", mode, k, other, b.Action)
				}
				seen[k] = b.Action
				if got, ok := Lookup(mode, k); !ok || got != b.Action {
					t.Errorf("%s: Lookup(%q) = %q, %v, want %q", mode, k, got, ok, b.Action)
				}
			}
		}
		if len(seen) == 0 {
			t.Errorf("%s has no keys", mode)
		}
	}
}
