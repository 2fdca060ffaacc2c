package core

import (
	"time"

	"dev.scrapetop/engine/budget"
	"dev.scrapetop/engine/frontier"
	"dev.scrapetop/engine/provider"
)

// Event is something that happened. The concrete types are the ones in this file.
type Event any

// Queued tells of tasks that were stored and wait: counts by domain.
type Queued struct{ Domains []DomainCount }

// DomainCount is a number of waiting tasks of a domain.
type DomainCount struct {
	Domain string
	N      int64
	Oldest time.Time
}

// Refilled brings the answer to a Refill action.
type Refilled struct {
	Wants  []Want
	Tasks  []Waiting
	Reused []Reused
	Failed bool // the read failed: the same will be wanted again
}

// Reused is a waiting task that took over young results and needs no call; its end is stored already.
type Reused struct {
	Domain   string
	ID       int64
	Priority int
	Created  time.Time
	Records  int // results that it took over: one, or a crawl's pages
}

// Waiting is a stored task that waits.
type Waiting struct {
	frontier.Task
	NotBefore time.Time // of a delayed task
}

// Want asks for a domain's next waiting tasks behind a position.
type Want struct {
	Domain        string
	N             int
	AfterPriority int
	AfterID       int64
}

// Replied brings the reading of a call's response.
type Replied struct {
	Call  *Call
	Reply provider.Reply
}

// NotSent tells that a call never left: its intent could not be stored, or the program stopped first.
type NotSent struct{ Call *Call }

// Stored tells that a Store action was committed. It gives the call back: the core uses it again.
type Stored struct{ Call *Call }

// RobotsRead brings the rules of an origin; Rules nil: it could not be read (the call's Replied tells why).
type RobotsRead struct {
	Call  *Call
	Rules frontier.Robots
	Delay time.Duration // Crawl-delay; zero: none
}

// JobKept is a remote job found in storage at the start.
type JobKept struct {
	Job        string
	Credential string
	Tasks      []frontier.Task
	Submitted  time.Time
	Expires    time.Time
	Next       time.Time
}

// CooldownKept is a cooldown found in storage at the start; the remainder is already clamped to its announced length.
type CooldownKept struct {
	Scope budget.Scope
	Key   string
	Until time.Time
	Cause string
	Layer string
}

// SlotHeld tells that a platform may still count a call of before a restart as running until a time.
type SlotHeld struct {
	Credential string
	Until      time.Time
}

// Asked is a person's act.
type Asked struct {
	Verb  string // "pause", "resume", "limit" (of a domain), "end cooldown" (also of a stop)
	Scope budget.Scope
	Key   string
	Limit int
}

// Lent tells of stored tasks that a person's act is about to change: until Returned none of them starts or is read, except those
// that are at work (AtWork). Cancel: these are not tried again.
type Lent struct {
	Tasks  []int64
	Cancel bool
}

// Returned ends a Lent for the tasks that were lent: what the act changed is stored.
type Returned struct {
	Tasks   []int64
	Changes []Change
	Next    []frontier.Task // waiting ones, to be tried before the others of their domains
}

// Change is a task whose row an act has changed. Pending stands for every state that waits.
type Change struct {
	Task     int64
	Domain   string
	From, To State
}

// LookupAsked wants a document fetched with the manners of direct.
type LookupAsked struct {
	ID     int64 // chosen by the asker, unique among lookups
	URL    string
	Domain string
}

// InputBegan tells that one more input is read: the run waits for the end of each. The first is read from the start.
type InputBegan struct{}

// InputEnded tells that an input brings no more tasks.
type InputEnded struct{}

// Draining tells to start nothing new and to end at the latest at By; Abandon ends at once.
type Draining struct {
	Reason  string
	By      time.Time
	Abandon bool
}

// Suspended tells that the machine slept for a while that the monotonic clock did not see.
type Suspended struct{ For time.Duration }

// Backpressure tells whether storage takes more work now.
type Backpressure struct{ Full bool }

