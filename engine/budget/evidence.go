package budget

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// evidence says in words what the finder believes and what that rests on; empty: it was never refused.
func (f *finder) evidence() string {
	if f.study == nil {
		return ""
	}
	seen := plural(f.refusals, "refusal")
	if f.refusals == 0 {
		seen = "remembered from an earlier run"
	}
	switch f.model.kind {
	case windowModel:
		kind := "sliding"
		if f.model.fixed {
			kind = "fixed"
		}
		windows := f.rec.cycle + int(max(0, f.past.last-f.adoptedAt)/f.model.span)
		return fmt.Sprintf("%s per %s s, %s; %s, %s", plural(int(f.model.limit), "request"), short(f.model.span), kind, plural(windows, "window"), seen)
	case bucketModel:
		if f.ramp > 0 {
			return fmt.Sprintf("a rate, not measured yet: at %s requests a second; %s", short(f.model.rate), seen)
		}
		burst := max(1, int(math.Round(f.model.limit)))
		rate, per := short(f.model.rate), "second"
		if f.model.rate < 0.5 {
			rate, per = short(60*f.model.rate), "minute"
		}
		noun := "requests"
		if rate == "1" {
			noun = "request"
		}
		return fmt.Sprintf("%s %s a %s, burst %d; %s", rate, noun, per, burst, seen)
	}
	if f.refusals == 0 {
		return fmt.Sprintf("%d in flight; %s", f.w, seen)
	}
	refusedAt := f.w + 1
	for _, r := range f.rec.refs {
		if r.n > f.w {
			refusedAt = r.n
		}
	}
	return fmt.Sprintf("%d in flight, refused at %d; %s", f.w, refusedAt, seen)
}

// perSecond is the pace that the model allows in the long run; zero: it bounds none.
func (f *finder) perSecond() float64 {
	switch {
	case f.study == nil:
	case f.model.kind == windowModel:
		return f.model.limit / f.model.span
	case f.model.kind == bucketModel:
		return f.model.rate
	}
	return 0
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return strconv.Itoa(n) + " " + word + "s"
}

// short prints a number with three digits.
func short(x float64) string {
	if x >= 100 {
		return strconv.Itoa(int(math.Round(x)))
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

// Learned is what a budget found out about a limit that nobody told.
type Learned struct {
	Kind      string        // KindConcurrency, KindWindow or KindRate
	Limit     int           // at once, or in a window, or at once above a rate
	Window    time.Duration // of a window
	Fixed     bool          // the window has edges of its own
	PerSecond float64       // of a rate
}

// The kinds of learned limits, as they are stored.
const (
	KindConcurrency = "concurrency"
	KindWindow      = "window"
	KindRate        = "rate"
)

// Learned is what the budget found out; false: nothing was refused yet, or the pause that will tell is not over.
func (b *Budget) Learned() (Learned, bool) {
	f := b.find
	switch {
	case b.slots.edge:
		return Learned{Kind: KindConcurrency, Limit: b.slots.limit}, true
	case f == nil || f.study == nil || f.ep.open || f.refusals == 0 && !(f.renewed && f.answer):
		return Learned{}, false
	case f.model.kind != noModel && b.quota.heard():
		return Learned{}, false // the server tells its window itself
	case f.model.kind == windowModel:
		return Learned{Kind: KindWindow, Limit: int(f.model.limit), Window: time.Duration(f.model.span * float64(time.Second)), Fixed: f.model.fixed}, true
	case f.model.kind == bucketModel:
		l := Learned{Kind: KindRate, Limit: max(1, int(math.Round(f.model.limit))), PerSecond: f.model.rate}
		if f.ramp > 0 {
			l.PerSecond = f.average() // the ramp itself is a guess
		}
		if f.grew > 0 { // what growth has tried is not known to be let through
			l.PerSecond = f.grownFrom
		}
		return l, true
	}
	return Learned{Kind: KindConcurrency, Limit: f.w}, true
}
