package engine

import (
	"testing"
	"time"

	"dev.scrapetop/engine/budget"
)

// TestWhatAnAccountTaughtIsTold: a number in flight that was found by one refusal is a lesson like those that are explained.
func TestWhatAnAccountTaughtIsTold(t *testing.T) {
	b := budget.New(budget.Account, "plan", budget.Limits{})
	if s := learnedWords(b); s != "" {
		t.Errorf("%q was learned of nothing", s)
	}
	b.SlotsRefused(time.Now(), 6)
	if s := learnedWords(b); s != "5 in flight, refused at 6" {
		t.Errorf("%q", s)
	}
}
