// Package record validates a page and extracts a record.
//
// A Judge is compiled once from the Rules and is immutable: Page may be called from any goroutine. It is a function of the
// page alone, does no I/O, and never changes or keeps the body: charsets are decoded for matching and extraction only.
// Without rules no HTML is parsed; a page then costs a search for the marks of a challenge in its first 32 KiB.
// Documents are parsed by as many callers at once as there are processors, since a hostile page can take fifty times its
// size in memory while it is a tree.
//
// A page is Blocked when it is a challenge or a block page of a bot defence: a header says so, or several marks agree
// (one alone also stands on honest pages). Login forms are not looked for here.
package record
