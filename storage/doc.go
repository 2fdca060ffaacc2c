// Package storage is the SQLite file: migrations, the one writer, the readers, export.
package storage
