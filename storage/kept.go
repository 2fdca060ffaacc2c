package storage

import (
	"encoding/json"
	"time"
)

// RunState is where a run stands.
type RunState string

// The states of a run (view runs).
const (
	RunRunning     RunState = "running"
	RunDraining    RunState = "draining"
	RunFinished    RunState = "finished"
	RunStopped     RunState = "stopped"
	RunFailed      RunState = "failed"
	RunInterrupted RunState = "interrupted" // its owner's lock is free and it was not ended
)

// TaskState is where a task stands (DESIGN section 10).
type TaskState string

// The states of a task.
const (
	TaskPending   TaskState = "pending"
	TaskDelayed   TaskState = "delayed" // its own backoff only
	TaskInFlight  TaskState = "in_flight"
	TaskRemote    TaskState = "remote"
	TaskAccepted  TaskState = "accepted"
	TaskDead      TaskState = "dead"
	TaskCancelled TaskState = "cancelled"
)

// RunSpec is what a run is created from.
type RunSpec struct {
	Name     string          // shown: the input's base name, or the host of a single URL
	Input    string          // identity of the input: an unfinished run with the same Input and Provider is offered for resume
	Provider string          //
	Settings json.RawMessage // what resume needs: the options of the run, without secrets
	Options  string          // identity of the request options: results of other runs are reused only when it is the same
	// Credentials is how many keys may serve the run, Accounts how many accounts they belong to; zero counts as one, and
	// Accounts then as Credentials. A cooldown of one shows as what the tasks wait for only when all of them cool down.
	Credentials int
	Accounts    int
}

// Run is a run with its totals.
type Run struct {
	ID         int64
	Name       string
	Input      string
	Provider   string
	Settings   json.RawMessage
	State      RunState
	Reason     string // why it stopped or failed
	StartedAt  time.Time
	FinishedAt time.Time // zero while unfinished
	Tasks      int64
	Added      int64 // of them, by a person while it went on: no lines of its input
	Accepted   int64
	Dead       int64
	Pending    int64 // pending, delayed, in_flight and remote
	Attempts   int64
	Records    int64 // results stored
	Totals     Totals
}

// Totals are the counters of a run that rows do not carry. In a Tx they are deltas (MaxInFlight: a maximum) and move in
// the transaction of the rows they belong to, so that a kill leaves them consistent.
type Totals struct {
	Requests    int64 // HTTP requests sent: submits, fetches, polls, lookups, robots.txt
	Retries     int64 // attempts of a task after its first
	Cooldowns   int64
	Probes      int64
	Account     int64 // 429 by layer
	Rate        int64
	PendingJobs int64
	Target      int64
	Busy        int64
	Cached      int64
	Skipped     int64
	Duplicates  int64
	Bytes       int64
	Credits     float64
	Elapsed     time.Duration // active time, over all resumes
	MaxInFlight int64
}

// NewTask is a task to enqueue; Domain is the key of target budgets.
type NewTask struct {
	URL      string // normalised
	InputURL string // as given
	Domain   string
	Tenant   string
	Priority int
	Key      string          // the input's own id, empty when it has none
	Meta     json.RawMessage // other columns of the input, an object or nil
}

// Task is a task as the scheduler needs it.
type Task struct {
	ID         int64
	URL        string
	Domain     string
	Tenant     string
	State      TaskState
	Priority   int
	Tries      int
	Attempts   int
	Invalids   int // tries that ended invalid
	Unknowns   int // submits whose answer never came
	CreatedAt  time.Time
	FirstTryAt time.Time // zero before the first
	NotBefore  time.Time // of a delayed task
	HopURL     string    // where a redirect led; empty: URL itself
	Hops       int
}

// TaskChange is the new state of a task, written whole.
type TaskChange struct {
	ID         int64
	State      TaskState
	Tries      int
	Attempts   int
	Invalids   int
	Unknowns   int // submits whose answer never came
	FirstTryAt time.Time
	NotBefore  time.Time // zero: none
	Reason     string    // dead-letter reason
	Error      string    // redacted, one line
	HopURL     string
	Hops       int
}

