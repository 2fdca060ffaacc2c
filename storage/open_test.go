package storage

import (
	"bytes"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"
)

func TestOpenCreatesForItsUserAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "odd ?#%41;&name=x.db")
	s := openAt(t, path, Options{})
	newRun(t, s, "direct", "http://a.test/")
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if mode := info.Mode().Perm(); mode != 0o600 {
			t.Errorf("%s has mode %o", name, mode)
		}
	}
	if s.Path() != path {
		t.Errorf("path %q", s.Path())
	}
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
	if got := query(t, s, "PRAGMA query_only"); got[0] != "1" {
		t.Error("a reader may write")
	}
}

func TestCloseLeavesOneFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "scrapetop.db")
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	newRun(t, s, "direct", "http://a.test/")
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(path + "*")
	if err != nil || len(left) != 1 {
		t.Errorf("left %v, %v", left, err)
	}
	if err := tryWrite(s, Tx{Run: 1}); !errors.Is(err, ErrClosed) {
		t.Errorf("write after close: %v", err)
	}
}

// plainly changes a file with SQLite as any other program would.
func plainly(t *testing.T, path string, statements ...string) {
	t.Helper()
	db := sql.OpenDB(connector{dsn: dsn(path, "mode=rwc")})
	defer db.Close()
	for _, q := range statements {
		if _, err := db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	cases := []struct {
		name     string
		make     func(t *testing.T, path string)
		readOnly bool
		want     error
		say      string
	}{
		{"a missing file, for reading", func(*testing.T, string) {}, true, ErrMissing, "--db"},
		{"a text file", func(t *testing.T, p string) { put(t, p, []byte("url\nhttp://a.test/\n")) }, false, ErrForeign, "not SQLite"},
		{"a short binary file", func(t *testing.T, p string) { put(t, p, []byte{0}) }, false, ErrForeign, "not SQLite"},
		{"a folder", func(t *testing.T, p string) {
			if err := os.Mkdir(p, 0o700); err != nil {
				t.Fatal(err)
			}
		}, false, ErrForeign, "folder"},
		{"a link to nowhere", func(t *testing.T, p string) {
			if err := os.Symlink(p+".elsewhere", p); err != nil {
				t.Fatal(err)
			}
		}, false, ErrForeign, ""},
		{"another program's database", func(t *testing.T, p string) { plainly(t, p, "CREATE TABLE bookmarks (url TEXT)") }, false, ErrForeign, "another program"},
		{"a newer database", func(t *testing.T, p string) { makeDB(t, p); plainly(t, p, "PRAGMA user_version = 99") }, false, ErrNewer, "99"},
		{"a newer database, for reading", func(t *testing.T, p string) { makeDB(t, p); plainly(t, p, "PRAGMA user_version = 99") }, true, ErrNewer, "99"},
		{"an older database, for reading", func(t *testing.T, p string) { makeDB(t, p); plainly(t, p, "PRAGMA user_version = 1") }, true, ErrOlder, "version 1"},
		{"a database with garbage inside", func(t *testing.T, p string) { makeDB(t, p); damage(t, p) }, false, ErrDamaged, "doctor --repair"},
		{"a database with garbage inside, for reading", func(t *testing.T, p string) { makeDB(t, p); damage(t, p) }, true, ErrDamaged, "doctor --repair"},
		{"a database cut short", func(t *testing.T, p string) {
			makeDB(t, p)
			if err := os.Truncate(p, 10_000); err != nil {
				t.Fatal(err)
			}
		}, false, ErrDamaged, "doctor --repair"},
		{"an empty file, for reading", func(t *testing.T, p string) { put(t, p, nil) }, true, ErrForeign, "empty"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "scrapetop.db")
			c.make(t, path)
			before, _ := os.ReadFile(path) // a folder or nothing reads as nothing
			s, err := Open(t.Context(), path, Options{ReadOnly: c.readOnly})
			if err == nil {
				s.Close()
			}
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.say) || !strings.Contains(err.Error(), path) {
				t.Errorf("got %v, want %v saying %q", err, c.want, c.say)
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
		})
	}
}

