package storage

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestPruneKnowsEveryTableOfARun: a table that was forgotten would keep its run from being removed.
func TestPruneKnowsEveryTableOfARun(t *testing.T) {
	s := openTemp(t, Options{Fast: true})
	tables := query(t, s, `SELECT l.name FROM pragma_table_list l, pragma_foreign_key_list(l.name) f WHERE l.schema = 'main' AND f."table" = 'run'`)
	slices.Sort(tables)
	want := slices.Sorted(slices.Values(ofRuns))
	if !slices.Equal(tables, want) {
		t.Errorf("%v belong to a run, Prune knows %v", tables, want)
	}
}

func TestPrunedSpaceIsGivenBack(t *testing.T) {
	s := openTemp(t, Options{Fast: true})
	body := strings.Repeat("a page ", 20_000)
	for range 2 {
		run, tasks := newRun(t, s, "direct", "https://a.test/1", "https://a.test/2", "https://a.test/3")
		for _, task := range tasks {
			write(t, s, accept(run.ID, task, body))
		}
		write(t, s, Tx{Run: run.ID, Unseen: []Unseen{{Tenant: "x", Requests: 1, Tasks: 1}}, State: RunFinished, Finished: time.Now()})
	}
	kept, _ := newRun(t, s, "direct", "https://a.test/1")
	if n, err := s.Prune(t.Context(), time.Now().Add(time.Hour)); n != 2 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	unused, err := s.Unused(t.Context())
	if err != nil || unused < 5*int64(len(body)) {
		t.Errorf("%d bytes are unused, %v", unused, err)
	}
	if err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if unused, err := s.Unused(t.Context()); unused != 0 || err != nil {
		t.Errorf("%d bytes are unused, %v", unused, err)
	}
	if info, err := os.Stat(s.Path()); err != nil || info.Size() > 2*int64(len(body)) {
		t.Errorf("%v, %v", info.Size(), err)
	}
	if left := query(t, s, "SELECT id FROM run"); len(left) != 1 {
		t.Errorf("runs %v, want %d", left, kept.ID)
	}
	write(t, s, Tx{Run: kept.ID, Totals: Totals{Requests: 1}}) // the writer goes on
}
