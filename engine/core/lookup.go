package core

import (
	"time"

	"dev.scrapetop/engine/budget"
	"dev.scrapetop/engine/frontier"
	"dev.scrapetop/engine/provider"
)

// lookupTries is how often a document that the engine needs is asked for.
const lookupTries = 3

// lookupAsked places a document among its host's work, as a task that is not stored.
func (m *Machine) lookupAsked(now time.Time, ev LookupAsked) {
	t := &frontier.Task{ID: -ev.ID, URL: ev.URL, Own: ev.URL, Home: ev.Domain, Domain: ev.Domain, Created: now, Lookup: true}
	m.lookups[ev.ID] = t
	d := m.front.Domain(ev.Domain)
	m.front.Return(d, t)
	m.mark(d)
}

// settleLookup ends a lookup, or lets it wait like any other refused work.
func (m *Machine) settleLookup(now time.Time, c *Call, t *frontier.Task, d Decision, until time.Time) {
	if c.Robots != nil && !(d.Retry && t.Tries < lookupTries) {
		m.lookupEnded(t, m.newCall(), "robots.txt of its host cannot be read") // c is the call for the rules
		return
	}
	again := d.Retry && t.Tries < lookupTries
	if again && m.cfg.Deadline > 0 && until.After(t.FirstTry.Add(m.cfg.Deadline)) {
		again = false
	}
	switch {
	case again && d.Cools != budget.None:
		m.front.Return(m.home(t), t)
	case again:
		m.delay(m.home(t), t, now.Add(budget.Wait(t.Tries, m.rng)))
	default:
		m.lookupEnded(t, c, "")
	}
}

// lookupEnded tells that a lookup's call ended it; with why, that it was given up for that although its call was never sent.
func (m *Machine) lookupEnded(t *frontier.Task, c *Call, why string) {
	delete(m.lookups, -t.ID)
	c.LookupID = -t.ID
	m.do(Action{Do: LookupDone, Call: c, Event: Told{Text: why}})
}

// robotsReplied handles the answer to a robots.txt lookup: the budgets learn from it like from any other, and a failure
// costs the waiting tasks time, not tries.
func (m *Machine) robotsReplied(now time.Time, c *Call, r *provider.Reply) {
	c.Robots.Fetching = false
	m.release(&c.slots)
	if len(r.Items) == 0 {
		r.Items = []provider.Item{{Outcome: r.Outcome, Layer: r.Layer, Target: r.HTTPStatus, Signal: r.Signal, Error: r.Error}}
	}
	m.learn(now, c, r)
	item := r.Items[0]
	p := &c.slots.places[0]
	d := p.domain
	m.learnTarget(now, c, &c.slots, p, &frontier.Task{Domain: d.Name}, &item)
	m.counts.Attempts++
	if c.Robots.Rules == nil && !refuses(item.Outcome) {
		m.robotsFailed(now, d, c, &item)
	}
	m.mark(d)
}

func refuses(o provider.Outcome) bool { return o == provider.Limited || o == provider.Busy }

// robotsFailed charges the failure to the task that waited for the rules: without them the whole origin counts as
// disallowed (RFC 9309 section 2.3.1.4), so the lookup was this task's try.
func (m *Machine) robotsFailed(now time.Time, d *frontier.Domain, c *Call, item *provider.Item) {
	origin, _ := splitOrigin(c.Targets[0].URL)
	for _, q := range d.Queues {
		t := q.Front()
		if t == nil {
			continue
		}
		if o, _ := splitOrigin(t.URL); o != origin {
			continue
		}
		q.Pop()
		if t.FirstTry.IsZero() {
			t.FirstTry = c.Sent
		}
		if !t.Lookup {
			m.counts.Pending--
			m.counts.InFlight++ // settle takes it back
		}
		failed := *item
		failed.Task, failed.Error = t.ID, "robots.txt cannot be read: "+item.Error
		if failed.Outcome != provider.Transport {
			failed.Outcome = provider.Failed
		}
		m.settle(now, c, 0, t, &failed, time.Time{})
		m.counts.Attempts-- // one exchange
		return
	}
}

// robotsRead takes over an origin's rules.
func (m *Machine) robotsRead(now time.Time, ev RobotsRead) {
	o := ev.Call.Robots
	if o == nil || ev.Rules == nil {
		return
	}
	o.Rules, o.Read = ev.Rules, now
	d := ev.Call.slots.places[0].domain
	if ev.Delay > 0 {
		d.Budget.SetGap(ev.Delay)
		d.Log.CrawlDelay = ev.Delay
	}
	m.wakeDomain(d)
	m.mark(d)
}
