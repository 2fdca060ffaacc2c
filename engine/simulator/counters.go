package simulator

import "maps"

// Counters are what happened in a world so far.
type Counters struct {
	Sites map[string]SiteCounters `json:"sites"` // by host; sites that nobody asked are missing
	Evomi EvomiCounters           `json:"evomi"`
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

	Polls     int64 `json:"polls"`
	Collected int64 `json:"collected"` // results read, and deleted by it
	Gone      int64 `json:"gone"`      // polls for a task that is unknown, expired, collected or another key's

	Charges          float64 `json:"charges"`
	DuplicateScrapes int64   `json:"duplicate_scrapes"` // scrapes begun of a URL whose scrape had begun before
	SentDuringWait   int64   `json:"sent_during_wait"`  // submits that arrived while an announced wait was on
	PeakInFlight     int     `json:"peak_in_flight"`
}

// Counters is a snapshot; the caller owns it.
func (w *World) Counters() Counters {
	out := Counters{Sites: map[string]SiteCounters{}}
	now := w.now()
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
