package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mattn/go-sqlite3"
)

// Salvaged is what Salvage brought into the new file.
type Salvaged struct {
	Tables []SalvagedTable // in the order of the schema, those without a row and without a loss left out
	// Lost are tasks that were done or handed over, and whose result or remote job could not be read: dead letters now, with
	// the reason `lost`.
	Lost int64
	// Named are tasks and runs whose own row could not be read, made anew from what their results and attempts tell.
	Named int64
}

// SalvagedTable is one table's share.
type SalvagedTable struct {
	Name string
	Rows int64
	// Damaged: some of its rows could not be read. How many there were is not known.
	Damaged bool
}

// Salvage copies what can be read of the database from, damaged or not, into a new file to, which must not exist, and puts
// the copy right: what belongs to a lost row is named anew, what lost its result is a dead letter, no process drives it. from
// is only read. It fails with ErrMissing, ErrForeign, ErrNewer, and with ErrDamaged when not even the schema can be read; then
// and after any other failure there is no file to.
func Salvage(ctx context.Context, from, to string) (Salvaged, error) {
	all, err := steps(embedded)
	if err != nil {
		return Salvaged{}, err
	}
	if err := claim(from, true); err != nil {
		return Salvaged{}, err
	}
	if _, err := os.Lstat(to); !errors.Is(err, os.ErrNotExist) {
		return Salvaged{}, errors.Join(fmt.Errorf("%s: %w, name another file", to, os.ErrExist), err)
	}
	// It gets its name when it is whole.
	part := to + "-part"
	files := []string{part, part + "-wal", part + "-shm"}
	clear := func() (err error) {
		for _, name := range files {
			err = errors.Join(err, remove(name))
		}
		return err
	}
	if err := errors.Join(clear(), claim(part, false)); err != nil {
		return Salvaged{}, err
	}
	s := &salvage{all: all, from: from}
	err = s.run(ctx, part)
	if err == nil {
		err = os.Rename(part, to)
	}
	if err != nil {
		return Salvaged{}, errors.Join(err, clear())
	}
	return s.done, syncFolder(filepath.Dir(to))
}

// syncFolder makes a new name in a folder last.
func syncFolder(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// salvage reads the damaged file as an attached database of the connection that writes the new one, so that a statement that
// meets damage is undone as a whole and the part that it was about is divided.
type salvage struct {
	all  []step
	from string
	conn *sql.Conn
	done Salvaged
}

func (s *salvage) run(ctx context.Context, part string) (err error) {
	db := openWriter(part, true)
	defer func() { err = errors.Join(err, db.Close()) }()
	if s.conn, err = db.Conn(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.conn.Close()) }()
	version, err := s.attach(ctx)
	if err != nil {
		return explain(s.from, err)
	}
	if err := migrate(ctx, s.conn, s.all[:version]); err != nil {
		return err
	}
	if err := s.exec(ctx, "PRAGMA foreign_keys = OFF"); err != nil {
		return err
	}
	if err := s.tables(ctx); err != nil {
		return err
	}
	if err := s.exec(ctx, "DETACH damaged"); err != nil {
		return err
	}
	if err := migrate(ctx, s.conn, s.all[version:]); err != nil {
		return err
	}
	if err := s.mend(ctx); err != nil {
		return err
	}
	return s.exec(ctx, "PRAGMA synchronous = FULL", "PRAGMA wal_checkpoint(TRUNCATE)")
}

