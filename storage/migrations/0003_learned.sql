-- A limit is known of a key as seen through one provider: a site's own is not what a platform's exits meet there.
CREATE TABLE learned_limit (
	provider    TEXT NOT NULL,
	scope       TEXT NOT NULL,
	key         TEXT NOT NULL,
	kind        TEXT NOT NULL, -- concurrency, window or rate: a key has the one that is believed last
	quota_limit INTEGER,
	window_ms   INTEGER,
	fixed       INTEGER NOT NULL, -- 1: the window has edges of its own
	per_second  REAL,
	confidence  REAL NOT NULL,
	evidence    TEXT NOT NULL,
	updated_at  INTEGER NOT NULL,
	PRIMARY KEY (provider, scope, key)
) STRICT, WITHOUT ROWID;

DROP VIEW learned_limits;
DROP TABLE learned;

CREATE VIEW learned_limits AS
SELECT scope, key, kind, quota_limit, window_ms / 1000.0 AS window_seconds, per_second, confidence, evidence,
	strftime('%Y-%m-%dT%H:%M:%fZ', updated_at / 1000.0, 'unixepoch') AS updated_at
FROM learned_limit;
