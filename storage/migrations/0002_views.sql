-- The views are the stable face of the file; the tables behind them are not.

CREATE VIEW runs AS
SELECT r.id, r.name, r.input, r.provider, r.state, r.reason,
	strftime('%Y-%m-%dT%H:%M:%fZ', r.started_at / 1000.0, 'unixepoch') AS started_at,
	strftime('%Y-%m-%dT%H:%M:%fZ', r.finished_at / 1000.0, 'unixepoch') AS finished_at,
	t.tasks, t.accepted, t.dead, t.tasks - t.accepted - t.dead - t.cancelled AS pending, t.cancelled,
	t.attempts, t.records, t.requests, t.credits, t.bytes
FROM run r JOIN total t ON t.run = r.id;

-- Why nothing of a run may start, one row per hold that is in force now. A hold is of the whole run ('run'), or of one of its
-- tenants or domains. Cooldowns of keys (credential, account, pending) hold a run only when every key or account that it may use
-- has one: any other could go on. A provider without a name is the run's own. until is NULL for a pause.
CREATE VIEW holds AS
WITH
-- julianday and not unixepoch('subsec'): shells older than SQLite 3.42 give NULL for the latter.
now (ms) AS (SELECT CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)),
active (scope, key, until) AS (
	SELECT scope, key, until FROM cooldown, now WHERE until > ms
	UNION ALL
	SELECT scope, key, NULL FROM pause
)
SELECT r.id AS run, 'run' AS part, '' AS name, a.scope || CASE a.key WHEN '' THEN '' ELSE ':' || a.key END AS waits_for, a.until
FROM run r JOIN active a ON a.scope = 'global' OR (a.scope IN ('provider', 'ip') AND a.key IN ('', r.provider))
UNION ALL
SELECT r.id, 'run', '', a.scope || ':' || a.key, min(coalesce(a.until, 9e15))
FROM run r JOIN active a ON a.scope IN ('credential', 'account', 'pending')
WHERE r.provider <> 'direct'
GROUP BY r.id, a.scope HAVING count(*) >= CASE a.scope WHEN 'credential' THEN r.credentials ELSE r.accounts END
UNION ALL
SELECT NULL, a.scope, a.key, a.scope || ':' || a.key, a.until FROM active a WHERE a.scope IN ('tenant', 'domain');

CREATE VIEW tasks AS
WITH hold AS MATERIALIZED (
	SELECT run, part, name, max(coalesce(until, 9e15)) AS until, waits_for FROM holds GROUP BY run, part, name
),
held AS (
	SELECT k.*, max(coalesce(hr.until, 0), coalesce(ht.until, 0), coalesce(hd.until, 0)) AS held_until,
		hr.until AS run_until, hr.waits_for AS run_waits,
		ht.until AS tenant_until, ht.waits_for AS tenant_waits,
		hd.until AS domain_until, hd.waits_for AS domain_waits
	FROM task k
	LEFT JOIN hold hr ON k.state = 'pending' AND hr.part = 'run' AND hr.run = k.run
	LEFT JOIN hold ht ON k.state = 'pending' AND ht.part = 'tenant' AND ht.name = k.tenant
	LEFT JOIN hold hd ON k.state = 'pending' AND hd.part = 'domain' AND hd.name = k.domain
)
SELECT id, run, url, coalesce(input_url, url) AS input_url, domain, tenant, state, tries, attempts,
	CASE
		WHEN state = 'delayed' THEN strftime('%Y-%m-%dT%H:%M:%fZ', not_before / 1000.0, 'unixepoch')
		WHEN held_until > 0 AND held_until < 9e15 THEN strftime('%Y-%m-%dT%H:%M:%fZ', held_until / 1000.0, 'unixepoch')
	END AS not_before,
	CASE
		WHEN held_until = 0 THEN NULL
		WHEN held_until = domain_until THEN domain_waits
		WHEN held_until = tenant_until THEN tenant_waits
		ELSE run_waits
	END AS waits_for,
	reason,
	strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1000.0, 'unixepoch') AS created_at,
	strftime('%Y-%m-%dT%H:%M:%fZ', updated_at / 1000.0, 'unixepoch') AS updated_at,
	priority, input_id, error, meta
FROM held;

-- body is text where encoding is 'text', and the bytes themselves where an export would write base64.
CREATE VIEW results AS
SELECT r.task AS task_id, r.run, k.url, coalesce(k.input_url, k.url) AS input_url, r.final_url, k.domain, k.tenant, u.provider,
	r.status, r.content_type,
	strftime('%Y-%m-%dT%H:%M:%fZ', r.fetched_at / 1000.0, 'unixepoch') AS fetched_at,
	r.elapsed_ms, r.attempts, r.credits, coalesce(length(r.body), 0) AS bytes,
	CASE r.is_text WHEN 1 THEN 'text' ELSE 'base64' END AS encoding,
	CASE r.is_text WHEN 1 THEN CAST(r.body AS TEXT) ELSE r.body END AS body,
	r.fields, k.meta, r.page, r.cached, r.flag
FROM result r JOIN task k ON k.id = r.task JOIN run u ON u.id = r.run;

CREATE VIEW attempts AS
SELECT task AS task_id, run, number AS attempt, url, domain, tenant, provider, credential, kind, exchange,
	strftime('%Y-%m-%dT%H:%M:%fZ', started_at / 1000.0, 'unixepoch') AS started_at,
	elapsed_ms, outcome, layer, http_status, target_status, retry_after_ms, quota_limit, remaining, reset_ms,
	in_flight, in_flight_limit, decision, headers, body_kind, credits, bytes, error,
	CAST(body_sample AS TEXT) AS body_sample, remote_job, id AS row
FROM attempt;

CREATE VIEW dead_letters AS
SELECT id AS task_id, run, url, domain, tenant, reason, tries, attempts,
	strftime('%Y-%m-%dT%H:%M:%fZ', updated_at / 1000.0, 'unixepoch') AS died_at, error
FROM task WHERE state = 'dead';

CREATE VIEW cooldowns AS
SELECT scope, key, strftime('%Y-%m-%dT%H:%M:%fZ', until / 1000.0, 'unixepoch') AS until, cause, source,
	strftime('%Y-%m-%dT%H:%M:%fZ', set_at / 1000.0, 'unixepoch') AS set_at
FROM cooldown;

CREATE VIEW pauses AS
SELECT scope, key, NULL AS until, cause, source,
	strftime('%Y-%m-%dT%H:%M:%fZ', set_at / 1000.0, 'unixepoch') AS set_at
FROM pause;

CREATE VIEW learned_limits AS
SELECT scope, key, kind, quota_limit, window_ms / 1000.0 AS window_seconds, per_second, confidence, evidence,
	strftime('%Y-%m-%dT%H:%M:%fZ', updated_at / 1000.0, 'unixepoch') AS updated_at
FROM learned;

CREATE VIEW events AS
SELECT strftime('%Y-%m-%dT%H:%M:%fZ', at / 1000.0, 'unixepoch') AS at, run, level, scope, key, text, task AS task_id, id AS row
FROM event;
