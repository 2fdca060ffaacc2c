package budget

import (
	"time"
)

// Scope is what kind of key a budget belongs to.
type Scope string

// The scopes (CONTRACT section 6).
const (
	Global     Scope = "global"
	Provider   Scope = "provider" // submits to a provider
	IP         Scope = "ip"       // everything behind this address at a provider, polls included
	Account    Scope = "account"
	Credential Scope = "credential"
	Pending    Scope = "pending"
	Tenant     Scope = "tenant"
	Domain     Scope = "domain"
	None       Scope = "none"
)

// State is where a budget stands.
type State uint8

// The states.
const (
	Open State = iota
	Cooling
	Probing
	Recovering
)

func (s State) String() string {
	return [...]string{"open", "cooling", "probing", "recovering"}[s]
}

// Reason is why a gate is closed.
type Reason string

// The reasons, in the order in which a gate looks for them.
const (
	Stopped  Reason = "stopped"  // the platform refused the key or the account; a probe or a person reopens it
	Paused   Reason = "paused"   // by a person
	Cooldown Reason = "cooldown" // not before a time
	ProbeOut Reason = "probe"    // its one probe is in flight
	Slots    Reason = "slots"    // as many in flight as allowed
	Pace     Reason = "pace"     // the next start is due later
	Quota    Reason = "quota"    // the window that headers told of is spent
)

// Gate says whether one more call may start. At is when it could at the earliest; zero: an event will tell (a completion,
// a command).
type Gate struct {
	OK  bool
	Why Reason
	At  time.Time
}

// Cool is a budget's "not before".
type Cool struct {
	Until     time.Time
	Since     time.Time
	Full      time.Duration
	Cause     string // for people: "Retry-After: 90", "backoff 3", "403 x5"
	Layer     string
	Announced bool // the server named the wait; otherwise it is our own backoff
	Failed    int  // failed probes in a row
	Hold      bool // the target refuses access: shown as blocked
}

// Limits are the ceilings a budget starts with; zero fields set none.
type Limits struct {
	InFlight int           // simultaneous calls, never exceeded
	Gap      time.Duration // least time between two starts
	Rate     Rate          // starts in any span, never exceeded
	Start    int           // what may be in flight before the first answer; zero: no limit
	Find     bool          // the limit is unknown: a controller looks for it
}

// Rate is N starts in any span of Per; the zero Rate sets no ceiling.
type Rate struct {
	N   int
	Per time.Duration
}

// Lease is what other processes leave to this one. The zero Lease leaves everything.
type Lease struct {
	Bound  bool          // else nothing below counts
	Slots  int           // in flight at most
	Starts int64         // as Started counts them, at most
	Gap    time.Duration // least time between two starts
}

// Probe names the call that tests a budget after its cooldown; zero: a call is none.
type Probe uint32

// Budget is one budget. The zero value is not usable; see New.
type Budget struct {
	Scope Scope
	Name  string

	limits   Limits
	lease    Lease
	user     int // a person's ceiling, from the screen; zero: none
	inFlight int
	kept     int // slots taken by Hold

	state    State
	cool     Cool
	cut      time.Time // refusals of calls sent before it belong to the event that set it
	probe    Probe     // the one in flight; zero: none is
	probes   Probe     // the last one
	probeAt  time.Time // when it started
	probeN   int       // in flight then, itself included
	paused   bool
	stopped  string
	silenced bool // the stop is for polls too
	answered bool

	lastStart time.Time
	started   int64  // by this process
	boundAt   int    // one more than the refusals that the finder had seen when the lease began to bind; zero: it does not
	starts    *sends // of Limits.Rate
	quota     window
	slots     freeSlots
	find      *finder

	streak  int // failures in a row, transport included
	blocked int // refusals of access in a row
}

// New makes an open budget.
func New(scope Scope, name string, l Limits) *Budget {
	b := &Budget{Scope: scope, Name: name, limits: l}
	if l.Rate.N > 0 {
		b.starts = newSends(l.Rate)
	}
	if l.Find {
		b.find = newFinder(scope == Domain)
	}
	return b
}

