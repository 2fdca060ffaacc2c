package view

import "time"

// Delta is what changed since the last one. Scalars, Counts, Budgets and Caps are whole each time; Domains, Events and
// Alerts hold only what is new. It belongs to the model once handed over, slices and maps included.
type Delta struct {
	At       time.Time // wall clock; required
	Live     bool      // a run is being driven; the last delta of a drive says false
	Run      Run
	InFlight int
	Ceiling  int
	Counts   Counts

	Domains []DomainInput // the domains that changed, each once
	Budgets []BudgetRow
	Caps    []CapRow // Name, Used and Limit; the forecast is made here
	Events  []EventRow
	Alerts  []Alert // Events and Alerts are numbered here, in the order of their arrival

	QueueOldest time.Time     // enqueue time of the oldest task that may run; zero: none
	QueueP95    time.Duration // age below which 95 % of the waiting tasks are
	Health      Health

	// Tally is what was counted since the last delta; nil when nothing was. Model.Tally gives an empty one to go on with.
	Tally *Tally
}

// DomainInput is a domain as it stands now, whole. Fields mean what they mean in DomainRow and DomainDetail.
type DomainInput struct {
	Domain    string
	State     State
	Since     time.Time // of the present state
	InFlight  int
	Limit     int
	LimitWas  int
	PerSecond float64
	Told      *Told // what its headers said of limits; nil: nothing yet, as with most domains

	Until        time.Time // end of the cooldown; zero: none
	Full         time.Duration
	Cause        string
	Layer        string
	Announced    bool // the server named the wait
	FailedProbes int
	Paused       time.Time // zero: not paused

	Queue    int64     // tasks that wait, in memory or not
	Oldest   time.Time // enqueue time of the oldest of them; zero: none
	Accepted int64     // totals of the run, earlier drives included
	Dead     int64
	Limited  *ByLayer // nil: it never refused

	LastAt     time.Time
	LastText   string
	CrawlDelay time.Duration
	Robots     string
	Next       string
	Learned    string
}

// Told is what a domain's headers said of limits. Nobody writes to it once it was handed over.
type Told struct {
	Remaining Remaining
	Headers   map[string]string // limit headers of the last answer that had some
	At        time.Time
}

// remaining is the remaining capacity as last reported.
func (in *DomainInput) remaining() Remaining {
	r := Remaining{}
	if in.Told != nil {
		r = in.Told.Remaining
	}
	r.Asked = r.Asked || !in.LastAt.IsZero()
	return r
}

// limited are the refusals by layer.
func (in *DomainInput) limited() ByLayer {
	if in.Limited == nil {
		return ByLayer{}
	}
	return *in.Limited
}

// ByLayer counts refusals by who said no: 429 of the four layers, and Busy (503 with or without a wait).
type ByLayer struct {
	Account, Rate, Pending, Target, Busy int64
}

// Limited is the number of 429.
func (b ByLayer) Limited() int64 { return b.Account + b.Rate + b.Pending + b.Target }

// of is the count of one layer; zero for a layer that has no field.
func (b ByLayer) of(layer string) int64 {
	switch layer {
	case layerAccount:
		return b.Account
	case layerRate:
		return b.Rate
	case layerPending:
		return b.Pending
	case layerTarget:
		return b.Target
	case layerBusy:
		return b.Busy
	}
	return 0
}

// The layers that have a row of their own. Any other layer of a 429 is counted in the row "unknown".
const (
	layerAccount = "account"
	layerRate    = "rate"
	layerPending = "pending"
	layerTarget  = "target"
	layerBusy    = "busy"
	layerUnknown = "unknown"
)

// layerNames is the order of the rows.
var layerNames = [...]string{layerAccount, layerRate, layerPending, layerTarget, layerBusy, layerUnknown}

// Indexes into layerNames that code branches on.
const (
	layers       = len(layerNames)
	indexBusy    = 4
	indexUnknown = 5
)
