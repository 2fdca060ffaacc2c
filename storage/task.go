package storage

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"
)

// Enqueue adds tasks to a run in one transaction. A URL that the run has already is counted as a duplicate, here and in
// the run's totals, and changes nothing. A batch of about a thousand is quickest.
func (s *Store) Enqueue(ctx context.Context, run int64, tasks []NewTask) (Queued, error) {
	metas := make([]any, len(tasks))
	for i := range tasks {
		var err error
		if metas[i], err = object(tasks[i].Meta); err != nil {
			return Queued{}, fmt.Errorf("meta of %q: %w", tasks[i].URL, err)
		}
	}
	var q Queued
	err := s.do(ctx, func(*sql.Conn) error {
		q = Queued{}
		created := ms(time.Now())
		place := map[string]int{} // domain -> index in q.Domains
		for i := range tasks {
			t := &tasks[i]
			input := any(t.InputURL)
			if t.InputURL == t.URL || t.InputURL == "" {
				input = nil
			}
			n, err := s.writer.execCount(`INSERT INTO task (run, url, input_url, domain, tenant, priority, input_id, meta, state, created_at, updated_at)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?, ?) ON CONFLICT (url, run) DO NOTHING`,
				run, t.URL, input, t.Domain, t.Tenant, t.Priority, text(t.Key), metas[i], created, created)
			if err != nil {
				return err
			}
			if n == 0 {
				q.Duplicates++
				continue
			}
			q.Added++
			at, seen := place[t.Domain]
			if !seen {
				at = len(q.Domains)
				place[t.Domain] = at
				q.Domains = append(q.Domains, DomainCount{Domain: t.Domain, Oldest: time.UnixMilli(created).UTC()})
			}
			q.Domains[at].Waiting++
		}
		n, err := s.writer.execCount(`UPDATE total SET tasks = tasks + ?, duplicates = duplicates + ? WHERE run = ?`, q.Added, q.Duplicates, run)
		if err == nil && n == 0 {
			err = fmt.Errorf("run %d: %w", run, ErrNoRun)
		}
		return err
	})
	if err != nil {
		return Queued{}, err
	}
	return q, nil
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
