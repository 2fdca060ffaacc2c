package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestWriteMovesEverythingTogether(t *testing.T) {
	s := openTemp(t, Options{})
	run, tasks := newRun(t, s, "direct", "http://a.test/1", "http://a.test/2", "http://a.test/3")
	write(t, s, Tx{Run: run.ID, Tasks: []TaskChange{{ID: tasks[0].ID, State: TaskInFlight}}})
	write(t, s, accept(run.ID, tasks[0], "page"))
	write(t, s, Tx{Run: run.ID, Tasks: []TaskChange{{ID: tasks[1].ID, State: TaskDead, Tries: 2, Attempts: 3, Reason: "blocked", Error: "403"}},
		Totals: Totals{Requests: 3, Retries: 2, Target: 1, Elapsed: time.Minute, MaxInFlight: 7, Credits: 1.5}})
	got, err := s.Run(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	want := Run{ID: run.ID, Name: "list.txt", Input: "/in/list.txt", Provider: "direct", State: RunRunning, StartedAt: run.StartedAt,
		Tasks: 3, Accepted: 1, Dead: 1, Pending: 1, Attempts: 1,
		Totals: Totals{Requests: 4, Retries: 2, Target: 1, Bytes: 4, Elapsed: time.Minute, MaxInFlight: 7, Credits: 1.5}}
	if got.Settings = nil; !equalRun(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func equalRun(a, b Run) bool {
	a.Settings, b.Settings = nil, nil
	return a.ID == b.ID && a.Name == b.Name && a.Input == b.Input && a.Provider == b.Provider && a.State == b.State && a.Reason == b.Reason &&
		a.StartedAt.Equal(b.StartedAt) && a.FinishedAt.Equal(b.FinishedAt) && a.Tasks == b.Tasks && a.Accepted == b.Accepted && a.Dead == b.Dead &&
		a.Pending == b.Pending && a.Attempts == b.Attempts && a.Totals == b.Totals
}

// TestRemovedFileIsNoticed: SQLite wrote on into a removed file, and a run of which nothing was left ended well.
func TestRemovedFileIsNoticed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "scrapetop.db")
	s := openAt(t, path, Options{})
	run, tasks := newRun(t, s, "direct", "http://a.test/1", "http://a.test/2", "http://a.test/3")
	attempt := func(task Task) error {
		done := make(chan error, 1)
		s.Write(accept(run.ID, task, "page"), func(err error) { done <- err })
		return <-done
	}
	aside := path + ".aside"
	if err := os.Rename(path, aside); err != nil {
		t.Fatal(err)
	}
	if err := attempt(tasks[0]); !errors.Is(err, ErrGone) || !strings.Contains(err.Error(), path) {
		t.Errorf("removed: %v", err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := attempt(tasks[1]); !errors.Is(err, ErrGone) {
		t.Errorf("replaced: %v", err)
	}
	if err := os.Rename(aside, path); err != nil {
		t.Fatal(err)
	}
	if err := attempt(tasks[2]); err != nil {
		t.Errorf("back in its place: %v", err)
	}
}

func TestBadTransactionHurtsNobodyElse(t *testing.T) {
	s := openTemp(t, Options{})
	urls := make([]string, 50)
	for i := range urls {
		urls[i] = fmt.Sprint("http://a.test/", i)
	}
	run, tasks := newRun(t, s, "direct", urls...)
	release := holdWriter(t, s)
	errs := make(chan error, 3*len(tasks))
	bad := []Tx{
		{Run: run.ID, Tasks: []TaskChange{{ID: 999_999, State: TaskAccepted}}, Totals: Totals{Requests: 1000}},
		{Run: run.ID + 1, Tasks: []TaskChange{{ID: tasks[0].ID, State: TaskDead}}},
		{Run: run.ID, Results: []Result{{Task: tasks[0].ID, Page: "p", Fields: []byte(`{"a":`)}}},
		{Run: 77, Attempts: []Attempt{{Task: tasks[0].ID}}},
	}
	refused := make(chan error, len(bad))
	for i, task := range tasks {
		s.Write(accept(run.ID, task, "page"), func(err error) { errs <- err })
		if i < len(bad) {
			s.Write(bad[i], func(err error) { refused <- err })
		}
	}
	release()
	if err := s.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range tasks {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	for i, want := range []error{ErrNoTask, ErrNoTask, ErrInvalid, nil} {
		if err := <-refused; err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("bad %d: %v", i, err)
		}
	}
	r, err := s.Run(t.Context(), run.ID)
	if err != nil || r.Accepted != 50 || r.Dead != 0 || r.Totals.Requests != 50 || r.Attempts != 50 {
		t.Errorf("%+v, %v", r, err)
	}
}

// holdWriter keeps the writer busy until the returned function is called.
func holdWriter(t *testing.T, s *Store) (release func()) {
	t.Helper()
	started, end := make(chan struct{}), make(chan struct{})
	go func() {
		if err := s.do(t.Context(), func(*sql.Conn) error { close(started); <-end; return nil }); err != nil {
			t.Error(err)
		}
	}()
	<-started
	return func() { close(end) }
}

// onWriter runs a statement on the writing connection while the writer has nothing to do.
func onWriter(t *testing.T, s *Store, statement string) {
	t.Helper()
	if err := s.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.writer.conn.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

func TestGroupWritesOnlyTheLastStateOfATask(t *testing.T) {
	s := openTemp(t, Options{})
	run, tasks := newRun(t, s, "direct", "http://a.test/1")
	var order []int
	release := holdWriter(t, s)
	for i, state := range []TaskState{TaskInFlight, TaskDead, TaskPending, TaskInFlight, TaskAccepted} {
		s.Write(Tx{Run: run.ID, Tasks: []TaskChange{{ID: tasks[0].ID, State: state, Attempts: i}}}, func(err error) {
			if err != nil {
				t.Error(err)
			}
			order = append(order, i)
		})
	}
	if held, oldest := s.Backlog(); held <= 0 || time.Since(oldest) > time.Minute {
		t.Errorf("backlog %d since %v", held, oldest)
	}
	group, _ := s.writer.take() // what the next transaction will hold
	if len(group) != 5 {
		t.Errorf("group of %d", len(group))
	}
	s.writer.mu.Lock()
	s.writer.queue = append(group, s.writer.queue...)
	s.writer.mu.Unlock()
	release()
	if err := s.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(order) != "[0 1 2 3 4]" {
		t.Errorf("acknowledged in the order %v", order)
	}
	if held, oldest := s.Backlog(); held != 0 || !oldest.IsZero() {
		t.Errorf("backlog %d since %v after all was committed", held, oldest)
	}
	if got := query(t, s, "SELECT t.state, t.attempts, r.accepted, r.dead FROM tasks t JOIN runs r ON r.id = t.run"); got[0] != "accepted|4|1|0" {
		t.Errorf("%v", got)
	}
}

func TestGroupIsBounded(t *testing.T) {
	w := &writer{}
	big := strings.Repeat("x", 3<<20)
	for range 4 {
		tx := Tx{Results: []Result{{Body: []byte(big)}}}
		rows, bytes := weight(&tx)
		w.queue = append(w.queue, job{tx: &tx, rows: rows, bytes: bytes})
	}
	for range 2400 {
		w.queue = append(w.queue, job{tx: &Tx{}, rows: 2})
	}
	w.queue = append(w.queue, job{}, job{tx: &Tx{}, rows: 5000}, job{tx: &Tx{}, rows: 1})
	var sizes []int
	for {
		group, _ := w.take()
		if len(group) == 0 {
			break
		}
		sizes = append(sizes, len(group))
	}
	// Two bodies fit 8 MiB; then 2048 rows, two each, the first group sharing with bodies; a function and an oversized Tx go alone.
	if fmt.Sprint(sizes) != "[2 1024 1024 354 1 1 1]" {
		t.Errorf("groups of %v", sizes)
	}
}

func TestResultsAreStoredOnce(t *testing.T) {
	s := openTemp(t, Options{})
	run, tasks := newRun(t, s, "spidra", "http://a.test/1")
	tx := accept(run.ID, tasks[0], "first")
	write(t, s, tx)
	again := accept(run.ID, tasks[0], "second")
	again.Results = append(again.Results, Result{Task: tasks[0].ID, Page: "http://a.test/1/sub", Body: []byte("page")})
	write(t, s, again)
	if got := query(t, s, "SELECT body FROM results ORDER BY page"); fmt.Sprint(got) != "[first page]" {
		t.Errorf("%v", got)
	}
	sum, err := s.Summary(t.Context(), run.ID)
	if err != nil || sum.Records != 2 || sum.Accepted != 1 {
		t.Errorf("%+v, %v", sum, err)
	}
}

func TestCooldownsOnlyGrowWhileActive(t *testing.T) {
	s := openTemp(t, Options{})
	run, _ := newRun(t, s, "direct")
	now := time.Now().Truncate(time.Millisecond)
	set := func(until, at time.Duration, cause string) {
		t.Helper()
		write(t, s, Tx{Run: run.ID, Cooldowns: []Cooldown{{Scope: "domain", Key: "a.test", Until: now.Add(until), Full: until - at, Cause: cause, SetAt: now.Add(at)}}})
	}
	expect := func(until time.Duration, cause string) {
		t.Helper()
		got, err := s.Cooldowns(t.Context())
		if err != nil || len(got) != 1 || !got[0].Until.Equal(now.Add(until)) || got[0].Cause != cause {
			t.Errorf("got %+v, %v; want %v %s", got, err, until, cause)
		}
	}
	set(time.Hour, 0, "Retry-After: 3600")
	expect(time.Hour, "Retry-After: 3600")
	set(time.Minute, time.Second, "shorter")
	expect(time.Hour, "Retry-After: 3600")
	set(2*time.Hour, time.Second, "longer")
	expect(2*time.Hour, "longer")
	set(4*time.Hour-time.Minute, 3*time.Hour, "after the end, shorter than before")
	expect(4*time.Hour-time.Minute, "after the end, shorter than before")
	write(t, s, Tx{Run: run.ID, Cooldowns: []Cooldown{{Scope: "domain", Key: "a.test"}}})
	if got, err := s.Cooldowns(t.Context()); err != nil || len(got) != 0 {
		t.Errorf("cleared: %+v, %v", got, err)
	}
	set(-time.Second, -time.Minute, "over")
	if got, err := s.Cooldowns(t.Context()); err != nil || len(got) != 0 {
		t.Errorf("over: %+v, %v", got, err)
	}
}

func TestDiskFull(t *testing.T) {
	s := openTemp(t, Options{})
	run, tasks := newRun(t, s, "direct", "http://a.test/1", "http://a.test/2")
	pages := query(t, s, "PRAGMA page_count")[0]
	onWriter(t, s, "PRAGMA max_page_count = "+pages)
	big := accept(run.ID, tasks[0], strings.Repeat("x", 1<<20))
	err := tryWrite(s, big)
	if !errors.Is(err, ErrDiskFull) || !strings.Contains(err.Error(), s.Path()) {
		t.Fatalf("got %v", err)
	}
	if got := query(t, s, "SELECT state FROM tasks WHERE id = ?", tasks[0].ID); got[0] != "pending" {
		t.Errorf("half a transaction stayed: %v", got)
	}
	onWriter(t, s, "PRAGMA max_page_count = 1000000")
	write(t, s, big)
	if got := query(t, s, "SELECT state, bytes FROM tasks t JOIN results r ON r.task_id = t.id"); got[0] != "accepted|1048576" {
		t.Errorf("after there is room: %v", got)
	}
}

func TestFileThatCannotBeWritten(t *testing.T) {
	s := openTemp(t, Options{})
	run, tasks := newRun(t, s, "direct", "http://a.test/1")
	onWriter(t, s, "PRAGMA query_only = ON")
	if err := tryWrite(s, accept(run.ID, tasks[0], "page")); !errors.Is(err, ErrReadOnly) {
		t.Errorf("got %v", err)
	}
	onWriter(t, s, "PRAGMA query_only = OFF")
	write(t, s, accept(run.ID, tasks[0], "page"))
}

func TestReadersBesideABusyWriter(t *testing.T) {
	s := openTemp(t, Options{})
	urls := make([]string, 3000)
	for i := range urls {
		urls[i] = fmt.Sprint("http://a.test/", i)
	}
	run, tasks := newRun(t, s, "direct", urls...)
	written := make(chan struct{})
	go func() {
		defer close(written)
		for _, task := range tasks {
			s.Write(accept(run.ID, task, strings.Repeat("page ", 400)), func(err error) {
				if err != nil {
					t.Error(err)
				}
			})
		}
		if err := s.Sync(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	var group sync.WaitGroup
	for range readConns {
		group.Go(func() {
			for more := true; more; {
				select {
				case <-written:
					more = false
				default:
				}
				sum, err := s.Summary(t.Context(), run.ID)
				if err != nil {
					t.Error(err)
					return
				}
				if sum.Accepted != sum.Records || sum.Accepted != sum.Attempts || sum.Accepted+sum.Pending != sum.Tasks {
					t.Errorf("half a transaction seen: %+v", sum)
					return
				}
			}
		})
	}
	group.Wait()
	if r, err := s.Run(t.Context(), run.ID); err != nil || r.Accepted != 3000 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestAnotherProcessHoldsTheWriteLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "scrapetop.db")
	s, other := openAt(t, path, Options{}), openAt(t, path, Options{})
	run, tasks := newRun(t, s, "direct", "http://a.test/1")
	release := holdWriter(t, other)
	done := make(chan error, 1)
	s.Write(accept(run.ID, tasks[0], "page"), func(err error) { done <- err })
	select {
	case err := <-done:
		t.Errorf("written under another's lock: %v", err)
	default:
	}
	release()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestGivingUpInTheQueue(t *testing.T) {
	s := openTemp(t, Options{})
	release := holdWriter(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error)
	go func() { result <- s.SetPause(ctx, Pause{Scope: "domain", Key: "a.test"}) }()
	for held := 0; held == 0; { // until it is queued
		s.writer.mu.Lock()
		held = len(s.writer.queue)
		s.writer.mu.Unlock()
	}
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	release()
	if err := s.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Pauses(t.Context()); err != nil || len(got) != 0 {
		t.Errorf("done all the same: %v, %v", got, err)
	}
}

func TestLogIsEmptiedAfterABurst(t *testing.T) {
	s := openTemp(t, Options{Fast: true})
	run, tasks := newRun(t, s, "direct", "http://a.test/1")
	reader, err := s.read.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reader.ExecContext(t.Context(), "BEGIN; SELECT count(*) FROM task"); err != nil { // keeps the log from being moved
		t.Fatal(err)
	}
	for i := range 40 {
		write(t, s, Tx{Run: run.ID, Results: []Result{{Task: tasks[0].ID, Page: fmt.Sprint(i), Body: make([]byte, 1<<20)}}})
	}
	if n := s.WALBytes(); n < truncateBytes {
		t.Fatalf("log of %d bytes", n)
	}
	if _, err := reader.ExecContext(t.Context(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	release := holdWriter(t, s)
	s.writer.truncateAfter = time.Time{} // the tries are seconds apart
	release()
	if err := errors.Join(s.Sync(t.Context()), s.Sync(t.Context()), s.Sync(t.Context())); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(5 * time.Second); s.WALBytes() >= truncateBytes; {
		if time.Now().After(deadline) {
			t.Fatalf("log of %d bytes", s.WALBytes())
		}
	}
}
