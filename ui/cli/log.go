package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"dev.scrapetop/storage"
)

// logTable is [log]: the run's events as lines of a file, beside the database that holds them anyway.
type logTable struct {
	File   string `toml:"file"`
	Format string `toml:"format"`
	Size   string `toml:"max_size"`
	Keep   *int   `toml:"keep"`
}

const (
	logSize = 10 << 20
	logKeep = 3
	logPage = 500 // events of one look
)

// logSettings are the checked values of [log].
func (c *configFile) logSettings() (size int64, keep int, err error) {
	size, keep = logSize, logKeep
	t := c.Log
	if t.Size != "" {
		if size, err = parseSize(t.Size); err != nil || size < 1 {
			return 0, 0, c.wrong("log.max_size", "must be a size like 10MiB")
		}
	}
	if t.Keep != nil {
		if keep = *t.Keep; keep < 0 || keep > 1000 {
			return 0, 0, c.wrong("log.keep", "must be a number of files from 0 to 1000")
		}
	}
	if t.Format != "" {
		if _, err := oneOf("text", "json")(t.Format); err != nil {
			return 0, 0, c.wrong("log.format", "%v", err)
		}
	}
	return size, keep, nil
}

// logEvents writes the events of a run from here on to the log file as they are stored. The function that it returns ends
// that, once all of them are written; where it fails no more is written, and the run goes on. Without a log file it does
// nothing.
func (a *app) logEvents(ctx context.Context, st *storage.Store, run int64) (end func() error, err error) {
	if a.file.Log.File == "" {
		return func() error { return nil }, nil
	}
	size, keep, err := a.file.logSettings()
	if err != nil {
		return nil, err
	}
	after, err := st.LastEvent(ctx, run)
	if err != nil {
		return nil, broken("log file: %w", err)
	}
	out, err := openRotated(a.file.Log.File, size, keep)
	if err != nil {
		return nil, broken("log file: %w, check [log]", err)
	}
	options := &slog.HandlerOptions{ReplaceAttr: logTime}
	var handler slog.Handler = slog.NewTextHandler(out, options)
	if a.file.Log.Format == "json" {
		handler = slog.NewJSONHandler(out, options)
	}
	l := eventLog{st: st, run: run, after: after, to: handler.WithAttrs([]slog.Attr{slog.Int64("run", run)})}
	over, failed := make(chan struct{}), make(chan error, 1)
	go func() { failed <- errors.Join(l.follow(over), out.Close()) }()
	return func() error {
		close(over)
		if err := <-failed; err != nil {
			return fmt.Errorf("log file %s: %w; it lacks events since then, export --what events has them all", a.file.Log.File, err)
		}
		return nil
	}, nil
}

// logTime writes instants as everywhere else: UTC with milliseconds.
func logTime(_ []string, at slog.Attr) slog.Attr {
	if at.Key == slog.TimeKey {
		return slog.String(slog.TimeKey, at.Value.Time().UTC().Format("2006-01-02T15:04:05.000Z"))
	}
	return at
}

// eventLog remembers which events of a run were written.
type eventLog struct {
	st    *storage.Store
	run   int64
	after int64
	to    slog.Handler
}

var logLevels = map[string]slog.Level{"warn": slog.LevelWarn, "error": slog.LevelError}

// follow writes what is new from time to time until over, and the rest then.
func (l *eventLog) follow(over <-chan struct{}) error {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		select {
		case <-over:
			return l.drain()
		case <-look.C:
		}
		if err := l.drain(); err != nil {
			return err
		}
	}
}

// drain writes what is new.
func (l *eventLog) drain() error {
	ctx := context.Background()
	for {
		events, err := l.st.Events(ctx, l.run, l.after, logPage)
		if err != nil {
			return err
		}
		for _, e := range events {
			r := slog.NewRecord(e.At, logLevels[e.Level], printable(e.Text), 0)
			r.AddAttrs(slog.String("scope", e.Scope), slog.String("key", printable(e.Key)))
			if e.Task != 0 {
				r.AddAttrs(slog.Int64("task", e.Task))
			}
			if err := l.to.Handle(ctx, r); err != nil {
				return err
			}
			l.after = e.ID
		}
		if len(events) < logPage {
			return nil
		}
	}
}
