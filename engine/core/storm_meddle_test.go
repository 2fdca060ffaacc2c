package core

import (
	"fmt"
	"slices"
	"time"

	"dev.scrapetop/engine/budget"
	"dev.scrapetop/engine/frontier"
)

// feed stores n more tasks.
func (s *storm) feed(n int) {
	by := map[string]int64{}
	for range n {
		s.total++
		d := s.domains[s.rng.IntN(len(s.domains))]
		path := fmt.Sprint(s.total)
		if s.rng.IntN(20) == 0 {
			path = "private"
		}
		u := fmt.Sprintf("http://%s/%s", d, path)
		s.rows[s.total] = &kept{state: Pending, task: frontier.Task{ID: s.total, URL: u, Own: u, Home: d, Domain: d, Created: s.now, Priority: s.rng.IntN(2), Tenant: []string{"", "a", "b"}[s.rng.IntN(3)]}}
		by[d]++
	}
	q := Queued{}
	for _, d := range s.domains {
		if by[d] > 0 {
			q.Domains = append(q.Domains, DomainCount{Domain: d, N: by[d], Oldest: s.now})
		}
	}
	s.step(q)
}

// restart drops the machine and starts another from what is stored, as the engine does.
func (s *storm) restart() {
	s.life++
	s.sends, s.out, s.looked, s.leases, s.unacked = map[*Call]bool{}, map[*Call]bool{}, map[int64]bool{}, nil, 0
	spent := s.m.spend
	s.m = New(s.cfg)
	s.full = false
	var accepted, dead, cancelled int64
	by := map[string]int64{}
	searched := map[int64]bool{}
	for _, tasks := range s.intents {
		for _, id := range tasks {
			searched[id] = s.cfg.Facts.FindsLost
		}
	}
	for _, r := range s.rows {
		if r.state == InFlight && !searched[r.task.ID] {
			r.state = Pending // its answer is lost; what that costs is the engine's to decide
		}
		switch r.state {
		case Accepted:
			accepted++
		case Dead:
			dead++
		case Cancelled:
			cancelled++
		case Pending, Delayed:
			by[r.task.Domain]++
		}
	}
	s.m.Resume(accepted, dead, cancelled)
	for tenant, x := range spent {
		s.m.ResumeSpent(tenant, x.requests, x.credits, 0)
	}
	jobs := s.jobs
	s.jobs = map[string]*Job{}
	remote := map[int64]bool{}
	names := make([]string, 0, len(jobs))
	for id := range jobs {
		names = append(names, id)
	}
	slices.Sort(names)
	whole := s.total
	s.total = accepted + dead + cancelled
	for _, id := range names {
		j := jobs[id]
		ev := JobKept{Job: j.ID, Credential: j.Credential, Submitted: j.Submitted, Expires: j.Expires, Next: j.Next}
		for _, t := range j.Tasks {
			if r := s.rows[t.ID]; r.state == Remote {
				task := r.task
				task.Queue, task.Cancelled = nil, false
				ev.Tasks = append(ev.Tasks, task)
				remote[t.ID] = true
			}
		}
		s.total += int64(len(ev.Tasks))
		s.jobs[id] = j
		s.step(ev)
	}
	s.searchAgain()
	for id, r := range s.rows {
		if r.state == Remote && !remote[id] {
			s.fail("task %d is remote without a job", id)
		}
	}
	q := Queued{}
	for _, d := range s.domains {
		if by[d] > 0 {
			q.Domains = append(q.Domains, DomainCount{Domain: d, N: by[d], Oldest: s.now})
			s.total += by[d]
		}
	}
	if s.total != whole {
		s.fail("%d of %d tasks found again", s.total, whole)
	}
	s.step(q)
	if s.fed {
		s.step(InputEnded{})
	}
}

// searchAgain hands the submits without an answer to a new machine, as the engine does.
func (s *storm) searchAgain() {
	intents := s.intents
	s.intents = map[string][]int64{}
	if !s.cfg.Facts.FindsLost {
		return
	}
	names := make([]string, 0, len(intents))
	for id := range intents {
		names = append(names, id)
	}
	slices.Sort(names)
	for _, id := range names {
		ev := LostSubmit{Exchange: id, Credential: "k1", Sent: s.now}
		for _, task := range intents[id] {
			if r := s.rows[task]; r.state == InFlight {
				t := r.task
				t.Queue, t.Cancelled = nil, false
				ev.Tasks = append(ev.Tasks, t)
			}
		}
		if len(ev.Tasks) > 0 {
			s.intents[id] = intents[id]
			s.total += int64(len(ev.Tasks))
			s.step(ev)
		}
	}
}

