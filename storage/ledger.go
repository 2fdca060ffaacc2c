package storage

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// Ledger reads what a run asked for, was refused and spent, all of it as of one instant, also while the run goes on. It is
// good until the function that it was handed to returns.
type Ledger struct {
	Run     Run
	Summary Summary
	// First and Last are when the first exchange on record began and the last one ended; zero when there is none.
	First, Last time.Time

	conn *sql.Conn
}

// Ledger opens the ledger of a run and hands it to read. The error is ErrNoRun when there is no such run. While read works,
// the log of the database cannot be emptied.
func (s *Store) Ledger(ctx context.Context, run int64, read func(*Ledger) error) error {
	conn, err := s.read.Conn(ctx)
	if err != nil {
		return explain(s.path, err)
	}
	defer conn.Close()
	return explain(s.path, snapshot(ctx, conn, func() error {
		l := &Ledger{conn: conn}
		var err error
		if l.Summary, err = s.summary(ctx, conn, run); err != nil {
			return err
		}
		if l.Run, err = s.scanRun(conn.QueryRowContext(ctx, runColumns+`WHERE r.id = ?`, run)); err != nil {
			return err
		}
		var first, last sql.NullInt64
		if err := conn.QueryRowContext(ctx, `SELECT min(started_at), max(started_at + elapsed_ms) FROM attempt WHERE run = ?`, run).Scan(&first, &last); err != nil {
			return err
		}
		l.First, l.Last = at(first), at(last)
		return read(l)
	}))
}

// Exchange is an attempt as far as the ledger needs it. A batch has one for each of its tasks, all with the same ID.
type Exchange struct {
	ID         string
	Domain     string
	Provider   string
	Credential string
	Kind       string
	StartedAt  time.Time
	Elapsed    time.Duration
	Outcome    string
	Layer      string
	RetryAfter *time.Duration // the wait that the answer asked for
	Credits    float64
	Bytes      int64
}

// ByTime hands the exchanges to each, in the order in which they began; those of one ID follow each other.
func (l *Ledger) ByTime(ctx context.Context, each func(*Exchange)) error {
	return l.exchanges(ctx, `started_at, exchange, id`, each)
}

// ByDomain hands the exchanges to each, domain after domain, those of a domain as ByTime does.
func (l *Ledger) ByDomain(ctx context.Context, each func(*Exchange)) error {
	return l.exchanges(ctx, `domain, started_at, exchange, id`, each)
}

// exchanges streams: SQLite sorts in its own files, here is one row at a time.
func (l *Ledger) exchanges(ctx context.Context, order string, each func(*Exchange)) error {
	rows, err := l.conn.QueryContext(ctx, `SELECT exchange, domain, provider, credential, kind, started_at, elapsed_ms, outcome, layer, retry_after_ms, credits, bytes
		FROM attempt WHERE run = ? ORDER BY `+order, l.Run.ID)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var x Exchange
		var started, elapsed int64
		var after sql.NullInt64
		if err := rows.Scan(&x.ID, &x.Domain, &x.Provider, &x.Credential, &x.Kind, &started, &elapsed, &x.Outcome, &x.Layer, &after, &x.Credits, &x.Bytes); err != nil {
			return err
		}
		x.StartedAt, x.Elapsed, x.RetryAfter = time.UnixMilli(started).UTC(), time.Duration(elapsed)*time.Millisecond, unspan(after)
		each(&x)
	}
	return rows.Err()
}

// Account is what a tenant's work brought and cost.
type Account struct {
	Tenant   string
	Records  int64
	Requests int64 // HTTP exchanges that served it, those that were never answered among them
	Credits  float64
	Unpriced int64 // tasks that may have cost something that no answer told
}

// Accounts returns the accounts of the tenants, those that cost most first, at most limit of them, and how many there are.
func (l *Ledger) Accounts(ctx context.Context, limit int) (some []Account, all int64, err error) {
	rows, err := l.conn.QueryContext(ctx, `SELECT tenant, sum(records), sum(requests), total(credits) AS spent, sum(unpriced), count(*) OVER () FROM (
			SELECT tenant, 0 AS records, count(DISTINCT exchange) AS requests, total(credits) AS credits, 0 AS unpriced
			FROM attempt INDEXED BY attempt_run WHERE run = ?1 GROUP BY tenant
			UNION ALL
			SELECT tenant, 0, requests, 0, tasks FROM unseen WHERE run = ?1
			UNION ALL
			SELECT k.tenant, count(*), 0, 0, 0 FROM result r INDEXED BY result_page JOIN task k ON k.id = r.task WHERE r.run = ?1 GROUP BY k.tenant
		) GROUP BY tenant ORDER BY spent DESC, sum(requests) DESC, tenant LIMIT ?2`, l.Run.ID, limit)
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var a Account
		if err := rows.Scan(&a.Tenant, &a.Records, &a.Requests, &a.Credits, &a.Unpriced, &all); err != nil {
			return nil, 0, err
		}
		some = append(some, a)
	}
	return some, all, rows.Err()
}

// Burial is the dead letters of one reason, with the latest of them.
type Burial struct {
	Reason  string
	Tasks   int64
	Domains int64
	Latest  time.Time
	URL     string
	Error   string
}

// Burials returns the dead letters by reason, the most first.
func (l *Ledger) Burials(ctx context.Context) ([]Burial, error) {
	// With a lone max() SQLite takes the other columns from the row that has it.
	rows, err := l.conn.QueryContext(ctx, `SELECT coalesce(reason, ''), count(*) AS n, count(DISTINCT domain), max(updated_at), url, coalesce(error, '')
		FROM task INDEXED BY task_dead WHERE run = ? AND state = 'dead' GROUP BY 1 ORDER BY n DESC, 1`, l.Run.ID)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []Burial
	for rows.Next() {
		var b Burial
		var latest int64
		if err := rows.Scan(&b.Reason, &b.Tasks, &b.Domains, &latest, &b.URL, &b.Error); err != nil {
			return nil, err
		}
		b.Latest = time.UnixMilli(latest).UTC()
		all = append(all, b)
	}
	return all, rows.Err()
}

// Warnings returns the first warnings of the run's log, at most limit of them, and how many there are.
func (l *Ledger) Warnings(ctx context.Context, limit int) (some []Event, all int64, err error) {
	if err := l.conn.QueryRowContext(ctx, `SELECT count(*) FROM event WHERE run = ? AND level = 'warn'`, l.Run.ID).Scan(&all); err != nil {
		return nil, 0, err
	}
	rows, err := l.conn.QueryContext(ctx, `SELECT id, at, level, scope, key, text, task FROM event WHERE run = ? AND level = 'warn' ORDER BY id LIMIT ?`, l.Run.ID, limit)
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	for rows.Next() {
		e, err := scanEvent(rows)
		if err != nil {
			return nil, 0, fmt.Errorf("event of run %d: %w", l.Run.ID, err)
		}
		some = append(some, e)
	}
	return some, all, rows.Err()
}
