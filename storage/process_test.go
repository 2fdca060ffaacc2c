package storage

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// helper is what the second process does.
func helper(role, path string) error {
	ctx := context.Background()
	s, err := Open(ctx, path, Options{})
	if err != nil {
		return err
	}
	switch role {
	case "own": // says whether it got run 1, then waits for the end of its input
		switch _, err = s.Own(ctx, 1); {
		case errors.Is(err, ErrHeld):
			fmt.Println("held")
		case err != nil:
			return err
		default:
			fmt.Println("owned")
		}
		if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
			return err
		}
		return s.Close()
	case "write":
		return writeForever(ctx, s)
	}
	return errors.New("unknown role " + role)
}

// writeForever accepts the tasks of a run one after the other and prints the id of each whose commit was acknowledged.
func writeForever(ctx context.Context, s *Store) error {
	run, err := s.CreateRun(ctx, RunSpec{Provider: "evomi"})
	if err != nil {
		return err
	}
	if _, err := s.Own(ctx, run.ID); err != nil {
		return err
	}
	intent := make(chan error, 1)
	s.Write(Tx{Run: run.ID, Intents: []Intent{{Exchange: "e1", Kind: "submit", Credential: "main", Tasks: []int64{1, 2}, At: time.Now()}}},
		func(err error) { intent <- err })
	if err := <-intent; err != nil {
		return err
	}
	for n := 0; ; n++ {
		var list []NewTask
		for i := range 500 {
			list = append(list, NewTask{URL: fmt.Sprintf("http://a.test/%d/%d", n, i), Domain: "a.test"})
		}
		if _, err := s.Enqueue(ctx, run.ID, list); err != nil {
			return err
		}
		tasks, err := s.Pending(ctx, run.ID, []Want{{Domain: "a.test", N: 500}})
		if err != nil {
			return err
		}
		for i, t := range tasks {
			s.Write(Tx{Run: run.ID, Tasks: []TaskChange{{ID: t.ID, State: TaskInFlight, Tries: 1, FirstTryAt: time.Now()}}}, nil)
			if i%10 == 9 { // some stay in flight
				continue
			}
			s.Write(accept(run.ID, t, strings.Repeat("page ", 400)), func(err error) {
				if err == nil {
					fmt.Println(t.ID)
				}
			})
		}
	}
}

// process is this test binary again, as another process.
type process struct {
	cmd *exec.Cmd
	out *bufio.Reader
	in  io.WriteCloser
}

func start(t *testing.T, role, path string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0], path)
	cmd.Env = append(os.Environ(), "STORAGE_TEST_ROLE="+role)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return &process{cmd, bufio.NewReader(out), in}
}

