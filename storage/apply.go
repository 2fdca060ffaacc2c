package storage

import (
	"database/sql/driver"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// weight is what a transaction costs: rows written and bytes held in memory until then.
func weight(tx *Tx) (rows int, bytes int64) {
	const row = 256 // of the small columns, roughly
	rows = len(tx.Tasks) + len(tx.Attempts) + len(tx.Results) + len(tx.Intents) + len(tx.Settled) + len(tx.Jobs) +
		len(tx.Cooldowns) + len(tx.Learned) + len(tx.Events) + len(tx.Unseen) + 1
	bytes = int64(rows) * row
	for i := range tx.Results {
		bytes += int64(len(tx.Results[i].Body) + len(tx.Results[i].Fields))
	}
	for i := range tx.Attempts {
		bytes += int64(len(tx.Attempts[i].BodySample))
	}
	return rows, bytes
}

// moved is how far the counters of a run move in a transaction.
type moved struct {
	Totals
	attempts, records         int64
	accepted, dead, cancelled int64
}

// count moves the number of tasks in a state.
func (m *moved) count(state TaskState, by int64) {
	switch state {
	case TaskAccepted:
		m.accepted += by
	case TaskDead:
		m.dead += by
	case TaskCancelled:
		m.cancelled += by
	}
}

// lastChange is the last of the changes of a task that a group brings, and what it changes.
type lastChange struct {
	run    int64
	change *TaskChange
	was    TaskState // empty: there is no such task
}

// apply writes several transactions into the open one. Only the last state of a task is written, and the counters of a run
// move once.
func (w *writer) apply(txs []*Tx) error {
	now := ms(time.Now())
	last := make(map[int64]*lastChange, len(txs))
	sums := map[int64]*moved{}
	for _, tx := range txs {
		for i := range tx.Tasks {
			c := &tx.Tasks[i]
			last[c.ID] = &lastChange{run: tx.Run, change: c}
		}
		sum := sums[tx.Run]
		if sum == nil {
			sum = &moved{}
			sums[tx.Run] = sum
		}
		add(&sum.Totals, tx.Totals)
		if err := w.applyRows(tx, sum); err != nil {
			return err
		}
	}
	if err := w.applyResults(txs, sums); err != nil {
		return err
	}
	if len(last) > 0 {
		order := slices.Sorted(maps.Keys(last)) // neighbours share pages
		if err := w.readStates(order, last); err != nil {
			return err
		}
		for _, id := range order {
			l := last[id]
			if err := w.applyTask(l, now); err != nil {
				return err
			}
			sums[l.run].count(l.was, -1)
			sums[l.run].count(l.change.State, 1)
		}
	}
	for run, sum := range sums {
		if err := w.applyTotals(run, sum); err != nil {
			return err
		}
	}
	return nil
}

// readStates finds the states that a group changes: one query is cheaper than one for each task.
func (w *writer) readStates(order []int64, last map[int64]*lastChange) error {
	stmt, err := w.statement(`SELECT id, run, state FROM task WHERE id IN (SELECT value FROM json_each(?))`)
	if err != nil {
		return err
	}
	return stmt.query(func(row []driver.Value) error {
		if l := last[row[0].(int64)]; l.run == row[1].(int64) {
			l.was = TaskState(row[2].(string))
		}
		return nil
	}, ids(order))
}

func (w *writer) applyTask(l *lastChange, now int64) error {
	c := l.change
	if l.was == "" {
		return fmt.Errorf("task %d of run %d: %w", c.ID, l.run, ErrNoTask)
	}
	var owner any
	if c.State == TaskInFlight && w.owner != 0 {
		owner = w.owner
	}
	return w.exec(`UPDATE task SET state = ?, owner = ?, tries = ?, attempts = ?, invalids = ?, unknowns = ?, updated_at = ?,
		first_try_at = ?, not_before = ?, reason = ?, error = ?, hop_url = ?, hops = ? WHERE id = ?`,
		string(c.State), owner, c.Tries, c.Attempts, c.Invalids, c.Unknowns, now,
		instant(c.FirstTryAt), instant(c.NotBefore), text(c.Reason), text(c.Error), text(c.HopURL), c.Hops, c.ID)
}

func (w *writer) applyRows(tx *Tx, sum *moved) error {
	for i := range tx.Intents {
		in := &tx.Intents[i]
		if err := w.exec(`INSERT INTO intent (run, exchange, kind, credential, job, tasks, at) VALUES (?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (run, exchange) DO UPDATE SET kind = excluded.kind, credential = excluded.credential, job = excluded.job,
				tasks = excluded.tasks, at = excluded.at`,
			tx.Run, in.Exchange, in.Kind, in.Credential, in.Job, ids(in.Tasks), ms(in.At)); err != nil {
			return err
		}
	}
	for i := range tx.Attempts {
		if err := w.applyAttempt(tx.Run, &tx.Attempts[i]); err != nil {
			return err
		}
		sum.attempts++
	}
	for _, exchange := range tx.Settled {
		if err := w.exec(`DELETE FROM intent WHERE run = ? AND exchange = ?`, tx.Run, exchange); err != nil {
			return err
		}
	}
	for i := range tx.Jobs {
		j := &tx.Jobs[i]
		if err := w.exec(`INSERT INTO job (run, job, credential, tasks, submitted_at, expires_at, next_poll_at, done) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (run, job) DO UPDATE SET credential = excluded.credential, tasks = excluded.tasks, submitted_at = excluded.submitted_at,
				expires_at = excluded.expires_at, next_poll_at = excluded.next_poll_at, done = excluded.done`,
			tx.Run, j.Job, j.Credential, ids(j.Tasks), instant(j.SubmittedAt), instant(j.ExpiresAt), instant(j.NextPollAt), j.Done); err != nil {
			return err
		}
	}
	for i := range tx.Cooldowns {
		if err := w.applyCooldown(&tx.Cooldowns[i]); err != nil {
			return err
		}
	}
	for i := range tx.Unseen {
		if err := w.applyUnseen(tx.Run, &tx.Unseen[i]); err != nil {
			return err
		}
	}
	for i := range tx.Learned {
		if err := w.applyLearned(&tx.Learned[i]); err != nil {
			return err
		}
	}
	for i := range tx.Events {
		e := &tx.Events[i]
		if err := w.exec(`INSERT INTO event (run, at, level, scope, key, text, task) VALUES (?, ?, ?, ?, ?, ?, ?)`,
			tx.Run, ms(e.At), e.Level, e.Scope, e.Key, e.Text, known(e.Task)); err != nil {
			return err
		}
	}
	if tx.State != "" {
		n, err := w.execCount(`UPDATE run SET state = ?, reason = ?, finished_at = ? WHERE id = ?`,
			string(tx.State), text(tx.Reason), instant(tx.Finished), tx.Run)
		if err == nil && n == 0 {
			err = fmt.Errorf("run %d: %w", tx.Run, ErrNoRun)
		}
		return err
	}
	return nil
}

func (w *writer) applyAttempt(run int64, a *Attempt) error {
	var headers any
	if len(a.Headers) > 0 {
		headers = w.pairs.object(a.Headers)
	}
	var sample any // nil and empty differ: an empty answer has an empty sample
	if a.BodySample != nil {
		sample = a.BodySample
	}
	return w.exec(`INSERT INTO attempt (run, task, number, url, domain, tenant, provider, credential, kind, exchange,
		started_at, elapsed_ms, outcome, layer, http_status, target_status, retry_after_ms, quota_limit, remaining, reset_ms,
		in_flight, in_flight_limit, decision, headers, body_kind, credits, bytes, error, body_sample, remote_job)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		run, known(a.Task), a.Number, a.URL, a.Domain, a.Tenant, a.Provider, a.Credential, a.Kind, a.Exchange,
		ms(a.StartedAt), a.Elapsed.Milliseconds(), a.Outcome, a.Layer, said(a.HTTPStatus), said(a.TargetStatus), span(a.RetryAfter),
		said(a.QuotaLimit), said(a.Remaining), span(a.Reset),
		a.InFlight, known(int64(a.InFlightLimit)), a.Decision, headers, a.BodyKind, money(a.Credits), a.Bytes, text(a.Error), sample, text(a.RemoteJob))
}

// money is an amount as it was charged: platforms charge decimals, and sums of their nearest floats carry dust. Whatever is
// kept of an amount is rounded to nine places, the running total in its statement (applyTotals).
func money(f float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(f, 'f', 9, 64), 64)
	if err != nil { // never: it is a number that was just written
		return f
	}
	return r
}

// applyResults stores the results of a group and counts, for each stretch of transactions of one run, those that were not
// there already. Asking how many rows all changed is cheaper than asking for each.
func (w *writer) applyResults(txs []*Tx, sums map[int64]*moved) error {
	for len(txs) > 0 {
		run, stretch := txs[0].Run, 0
		results := 0
		for stretch < len(txs) && txs[stretch].Run == run {
			results += len(txs[stretch].Results)
			stretch++
		}
		if results > 0 {
			before, err := w.changes()
			if err != nil {
				return err
			}
			for _, tx := range txs[:stretch] {
				for i := range tx.Results {
					if err := w.applyResult(run, &tx.Results[i]); err != nil {
						return err
					}
				}
			}
			after, err := w.changes()
			if err != nil {
				return err
			}
			sums[run].records += after - before
		}
		txs = txs[stretch:]
	}
	return nil
}

// changes is how many rows the connection has changed so far.
func (w *writer) changes() (int64, error) { return w.number(`SELECT total_changes()`) }

// number is the answer to a query for one.
func (w *writer) number(query string) (n int64, err error) {
	stmt, err := w.statement(query)
	if err != nil {
		return 0, err
	}
	err = stmt.query(func(row []driver.Value) error {
		n = row[0].(int64)
		return nil
	})
	return n, err
}

// applyResult stores a result unless it is there already.
func (w *writer) applyResult(run int64, r *Result) error {
	fields, err := object(r.Fields)
	if err != nil {
		return fmt.Errorf("result of task %d: fields: %w", r.Task, err)
	}
	return w.exec(`INSERT INTO result (run, task, page, final_url, status, content_type, fetched_at, elapsed_ms, attempts, credits,
		is_text, cached, flag, fields, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (run, task, page) DO NOTHING`,
		run, r.Task, r.Page, r.FinalURL, said(r.Status), r.ContentType, instant(r.FetchedAt), r.Elapsed.Milliseconds(), r.Attempts, money(r.Credits),
		utf8.Valid(r.Body), r.Cached, r.Flag, fields, r.Body)
}

// applyCooldown writes what a budget waits for. While the kept cooldown is active its end only moves later.
func (w *writer) applyCooldown(c *Cooldown) error {
	if c.Until.IsZero() {
		return w.exec(`DELETE FROM cooldown WHERE scope = ? AND key = ?`, c.Scope, c.Key)
	}
	set := c.SetAt
	if set.IsZero() {
		set = time.Now()
	}
	return w.exec(`INSERT INTO cooldown (scope, key, until, full_ms, cause, source, set_at) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (scope, key) DO UPDATE SET until = excluded.until, full_ms = excluded.full_ms, cause = excluded.cause,
			source = excluded.source, set_at = excluded.set_at
		WHERE cooldown.until <= excluded.set_at OR excluded.until >= cooldown.until`,
		c.Scope, c.Key, ms(c.Until), c.Full.Milliseconds(), c.Cause, c.Source, ms(set))
}

func (w *writer) applyTotals(run int64, t *moved) error {
	if *t == (moved{}) {
		return nil
	}
	n, err := w.execCount(`UPDATE total SET attempts = attempts + ?, records = records + ?, requests = requests + ?, retries = retries + ?,
		cooldowns = cooldowns + ?, probes = probes + ?, account = account + ?, rate = rate + ?, pending_jobs = pending_jobs + ?,
		target = target + ?, busy = busy + ?, cached = cached + ?, skipped = skipped + ?, duplicates = duplicates + ?,
		bytes = bytes + ?, credits = round(credits + ?, 9), elapsed_ns = elapsed_ns + ?, max_in_flight = max(max_in_flight, ?),
		accepted = accepted + ?, dead = dead + ?, cancelled = cancelled + ? WHERE run = ?`,
		t.attempts, t.records, t.Requests, t.Retries, t.Cooldowns, t.Probes, t.Account, t.Rate, t.PendingJobs, t.Target, t.Busy,
		t.Cached, t.Skipped, t.Duplicates, t.Bytes, t.Credits, int64(t.Elapsed), t.MaxInFlight, t.accepted, t.dead, t.cancelled, run)
	if err == nil && n == 0 {
		err = fmt.Errorf("run %d: %w", run, ErrNoRun)
	}
	return err
}

func add(t *Totals, d Totals) {
	t.Requests += d.Requests
	t.Retries += d.Retries
	t.Cooldowns += d.Cooldowns
	t.Probes += d.Probes
	t.Account += d.Account
	t.Rate += d.Rate
	t.PendingJobs += d.PendingJobs
	t.Target += d.Target
	t.Busy += d.Busy
	t.Cached += d.Cached
	t.Skipped += d.Skipped
	t.Duplicates += d.Duplicates
	t.Bytes += d.Bytes
	t.Credits += d.Credits
	t.Elapsed += d.Elapsed
	t.MaxInFlight = max(t.MaxInFlight, d.MaxInFlight)
}
