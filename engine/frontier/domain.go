package frontier

import (
	"time"

	"dev.scrapetop/engine/budget"
)

// Domain is one hostname and its budget.
type Domain struct {
	Name   string
	Budget *budget.Budget

	Queues  []*Queue
	InHand  int       // tasks in memory that wait in queues
	Stored  int64     // waiting tasks that are not in memory
	Oldest  time.Time // enqueue time of the oldest waiting task, as far as it is known
	Parked  bool      // out of the rings until it wakes
	WakeAt  time.Time // the wake-up already in the heap; zero: none
	Reading bool      // a refill is under way
	Hungry  bool      // in the list of domains that want a refill
	Grown   bool      // more was stored while a refill was under way
	Restart bool      // tasks were given back to storage meanwhile

	// A pass is the reading of its stored tasks from the first to the last.
	Pass     int  // which tenants were held when it began, as a number that grows when one is freed
	Fruitful bool // this pass has brought tasks
	Skipped  bool // this pass has left tasks in storage, since they are held
	Barren   bool // a whole pass brought nothing that may start
	Listed   bool // in the core's list of domains that were found barren
	Read     Read // what the refill that is being placed brought
	working  bool // in the frontier's list

	AfterPriority int // refill position
	AfterID       int64

	Origins []*Origin // robots.txt by scheme, host and port: nearly always one
	Dirty   bool      // changed since the last publication
	Claimed bool      // what it could use may have changed since it was demanded last
	Since   time.Time // of the state last published
	Shown   string    // the state last published
	Log     DomainLog
}

// Read counts what one refill brought of a domain.
type Read struct {
	Got  int // tasks
	New  int // of them, those that were not in memory
	Held int // of them, those that stay in storage
}

// DomainLog is what the screens say of a domain that scheduling does not need.
type DomainLog struct {
	Accepted, Dead, Delayed int64
	Limited                 map[string]int64 // 429 by layer
	Last                    Answer
	Told                    *Told // what its headers said of limits; nil: nothing
	CrawlDelay              time.Duration
}

// Answer is how a call for a domain ended last.
type Answer struct {
	At      time.Time // zero: none came yet
	Outcome string
	Status  int // HTTP; zero: none, or not told
	Elapsed time.Duration
}

// Told is what an answer's headers said of limits. It is replaced, never changed.
type Told struct {
	Headers                map[string]string
	At                     time.Time
	Remaining              int64
	Limit                  int64
	HasRemaining, HasLimit bool
	ResetAt                time.Time
	Kind                   string
}

// Robots are the rules of an origin.
type Robots interface {
	Allows(pathAndQuery string) bool
}

// Origin is one scheme, host and port of a domain.
type Origin struct {
	Key      string // scheme, host and port
	Rules    Robots
	Read     time.Time // when the rules arrived; zero: not yet
	Fetching bool
}

// Passed moves the refill position behind a task: the order is priority descending, then id.
func (d *Domain) Passed(priority int, id int64) {
	if d.AfterID == 0 || priority < d.AfterPriority || priority == d.AfterPriority && id > d.AfterID {
		d.AfterPriority, d.AfterID = priority, id
	}
}

// Waiting is the number of tasks that a domain has waiting, in memory or not.
func (d *Domain) Waiting() int64 { return int64(d.InHand) + d.Stored }
