// Package frontier holds the work that waits: tasks by tenant and domain, the turn order between them, and the heap of
// everything that wakes at a time.
//
// A Queue is one tenant's tasks of one domain; it stands in its tenant's Lane (a ring of queues that may start) or is
// parked until its domain wakes. Domains of a tenant take turns, one start each; tenants share by their ceilings.
// No operation scans domains: taking the next queue, parking, waking and refilling cost
// O(1), the heap O(log n). Only a small part of each domain's tasks is in memory (about twice what may be in flight); the
// rest are counts, read back in batches when a domain runs low.
//
// Plain values: no locks, no clock, no goroutines; one owner (the core).
package frontier
