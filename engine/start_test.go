package engine

import (
	"database/sql"
	"errors"
	"net/http"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"dev.scrapetop/storage"
)

// TestSlowStartKeepsTheWholeCooldown: what a start takes to read its file is not taken off the waits in it.
func TestSlowStartKeepsTheWholeCooldown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		c := storage.Cooldown{Until: began.Add(5 * time.Second).Round(0), Full: 10 * time.Second}
		time.Sleep(2 * time.Second) // of reading
		if got := coolsUntil(began, c); !got.Equal(c.Until) {
			t.Errorf("it cools until %v, want %v", got, c.Until)
		}
		c.Full = time.Second // the clock was set back meanwhile
		if got := coolsUntil(began, c); !got.Equal(began.Add(time.Second)) {
			t.Errorf("with the clock set back it cools until %v, want %v", got, began.Add(time.Second))
		}
	})
}

// TestKilledStartForgetsNoUnknownSubmit: a start that is cut off between two of the submits without an answer that it
// settles leaves each of them either as it was or settled with what becomes of its task, and counts none twice.
func TestKilledStartForgetsNoUnknownSubmit(t *testing.T) {
	for name, again := range map[string]bool{"submitted again": true, "given up": false} {
		t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { killedStart(t, again) }) })
	}
}

func killedStart(t *testing.T, again bool) {
	ctx, path := t.Context(), filepath.Join(t.TempDir(), "t.db")
	st, err := storage.Open(ctx, path, storage.Options{Fast: true})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	run, err := st.CreateRun(ctx, storage.RunSpec{Name: "t", Input: "t", Provider: Evomi})
	if err != nil {
		t.Fatal(err)
	}
	tasks := []storage.NewTask{{URL: "http://a.test/1", Domain: "a.test"}, {URL: "http://a.test/2", Domain: "a.test"}}
	if _, err := st.Enqueue(ctx, run.ID, tasks); err != nil {
		t.Fatal(err)
	}
	st.Write(storage.Tx{Run: run.ID, Intents: []storage.Intent{
		{Exchange: "x-1", Kind: "submit", Credential: "demo", Tasks: []int64{1}, At: time.Now()},
		{Exchange: "x-2", Kind: "submit", Credential: "demo", Tasks: []int64{2}, At: time.Now()},
	}}, nil)
	if err := st.Sync(ctx); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	// What a kill keeps out of the file is what becomes of the first task, and all that came with it.
	if _, err := db.Exec(`CREATE TRIGGER killed BEFORE UPDATE ON task WHEN new.id = 1 AND (new.unknowns > 0 OR new.state = 'dead')
		BEGIN SELECT RAISE(ABORT, 'killed'); END`); err != nil {
		t.Fatal(err)
	}
	cfg := evomiConfig()
	cfg.ResubmitUnknown, cfg.Headless, cfg.Seed = again, true, 1
	cfg.Transport = roundTrip(func(*http.Request) (*http.Response, error) { return nil, errors.New("nothing is there") })
	e, err := New(cfg, st, run)
	if err != nil {
		t.Fatal(err)
	}
	if end, err := e.Run(ctx); err == nil {
		t.Fatalf("it ended as %+v", end)
	}
	var left string
	var requests int
	err = db.QueryRow(`SELECT coalesce(group_concat(exchange), ''), (SELECT coalesce(sum(requests), 0) FROM unseen) FROM intent WHERE exchange LIKE 'x-_'`).Scan(&left, &requests)
	if err != nil || left != "x-1" || requests != 1 {
		t.Errorf("%q are left to settle and %d requests are counted (%v), want x-1 and the request of x-2", left, requests, err)
	}
}
