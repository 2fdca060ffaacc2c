package engine

import (
	"context"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"dev.scrapetop/engine/view"
	"dev.scrapetop/storage"
)

// TestStoredFollowsARunDrivenElsewhere: who looks at a run by its database sees its progress, what holds it and its end.
func TestStoredFollowsARunDrivenElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		path := filepath.Join(t.TempDir(), "t.db")
		st, err := storage.Open(ctx, path, storage.Options{Fast: true})
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		other, err := storage.Open(ctx, path, storage.Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		var watch *Stored
		domain := func(name string) view.DomainRow {
			f := watch.Frame(view.Query{Filter: name})
			if len(f.Domains.Rows) != 1 {
				return view.DomainRow{}
			}
			return f.Domains.Rows[0]
		}
		until := func(what string, true func(*view.Frame) bool) {
			t.Helper()
			for range 600 {
				if true(watch.Frame(view.Query{})) {
					return
				}
				time.Sleep(100 * time.Millisecond)
			}
			t.Errorf("never: %s: %+v", what, watch.Frame(view.Query{}))
		}
		s := &site{seen: map[string]int{}, took: time.Second}
		d := driveOn(t, st, Config{DomainMaxInFlight: 2}, s, append(urls("a.test", 60), urls("b.test", 20)...), func(e *Engine) {
			if watch, err = Watch(ctx, other, e.run.ID, func(ctx context.Context) (*storage.Store, error) {
				return storage.Open(ctx, path, storage.Options{Fast: true})
			}); err != nil {
				t.Fatal(err)
			}
			if f := watch.Frame(view.Query{}); !f.Live || f.Counts.Tasks != 80 || f.Run.Provider != "direct" {
				t.Errorf("%+v", f)
			}
			until("half of it is done", func(f *view.Frame) bool {
				return f.Counts.Accepted >= 20 && f.Counts.Accepted < 80 && f.AcceptedPerMin > 0
			})
			until("its domains are counted", func(*view.Frame) bool { return domain("a.test").Queue > 0 && domain("a.test").State == view.StateRun })
			watch.Do(Command{Verb: Pause, Scope: "domain", Key: "a.test"})
			until("the pause is seen", func(*view.Frame) bool { return domain("a.test").State == view.StatePause })
			until("it is obeyed", func(*view.Frame) bool { return domain("a.test").InFlight == 0 })
			watch.Do(Command{Verb: Resume, Scope: "domain", Key: "a.test"})
			until("its end is seen", func(*view.Frame) bool { return domain("a.test").State != view.StatePause })
		})
		until("it is over", func(f *view.Frame) bool { return !f.Live && f.Run.State == "finished" })
		until("all of it", func(*view.Frame) bool {
			return domain("a.test").Accepted == 60 && domain("b.test").State == view.StateDone
		})
		if f := watch.Frame(view.Query{}); f.Counts.Accepted != d.summary.Accepted || f.Counts.Requests != d.summary.Requests || f.Domains.Total != 2 || len(f.Events) == 0 {
			t.Errorf("%+v", f)
		}
		watch.Close()
	})
}

func TestStoredOfNoRun(t *testing.T) {
	st, err := storage.Open(t.Context(), filepath.Join(t.TempDir(), "t.db"), storage.Options{Fast: true})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if s, err := Watch(t.Context(), st, 7, nil); s != nil || err == nil {
		t.Errorf("%v, %v", s, err)
	}
}
