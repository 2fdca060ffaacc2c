package limits

import (
	"net/http"
	"time"
)

// Kind tells what a limit counts.
type Kind string

// The kinds of limit a response can speak of.
const (
	KindUnknown     Kind = "unknown"     // nothing said what is counted
	KindConcurrency Kind = "concurrency" // simultaneous work: remaining is free slots
	KindWindow      Kind = "window"      // requests in a span of time: remaining is requests left
)

// Opt is a value that may not have been said. The zero Opt is "not said", which is never the same as zero.
type Opt[T any] struct {
	V  T
	OK bool
}

// Some wraps a value that was said.
func Some[T any](v T) Opt[T] { return Opt[T]{V: v, OK: true} }

// MaxWait is the longest wait that is scheduled; a longer one saturates here and is shown as saturated.
const MaxWait = 366 * 24 * time.Hour

// Profile says how one provider means fields whose meaning is not universal (provider sheets). The zero Profile reads
// them by the generic rules.
type Profile struct {
	// Name appears in notes.
	Name string
	// FreeSlots: X-RateLimit-Limit and -Remaining count simultaneous work, not requests in a window (Evomi).
	FreeSlots bool
	// WaitFields are the JSON body fields that announce a wait in seconds, e.g. "reset" (Evomi), "retry_after" (Spidra).
	// They are read on answers that refuse (429, 503, 5xx) and never from a page.
	WaitFields []string
	// ResetMillis: a reset number is milliseconds left.
	ResetMillis bool
	// MaxReset, when positive, clamps what a reset field may say (Spidra: 900 s).
	MaxReset time.Duration
	// RoomyReset: a 429 without a wait of its own waits for the reset even when the counter shows room, because whoever
	// refuses and whoever counts need not be the same (a web server). Off where a 429 can be about another limit than
	// the one that is counted (Spidra's pending jobs).
	RoomyReset bool
}

// Response is the part of an HTTP response that limits reads.
type Response struct {
	Status   int
	Header   http.Header // every line kept: several values of one name are all read
	Body     []byte      // JSON body of a platform; nil when the body is a page
	Received time.Time   // the client's clock when the headers arrived
	Profile  Profile
}

// Signal is everything a response said about limits, in one reading. Durations count from Response.Received.
type Signal struct {
	// Wait is what the server asks us to wait now, clamped to [0, MaxWait]. Not OK: it announced nothing usable.
	// Zero is an announcement (reset now, a past date): the caller's own floor still applies.
	Wait       Opt[time.Duration]
	WaitSource string // "retry-after", "retry-after-ms", "x-ratelimit-retry-after", "ratelimit-reset", "body"; empty when Wait is not OK
	Saturated  bool   // the announced wait was beyond MaxWait

	Limit     Opt[int64]
	Remaining Opt[int64]
	Reset     Opt[time.Duration] // until the binding bucket has room again
	Window    Opt[time.Duration] // the binding policy's length
	Kind      Kind
	Binding   string // name of the policy that binds, if it has one
	Unit      string // quota unit when it is not requests, e.g. "content-bytes": shown, never spent
	Notes     []string
}

// Exhausted reports that a window says no request is left.
func (s Signal) Exhausted() bool {
	return s.Kind != KindConcurrency && s.Unit == "" && s.Remaining.OK && s.Remaining.V <= 0
}
