package engine

import (
	"bytes"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dev.scrapetop/engine/view"
	"dev.scrapetop/storage"
)

// TestDeadLettersGoOnInTheRunThatBuriedThem: what is requeued while the run goes on is fetched by it, counted once, and the run ends
// with nothing dead.
func TestDeadLettersGoOnInTheRunThatBuriedThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open atomic.Bool
		rt := roundTrip(func(r *http.Request) (*http.Response, error) {
			status := 404
			if open.Load() || r.URL.Host == "slow.test" {
				status = 200
			}
			if r.URL.Host == "slow.test" {
				time.Sleep(20 * time.Second)
			}
			return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader([]byte("<html>ok</html>"))), Request: r}, nil
		})
		var live view.Counts
		d := driveRun(t, Config{}, rt, append(urls("a.test", 100), "http://slow.test/1"), func(e *Engine) {
			time.Sleep(10 * time.Second)
			rows, err := e.store.TaskRows(t.Context(), storage.TaskQuery{Run: e.run.ID, State: storage.TaskDead, Window: storage.Window{After: 200}})
			if err != nil || len(rows.Rows) == 0 {
				t.Error(len(rows.Rows), err)
			}
			letters := []DeadLetter{{Task: 999_999, Domain: "b.test"}} // not dead, and not even there
			for _, row := range rows.Rows {
				letters = append(letters, DeadLetter{row.ID, row.Domain})
			}
			open.Store(true)
			n, err := e.Requeue(t.Context(), letters)
			if err != nil || n != int64(len(rows.Rows)) {
				t.Errorf("%d of %d, %v", n, len(rows.Rows), err)
			}
			e.Frame(view.Query{})
			synctest.Wait()
			live = e.Frame(view.Query{}).Counts
		})
		if live.Dead != 0 {
			t.Errorf("after the act %+v", live)
		}
		if d.end.State != storage.RunFinished || d.end.Left != 0 || d.summary.Accepted != 101 || d.summary.Dead != 0 || d.summary.Pending != 0 {
			t.Fatalf("end %+v, summary %+v", d.end, d.summary)
		}
	})
}

// TestDeadLettersOfARunThatIsOver wait for its resume.
func TestDeadLettersOfARunThatIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := roundTrip(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 404, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
		})
		st, err := storage.Open(t.Context(), t.TempDir()+"/t.db", storage.Options{Fast: true})
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		var eng *Engine
		d := driveOn(t, st, Config{}, rt, urls("a.test", 1), func(e *Engine) { eng = e })
		if d.summary.Dead != 1 {
			t.Fatalf("%+v", d.summary)
		}
		if n, err := eng.Requeue(t.Context(), []DeadLetter{{1, "a.test"}}); n != 1 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		run, err := st.LatestUnfinished(t.Context())
		if err != nil || run.Pending != 1 || run.State != storage.RunStopped {
			t.Errorf("%+v, %v", run, err)
		}
	})
}
