package engine

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
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
			letters := []int64{999_999} // not dead, and not even there
			for _, row := range rows.Rows {
				letters = append(letters, row.ID)
			}
			open.Store(true)
			were, err := e.Requeue(t.Context(), letters, 0)
			if err != nil || len(were) != len(rows.Rows) {
				t.Errorf("%d of %d, %v", len(were), len(rows.Rows), err)
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
		if were, err := eng.Requeue(t.Context(), []int64{1}, time.Second); len(were) != 1 || err != nil {
			t.Errorf("%+v, %v", were, err)
		}
		run, err := st.LatestUnfinished(t.Context())
		if err != nil || run.Pending != 1 || run.State != storage.RunStopped {
			t.Errorf("%+v, %v", run, err)
		}
		if events := eventsOf(t, eng); !strings.Contains(events, "queued again by you") {
			t.Error(events)
		}
	})
}

// eventsOf are the texts of the run's events with their tasks, one a line.
func eventsOf(t *testing.T, e *Engine) string {
	t.Helper()
	if err := e.store.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	all, err := e.store.Events(t.Context(), e.run.ID, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, x := range all {
		text += fmt.Sprintf("%s %s %d %s\n", x.Scope, x.Key, x.Task, x.Text)
	}
	return text
}

// taskStates are the states of the run's tasks by number.
func taskStates(t *testing.T, e *Engine, ids ...int64) string {
	t.Helper()
	tasks, err := e.store.TasksByID(t.Context(), ids)
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, x := range tasks {
		text += fmt.Sprintf("%d %s, ", x.ID, x.State)
	}
	return strings.TrimSuffix(text, ", ")
}

// slowSites answer by the name of the host: "slow" after twenty seconds, "fails" and "gone" at once with 500 and 404.
func slowSites(sent *sync.Map) roundTrip {
	return func(r *http.Request) (*http.Response, error) {
		n, _ := sent.LoadOrStore(r.URL.String(), new(atomic.Int64))
		n.(*atomic.Int64).Add(1)
		status := 200
		switch r.URL.Host {
		case "slow.test":
			select {
			case <-time.After(20 * time.Second):
			case <-r.Context().Done():
				return nil, r.Context().Err()
			}
		case "fails.test":
			if n.(*atomic.Int64).Load() == 1 {
				status = 500
			}
		case "gone.test":
			status = 404
		}
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader([]byte("<html>ok</html>"))), Request: r}, nil
	}
}

