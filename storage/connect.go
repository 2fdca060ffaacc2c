package storage

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/mattn/go-sqlite3"
)

const (
	// busyTimeoutMS is how long SQLite itself waits for another process's lock, in real time.
	busyTimeoutMS = 5000
	// readConns is how many queries run at once; more would only share the same cores.
	readConns = 4
	// pageBytes is the size of a new file's pages: three common web pages fit one, where SQLite's usual 4 KiB would hold one
	// and leave the rest empty.
	pageBytes = 8 << 10
	// checkpointPages is when SQLite moves the WAL into the file, so that a busy writer pays the checkpoint's extra syncs
	// once in 16 MiB.
	checkpointPages = 16 << 20 / pageBytes
	// writeCacheKiB is the page cache of the writer: the inner pages of every index of a run of a few million tasks.
	// readCacheKiB is that of each reader, whose cache is worth nothing after the next commit.
	writeCacheKiB = 8 << 10
	readCacheKiB  = 1 << 10
)

// dsn is the SQLite URI of a file. Every character that a URI would read as something else is escaped.
func dsn(path, query string) string {
	u := url.URL{Path: path}
	return "file:" + strings.ReplaceAll(u.EscapedPath(), ";", "%3B") + "?" + query
}

// pragma is a setting and the value that reading it back must give. SQLite ignores what it cannot set.
type pragma struct {
	name, set string
	want      string // empty: whatever it is
}

// connector opens connections that all have the same, verified settings.
type connector struct {
	dsn     string
	pragmas []pragma
}

func (c connector) Driver() driver.Driver { return &sqlite3.SQLiteDriver{} }

func (c connector) Connect(context.Context) (driver.Conn, error) {
	d := &sqlite3.SQLiteDriver{ConnectHook: func(conn *sqlite3.SQLiteConn) error {
		for _, p := range c.pragmas {
			if err := setPragma(conn, p); err != nil {
				return err
			}
		}
		return nil
	}}
	return d.Open(c.dsn)
}

func setPragma(conn *sqlite3.SQLiteConn, p pragma) error {
	if _, err := conn.Exec("PRAGMA "+p.name+" = "+p.set, nil); err != nil {
		return fmt.Errorf("set %s: %w", p.name, err)
	}
	rows, err := conn.Query("PRAGMA "+p.name, nil)
	if err != nil {
		return fmt.Errorf("read %s: %w", p.name, err)
	}
	defer rows.Close()
	got := make([]driver.Value, 1)
	if err := rows.Next(got); err != nil && err != io.EOF {
		return fmt.Errorf("read %s: %w", p.name, err)
	}
	if s := fmt.Sprint(got[0]); p.want != "" && s != p.want {
		return fmt.Errorf("%s is %q, wanted %q: the file system may not support it", p.name, s, p.want)
	}
	return nil
}

// openWriter opens the one connection that writes.
func openWriter(path string, fast bool) *sql.DB {
	sync := pragma{"synchronous", "FULL", "2"}
	if fast {
		sync = pragma{"synchronous", "OFF", "0"}
	}
	db := sql.OpenDB(connector{dsn(path, "mode=rw&_mutex=no"), []pragma{
		{"busy_timeout", fmt.Sprint(busyTimeoutMS), fmt.Sprint(busyTimeoutMS)},
		{"page_size", fmt.Sprint(pageBytes), ""}, // a file that has pages keeps their size
		{"journal_mode", "WAL", "wal"},
		sync,
		{"foreign_keys", "ON", "1"},
		{"wal_autocheckpoint", fmt.Sprint(checkpointPages), fmt.Sprint(checkpointPages)},
		{"cache_size", fmt.Sprint(-writeCacheKiB), fmt.Sprint(-writeCacheKiB)},
	}})
	db.SetMaxOpenConns(1)
	return db
}

// openReaders opens connections that cannot write. A file in a folder where SQLite may not create its shared index can be
// read only as it stands (immutable), which is right when no writer's log lies beside it.
func openReaders(path string, immutable bool) *sql.DB {
	query := "mode=ro&_mutex=no"
	if immutable {
		query += "&immutable=1"
	}
	db := sql.OpenDB(connector{dsn(path, query), []pragma{
		{"busy_timeout", fmt.Sprint(busyTimeoutMS), fmt.Sprint(busyTimeoutMS)},
		{"query_only", "ON", "1"},
		{"cache_size", fmt.Sprint(-readCacheKiB), fmt.Sprint(-readCacheKiB)},
	}})
	db.SetMaxOpenConns(readConns)
	db.SetMaxIdleConns(readConns)
	return db
}
