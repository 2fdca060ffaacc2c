package view

import (
	"cmp"
	"math"
	"slices"
	"time"
)

const (
	sortEvery  = 250 * time.Millisecond // of a live run: the order of many domains is not sorted again sooner
	ordersKept = 8                      // orders of different queries: a table, a pane, and what is being typed
)

// orderKey is the part of a query that decides the order.
type orderKey struct {
	sort    Sort
	reverse bool
	filter  string
	faults  bool
}

// order is a sorted selection of the domains, kept between frames.
type order struct {
	key     orderKey
	match   func(string) bool
	rows    []*domain
	members uint64 // versions it was made from
	states  uint64
	sortKey uint64
	at      time.Time // on the timeline, when it was sorted
	used    uint64
}

// versions count the changes that can move a domain in an order.
type versions struct {
	members uint64
	byKey   map[Sort]uint64
}

func (s *state) touch(k Sort) { s.changed.byKey[k]++ }

// touchChanged notes which sort keys differ between two inputs of a domain.
func (s *state) touchChanged(a, b *DomainInput) {
	if a.State != b.State {
		s.touch(SortAttention)
	}
	if a.InFlight != b.InFlight {
		s.touch(SortInFlight)
	}
	if a.remaining() != b.remaining() {
		s.touch(SortRemaining)
		s.touch(SortReset)
	}
	if !a.Until.Equal(b.Until) {
		s.touch(SortCooldown)
	}
	if a.Queue != b.Queue {
		s.touch(SortQueue)
	}
	if !a.Oldest.Equal(b.Oldest) {
		s.touch(SortOldest)
	}
	if a.Accepted != b.Accepted {
		s.touch(SortAccepted)
	}
	if a.Dead != b.Dead {
		s.touch(SortDead)
	}
	if a.limited() != b.limited() {
		s.touch(SortAll429)
	}
	if !a.LastAt.Equal(b.LastAt) {
		s.touch(SortAnswer)
	}
	s.touch(SortETA) // there is little that does not move a forecast
}

// order answers a query's order: the kept one where it still holds, or where it must not move.
func (s *state) order(q Query) *order {
	key := orderKey{q.Sort, q.Reverse, q.Filter, q.Faults}
	switch key.sort {
	case SortDomain, SortInFlight, SortRemaining, SortCooldown, Sort429, SortRate, SortQueue, SortOldest, SortReset, SortETA, SortAccepted, SortDead, SortAll429, SortAnswer:
	default:
		key.sort = SortAttention
	}
	i := slices.IndexFunc(s.orders, func(o *order) bool { return o.key == key })
	s.asked++
	if i < 0 {
		o := &order{key: key, match: matcher(key.filter), used: s.asked}
		s.keepOrder(o)
		s.fill(o)
		return o
	}
	o := s.orders[i]
	o.used = s.asked
	if q.Hold {
		return o
	}
	stale := o.members != s.changed.members || o.sortKey != s.changed.byKey[key.sort] ||
		key.faults && o.states != s.changed.byKey[SortAttention]
	if stale && (!s.live || s.line.Sub(o.at) >= sortEvery) {
		s.fill(o)
	}
	return o
}

// keepOrder adds an order, in the place of the one not asked for longest.
func (s *state) keepOrder(o *order) {
	if len(s.orders) < ordersKept {
		s.orders = append(s.orders, o)
		return
	}
	oldest := 0
	for i := range s.orders {
		if s.orders[i].used < s.orders[oldest].used {
			oldest = i
		}
	}
	s.orders[oldest] = o
}

// fill selects and sorts.
func (s *state) fill(o *order) {
	s.nameRanks()
	rows := make([]sortRow, 0, max(len(o.rows), 64))
	for _, d := range s.names {
		if o.key.faults && attention(d.in.State) > attention(StateBlock) || !o.match(d.in.Domain) {
			continue
		}
		value, known := s.sortValue(d, o.key.sort)
		if o.key.reverse {
			value = -value
		}
		if !known {
			value = math.MaxInt64
		}
		rows = append(rows, sortRow{value, d})
	}
	// The names are in order already, which is all the order that equal values need.
	if !slices.IsSortedFunc(rows, byValue) {
		slices.SortFunc(rows, func(a, b sortRow) int {
			if c := byValue(a, b); c != 0 {
				return c
			}
			return cmp.Compare(a.d.rank, b.d.rank)
		})
	}
	o.rows = o.rows[:0]
	for _, r := range rows {
		o.rows = append(o.rows, r.d)
	}
	o.members, o.states, o.sortKey = s.changed.members, s.changed.byKey[SortAttention], s.changed.byKey[o.key.sort]
	o.at = s.line
}

type sortRow struct {
	value int64
	d     *domain
}

func byValue(a, b sortRow) int { return cmp.Compare(a.value, b.value) }

// sortValue is what a domain is sorted by, least first: the most urgent, the biggest, the soonest, the oldest come first.
// A domain of which the value is not known comes last in either direction.
func (s *state) sortValue(d *domain, by Sort) (value int64, known bool) {
	in := &d.in
	switch by {
	case SortDomain:
		return int64(d.rank), true
	case SortInFlight:
		return -int64(in.InFlight), true
	case SortRemaining:
		r := in.remaining()
		return r.Remaining, r.Known
	case SortCooldown:
		return in.Until.UnixNano(), in.Until.After(s.at)
	case Sort429:
		return -d.recent429(s.bin()), true
	case SortRate:
		return -int64(d.okPerMinute(s) * 1000), true
	case SortQueue:
		return -in.Queue, true
	case SortOldest:
		return in.Oldest.UnixNano(), !in.Oldest.IsZero()
	case SortReset:
		at := in.remaining().ResetAt
		return at.UnixNano(), at.After(s.at)
	case SortETA:
		e := d.eta(s)
		return -int64(e.Left), e.Known
	case SortAccepted:
		return -in.Accepted, true
	case SortDead:
		return -in.Dead, true
	case SortAll429:
		return -in.limited().Limited(), true
	case SortAnswer:
		return -in.LastAt.UnixNano(), !in.LastAt.IsZero()
	}
	return attention(in.State), true
}

// nameRanks merges the domains that are new into the order by name.
func (s *state) nameRanks() {
	if len(s.fresh) == 0 {
		return
	}
	slices.SortFunc(s.fresh, byName)
	merged := make([]*domain, 0, len(s.names)+len(s.fresh))
	old, fresh := s.names, s.fresh
	for len(old) > 0 && len(fresh) > 0 {
		if byName(old[0], fresh[0]) < 0 {
			merged, old = append(merged, old[0]), old[1:]
		} else {
			merged, fresh = append(merged, fresh[0]), fresh[1:]
		}
	}
	merged = append(append(merged, old...), fresh...)
	for i, d := range merged {
		d.rank = int32(i)
	}
	s.names, s.fresh = merged, nil
}
