package storage

import (
	"context"
	"database/sql"
	"slices"
	"time"
)

// Pauses returns the pauses in force. The table is small: a running process may ask every second.
func (s *Store) Pauses(ctx context.Context) ([]Pause, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT scope, key, cause, source, set_at FROM pause ORDER BY scope, key`)
	return collect(s, rows, err, func(row interface{ Scan(...any) error }) (Pause, error) {
		var p Pause
		var set int64
		err := row.Scan(&p.Scope, &p.Key, &p.Cause, &p.Source, &set)
		p.SetAt = time.UnixMilli(set).UTC()
		return p, err
	})
}

// SetPause holds a scope until ClearPause; one that is held already keeps its first cause and time.
func (s *Store) SetPause(ctx context.Context, p Pause) error {
	if p.SetAt.IsZero() {
		p.SetAt = time.Now()
	}
	return s.do(ctx, func(*sql.Conn) error {
		return s.writer.exec(`INSERT INTO pause (scope, key, cause, source, set_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT (scope, key) DO NOTHING`,
			p.Scope, p.Key, p.Cause, p.Source, ms(p.SetAt))
	})
}

// ClearPause ends a pause and reports whether there was one.
func (s *Store) ClearPause(ctx context.Context, scope, key string) (bool, error) {
	var n int64
	err := s.do(ctx, func(*sql.Conn) (err error) {
		n, err = s.writer.execCount(`DELETE FROM pause WHERE scope = ? AND key = ?`, scope, key)
		return err
	})
	return n > 0 && err == nil, err
}

// Cooldowns returns those that are active now, the first to end first.
func (s *Store) Cooldowns(ctx context.Context) ([]Cooldown, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT scope, key, until, full_ms, cause, source, set_at FROM cooldown WHERE until > ? ORDER BY until, scope, key`, ms(time.Now()))
	return collect(s, rows, err, func(row interface{ Scan(...any) error }) (Cooldown, error) {
		var c Cooldown
		var until, full, set int64
		err := row.Scan(&c.Scope, &c.Key, &until, &full, &c.Cause, &c.Source, &set)
		c.Until, c.SetAt = time.UnixMilli(until).UTC(), time.UnixMilli(set).UTC()
		c.Full = time.Duration(full) * time.Millisecond
		return c, err
	})
}

// Events returns the events of a run (zero: of all runs) in their order, beyond the one with the id after.
func (s *Store) Events(ctx context.Context, run int64, after int64, limit int) ([]Event, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT id, at, level, scope, key, text, task FROM event WHERE (run = ?1 OR ?1 = 0) AND id > ?2 ORDER BY id LIMIT ?3`, run, after, limit)
	return collect(s, rows, err, scanEvent)
}

// NewestEvents returns the newest events of a run beyond the one with the id after, at most limit, in their order.
func (s *Store) NewestEvents(ctx context.Context, run, after int64, limit int) ([]Event, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT id, at, level, scope, key, text, task FROM event WHERE run = ? AND id > ? ORDER BY id DESC LIMIT ?`, run, after, limit)
	events, err := collect(s, rows, err, scanEvent)
	slices.Reverse(events)
	return events, err
}

// LastEvent is the id of a run's newest event, zero: it has none.
func (s *Store) LastEvent(ctx context.Context, run int64) (id int64, err error) {
	err = s.read.QueryRowContext(ctx, `SELECT coalesce(max(id), 0) FROM event WHERE run = ?`, run).Scan(&id)
	return id, explain(s.path, err)
}

// Cached returns the results of the newest accepted task of a normalised URL that was fetched through provider with the same
// options at or after since, in any run: one, or all the pages of a crawl. None: there is no such task.
func (s *Store) Cached(ctx context.Context, url, provider, options string, since time.Time) ([]Result, error) {
	rows, err := s.read.QueryContext(ctx, `WITH newest AS (
			SELECT k.run, k.id, min(r.fetched_at) AS fetched
			FROM task k JOIN run u ON u.id = k.run JOIN result r ON r.run = k.run AND r.task = k.id
			WHERE k.url = ?1 AND k.state = 'accepted' AND u.provider = ?2 AND u.options = ?3
			GROUP BY k.run, k.id HAVING min(r.fetched_at) >= ?4 ORDER BY fetched DESC LIMIT 1)
		SELECT r.task, r.page, r.final_url, r.status, r.content_type, r.fetched_at, r.elapsed_ms, r.attempts, r.credits, r.body, r.fields,
			r.cached, r.flag
		FROM newest n JOIN result r ON r.run = n.run AND r.task = n.id ORDER BY r.id`, url, provider, options, ms(since))
	return collect(s, rows, err, func(row interface{ Scan(...any) error }) (Result, error) {
		var r Result
		var fetched sql.NullInt64
		var elapsed int64
		var fields sql.NullString
		err := row.Scan(&r.Task, &r.Page, &r.FinalURL, &r.Status, &r.ContentType, &fetched, &elapsed, &r.Attempts, &r.Credits, &r.Body, &fields,
			&r.Cached, &r.Flag)
		r.FetchedAt = at(fetched)
		r.Elapsed = time.Duration(elapsed) * time.Millisecond
		if fields.Valid {
			r.Fields = []byte(fields.String)
		}
		return r, err
	})
}
