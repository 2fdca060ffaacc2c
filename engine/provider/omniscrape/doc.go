// Package omniscrape is the provider for OmniScrape's scraping API.
//
// One submit carries one task: POST /v1/scrape answers with the page, POST /v1/scrape/async (Options.Async) with a job that
// is polled. Three statuses can each fail on their own: the platform's HTTP status, the job's state, and the target's status
// inside the envelope. An outer 429 is the platform's limit of simultaneous work and reaches every worker of the account; an
// inner 429 reaches that target alone, in the sync envelope and in a job's result alike, whatever the flag success says.
//
// 502 is the target's: the platform could not open it. 402 has three meanings that only its code tells apart: the month's
// allowance, the balance, and PROXY_LOCKED, which is a wrong request of ours.
//
// The key travels in the X-API-Key header alone. Values of this package are immutable and safe for concurrent use.
package omniscrape
