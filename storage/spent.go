package storage

import "context"

// Spent is what a run has spent for a tenant.
type Spent struct {
	Tenant   string
	Requests int64 // HTTP exchanges that served it
	Credits  float64
	Unpriced int64 // tasks that may have cost something that no answer told
}

// Unseen is what was spent for a tenant beyond what its attempts tell; a Tx adds it to what is known.
type Unseen struct {
	Tenant   string
	Requests int64 // exchanges that were never answered
	Tasks    int64 // that may have cost something that no answer told
}

func (w *writer) applyUnseen(run int64, u *Unseen) error {
	return w.exec(`INSERT INTO unseen (run, tenant, requests, tasks) VALUES (?, ?, ?, ?)
		ON CONFLICT (run, tenant) DO UPDATE SET requests = requests + excluded.requests, tasks = tasks + excluded.tasks`,
		run, u.Tenant, u.Requests, u.Tasks)
}

// Spent sums up what a run has spent by tenant, from its attempts and from what they do not tell.
func (s *Store) Spent(ctx context.Context, run int64) ([]Spent, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT tenant, sum(requests), total(credits), sum(unpriced) FROM (
			SELECT tenant, count(DISTINCT exchange) AS requests, total(credits) AS credits, 0 AS unpriced FROM attempts WHERE run = ?1 GROUP BY tenant
			UNION ALL
			SELECT tenant, requests, 0, tasks FROM unseen WHERE run = ?1
		) GROUP BY tenant ORDER BY tenant`, run)
	return collect(s, rows, err, func(row interface{ Scan(...any) error }) (Spent, error) {
		var x Spent
		err := row.Scan(&x.Tenant, &x.Requests, &x.Credits, &x.Unpriced)
		return x, err
	})
}
