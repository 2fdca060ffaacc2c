package engine

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dev.scrapetop/storage"
)

func newTasks(urls []string) []storage.NewTask {
	var tasks []storage.NewTask
	for _, u := range urls {
		tasks = append(tasks, storage.NewTask{URL: u, InputURL: u, Domain: strings.Split(strings.TrimPrefix(u, "http://"), "/")[0]})
	}
	return tasks
}

// TestARunWaitsForWhatIsAdded: its input is over and its last task has ended long before the added input is read.
func TestARunWaitsForWhatIsAdded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := roundTrip(func(r *http.Request) (*http.Response, error) {
			time.Sleep(time.Second)
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
		})
		st, err := storage.Open(t.Context(), t.TempDir()+"/t.db", storage.Options{Fast: true})
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		var eng *Engine
		d := driveOn(t, st, Config{}, rt, urls("a.test", 2), func(e *Engine) {
			eng = e
			got, err := e.Add(t.Context(), func(ctx context.Context, a *Addition) error {
				time.Sleep(time.Hour)
				a.Skip(1)
				_, err := a.Feed(ctx, append(newTasks(urls("a.test", 2)), newTasks(urls("b.test", 3))...))
				return err
			})
			if want := (Added{Tasks: 3, Duplicates: 2, Refused: 1}); got != want || err != nil {
				t.Errorf("%+v, %v", got, err)
			}
		})
		run, err := st.Run(t.Context(), eng.run.ID)
		if err != nil || d.end.State != storage.RunFinished || d.end.Left != 0 || run.Tasks != 5 || run.Added != 3 || run.Totals.Duplicates != 0 || run.Totals.Skipped != 0 {
			t.Errorf("end %+v, run %+v, %v", d.end, run, err)
		}
		if events := eventsOf(t, eng); !strings.Contains(events, "5 URLs were added by you: 3 new, 2 already there, 1 refused") {
			t.Error(events)
		}
		if _, err := eng.Add(t.Context(), nil); !errors.Is(err, ErrOver) {
			t.Error(err)
		}
	})
}

// TestAddingToARunThatIsStopped: what was added before the stop waits for a resume, the rest is said to be unread, and a run that is
// stopping takes nothing in.
func TestAddingToARunThatIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := roundTrip(func(r *http.Request) (*http.Response, error) {
			time.Sleep(time.Minute)
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
		})
		st, err := storage.Open(t.Context(), t.TempDir()+"/t.db", storage.Options{Fast: true})
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		var eng *Engine
		d := driveOn(t, st, Config{MaxInFlight: 1}, rt, urls("a.test", 2), func(e *Engine) {
			eng = e
			got, err := e.Add(t.Context(), func(ctx context.Context, a *Addition) error {
				if _, err := a.Feed(ctx, newTasks(urls("b.test", 3))); err != nil {
					t.Error(err)
				}
				time.Sleep(5 * time.Second)
				e.Do(Command{Verb: Drain})
				synctest.Wait()
				if _, err := e.Add(ctx, nil); !errors.Is(err, ErrStopping) {
					t.Error(err)
				}
				e.Do(Command{Verb: Abandon})
				<-ctx.Done()
				return nil
			})
			if want := (Added{Tasks: 3, Cut: true}); got != want || err != nil {
				t.Errorf("%+v, %v", got, err)
			}
		})
		if d.end.State != storage.RunStopped || d.end.Left != 5 {
			t.Errorf("end %+v", d.end)
		}
		if events := eventsOf(t, eng); !strings.Contains(events, "3 new, 0 already there, then the run ended: the rest was not read") {
			t.Error(events)
		}
	})
}
