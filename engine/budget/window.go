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
}

func (w *window) spend() {
	if w.known {
		w.left--
	}
}

func (w *window) openAt(now time.Time) time.Time {
	if !w.known || w.left > 0 || !now.Before(w.reset) {
		return time.Time{}
	}
	return w.reset
}

// Quota adopts what an answer said of a window: left requests until reset. inFlight calls may not have been counted yet.
// Inside one window it only tightens.
func (b *Budget) Quota(now time.Time, remaining int64, reset time.Duration) {
	at := now.Add(reset)
	left := remaining - int64(b.inFlight)
	w := &b.quota
	same := w.known && now.Before(w.reset) && at.Sub(w.reset).Abs() < 2*time.Second
	if same && left >= w.left {
		return
	}
	*w = window{left: left, reset: at, known: reset > 0}
}

// freeSlots is what a platform's headers say of simultaneous work (Evomi): its limit, and how much others use of it.
type freeSlots struct {
	limit  int
	known  bool
	others int
	until  time.Time // how long the worst use by others is believed
	reopen int       // steps after a cooldown
}

// othersBelieved is how long the worst use by others seen is kept free.
const othersBelieved = 3 * time.Second

func (f *freeSlots) allowed() int {
	if !f.known {
		return 0
	}
	return max(f.limit-f.others, 1)
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

// SlotLimit adopts a limit that a refusal's body told.
func (b *Budget) SlotLimit(limit int64) {
	if limit > 0 {
		b.slots.known, b.slots.limit = true, int(min(limit, 1<<20))
	}
}
