package lease

import (
	"time"

	"dev.scrapetop/engine/budget"
)

// Key names a budget that members share.
type Key struct {
	Provider string       `json:"p,omitempty"`
	Scope    budget.Scope `json:"s"`
	Name     string       `json:"k,omitempty"`
}

// No bounds.
const (
	Unlimited       = 1 << 30        // slots
	UnlimitedStarts = int64(1) << 60 // starts
)

// Test is where a member stands with a budget that cools or did.
type Test uint8

// The stands.
const (
	Open    Test = iota // it does not cool
	Waiting             // it cools, or waits to send the one call that tests it
	Out                 // that call is in flight
)

// Demand is what a member could use of a budget, and what it uses.
type Demand struct {
	Key
	Want     int           `json:"w,omitempty"` // slots that it could use now, those in flight included
	InFlight int           `json:"f,omitempty"`
	Ceiling  int           `json:"c,omitempty"` // in flight over all members, as far as it knows; zero: none
	Rates    []budget.Rate `json:"r,omitempty"` // starts in any span over all members
	Started  int64         `json:"n,omitempty"` // starts since the member began
	Test     Test          `json:"t,omitempty"`
	Holds    int           `json:"h,omitempty"` // slots of the lease that it goes by

	// Told once, when a member that was alone, or had another Book, joins.
	Recent []Recent `json:"a,omitempty"` // starts that still count
	Used   int      `json:"u,omitempty"` // starts of all members that counted when it was told last
}

// InUse reports that the member works with the budget.
func (d *Demand) InUse() bool { return d.Want > 0 || d.InFlight > 0 }

// Recent are starts of some time ago.
type Recent struct {
	Age time.Duration `json:"a"`
	N   int           `json:"n"`
}

// Grant is what a member may use of a budget from now on.
type Grant struct {
	Key
	Slots  int   `json:"l"` // Unlimited: any number
	Starts int64 `json:"n"` // its starts in all, since it began; UnlimitedStarts: any number
	Used   int   `json:"u,omitempty"`
}

// Cooldown is a cooldown that a member met. Times are told as what is left of them: clocks differ.
type Cooldown struct {
	Key
	Left  time.Duration `json:"left"`
	Cause string        `json:"cause,omitempty"`
	Layer string        `json:"layer,omitempty"`
}

// Other is what other members have in flight of a budget.
type Other struct {
	Key
	InFlight int `json:"f"`
}

// News is what a member learns.
type News struct {
	Number  int64     // to be named by the Report that follows its being carried out
	Members int       // processes, this one included; 1: it is alone
	Bound   bool      // leases bind; false: everything is this process's
	Joined  bool      // others were there before it
	Until   time.Time // when its leases end unless they are renewed
	Lost    bool      // nobody answers: it goes by a safe share
	Why     string    // Lost, in words
	Fault   string    // what could not be kept for the next one that divides; empty: nothing
	Grants  []Grant
	Cooled  []Cooldown
	Others  []Other // nil: as before
}

// Report is what a member tells.
type Report struct {
	Done    int64 // the last News that was carried out
	Whole   bool  // Demands are all there are, Recent included
	Demands []Demand
	Cooled  []Cooldown
}

// Sharing connects a process to those that it shares budgets with. Its methods never block and may be called from any goroutine.
type Sharing interface {
	Report(Report)
	// Leave gives everything back. No News comes after it.
	Leave()
}

// Safe is the share of a ceiling that a member takes when nobody divides it: an even part, rounded down.
func Safe(ceiling, members int) int {
	if ceiling <= 0 {
		return Unlimited
	}
	return ceiling / max(members, 1)
}
