-- The attempts of one task, and the last one of each task in sight. Among a million attempts that took 110 ms without it, less
-- than one with it; writing costs a tenth more. An index of tasks by state would cost a quarter more for windows that take 120 ms
-- at worst (a rare state among a million tasks), and nobody waits for them: there is none.
CREATE INDEX attempt_task ON attempt (task) WHERE task IS NOT NULL;
