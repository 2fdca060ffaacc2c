package simulator

import (
	"cmp"
	"time"
)

// SpidraAccount is an account of the simulated Spidra API. Its keys share what it may.
type SpidraAccount struct {
	Name         string // in the counters; default: the key
	Key          string
	MoreKeys     []string
	DisabledKeys []string
	Credits      float64 // balance; zero: 1,000
	Overdue      bool    // unpaid: 402
	Workers      int     // jobs of a kind that run at a time, a batch by its items; zero: 5
}

// SpidraKinds are numbers by the kind of job.
type SpidraKinds struct {
	Scrape int `json:"scrape"`
	Batch  int `json:"batch"`
	Crawl  int `json:"crawl"`
}

func (k *SpidraKinds) of(kind string) *int {
	switch kind {
	case spidraBatch:
		return &k.Batch
	case spidraCrawl:
		return &k.Crawl
	}
	return &k.Scrape
}

const (
	spidraScrape = "scrape"
	spidraBatch  = "batch"
	spidraCrawl  = "crawl"
)

// SpidraSettings are the switches of the simulated Spidra API. The zero settings are the documented behaviour, and where
// nothing is documented the mildest.
type SpidraSettings struct {
	Accounts []SpidraAccount // nil: one account, spd_demo
	Bearer   bool            // Authorization: Bearer is a key too

	Calls         int           // per window and client IP, whatever the call; zero: 300
	Window        time.Duration // zero: 900 s, from an IP's first call on
	Sliding       bool          // the window slides
	RefusalsFree  bool          // a 429 for the rate is not counted itself; it matters to a sliding window
	ResetDelta    bool          // RateLimit-Reset in seconds from now instead of a Unix time
	QuietHeaders  bool          // the RateLimit headers come with that 429 only
	DraftHeaders  bool          // RateLimit and RateLimit-Policy too
	RetryAfter    bool          // that 429 carries Retry-After too
	Pending       SpidraKinds   // waiting jobs of an account; zero: 10 scrapes, 50 batches, 5 crawls
	PendingURLs   bool          // of batches the waiting URLs are counted
	PendingActive bool          // jobs that run are counted too
	PendingHint   time.Duration // announced as Retry-After with TOO_MANY_PENDING_JOBS; zero: nothing
	Busy          bool          // 503 SERVICE_BUSY to every submit
	BusyWait      time.Duration // its retry_after; zero: 60 s
	BusySilent    bool          // it has no retry_after
	URLsPerScrape int           // zero: 3
	URLsPerBatch  int           // zero: 50
	PagesPerCrawl int           // zero: 50
	Overhead      time.Duration // what the platform adds to the target's latency; zero: 8 s
	AIFailed      float64       // share of URLs whose extraction fails
	AIPrice       float64       // what an extraction costs on top of the URL's one credit; zero: 1
	ErrorsList    bool          // a 422 has "errors" and no message
	PartialWord   bool          // a batch with failures ends "partial"
	ShortLinks    bool          // a crawl's files are named html and markdown, not html_url and markdown_url
	Retention     time.Duration // how long an ended job can be read; zero: 1 h
	RetentionFail time.Duration // the same for a failed one; zero: 24 h
	LinksFor      time.Duration // how long a file's link works; zero: 1 h
	DedupeFor     time.Duration // an identical submit within it answers with the job of the first; zero: off
	SlowFor       time.Duration // zero: 5 s
	Faults        PlatformFaults
	PollFaults    PlatformFaults
	CallTime      time.Duration // what a call takes; zero: 40 ms

}

func (s SpidraSettings) withDefaults(speed float64) SpidraSettings {
	if s.Accounts == nil {
		s.Accounts = []SpidraAccount{{Name: "demo", Key: SpidraDemoKey, Credits: 100_000}}
	}
	for _, d := range []struct {
		field *time.Duration
		zero  time.Duration
	}{
		{&s.Window, 900 * time.Second}, {&s.BusyWait, 60 * time.Second}, {&s.PendingHint, 0}, {&s.Overhead, 8 * time.Second},
		{&s.Retention, time.Hour}, {&s.RetentionFail, 24 * time.Hour}, {&s.LinksFor, time.Hour}, {&s.DedupeFor, 0},
		{&s.SlowFor, 5 * time.Second}, {&s.CallTime, sideLatency},
	} {
		*d.field = scale(cmp.Or(*d.field, d.zero), speed)
	}
	s.Calls = cmp.Or(s.Calls, 300)
	s.Pending = SpidraKinds{cmp.Or(s.Pending.Scrape, 10), cmp.Or(s.Pending.Batch, 50), cmp.Or(s.Pending.Crawl, 5)}
	s.URLsPerScrape = cmp.Or(s.URLsPerScrape, 3)
	s.URLsPerBatch = cmp.Or(s.URLsPerBatch, 50)
	s.PagesPerCrawl = cmp.Or(s.PagesPerCrawl, 50)
	s.AIPrice = cmp.Or(s.AIPrice, 1)

	return s
}
