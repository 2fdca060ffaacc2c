package storage

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestMoneyHasNoDust: what is shown of credits is the decimal that was charged, however often it was added up.
func TestMoneyHasNoDust(t *testing.T) {
	s := openTemp(t, Options{})
	run, tasks := newRun(t, s, "omniscrape", "http://a.test/1")
	sum := 0.0
	for range 40 {
		was := sum
		sum += 0.004
		write(t, s, Tx{Run: run.ID, Totals: Totals{Credits: sum - was}})
	}
	tx := accept(run.ID, tasks[0], "page")
	for i := range tx.Attempts {
		tx.Attempts[i].Credits = sum
	}
	tx.Results[0].Credits = sum
	write(t, s, tx)
	if sum == 0.16 {
		t.Fatal("the sum has no dust to begin with")
	}
	summary, err := s.Summary(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	line, err := json.Marshal(summary)
	if err != nil || !strings.Contains(string(line), `"credits":0.16,`) {
		t.Errorf("summary %s, %v", line, err)
	}
	for _, what := range []string{"results", "attempts"} {
		var b strings.Builder
		if n, err := s.Export(t.Context(), &b, ExportSpec{What: what}); err != nil || n == 0 || !strings.Contains(b.String(), `"credits":0.16,`) {
			t.Errorf("%s: %d, %v: %s", what, n, err, b.String())
		}
	}
	for _, amount := range []float64{0, 2, 0.000000001, 1234567.891, 999999999999} {
		if got := money(amount); got != amount {
			t.Errorf("%v is kept as %v", amount, got)
		}
	}
}
