package view

import "time"

// State is what a domain (or another budget) is doing, the word of the screens. Shape and word come from the theme.
type State string

// The states, in the order of attention (screens section 4).
const (
	StateCool  State = "cool"  // waits: a cooldown is active, or its probe is out
	StateSlow  State = "slow"  // runs under a lowered limit, or reopens after a cooldown
	StateBlock State = "block" // held because the target refuses access
	StatePause State = "pause" // held by a person
	StateRun   State = "run"
	StateIdle  State = "idle" // nothing to do now, or only delayed tasks
	StateDone  State = "done"
)

// Frame is one consistent picture of the engine at an instant. Nobody writes to it after it was returned; its slices may
// be shared between frames.
type Frame struct {
	Seq  uint64    // grows with every change; the same Seq and Query give the same picture
	At   time.Time // when it was taken (wall clock)
	Live bool      // a run is being driven; false: the numbers will not move

	Run      Run
	InFlight int
	Ceiling  int // the program's ceiling on simultaneous requests

	Counts  Counts
	Domains DomainWindow
	States  map[State]int // domains by state

	QueueOldest time.Duration // age of the oldest task that may run
	QueueP95    time.Duration

	AcceptedPerMin  float64 // over the last minute
	AcceptedAverage float64 // over the run
	Chart           Series  // accepted records per minute, oldest first, closed bins only
	RequestsPerMin  float64
	OKShare         float64 // of the last 15 minutes' answers, 0..1
	RetryShare      float64
	DeadShare       float64
	LatencyP50      time.Duration
	LatencyP95      time.Duration
	LatencyP99      time.Duration

	Layers    []LayerRow
	Cooldowns []CooldownRow // active ones, who wakes next first, at most 100
	Cooling   int           // active cooldowns in all
	Caps      []CapRow
	Budgets   []BudgetRow // every budget that is no domain's: credentials, accounts, tenants, pending, provider, ip, global
	Events    []EventRow  // newest first, at most 200
	ETA       ETA
	Alerts    []Alert // newest first, at most 50; numbered; must not be missed
	Detail    *DomainDetail
	Evidence  *Evidence // with Query.Evidence
	Health    Health
}

// Run is the run in the header.
type Run struct {
	ID       int64
	Name     string
	Provider string
	State    string // running, draining, paused, finished, stopped, failed, waiting, locked out
	Reason   string // why it ended, drains or is locked out
	Started  time.Time
	Elapsed  time.Duration // active time, over all resumes
	PausedAt time.Time     // zero: not paused
	DrainBy  time.Time     // with draining: when it is cut off
	Loading  bool          // its input is still being read
	Sharing  int           // processes that spend from the same budgets, this one included; under 2: it is alone
}

// Counts are tasks by state and totals of the run.
type Counts struct {
	Tasks, Pending, Delayed, InFlight, Remote, Accepted, Dead, Cancelled int64
	RemoteDone                                                           int64 // of Remote: ended, in jobs that go on
	Records, Cached, Invalid, Duplicates, Skipped                        int64
	Requests, Retries, Attempts                                          int64
	Held                                                                 int64 // waits imposed by our own limits
	Credits                                                              float64
	Bytes                                                                int64
}

// Series is a chart: one value per closed bin, oldest first; a negative value is a gap in the data.
type Series struct {
	Bin    time.Duration
	End    time.Time // when the newest bin closed
	Values []float64
}

// LayerRow counts 429 (and busy) of one layer.
type LayerRow struct {
	Layer  string // account, rate, pending, target, or "busy"
	Recent int64  // last 15 minutes
	Total  int64  // the run
	PerMin float64
	Trend  []int64   // per bin, oldest first; fixed time axis
	Last   time.Time // zero: never
}

// CooldownRow is one active cooldown.
type CooldownRow struct {
	Scope, Key string
	Until      time.Time // a deadline: the countdown is Until minus the frame's clock
	Full       time.Duration
	Cause      string // "Retry-After: 90", "backoff 3", "403 x5"
	Layer      string
	Announced  bool // the server named the wait
	Failed     int  // failed probes in a row
}

// CapRow is a cap of the user's: on requests, credits, bytes or time.
type CapRow struct {
	Name     string // requests, credits, time
	Used     float64
	Limit    float64
	Forecast float64 // share of Limit at the end of the run, 0 when unknown
}

// BudgetRow is a budget that is not a domain.
type BudgetRow struct {
	Scope, Key   string
	Account      string // of a credential
	State        State
	InFlight     int
	Others       int // in flight in other processes that share it
	Limit        int // zero: none known
	Remaining    Remaining
	Until        time.Time // zero: no cooldown
	Full         time.Duration
	Cause        string
	Layer        string
	Announced    bool    // the server named the wait
	FailedProbes int     // in a row
	Refused      ByLayer // of the calls that drew on it, since the run was started or resumed
	Stopped      string  // why a credential or account is stopped (auth, quota); empty: it is not
	Credits      float64 // of a credential: left, as last told
	HasCredits   bool
	FreeJobs     bool   // of a credential: its work in the background is known to hold no slot
	Learned      string // what refusals taught of a limit that nobody told, with the evidence; empty: nothing
}

