package engine

import (
	"net/http"
	"time"

	"dev.scrapetop/engine/record"
)

// Config is everything a run is driven by. Ceilings of zero mean none was given; a configured ceiling is never exceeded
// and a learned one only lowers it.
type Config struct {
	Provider string // direct, evomi, spidra, omniscrape
	BaseURL  string // empty: the provider's own
	// Options are request fields of the platform, passed through (--set, options = {...}).
	Options map[string]any
	Async   bool // submit and poll instead of holding a connection
	Batch   int  // URLs of a batch submit at most; zero: the platform's limit
	Crawl   bool // each task is the root of a platform crawl
	Plan    Plan

	MaxInFlight       int  // simultaneous requests of the whole program; zero: DefaultMaxInFlight
	Rate              Rate // request starts of the whole program
	DomainMaxInFlight int
	DomainRate        Rate

	MaxAttempts int           // zero: 8
	Deadline    time.Duration // of a task, from its first try; zero: 6h
	RunDeadline time.Duration // zero: none
	MaxWait     time.Duration // longest idle spell when everything left waits; zero: none
	MaxCredits  float64       // zero: no cap
	MaxRequests int64         // zero: no cap
	MaxBody     int64         // bytes after decoding; zero: 10 MiB
	Timeout     time.Duration // one exchange; zero: the provider's own
	MaxAge      time.Duration // reuse an accepted result younger than this; zero: never
	Identity    string        // of the request options: only results fetched with the same are reused
	Robots      bool
	BlockHold   time.Duration // how long a target that refuses access five times in a row is left alone; zero: 30 min

	Credentials []Credential
	Tenants     map[string]Ceilings
	Domains     map[string]Ceilings

	UserAgent string // of direct; empty: DefaultUserAgent
	Header    http.Header

	Rules record.Rules // validation and extraction

	ResubmitUnknown bool  // a submit whose answer never came is submitted again, at most once (default true)
	ResubmitLost    bool  // a lost result is submitted again (costs again; default false)
	NoSamples       bool  // keep no body samples
	Share           Share // connects with the other processes on the database; nil: this one is alone
	Headless        bool  // nobody can resume a paused domain from the screen: a run left with only paused work ends

	// Transport replaces the network, for tests: an in-memory simulator. Nil: the real one.
	Transport http.RoundTripper
	Seed      uint64 // of jitter; zero: from the clock
}

// Rate is a number of request starts per span of time. The zero Rate is no ceiling.
type Rate struct {
	N   int
	Per time.Duration
}

// Plan is what the platform's plan allows and costs, where that is not what is documented. It is never sent. Zero values are
// the documented ones.
type Plan struct {
	Rate Rate // spidra: requests of one address, polls included
	// Spidra: jobs of a kind that may wait in its queue.
	PendingScrapes, PendingBatches, PendingCrawls int
	WorstPrice                                    float64 // omniscrape: the most that one request may cost
}

// Credential is one named key.
type Credential struct {
	Name        string
	Key         string // the secret; never shown, stored or logged
	Account     string // default: Name
	Tenants     []string
	MinGap      time.Duration // zero: the provider's default
	MaxInFlight int
}

// Ceilings are what config allows a tenant or a domain.
type Ceilings struct {
	MaxInFlight int
	Rate        Rate
	MaxCredits  float64
	MaxRequests int64
}

// Defaults, with what they amount to.
const (
	DefaultMaxInFlight = 64
	DefaultMaxAttempts = 8
	DefaultDeadline    = 6 * 60 * 60 * time.Second
	DefaultMaxBody     = 10 << 20
)
