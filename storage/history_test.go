package storage

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestWindowsOfRuns: wherever a window is placed among the runs, newest first, it holds what the whole list holds there.
func TestWindowsOfRuns(t *testing.T) {
	s := openTemp(t, Options{Fast: true})
	for i := range 30 {
		spec := RunSpec{Name: []string{"catalog", "Prices"}[i%2], Provider: []string{"direct", "evomi", "spidra"}[i%3]}
		if _, err := s.CreateRun(t.Context(), spec); err != nil {
			t.Fatal(err)
		}
	}
	ids := func(rows []Run) []int64 {
		var list []int64
		for _, r := range rows {
			list = append(list, r.ID)
		}
		return list
	}
	for text, want := range map[string]int{"": 30, "prices": 15, "SPIDRA": 10, "nope": 0} {
		all, err := s.RunRows(t.Context(), RunQuery{Text: text, Window: Window{After: 100}})
		if err != nil || len(all.Rows) != want || !all.First || !all.Last {
			t.Fatalf("%q: %d runs, %v", text, len(all.Rows), err)
		}
		if !slices.IsSortedFunc(all.Rows, func(a, b Run) int { return int(b.ID - a.ID) }) {
			t.Errorf("%q: %v are not the newest first", text, ids(all.Rows))
		}
		for around := int64(0); around < 33; around++ {
			place := NewestFirst(around)
			if around == 32 {
				place = math.MaxInt64
			}
			at := slices.IndexFunc(all.Rows, func(r Run) bool { return NewestFirst(r.ID) >= place })
			if at < 0 {
				at = len(all.Rows)
			}
			from, to := max(at-3, 0), min(at+4, len(all.Rows))
			got, err := s.RunRows(t.Context(), RunQuery{Text: text, Window: Window{Around: place, Before: 3, After: 4}})
			if err != nil || !slices.Equal(ids(got.Rows), ids(all.Rows[from:to])) || got.First != (from == 0) || got.Last != (to == len(all.Rows)) {
				t.Fatalf("%q around %d: %v %v %v, want %v, %v", text, around, ids(got.Rows), got.First, got.Last, ids(all.Rows[from:to]), err)
			}
		}
	}
	run, err := s.Run(t.Context(), 25) // catalog, direct
	if err != nil {
		t.Fatal(err)
	}
	before, err := s.RunsBefore(t.Context(), run, 3)
	if got := ids(before); err != nil || !slices.Equal(got, []int64{19, 13, 7}) {
		t.Errorf("before run 25 were %v, %v", got, err)
	}
}

