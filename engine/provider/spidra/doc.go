// Package spidra is the provider for Spidra's scraping API. Everything there is asynchronous: a submit is handed over and
// polled for.
//
// One task is a single scrape, several are a batch, and with Options.Crawl each task is the root of a crawl that the
// platform makes. The id of a remote job carries its kind, so that a poll knows where to ask: scrape/ID, batch/ID, crawl/ID,
// and log/ID for a scrape that was found in the logs. A batch is settled when it has ended as a whole: one Item for each of
// its targets, by URL; what failed alone is tried again alone. A crawl is settled with one Item for each page and a last one
// for the root (see provider.Item).
//
// Two refusals share the status 429. With the code TOO_MANY_PENDING_JOBS too many jobs of that kind wait in the account's
// queue: submits of the kind wait, polls go on. Without it the address has made its requests of the window, polls
// included: everything from it waits. 503 is the platform's capacity and no limit of ours. What the target answered is never
// told in a field; a text of failure that speaks of too many requests is read as the target's limit, and nothing else is.
//
// A submit whose answer was lost may be queued. No key makes it safe to repeat, so it is marked unknown; a Lookup with its
// targets searches for it: single scrapes in the logs, batches in the list of batches, crawls in their history.
//
// The key travels in a header alone. Values of this package are immutable and safe for concurrent use.
package spidra
