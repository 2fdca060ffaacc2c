package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// folder is where the migrations are, seen from the top of the repository.
const folder = "storage/migrations"

// migrations are the schema's, in order.
func migrations(folder string) ([]string, error) {
	names, err := filepath.Glob(filepath.Join(folder, "*.sql"))
	if err == nil && len(names) < 3 {
		err = fmt.Errorf("there are %d migrations in %s: run this at the top of the repository", len(names), folder)
	}
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var all []string
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		all = append(all, string(text))
	}
	return all, nil
}

// age puts a file of an earlier version in the place of the run's, with all that the earlier one had room for. The next start
// has to bring it up to date.
func (r *run) age(ctx context.Context) (err error) {
	path := filepath.Join(r.dir, database)
	dir, err := copied(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	old := filepath.Join(dir, "old.db")
	steps := len(r.o.schema) - 2 // there are views since version 2
	version := 2 + min(r.rng.IntN(steps), r.rng.IntN(steps))
	if err := rewrite(ctx, filepath.Join(dir, database), old, r.o.schema[:version]); err != nil {
		return fmt.Errorf("a file of an earlier version cannot be made: %w", err)
	}
	for _, end := range []string{"-wal", "-shm"} {
		if err := gone(path + end); err != nil {
			return err
		}
	}
	return os.Rename(old, path)
}

// rewrite copies a database into a new one that has an earlier schema.
func rewrite(ctx context.Context, from, to string, schema []string) (err error) {
	db, err := sql.Open("sqlite3", "file:"+filepath.ToSlash(to))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	for _, text := range append([]string{"PRAGMA journal_mode = WAL"}, schema...) {
		if _, err := db.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	if _, err := db.ExecContext(ctx, "ATTACH ? AS now", from); err != nil {
		return err
	}
	var id int64
	if err := db.QueryRowContext(ctx, "PRAGMA now.application_id").Scan(&id); err != nil {
		return err
	}
	columns := map[string][]string{}
	var table, column string
	err = each(db, `SELECT t.name, c.name FROM main.sqlite_schema t, pragma_table_info(t.name, 'main') c
		WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND c.name IN (SELECT name FROM pragma_table_info(t.name, 'now'))`,
		[]any{&table, &column}, func() error { columns[table] = append(columns[table], column); return nil })
	if err != nil {
		return err
	}
	for table, names := range columns {
		list := strings.Join(names, ", ")
		if _, err := db.ExecContext(ctx, "INSERT INTO main."+table+" ("+list+") SELECT "+list+" FROM now."+table); err != nil {
			return err
		}
	}
	_, err = db.ExecContext(ctx, fmt.Sprintf("DETACH now; PRAGMA application_id = %d; PRAGMA user_version = %d", id, len(schema)))
	return err
}
