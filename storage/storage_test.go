package storage

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestMain lets the test binary be the second process of the tests that need one, and fails when goroutines are left over.
func TestMain(m *testing.M) {
	if role := os.Getenv("STORAGE_TEST_ROLE"); role != "" {
		if err := helper(role, os.Args[len(os.Args)-1]); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	code := m.Run()
	if left := leaked(); code == 0 && left != "" {
		fmt.Println("goroutines left over:\n" + left)
		code = 1
	}
	os.Exit(code)
}

// leaked returns the stacks of goroutines that this package or the driver left running.
func leaked() string {
	deadline := time.Now().Add(5 * time.Second)
	for {
		buf := make([]byte, 1<<20)
		buf = buf[:runtime.Stack(buf, true)]
		var left []string
		for _, g := range strings.Split(string(buf), "\n\n") {
			if (strings.Contains(g, "scrapetop/storage.") || strings.Contains(g, "database/sql.")) && !strings.Contains(g, "TestMain") {
				left = append(left, g)
			}
		}
		if len(left) == 0 || time.Now().After(deadline) {
			return strings.Join(left, "\n\n")
		}
		runtime.Gosched() // a goroutine that was told to end may need a moment
	}
}

// openTemp opens a new database that is closed with the test.
func openTemp(t testing.TB, o Options) *Store {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "scrapetop.db"), o)
}

func openAt(t testing.TB, path string, o Options) *Store {
	t.Helper()
	s, err := Open(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// newRun creates a run of provider that this store drives, with tasks for the given URLs (all of the domain "a.test").
func newRun(t testing.TB, s *Store, provider string, urls ...string) (Run, []Task) {
	t.Helper()
	ctx := t.Context()
	run, err := s.CreateRun(ctx, RunSpec{Name: "list.txt", Input: "/in/list.txt", Provider: provider, Options: "o"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Own(ctx, run.ID); err != nil {
		t.Fatal(err)
	}
	var list []NewTask
	for _, u := range urls {
		list = append(list, NewTask{URL: u, Domain: "a.test"})
	}
	if _, err := s.Enqueue(ctx, run.ID, list); err != nil {
		t.Fatal(err)
	}
	tasks, err := s.Pending(ctx, run.ID, []Want{{Domain: "a.test", N: len(urls)}})
	if err != nil {
		t.Fatal(err)
	}
	if len(tasks) != len(urls) {
		t.Fatalf("%d tasks, want %d", len(tasks), len(urls))
	}
	return run, tasks
}

// write commits one Tx.
func write(t testing.TB, s *Store, tx Tx) {
	t.Helper()
	if err := tryWrite(s, tx); err != nil {
		t.Fatal(err)
	}
}

func tryWrite(s *Store, tx Tx) error {
	done := make(chan error, 1)
	s.Write(tx, func(err error) { done <- err })
	return <-done
}

// accept is the transaction of an accepted task.
func accept(run int64, t Task, body string) Tx {
	now := time.Now()
	status := 200
	return Tx{
		Run:   run,
		Tasks: []TaskChange{{ID: t.ID, State: TaskAccepted, Tries: 1, Attempts: 1, FirstTryAt: now}},
		Attempts: []Attempt{{Task: t.ID, Number: 1, URL: t.URL, Domain: t.Domain, Provider: "direct", Kind: "fetch", Exchange: fmt.Sprint("x", t.ID),
			StartedAt: now, Elapsed: 80 * time.Millisecond, Outcome: "accepted", HTTPStatus: &status, Decision: "store", BodyKind: "html",
			Headers: map[string]string{"content-type": "text/html"}, Bytes: int64(len(body))}},
		Results: []Result{{Task: t.ID, FinalURL: t.URL, Status: &status, ContentType: "text/html", FetchedAt: now, Elapsed: 80 * time.Millisecond,
			Attempts: 1, Body: []byte(body)}},
		Totals: Totals{Requests: 1, Bytes: int64(len(body)), MaxInFlight: 1},
	}
}

// query runs a query on a plain connection, as a user of the file would, and returns the rows joined by "|".
func query(t testing.TB, s *Store, q string, args ...any) []string {
	t.Helper()
	rows, err := s.read.QueryContext(t.Context(), q, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	cols, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for rows.Next() {
		vals := make([]sql.NullString, len(cols))
		ptrs := make([]any, len(cols))
		for i := range vals {
			ptrs[i] = &vals[i]
		}
		if err := rows.Scan(ptrs...); err != nil {
			t.Fatal(err)
		}
		var parts []string
		for _, v := range vals {
			if v.Valid {
				parts = append(parts, v.String)
			} else {
				parts = append(parts, "NULL")
			}
		}
		all = append(all, strings.Join(parts, "|"))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
