-- Tasks of a run that a person added while it went on: they are no lines of its input, so that a resume, which passes over the
-- lines that are stored, does not count them.
ALTER TABLE total ADD COLUMN added INTEGER NOT NULL DEFAULT 0;
