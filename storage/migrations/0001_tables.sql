-- Instants are integers, milliseconds since the Unix epoch in UTC; NULL is "never" or "not known".

CREATE TABLE owner (
	id         INTEGER PRIMARY KEY AUTOINCREMENT,
	pid        INTEGER NOT NULL,
	lock       TEXT NOT NULL UNIQUE, -- name of the held lock file, beside the database
	started_at INTEGER NOT NULL
) STRICT;

CREATE TABLE run (
	id          INTEGER PRIMARY KEY AUTOINCREMENT,
	name        TEXT NOT NULL,
	input       TEXT NOT NULL,
	provider    TEXT NOT NULL,
	settings    TEXT,
	options     TEXT NOT NULL,
	credentials INTEGER NOT NULL, -- how many keys may serve it, and of how many accounts, for tasks.waits_for
	accounts    INTEGER NOT NULL,
	state       TEXT NOT NULL,
	reason      TEXT,
	owner       INTEGER, -- the process that drives it; NULL: none
	started_at  INTEGER NOT NULL,
	finished_at INTEGER
) STRICT;

-- The counters of a run, apart from run so that moving them rewrites a small row. Counted by the writer: a trigger on task would
-- triple the price of an update.
CREATE TABLE total (
	run           INTEGER PRIMARY KEY REFERENCES run (id),
	tasks         INTEGER NOT NULL DEFAULT 0,
	accepted      INTEGER NOT NULL DEFAULT 0,
	dead          INTEGER NOT NULL DEFAULT 0,
	cancelled     INTEGER NOT NULL DEFAULT 0,
	attempts      INTEGER NOT NULL DEFAULT 0,
	records       INTEGER NOT NULL DEFAULT 0,
	requests      INTEGER NOT NULL DEFAULT 0,
	retries       INTEGER NOT NULL DEFAULT 0,
	cooldowns     INTEGER NOT NULL DEFAULT 0,
	probes        INTEGER NOT NULL DEFAULT 0,
	account       INTEGER NOT NULL DEFAULT 0,
	rate          INTEGER NOT NULL DEFAULT 0,
	pending_jobs  INTEGER NOT NULL DEFAULT 0,
	target        INTEGER NOT NULL DEFAULT 0,
	busy          INTEGER NOT NULL DEFAULT 0,
	cached        INTEGER NOT NULL DEFAULT 0,
	skipped       INTEGER NOT NULL DEFAULT 0,
	duplicates    INTEGER NOT NULL DEFAULT 0,
	bytes         INTEGER NOT NULL DEFAULT 0,
	credits       REAL NOT NULL DEFAULT 0,
	elapsed_ns    INTEGER NOT NULL DEFAULT 0,
	max_in_flight INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE task (
	id           INTEGER PRIMARY KEY AUTOINCREMENT,
	run          INTEGER NOT NULL REFERENCES run (id),
	url          TEXT NOT NULL,
	input_url    TEXT, -- NULL: the same as url
	domain       TEXT NOT NULL,
	tenant       TEXT NOT NULL,
	priority     INTEGER NOT NULL,
	input_id     TEXT,
	meta         TEXT,
	state        TEXT NOT NULL,
	owner        INTEGER, -- of a task in flight: the process that has it
	tries        INTEGER NOT NULL DEFAULT 0,
	attempts     INTEGER NOT NULL DEFAULT 0,
	invalids     INTEGER NOT NULL DEFAULT 0,
	unknowns     INTEGER NOT NULL DEFAULT 0, -- submits whose answer never came
	created_at   INTEGER NOT NULL,
	updated_at   INTEGER NOT NULL,
	first_try_at INTEGER,
	not_before   INTEGER,
	reason       TEXT,
	error        TEXT,
	hop_url      TEXT,
	hops         INTEGER NOT NULL DEFAULT 0
) STRICT;

-- url first: the same index finds a page in every run, for results reused by age.
CREATE UNIQUE INDEX task_url ON task (url, run);
CREATE INDEX task_run ON task (run);
-- The order of refill: a domain's waiting tasks by priority, then by id (the rowid that ends every index entry).
CREATE INDEX task_waiting ON task (run, domain, priority DESC) WHERE state IN ('pending', 'delayed');
CREATE INDEX task_in_flight ON task (owner) WHERE state = 'in_flight';
CREATE INDEX task_dead ON task (run, reason) WHERE state = 'dead';

CREATE TABLE attempt (
	id              INTEGER PRIMARY KEY,
	run             INTEGER NOT NULL REFERENCES run (id),
	task            INTEGER, -- NULL: an exchange that served no single task
	number          INTEGER NOT NULL,
	url             TEXT NOT NULL,
	domain          TEXT NOT NULL,
	tenant          TEXT NOT NULL,
	provider        TEXT NOT NULL,
	credential      TEXT NOT NULL,
	kind            TEXT NOT NULL,
	exchange        TEXT NOT NULL,
	started_at      INTEGER NOT NULL,
	elapsed_ms      INTEGER NOT NULL,
	outcome         TEXT NOT NULL,
	layer           TEXT NOT NULL,
	http_status     INTEGER,
	target_status   INTEGER,
	retry_after_ms  INTEGER,
	quota_limit     INTEGER,
	remaining       INTEGER,
	reset_ms        INTEGER,
	in_flight       INTEGER NOT NULL,
	in_flight_limit INTEGER,
	decision        TEXT NOT NULL,
	headers         TEXT,
	body_kind       TEXT NOT NULL,
	credits         REAL NOT NULL,
	bytes           INTEGER NOT NULL,
	error           TEXT,
	body_sample     BLOB,
	remote_job      TEXT
) STRICT;

CREATE INDEX attempt_run ON attempt (run);

CREATE TABLE result (
	id           INTEGER PRIMARY KEY,
	run          INTEGER NOT NULL REFERENCES run (id),
	task         INTEGER NOT NULL,
	page         TEXT NOT NULL,
	final_url    TEXT NOT NULL,
	status       INTEGER,
	content_type TEXT NOT NULL,
	fetched_at   INTEGER,
	elapsed_ms   INTEGER NOT NULL,
	attempts     INTEGER NOT NULL,
	credits      REAL NOT NULL,
	is_text      INTEGER NOT NULL, -- 1: the body is valid UTF-8
	cached       INTEGER NOT NULL,
	flag         TEXT NOT NULL,
	fields       TEXT,
	body         BLOB -- last: reading the other columns of a large result leaves its overflow pages alone
) STRICT;

CREATE UNIQUE INDEX result_page ON result (run, task, page);

CREATE TABLE intent (
	run        INTEGER NOT NULL REFERENCES run (id),
	exchange   TEXT NOT NULL,
	kind       TEXT NOT NULL,
	credential TEXT NOT NULL,
	job        TEXT NOT NULL,
	tasks      TEXT NOT NULL, -- JSON array of ids
	at         INTEGER NOT NULL,
	PRIMARY KEY (run, exchange)
) STRICT, WITHOUT ROWID;

CREATE TABLE job (
	run          INTEGER NOT NULL REFERENCES run (id),
	job          TEXT NOT NULL,
	credential   TEXT NOT NULL,
	tasks        TEXT NOT NULL, -- JSON array of ids
	submitted_at INTEGER,
	expires_at   INTEGER,
	next_poll_at INTEGER,
	done         INTEGER NOT NULL,
	PRIMARY KEY (run, job)
) STRICT, WITHOUT ROWID;

CREATE INDEX job_open ON job (run) WHERE done = 0;

CREATE TABLE cooldown (
	scope   TEXT NOT NULL,
	key     TEXT NOT NULL,
	until   INTEGER NOT NULL,
	full_ms INTEGER NOT NULL,
	cause   TEXT NOT NULL,
	source  TEXT NOT NULL,
	set_at  INTEGER NOT NULL,
	PRIMARY KEY (scope, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE pause (
	scope  TEXT NOT NULL,
	key    TEXT NOT NULL,
	cause  TEXT NOT NULL,
	source TEXT NOT NULL,
	set_at INTEGER NOT NULL,
	PRIMARY KEY (scope, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE learned (
	scope       TEXT NOT NULL,
	key         TEXT NOT NULL,
	kind        TEXT NOT NULL,
	quota_limit INTEGER,
	window_ms   INTEGER,
	per_second  REAL,
	confidence  REAL NOT NULL,
	evidence    TEXT NOT NULL,
	updated_at  INTEGER NOT NULL,
	PRIMARY KEY (scope, key, kind)
) STRICT, WITHOUT ROWID;

CREATE TABLE event (
	id    INTEGER PRIMARY KEY AUTOINCREMENT,
	run   INTEGER NOT NULL REFERENCES run (id),
	at    INTEGER NOT NULL,
	level TEXT NOT NULL,
	scope TEXT NOT NULL,
	key   TEXT NOT NULL,
	text  TEXT NOT NULL,
	task  INTEGER
) STRICT;

CREATE INDEX event_run ON event (run);