// Gate says whether one more call may start now.
func (b *Budget) Gate(now time.Time) Gate {
	if b.stopped == "" && b.paused {
		return Gate{Why: Paused}
	}
	return b.gate(now)
}

// gate is Gate without a person's hold.
func (b *Budget) gate(now time.Time) Gate {
	switch {
	case b.stopped != "":
		return Gate{Why: Stopped}
	case b.state != Open && now.Before(b.cool.Until):
		return Gate{Why: Cooldown, At: b.cool.Until}
	case b.probe != 0:
		return Gate{Why: ProbeOut, At: b.unrefusedAt()}
	}
	limit := b.ceiling()
	probing := b.state == Cooling || b.state == Probing
	if probing {
		// The cooldown has passed: one call, whatever else is still in flight from before it.
		limit = b.Configured()
	}
	if limit > 0 && b.inFlight >= limit {
		return Gate{Why: Slots}
	}
	if why := b.leased(); why != "" {
		return Gate{Why: why}
	}
	if at := b.nextStart(); at.After(now) {
		return Gate{Why: Pace, At: at}
	}
	if at := b.quota.openAt(now, b.inFlight); at.After(now) {
		return Gate{Why: Quota, At: at}
	}
	if b.quota.stale(now) && b.inFlight > 0 {
		return Gate{Why: Quota} // one asks what is free; its answer tells
	}
	switch {
	case b.find == nil:
	case probing:
		if !b.find.probeRoom(b.inFlight) {
			return Gate{Why: Slots}
		}
	default:
		if why, at := b.find.room(b.find.seconds(now), b.inFlight); why != "" {
			g := Gate{Why: why, At: b.find.time(at)}
			if !g.At.IsZero() && !g.At.After(now) {
				g.At = now.Add(time.Microsecond) // a float's last digit
			}
			return g
		}
	}
	return Gate{OK: true}
}

// PollGate says whether a poll may start: it obeys a stop and the pace of starts, but no cooldown of submits, no slot and
// no pause, so that polls can always free what they wait for (DESIGN section 5).
func (b *Budget) PollGate(now time.Time) Gate {
	if b.StopsPolls() {
		return Gate{Why: Stopped}
	}
	if b.Scope == Global || b.Scope == IP {
		return b.gate(now)
	}
	return Gate{OK: true}
}

// Limit is how many calls may be in flight at once now; zero: no ceiling is known.
func (b *Budget) Limit() int {
	limit := b.ceiling()
	if n := max(b.lease.Slots, 1); b.lease.Bound && (limit == 0 || n < limit) && n < leaseMost {
		limit = n
	}
	if b.find != nil {
		if w := b.find.limit(); w > 0 && (limit == 0 || w < limit) {
			limit = w
		}
	}
	return limit
}

// ceiling is the least number in flight that somebody told.
func (b *Budget) ceiling() int {
	limit := b.limits.InFlight
	lower := func(n int) {
		if n > 0 && (limit == 0 || n < limit) {
			limit = n
		}
	}
	lower(b.user)
	if b.limits.Start > 0 && !b.answered {
		lower(b.limits.Start + b.kept) // what is kept from before tells nothing
	}
	lower(b.slots.allowed())
	if b.find == nil && b.state == Recovering {
		lower(b.slots.reopen)
	}
	return limit
}

// Configured is the ceiling that config or a person set; zero: none.
func (b *Budget) Configured() int {
	if b.user > 0 && (b.limits.InFlight == 0 || b.user < b.limits.InFlight) {
		return b.user
	}
	return b.limits.InFlight
}

// LimitWas is the ceiling before a refusal lowered it; zero: it was never lowered.
func (b *Budget) LimitWas() int {
	if b.find == nil {
		return 0
	}
	return b.find.was
}

// PerSecond is the pace that was learned or set; zero: none.
func (b *Budget) PerSecond() float64 {
	if b.find != nil {
		if pace := b.find.perSecond(); pace > 0 {
			return pace
		}
	}
	if b.limits.Gap > 0 {
		return 1 / b.limits.Gap.Seconds()
	}
	return 0
}

