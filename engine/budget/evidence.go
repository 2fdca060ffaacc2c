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
		if f.model.rate < 0.5 {
			return fmt.Sprintf("%s requests a minute, burst %d; %s", short(60*f.model.rate), burst, seen)
		}
		return fmt.Sprintf("%s requests a second, burst %d; %s", short(f.model.rate), burst, seen)
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
	Kind      string        // concurrency, window, rate
	Limit     int           // at once, or in a window, or at once above a rate
	Window    time.Duration // of a window
	PerSecond float64       // of a rate
}

// Learned is what the budget found out; false: nothing was refused yet.
func (b *Budget) Learned() (Learned, bool) {
	f := b.find
	switch {
	case b.slots.edge:
		return Learned{Kind: "concurrency", Limit: b.slots.limit}, true
	case f == nil || f.study == nil:
		return Learned{}, false
	case f.model.kind == windowModel:
		return Learned{Kind: "window", Limit: int(f.model.limit), Window: time.Duration(f.model.span * float64(time.Second))}, true
	case f.model.kind == bucketModel:
		return Learned{Kind: "rate", Limit: max(1, int(math.Round(f.model.limit))), PerSecond: f.model.rate}, true
	}
	return Learned{Kind: "concurrency", Limit: f.w}, true
}
