package storage

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

//go:embed migrations/*.sql
var embedded embed.FS

// applicationID marks a SQLite file as ours ("sctp").
const applicationID = 0x73637470

// step is one migration; its number is the schema version that it leads to.
type step struct {
	version int
	name    string
	sql     string
}

// steps reads the migrations of a folder: files named NNNN_what.sql, numbered from 1 without a gap.
func steps(folder fs.FS) ([]step, error) {
	names, err := fs.Glob(folder, "migrations/*.sql") // sorted
	if err != nil {
		return nil, err
	}
	var all []step
	for i, name := range names {
		number, _, _ := strings.Cut(strings.TrimPrefix(name, "migrations/"), "_")
		version, err := strconv.Atoi(number)
		if err != nil || version != i+1 {
			return nil, fmt.Errorf("migration %s: want number %04d", name, i+1)
		}
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, err
		}
		all = append(all, step{version, name, string(text)})
	}
	return all, nil
}

// migrate brings the schema from its version to the last of all, each step in a transaction of its own that also moves
// user_version. Two processes may do it at once: a step looks at the version under the write lock.
func migrate(ctx context.Context, conn *sql.Conn, all []step) error {
	for _, s := range all {
		if err := migrateTo(ctx, conn, s); err != nil {
			return fmt.Errorf("migration %s: %w", s.name, err)
		}
	}
	return nil
}

func migrateTo(ctx context.Context, conn *sql.Conn, s step) error {
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	version, err := pragmaInt(ctx, conn, "user_version")
	if err == nil && version < int64(s.version) {
		_, err = conn.ExecContext(ctx, fmt.Sprintf("%s;\nPRAGMA application_id = %d;\nPRAGMA user_version = %d;", s.sql, applicationID, s.version))
	}
	if err == nil {
		_, err = conn.ExecContext(ctx, "COMMIT")
	}
	if err != nil {
		rollback(conn)
	}
	return err
}

// rollback ends a failed transaction. SQLite may have ended it already, then there is nothing to do.
func rollback(conn *sql.Conn) {
	_, _ = conn.ExecContext(context.Background(), "ROLLBACK")
}

func pragmaInt(ctx context.Context, conn *sql.Conn, name string) (int64, error) {
	var v int64
	err := conn.QueryRowContext(ctx, "PRAGMA "+name).Scan(&v)
	return v, err
}