// Start records that a call starts. It returns which probe the call is.
func (b *Budget) Start(now time.Time) Probe {
	b.inFlight++
	b.started++
	b.lastStart = now
	if b.starts != nil {
		b.starts.add(now)
	}
	if b.quota.policy != nil {
		b.quota.policy.add(now)
	}
	var probe Probe
	if b.state == Cooling || b.state == Probing {
		b.probes++
		probe = b.probes
		b.state, b.probe, b.probeAt, b.probeN = Probing, probe, now, b.inFlight
	}
	if b.find != nil {
		b.find.sent(now, b.inFlight, probe != 0)
		if b.state == Recovering && b.find.reopened(b.find.seconds(now)) {
			b.state = Open
		}
	}
	return probe
}

// Told notes that an answer told what is free, so that the first start need not find out.
func (b *Budget) Told() { b.answered = b.slots.known }

// Release gives a slot back.
func (b *Budget) Release() {
	if b.inFlight > 0 {
		b.inFlight--
		if b.quota.known {
			b.quota.silent++ // until its answer tells
		}
	}
}

// Hold takes a slot for work that already runs: of before a restart.
func (b *Budget) Hold() { b.inFlight++; b.kept++ }

// InFlight is the number of slots taken.
func (b *Budget) InFlight() int { return b.inFlight }

// nextStart is when the next start is due by the gap and the rate.
func (b *Budget) nextStart() time.Time {
	var at time.Time
	if gap := max(b.limits.Gap, b.lease.Gap); gap > 0 && !b.lastStart.IsZero() {
		at = b.lastStart.Add(gap)
	}
	if b.starts != nil {
		if t := b.starts.next(); t.After(at) {
			at = t
		}
	}
	return at
}

// SetGap sets the least time between two starts (robots.txt Crawl-delay); it only grows.
func (b *Budget) SetGap(d time.Duration) {
	if d > b.limits.Gap {
		b.limits.Gap = d
	}
}

// Find lets a controller look for the limit from now on.
func (b *Budget) Find() {
	if b.find == nil {
		b.find = newFinder(b.Scope == Domain)
		b.find.w = max(b.inFlight, findStart)
	}
}

// SetUserLimit sets a person's ceiling in flight; zero gives it back.
func (b *Budget) SetUserLimit(n int) { b.user = max(n, 0) }

// SetPaused holds or resumes the budget.
func (b *Budget) SetPaused(p bool) { b.paused = p }

// ProbeIsOut reports that the single call that tests it is in flight.
func (b *Budget) ProbeIsOut() bool { return b.probe != 0 }

// IsProbe reports that a call's probe is the one in flight.
func (b *Budget) IsProbe(probe Probe) bool { return probe != 0 && probe == b.probe }

// IsPaused reports a person's hold.
func (b *Budget) IsPaused() bool { return b.paused }

// Stop holds the budget until Unstop: the platform refused the key or the account. polls: it would refuse polls too. An
// account without credits goes on handing out what was paid for.
func (b *Budget) Stop(why string, polls bool) { b.stopped, b.silenced = why, b.silenced || polls }

// StopsPolls reports a stop that is for polls too.
func (b *Budget) StopsPolls() bool { return b.stopped != "" && b.silenced }

// Unstop lets one probe test a stopped budget.
func (b *Budget) Unstop(now time.Time) {
	if b.stopped == "" {
		return
	}
	b.stopped, b.silenced = "", false
	b.state, b.cool.Until = Probing, now
}

// StoppedWhy is why the budget is stopped; empty: it is not.
func (b *Budget) StoppedWhy() string { return b.stopped }

// State is where the budget stands at now: a cooldown that has passed and whose probe is not out is Probing.
func (b *Budget) State(now time.Time) State {
	if b.state == Cooling && !now.Before(b.cool.Until) {
		return Probing
	}
	return b.state
}

// Cooldown is the budget's cooldown; meaningful while State is Cooling or Probing.
func (b *Budget) Cooldown() Cool { return b.cool }

// Lowered reports that a refusal lowered what the budget allows: a limit in flight or a pace was learned.
func (b *Budget) Lowered() bool { return b.find != nil && b.find.lowered() }

// Evidence says in words what was learned about the limit; empty: nothing was.
func (b *Budget) Evidence() string {
	if b.find == nil {
		return ""
	}
	return b.find.evidence()
}
