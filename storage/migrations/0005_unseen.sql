-- What a run has spent beyond what its attempts tell: exchanges that were never answered, and tasks that may have cost
-- something that no answer told. It only grows: requeueing a task gives nothing back.
CREATE TABLE unseen (
	run      INTEGER NOT NULL REFERENCES run (id),
	tenant   TEXT NOT NULL,
	requests INTEGER NOT NULL,
	tasks    INTEGER NOT NULL,
	PRIMARY KEY (run, tenant)
) STRICT, WITHOUT ROWID;
