package engine

import (
	"context"
	"slices"
	"time"

	"dev.scrapetop/engine/budget"
	"dev.scrapetop/engine/limits"
	"dev.scrapetop/engine/provider"
	"dev.scrapetop/storage"
)

// memory is what the database tells of earlier runs through the same provider.
type memory struct {
	limits map[budgetKey]storage.Learned
	starts map[budgetKey][]time.Time // that were let through, the oldest first; of the address: all
	told   map[budgetKey]told
}

type budgetKey struct {
	scope budget.Scope
	name  string
}

// told is the last report of a window.
type told struct {
	remaining int64
	sent      time.Time
	reset     time.Time
}

const (
	// recentFor is how far back starts are read at least, the longest usual window, and recentLongest at most, where a longer
	// one is configured or was learned.
	recentFor     = 15 * time.Minute
	recentLongest = 24 * time.Hour
	// recentMost bounds how many.
	recentMost = 20_000
)

// readMemory reads what earlier runs know, in this process's monotonic time. unknown are paid calls whose answer never came:
// they count like the others. What a killed process fetched itself at that instant is not known.
func (l *loop) readMemory(ctx context.Context, now time.Time, unknown []storage.Intent) (*memory, error) {
	learned, err := l.store.LearnedLimits(ctx, l.cfg.Provider)
	if err != nil {
		return nil, err
	}
	recent, err := l.store.RecentStarts(ctx, l.cfg.Provider, now.Add(-l.longest(learned)), recentMost)
	if err != nil {
		return nil, err
	}
	m := &memory{limits: map[budgetKey]storage.Learned{}, starts: map[budgetKey][]time.Time{}, told: map[budgetKey]told{}}
	for _, x := range learned {
		m.limits[budgetKey{budget.Scope(x.Scope), x.Key}] = x
	}
	for _, in := range unknown {
		recent = append(recent, storage.Start{Exchange: in.Exchange, Credential: in.Credential, At: in.At})
	}
	slices.SortStableFunc(recent, func(a, b storage.Start) int { return a.At.Compare(b.At) })
	last := ""
	for i := range recent {
		x := &recent[i]
		if x.Exchange == last { // the rows of a batch
			continue
		}
		last = x.Exchange
		at := monotonic(now, x.At)
		if at.After(now) {
			continue // the wall clock was set back
		}
		m.add(l, x, at, now)
	}
	return m, nil
}

// longest is the longest window that a start may still count in.
func (l *loop) longest(learned []storage.Learned) time.Duration {
	most := recentFor
	for _, x := range learned {
		if x.Window != nil {
			most = max(most, *x.Window)
		}
	}
	for _, r := range []Rate{l.cfg.Rate, l.cfg.DomainRate} {
		most = max(most, r.Per)
	}
	for _, d := range l.cfg.Domains {
		most = max(most, d.Rate.Per)
	}
	for _, t := range l.cfg.Tenants {
		most = max(most, t.Rate.Per)
	}
	return min(most, recentLongest)
}

// add notes an exchange with the keys whose windows it may still count in. Only those windows are told of that a live
// answer would be heard about: a target's behind a platform, and one that ends a year from now, are none of ours.
func (m *memory) add(l *loop, x *storage.Start, at, now time.Time) {
	o := provider.Outcome(x.Outcome)
	refused := o == provider.Limited || o == provider.Busy
	asks := budgetKey{budget.IP, l.cfg.Provider}
	for _, key := range []budgetKey{{budget.Global, ""}, asks, {budget.Tenant, x.Tenant}, {budget.Credential, x.Credential}} {
		m.starts[key] = append(m.starts[key], at)
	}
	domain := budgetKey{budget.Domain, x.Domain}
	if !refused {
		m.starts[domain] = append(m.starts[domain], at)
	}
	window := asks
	if l.cfg.Provider == Direct {
		window = domain
	} else if l.provider.Facts().RateLimit == 0 {
		return
	}
	if x.Remaining == nil || x.Reset == nil || *x.Reset <= 0 || *x.Reset >= limits.MaxWait {
		return
	}
	if end := at.Add(x.Elapsed + *x.Reset); end.After(now) {
		m.told[window] = told{remaining: *x.Remaining, sent: at, reset: end}
	}
}

// recall is what is known of a budget before it starts anything.
func (m *memory) recall(now time.Time, scope budget.Scope, name string) (budget.Memory, bool) {
	key := budgetKey{scope, name}
	known := budget.Memory{Starts: m.starts[key]}
	if t, ok := m.told[key]; ok {
		known.Told, known.ToldAt, known.Reset = t.remaining, t.sent, t.reset
	}
	if x, ok := m.limits[key]; ok && x.QuotaLimit != nil {
		l := budget.Learned{Kind: x.Kind, Limit: int(min(*x.QuotaLimit, 1<<30)), Fixed: x.Fixed}
		if x.Window != nil {
			l.Window = *x.Window
		}
		if x.PerSecond != nil {
			l.PerSecond = *x.PerSecond
		}
		known.Learned, known.Trust = &l, x.Confidence*budget.TrustAt(now.Sub(monotonic(now, x.UpdatedAt)))
	}
	return known, known.Learned != nil || len(known.Starts) > 0
}

// learnedEvery is how often what budgets found out is written while the run goes on.
const learnedEvery = 30 * time.Second

// keepLearned writes what the budgets that were refused since the last time believe of their limits, at the end also those
// that were remembered and held.
func (l *loop) keepLearned(now time.Time, atEnd bool) {
	for name := range l.refused {
		if d := l.m.Domain(name); d != nil {
			l.learned(now, string(budget.Domain), name, d.Budget)
		}
	}
	if atEnd {
		for key := range l.known.limits {
			if d := l.m.Domain(key.name); d != nil && key.scope == budget.Domain && !l.refused[key.name] {
				l.learned(now, string(budget.Domain), key.name, d.Budget)
			}
		}
	}
	clear(l.refused)
	for _, s := range l.m.Shared() {
		l.learned(now, string(s.Scope), s.Key, s.Budget)
	}
	l.learnedAt = now
}

func (l *loop) learned(now time.Time, scope, key string, b *budget.Budget) {
	found, ok := b.Learned()
	if !ok {
		return
	}
	row := storage.Learned{Provider: l.cfg.Provider, Scope: scope, Key: key, Kind: found.Kind, Fixed: found.Fixed, Evidence: learnedWords(b), UpdatedAt: now, Confidence: 1}
	limit := int64(found.Limit)
	row.QuotaLimit = &limit
	if found.Window > 0 {
		row.Window = &found.Window
	}
	if found.PerSecond > 0 {
		row.PerSecond = &found.PerSecond
	}
	l.batch.learned = append(l.batch.learned, row)
	l.batch.dirty = true
}
