package storage

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// ExportSpec says what is exported and how.
type ExportSpec struct {
	What   string // results (default), tasks, attempts, events
	Format string // jsonl (default), json, csv
	Run    int64  // zero: all runs
	Domain string // only what is about this domain; empty: all
	State  string // tasks: only those of this state; empty: all
	// Columns are those to be written, in this order; none: all, in theirs.
	Columns []string
	// Told is called now and then with how many records were written so far; nil: nobody wants to know.
	Told func(rows int64)
}

// toldEvery is after how many records Told is called.
const toldEvery = 500

// ExportColumns are the columns of what can be exported, in their order; nil: there is no such thing.
func ExportColumns(what string) []string {
	var names []string
	for _, c := range tables[defaultTo(what, "results")].columns {
		names = append(names, c.name)
	}
	return names
}

// only is the table with these columns alone.
func (t table) only(names []string) (table, error) {
	if len(names) == 0 {
		return t, nil
	}
	all := t.columns
	t.columns = nil
	for _, name := range names {
		i := slices.IndexFunc(all, func(c column) bool { return c.name == name })
		switch {
		case i < 0:
			return t, fmt.Errorf("%w: %s have no column %q: %s", ErrInvalid, t.from, name, strings.Join(ExportColumns(t.from), ", "))
		case slices.ContainsFunc(t.columns, func(c column) bool { return c.name == name }):
			return t, fmt.Errorf("%w: column %q is named twice", ErrInvalid, name)
		}
		t.columns = append(t.columns, all[i])
	}
	return t, nil
}

// kind is how a column is written.
type kind int

const (
	plain  kind = iota // text, a number, or null
	flat               // a JSON object; flattened in CSV
	nested             // a JSON object; one cell in CSV
	body               // text, or bytes that become base64
)

type column struct {
	name string
	kind kind
}

// table is one exportable view: its columns in the order of the keys, and the order of its rows.
type table struct {
	from    string
	order   string
	columns []column
}

// columnsOf lists columns; the kinds that differ from plain are named.
func columnsOf(names string, kinds map[string]kind) []column {
	var all []column
	for name := range strings.FieldsSeq(names) {
		all = append(all, column{name, kinds[name]})
	}
	return all
}

var tables = map[string]table{
	"results": {"results", "run, task_id, page", columnsOf(`task_id run url input_url final_url domain tenant provider status content_type
		fetched_at elapsed_ms attempts credits bytes encoding body fields meta`, map[string]kind{"body": body, "fields": flat, "meta": flat})},
	"tasks": {"tasks", "run, id", columnsOf(`id run url input_url domain tenant state tries attempts not_before waits_for reason created_at updated_at
		priority input_id error meta`, map[string]kind{"meta": flat})},
	"attempts": {"attempts", "run, row", columnsOf(`task_id run attempt url domain tenant provider credential kind exchange started_at elapsed_ms
		outcome layer http_status target_status retry_after_ms quota_limit remaining reset_ms in_flight in_flight_limit decision headers body_kind
		credits bytes error body_sample remote_job`, map[string]kind{"headers": nested})},
	"events": {"events", "run, row", columnsOf(`at run level scope key text task_id`, nil)},
}

// Export writes records as of one instant and returns how many. Keys and their order are those of the views; JSON and JSONL
// are valid UTF-8 whatever was stored; numbers of fields and meta come out digit for digit. In CSV, fields and meta
// have a column for each key that occurs (fields.title), sorted, and cells are inert (see csvCell). No records make a valid
// file all the same: nothing, [] or the header line.
//
// Rows are streamed: memory holds one at a time. While it runs, the log of the database cannot be emptied.
func (s *Store) Export(ctx context.Context, w io.Writer, spec ExportSpec) (int64, error) {
	t, ok := tables[defaultTo(spec.What, "results")]
	if !ok {
		return 0, fmt.Errorf("%w: cannot export %q: results, tasks, attempts or events can be", ErrInvalid, spec.What)
	}
	t, err := t.only(spec.Columns)
	if err != nil {
		return 0, err
	}
	if spec.State != "" && t.from != "tasks" {
		return 0, fmt.Errorf("%w: tasks have a state, %s have none", ErrInvalid, t.from)
	}
	conn, err := s.read.Conn(ctx)
	if err != nil {
		return 0, explain(s.path, err)
	}
	defer conn.Close()
	to := &outlet{w: w}
	out := bufio.NewWriterSize(to, 64<<10)
	var n int64
	err = snapshot(ctx, conn, func() error {
		if err := s.exportable(ctx, conn, spec.Run); err != nil {
			return err
		}
		var sink sink
		switch defaultTo(spec.Format, "jsonl") {
		case "jsonl":
			sink = &jsonSink{out: out}
		case "json":
			sink = &jsonSink{out: out, array: true}
		case "csv":
			keys, err := flatKeys(ctx, conn, t, spec)
			if err != nil {
				return err
			}
			sink = &csvSink{out: csv.NewWriter(out), keys: keys}
		default:
			return fmt.Errorf("%w: no format %q: jsonl, json or csv", ErrInvalid, spec.Format)
		}
		n, err = t.export(ctx, conn, spec, sink)
		return err
	})
	if err == nil {
		err = out.Flush()
	}
	if to.err != nil { // not the database's: its path and what to do about it would mislead
		return n, fmt.Errorf("write export: %w", to.err)
	}
	return n, explain(s.path, err)
}

