package simulator

import "maps"

// Counters are what happened in a world so far.
type Counters struct {
	Sites map[string]SiteCounters `json:"sites"` // by host; sites that nobody asked are missing
	Evomi EvomiCounters           `json:"evomi"`

	Spidra     SpidraCounters     `json:"spidra"`
	OmniScrape OmniScrapeCounters `json:"omniscrape"`
}

// SiteCounters count the requests to a site, direct ones and a platform's. Every request but one for robots.txt is counted
// in Requests when it arrives and, when its answer is written, in exactly one of the outcomes.
type SiteCounters struct {
	Requests int64 `json:"requests"`
	Robots   int64 `json:"robots"` // requests for robots.txt; they are nothing else

	Accepted   int64 `json:"accepted"`   // pages delivered
	Refused    int64 `json:"refused"`    // 429
	Busy       int64 `json:"busy"`       // 503
	Blocked    int64 `json:"blocked"`    // 403, challenges, login redirects
	NotFound   int64 `json:"not_found"`  // 404
	Soft       int64 `json:"soft"`       // 200 with an error page or nothing
	Redirected int64 `json:"redirected"` // 301
	Failed     int64 `json:"failed"`     // 500
	Dropped    int64 `json:"dropped"`    // connections reset or cut
	Aborted    int64 `json:"aborted"`    // the client left before its answer

	// SentDuringWait are requests that arrived while a wait was on that an earlier refusal had announced to the client.
	SentDuringWait int64 `json:"sent_during_wait"`
	Duplicates     int64 `json:"duplicates"` // pages delivered that had been delivered before
	Disallowed     int64 `json:"disallowed"` // requests for paths that robots.txt closes
	PeakInFlight   int   `json:"peak_in_flight"`
	InFlight       int   `json:"in_flight"`
}

// EvomiCounters count what the Evomi API saw.
type EvomiCounters struct {
	Keys         map[string]KeyCounters `json:"keys"`          // by the account's name
	Unauthorized int64                  `json:"unauthorized"`  // requests without a known key
	KeysInQuery  int64                  `json:"keys_in_query"` // requests that carried a key in their URL
}

// KeyCounters count the requests of one key.
type KeyCounters struct {
	Submits  int64 `json:"submits"`  // requests to scrape, whatever came of them
	Started  int64 `json:"started"`  // scrapes begun
	Refused  int64 `json:"refused"`  // 429
	Busy     int64 `json:"busy"`     // 503
	Rejected int64 `json:"rejected"` // 400 and 422
	Unpaid   int64 `json:"unpaid"`   // 402
	HandedOn int64 `json:"handed_on"`

	Health    int64 `json:"health"` // questions for the account's health
	Polls     int64 `json:"polls"`
	Collected int64 `json:"collected"` // results read, and deleted by it
	Gone      int64 `json:"gone"`      // polls for a task that is unknown, expired, collected or another key's

	Charges          float64 `json:"charges"`
	DuplicateScrapes int64   `json:"duplicate_scrapes"` // scrapes begun of a URL whose scrape had begun before
	SentDuringWait   int64   `json:"sent_during_wait"`  // submits that arrived while an announced wait was on
	PeakInFlight     int     `json:"peak_in_flight"`
}

// SpidraCounters count what the Spidra API saw.
type SpidraCounters struct {
	IPs          map[string]IPCounters            `json:"ips"`
	Accounts     map[string]SpidraAccountCounters `json:"accounts"`      // by name
	Unauthorized int64                            `json:"unauthorized"`  // requests without a key, or with one that does not work
	KeysInQuery  int64                            `json:"keys_in_query"` // requests that carried a key in their URL
}

// IPCounters count the requests from one address, whatever their key.
type IPCounters struct {
	Calls          int64 `json:"calls"`
	Refused        int64 `json:"refused"`          // 429 for the rate
	SentDuringWait int64 `json:"sent_during_wait"` // calls that arrived between such a 429 and the announced reset
}