// Remaining is what headers last reported.
type Remaining struct {
	Known     bool // a header has been seen
	Remaining int64
	HasLimit  bool
	Limit     int64
	ResetAt   time.Time // zero: not told
	At        time.Time // when the header arrived
	Kind      string    // concurrency, window, unknown
	Asked     bool      // at least one answer arrived: "no header" rather than "-"
}

// DomainRow is one domain.
type DomainRow struct {
	Domain    string
	State     State
	InFlight  int
	Limit     int // current ceiling in flight; zero: none
	LimitWas  int // the ceiling before it was lowered; zero: never lowered
	PerSecond float64
	Remaining Remaining
	Until     time.Time
	Full      time.Duration
	Cause     string
	Recent429 int64
	Total429  int64
	Trend     []int64
	OKPerMin  float64
	Queue     int64
	Oldest    time.Time // enqueue time of the oldest waiting task; zero: none
	Accepted  int64
	Dead      int64
	ETA       ETA
	LastAt    time.Time // last answer
	LastText  string    // "200 in 0.22 s", "429 target"
	Paused    time.Time // zero: not paused
}

// DomainDetail is the detail of the selected domain.
type DomainDetail struct {
	Domain     string
	Since      time.Time         // of its present state
	Headers    map[string]string // limit headers of the last answer
	HeadersAt  time.Time
	CrawlDelay time.Duration
	Robots     string // "allowed", "not asked", "fetching", "unreachable"
	Next       string // what happens after this, in words
	Learned    string // what refusals taught of its limit, with the evidence; empty: nothing
	Layers     []LayerRow
	Limits     Series // the ceiling over time
	Notes      []string
}

// DomainWindow is the part of the domain table asked for.
type DomainWindow struct {
	Total   int // domains in the run
	Matched int // after the filter
	Offset  int
	Rows    []DomainRow
	Index   int // position of Query.Selected among the matched rows; -1: not there
}

// EventRow is one event of the run.
type EventRow struct {
	Seq   uint64
	At    time.Time
	Level string
	Scope string
	Key   string
	Text  string
	Task  int64
}

// ETA is a forecast, or the reason there is none.
type ETA struct {
	Known     bool
	Left      time.Duration
	PlusMinus time.Duration // of the run: how much the forecast moved in the last five minutes, a minute at least
	Why       string        // with !Known: measuring, paused, growing +120/min, blocked: host, no progress, draining, finished; empty: nothing is left

	// Of the run: what the forecast leaves out, because it is paused or blocked.
	LeftOut        int64
	LeftOutDomains int
}

// Alert is something the user must see.
type Alert struct {
	Seq   uint64
	At    time.Time
	Level string
	Text  string
	Do    string // what to do
}

// Health is the dashboard's own condition.
type Health struct {
	StorageLag   time.Duration // age of the oldest write not yet committed
	StorageError string        // why results cannot be written; empty: they can
	Dropped      uint64        // events overwritten before anybody read them
}

// Sort is a column of the domain table.
type Sort string

// The sort orders of the domain table.
const (
	SortAttention Sort = "attention"
	SortDomain    Sort = "domain"
	SortInFlight  Sort = "in flight"
	SortRemaining Sort = "remaining"
	SortCooldown  Sort = "cooldown"
	Sort429       Sort = "429"
	SortRate      Sort = "ok/min"
	SortQueue     Sort = "queue"
	SortOldest    Sort = "oldest"
	SortReset     Sort = "reset"
	SortETA       Sort = "eta"
	SortAccepted  Sort = "accepted"
	SortDead      Sort = "dead"
	SortAll429    Sort = "429 all"
	SortAnswer    Sort = "last answer"
)

// Query is what a screen wants to see; the zero Query is the first 100 domains by attention.
type Query struct {
	Offset   int
	Limit    int // rows; zero: 100
	Sort     Sort
	Reverse  bool
	Filter   string        // substring; "!word" excludes; "~word" is fuzzy; "/re/" is a pattern; a bad pattern matches nothing
	Faults   bool          // only cool, slow, block
	Selected string        // a domain: DomainWindow.Index and Frame.Detail are about it
	Hold     bool          // keep the order of the last answer (numbers go on): nothing moves under the hand
	Range    time.Duration // of the chart; zero: the whole run in at most 120 bins
	Evidence bool          // also Frame.Evidence
}
