package storage

import (
	"context"
	"fmt"
	"strings"
)

const damagedText = "it was in the damaged part of the database"

// mend makes the copy consistent with itself.
func (s *salvage) mend(ctx context.Context) error {
	var holders []string
	damaged := map[string]bool{}
	for _, t := range s.done.Tables {
		damaged[t.Name] = t.Damaged
	}
	for _, name := range ofRuns {
		holders = append(holders, "SELECT run FROM "+name)
	}
	changes := []struct {
		query string
		count *int64
		when  bool
	}{
		{`INSERT INTO run (id, name, input, provider, options, credentials, accounts, state, reason, started_at)
			SELECT h.run, 'salvaged', '', coalesce((SELECT a.provider FROM attempt a WHERE a.run = h.run LIMIT 1), 'direct'), '', 1, 1, 'stopped',
				'` + damagedText + `', coalesce((SELECT min(k.created_at) FROM task k WHERE k.run = h.run), 0)
			FROM (` + strings.Join(holders, " UNION ") + `) h WHERE h.run NOT IN (SELECT id FROM run)`, &s.done.Named, true},
		{`INSERT INTO total (run) SELECT id FROM run WHERE id NOT IN (SELECT run FROM total)`, nil, true},
		{`INSERT OR IGNORE INTO task (id, run, url, domain, tenant, priority, state, attempts, created_at, updated_at)
			SELECT r.task, r.run, coalesce(a.url, r.final_url), coalesce(a.domain, ''), coalesce(a.tenant, ''), 0, 'accepted', r.attempts,
				coalesce(r.fetched_at, 0), coalesce(r.fetched_at, 0)
			FROM result r LEFT JOIN attempt a ON a.id = (SELECT max(b.id) FROM attempt b WHERE b.task = r.task AND b.run = r.run)
			WHERE r.task NOT IN (SELECT id FROM task) GROUP BY r.task`, &s.done.Named, damaged["task"]},
		{`INSERT OR IGNORE INTO task (id, run, url, domain, tenant, priority, state, attempts, created_at, updated_at)
			SELECT a.task, a.run, a.url, a.domain, a.tenant, 0, 'pending', count(*), min(a.started_at), max(a.started_at)
			FROM attempt a WHERE a.task NOT IN (SELECT id FROM task) GROUP BY a.task`, &s.done.Named, damaged["task"]},
		{`UPDATE task SET state = 'dead', reason = 'lost', error = 'its result: ` + damagedText + `'
			WHERE state = 'accepted' AND NOT EXISTS (SELECT 1 FROM result r WHERE r.run = task.run AND r.task = task.id)`, &s.done.Lost, damaged["result"]},
		{`UPDATE task SET state = 'dead', reason = 'lost', error = 'its remote job: ` + damagedText + `'
			WHERE state = 'remote' AND id NOT IN (SELECT e.value FROM job j, json_each(j.tasks) e WHERE j.done = 0)`, &s.done.Lost, damaged["job"]},
		{`UPDATE task SET state = 'pending', owner = NULL WHERE state = 'in_flight'`, nil, true},
		{`UPDATE run SET owner = NULL, state = CASE WHEN state IN ('running', 'draining') THEN 'interrupted' ELSE state END`, nil, true},
		{`UPDATE total SET (tasks, accepted, dead, cancelled) = (SELECT count(*), count(*) FILTER (WHERE state = 'accepted'),
			count(*) FILTER (WHERE state = 'dead'), count(*) FILTER (WHERE state = 'cancelled') FROM task k WHERE k.run = total.run),
			records = (SELECT count(*) FROM result r WHERE r.run = total.run)`, nil, true},
	}
	for _, c := range changes {
		if !c.when {
			continue
		}
		n, err := execCount(s.conn, c.query)
		if err != nil {
			return fmt.Errorf("put the copy right: %w", err)
		}
		if c.count != nil {
			*c.count += n
		}
	}
	return ctx.Err()
}