func (s *salvage) exec(ctx context.Context, queries ...string) error {
	for _, q := range queries {
		if _, err := s.conn.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

// attach opens the damaged file for reading and returns its schema's version.
func (s *salvage) attach(ctx context.Context) (int, error) {
	query := "mode=ro"
	if walBytes(s.from) == 0 {
		query += "&immutable=1" // also where no index of a log may be made beside it
	}
	full, err := filepath.Abs(s.from)
	if err != nil {
		return 0, err
	}
	if _, err := s.conn.ExecContext(ctx, "ATTACH ? AS damaged", dsn(full, query)); err != nil {
		return 0, err
	}
	app, err := pragmaInt(ctx, s.conn, "damaged.application_id")
	if err != nil {
		return 0, err
	}
	version, err := pragmaInt(ctx, s.conn, "damaged.user_version")
	if err != nil {
		return 0, err
	}
	var objects int
	if err := s.conn.QueryRowContext(ctx, "SELECT count(*) FROM damaged.sqlite_schema").Scan(&objects); err != nil {
		return 0, err
	}
	switch {
	case app != applicationID:
		return 0, fault(ErrForeign, s.from, errors.New("it is another program's SQLite database"))
	case version > int64(len(s.all)):
		return 0, fault(ErrNewer, s.from, fmt.Errorf("its schema is version %d, ours %d", version, len(s.all)))
	case version < 1:
		return 0, fault(ErrDamaged, s.from, fmt.Errorf("its schema's version is told as %d", version))
	}
	return int(version), nil
}

// tables copies every table but the processes', which are none of the new file's.
func (s *salvage) tables(ctx context.Context) error {
	rows, err := s.conn.QueryContext(ctx, `SELECT l.name, l.wr FROM pragma_table_list l WHERE l.schema = 'main' AND l.type = 'table'
		AND l.name NOT LIKE 'sqlite_%' AND l.name <> 'owner' ORDER BY (SELECT m.rowid FROM sqlite_schema m WHERE m.name = l.name)`)
	if err != nil {
		return err
	}
	type table struct {
		name   string
		sorted bool // WITHOUT ROWID
	}
	var all []table
	for rows.Next() {
		var t table
		if err := rows.Scan(&t.name, &t.sorted); err != nil {
			return errors.Join(err, rows.Close())
		}
		all = append(all, t)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	for _, t := range all {
		got := SalvagedTable{Name: t.name}
		if t.sorted {
			err = s.sorted(ctx, &got)
		} else {
			err = s.numbered(ctx, &got)
		}
		if err != nil {
			return fmt.Errorf("copy %s: %w", t.name, err)
		}
		if !got.Damaged {
			if got.Damaged, err = s.silent(ctx, &got); err != nil {
				return fmt.Errorf("check %s: %w", t.name, err)
			}
		}
		if got.Rows > 0 || got.Damaged {
			s.done.Tables = append(s.done.Tables, got)
		}
	}
	return nil
}

// silent reports that a table's pages are damaged in a way that reading does not meet: rows that are nothing but zeros are
// left out without an error. An index that counts as many rows as were copied proves that none was.
func (s *salvage) silent(ctx context.Context, t *SalvagedTable) (bool, error) {
	var verdict string
	err := s.conn.QueryRowContext(ctx, fmt.Sprintf("PRAGMA damaged.integrity_check(%s)", t.Name)).Scan(&verdict)
	if err == nil && verdict == "ok" {
		return false, nil
	}
	if err != nil && !unreadable(err) {
		return false, err
	}
	names, err := s.indexes(ctx, t.Name)
	if err != nil {
		return false, err
	}
	for _, name := range names {
		var n int64
		if err := s.conn.QueryRowContext(ctx, fmt.Sprintf("SELECT count(*) FROM damaged.%s INDEXED BY %s", t.Name, name)).Scan(&n); err == nil && n == t.Rows {
			return false, nil
		}
	}
	return true, ctx.Err()
}

// salvageRows is how many ids one statement is about at first.
const salvageRows = 1000

// numbered copies a table by the ranges of its row ids.
func (s *salvage) numbered(ctx context.Context, t *SalvagedTable) error {
	last, err := s.lastID(ctx, t)
	if err != nil {
		return err
	}
	for from := int64(0); from <= last; from += salvageRows {
		if err := s.between(ctx, t, from, min(last, from+salvageRows-1)); err != nil {
			return err
		}
	}
	return nil
}

// between copies the rows of a range of ids, those that can be read.
func (s *salvage) between(ctx context.Context, t *SalvagedTable, from, to int64) error {
	r, err := s.conn.ExecContext(ctx, fmt.Sprintf("INSERT OR IGNORE INTO main.%[1]s SELECT * FROM damaged.%[1]s NOT INDEXED WHERE rowid BETWEEN ? AND ?", t.Name), from, to)
	switch {
	case err == nil:
		n, err := r.RowsAffected()
		t.Rows += n
		return err
	case !unreadable(err):
		return err
	}
	t.Damaged = true
	if from == to {
		return nil
	}
	middle := from + (to-from)/2
	if err := s.between(ctx, t, from, middle); err != nil {
		return err
	}
	return s.between(ctx, t, middle+1, to)
}

// lastID is the largest row id, as the table or else one of its indexes tells.
func (s *salvage) lastID(ctx context.Context, t *SalvagedTable) (int64, error) {
	var last sql.NullInt64
	err := s.conn.QueryRowContext(ctx, fmt.Sprintf("SELECT max(rowid) FROM damaged.%s NOT INDEXED", t.Name)).Scan(&last)
	if err == nil || !unreadable(err) {
		return last.Int64, err
	}
	t.Damaged = true
	names, err := s.indexes(ctx, t.Name)
	if err != nil {
		return 0, err
	}
	found := false
	for _, name := range names {
		var most sql.NullInt64
		err := s.conn.QueryRowContext(ctx, fmt.Sprintf("SELECT max(rowid) FROM (SELECT rowid FROM damaged.%s INDEXED BY %s)", t.Name, name)).Scan(&most)
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		if err != nil {
			continue // it holds a part of the rows, or is damaged too
		}
		found, last.Int64 = true, max(last.Int64, most.Int64)
	}
	if found {
		return last.Int64, nil
	}
	// From here on every id costs a look: as many as the pages of the file could hold at most.
	var pages int64
	if err := s.conn.QueryRowContext(ctx, "PRAGMA damaged.page_count").Scan(&pages); err != nil {
		return 0, err
	}
	return pages * pageBytes / 64, nil
}

func (s *salvage) indexes(ctx context.Context, table string) (names []string, err error) {
	rows, err := s.conn.QueryContext(ctx, "SELECT name FROM main.sqlite_schema WHERE type = 'index' AND tbl_name = ? AND sql NOT LIKE '% WHERE %'", table)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

// sorted copies a table that has no row ids: as much as can be read from its beginning, and from its end.
func (s *salvage) sorted(ctx context.Context, t *SalvagedTable) error {
	var key string
	if err := s.conn.QueryRowContext(ctx, "SELECT group_concat(name) FROM (SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk)", t.Name).Scan(&key); err != nil {
		return err
	}
	for _, order := range []string{"ASC", "DESC"} {
		by := strings.ReplaceAll(key, ",", " "+order+", ") + " " + order
		n, whole, err := s.first(ctx, t.Name, by, -1)
		if err != nil {
			return err
		}
		if whole {
			t.Rows += n
			return nil
		}
		t.Damaged = true
		// The most that can be read: doubled until it fails, then halved into.
		low, high := int64(0), int64(1)
		for {
			n, whole, err := s.first(ctx, t.Name, by, high)
			if err != nil {
				return err
			}
			if !whole {
				break
			}
			t.Rows += n
			low, high = high, high*2
		}
		for low+1 < high {
			middle := low + (high-low)/2
			n, whole, err := s.first(ctx, t.Name, by, middle)
			if err != nil {
				return err
			}
			if whole {
				t.Rows += n
				low = middle
			} else {
				high = middle
			}
		}
	}
	return nil
}

// first copies the first rows in an order, all of them or, when one of them cannot be read, none.
func (s *salvage) first(ctx context.Context, table, by string, limit int64) (n int64, whole bool, err error) {
	r, err := s.conn.ExecContext(ctx, fmt.Sprintf("INSERT OR IGNORE INTO main.%[1]s SELECT * FROM damaged.%[1]s ORDER BY %[2]s LIMIT ?", table, by), limit)
	if err != nil {
		if unreadable(err) {
			err = nil
		}
		return 0, false, err
	}
	n, err = r.RowsAffected()
	return n, true, err
}

// unreadable reports that a statement met damage: of the file, or a row that is none of its table's.
func unreadable(err error) bool {
	var lite sqlite3.Error
	if !errors.As(err, &lite) {
		return false
	}
	switch lite.Code {
	case sqlite3.ErrCorrupt, sqlite3.ErrNotADB, sqlite3.ErrConstraint, sqlite3.ErrMismatch, sqlite3.ErrTooBig:
		return true
	}
	return lite.ExtendedCode == sqlite3.ErrIoErrRead || lite.ExtendedCode == sqlite3.ErrIoErrShortRead
}
