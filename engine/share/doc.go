// Package share lets the processes on one machine that use one database file spend from the same budgets: it carries what
// package lease divides.
//
// One process, the holder of a lock beside the file, serves the others on a unix socket beside it; whoever gets the lock next takes
// over. The kernel frees the lock when the process ends, however it ends, so there is always one that divides and never two.
// The other way would be a sidecar file, opened without syncing, that everybody reads and writes under a lock: it needs no server, but
// nobody is woken by a file, so that a cooldown of one process would be seen by the others only at their next look; each
// look and each share would cost a transaction; and a process that is killed in the middle of one leaves a file to be
// repaired. A socket pushes, and tells at once when the other end is gone. Neither waits for the commits of pages.
//
// A process alone holds the lock, listens, and is told that nothing binds it: it pays for one idle goroutine. When a second
// one joins, both are bound: everybody reports what it uses and could use, and goes by what it is granted. Who is told nothing goes by its
// last leases until they end, after six seconds, then by an even part of each limit, rounded down, and says so. What others
// may still go by after their holder has died is why its successor hands out nothing beyond what is reported for the length of a
// lease; the lock file tells it whether there were others.
//
// Lock and socket are open to their owner alone (0600); a socket whose path is too long for the system lies in the user's runtime
// folder, or in a folder of the temporary one that is the user's alone, under a name made from the path. A socket of somebody
// else is not talked to.
package share
