package core

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"dev.scrapetop/engine/budget"
	"dev.scrapetop/engine/provider"
)

func TestContrast(t *testing.T) {
	at := func(ms int) time.Time { return labStart.Add(time.Duration(ms) * time.Millisecond) }
	type seen struct {
		ms, sent int
		domain   string // empty: one let through
	}
	for _, c := range []struct {
		name string
		all  []seen
		want string // what each says, r: the key is to blame, a: it is not after all
	}{
		{"three at once tell nothing yet", []seen{{10, 0, "a"}, {11, 0, "b"}, {12, 0, "c"}}, "---"},
		{"three, and a second of nothing else", []seen{{10, 0, "a"}, {11, 0, "b"}, {500, 400, "c"}, {1200, 1100, "a"}}, "---r"},
		{"two domains may be a coincidence", []seen{{10, 0, "a"}, {600, 500, "b"}, {1700, 1600, "a"}, {2800, 2700, "b"}}, "----"},
		{"one is let through", []seen{{10, 0, "a"}, {11, 0, "b"}, {300, 100, ""}, {500, 400, "c"}, {1200, 1100, "d"}}, "-----"},
		{"what was sent before the refusals says nothing", []seen{{10, 5, "a"}, {11, 5, "b"}, {300, 1, ""}, {500, 400, "c"}, {1200, 1100, "d"}}, "----r"},
		{"too far apart", []seen{{10, 0, "a"}, {6000, 5990, "b"}, {12000, 11990, "c"}}, "---"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var k contrast
			got := ""
			for _, s := range c.all {
				switch {
				case s.domain == "" && k.accepted(at(s.sent)):
					got += "a"
				case s.domain != "" && k.refused(at(s.ms), at(s.sent), s.domain):
					got += "r"
				default:
					got += "-"
				}
			}
			if got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// TestRefusedEverywhereHoldsWhoAsks: where every domain refuses at once, it is us who are refused: everything waits for one
// probe, instead of each domain trying on. Where one goes on it is theirs, and is told so when the blame was wrong.
func TestRefusedEverywhereHoldsWhoAsks(t *testing.T) {
	for _, direct := range []bool{true, false} {
		for _, healthy := range []bool{false, true} {
			t.Run(fmt.Sprintf("direct %v, one goes on %v", direct, healthy), func(t *testing.T) {
				cfg := Config{Direct: direct, Provider: "p", Seed: 3, Domain: budget.Limits{InFlight: 3}}
				scope := budget.Provider
				if !direct {
					cfg.Credentials, scope = []CredentialLimits{{Name: "k", Limits: budget.Limits{InFlight: 8}}}, budget.Credential
					cfg.Facts = provider.Facts{AccountScope: "credential"}
				}
				l := newLab(t, cfg)
				banned := labStart.Add(time.Minute)
				for i := range 8 {
					l.list(fmt.Sprintf("d%d.test", i), 30, func(now time.Time, _ int) answer {
						if now.Before(banned) {
							return refuse(silent, 5*ms)
						}
						return pass(50 * ms)
					})
				}
				if healthy {
					l.list("good.test", 600, func(time.Time, int) answer { return pass(400 * ms) })
				}
				l.run(time.Hour)
				blamed := 0
				for _, text := range l.told {
					if strings.Contains(text, "about who asks") {
						blamed++
					}
				}
				want := 240
				if healthy {
					want += 600
				}
				if l.accepted != want || (blamed > 0) == healthy {
					t.Fatalf("%d accepted of %d, blamed %d times, %d refused, %v of %s", l.accepted, want, blamed, l.refused, l.m.named(scope, "p"), scope)
				}
				t.Logf("%d refused", l.refused)
			})
		}
	}
}
