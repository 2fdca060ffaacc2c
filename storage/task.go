package storage

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"time"
)

// Enqueue adds tasks to a run in one transaction. A URL that the run has already is counted as a duplicate, here and in
// the run's totals, and changes nothing. A batch of about a thousand is quickest.
func (s *Store) Enqueue(ctx context.Context, run int64, tasks []NewTask) (Queued, error) {
	return s.newTasks(ctx, run, tasks, false)
}

// Add is an Enqueue of tasks that are no lines of the run's input: a person added them. The run counts them as Added, and its
// duplicates stay those of the input.
func (s *Store) Add(ctx context.Context, run int64, tasks []NewTask) (Queued, error) {
	return s.newTasks(ctx, run, tasks, true)
}

func (s *Store) newTasks(ctx context.Context, run int64, tasks []NewTask, byHand bool) (Queued, error) {
	metas := make([]any, len(tasks))
	for i := range tasks {
		var err error
		if metas[i], err = object(tasks[i].Meta); err != nil {
			return Queued{}, fmt.Errorf("meta of %q: %w", tasks[i].URL, err)
		}
	}
	var q Queued
	err := s.do(ctx, func(*sql.Conn) (err error) {
		q, err = s.writer.enqueue(run, tasks, metas, byHand)
		return err
	})
	if err != nil {
		return Queued{}, err
	}
	return q, nil
}

// enqueue adds tasks in the open transaction. Asking for each whether it was added would cost a third more than adding it.
func (w *writer) enqueue(run int64, tasks []NewTask, metas []any, byHand bool) (q Queued, err error) {
	created := ms(time.Now())
	last, err := w.number(`SELECT coalesce(max(id), 0) FROM task`)
	if err != nil {
		return q, err
	}
	before, err := w.changes()
	if err != nil {
		return q, err
	}
	for i := range tasks {
		t := &tasks[i]
		input := any(t.InputURL)
		if t.InputURL == t.URL || t.InputURL == "" {
			input = nil
		}
		if err := w.exec(`INSERT INTO task (run, url, input_url, domain, tenant, priority, input_id, meta, state, created_at, updated_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?, ?) ON CONFLICT (url, run) DO NOTHING`,
			run, t.URL, input, t.Domain, t.Tenant, t.Priority, text(t.Key), metas[i], created, created); err != nil {
			return q, err
		}
	}
	after, err := w.changes()
	if err != nil {
		return q, err
	}
	q.Added = after - before
	q.Duplicates = int64(len(tasks)) - q.Added
	place := map[string]int{} // domain -> index in q.Domains
	waits := func(domain string) {
		at, seen := place[domain]
		if !seen {
			at = len(q.Domains)
			place[domain] = at
			q.Domains = append(q.Domains, DomainCount{Domain: domain, Oldest: time.UnixMilli(created).UTC()})
		}
		q.Domains[at].Waiting++
	}
	if q.Duplicates == 0 {
		for i := range tasks {
			waits(tasks[i].Domain)
		}
	} else if err := w.added(last, waits); err != nil {
		return q, err
	}
	added, duplicates := int64(0), q.Duplicates
	if byHand {
		added, duplicates = q.Added, 0
	}
	n, err := w.execCount(`UPDATE total SET tasks = tasks + ?, duplicates = duplicates + ?, added = added + ? WHERE run = ?`, q.Added, duplicates, added, run)
	if err == nil && n == 0 {
		err = fmt.Errorf("run %d: %w", run, ErrNoRun)
	}
	return q, err
}

// added hands over the domains of the tasks that were added behind last: ids only grow.
func (w *writer) added(last int64, take func(domain string)) error {
	stmt, err := w.statement(`SELECT domain FROM task WHERE id > ? ORDER BY id`)
	if err != nil {
		return err
	}
	return stmt.query(func(row []driver.Value) error {
		take(row[0].(string))
		return nil
	}, last)
}

// waiting is the condition of the index task_waiting, word for word: SQLite takes the index for nothing else.
const waiting = `state IN ('pending', 'delayed')`

// DomainCounts pages through the domains of a run that have waiting tasks, in the order of their names, beyond after
// (empty: from the start).
func (s *Store) DomainCounts(ctx context.Context, run int64, after string, limit int) ([]DomainCount, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT d.domain, d.n, t.created_at FROM (
			SELECT domain, count(*) AS n, min(id) AS first FROM task INDEXED BY task_waiting
			WHERE run = ? AND domain > ? AND `+waiting+` GROUP BY domain ORDER BY domain LIMIT ?) d
		JOIN task t ON t.id = d.first ORDER BY d.domain`, run, after, limit)
	return collect(s, rows, err, func(row interface{ Scan(...any) error }) (DomainCount, error) {
		var c DomainCount
		var oldest int64
		err := row.Scan(&c.Domain, &c.Waiting, &oldest)
		c.Oldest = time.UnixMilli(oldest).UTC()
		return c, err
	})
}

const taskColumns = `SELECT id, url, domain, tenant, state, priority, tries, attempts, invalids, unknowns, created_at, first_try_at, not_before, hop_url, hops FROM task `

func scanTask(row interface{ Scan(...any) error }) (Task, error) {
	var t Task
	var created int64
	var first, notBefore sql.NullInt64
	var hop sql.NullString
	err := row.Scan(&t.ID, &t.URL, &t.Domain, &t.Tenant, &t.State, &t.Priority, &t.Tries, &t.Attempts, &t.Invalids, &t.Unknowns,
		&created, &first, &notBefore, &hop, &t.Hops)
	t.CreatedAt = time.UnixMilli(created).UTC()
	t.FirstTryAt, t.NotBefore = at(first), at(notBefore)
	t.HopURL = hop.String
	return t, err
}

// TasksByID returns the tasks with these ids in ascending order, in any state; an id that does not exist is left out.
func (s *Store) TasksByID(ctx context.Context, list []int64) ([]Task, error) {
	rows, err := s.read.QueryContext(ctx, taskColumns+`WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id`, ids(list))
	return collect(s, rows, err, scanTask)
}

// Jobs returns the remote jobs of a run that are not done, the one to be polled next first.
func (s *Store) Jobs(ctx context.Context, run int64) ([]RemoteJob, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT job, credential, tasks, submitted_at, expires_at, next_poll_at
		FROM job INDEXED BY job_open WHERE run = ? AND done = 0 ORDER BY next_poll_at, job`, run)
	return collect(s, rows, err, func(row interface{ Scan(...any) error }) (RemoteJob, error) {
		var j RemoteJob
		var tasks []byte
		var submitted, expires, poll sql.NullInt64
		if err := row.Scan(&j.Job, &j.Credential, &tasks, &submitted, &expires, &poll); err != nil {
			return j, err
		}
		j.SubmittedAt, j.ExpiresAt, j.NextPollAt = at(submitted), at(expires), at(poll)
		if err := json.Unmarshal(tasks, &j.Tasks); err != nil {
			return j, fmt.Errorf("remote job %s: tasks: %w", j.Job, err)
		}
		return j, nil
	})
}