func put(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// makeDB makes a database with a run of 100 results.
func makeDB(t *testing.T, path string) {
	t.Helper()
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var urls []string
	for i := range 100 {
		urls = append(urls, "http://a.test/"+strings.Repeat("x", i))
	}
	run, tasks := newRun(t, s, "direct", urls...)
	for _, task := range tasks {
		s.Write(accept(run.ID, task, strings.Repeat("page ", 1000)), nil)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// damage overwrites every second page but the first ones.
func damage(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := 10 * pageBytes; at+pageBytes <= len(data); at += 2 * pageBytes {
		copy(data[at:], bytes.Repeat([]byte{0xA5}, pageBytes))
	}
	put(t, path, data)
}

func TestOpenTakesAnEmptyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "scrapetop.db")
	put(t, path, nil)
	s := openAt(t, path, Options{})
	newRun(t, s, "direct", "http://a.test/")
}

func TestReadOnlyChangesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "scrapetop.db")
	makeDB(t, path)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), path, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if run, err := s.Latest(t.Context()); err != nil || run.Accepted != 100 {
		t.Errorf("run %+v, %v", run, err)
	}
	for name, err := range map[string]error{
		"Write":    tryWrite(s, Tx{Run: 1}),
		"SetPause": s.SetPause(t.Context(), Pause{Scope: "domain", Key: "a.test"}),
		"Own":      func() error { _, err := s.Own(t.Context(), 1); return err }(),
	} {
		if !errors.Is(err, ErrReadOnly) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := errors.Join(s.Sync(t.Context()), s.Disown(t.Context()), s.Close()); err != nil {
		t.Error(err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file was changed, %v", err)
	}
}

func TestUpgradeKeepsWhatIsThere(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "scrapetop.db")
	all, err := steps(embedded)
	if err != nil {
		t.Fatal(err)
	}
	old, err := open(ctx, path, Options{}, all[:1])
	if err != nil {
		t.Fatal(err)
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	plainly(t, path,
		`INSERT INTO run (id, name, input, provider, options, credentials, accounts, state, started_at) VALUES (7, 'n', 'i', 'direct', '', 1, 1, 'stopped', 1)`,
		`INSERT INTO total (run, tasks, duplicates) VALUES (7, 1, 2)`,
		`INSERT INTO task (run, url, domain, tenant, priority, state, created_at, updated_at) VALUES (7, 'http://a.test/1', 'a.test', '', 0, 'pending', 1, 1)`)
	s := openAt(t, path, Options{})
	if run, err := s.Run(ctx, 7); err != nil || run.Tasks != 1 || run.Added != 0 || run.Pending != 1 || run.Totals.Duplicates != 2 {
		t.Errorf("%+v, %v", run, err)
	}
	if got := query(t, s, "SELECT url, state FROM tasks"); len(got) != 1 || got[0] != "http://a.test/1|pending" {
		t.Errorf("tasks %v", got)
	}
	if got := query(t, s, "PRAGMA user_version"); got[0] != "6" {
		t.Errorf("version %v", got)
	}
}

func TestFailedUpgradeLeavesTheOldVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "scrapetop.db")
	makeDB(t, path)
	folder := fstest.MapFS{}
	names, err := fs.Glob(embedded, "migrations/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		data, err := embedded.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		folder[name] = &fstest.MapFile{Data: data}
	}
	folder["migrations/0007_bad.sql"] = &fstest.MapFile{Data: []byte("CREATE TABLE half (a); CREATE TABLE task (b);")}
	all, err := steps(folder)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := open(t.Context(), path, Options{}, all); err == nil {
		s.Close()
		t.Fatal("opened")
	} else if !strings.Contains(err.Error(), "0007_bad.sql") {
		t.Errorf("%v", err)
	}
	s := openAt(t, path, Options{})
	if got := query(t, s, "SELECT count(*) FROM sqlite_schema WHERE name = 'half'"); got[0] != "0" {
		t.Error("half a step stayed")
	}
}

func TestMigrationsAreNumberedWithoutGap(t *testing.T) {
	if _, err := steps(fstest.MapFS{"migrations/0002_x.sql": &fstest.MapFile{}}); err == nil {
		t.Error("a gap was accepted")
	}
}

func TestOpenAtTheSameInstant(t *testing.T) {
	for range 10 {
		path := filepath.Join(t.TempDir(), "scrapetop.db")
		errs := make(chan error)
		for range 4 {
			go func() {
				s, err := Open(t.Context(), path, Options{})
				if err == nil {
					_, err = s.CreateRun(t.Context(), RunSpec{Provider: "direct"})
					err = errors.Join(err, s.Close())
				}
				errs <- err
			}()
		}
		for range 4 {
			if err := <-errs; err != nil {
				t.Fatal(err)
			}
		}
		s := openAt(t, path, Options{ReadOnly: true})
		if runs, err := s.Runs(t.Context(), 0); err != nil || len(runs) != 4 {
			t.Fatalf("%d runs, %v", len(runs), err)
		}
	}
}

func TestVirtualTime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "scrapetop.db")
	synctest.Test(t, func(t *testing.T) {
		s, err := Open(t.Context(), path, Options{Fast: true})
		if err != nil {
			t.Fatal(err)
		}
		run, tasks := newRun(t, s, "direct", "http://a.test/1")
		start := time.Now()
		time.Sleep(time.Hour)
		write(t, s, accept(run.ID, tasks[0], "later"))
		got, err := s.Cached(t.Context(), "http://a.test/1", "direct", "o", start.Add(time.Minute))
		if err != nil || len(got) != 1 || !got[0].FetchedAt.Equal(start.Add(time.Hour)) {
			t.Errorf("%v %v", got, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}
