package engine

import (
	"time"

	"dev.scrapetop/engine/budget"
	"dev.scrapetop/storage"
)

// learnedEvery is how often what budgets found out is written while the run goes on.
const learnedEvery = 30 * time.Second

// keepLearned writes what the budgets that were refused since the last time believe of their limits.
func (l *loop) keepLearned(now time.Time) {
	for name := range l.refused {
		if d := l.m.Domain(name); d != nil {
			l.learned(now, string(budget.Domain), name, d.Budget)
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
	row := storage.Learned{Scope: scope, Key: key, Kind: found.Kind, Evidence: learnedWords(b), UpdatedAt: now, Confidence: 1}
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
