package main

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

const (
	// written is how long after it was told a wait may be missing from the file: it may have been on its way there at the kill.
	written = 500 * time.Millisecond
	// rounding is what the file's milliseconds may make of the end of a wait.
	rounding = 2 * time.Millisecond
)

// book keeps what a run's kills met, and is kept by comparing the journal of the world with the file.
type book struct {
	r       *run
	disk    disk              // of the last kill
	excess  map[string]int    // submits that came and are not recorded, by URL
	unread  map[string]int    // polls that came and are not recorded, by job
	exposed map[string]int    // kills at which a URL was in flight
	unknown map[*request]bool // waits that a kill kept out of the file
	open    map[string]intent // submits without an answer at a kill, by exchange
	errs    []error
}

func newBook(r *run) *book {
	return &book{r: r, excess: map[string]int{}, unread: map[string]int{}, exposed: map[string]int{}, unknown: map[*request]bool{},
		open: map[string]intent{}}
}

func (b *book) check(ok bool, format string, args ...any) {
	if !ok {
		b.errs = append(b.errs, fmt.Errorf(format, args...))
	}
}

// verdict is what was violated so far. Many of one kind are one fault.
func (b *book) verdict() error {
	const most = 12
	if n := len(b.errs) - most; n > 0 {
		return errors.Join(append(slices.Clone(b.errs[:most]), fmt.Errorf("and %d more", n))...)
	}
	return errors.Join(b.errs...)
}

// killed takes what a kill left. What went wrong already ends the run: the kill that shows it is the one to look at.
func (b *book) killed(d disk, at time.Time) error {
	all := b.r.journal.seen()
	for url, t := range d.tasks {
		b.whole(d, url, t)
		was := b.disk.tasks[url]
		b.check(t.tries >= was.tries && t.attempts >= was.attempts, "%s had %d tries and %d attempts on disk, now %d and %d", url, was.tries, was.attempts, t.tries, t.attempts)
		b.check(was.state != "accepted" && was.state != "dead" || t.state == was.state, "%s was %s on disk, now %s", url, was.state, t.state)
	}
	for _, in := range d.intents {
		if in.job == "" {
			b.open[in.exchange] = in
		}
	}
	b.check(len(d.tasks) >= len(b.disk.tasks), "%d tasks were on disk, now %d", len(b.disk.tasks), len(d.tasks))
	b.phase(all, d, at)
	b.flying(all, d)
	b.waits(all, d, at)
	b.disk = d
	return b.verdict()
}

// whole: a task is accepted exactly when its one result is there.
func (b *book) whole(d disk, url string, t task) {
	want := 0
	if t.state == "accepted" {
		want = 1
	}
	n := d.results[url]
	b.check(n == want, "%s is %s and has %d results", url, t.state, n)
	b.r.row.double += max(0, n-1)
}

// flying finds what was in flight at a kill: by the file what was begun, by the journal what came.
func (b *book) flying(all []*request, d disk) {
	came, polled := submitsOf(all), pollsOf(all)
	caught := map[string]bool{}
	for url, n := range came {
		t, more := d.tasks[url], n-d.submits[url]
		if more > b.excess[url] {
			caught[url] = true
			b.check(b.r.s.base == "" || t.state == "in_flight" && d.intended(t.id, ""), "%s was submitted and is %q on disk: its intent was not there before its bytes left", url, t.state)
		}
		b.excess[url] = more
	}
	for url, t := range d.tasks {
		if t.state == "in_flight" && b.r.s.base != "" { // a direct claim that did not leave costs nothing
			caught[url] = true
		}
	}
	for job, n := range polled {
		known := d.jobs[job]
		if known == nil { // of Spidra also a batch that is looked at because it may be a lost submit
			b.check(!b.r.s.collects, "job %s was polled and is not on disk", job)
			continue
		}
		if more := n - known.polls; more > b.unread[job] {
			b.unread[job] = more
			b.check(!b.r.s.collects || d.intended(0, job), "job %s was collected: its intent was not there before its bytes left", job)
			for _, url := range known.urls {
				caught[url] = true
			}
		}
	}
	for url := range caught {
		b.exposed[url]++
	}
}

