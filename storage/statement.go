package storage

import (
	"context"
	"database/sql/driver"
	"fmt"
	"io"

	"github.com/mattn/go-sqlite3"
)

// statement is a prepared statement, used past database/sql: its locks and conversions cost about as much as SQLite itself
// does for a small row. One goroutine at a time may use it.
type statement struct {
	stmt *sqlite3.SQLiteStmt
	args []driver.NamedValue
	row  []driver.Value
}

// copiedBytes is up to how many bytes the values of a write are handed over at once. The driver keeps the memory for that,
// so larger ones are bound value by value.
const copiedBytes = 256 << 10

func prepare(conn *sqlite3.SQLiteConn, query string) (*statement, error) {
	stmt, err := conn.Prepare(query)
	if err != nil {
		return nil, err
	}
	s := &statement{stmt: stmt.(*sqlite3.SQLiteStmt)}
	s.args = make([]driver.NamedValue, s.stmt.NumInput())
	for i := range s.args {
		s.args[i].Ordinal = i + 1
	}
	return s, nil
}

// bind takes the arguments over and returns how many bytes they are.
func (s *statement) bind(args []any) (size int, err error) {
	if len(args) != len(s.args) {
		return 0, fmt.Errorf("%d values for %d parameters: %w", len(args), len(s.args), ErrInvalid)
	}
	for i, arg := range args {
		switch v := arg.(type) {
		case nil, int64, bool, float64:
		case string:
			size += len(v)
		case []byte:
			size += len(v)
		case int:
			arg = int64(v)
		default:
			if arg, err = driver.DefaultParameterConverter.ConvertValue(arg); err != nil {
				return 0, fmt.Errorf("value %d: %w", i+1, err)
			}
		}
		s.args[i].Value = arg
	}
	return size, nil
}

// free lets go of what was bound.
func (s *statement) free() {
	for i := range s.args {
		s.args[i].Value = nil
	}
}

// exec runs a statement that returns no rows.
func (s *statement) exec(args []any) error {
	size, err := s.bind(args)
	if err != nil {
		return err
	}
	defer s.free()
	if size > copiedBytes {
		_, err := s.stmt.ExecContext(context.Background(), s.args)
		return err
	}
	// The driver binds a query in one call into C, and an exec in one for each value.
	rows, err := s.stmt.QueryContext(context.Background(), s.args)
	if err != nil {
		return err
	}
	return rows.Close()
}

// execCount is exec and returns how many rows changed.
func (s *statement) execCount(args []any) (int64, error) {
	if _, err := s.bind(args); err != nil {
		return 0, err
	}
	defer s.free()
	r, err := s.stmt.ExecContext(context.Background(), s.args)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// query hands each row to take: integers are int64, texts string, and NULL is nil. The slice is valid until take returns.
func (s *statement) query(take func(row []driver.Value) error, args ...any) error {
	if _, err := s.bind(args); err != nil {
		return err
	}
	defer s.free()
	rows, err := s.stmt.QueryContext(context.Background(), s.args)
	if err != nil {
		return err
	}
	if s.row == nil {
		s.row = make([]driver.Value, len(rows.Columns()))
	}
	for {
		if err = rows.Next(s.row); err == nil {
			err = take(s.row)
		}
		if err != nil {
			break
		}
	}
	closed := rows.Close()
	if err == io.EOF {
		return closed
	}
	return err
}
