package storage

import "context"

// Spent is what a run has spent for a tenant.
type Spent struct {
	Tenant   string
	Requests int64 // HTTP exchanges that served it
	Credits  float64
}

// Spent sums up what a run has spent by tenant, from its attempts.
func (s *Store) Spent(ctx context.Context, run int64) ([]Spent, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT tenant, count(DISTINCT exchange), total(credits) FROM attempts WHERE run = ? GROUP BY tenant ORDER BY tenant`, run)
	return collect(s, rows, err, func(row interface{ Scan(...any) error }) (Spent, error) {
		var x Spent
		err := row.Scan(&x.Tenant, &x.Requests, &x.Credits)
		return x, err
	})
}
