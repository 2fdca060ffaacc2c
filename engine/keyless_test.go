package engine

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dev.scrapetop/engine/simulator"
	"dev.scrapetop/engine/view"
	"dev.scrapetop/storage"
)

// TestARunWithoutAKeySaysSo: somebody looks at a run whose only key ran out of credits. It does not end, its state and reason
// say what it waits for, and after a top-up one probe lets it go on.
func TestARunWithoutAKeySaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inOurTime()
		ctx := t.Context()
		w := simulator.New(simulator.Options{Evomi: simulator.EvomiSettings{Accounts: []simulator.EvomiAccount{{Name: "demo", Key: simulator.DemoKey, Credits: 20, Concurrency: 5}}}})
		st, err := storage.Open(ctx, filepath.Join(t.TempDir(), "t.db"), storage.Options{Fast: true})
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		run, err := st.CreateRun(ctx, storage.RunSpec{Name: "t", Input: "t", Provider: Evomi})
		if err != nil {
			t.Fatal(err)
		}
		cfg := evomiConfig()
		cfg.Transport, cfg.Seed = w.RoundTripper(), 1
		e, err := New(cfg, st, run)
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan Ending, 1)
		go func() {
			end, err := e.Run(ctx)
			if err != nil {
				t.Error(err)
			}
			ended <- end
		}()
		var tasks []storage.NewTask
		for _, u := range pages(40) {
			tasks = append(tasks, storage.NewTask{URL: u, Domain: "shop.pages.test"})
		}
		if _, err := e.Feed(ctx, tasks); err != nil {
			t.Fatal(err)
		}
		e.FeedDone()
		look := func(after time.Duration) view.Run {
			e.Frame(view.Query{}) // somebody looks
			time.Sleep(after)
			return e.Frame(view.Query{}).Run
		}
		if r := look(100 * time.Millisecond); r.State != "running" || r.Reason != "" {
			t.Errorf("while the key works: %+v", r)
		}
		r := look(5 * time.Minute)
		if r.State != "locked out" || !strings.HasPrefix(r.Reason, "credential main is stopped by the platform: quota") {
			t.Errorf("without credits: %+v", r)
		}
		w.TopUp(simulator.DemoKey, 1000)
		e.Do(Command{Verb: EndCooldown, Scope: "credential", Key: "main"})
		select {
		case end := <-ended:
			if end.State != storage.RunFinished || end.Left != 0 {
				t.Errorf("after the top-up: %+v", end)
			}
		case <-time.After(time.Hour):
			t.Error("after the top-up the run did not go on")
			e.Do(Command{Verb: Drain})
			<-ended
		}
	})
}
