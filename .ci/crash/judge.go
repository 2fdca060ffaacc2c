package main

import (
	"slices"

	"dev.scrapetop/engine/simulator"
)

// end judges a run that has finished.
func (b *book) end(c simulator.Counters) error {
	r, d := b.r, b.disk
	taken := map[string]int{}
	for _, q := range r.journal.seen() {
		if q.kind == submit && !q.refused() {
			for _, url := range q.urls {
				taken[url]++
			}
		}
	}
	r.row.runs, r.row.urls = 1, len(r.good)+len(r.bad)
	b.check(len(d.tasks) == r.row.urls, "%d tasks of %d URLs", len(d.tasks), r.row.urls)
	for _, url := range slices.Concat(r.good, r.bad) {
		b.ended(url, taken[url], slices.Contains(r.bad, url))
	}
	var pages, twice int64
	for _, s := range c.Sites {
		pages += s.Accepted - s.Duplicates
		twice += s.Duplicates
	}
	again := r.s.again(c, pages)
	r.row.resubmitted, r.row.again = int(twice), int(again)
	most := int64(0)
	for _, n := range b.exposed {
		most += int64(n)
	}
	if r.never && r.s.base != "" {
		most = 0
	}
	b.check(twice <= most, "%d pages were fetched again, want at most %d", twice, most)
	b.check(again <= most, "%d pages were paid for again, want at most %d", again, most)
	b.inside()
	b.unanswered()
	return b.verdict()
}

// unanswered: what became of each submit that was in flight at a kill is named in the events, once for each of its tasks.
// Spidra is asked for such a submit first, and that is named.
func (b *book) unanswered() {
	for exchange, in := range b.open {
		named := b.disk.named[exchange]
		b.r.row.unknown++
		if b.r.s.finds {
			b.check(slices.ContainsFunc(in.tasks, func(id int64) bool { return b.disk.searched[id] }), "no event says that submit %s was searched for", exchange)
			continue
		}
		for _, id := range in.tasks {
			b.check(named[id] == 1, "%d events name submit %s of task %d, want 1", named[id], exchange, id)
		}
	}
}

// ended judges one URL: how often it was submitted, and what became of it.
func (b *book) ended(url string, taken int, bad bool) {
	r, t, caught := b.r, b.disk.tasks[url], b.exposed[url]
	b.whole(b.disk, url, t)
	switch {
	case t.state == "accepted":
		r.row.accepted++
		b.check(!bad, "%s fails and was accepted", url)
	case t.state == "dead" && t.reason == "lost":
		r.row.lost++
		b.check(b.disk.lost[t.id], "%s is lost and no event names it", url)
		b.check(caught > 0, "%s is lost and was in flight at no kill", url)
	case bad && t.state == "dead" && t.reason == "attempts":
		b.check(t.tries == maxAttempts, "%s was given up after %d tries of %d", url, t.tries, maxAttempts)
	default:
		b.check(false, "%s ended %s %s", url, t.state, t.reason)
	}
	most := 1
	if bad {
		most = maxAttempts
	}
	switch {
	case r.s.base == "":
		most += caught
	case !r.never:
		most += min(caught, 1)
	}
	b.check(taken <= most, "%s was taken %d times, want at most %d: it was in flight at %d kills", url, taken, most, caught)
}
