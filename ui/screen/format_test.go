package screen

import (
	"math"
	"testing"
	"time"

	"dev.scrapetop/engine/view"
	"dev.scrapetop/ui/screen/sample"
)

func TestRemainingTellsZeroUnknownAndNotSentApart(t *testing.T) {
	known := view.Remaining{Known: true, Asked: true, HasLimit: true}
	with := func(left, limit int64) view.Remaining {
		r := known
		r.Remaining, r.Limit = left, limit
		return r
	}
	tests := []struct {
		name  string
		r     view.Remaining
		width int
		want  string
	}{
		{"no answer yet", view.Remaining{}, 10, "-"},
		{"answers without a header", view.Remaining{Asked: true}, 10, "no header"},
		{"answers without a header, narrow", view.Remaining{Asked: true}, 5, "none"},
		{"nothing left", with(0, 120), 10, "0/120"},
		{"no limit told", view.Remaining{Known: true, Remaining: 17}, 10, "17"},
		{"large limit", with(9120, 10000), 10, "9,120/10k"},
		{"both large", with(math.MaxInt64, math.MaxInt64), 10, "9.2E/9.2E"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := remaining(tt.r, tt.width); got != tt.want {
				t.Errorf("%q, not %q", got, tt.want)
			}
		})
	}
}

func TestStaleAndLow(t *testing.T) {
	now := sample.Now
	tests := []struct {
		name       string
		r          view.Remaining
		stale, low bool
	}{
		{"unknown", view.Remaining{}, false, false},
		{"fresh and full", view.Remaining{Known: true, At: now, HasLimit: true, Limit: 100, Remaining: 15}, false, false},
		{"little left", view.Remaining{Known: true, At: now, HasLimit: true, Limit: 100, Remaining: 14}, false, true},
		{"two minutes old", view.Remaining{Known: true, At: now.Add(-2 * time.Minute), Remaining: 5}, true, false},
		{"older than its window", view.Remaining{Known: true, At: now.Add(-5 * time.Second), ResetAt: now.Add(-time.Second)}, true, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if stale(tt.r, now) != tt.stale || low(tt.r) != tt.low {
				t.Errorf("stale %v, low %v", stale(tt.r, now), low(tt.r))
			}
		})
	}
}

func TestNumbersNeverLie(t *testing.T) {
	tests := []struct{ name, got, want string }{
		{"not a number", rate(math.NaN()), "-"},
		{"endless", rate(math.Inf(1)), "-"},
		{"nothing", rate(0), "0"},
		{"some is not none", rate(.01), "0.1"},
		{"a few", rate(2.94), "2.9"},
		{"many", rate(751.4), "751"},
		{"beyond an int", rate(1e300), "9.2E"},
		{"credits with parts", amount(2.5), "2.5"},
		{"no credits known", amount(math.NaN()), "-"},
		{"share beyond meaning", percent(1e300), "999%"},
		{"share of nothing", percent(share(0, 0)), "0%"},
		{"sum that would run over", countIn(add(math.MaxInt64, 5), 3), "9.2E"},
		{"deadline that passed", until(sample.Now.Add(-time.Hour), sample.Now), "00:00"},
		{"a moment is left", until(sample.Now.Add(time.Millisecond), sample.Now), "00:01"},
		{"deadline without end", until(sample.Now.Add(math.MaxInt64), sample.Now), "999d 00:00:00"},
		{"no forecast and no reason", longETA(view.ETA{}), "ETA -"},
		{"the reason", longETA(view.ETA{Why: "growing +120/min"}), "ETA - growing +120/min"},
		{"forecast", longETA(view.ETA{Known: true, Left: 37 * time.Minute}), "ETA 37m ±1m"},
		{"cell without a forecast", estimate(view.ETA{Why: "paused"}), "-"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.got != tt.want {
				t.Errorf("%q, not %q", tt.got, tt.want)
			}
		})
	}
}

func TestCooldownsThatPassedAreNotShown(t *testing.T) {
	p := newPicture(looks(t)["mono"], Overview, 120, 36)
	p.Now = sample.Now.Add(10 * time.Second)
	if n := len(p.active()); n != 2 {
		t.Errorf("%d cooldowns are active after one of three passed", n)
	}
}
