package screen

import (
	"slices"
	"testing"
	"time"

	"dev.scrapetop/storage"
)

// TestVerdicts of the comparison of two runs.
func TestVerdicts(t *testing.T) {
	run := func(requests, refused, accepted int64, took time.Duration, state storage.RunState) *Measured {
		return &Measured{Run: storage.Run{Name: "a", State: state, Accepted: accepted, Totals: storage.Totals{Requests: requests, Target: refused, Elapsed: took}}}
	}
	const done, stopped = storage.RunFinished, storage.RunStopped
	alike := func(requests ...int64) (list []storage.Run) {
		for _, n := range requests {
			list = append(list, run(n, 0, 0, time.Minute, done).Run)
		}
		return list
	}
	other := run(100, 0, 0, time.Minute, done)
	other.Name = "b"
	for _, c := range []struct {
		name         string
		figure       string
		newer, older *Measured
		alike        []storage.Run
		change, word string
	}{
		{"fewer requests are better", "requests", run(50, 0, 0, 0, done), run(100, 0, 0, 0, done), nil, "-50%", "better"},
		{"more are worse", "requests", run(150, 0, 0, 0, done), run(100, 0, 0, 0, done), nil, "+50%", "worse"},
		{"more accepted are better", "accepted", run(0, 0, 150, 0, done), run(0, 0, 100, 0, done), nil, "+50%", "better"},
		{"equal", "requests", run(100, 0, 0, 0, done), run(100, 0, 0, 0, done), nil, "", "same"},
		{"hardly different", "requests", run(101, 0, 0, 0, done), run(100, 0, 0, 0, done), nil, "+1.0%", "same"},
		{"within what such runs vary", "requests", run(115, 0, 0, 0, done), run(100, 0, 0, 0, done), alike(80, 100, 120), "+15%", "same"},
		{"beyond it", "requests", run(150, 0, 0, 0, done), run(100, 0, 0, 0, done), alike(80, 100, 120), "+50%", "worse"},
		{"too few to tell", "requests", run(115, 0, 0, 0, done), run(100, 0, 0, 0, done), alike(80, 120), "+15%", "worse"},
		{"there was none", "dead", &Measured{Run: storage.Run{Name: "a", State: done, Dead: 3}}, run(0, 0, 0, 0, done), nil, "new", "worse"},
		{"one did not end", "requests", run(50, 0, 0, 0, stopped), run(100, 0, 0, 0, done), nil, "-50%", ""},
		{"of another input", "requests", run(50, 0, 0, 0, done), other, nil, "-50%", ""},
		{"a share is judged all the same", "429", run(100, 5, 0, 0, stopped), run(100, 10, 0, 0, done), nil, "-50%", "better"},
		{"not measured", "per minute", run(0, 0, 100, 0, done), run(0, 0, 100, time.Minute, done), nil, "", ""},
		{"latency is never that exact", "p95", &Measured{P95: 1100 * time.Millisecond}, &Measured{P95: time.Second}, nil, "+10%", "same"},
		{"latency that doubled", "p95", &Measured{P95: 2 * time.Second}, &Measured{P95: time.Second}, nil, "+100%", "worse"},
		{"not judged", "  target", run(0, 30, 0, 0, done), run(0, 10, 0, 0, done), nil, "+200%", ""},
	} {
		i := slices.IndexFunc(figures, func(f figure) bool { return f.label == c.figure })
		if change, word := verdict(&figures[i], c.newer, c.older, c.alike); change != c.change || word != c.word {
			t.Errorf("%s: %q %q, want %q %q", c.name, change, word, c.change, c.word)
		}
	}
}

func TestSettingsThatDiffer(t *testing.T) {
	a := `{"flags":{"rate":["20/s"],"set":["a=1","b=2"]},"file":{"run":{"deadline":"6h"},"x":null},"inputs":[{"path":"/a"}]}`
	b := `{"flags":{"rate":["10/s"],"set":["a=1"]},"file":{"run":{"deadline":"6h"}},"inputs":[{"path":"/b"}]}`
	want := []setting{{"--rate", "20/s", "10/s"}, {"--set", "a=1 b=2", "a=1"}}
	if got := settingsDiffer([]byte(a), []byte(b)); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	if got := settingsDiffer([]byte(a), []byte(a)); got != nil {
		t.Errorf("of itself: %v", got)
	}
	if got := settingsDiffer([]byte("{"), nil); got != nil {
		t.Errorf("of none: %v", got)
	}
}

func TestWhereAnExportGoes(t *testing.T) {
	for name, want := range map[string]string{
		"catalog.csv": "catalog-7-results.jsonl", "../../etc/passwd": "run-7-results.jsonl", "a b/c": "a-b-c-7-results.jsonl", "日本": "run-7-results.jsonl", "": "run-7-results.jsonl",
	} {
		if got := NewExportForm(&storage.Run{ID: 7, Name: name}, History).Path(); got != want {
			t.Errorf("%q goes to %q, want %q", name, got, want)
		}
	}
	f := NewExportForm(&storage.Run{ID: 7_000, Name: "a"}, Tasks)
	f.Format = 2
	if f.Path() != "a-7000-tasks.csv" {
		t.Error(f.Path())
	}
	f.Left["tasks"] = map[string]bool{}
	f.AllColumns()
	f.ToggleColumn() // the only one stays
	if spec := f.Spec(); len(spec.Columns) != 1 || spec.Columns[0] != "id" || spec.Run != 7_000 {
		t.Errorf("%+v", spec)
	}
}
