// Package limits reads what an HTTP response says about limits into one Signal.
//
// Read is a pure function: no clock, no I/O, no state, safe for concurrent use, and the same input gives the same Signal.
// It never panics on foreign text, never returns a negative duration and none above MaxWait.
//
// What it reads, and whose word counts most:
//
//   - What to wait now: Retry-After (RFC 9110 section 10.2.3) and its siblings, and the wait fields that a platform puts
//     into a JSON body; of several the longest valid one. Only where neither is usable, and the status refuses, the
//     reset of the exhausted bucket.
//   - What is left: X-RateLimit-*, X-Rate-Limit-*, RateLimit-* and vendor spellings of them, and the structured fields
//     RateLimit and RateLimit-Policy of the RateLimit fields draft in all its generations. Each name makes a bucket; the
//     bucket that binds is reported: an exhausted one with the latest reset, else the one with least left.
//
// A malformed scalar spoils only itself; a malformed structured field is ignored whole; both leave a note. Dates are
// measured against the response's own Date (plus Age), so a wrong clock on this side does not matter.
package limits