// TestActsOnTasks: what a person does to tasks of a run that goes on is confirmed by the next frame, written to its events, and left
// so by the run. Two are in flight at once: tasks 1 and 2 are, 3 to 6 wait.
func TestActsOnTasks(t *testing.T) {
	slow := urls("slow.test", 6)
	cases := []struct {
		name   string
		urls   []string
		act    func(t *testing.T, e *Engine)
		live   view.Counts // right after the act
		states string      // at the end
		events []string
	}{
		{"cancel one that waits", slow, func(t *testing.T, e *Engine) {
			if c, err := e.Cancel(t.Context(), []int64{5, 99}); c != (Cancelled{Tasks: 1}) || err != nil {
				t.Errorf("%+v, %v", c, err)
			}
		}, view.Counts{Pending: 3, InFlight: 2, Cancelled: 1}, "1 accepted, 2 accepted, 3 accepted, 4 accepted, 5 cancelled, 6 accepted", []string{"domain slow.test 5 cancelled by you"}},
		{"cancel one in flight and two that wait", slow, func(t *testing.T, e *Engine) {
			if c, err := e.Cancel(t.Context(), []int64{2, 3, 4}); c != (Cancelled{Tasks: 2, AtWork: 1}) || err != nil {
				t.Errorf("%+v, %v", c, err)
			}
		}, view.Counts{Pending: 1, InFlight: 2, Cancelled: 3}, "1 accepted, 2 cancelled, 3 cancelled, 4 cancelled, 5 accepted, 6 accepted", []string{"2 tasks were cancelled by you, and 1 under way are not tried again"}},
		{"cancel one in flight", slow, func(t *testing.T, e *Engine) {
			if c, err := e.Cancel(t.Context(), []int64{1}); c != (Cancelled{AtWork: 1}) || err != nil {
				t.Errorf("%+v, %v", c, err)
			}
		}, view.Counts{Pending: 3, InFlight: 2, Cancelled: 1}, "1 cancelled, 2 accepted, 3 accepted, 4 accepted, 5 accepted, 6 accepted", []string{"global  1 cancelled by you while"}},
		{"cancel all", slow, func(t *testing.T, e *Engine) {
			if c, err := e.Cancel(t.Context(), []int64{1, 2, 3, 4, 5, 6}); c != (Cancelled{Tasks: 4, AtWork: 2}) || err != nil {
				t.Errorf("%+v, %v", c, err)
			}
		}, view.Counts{Cancelled: 6}, "1 cancelled, 2 cancelled, 3 cancelled, 4 cancelled, 5 cancelled, 6 cancelled", nil},
		{"retry now", append(urls("fails.test", 1), slow[0]), func(t *testing.T, e *Engine) {
			if n, err := e.RetryNow(t.Context(), []int64{1, 2}); n != 1 || err != nil {
				t.Errorf("%d, %v", n, err)
			}
		}, view.Counts{InFlight: 1, Accepted: 1}, "1 accepted, 2 accepted", []string{"domain fails.test 1 is tried next"}},
		{"requeue and undo", append(urls("gone.test", 1), slow[:2]...), func(t *testing.T, e *Engine) {
			were, err := e.Requeue(t.Context(), []int64{1, 2}, 12*time.Second)
			if len(were) != 1 || err != nil {
				t.Errorf("%+v, %v", were, err)
			}
			time.Sleep(9 * time.Second)
			if s := taskStates(t, e, 1); s != "1 delayed" {
				t.Errorf("held: %s", s)
			}
			if n, err := e.Bury(t.Context(), were); n != 1 || err != nil {
				t.Errorf("%d, %v", n, err)
			}
		}, view.Counts{InFlight: 2, Dead: 1}, "1 dead, 2 accepted, 3 accepted", []string{"domain gone.test 1 queued again by you", "domain gone.test 1 dead again"}},
		{"requeue, tried before the undo", append(urls("gone.test", 1), slow[0]), func(t *testing.T, e *Engine) {
			were, err := e.Requeue(t.Context(), []int64{1}, 5*time.Second)
			if err != nil {
				t.Error(err)
			}
			time.Sleep(10 * time.Second)
			if n, err := e.Bury(t.Context(), were); n != 0 || err != nil {
				t.Errorf("%d, %v", n, err)
			}
		}, view.Counts{InFlight: 1, Dead: 1}, "1 dead, 2 accepted", []string{"domain gone.test 1 queued again by you"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st, err := storage.Open(t.Context(), t.TempDir()+"/t.db", storage.Options{Fast: true})
				if err != nil {
					t.Fatal(err)
				}
				defer st.Close()
				var sent sync.Map
				var live view.Counts
				var eng *Engine
				d := driveOn(t, st, Config{MaxInFlight: 2}, slowSites(&sent), c.urls, func(e *Engine) {
					eng = e
					time.Sleep(300 * time.Millisecond)
					e.Frame(view.Query{})
					c.act(t, e)
					time.Sleep(200 * time.Millisecond)
					time.Sleep(200 * time.Millisecond)
					synctest.Wait()
					live = e.Frame(view.Query{}).Counts
				})
				got := view.Counts{Pending: live.Pending, Delayed: live.Delayed, InFlight: live.InFlight, Accepted: live.Accepted, Dead: live.Dead, Cancelled: live.Cancelled}
				if got != c.live {
					t.Errorf("after the act %+v, want %+v", got, c.live)
				}
				ids := make([]int64, len(c.urls))
				for i := range ids {
					ids[i] = int64(i + 1)
				}
				if s := taskStates(t, eng, ids...); s != c.states {
					t.Errorf("at the end %s, want %s", s, c.states)
				}
				if d.end.State != storage.RunFinished || d.end.Left != 0 || d.summary.Pending != 0 {
					t.Errorf("end %+v, summary %+v", d.end, d.summary)
				}
				events := eventsOf(t, eng)
				for _, want := range c.events {
					if !strings.Contains(events, want) {
						t.Errorf("no event %q in\n%s", want, events)
					}
				}
			})
		})
	}
}
