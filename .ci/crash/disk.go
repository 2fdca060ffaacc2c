package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	_ "github.com/mattn/go-sqlite3" // the driver
)

// task is a row of the tasks view.
type task struct {
	id              int64
	state, reason   string
	tries, attempts int
}

// remote is a job that the file knows.
type remote struct {
	urls  []string
	polls int // that are recorded
}

// intent is what the file says of a call whose answer it does not have.
type intent struct {
	exchange, job string // without a job a submit
	tasks         []int64
}

// cooldown is a row of the cooldowns view.
type cooldown struct {
	scope, key string
	until      time.Time
}

// disk is what a killed program left in its file, read as a user would: by the views.
type disk struct {
	runs      int
	finished  bool // its run is done
	tasks     map[string]task
	results   map[string]int
	submits   map[string]int // recorded ones, direct fetches too, by URL
	jobs      map[string]*remote
	cooldowns []cooldown
	intents   []intent
	lost      map[int64]bool           // tasks that an event names as lost
	named     map[string]map[int64]int // how often events name an exchange, by task
	searched  map[int64]bool           // tasks of a submit of which an event says that it is searched for
	version   int                      // of the schema
}

// readDisk checks the file and reads it. A file that is not there yet is an empty one.
func readDisk(path string) (d disk, err error) {
	d = disk{tasks: map[string]task{}, results: map[string]int{}, submits: map[string]int{}, jobs: map[string]*remote{},
		lost: map[int64]bool{}, named: map[string]map[int64]int{}, searched: map[int64]bool{}}
	if info, err := os.Stat(path); errors.Is(err, os.ErrNotExist) || err == nil && info.Size() == 0 {
		return d, nil
	}
	dir, err := copied(path)
	if err != nil {
		return d, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	db, err := sql.Open("sqlite3", "file:"+filepath.ToSlash(filepath.Join(dir, filepath.Base(path))))
	if err != nil {
		return d, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	var verdict string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&verdict); err != nil {
		return d, fmt.Errorf("the file cannot be checked: %w", err)
	}
	if verdict != "ok" {
		return d, fmt.Errorf("the file is damaged: %s", verdict)
	}
	if err := db.QueryRow("PRAGMA user_version").Scan(&d.version); err != nil {
		return d, err
	}
	var views int
	if err := db.QueryRow("SELECT count(*) FROM sqlite_schema WHERE type = 'view' AND name = 'runs'").Scan(&views); err != nil || views == 0 {
		return d, err // killed before the schema was there
	}
	var t task
	var url, job, kind, at, text string
	var n int
	var c cooldown
	var in intent
	for _, q := range []struct {
		query string
		into  []any
		take  func() error
	}{
		{"SELECT state FROM runs", []any{&text}, func() error { d.runs, d.finished = d.runs+1, text == "finished"; return nil }},
		{"SELECT url, id, state, coalesce(reason, ''), tries, attempts FROM tasks", []any{&url, &t.id, &t.state, &t.reason, &t.tries, &t.attempts},
			func() error { d.tasks[url] = t; return nil }},
		{"SELECT url, count(*) FROM results GROUP BY url", []any{&url, &n}, func() error { d.results[url] = n; return nil }},
		{"SELECT url, count(DISTINCT exchange) FROM attempts WHERE kind IN ('submit', 'probe', 'fetch') GROUP BY url", []any{&url, &n},
			func() error { d.submits[url] = n; return nil }},
		{"SELECT remote_job, url, kind, count(DISTINCT exchange) FROM attempts WHERE remote_job IS NOT NULL GROUP BY 1, 2, 3", []any{&job, &url, &kind, &n},
			func() error { d.job(job, url, kind, n); return nil }},
		{"SELECT scope, key, until FROM cooldowns", []any{&c.scope, &c.key, &at}, func() (err error) {
			c.until, err = time.Parse(time.RFC3339, at)
			d.cooldowns = append(d.cooldowns, c)
			return err
		}},
		{"SELECT task_id, text FROM events WHERE task_id IS NOT NULL", []any{&t.id, &text}, func() error { d.event(t.id, text); return nil }},
		// The one table that no view shows.
		{"SELECT exchange, job, tasks FROM intent", []any{&in.exchange, &in.job, &text}, func() error {
			in.tasks = nil
			if err := json.Unmarshal([]byte(text), &in.tasks); err != nil {
				return err
			}
			d.intents = append(d.intents, in)
			return nil
		}},
	} {
		if err := each(db, q.query, q.into, q.take); err != nil {
			return d, fmt.Errorf("%s: %w", q.query, err)
		}
	}
	return d, nil
}

var exchangeOf = regexp.MustCompile(`\(exchange ([^)]+)\)`)

// event takes what the events say of calls that were in flight at a kill.
func (d *disk) event(task int64, text string) {
	if strings.HasPrefix(text, "dead letter: lost") {
		d.lost[task] = true
	}
	if strings.HasPrefix(text, "a submit's answer never came before the restart") {
		d.searched[task] = true
	}
	if x := exchangeOf.FindStringSubmatch(text); x != nil {
		if d.named[x[1]] == nil {
			d.named[x[1]] = map[int64]int{}
		}
		d.named[x[1]][task]++
	}
}

// intended reports that the file says what is being done with a task, or a job, before it is known how it ended.
func (d *disk) intended(task int64, job string) bool {
	return slices.ContainsFunc(d.intents, func(in intent) bool {
		return filepath.Base(in.job) == filepath.Base(job) && (job != "" || slices.Contains(in.tasks, task))
	})
}

// copied copies a file with its logs into a folder of its own: whoever opens it recovers it, and with the file itself that is
// the program's to do.
func copied(path string) (dir string, err error) {
	if dir, err = os.MkdirTemp("", "crash-disk"); err != nil {
		return "", err
	}
	for _, end := range []string{"", "-wal", "-journal"} {
		text, err := os.ReadFile(path + end)
		if end != "" && errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(path)+end), text, 0o600)
		}
		if err != nil {
			return "", errors.Join(err, os.RemoveAll(dir))
		}
	}
	return dir, nil
}

func each(db *sql.DB, query string, into []any, take func() error) error {
	rows, err := db.Query(query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if err := take(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// job notes what the attempts of one kind tell of a job. Spidra's ids carry their kind before a slash.
func (d *disk) job(id, url, kind string, n int) {
	id = filepath.Base(id)
	if d.jobs[id] == nil {
		d.jobs[id] = &remote{}
	}
	if kind == "poll" {
		d.jobs[id].polls += n
		return
	}
	d.jobs[id].urls = append(d.jobs[id].urls, url)
}