// meddle is what people, clocks and disks do meanwhile.
func (s *storm) meddle() {
	switch s.rng.IntN(15) {
	case 12, 13, 14:
		s.handle(s.rng.IntN(4))
	case 0:
		s.step(Asked{Verb: "pause", Scope: budget.Domain, Key: s.domains[s.rng.IntN(len(s.domains))]})
		s.held = true
	case 1:
		s.step(Asked{Verb: "pause", Scope: budget.Tenant, Key: []string{"a", "b"}[s.rng.IntN(2)]})
		s.held = true
	case 2:
		s.step(Asked{Verb: "pause", Scope: budget.Global})
		s.held = true
	case 3, 4:
		s.release()
	case 5:
		d := s.domains[s.rng.IntN(len(s.domains))]
		s.step(Asked{Verb: "limit", Scope: budget.Domain, Key: d, Limit: s.rng.IntN(4)})
	case 6:
		gap := time.Duration(s.rng.IntN(5)) * time.Second
		for k, until := range s.waits {
			s.waits[k] = until.Add(-gap)
		}
		s.step(Suspended{For: gap})
	case 7:
		s.full = !s.full
		s.step(Backpressure{Full: s.full})
	case 8:
		if s.rng.IntN(3) == 0 {
			s.waits = map[budgetKey]time.Time{} // to keep cooldowns is the engine's
			s.restart()
			s.held = false
		}
	case 9:
		d := s.domains[s.rng.IntN(len(s.domains))]
		delete(s.waits, budgetKey{budget.Domain, d})
		s.step(Asked{Verb: "end cooldown", Scope: budget.Domain, Key: d})
	case 10:
		if !s.fed {
			s.feed(1 + s.rng.IntN(30))
		}
	case 11:
		if s.cfg.Direct {
			s.lookup++
			s.looked[s.lookup] = true
			d := s.domains[s.rng.IntN(len(s.domains))]
			s.step(LookupAsked{ID: s.lookup, URL: "http://" + d + "/" + []string{"sitemap", "private"}[s.rng.IntN(2)], Domain: d})
		}
	}
}

// release undoes whatever a person or a platform holds.
func (s *storm) release() {
	for _, d := range s.domains {
		s.step(Asked{Verb: "resume", Scope: budget.Domain, Key: d})
		s.step(Asked{Verb: "limit", Scope: budget.Domain, Key: d})
	}
	for _, t := range []string{"a", "b"} {
		s.step(Asked{Verb: "resume", Scope: budget.Tenant, Key: t})
	}
	s.step(Asked{Verb: "resume", Scope: budget.Global})
	for _, c := range s.m.creds {
		delete(s.waits, budgetKey{budget.Credential, c.name})
		delete(s.waits, budgetKey{budget.Account, c.account.Name})
		s.step(Asked{Verb: "end cooldown", Scope: budget.Credential, Key: c.name})
		s.step(Asked{Verb: "end cooldown", Scope: budget.Account, Key: c.account.Name})
	}
	s.held = false
	if s.full {
		s.full = false
		s.step(Backpressure{})
	}
}

// handle is a person's act on some tasks, as the engine carries it out: they are lent, their rows are changed when what was stored
// before is on disk, and they are returned.
func (s *storm) handle(act int) {
	var ids []int64
	for range 1 + s.rng.IntN(8) {
		ids = append(ids, 1+s.rng.Int64N(int64(len(s.rows))))
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	s.step(Lent{Tasks: ids, Cancel: act == 0})
	ids = slices.DeleteFunc(ids, s.m.AtWork)
	s.at(10*ms, func() {
		r := Returned{Tasks: ids}
		for _, id := range ids {
			row := s.rows[id]
			waits := row.state == Pending || row.state == Delayed
			if s.m.AtWork(id) {
				s.fail("task %d is lent and in memory", id)
			}
			change := Change{Task: id, Domain: row.task.Domain, From: Pending}
			switch {
			case act == 0 && (waits || row.state == Dead):
				if row.state == Dead {
					change.From = Dead
				}
				change.To, row.state = Cancelled, Cancelled
			case act == 1 && waits:
				row.state, row.notBefore = Pending, time.Time{}
				t := row.task
				t.Queue, t.Alone, t.Until = nil, false, time.Time{}
				r.Next = append(r.Next, t)
				continue
			case act == 2 && row.state == Dead:
				change.From, change.To, row.state, row.notBefore = Dead, Pending, Delayed, s.now.Add(time.Duration(s.rng.IntN(3))*time.Second)
				row.task.Tries, row.task.FirstTry, row.task.Unknowns, row.task.Invalids = 0, time.Time{}, 0, 0
				row.task.Hop, row.task.Hops, row.task.URL = false, 0, row.task.Own
			case act == 3 && waits && row.task.Tries == 0:
				change.To, row.state = Dead, Dead
			default:
				continue
			}
			r.Changes = append(r.Changes, change)
		}
		s.at(5*ms, func() { s.step(r) })
	})
}
