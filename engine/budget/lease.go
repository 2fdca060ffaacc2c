package budget

import "time"

// leaseMost is from where on a lease's slots are as good as any number.
const leaseMost = 1 << 30

// SetLease replaces what other processes leave to this one.
func (b *Budget) SetLease(l Lease) {
	b.lease = l
	if b.find != nil && l.Bound && b.boundAt == 0 {
		b.boundAt = b.find.seen() + 1
	}
	if !l.Bound {
		b.boundAt = 0
	}
}

// seen is how many refusals the finder has met.
func (f *finder) seen() int {
	if f.study == nil {
		return 0
	}
	return f.refusals
}

// Lease is what other processes leave to this one.
func (b *Budget) Lease() Lease { return b.lease }

// leased is why the lease lets nothing more start; empty: it does, or it does not bind.
func (b *Budget) leased() Reason {
	switch {
	case !b.lease.Bound:
		return ""
	case b.inFlight >= b.lease.Slots:
		return Slots
	case b.started >= b.lease.Starts:
		return Pace
	}
	return ""
}

// Started is how many starts this process has made.
func (b *Budget) Started() int64 { return b.started }

// Ceiling is how many may be in flight over all processes that share the budget, as far as this one knows; zero: none is
// known. What was found out by refusals counts only where it was found out alone: among others it is this process's own part.
func (b *Budget) Ceiling(now time.Time) int {
	limit := b.Configured()
	lower := func(n int) {
		if n > 0 && (limit == 0 || n < limit) {
			limit = n
		}
	}
	if b.state == Cooling || b.state == Probing {
		return limit
	}
	if f := &b.slots; f.known && !f.part {
		lower(max(f.limit-f.spare, 1))
	}
	if b.find == nil && b.state == Recovering {
		lower(b.slots.reopen)
	}
	if w := &b.quota; w.known && !w.stale(now) {
		lower(int(min(max(w.least-w.silent, 1), leaseMost)))
	}
	if f := b.find; f != nil && f.study != nil && f.seen() < b.boundAt && f.model.kind == noModel {
		lower(f.w)
	}
	return limit
}

// Rates are the starts in any span that all processes together may make: of the configured rate, and of the gap.
func (b *Budget) Rates() []Rate {
	var all []Rate
	if b.limits.Rate.N > 0 {
		all = append(all, b.limits.Rate)
	}
	if b.limits.Gap > 0 {
		all = append(all, Rate{1, b.limits.Gap})
	}
	return all
}

// Past are the starts that still count in the configured rate, the oldest first; mine: only those of this process.
func (b *Budget) Past(now time.Time, mine bool) []time.Time {
	s := b.starts
	if s == nil {
		return nil
	}
	all := append(append([]time.Time(nil), s.at[s.next0:]...), s.at[:s.next0]...)
	if mine {
		all = all[max(0, len(all)-int(min(b.started, int64(len(all))))):]
	}
	for len(all) > 0 && !all[0].Add(s.rate.Per+s.rate.Per/slack).After(now) {
		all = all[1:]
	}
	return all
}
