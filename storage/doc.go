// Package storage is the SQLite file: migrations, the one writer, the readers, export. It owns the kept types (Run, Task,
// Attempt, Result and their kin) and imports nothing of ours.
//
// # Concurrency
//
// A Store has one writer: a goroutine with the only connection that may write. Everything that changes the file passes
// through its queue in the order of the calls, so what was queued by Write is in the file before a later Enqueue or
// SetPause of the same Store. Write never blocks; the other changing methods return when their change is committed.
// Readers are four connections that cannot write, one of them kept for Pending once it was called; they see what was
// committed when their query began and never wait for the writer. All methods may be called from any goroutine.
//
// Several processes may open one file. SQLite orders their writes; a process that drives a run holds a lock file beside the
// database (see Own), which the kernel frees however the process ends.
//
// # What a kill leaves behind
//
// The journal is a WAL with synchronous=FULL: what Write reported as committed survives a kill and a power cut. A transaction
// is either there as a whole or not at all, so counters, task states, attempts and results of one Tx never disagree. Tasks
// that were in flight, runs that were not ended and submits whose answer never came are found by the next Own. A store
// opened with ReadOnly changes nothing.
//
// # Time
//
// Instants are kept in milliseconds of UTC; what is finer is cut off.
package storage
