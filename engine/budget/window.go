package budget

import "time"

// sends is the log of our own starts for a configured rate: at most N in any span of Per. A log and not a bucket, since a
// bucket of burst N refilled at N/Per lets up to 2N through in one span.
type sends struct {
	rate  Rate
	at    []time.Time // ring of the last N starts
	next0 int
}

// slack lengthens a span a little, so that starts spread by the network still obey it where they arrive.
const slack = 50

func newSends(r Rate) *sends { return &sends{rate: r} }

func (s *sends) add(now time.Time) {
	if len(s.at) < s.rate.N {
		s.at = append(s.at, now)
		return
	}
	s.at[s.next0] = now
	s.next0 = (s.next0 + 1) % len(s.at)
}

// next is when one more start keeps the rate; zero: at once.
func (s *sends) next() time.Time {
	if len(s.at) < s.rate.N {
		return time.Time{}
	}
	return s.at[s.next0].Add(s.rate.Per + s.rate.Per/slack)
}

// window is what headers said of a window: requests left until a reset.
//
// Requests overtake each other on the way, so an answer may have counted later ones and not yet earlier ones. The least
// number that an answer told is what the server knew last, of all that are answered; only those still under way may be
// missing in it.
type window struct {
	least  int64 // told by an answer of this window
	silent int64 // calls that ended since without telling: they may be counted there
	reset  time.Time
	known  bool

	toldAt time.Time // when an answer told last
	policy *sends    // told: so many in any span; nil: it was not
}

// left is how many more may start while so many are under way.
func (w *window) left(open int) int64 { return w.least - int64(open) - w.silent }

// openAt is when one more may start while so many are under way; zero: now.
func (w *window) openAt(now time.Time, open int) time.Time {
	if !w.known || w.left(open) > 0 || !now.Before(w.reset) {
		return time.Time{}
	}
	// A reset is mostly told in whole seconds, rounded up; our own starts tell the end of a sliding window better, if they
	// alone have filled it. That of one with edges does not come before its reset then.
	if w.policy != nil {
		if end := w.policy.next(); end.After(w.toldAt) && end.Before(w.reset) {
			return end
		}
	}
	return w.reset
}

// heard reports that some answer told of a window.
func (w *window) heard() bool { return !w.reset.IsZero() }

// stale reports that the announced end has passed and nothing newer was told. What is free then is not known: a window may
// begin anew, or, where it slides, have room for one.
func (w *window) stale(now time.Time) bool { return w.known && !now.Before(w.reset) }

// Quota adopts what an answer said of a window: remaining requests until reset. The answered call is released already.
// Inside one window it only tightens: a larger number is from an earlier moment. A reset that lies later than the known one
// begins a new window, one that lies earlier is of a window before.
func (b *Budget) Quota(now time.Time, remaining int64, reset time.Duration) {
	at := now.Add(reset)
	w := &b.quota
	w.silent = max(w.silent-1, 0) // the call that told it
	w.toldAt = now
	drift := max(windowDrift, reset/10)
	switch {
	case !w.known || !now.Before(w.reset) || at.Sub(w.reset) >= drift:
		w.least, w.silent, w.reset, w.known = remaining, 0, at, reset > 0
	case w.reset.Sub(at) >= drift:
	case remaining < w.least:
		w.least, w.silent = remaining, 0
	}
}

// policyMost is the largest window that our own starts are kept for.
const policyMost = 128

// Policy adopts the size and length of the window that headers tell of; it says nothing of what is left in it.
func (b *Budget) Policy(now time.Time, n int64, span time.Duration) {
	r := Rate{N: int(min(n, policyMost+1)), Per: span}
	if w := &b.quota; r.N > 0 && r.N <= policyMost && span > 0 && (w.policy == nil || w.policy.rate != r) {
		w.policy = newSends(r)
		for range b.inFlight + 1 { // those before, as late as they can have been
			w.policy.add(now)
		}
	}
}

// answered notes an answer: a window whose end has passed and that it tells nothing of is not known any more.
func (w *window) answered(now time.Time) {
	if w.stale(now) && !w.toldAt.Equal(now) {
		w.known = false
	}
}

// windowDrift is by how much the end of one window may seem to move.
const windowDrift = 2 * time.Second

// freeSlots is what a platform's headers say of simultaneous work (Evomi): its limit, and how much others use of it.
type freeSlots struct {
	limit  int
	known  bool
	others int
	until  time.Time // how long the worst use by others is believed
	spare  int       // kept free: polls were refused for want of one
	reopen int       // steps after a cooldown
	edge   bool      // limit was found by a refusal, nobody told it
	part   bool      // that refusal was met among other processes: it is this one's part
	hold   time.Duration
	tryAt  time.Time // when one more may be tried
}

// othersBelieved is how long the worst use by others seen is kept free.
const othersBelieved = 3 * time.Second

func (f *freeSlots) allowed() int {
	if !f.known {
		return 0
	}
	return max(f.limit-max(f.others, f.spare), 1)
}

// Slots adopts a platform's count of free slots, told by an answer: limit at once, remaining free. The answered call
// itself is already released here.
func (b *Budget) Slots(now time.Time, limit, remaining int64) {
	if limit <= 0 {
		return
	}
	f := &b.slots
	f.known, f.limit = true, int(min(limit, 1<<20))
	// Whether the platform still counts the answered call is not told; taking it as counted blames one slot fewer on others.
	others := max(int(limit-remaining)-b.inFlight-1, 0)
	if others >= f.others || now.After(f.until) {
		f.others, f.until = others, now.Add(othersBelieved)
	}
}

// KeepSlotFree keeps one of the platform's slots free from now on: it counts polls too.
func (b *Budget) KeepSlotFree() { b.slots.spare = 1 }

// SlotLimit adopts a limit that a refusal's body told.
func (b *Budget) SlotLimit(limit int64) {
	if limit > 0 {
		b.slots.known, b.slots.limit = true, int(min(limit, 1<<20))
	}
}

// edgeHold is how long the edge found by a refusal is held before one slot more is tried, at first; each try that is
// refused doubles it, since every refusal costs the whole key its wait.
const (
	edgeHold     = 2 * time.Minute
	edgeHoldMost = time.Hour
)

// SlotsRefused tells that the platform counts simultaneous work and that n at once were one too many, although it tells no
// limit: nothing else needs to be looked for. One fewer goes, and one more is tried after a while.
func (b *Budget) SlotsRefused(now time.Time, n int) {
	f := &b.slots
	b.find = nil
	if f.hold == 0 {
		f.hold = edgeHold
	} else if f.edge && n > f.limit-1 {
		f.hold = min(f.hold*2, edgeHoldMost)
	}
	f.known, f.edge, f.limit, f.tryAt, f.part = true, true, max(n-1, 1), now.Add(f.hold), b.lease.Bound
}

// grow tries one slot more when every known one was in use and the edge was held for its time.
func (f *freeSlots) grow(now time.Time, inFlight int) {
	if f.edge && inFlight >= f.limit && !now.Before(f.tryAt) {
		f.limit++
		f.tryAt = now.Add(edgeHold / 4)
	}
}