// LostSubmit tells of a submit of before a restart whose answer never came, where the platform can be searched for it. Its
// tasks are not among those queued.
type LostSubmit struct {
	Exchange   string // its intent stays until the search ends
	Credential string
	Tasks      []frontier.Task
	Sent       time.Time
}

// Tick is a wake-up asked for by WakeAt, or an occasion to publish.
type Tick struct{}

// Do is what an action asks for.
type Do uint8

// The actions.
const (
	Send       Do = iota + 1 // send Call; with Intent: only after its intent was committed
	Store                    // write Settled of Call
	Refill                   // read Wants
	Cooled                   // a cooldown began, grew or ended: keep it
	Tell                     // an event for the run's log
	LookupDone               // a lookup's call ended for good; Event.Text: it was given up for that, nothing was sent
	Keep                     // keep the remote job
	Unpriced                 // Tasks of Tenant may have cost something that no answer told
	CallOff                  // break Call off: its task was cancelled
	Settle                   // the intent of a submit that was searched for is settled: Exchange, or of Call
	Ended                    // the run is over
)

// Action is one thing the machine asks for. A Call is the receiver's until its Stored, Wants are until they are answered.
type Action struct {
	Do       Do
	Call     *Call
	Intent   bool
	Exchange string
	Tenant   string
	Unpriced int64
	Settled  []Settled
	Wants    []Want
	Cool     CoolChange
	Event    Told
	Job      *Job
	End      Ending
}

// Settled is the new state of one task after a call.
type Settled struct {
	Task      *frontier.Task
	Item      int // index into the reply's items; -1: the call as a whole spoke
	State     State
	Number    int // of this attempt
	Reason    string
	Error     string
	Decision  string
	NotBefore time.Time
	Records   int // with Accepted: results it brought
}

// State of a task, as stored.
type State string

// The states that a call can leave a task in.
const (
	Pending  State = "pending"
	InFlight State = "in_flight"
	Delayed  State = "delayed"
	Remote   State = "remote"
	Accepted State = "accepted"
	Dead     State = "dead"

	Cancelled State = "cancelled"
)

// CoolChange is a cooldown to keep; Until zero clears it.
type CoolChange struct {
	Scope  budget.Scope
	Key    string
	Until  time.Time
	Full   time.Duration
	Cause  string
	Source string
}

// Told is an event for the run's log.
type Told struct {
	Level string // info, warn, error
	Scope budget.Scope
	Key   string
	Text  string
	Task  int64
}

// Ending is how the run ended.
type Ending struct {
	State  string // finished, stopped, failed
	Reason string
}

// Job is work handed to a platform. It keeps the slots of its submit until it is terminal.
type Job struct {
	ID         string
	Credential string
	Tasks      []*frontier.Task
	Submitted  time.Time
	Expires    time.Time
	Next       time.Time
	Done       bool

	worst       float64   // credits reserved
	capped      time.Time // the caps leave no poll for it; its slots are held until then
	handed      time.Time
	round       uint64 // of the last answer that it was compared with
	polls       int
	lastRunning time.Time // when it was last found running
	ended       int       // of its tasks, as the last answer told
	brought     bool      // its next poll was brought forward
	polling     bool
	due         bool
	slots       slots
}

// Call is a call in flight with the budgets it draws on.
type Call struct {
	provider.Call
	Tasks    []*frontier.Task
	Number   int // attempts of the first task, this one included
	InFlight int // of its narrowest budget when it was sent, itself included
	Limit    int // that budget's ceiling then; zero: none known
	Robots   *frontier.Origin
	LookupID int64
	Job      *Job
	Worst    float64 // credits reserved

	unproven  bool          // it was refused before any submit was taken: it costs no try
	calledOff bool          // its task was cancelled while it was under way
	health    bool          // it asks for the credential's free slots
	owed      bool          // polls are set aside for what it may become
	search    *search       // it looks for a submit without an answer
	searched  bool          // it is one, and whoever looks for it refers to it
	backoff   time.Duration // of its tasks that go back together
	slots     slots
	one       [1]provider.Target
	oneTask   [1]*frontier.Task
	onePlace  [1]place
	settle    []Settled
}
