package storage

import "context"

// Spent is what a run has spent for a tenant.
type Spent struct {
	Tenant   string
	Requests int64 // HTTP exchanges that served it
	Credits  float64
	Unpriced int64 // tasks that may have cost something that no answer told
}

// Spent sums up what a run has spent by tenant, from its attempts and from the tasks whose submit or result was lost.
func (s *Store) Spent(ctx context.Context, run int64) ([]Spent, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT tenant, sum(requests), total(credits), sum(unpriced) FROM (
			SELECT tenant, count(DISTINCT exchange) AS requests, total(credits) AS credits, 0 AS unpriced FROM attempts WHERE run = ?1 GROUP BY tenant
			UNION ALL
			SELECT tenant, 0, 0, sum(unknowns) + sum(state = 'dead' AND reason = 'lost' AND unknowns = 0) FROM task WHERE run = ?1 GROUP BY tenant
		) GROUP BY tenant ORDER BY tenant`, run)
	return collect(s, rows, err, func(row interface{ Scan(...any) error }) (Spent, error) {
		var x Spent
		err := row.Scan(&x.Tenant, &x.Requests, &x.Credits, &x.Unpriced)
		return x, err
	})
}
