package simulator

import (
	"slices"
	"time"
)

// LimitKind is what a limit counts.
type LimitKind string

// The kinds of limit.
const (
	Bucket      LimitKind = "bucket"      // N tokens per Per flow in, at most Burst are kept
	Fixed       LimitKind = "fixed"       // N requests in each span of Per since the world began
	Sliding     LimitKind = "sliding"     // N requests in any span of Per
	Concurrency LimitKind = "concurrency" // N requests at a time
)

// Limit is one limit of a site. A request needs room in all limits of its site and takes from all or none.
type Limit struct {
	Kind  LimitKind
	N     int
	Per   time.Duration
	Burst int // of a Bucket; zero: 1
	// Penalty is the least wait after a refusal; until it is over everything is refused.
	Penalty time.Duration
}

// Tell is how a site speaks of its limits; forms can be combined.
type Tell uint8

// The forms. TellNothing is a bare 429.
const (
	TellSeconds        Tell = 1 << iota // Retry-After: 7
	TellDate                            // Retry-After: an HTTP date
	TellXRateLimit                      // X-RateLimit-Limit, -Remaining and -Reset (seconds left) on every answer
	TellXRateLimitUnix                  // the same with -Reset as a Unix time
	TellDraft                           // RateLimit and RateLimit-Policy (structured fields) on every answer

	TellNothing Tell = 0 // a bare 429
)

// Latency is how long a site takes to answer.
type Latency struct {
	Median time.Duration // zero: 200 ms
	Spread float64       // of the logarithm: 0 is constant, 0.5 is usual, 1 is wild
	// PerInFlight is added for each request already in flight: queueing that shows before a limit does.
	PerInFlight time.Duration
	// Drift is added per minute since the world began, up to DriftMax.
	Drift    time.Duration
	DriftMax time.Duration
	// Cold is added to the first answer and shrinks to nothing over ColdFor requests.
	Cold    time.Duration
	ColdFor int
}

// Moods are the shares (0 to 1) of answers that are not the page. Shares of the first group belong to URLs for good; those
// of the second are drawn anew at each try.
type Moods struct {
	NotFound  float64 // 404
	Blocked   float64 // 403
	Challenge float64 // 403 with a challenge page
	Soft      float64 // 200 with an error page
	Empty     float64 // 200 without a body
	Redirect  float64 // 301 to another path of the site
	Login     float64 // 302 to the login page

	Fail     float64 // 500
	Reset    float64 // the connection is dropped before an answer
	Truncate float64 // the connection is dropped inside the page
}

// Policy is how a site behaves. The zero Policy answers every request with a page after 200 ms.
type Policy struct {
	Limits  []Limit
	Tell    Tell
	Latency Latency
	Moods   Moods

	// Down answers everything with 503; DownWait, when positive, is announced as Retry-After.
	Down     bool
	DownWait time.Duration

	BodyBytes  int           // size of a page, about; zero: 3,000
	CrawlDelay time.Duration // in robots.txt
	Disallow   []string      // path prefixes, in robots.txt; they are served and counted all the same
	NoRobots   bool          // robots.txt is 404
}

// Phase is a policy that begins at a time since the world began.
type Phase struct {
	At     time.Duration
	Policy Policy
}

// Site is a target site.
type Site struct {
	Host   string // host name without port
	Kind   string // its policy in a few words, for people
	URLs   int    // how many of its pages are in DemoURLs
	Policy Policy
	Phases []Phase // later policies, by time
}

// scaled is a site in the client's time.
func (s Site) scaled(speed float64) Site {
	s.Policy = s.Policy.scaled(speed)
	s.Phases = slices.Clone(s.Phases)
	for i, p := range s.Phases {
		s.Phases[i] = Phase{At: scale(p.At, speed), Policy: p.Policy.scaled(speed)}
	}
	slices.SortStableFunc(s.Phases, func(a, b Phase) int { return int(a.At - b.At) })
	return s
}

func (p Policy) scaled(speed float64) Policy {
	p.Limits = slices.Clone(p.Limits)
	for i := range p.Limits {
		l := &p.Limits[i]
		l.Per = scale(l.Per, speed)
		l.Penalty = scale(l.Penalty, speed)
	}
	if p.Latency.Median == 0 {
		p.Latency.Median = 200 * time.Millisecond
	}
	if p.BodyBytes == 0 {
		p.BodyBytes = 3000
	}
	l := &p.Latency
	for _, d := range []*time.Duration{&l.Median, &l.PerInFlight, &l.DriftMax, &l.Cold, &p.DownWait, &p.CrawlDelay} {
		*d = scale(*d, speed)
	}
	return p // Drift is per minute: both sides scale, the number stays
}

func scale(d time.Duration, speed float64) time.Duration {
	return time.Duration(float64(d) / speed)
}