// SpidraAccountCounters count the requests of one account that the rate let in. Submits are Jobs, RefusedPending, Busy,
// Rejected, Unpaid, NoCredits, Deduped and those of the faults that begin nothing.
type SpidraAccountCounters struct {
	Submits        int64 `json:"submits"`         // of every kind, whatever came of them
	Jobs           int64 `json:"jobs"`            // accepted
	URLs           int64 `json:"urls"`            // in them, as submitted
	RefusedPending int64 `json:"refused_pending"` // TOO_MANY_PENDING_JOBS
	Busy           int64 `json:"busy"`            // SERVICE_BUSY
	Rejected       int64 `json:"rejected"`        // 400 and 422, of retries too
	Unpaid         int64 `json:"unpaid"`          // 402
	NoCredits      int64 `json:"no_credits"`      // 403 for the credits
	Deduped        int64 `json:"deduped"`         // answered with the job of an identical submit

	Polls     int64   `json:"polls"`
	Collected int64   `json:"collected"` // polls that found the job ended
	Gone      int64   `json:"gone"`      // 404 for a job: unknown, expired or another account's
	Lookups   int64   `json:"lookups"`   // lists, logs, statistics
	Retries   int64   `json:"retries"`   // requests to retry a batch
	Retried   int64   `json:"retried"`   // items in them
	Cancelled int64   `json:"cancelled"` // items called off
	Refunded  float64 `json:"refunded"`  // credits that were reserved for these

	Charges          float64 `json:"charges"`
	Charged          int64   `json:"charged"`           // pages paid for
	DuplicateCharges int64   `json:"duplicate_charges"` // pages paid for of a URL paid for before
	DuplicateScrapes int64   `json:"duplicate_scrapes"` // URLs accepted that had been accepted before; retries of a batch are none
	// SentDuringWait are submits that arrived while a wait was on that SERVICE_BUSY (or a hint) had announced.
	SentDuringWait  int64       `json:"sent_during_wait"`
	PeakWaiting     SpidraKinds `json:"peak_waiting"` // jobs of which nothing has begun
	PeakWaitingURLs int         `json:"peak_waiting_urls"`
}

// OmniScrapeCounters count what the OmniScrape API saw.
type OmniScrapeCounters struct {
	Accounts     map[string]OmniScrapeAccountCounters `json:"accounts"`      // by name
	Unauthorized int64                                `json:"unauthorized"`  // requests without a known key
	KeysInQuery  int64                                `json:"keys_in_query"` // requests that carried a key in their URL
}

// OmniScrapeAccountCounters count the requests of one account. Submits are Jobs, Refused, Busy, Rejected, Unpaid
// and those of the faults that begin nothing.
type OmniScrapeAccountCounters struct {
	Submits  int64 `json:"submits"`  // of both kinds, whatever came of them
	Async    int64 `json:"async"`    // those to be polled
	Jobs     int64 `json:"jobs"`     // accepted, of both kinds
	Started  int64 `json:"started"`  // those that got a slot
	Refused  int64 `json:"refused"`  // 429
	Busy     int64 `json:"busy"`     // 503
	Rejected int64 `json:"rejected"` // 400
	Unpaid   int64 `json:"unpaid"`   // 402, of every form
	HungUp   int64 `json:"hung_up"`  // synchronous scrapes whose client left

	Polls     int64 `json:"polls"`
	FastPolls int64 `json:"fast_polls"` // less than a second after the last poll of that job
	Collected int64 `json:"collected"`  // polls that found the job ended
	Gone      int64 `json:"gone"`       // 404 for a job: unknown, expired or another account's

	Charges          float64 `json:"charges"`
	Charged          int64   `json:"charged"`           // pages paid for
	DuplicateCharges int64   `json:"duplicate_charges"` // pages paid for of a URL paid for before
	DuplicateScrapes int64   `json:"duplicate_scrapes"` // jobs accepted of a URL that had been accepted before
	SentDuringWait   int64   `json:"sent_during_wait"`  // submits that arrived while an announced wait was on
	InFlight         int     `json:"in_flight"`         // slots held
	PeakInFlight     int     `json:"peak_in_flight"`
	PeakQueued       int     `json:"peak_queued"` // asynchronous jobs accepted and not begun
}

// Counters is a snapshot; the caller owns it.
func (w *World) Counters() Counters {
	out := Counters{Sites: map[string]SiteCounters{}}
	now := w.now()
	out.Spidra, out.OmniScrape = w.spidra.snapshot(now), w.omni.snapshot(now) // first: they bring visits to the sites
	for _, s := range w.allSites() {
		if c := s.snapshot(now); c != (SiteCounters{}) {
			out.Sites[s.Host] = c
		}
	}
	e := w.evomi
	e.mu.Lock()
	defer e.mu.Unlock()
	out.Evomi = e.counters
	out.Evomi.Keys = maps.Clone(e.counters.Keys)
	if out.Evomi.Keys == nil {
		out.Evomi.Keys = map[string]KeyCounters{}
	}
	for _, a := range e.accounts {
		a.advance(now, e.settings)
		out.Evomi.Keys[a.Name] = a.counters
	}
	return out
}
