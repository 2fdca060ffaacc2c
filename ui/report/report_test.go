package report

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dev.scrapetop/storage"
)

func openTemp(t *testing.T) *storage.Store {
	t.Helper()
	st, err := storage.Open(t.Context(), filepath.Join(t.TempDir(), "t.db"), storage.Options{Fast: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	return st
}

// newRun is a run that this store drives.
func newRun(t *testing.T, st *storage.Store) storage.Run {
	t.Helper()
	run, err := st.CreateRun(t.Context(), storage.RunSpec{Name: "list.txt", Provider: "direct"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.Own(t.Context(), run.ID); err != nil {
		t.Fatal(err)
	}
	return run
}

func commit(t *testing.T, st *storage.Store, tx storage.Tx) {
	t.Helper()
	done := make(chan error, 1)
	st.Write(tx, func(err error) { done <- err })
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// written is the text of a run's report, and its size.
func written(t *testing.T, st *storage.Store, run int64) (string, int) {
	t.Helper()
	var b bytes.Buffer
	if err := Write(t.Context(), &b, st, run, Options{Now: noon, Version: "test"}); err != nil {
		t.Fatal(err)
	}
	return checked(t, b.String()), b.Len()
}

func TestReportOfARunWithoutAnything(t *testing.T) {
	st := openTemp(t)
	run := newRun(t, st)
	text, _ := written(t, st, run.ID)
	for _, want := range []string{"running", "not ended yet, as of 2026-07-01 12:00:00 UTC", "Nothing was asked yet.", "Nobody refused anything.", "No task was given up.", "No credits were spent"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
		t.Errorf("no numbers: %s", text)
	}
}

func TestReportOfNoRun(t *testing.T) {
	var b bytes.Buffer
	if err := Write(t.Context(), &b, openTemp(t), 7, Options{}); !errors.Is(err, storage.ErrNoRun) || b.Len() > 0 {
		t.Errorf("%v, %d bytes", err, b.Len())
	}
}

// TestReportIsBoundedHoweverLargeTheRun: the page of many domains, tenants, warnings and hostile dead letters stays small.
func TestReportIsBoundedHoweverLargeTheRun(t *testing.T) {
	st := openTemp(t)
	run := newRun(t, st)
	const n = 3000
	tx := storage.Tx{Run: run.ID}
	var tasks []storage.NewTask
	for i := range n {
		domain, tenant := fmt.Sprintf("d%d.test", i), fmt.Sprintf("tenant %d", i)
		tasks = append(tasks, storage.NewTask{URL: "https://" + domain + "/" + strings.Repeat("x", 2000), Domain: domain, Tenant: tenant})
		tx.Tasks = append(tx.Tasks, storage.TaskChange{ID: int64(i + 1), State: storage.TaskDead, Reason: "blocked", Error: strings.Repeat("<b>", 500)})
		tx.Attempts = append(tx.Attempts, storage.Attempt{Task: int64(i + 1), Number: 1, Domain: domain, Tenant: tenant, Provider: "direct", Kind: "fetch", Exchange: fmt.Sprint(i),
			StartedAt: noon.Add(time.Duration(i) * time.Minute), Outcome: "blocked", Layer: "target"})
		tx.Events = append(tx.Events, storage.Event{At: noon, Level: "warn", Text: strings.Repeat("<i>", 500)})
	}
	if _, err := st.Enqueue(t.Context(), run.ID, tasks); err != nil {
		t.Fatal(err)
	}
	commit(t, st, tx)
	text, size := written(t, st, run.ID)
	if size > 400_000 {
		t.Errorf("the page is %d bytes", size)
	}
	for _, want := range []string{"2,800 more", "2,900 more tenants", "2,900 later ones"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
	}
}

// TestTheSameRunGivesTheSameReport, to the byte: reports can be compared.
func TestTheSameRunGivesTheSameReport(t *testing.T) {
	if a, b := drawn(t, sample()), drawn(t, sample()); a != b {
		t.Error("two reports of one run differ")
	}
}
