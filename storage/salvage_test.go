package storage

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// filled is a database of two runs with results of all sizes, dead letters, remote jobs, events and holds, closed.
func filled(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "whole.db")
	s, err := Open(t.Context(), path, Options{Fast: true})
	if err != nil {
		t.Fatal(err)
	}
	for r := range 2 {
		urls := make([]string, 400)
		for i := range urls {
			urls[i] = fmt.Sprintf("https://a.test/%d/%d", r, i)
		}
		run, tasks := newRun(t, s, "spidra", urls...)
		for i, task := range tasks {
			switch {
			case i%50 == 0:
				write(t, s, Tx{Run: run.ID, Tasks: []TaskChange{{ID: task.ID, State: TaskDead, Reason: "not_found"}}})
			case i%50 == 1:
				write(t, s, Tx{Run: run.ID, Tasks: []TaskChange{{ID: task.ID, State: TaskRemote}},
					Jobs: []RemoteJob{{Job: fmt.Sprint("scrape/", i), Credential: "k", Tasks: []int64{task.ID}, SubmittedAt: time.Now(), NextPollAt: time.Now()}}})
			case i < 350:
				write(t, s, accept(run.ID, task, strings.Repeat(fmt.Sprint("page ", i, " "), 1+(i*i)%4000)))
			}
		}
		write(t, s, Tx{Run: run.ID, Events: []Event{{At: time.Now(), Level: "info", Text: "an event"}}})
	}
	if err := errors.Join(s.SetPause(t.Context(), Pause{Scope: "domain", Key: "a.test", Cause: "user", Source: "cli"}), s.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// bodies are the results of a file by task.
func bodies(t *testing.T, s *Store) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, row := range query(t, s, "SELECT task, CAST(body AS TEXT) FROM result") {
		task, body, _ := strings.Cut(row, "|")
		all[task] = body
	}
	return all
}

func TestSalvageOfAWholeFileIsACopy(t *testing.T) {
	from := filled(t)
	to := filepath.Join(t.TempDir(), "copy.db")
	got, err := Salvage(t.Context(), from, to)
	if err != nil || got.Lost != 0 || got.Named != 0 {
		t.Fatalf("%+v, %v", got, err)
	}
	a, b := openAt(t, from, Options{}), openAt(t, to, Options{})
	for _, table := range []string{"run", "total", "task", "attempt", "result", "job", "event", "pause"} {
		q := "SELECT * FROM " + table
		if x, y := query(t, a, q), query(t, b, q); len(x) == 0 || !slices.Equal(x, y) {
			t.Errorf("%s: %d rows became %d", table, len(x), len(y))
		}
		if i := slices.IndexFunc(got.Tables, func(s SalvagedTable) bool { return s.Name == table }); i < 0 || got.Tables[i].Damaged {
			t.Errorf("%s: %+v", table, got.Tables)
		}
	}
	if info, err := os.Stat(to); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// TestSalvageOfDamage: whatever pages are garbage, the copy is consistent, holds no result that is not the original, and
// lacks none that lay elsewhere.
func TestSalvageOfDamage(t *testing.T) {
	whole := filled(t)
	image, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	original := bodies(t, openAt(t, whole, Options{}))
	var all, trees []int // pages: all but the first, and those that hold a part of a table or an index instead of a long body
	for page := 1; page < len(image)/pageBytes; page++ {
		all = append(all, page)
		if slices.Contains([]byte{0x02, 0x05, 0x0a, 0x0d}, image[page*pageBytes]) {
			trees = append(trees, page)
		}
	}
	for seed := range uint64(24) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			hurt := slices.Clone(image)
			wounds, pages := 1+rng.IntN(6), all
			if seed%3 > 0 {
				pages = trees
			}
			for range wounds {
				page := pages[rng.IntN(len(pages))]
				part := hurt[page*pageBytes : (page+1)*pageBytes]
				switch rng.IntN(3) {
				case 0:
					clear(part)
				case 1:
					for i := range part {
						part[i] = byte(rng.Uint32())
					}
				default: // the end was never written
					clear(part[pageBytes/2:])
				}
			}
			dir := t.TempDir()
			from, to := filepath.Join(dir, "hurt.db"), filepath.Join(dir, "copy.db")
			if err := os.WriteFile(from, hurt, 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := Salvage(t.Context(), from, to)
			if errors.Is(err, ErrDamaged) { // a page of the schema
				t.Log(err)
				if left, _ := filepath.Glob(to + "*"); len(left) > 0 {
					t.Errorf("%v is left behind", left)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			s := openAt(t, to, Options{})
			if err := s.Check(t.Context()); err != nil {
				t.Error(err)
			}
			if broken := query(t, s, "PRAGMA foreign_key_check"); len(broken) > 0 {
				t.Errorf("rows that belong to nothing: %v", broken)
			}
			found := bodies(t, s)
			t.Logf("%d of %d results, %+v", len(found), len(original), got)
			wrong := 0
			for task, body := range found {
				if original[task] != body {
					wrong++
				}
			}
			// Zeros within a page of a body are not told from a body of zeros: nothing in the file says so.
			if wrong > wounds {
				t.Errorf("%d results are not the original ones", wrong)
			}
			for table, want := range map[string]int64{"task": 800, "attempt": 672, "result": 672, "job": 16, "event": 2} {
				i := slices.IndexFunc(got.Tables, func(t SalvagedTable) bool { return t.Name == table })
				if i < 0 || got.Tables[i].Rows < want && !got.Tables[i].Damaged {
					t.Errorf("rows of %s are missing and nothing is said: %+v", table, got)
				}
			}
			if state := query(t, s, "SELECT count(*) FROM task k WHERE state = 'accepted' AND NOT EXISTS (SELECT 1 FROM result r WHERE r.task = k.id)"); state[0] != "0" && got.Lost > 0 {
				t.Errorf("%s tasks are accepted without a result", state[0])
			}
			if _, err := s.Runs(t.Context(), 0); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestSalvageRefuses(t *testing.T) {
	dir := t.TempDir()
	name := func(s string) string { return filepath.Join(dir, s) }
	for path, text := range map[string]string{"text.db": "hello, this is no database at all", "there.db": ""} {
		if err := os.WriteFile(name(path), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	whole := filled(t)
	for _, c := range []struct {
		from, to string
		want     error
	}{
		{name("none.db"), name("x.db"), ErrMissing},
		{name("text.db"), name("x.db"), ErrForeign},
		{whole, name("there.db"), os.ErrExist},
		{whole, filepath.Join(dir, "no", "such", "x.db"), os.ErrNotExist},
	} {
		if _, err := Salvage(t.Context(), c.from, c.to); !errors.Is(err, c.want) {
			t.Errorf("%s to %s: %v, want %v", c.from, c.to, err, c.want)
		}
	}
	if left, _ := filepath.Glob(name("x.db*")); len(left) > 0 {
		t.Errorf("%v is left behind", left)
	}
}