// outlet remembers that what it passes bytes to took no more.
type outlet struct {
	w   io.Writer
	err error
}

func (o *outlet) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if err != nil {
		o.err = err
	}
	return n, err
}

func defaultTo(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func (s *Store) exportable(ctx context.Context, conn *sql.Conn, run int64) error {
	if run == 0 {
		return nil
	}
	var one int
	err := conn.QueryRowContext(ctx, `SELECT 1 FROM run WHERE id = ?`, run).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("run %d: %w", run, ErrNoRun)
	}
	return err
}

// query selects columns of the rows that are wanted.
func (t table) query(ctx context.Context, conn *sql.Conn, columns string, spec ExportSpec) (*sql.Rows, error) {
	where, args := "", []any(nil)
	add := func(condition string, arg any) {
		if where == "" {
			where = ` WHERE `
		} else {
			where += ` AND `
		}
		where += condition
		args = append(args, arg)
	}
	if spec.Run != 0 {
		add(`run = ?`, spec.Run)
	}
	switch {
	case spec.Domain == "":
	case t.from == "events":
		add(`scope = 'domain' AND key = ?`, spec.Domain)
	default:
		add(`domain = ?`, spec.Domain)
	}
	if spec.State != "" {
		add(`state = ?`, spec.State)
	}
	return conn.QueryContext(ctx, `SELECT `+columns+` FROM `+t.from+where+` ORDER BY `+t.order, args...)
}

func (t table) export(ctx context.Context, conn *sql.Conn, spec ExportSpec, to sink) (n int64, err error) {
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = c.name
	}
	if err := to.begin(t.columns); err != nil {
		return 0, err
	}
	rows, err := t.query(ctx, conn, strings.Join(names, ", "), spec)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	values := make([]any, len(names))
	into := make([]any, len(names))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return n, err
		}
		for i, c := range t.columns {
			if c.kind == body {
				values[i] = bodyText(values[i])
			}
		}
		if err := to.row(t.columns, values); err != nil {
			return n, err
		}
		if n++; spec.Told != nil && n%toldEvery == 0 {
			spec.Told(n)
		}
	}
	if err := rows.Err(); err != nil {
		return n, err
	}
	return n, to.end()
}

// bodyText is a body as a record carries it: the view gives text as text and everything else as bytes.
func bodyText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []byte:
		return base64.StdEncoding.EncodeToString(v)
	}
	return ""
}

// flatKeys finds, for each column that CSV flattens, every key that occurs, sorted.
func flatKeys(ctx context.Context, conn *sql.Conn, t table, spec ExportSpec) (map[string][]string, error) {
	all := map[string][]string{}
	for _, c := range t.columns {
		if c.kind != flat {
			continue
		}
		keys := map[string]bool{}
		rows, err := t.query(ctx, conn, c.name, spec)
		if err != nil {
			return nil, err
		}
		for rows.Next() {
			var raw sql.RawBytes
			if err = rows.Scan(&raw); err != nil {
				break
			}
			if len(raw) == 0 {
				continue
			}
			var members map[string]json.RawMessage
			if err = json.Unmarshal(raw, &members); err != nil {
				break
			}
			for k := range members {
				keys[k] = true
			}
		}
		if err := errors.Join(err, rows.Err(), rows.Close()); err != nil {
			return nil, err
		}
		all[c.name] = slices.Sorted(maps.Keys(keys))
	}
	return all, nil
}
