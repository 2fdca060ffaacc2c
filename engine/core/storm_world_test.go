package core

import (
	"fmt"
	"slices"
	"time"

	"dev.scrapetop/engine/budget"
	"dev.scrapetop/engine/limits"
	"dev.scrapetop/engine/provider"
)

// answer draws how a call ends.
func (s *storm) answer(c *Call) {
	took := time.Duration(1+s.rng.IntN(800)) * ms
	if s.rng.IntN(30) == 0 {
		took = 20 * time.Second
	}
	id := c.ID
	s.at(took, func() {
		if c.ID != id || !s.sends[c] {
			return // it was called off
		}
		delete(s.sends, c)
		r := s.reply(c)
		if c.Robots != nil && r.Outcome == provider.Accepted {
			s.step(RobotsRead{Call: c, Rules: disallow("private"), Delay: time.Duration(s.rng.IntN(2)) * 50 * ms})
		}
		if wait := s.cfg.Facts.SlotLease; r.Unknown && wait > 0 && c.Sent.Add(wait).After(s.now) {
			kept := c.slots
			kept.places = slices.Clone(kept.places)
			s.leases = append(s.leases, slotLease{c.Sent.Add(wait), kept})
		}
		s.step(&Replied{Call: c, Reply: r})
	})
}

type disallow string

func (d disallow) Allows(path string) bool { return len(path) < 2 || path[1:] != string(d) }

func (s *storm) wait(scope budget.Scope, key string, sig *limits.Signal) {
	if s.rng.IntN(2) == 0 {
		return
	}
	w := time.Duration(s.rng.IntN(9000)) * ms
	sig.Wait, sig.WaitSource = limits.Some(w), "retry-after"
	k := budgetKey{scope, key}
	if until := s.now.Add(w); until.After(s.waits[k]) {
		s.waits[k] = until
	}
}

func (s *storm) targetItem(id int64) provider.Item {
	item := provider.Item{Task: id, Outcome: provider.Accepted, Layer: provider.LayerTarget, Target: limits.Some(200), Credits: float64(s.rng.IntN(3))}
	if s.calm {
		return item
	}
	switch s.rng.IntN(14) {
	case 0:
		item.Outcome = provider.Limited
	case 1:
		item.Outcome = provider.Busy
	case 2:
		item.Outcome = provider.Blocked
	case 3:
		item.Outcome = provider.Invalid
	case 4:
		item.Outcome = provider.Failed
	case 5:
		item.Outcome = provider.NotFound
	case 6:
		item.Outcome = provider.Refused
	case 7:
		if s.cfg.Direct {
			item.Outcome, item.Location = provider.Redirected, fmt.Sprintf("http://%s/hop%d", s.domains[s.rng.IntN(len(s.domains))], id)
		}
	}
	if item.Outcome == provider.Limited || item.Outcome == provider.Busy {
		name := ""
		for _, d := range s.domains {
			if r := s.rows[id]; r != nil && r.task.Domain == d {
				name = d
			}
		}
		if !s.cfg.Direct && name != "" {
			s.wait(budget.Domain, name, &item.Signal)
		}
	}
	return item
}

