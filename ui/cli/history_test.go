package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dev.scrapetop/storage"
	"dev.scrapetop/ui/dashboard"
	draw "dev.scrapetop/ui/screen"
)

// past is a database with runs of two names, of which the first has results.
func past(t *testing.T) *storage.Store {
	t.Helper()
	st, err := storage.Open(t.Context(), filepath.Join(t.TempDir(), "t.db"), storage.Options{Fast: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	for i := range 6 {
		run, err := st.CreateRun(t.Context(), storage.RunSpec{Name: []string{"catalog", "prices"}[i%2], Provider: "direct"})
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			continue
		}
		if _, err := st.Own(t.Context(), run.ID); err != nil {
			t.Fatal(err)
		}
		tx := storage.Tx{Run: run.ID}
		var tasks []storage.NewTask
		for n := range 60 {
			tasks = append(tasks, storage.NewTask{URL: fmt.Sprint("http://a.test/", n), Domain: "a.test"})
			tx.Tasks = append(tx.Tasks, storage.TaskChange{ID: int64(n + 1), State: storage.TaskAccepted, Attempts: 1})
			tx.Attempts = append(tx.Attempts, storage.Attempt{Task: int64(n + 1), Number: 1, StartedAt: time.Now(), Elapsed: 2 * time.Second, Outcome: "accepted", Kind: "fetch",
				Exchange: fmt.Sprint(n), BodyKind: "html", Decision: "store", Headers: map[string]string{"server": "s"}})
			tx.Results = append(tx.Results, storage.Result{Task: int64(n + 1), FinalURL: "http://a.test/", Body: []byte("the page"), FetchedAt: time.Now()})
		}
		if _, err := st.Enqueue(t.Context(), run.ID, tasks); err != nil {
			t.Fatal(err)
		}
		written := make(chan error, 1)
		st.Write(tx, func(err error) { written <- err })
		if err := <-written; err != nil {
			t.Fatal(err)
		}
	}
	return st
}

// TestHistoryOfTheDashboard: runs newest first, the last results of the one under the cursor, and the two to compare.
func TestHistoryOfTheDashboard(t *testing.T) {
	st := past(t)
	for name, c := range map[string]struct {
		around   int64
		text     string
		tagged   [2]int64
		runs     int
		run      int64
		results  int
		versus   []int64
		alike    int
		measured bool
	}{
		"from the newest":             {runs: 6, run: 6, versus: []int64{6, 4}, alike: 2},
		"on the oldest":               {around: storage.NewestFirst(1), runs: 6, run: 1, results: newestRead},
		"at the end":                  {around: math.MaxInt64, runs: 6, run: 1, results: newestRead},
		"of a name":                   {text: "CATA", runs: 3, run: 5, versus: []int64{5, 3}, alike: 2},
		"of nothing":                  {text: "nope"},
		"one tagged":                  {tagged: [2]int64{1}, runs: 6, run: 6, versus: []int64{6, 1}, alike: 2, measured: true},
		"the one under the cursor":    {tagged: [2]int64{6}, runs: 6, run: 6},
		"two tagged":                  {tagged: [2]int64{1, 5}, runs: 6, run: 6, versus: []int64{5, 1}, alike: 2, measured: true},
		"one that is not there (any)": {tagged: [2]int64{77, 5}, runs: 6, run: 6, versus: []int64{6, 5}, alike: 2},
	} {
		got, err := rowsOf{st}.Read(t.Context(), draw.Ask{Tab: draw.History, Text: c.text, Tagged: c.tagged, Window: storage.Window{Around: c.around, Before: 100, After: 100}})
		var versus []int64
		for _, m := range got.Versus {
			versus = append(versus, m.ID)
		}
		if err != nil || len(got.Runs.Rows) != c.runs || got.Run != c.run || len(got.Results.Rows) != c.results || !slices.Equal(versus, c.versus) || len(got.Alike) != c.alike || got.Bytes == 0 {
			t.Errorf("%s: %d runs, %d results of %d, against %v, %d alike, %v", name, len(got.Runs.Rows), len(got.Results.Rows), got.Run, versus, len(got.Alike), err)
		}
		if c.measured && got.Versus[1].P95 != 2*time.Second {
			t.Errorf("%s: %v", name, got.Versus[1].P95)
		}
	}
	results, err := rowsOf{st}.Read(t.Context(), draw.Ask{Tab: draw.Results, Run: 1, Text: "/5", Window: storage.Window{After: 100}})
	if err != nil || len(results.Results.Rows) != 11 {
		t.Errorf("%d results, %v", len(results.Results.Rows), err)
	}
	page, err := rowsOf{st}.Read(t.Context(), draw.Ask{Tab: draw.Page, Run: 1, Task: 3, Window: storage.Window{After: 3}})
	if err != nil || page.Page == nil || string(page.Page.Body) != "the" || page.Page.Headers["server"] != "s" {
		t.Errorf("%+v, %v", page.Page, err)
	}
}

// TestExportsOfTheDashboard are those of the command: whole or not there, and nothing is replaced unasked.
func TestExportsOfTheDashboard(t *testing.T) {
	st := past(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "out.jsonl")
	var rows, size int64
	told := func(r, b int64) { rows, size = r, b }
	spec := storage.ExportSpec{Run: 1, Columns: []string{"task_id", "body"}}
	n, err := exporter{st}.Export(t.Context(), spec, path, false, told)
	text, read := os.ReadFile(path)
	if err != nil || read != nil || n != 60 || rows != 60 || size != int64(len(text)) || !strings.HasPrefix(string(text), `{"task_id":1,"body":"the page"}`+"\n") {
		t.Fatalf("%d records, told %d and %d bytes of %d, %v", n, rows, size, len(text), err)
	}
	if _, err := (exporter{st}).Export(t.Context(), spec, path, false, told); !errors.Is(err, dashboard.ErrExists) {
		t.Errorf("over a file: %v", err)
	}
	spec.What = "events"
	if _, err := (exporter{st}).Export(t.Context(), storage.ExportSpec{What: "events"}, path, true, told); err != nil {
		t.Errorf("with leave: %v", err)
	}
	if _, err := (exporter{st}).Export(t.Context(), spec, filepath.Join(dir, "new"), false, told); !errors.Is(err, storage.ErrInvalid) {
		t.Errorf("columns of something else: %v", err)
	}
	if _, err := (exporter{st}).Export(t.Context(), storage.ExportSpec{}, st.Path(), true, told); err == nil || !strings.Contains(err.Error(), "the database itself") {
		t.Errorf("over the database: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := (exporter{st}).Export(ctx, storage.ExportSpec{}, filepath.Join(dir, "stopped"), false, told); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
	if names, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(names) != 1 {
		t.Errorf("left are %v, %v", names, err)
	}
	if hidden, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(hidden) != 0 {
		t.Errorf("left are %v, %v", hidden, err)
	}
}

func TestExportOfColumnsByTheCommand(t *testing.T) {
	s := newShell(t)
	if got := s.run("demo", "--headless", "--speed", "500", "--max-requests", "5", "--db", defaultDB); got.code != exitLeft {
		t.Fatalf("exit %d, %s", got.code, got.err)
	}
	if got := s.run("export", "--columns", "status, domain", "--format", "csv"); got.code != exitOK || !strings.HasPrefix(got.out, "status,domain\n") {
		t.Errorf("exit %d, %q, %q", got.code, got.out, got.err)
	}
	for _, wrong := range []string{"nope", "status,", "status,status"} {
		if got := s.run("export", "--columns", wrong); got.code != exitUsage || got.out != "" {
			t.Errorf("%s: exit %d, %q, %q", wrong, got.code, got.out, got.err)
		}
	}
}

// TestRunAgainFromTheHistory: a new run of the same input and settings, driven in the dashboard; an unfinished one goes on.
func TestRunAgainFromTheHistory(t *testing.T) {
	w, at := listen(t)
	sh := newShell(t)
	list := sh.file("urls.txt", pages(at.Sites[0], 3, ""))
	if got := sh.run("run", list, "--db", defaultDB, "--domain-max-in-flight", "1", "--max-requests", "2", "--robots", "off"); got.code != exitLeft {
		t.Fatalf("exit %d, %s", got.code, got.err)
	}
	s := newScreen(t)
	done := s.start(make(chan os.Signal, 1))
	s.until("the last ones by number")
	s.press("a")
	s.until("is unfinished: resume it?")
	s.press("a")
	s.until("#2 urls.txt")
	for w.Counters().Sites["one.example"].Requests < 4 { // two of each run, by the cap that was kept with it
		<-time.After(time.Millisecond)
	}
	s.until("scrapetop resume 2")
	s.press("q")
	if code := <-done; code != exitLeft {
		t.Errorf("exit %d: %q", code, s.shown())
	}
	noneLeft(t)
	got := sh.run("history", "--db", defaultDB)
	if lines := strings.Split(got.out, "\n"); len(lines) != 4 || !strings.HasPrefix(lines[1], "2 ") || !strings.Contains(lines[1], "urls.txt") {
		t.Errorf("%q", got.out)
	}
	piped := storage.Run{ID: 3}
	if _, _, err := again(piped, []inputMark{{}}); err == nil || !strings.Contains(err.Error(), "stdin") {
		t.Errorf("a run of stdin: %v", err)
	}
	args, sitemaps, err := again(piped, []inputMark{{Path: "/a"}, {URL: "http://b.test/"}, {Site: "http://c.test/s.xml"}})
	if err != nil || !slices.Equal(args, []string{"/a", "http://b.test/"}) || !slices.Equal(sitemaps, []string{"http://c.test/s.xml"}) {
		t.Errorf("%v %v %v", args, sitemaps, err)
	}
	if !finished(storage.Run{State: storage.RunFinished}) || finished(storage.Run{State: storage.RunFinished, Pending: 1}) || finished(storage.Run{State: storage.RunStopped}) {
		t.Error("only a finished run with nothing pending is finished")
	}
}