// submitsOf counts the submits that came, by URL. One that was refused as a whole is recorded with its first URL alone.
func submitsOf(all []*request) map[string]int {
	n := map[string]int{}
	for _, q := range all {
		if q.kind != submit {
			continue
		}
		for i, url := range q.urls {
			if i == 0 || !q.refused() {
				n[url]++
			}
		}
	}
	return n
}

// pollsOf counts the polls that came, by job.
func pollsOf(all []*request) map[string]int {
	n := map[string]int{}
	for _, q := range all {
		if q.kind == poll {
			n[q.job]++
		}
	}
	return n
}

// phase counts what the kill met.
func (b *book) phase(all []*request, d disk, at time.Time) {
	life := b.r.journal.life
	migrating := d.version < len(b.r.o.schema)
	var came, inSubmit, inPoll bool
	for _, q := range all {
		if q.life != life {
			continue
		}
		came = true
		open := q.answered.IsZero() || q.answered.After(at)
		inSubmit = inSubmit || open && q.kind == submit
		inPoll = inPoll || open && q.kind == poll
	}
	commit := b.uncommitted(all, d, at)
	p := &b.r.row.at
	for _, c := range []struct {
		n   *int
		hit bool
	}{{&p.start, !came && !migrating}, {&p.migration, migrating}, {&p.submit, inSubmit}, {&p.poll, inPoll}, {&p.commit, commit}, {&p.idle, came && !inSubmit && !inPoll && !commit}} {
		if c.hit {
			*c.n++
		}
	}
}

// uncommitted reports an answer of this life that came before the kill and is not on disk.
func (b *book) uncommitted(all []*request, d disk, at time.Time) bool {
	came, polled := submitsOf(all), pollsOf(all)
	for _, q := range all {
		if q.life != b.r.journal.life || q.answered.IsZero() || q.answered.After(at) {
			continue
		}
		switch q.kind {
		case submit:
			if url := q.urls[0]; came[url]-d.submits[url] > b.excess[url] {
				return true
			}
		case poll:
			if j := d.jobs[q.job]; j != nil && polled[q.job]-j.polls > b.unread[q.job] {
				return true
			}
		}
	}
	return false
}

// waits looks whether the file knows the waits that were told.
func (b *book) waits(all []*request, d disk, at time.Time) {
	for _, q := range all {
		until := q.answered.Add(q.wait)
		if q.wait == 0 || q.life != b.r.journal.life || !until.After(at) {
			continue
		}
		known := slices.ContainsFunc(d.cooldowns, func(c cooldown) bool { return q.cools(c) && !c.until.Before(until.Add(-rounding)) })
		b.check(known || at.Sub(q.answered) < written, "a wait of %v was told %v before the kill and is not on disk", q.wait, at.Sub(q.answered))
		b.unknown[q] = !known
	}
}

// cools reports that a cooldown is one that the refusal must have brought.
func (r *request) cools(c cooldown) bool {
	switch {
	case r.host != "":
		return c.scope == "domain" && c.key == r.host
	case r.rate:
		return c.scope == "ip"
	}
	return c.scope == "provider" || c.scope == "account" || c.scope == "credential" || c.scope == "pending"
}

// inside counts the requests that came inside a wait which the file brought over a kill.
func (b *book) inside() {
	all := b.r.journal.seen()
	for _, w := range all {
		if w.wait == 0 {
			continue
		}
		b.r.row.waits++
		for _, q := range all {
			obeys := q.kind == submit || w.rate
			if w.host != "" {
				obeys = q.host == w.host
			}
			if !obeys || q.life == w.life || b.unknown[w] || !q.arrived.After(w.answered) || !q.arrived.Before(w.answered.Add(w.wait-rounding)) {
				continue
			}
			b.r.row.inside++
			b.check(false, "life %d: a %s came %v after a wait of %v was told in life %d", q.life, q.kind, q.arrived.Sub(w.answered), w.wait, w.life)
		}
	}
}
