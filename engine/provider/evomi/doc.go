// Package evomi is the provider for Evomi's Scraper API.
//
// One submit carries one task: POST /api/v1/scraper/realtime, asking for the JSON envelope with the page inside, because
// only that form tells the target's status. An answer is the page, or a task id to poll (202, 408 with an id, and every
// answer to an asynchronous submit); the poll that reads a finished task deletes it at the platform, and after ten minutes
// it is gone anyway. The platform's X-RateLimit fields count simultaneous requests of the key, not requests in a window,
// and the wait after a refusal is the body's "reset" in seconds.
//
// The key travels in the x-api-key header alone: a key in the query would land in access logs and win over the header.
// Values of this package are immutable and safe for concurrent use.
package evomi