func TestLatencyOfTheLatestExchanges(t *testing.T) {
	s := openTemp(t, Options{Fast: true})
	run, tasks := newRun(t, s, "direct", "http://a.test/1")
	if p50, p95, err := s.Latency(t.Context(), run.ID, 10); p50 != 0 || p95 != 0 || err != nil {
		t.Errorf("without an exchange: %v %v %v", p50, p95, err)
	}
	tx := Tx{Run: run.ID}
	for i := range 30 { // 1 s to 30 s
		tx.Attempts = append(tx.Attempts, Attempt{Task: tasks[0].ID, Number: i + 1, StartedAt: time.Now(), Elapsed: time.Duration(i+1) * time.Second,
			Outcome: "failed", Kind: "fetch", Exchange: fmt.Sprint(i), BodyKind: "empty", Decision: "again"})
	}
	write(t, s, tx)
	if p50, p95, err := s.Latency(t.Context(), run.ID, 20); p50 != 20*time.Second || p95 != 29*time.Second || err != nil {
		t.Errorf("of the last 20 of 30: %v %v %v", p50, p95, err)
	}
	if n, err := s.Bytes(); err != nil || n == 0 {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// TestWindowsOfResults: each task once, with its first page and how many there are, without the bodies.
func TestWindowsOfResults(t *testing.T) {
	s := openTemp(t, Options{Fast: true})
	other, rest := newRun(t, s, "direct", "http://z.test/1")
	write(t, s, accept(other.ID, rest[0], "of another run"))
	var urls []string
	for i := range 40 {
		urls = append(urls, fmt.Sprintf("http://a.test/Item-%d", i))
	}
	run, tasks := newRun(t, s, "direct", urls...)
	for i, task := range tasks {
		if i%4 == 3 {
			continue // has no result
		}
		tx := accept(run.ID, task, strings.Repeat("x", i))
		tx.Results[0].Fields = []byte(`{"title":"` + strings.Repeat("t", 2*fieldsShown) + `"}`)
		if i == 5 {
			for n := range 3 {
				page := tx.Results[0]
				page.Page, page.FinalURL = fmt.Sprint("p", n), fmt.Sprint("http://a.test/p", n)
				tx.Results = append(tx.Results, page)
			}
			tx.Results = tx.Results[1:]
		}
		write(t, s, tx)
	}
	numbers := func(rows []ResultRow) []int64 {
		var list []int64
		for _, r := range rows {
			list = append(list, r.Task)
		}
		return list
	}
	for text, want := range map[string]int{"": 30, "item-1": 8, "nope": 0} {
		q := ResultQuery{Run: run.ID, Text: text, Window: Window{After: 100}}
		all, err := s.ResultRows(t.Context(), q)
		if err != nil || len(all.Rows) != want || !all.First || !all.Last || !slices.IsSorted(numbers(all.Rows)) {
			t.Fatalf("%q: %v, %v", text, numbers(all.Rows), err)
		}
		for around := tasks[0].ID - 2; around < tasks[0].ID+44; around++ {
			q.Window = Window{Around: around, Before: 3, After: 4}
			at, _ := slices.BinarySearch(numbers(all.Rows), around)
			from, to := max(at-3, 0), min(at+4, len(all.Rows))
			got, err := s.ResultRows(t.Context(), q)
			if err != nil || !slices.Equal(numbers(got.Rows), numbers(all.Rows[from:to])) || got.First != (from == 0) || got.Last != (to == len(all.Rows)) {
				t.Fatalf("%q around %d: %v %v %v, %v", text, around, numbers(got.Rows), got.First, got.Last, err)
			}
		}
		for _, r := range all.Rows {
			pages, final := int64(1), r.URL
			if r.URL == "http://a.test/Item-5" {
				pages, final = 3, "http://a.test/p0"
			}
			if r.Pages != pages || r.FinalURL != final || r.Status != 200 || r.Domain != "a.test" || len(r.Fields) != fieldsShown || r.Elapsed != 80*time.Millisecond {
				t.Errorf("%+v", r)
			}
		}
	}
}

// TestAPageOfAResult: its body by windows, wherever they lie, its headers, and each page of a crawl.
func TestAPageOfAResult(t *testing.T) {
	s := openTemp(t, Options{Fast: true})
	run, tasks := newRun(t, s, "direct", "http://a.test/1", "http://a.test/2")
	body := bytes.Repeat([]byte("0123456789"), 1000)
	tx := accept(run.ID, tasks[0], string(body))
	bin := tx.Results[0]
	bin.Page, bin.Body = "second", []byte{0xff, 0xfe, 0}
	tx.Results = append(tx.Results, bin)
	write(t, s, tx)
	ask := func(page int64, w Window) *PageRow {
		t.Helper()
		p, err := s.PageRow(t.Context(), PageQuery{Run: run.ID, Task: tasks[0].ID, Page: page, Window: w})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, w := range []Window{{After: 100}, {Around: 50, Before: 20, After: 30}, {Around: 9990, Before: 5, After: 100}, {Around: math.MaxInt64, Before: 40}, {After: 20_000}} {
		p := ask(0, w)
		from := min(max(min(w.Around, maxBody)-int64(w.Before), 0), max(int64(len(body)-w.Before-w.After), 0))
		to := min(from+int64(w.Before+w.After), int64(len(body)))
		if p.From != from || !bytes.Equal(p.Body, body[from:to]) || p.Bytes != int64(len(body)) || !p.Text || p.Pages != 2 || p.Page != 0 {
			t.Errorf("%+v gives %d bytes from %d of %d, want %d to %d", w, len(p.Body), p.From, p.Bytes, from, to)
		}
		if p.Headers["content-type"] != "text/html" || p.ContentType != "text/html" || p.URL != "http://a.test/1" {
			t.Errorf("%+v", p)
		}
	}
	for _, page := range []int64{1, 7} { // beyond the last it is the last
		if p := ask(page, Window{After: 10}); p.PageName != "second" || p.Text || !bytes.Equal(p.Body, []byte{0xff, 0xfe, 0}) || p.Page != 1 {
			t.Errorf("page %d is %+v", page, p)
		}
	}
	if p, err := s.PageRow(t.Context(), PageQuery{Run: run.ID, Task: tasks[1].ID, Window: Window{After: 10}}); p != nil || err != nil {
		t.Errorf("a task without a result has %+v, %v", p, err)
	}
}

// TestExportOfColumns: those that are named, in that order, and its progress.
func TestExportOfColumns(t *testing.T) {
	s := openTemp(t, Options{Fast: true})
	run, tasks := newRun(t, s, "direct", "http://a.test/1")
	write(t, s, accept(run.ID, tasks[0], "page"))
	for format, want := range map[string]string{
		"jsonl": `{"status":200,"url":"http://a.test/1"}` + "\n", "csv": "status,url\n200,http://a.test/1\n", "json": "[\n" + `{"status":200,"url":"http://a.test/1"}` + "\n]\n",
	} {
		var out bytes.Buffer
		if n, err := s.Export(t.Context(), &out, ExportSpec{Format: format, Run: run.ID, Columns: []string{"status", "url"}}); n != 1 || err != nil || out.String() != want {
			t.Errorf("%s: %d records %q, %v", format, n, out.String(), err)
		}
	}
	for _, columns := range [][]string{{"nope"}, {"url", "url"}} {
		if _, err := s.Export(t.Context(), &bytes.Buffer{}, ExportSpec{Columns: columns}); !errors.Is(err, ErrInvalid) {
			t.Errorf("%q: %v", columns, err)
		}
	}
	write(t, s, Tx{Run: run.ID, Events: []Event{{At: time.Now(), Level: "warn", Scope: "domain", Key: "a.test", Text: "cools"}, {At: time.Now(), Level: "warn", Scope: "account", Key: "a.test"}}})
	for _, c := range []struct {
		spec ExportSpec
		want int64
	}{
		{ExportSpec{Domain: "a.test"}, 1}, {ExportSpec{Domain: "b.test"}, 0}, {ExportSpec{What: "tasks", State: "accepted", Domain: "a.test", Run: run.ID}, 1},
		{ExportSpec{What: "tasks", State: "dead"}, 0}, {ExportSpec{What: "attempts", Domain: "a.test", Format: "csv"}, 1}, {ExportSpec{What: "events", Domain: "a.test", Run: run.ID}, 1},
	} {
		if n, err := s.Export(t.Context(), &bytes.Buffer{}, c.spec); n != c.want || err != nil {
			t.Errorf("%+v: %d records, %v", c.spec, n, err)
		}
	}
	if _, err := s.Export(t.Context(), &bytes.Buffer{}, ExportSpec{State: "dead"}); !errors.Is(err, ErrInvalid) {
		t.Errorf("results of a state: %v", err)
	}
	if got := ExportColumns("events"); !slices.Equal(got, []string{"at", "run", "level", "scope", "key", "text", "task_id"}) || ExportColumns("nope") != nil {
		t.Errorf("columns of events: %q", got)
	}
	tx := Tx{Run: run.ID}
	for i := range 2*toldEvery + 3 {
		tx.Events = append(tx.Events, Event{At: time.Now(), Level: "info", Text: fmt.Sprint(i)})
	}
	write(t, s, tx)
	var told []int64
	n, err := s.Export(t.Context(), &bytes.Buffer{}, ExportSpec{What: "events", Run: run.ID, Told: func(n int64) { told = append(told, n) }})
	if n < 2*toldEvery+3 || err != nil || !slices.Equal(told, []int64{toldEvery, 2 * toldEvery}) {
		t.Errorf("%d exported, told %v, %v", n, told, err)
	}
}