// Attempt is the record of one exchange for one task (CONTRACT section 5, --what attempts).
type Attempt struct {
	Task          int64 // zero for an exchange that served no task (a poll of a batch, robots.txt)
	Number        int   // 1-based per task
	URL           string
	Domain        string
	Tenant        string
	Provider      string
	Credential    string
	Kind          string
	Exchange      string
	StartedAt     time.Time
	Elapsed       time.Duration
	Outcome       string
	Layer         string
	HTTPStatus    *int
	TargetStatus  *int
	RetryAfter    *time.Duration
	QuotaLimit    *int64
	Remaining     *int64
	Reset         *time.Duration
	InFlight      int
	InFlightLimit int // zero: none known
	Decision      string
	Headers       map[string]string // allow-listed and redacted
	BodyKind      string
	Credits       float64
	Bytes         int64
	Error         string
	BodySample    []byte // redacted before it was cut; at most 512 bytes; nil for accepted answers
	RemoteJob     string
}

// Result is an accepted result. One per (run, task, Page): what arrives twice is stored once.
type Result struct {
	Task        int64
	Page        string // empty, or a page's identity within a crawl
	FinalURL    string
	Status      *int
	ContentType string
	FetchedAt   time.Time
	Elapsed     time.Duration
	Attempts    int
	Credits     float64
	Body        []byte
	Fields      json.RawMessage // extracted record, an object or nil
	Cached      bool
	Flag        string // "empty" for an empty page, else ""
}

// Intent is a paid submit or a destructive collect about to be sent, committed before its bytes leave.
type Intent struct {
	Exchange   string
	Kind       string // submit, poll
	Credential string
	Tasks      []int64
	Job        string // of a poll
	At         time.Time
}

// RemoteJob is work handed to a platform. Committed before its first poll.
type RemoteJob struct {
	Job         string
	Credential  string
	Tasks       []int64
	SubmittedAt time.Time
	ExpiresAt   time.Time
	NextPollAt  time.Time
	Done        bool // settled: the row stays for history, nothing polls it
}

// Cooldown is a budget's "not before". Until only grows while it is active.
type Cooldown struct {
	Scope  string
	Key    string
	Until  time.Time // zero clears it
	Full   time.Duration
	Cause  string
	Source string
	SetAt  time.Time
}

// Pause holds a scope until somebody resumes it.
type Pause struct {
	Scope  string
	Key    string
	Cause  string
	Source string
	SetAt  time.Time
}

// Learned is what a budget found out about a limit.
type Learned struct {
	Provider   string // through which it was found
	Scope      string
	Key        string
	Kind       string
	QuotaLimit *int64
	Window     *time.Duration
	Fixed      bool // the window has edges of its own
	PerSecond  *float64
	Confidence float64
	Evidence   string
	UpdatedAt  time.Time
}

// Event is one line of the run's log.
type Event struct {
	ID    int64 // position in the log, given by the store
	At    time.Time
	Level string // info, warn, error
	Scope string
	Key   string
	Text  string
	Task  int64 // zero: none
}

// Tx is one unit of change: all of it is committed in one transaction, together with whatever else the writer gathered.
type Tx struct {
	Run       int64
	Tasks     []TaskChange
	Attempts  []Attempt
	Results   []Result
	Intents   []Intent
	Settled   []string // exchanges whose intent is answered
	Jobs      []RemoteJob
	Cooldowns []Cooldown
	Learned   []Learned
	Events    []Event
	Unseen    []Unseen
	Totals    Totals
	State     RunState // empty: unchanged
	Reason    string   // with State
	Finished  time.Time
}

// Queued is what Enqueue did with a batch.
type Queued struct {
	Added      int64
	Duplicates int64
	Domains    []DomainCount // tasks added by domain
}

// DomainCount is the waiting work of a domain.
type DomainCount struct {
	Domain  string
	Waiting int64 // pending and delayed
	Oldest  time.Time
}

// Want asks for the next waiting tasks of a domain, in the order (priority descending, id), beyond a position.
type Want struct {
	Domain        string
	N             int
	AfterPriority int
	AfterID       int64 // zero: from the start
}
