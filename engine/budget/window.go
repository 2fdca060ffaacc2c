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
type window struct {
	left  int64
	reset time.Time
	known bool

	policy Rate  // told: so many in any span; the zero Rate: it was not
	told   int64 // what the answer at toldAt said
	toldAt time.Time
	fresh  bool   // that answer began a new window
	starts []mark // ring of the last starts; nil until a window is known
	head   int
	before [2]mark // the last starts until then
}

// mark tells one start from another: several may begin at one instant, each with one more in flight.
type mark struct {
	at int64 // Unix nanoseconds
	n  int   // in flight, itself included
}

func (m mark) after(other mark) bool { return m.at > other.at || m.at == other.at && m.n > other.n }

// windowStarts is how many starts are remembered to tell which ones an answer has counted.
const windowStarts = 128

func (w *window) spend(now time.Time, n int) {
	at := mark{now.UnixNano(), n}
	if !w.known {
		w.before[0], w.before[1] = w.before[1], at
		return
	}
	w.left--
	if len(w.starts) < windowStarts {
		w.starts = append(w.starts, at)
		return
	}
	w.starts[w.head] = at
	w.head = (w.head + 1) % windowStarts
}

// since is the number of starts after the one with n in flight; false: it lies before what is remembered.
func (w *window) since(sent time.Time, n int) (int64, bool) {
	at := mark{sent.UnixNano(), n}
	later := int64(0)
	for k := range w.starts {
		if !w.starts[(w.head+len(w.starts)-1-k)%len(w.starts)].after(at) {
			return later, true
		}
		later++
	}
	return later, false
}

func (w *window) openAt(now time.Time) time.Time {
	if !w.known || w.left > 0 || !now.Before(w.reset) {
		return time.Time{}
	}
	// A reset is mostly told in whole seconds, rounded up; our own starts tell the end of a sliding window better. That of
	// one with edges never comes before its reset.
	if n := w.policy.N; n > 0 && n <= len(w.starts) {
		last := time.Unix(0, w.starts[(w.head+len(w.starts)-n)%len(w.starts)].at)
		if end := last.Add(w.policy.Per + w.policy.Per/slack); end.Before(w.reset) {
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

// Quota adopts what an answer said of a window: left requests until reset. Calls in flight may not have been counted yet;
// Answered and Refused, which know when the call was sent, make that exact. Inside one window it only tightens: an answer
// that was long under way tells of an earlier moment, and its reset seems to lie later than it does. A reset that lies
// later by more than that begins a new window.
func (b *Budget) Quota(now time.Time, remaining int64, reset time.Duration) {
	at := now.Add(reset)
	w := &b.quota
	same := w.known && now.Before(w.reset) && at.Sub(w.reset) < max(windowDrift, reset/10)
	if !w.known && reset > 0 {
		w.starts = append(make([]mark, 0, windowStarts), w.before[:]...)
		w.head = 0
	}
	w.told, w.toldAt, w.fresh = remaining, now, !same
	if same {
		w.left = min(w.left, remaining)
		return
	}
	w.left, w.reset, w.known = remaining-int64(b.inFlight), at, reset > 0
}

// Policy adopts the size and length of the window that headers tell of; it says nothing of what is left in it.
func (b *Budget) Policy(n int64, span time.Duration) {
	if n > 0 && n <= windowStarts && span > 0 {
		b.quota.policy = Rate{N: int(n), Per: span}
	}
}

// counted makes exact what the answer just told of a window: only starts after its own were not counted in it.
func (w *window) counted(now, sent time.Time, inFlight int) {
	if !w.toldAt.Equal(now) {
		if w.stale(now) {
			w.known = false // it is no longer told of
		}
		return
	}
	if !w.known {
		return
	}
	w.toldAt = time.Time{}
	n, ok := w.since(sent, inFlight)
	switch {
	case !ok:
	case w.fresh:
		w.left = w.told - n
	default:
		w.left = min(w.left, w.told-n)
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
	f.known, f.edge, f.limit, f.tryAt = true, true, max(n-1, 1), now.Add(f.hold)
}

// grow tries one slot more when every known one was in use and the edge was held for its time.
func (f *freeSlots) grow(now time.Time, inFlight int) {
	if f.edge && inFlight >= f.limit && !now.Before(f.tryAt) {
		f.limit++
		f.tryAt = now.Add(edgeHold / 4)
	}
}