func (p *process) line(t *testing.T) string {
	t.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// kill ends the process as kill -9 does, and returns what it had still printed.
func (p *process) kill(t *testing.T) []string {
	t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(p.out)
	if err != nil {
		t.Fatal(err)
	}
	_ = p.cmd.Wait() // it was killed: that is its error
	return strings.Fields(string(rest))
}

func TestKillWhileWriting(t *testing.T) {
	for round := range 3 {
		path := filepath.Join(t.TempDir(), "scrapetop.db")
		p := start(t, "write", path)
		acknowledged := map[string]bool{}
		for range 700 + 900*round {
			acknowledged[p.line(t)] = true
		}
		for _, id := range p.kill(t) {
			acknowledged[id] = true
		}
		s := openAt(t, path, Options{})
		if err := s.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		if r, err := s.Run(t.Context(), 1); err != nil || r.State != RunInterrupted {
			t.Errorf("state %s, %v", r.State, err)
		}
		inFlight := query(t, s, "SELECT count(*) FROM tasks WHERE state = 'in_flight'")[0]
		rec, err := s.Own(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(rec.Tasks) != inFlight || rec.Tasks == 0 {
			t.Errorf("recovered %d tasks, in flight were %s", rec.Tasks, inFlight)
		}
		if len(rec.Unknown) != 1 || rec.Unknown[0].Exchange != "e1" || len(rec.Unknown[0].Tasks) != 2 || rec.Unknown[0].Credential != "main" {
			t.Errorf("unknown %+v", rec.Unknown)
		}
		stored := map[string]bool{}
		for _, id := range query(t, s, "SELECT k.id FROM tasks k JOIN results r ON r.task_id = k.id JOIN attempts a ON a.task_id = k.id WHERE k.state = 'accepted'") {
			stored[id] = true
		}
		for id := range acknowledged {
			if !stored[id] {
				t.Errorf("task %s was acknowledged and is lost", id)
			}
		}
		r, err := s.Run(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		sum, err := s.Summary(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		n := int64(len(stored))
		if r.Accepted != n || sum.Records != n || r.Attempts != n || r.Totals.Requests != n || r.State != RunRunning {
			t.Errorf("%d stored, run %+v, records %d", n, r, sum.Records)
		}
		if got := query(t, s, "SELECT count(*) FROM tasks WHERE state = 'pending' AND tries = 1")[0]; got != inFlight {
			t.Errorf("tries were not kept: %s of %s", got, inFlight)
		}
		if got := fmt.Sprint(r.Tasks - r.Accepted); got != query(t, s, "SELECT count(*) FROM tasks WHERE state = 'pending'")[0] {
			t.Errorf("pending: %s by count", got)
		}
		// The intent stays until it is settled.
		write(t, s, Tx{Run: 1, Settled: []string{"e1"}})
		if rec, err = s.Own(t.Context(), 1); err != nil || len(rec.Unknown) != 0 || rec.Tasks != 0 {
			t.Errorf("second time %+v, %v", rec, err)
		}
	}
}

func TestProcessesStartingAtTheSameInstant(t *testing.T) {
	path := filepath.Join(t.TempDir(), "scrapetop.db")
	s := openAt(t, path, Options{})
	if _, err := s.CreateRun(t.Context(), RunSpec{Provider: "direct"}); err != nil {
		t.Fatal(err)
	}
	for range 12 {
		var both [2]*process
		for i := range both {
			both[i] = start(t, "own", path)
		}
		said := both[0].line(t) + " " + both[1].line(t)
		if said != "owned held" && said != "held owned" {
			t.Fatalf("two processes: %s", said)
		}
		if r, err := s.Run(t.Context(), 1); err != nil || r.State != RunRunning {
			t.Errorf("state %s, %v", r.State, err)
		}
		for _, p := range both {
			if err := errors.Join(p.in.Close(), p.cmd.Wait()); err != nil {
				t.Fatal(err)
			}
		}
	}
	left, err := filepath.Glob(path + "-owner-*")
	if err != nil || len(left) != 0 {
		t.Errorf("lock files left: %v, %v", left, err)
	}
}

func TestStoresOwningAtTheSameInstant(t *testing.T) {
	path := filepath.Join(t.TempDir(), "scrapetop.db")
	stores := make([]*Store, 4)
	for i := range stores {
		stores[i] = openAt(t, path, Options{})
	}
	if _, err := stores[0].CreateRun(t.Context(), RunSpec{Provider: "direct"}); err != nil {
		t.Fatal(err)
	}
	for range 50 {
		errs := make([]error, len(stores))
		var group sync.WaitGroup
		for i, s := range stores {
			group.Go(func() { _, errs[i] = s.Own(t.Context(), 1) })
		}
		group.Wait()
		owned := 0
		for i, err := range errs {
			switch {
			case err == nil:
				owned++
				if err := stores[i].Disown(t.Context()); err != nil {
					t.Fatal(err)
				}
			case !errors.Is(err, ErrHeld) || !strings.Contains(err.Error(), fmt.Sprint("process ", os.Getpid())):
				t.Fatal(err)
			}
		}
		if owned != 1 {
			t.Fatalf("%d got the run", owned)
		}
	}
}

func TestDisownGivesBackWhatWasInFlight(t *testing.T) {
	s := openTemp(t, Options{})
	run, tasks := newRun(t, s, "direct", "http://a.test/1", "http://a.test/2")
	write(t, s, Tx{Run: run.ID, Tasks: []TaskChange{{ID: tasks[0].ID, State: TaskInFlight, Tries: 3}}})
	if err := s.Disown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := query(t, s, "SELECT state, tries FROM tasks ORDER BY id"); got[0] != "pending|3" {
		t.Errorf("%v", got)
	}
	if got := query(t, s, "SELECT state FROM runs"); got[0] != "interrupted" {
		t.Errorf("%v", got)
	}
	if rec, err := s.Own(t.Context(), run.ID); err != nil || rec.Tasks != 0 {
		t.Errorf("%+v, %v", rec, err)
	}
	if _, err := s.Own(t.Context(), 77); !errors.Is(err, ErrNoRun) {
		t.Errorf("%v", err)
	}
	write(t, s, Tx{Run: run.ID, State: RunFinished, Finished: time.Now()})
	if err := s.Disown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Run(t.Context(), run.ID); err != nil || got.State != RunFinished || got.FinishedAt.IsZero() {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestOwnRecoversOtherRunsToo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "scrapetop.db")
	s := openAt(t, path, Options{})
	p := start(t, "write", path) // makes run 1
	for range 100 {
		p.line(t)
	}
	p.kill(t)
	run, _ := newRun(t, s, "direct") // owns run 2
	if run.ID != 2 {
		t.Fatalf("run %d", run.ID)
	}
	if got := query(t, s, "SELECT state FROM runs WHERE id = 1"); got[0] != "interrupted" {
		t.Errorf("%v", got)
	}
	if got := query(t, s, "SELECT count(*) FROM tasks WHERE state = 'in_flight'"); got[0] != "0" {
		t.Errorf("%v in flight", got)
	}
	if left, err := filepath.Glob(path + "-owner-*"); err != nil || len(left) != 1 {
		t.Errorf("lock files: %v, %v", left, err)
	}
}

func TestLinkToTheFileIsTheSameDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "scrapetop.db")
	s := openAt(t, path, Options{})
	run, _ := newRun(t, s, "direct")
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	other := openAt(t, link, Options{})
	if _, err := other.Own(t.Context(), run.ID); !errors.Is(err, ErrHeld) {
		t.Errorf("got %v", err)
	}
	if got, err := other.Run(t.Context(), run.ID); err != nil || got.State != RunRunning {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestStrayLockFilesAreSwept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "[a]*.db")
	s, other := openAt(t, path, Options{}), openAt(t, path, Options{})
	for _, name := range []string{path + "-owner-STRAY", path + "-other"} {
		put(t, name, nil)
	}
	newRun(t, s, "direct")
	newRun(t, other, "direct")
	dir, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range dir {
		names = append(names, entry.Name())
	}
	if all := strings.Join(names, " "); len(names) != 6 || strings.Contains(all, "STRAY") || !strings.Contains(all, "-other") {
		t.Errorf("left: %s", all)
	}
}

func TestViewerBesideADriver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "scrapetop.db")
	s := openAt(t, path, Options{})
	run, tasks := newRun(t, s, "direct", "http://a.test/1")
	viewer := openAt(t, path, Options{ReadOnly: true})
	for _, want := range []int64{0, 1} {
		if got, err := viewer.Run(t.Context(), run.ID); err != nil || got.State != RunRunning || got.Accepted != want {
			t.Errorf("%+v, %v", got, err)
		}
		write(t, s, accept(run.ID, tasks[0], "page"))
	}
	write(t, s, Tx{Run: run.ID, State: RunDraining})
	if got, err := viewer.Latest(t.Context()); err != nil || got.State != RunDraining {
		t.Errorf("%+v, %v", got, err)
	}
	if err := s.Disown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := viewer.Latest(t.Context()); err != nil || got.State != RunInterrupted {
		t.Errorf("%+v, %v", got, err)
	}
}
