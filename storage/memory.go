package storage

import (
	"context"
	"database/sql"
	"time"
)

// LearnedLimits returns what budgets found out through a provider, in earlier runs and in this one.
func (s *Store) LearnedLimits(ctx context.Context, provider string) ([]Learned, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT scope, key, kind, quota_limit, window_ms, fixed, per_second, confidence, evidence, updated_at
		FROM learned_limit WHERE provider = ? ORDER BY scope, key`, provider)
	return collect(s, rows, err, func(row interface{ Scan(...any) error }) (Learned, error) {
		l := Learned{Provider: provider}
		var window sql.NullInt64
		var updated int64
		err := row.Scan(&l.Scope, &l.Key, &l.Kind, &l.QuotaLimit, &window, &l.Fixed, &l.PerSecond, &l.Confidence, &l.Evidence, &updated)
		l.Window = unspan(window)
		l.UpdatedAt = time.UnixMilli(updated).UTC()
		return l, err
	})
}

func (w *writer) applyLearned(l *Learned) error {
	return w.exec(`INSERT OR REPLACE INTO learned_limit (provider, scope, key, kind, quota_limit, window_ms, fixed, per_second, confidence, evidence, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		l.Provider, l.Scope, l.Key, l.Kind, said(l.QuotaLimit), span(l.Window), l.Fixed, said(l.PerSecond), l.Confidence, l.Evidence, ms(l.UpdatedAt))
}

// Start is a recent exchange, as far as it may still count in somebody's window.
type Start struct {
	Exchange   string // the rows of a batch share it
	Domain     string
	Tenant     string
	Credential string
	At         time.Time
	Elapsed    time.Duration
	Outcome    string
	Remaining  *int64         // told by the answer
	Reset      *time.Duration // likewise, from the answer on
}

// RecentStarts returns a provider's exchanges since a time, of any run, in the order in which they ended; of many only the last most.
func (s *Store) RecentStarts(ctx context.Context, provider string, since time.Time, most int) ([]Start, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT exchange, domain, tenant, credential, started_at, elapsed_ms, outcome, remaining, reset_ms
		FROM (SELECT * FROM attempt ORDER BY id DESC LIMIT ?) WHERE provider = ? AND started_at >= ? ORDER BY id`, most, provider, ms(since))
	return collect(s, rows, err, func(row interface{ Scan(...any) error }) (Start, error) {
		var x Start
		var at, elapsed int64
		var reset sql.NullInt64
		err := row.Scan(&x.Exchange, &x.Domain, &x.Tenant, &x.Credential, &at, &elapsed, &x.Outcome, &x.Remaining, &reset)
		x.At, x.Elapsed, x.Reset = time.UnixMilli(at).UTC(), time.Duration(elapsed)*time.Millisecond, unspan(reset)
		return x, err
	})
}