// reply draws an answer that the kind of call can get.
func (s *storm) reply(c *Call) provider.Reply {
	r := provider.Reply{Outcome: provider.Accepted, HTTPStatus: limits.Some(200)}
	if !s.calm && s.rng.IntN(25) == 0 {
		r.Outcome, r.Layer, r.HTTPStatus, r.Error = provider.Transport, provider.LayerTransport, limits.Opt[int]{}, "reset"
		r.Unknown = s.cfg.Facts.Paid && c.Job == nil && c.search == nil && !c.health && s.rng.IntN(2) == 0
		return r
	}
	if s.cfg.Direct {
		id := int64(0)
		if len(c.Tasks) > 0 {
			id = c.Tasks[0].ID
		}
		item := s.targetItem(id)
		if c.Robots != nil && s.rng.IntN(3) == 0 && !s.calm {
			item.Outcome = provider.Failed
		}
		if c.Robots != nil && (item.Outcome == provider.Redirected || item.Outcome == provider.Blocked) {
			item.Outcome = provider.NotFound
		}
		if item.Outcome == provider.Limited || item.Outcome == provider.Busy {
			s.wait(budget.Domain, c.slots.places[0].domain.Name, &item.Signal)
		}
		r.Outcome, r.Layer, r.Signal = item.Outcome, item.Layer, item.Signal
		if s.rng.IntN(2) == 0 {
			r.Items = []provider.Item{item}
		} else if item.Outcome == provider.Redirected {
			r.Items = []provider.Item{item}
		}
		return r
	}
	if !s.calm && s.rng.IntN(8) == 0 {
		return s.platformRefusal(c)
	}
	if c.health {
		r.Signal.Kind, r.Signal.Limit, r.Signal.Remaining = limits.KindConcurrency, limits.Some(int64(3)), limits.Some(int64(s.rng.IntN(4)))
		return r
	}
	if c.search != nil {
		if s.rng.IntN(3) == 0 {
			s.nextJob++
			r.Found = []provider.Found{{Job: fmt.Sprintf("%s/%d", s.kind(len(c.Targets)), s.nextJob), URLs: []string{"u"}}}
		} else if s.rng.IntN(3) == 0 {
			s.nextJob++
			r.Found = []provider.Found{{Job: fmt.Sprintf("%s/%d", s.kind(len(c.Targets)), s.nextJob)}}
		}
		r.More = s.rng.IntN(3) == 0
		return r
	}
	if c.Job != nil {
		switch n := s.rng.IntN(8); {
		case n < 3 && !s.calm:
			r.Outcome, r.Started = provider.StillRunning, s.rng.IntN(2) == 0
			return r
		case n == 3 && !s.calm:
			r.Outcome = provider.Lost
			return r
		}
	} else if s.cfg.Facts.Polls && s.rng.IntN(3) > 0 {
		s.nextJob++
		r.Outcome, r.Job = provider.AcceptedRemote, fmt.Sprintf("%s/%d", s.kind(len(c.Tasks)), s.nextJob)
		return r
	}
	if c.Job == nil && len(c.Tasks) > 1 && !s.calm && s.rng.IntN(20) == 0 {
		r.Outcome, r.Split = provider.Refused, true
		return r
	}
	for _, t := range c.Tasks {
		if s.calm || s.rng.IntN(12) > 0 { // now and then it does not speak of a task
			item := s.targetItem(t.ID)
			r.Credits += item.Credits
			r.Items = append(r.Items, item)
		}
	}
	return r
}

func (s *storm) kind(n int) string {
	if n > 1 {
		return s.cfg.Facts.Batch.Name
	}
	return s.cfg.Facts.Single.Name
}

func (s *storm) platformRefusal(c *Call) provider.Reply {
	r := provider.Reply{Outcome: provider.Limited, HTTPStatus: limits.Some(429)}
	cr := c.slots.cred
	name, account := "", ""
	if cr != nil {
		name, account = cr.name, cr.account.Name
	}
	n := s.rng.IntN(6)
	switch {
	case c.search != nil:
		n = 1 + s.rng.IntN(2)*2
	case c.Job != nil:
		n = []int{0, 1, 3}[s.rng.IntN(3)]
	case c.health && n == 2:
		n = 4
	}
	switch n {
	case 0:
		r.Layer = provider.LayerAccount
		if s.cfg.Facts.AccountScope == "account" {
			s.wait(budget.Account, account, &r.Signal)
		} else {
			s.wait(budget.Credential, name, &r.Signal)
		}
	case 1:
		r.Layer = provider.LayerRate
		s.wait(budget.IP, s.cfg.Provider, &r.Signal)
	case 2:
		r.Layer = provider.LayerPending
	case 3:
		r.Outcome, r.Layer = provider.Busy, provider.LayerCapacity
		if c.Job == nil && c.search == nil {
			s.wait(budget.Provider, s.cfg.Provider, &r.Signal)
		}
	case 4:
		r.Outcome, r.Layer = provider.Failed, provider.NoLayer
	case 5:
		if s.rng.IntN(3) == 0 {
			r.Outcome, r.Layer = provider.Denied, provider.LayerQuota
		} else {
			r.Outcome, r.Layer = provider.Failed, provider.NoLayer
		}
	}
	return r
}
