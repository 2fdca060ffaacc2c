package storage

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"
)

// ResultQuery asks for a window of the tasks of a run that have results, by their ids; an empty Text narrows nothing.
type ResultQuery struct {
	Run  int64
	Text string // a part of the URL, in any case
	Window
}

// ResultRow is what a task brought, without the bodies. Of several pages (a crawl) the first one is told.
type ResultRow struct {
	Task        int64
	URL         string
	Domain      string
	Pages       int64
	FinalURL    string
	Status      int // zero: not told
	ContentType string
	FetchedAt   time.Time
	Elapsed     time.Duration
	Attempts    int
	Credits     float64
	Bytes       int64
	Fields      string // the extracted record, an object; cut at fieldsShown bytes
	Cached      bool
	Flag        string
}

// fieldsShown is how much of an extracted record a row carries: more than a line shows.
const fieldsShown = 600

// ResultRows returns a window of a run's results.
func (s *Store) ResultRows(ctx context.Context, q ResultQuery) (Rows[ResultRow], error) {
	conn, err := s.read.Conn(ctx)
	if err != nil {
		return Rows[ResultRow]{}, explain(s.path, err)
	}
	defer conn.Close()
	var r Rows[ResultRow]
	err = snapshot(ctx, conn, func() error {
		where, args := `WHERE r.run = ?`, []any{q.Run}
		if q.Text != "" {
			where += ` AND instr(lower(k.url), ?) > 0`
			args = append(args, strings.ToLower(q.Text))
		}
		part := func(side, order string) func(int) ([]ResultRow, error) {
			return func(n int) ([]ResultRow, error) {
				rows, err := conn.QueryContext(ctx, `SELECT r.task, k.url, k.domain, count(*), min(r.page), r.final_url, r.status, r.content_type, r.fetched_at,
						r.elapsed_ms, r.attempts, r.credits, coalesce(length(r.body), 0), substr(r.fields, 1, ?), r.cached, r.flag
					FROM result r INDEXED BY result_page JOIN task k ON k.id = r.task `+where+side+` GROUP BY r.task ORDER BY r.task`+order+` LIMIT ?`,
					append(append([]any{fieldsShown}, args...), q.Around, n)...)
				return collect(s, rows, err, scanResultRow)
			}
		}
		r, err = window(q.Window, part(` AND r.task < ?`, ` DESC`), part(` AND r.task >= ?`, ``))
		return err
	})
	return r, explain(s.path, err)
}

func scanResultRow(row interface{ Scan(...any) error }) (ResultRow, error) {
	var r ResultRow
	var first string
	var status, fetched sql.NullInt64
	var fields sql.NullString
	var elapsed int64
	err := row.Scan(&r.Task, &r.URL, &r.Domain, &r.Pages, &first, &r.FinalURL, &status, &r.ContentType, &fetched, &elapsed,
		&r.Attempts, &r.Credits, &r.Bytes, &fields, &r.Cached, &r.Flag)
	r.Status, r.FetchedAt, r.Elapsed, r.Fields = int(status.Int64), at(fetched), time.Duration(elapsed)*time.Millisecond, fields.String
	return r, err
}

// PageQuery asks for one result of a task and a window of its body: Around is a byte of it, Before and After are bytes.
type PageQuery struct {
	Run, Task int64
	Page      int64 // the how-manieth of the task's pages, from zero
	Window
}

// PageRow is a result with a window of its body.
type PageRow struct {
	ResultRow
	Page     int64  // which one of Pages this is, from zero
	PageName string // its identity within a crawl; empty: the task's only one
	Text     bool   // the body is valid UTF-8
	From     int64  // the byte of the body at which Body begins
	Body     []byte
	// Headers are those of the answer that was accepted, as far as they are kept; nil when it was an earlier run's.
	Headers map[string]string
}

// PageRow returns a result of a task with a window of its body, as of one instant; beyond the last page it is the last one. Nil: the
// task has no result.
func (s *Store) PageRow(ctx context.Context, q PageQuery) (*PageRow, error) {
	conn, err := s.read.Conn(ctx)
	if err != nil {
		return nil, explain(s.path, err)
	}
	defer conn.Close()
	var p *PageRow
	err = snapshot(ctx, conn, func() error {
		p, err = readPage(ctx, conn, q)
		return err
	})
	if err != nil || p == nil {
		return nil, explain(s.path, err)
	}
	attempts, err := s.Timeline(ctx, q.Task, acceptedAmong)
	for i := range attempts {
		if attempts[i].Outcome == "accepted" {
			p.Headers = attempts[i].Headers
		}
	}
	return p, err
}

// acceptedAmong is among how many of the latest attempts of a task the accepted one is looked for.
const acceptedAmong = 16

func readPage(ctx context.Context, conn *sql.Conn, q PageQuery) (*PageRow, error) {
	p := &PageRow{}
	var pages int64
	err := conn.QueryRowContext(ctx, `SELECT count(*) FROM result WHERE run = ? AND task = ?`, q.Run, q.Task).Scan(&pages)
	if err != nil || pages == 0 {
		return nil, err
	}
	p.Page = min(max(q.Page, 0), pages-1)
	var status, fetched sql.NullInt64
	var fields sql.NullString
	var elapsed int64
	// A window may end beyond the body, and begin there when the body became another.
	from := max(min(q.Around, maxBody)-int64(q.Before), 0)
	err = conn.QueryRowContext(ctx, `SELECT r.task, k.url, k.domain, r.page, r.final_url, r.status, r.content_type, r.fetched_at, r.elapsed_ms, r.attempts,
			r.credits, coalesce(length(r.body), 0), r.fields, r.cached, r.flag, r.is_text,
			min(?1, max(coalesce(length(r.body), 0) - ?2, 0)), CAST(substr(r.body, min(?1, max(coalesce(length(r.body), 0) - ?2, 0)) + 1, ?2) AS BLOB)
		FROM result r JOIN task k ON k.id = r.task WHERE r.run = ?3 AND r.task = ?4 ORDER BY r.page LIMIT 1 OFFSET ?5`,
		from, q.Before+q.After, q.Run, q.Task, p.Page).
		Scan(&p.Task, &p.URL, &p.Domain, &p.PageName, &p.FinalURL, &status, &p.ContentType, &fetched, &elapsed, &p.Attempts,
			&p.Credits, &p.Bytes, &fields, &p.Cached, &p.Flag, &p.Text, &p.From, &p.Body)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	p.Pages, p.Status, p.FetchedAt, p.Elapsed, p.Fields = pages, int(status.Int64), at(fetched), time.Duration(elapsed)*time.Millisecond, fields.String
	return p, err
}

// maxBody is more than any stored body is long.
const maxBody = 1 << 40
