package share

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"dev.scrapetop/engine/lease"
)

const (
	// again is how long after a try to find the holder, or to become it, the next is made.
	again = 20 * time.Millisecond
	// meetFor bounds how long Open looks for the others.
	meetFor = 2 * time.Second
	// graceFor is how long a member whose leases ended waits for an answer to a question asked since: it may only have slept.
	graceFor = time.Second
)

// member is this process among those that share.
type member struct {
	place place
	hear  func(lease.News)
	bell  chan struct{}
	over  chan struct{} // closed when everything is given back

	mu     sync.Mutex // guards what follows
	queue  []lease.Report
	leave  bool
	broken string // of the seat, to be told

	// Of the goroutine that runs.
	link    *link
	in      chan heard
	gone    chan struct{}
	holder  *holder
	former  bool // some holder has served it
	demands map[lease.Key]lease.Demand
	used    map[lease.Key]int
	sent    []stamp // messages that were not answered
	deals   []deal  // of this holder, not carried out yet
	number  int64   // of its messages
	news    lease.News
	doneAt  int64 // number of the holder's deal that was carried out last
}

type stamp struct {
	number int64
	at     time.Time
}

// deal is a piece of news that holds a deal of the holder's.
type deal struct{ news, deal int64 }

// open finds the others, or becomes the one that serves them. The News tells whether it is alone; hear is told everything after
// it, on a goroutine of the member's.
func open(p place, hear func(lease.News)) (lease.Sharing, lease.News, error) {
	m := &member{
		place: p, hear: hear, bell: make(chan struct{}, 1), over: make(chan struct{}), demands: map[lease.Key]lease.Demand{}, used: map[lease.Key]int{},
	}
	var err error
	for begun := time.Now(); ; <-time.After(again) {
		if err = m.connect(); err == nil {
			break
		}
		if !errors.Is(err, errHeld) && m.link == nil || time.Since(begun) > meetFor {
			return nil, lease.News{}, err
		}
	}
	m.news.Joined = m.holder == nil
	first := m.news
	go m.run()
	return m, first, nil
}

// connect joins the holder, or takes the seat, and waits for the first answer.
func (m *member) connect() error {
	conn, err := m.place.dial()
	if err != nil {
		s, held := m.place.hold()
		if held != nil {
			return held
		}
		m.holder = serve(s, m.former, m.warn)
		conn = m.holder.own()
	}
	l, in, gone := newLink(conn), make(chan heard), make(chan struct{})
	go func() {
		_ = read(l, func(h heard) { // an end is an end, whatever caused it
			select {
			case in <- h:
			case <-l.done:
			}
		})
		l.close()
		close(gone)
	}()
	m.link, m.in, m.gone, m.sent, m.deals, m.doneAt = l, in, gone, nil, nil, 0
	hello := told{Version: version}
	if m.news.Bound {
		hello.Whole = true
		for key, d := range m.demands {
			if !d.InUse() && d.Holds == 0 {
				continue
			}
			d.Used, d.Recent = m.used[key], nil
			hello.Demands = append(hello.Demands, d)
		}
	}
	m.say(hello)
	wait := time.NewTimer(dialFor)
	defer wait.Stop()
	select {
	case h := <-in:
		if h.Version != version {
			err = fmt.Errorf("the process that serves this database is of another version: end it, or run this one when it has ended")
			break
		}
		m.former = true
		m.take(h)
		return nil
	case <-gone:
		err = errHeld // it ended just now
	case <-wait.C:
		err = fmt.Errorf("the process that shares the budgets does not answer: %w", errHeld)
	}
	m.part()
	return err
}

// part ends the connection, and the holder if it is of this process.
func (m *member) part() {
	m.link.close()
	m.link, m.in, m.gone = nil, nil, nil
	if m.holder != nil {
		m.holder.leave()
		m.holder = nil
	}
}

func (m *member) warn(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.broken = err.Error()
}

// say sends a message.
func (m *member) say(t told) {
	m.number++
	t.Number = m.number
	m.sent = append(m.sent, stamp{m.number, time.Now()})
	m.link.send(t)
}

// take carries a message of the holder's over into news.
func (m *member) take(h heard) {
	n := &m.news
	for len(m.sent) > 0 && m.sent[0].number <= h.Number {
		if until := m.sent[0].at.Add(term); until.After(n.Until) {
			n.Until = until
		}
		m.sent = m.sent[1:]
	}
	if h.Members > 0 {
		n.Members, n.Bound = h.Members, h.Bound
	}
	n.Lost, n.Why = false, ""
	n.Grants, n.Cooled, n.Others = h.Grants, h.Cooled, nil
	if h.Status {
		n.Others = append([]lease.Other{}, h.Others...)
	}
	m.mu.Lock()
	n.Fault, m.broken = m.broken, ""
	m.mu.Unlock()
	n.Number++
	if h.Deal > 0 {
		m.deals = append(m.deals, deal{n.Number, h.Deal})
	}
	for _, g := range h.Grants {
		m.used[g.Key] = g.Used
	}
	if !n.Bound {
		clear(m.demands)
		clear(m.used)
	}
}

// Report implements lease.Sharing.
func (m *member) Report(r lease.Report) {
	m.mu.Lock()
	m.queue = append(m.queue, r)
	m.mu.Unlock()
	m.ring()
}

// Leave implements lease.Sharing. It returns when everything was given back, or soon after.
func (m *member) Leave() {
	m.mu.Lock()
	m.leave = true
	m.mu.Unlock()
	m.ring()
	<-m.over
}

func (m *member) ring() {
	select {
	case m.bell <- struct{}{}:
	default:
	}
}

func (m *member) run() {
	defer close(m.over)
	tick := time.NewTicker(renew)
	defer tick.Stop()
	retry := time.NewTimer(time.Hour)
	defer retry.Stop()
	var asked time.Time // since the leases ended
	for {
		select {
		case h := <-m.in:
			m.take(h)
			asked = time.Time{}
			m.hear(m.news)
		case <-m.gone:
			m.part()
			retry.Reset(0)
		case <-m.bell:
			if m.pass() {
				m.bye()
				return
			}
		case <-tick.C:
			if m.link != nil {
				m.say(told{})
			}
		case <-retry.C:
		}
		if m.link == nil {
			if err := m.connect(); err == nil {
				m.hear(m.news)
			} else {
				retry.Reset(again)
			}
		}
		now := time.Now()
		if !m.news.Bound || m.news.Lost || now.Before(m.news.Until) {
			if m.news.Bound && !m.news.Lost && m.link != nil {
				retry.Reset(m.news.Until.Sub(now))
			}
			continue
		}
		switch {
		case asked.IsZero():
			asked = now
			if m.link != nil {
				m.say(told{})
			}
			retry.Reset(again)
		case now.Sub(asked) >= graceFor:
			m.news.Number++
			m.news.Lost, m.news.Why = true, "the process that shares the budgets does not answer"
			m.news.Grants, m.news.Cooled, m.news.Others = nil, nil, nil
			m.hear(m.news)
		default:
			retry.Reset(again)
		}
	}
}

// pass sends what the engine reported; it returns true when the engine has left.
func (m *member) pass() (left bool) {
	m.mu.Lock()
	queue := m.queue
	m.queue, left = nil, m.leave
	m.mu.Unlock()
	for i := range queue {
		r := &queue[i]
		t := told{Whole: r.Whole, Cooled: r.Cooled}
		for len(m.deals) > 0 && m.deals[0].news <= r.Done {
			t.Done = m.deals[0].deal
			m.deals = m.deals[1:]
		}
		for _, d := range r.Demands {
			if known, ok := m.demands[d.Key]; ok && !r.Whole && same(known, d) {
				continue
			}
			m.demands[d.Key] = d
			if !d.InUse() && d.Holds == 0 {
				delete(m.demands, d.Key)
			}
			t.Demands = append(t.Demands, d)
		}
		if m.link != nil && (t.Whole || t.Done > 0 || len(t.Demands)+len(t.Cooled) > 0) {
			m.say(t)
		}
	}
	return left
}

func same(a, b lease.Demand) bool {
	if len(a.Rates) != len(b.Rates) {
		return false
	}
	for i := range a.Rates {
		if a.Rates[i] != b.Rates[i] {
			return false
		}
	}
	return a.Want == b.Want && a.InFlight == b.InFlight && a.Ceiling == b.Ceiling && a.Started == b.Started && a.Test == b.Test && a.Holds == b.Holds
}

// bye gives everything back.
func (m *member) bye() {
	if m.link == nil {
		return
	}
	m.say(told{Bye: true})
	wait := time.NewTimer(dialFor)
	defer wait.Stop()
	for open := true; open; {
		select {
		case <-m.in:
		case <-m.gone:
			open = false
		case <-wait.C:
			open = false
		}
	}
	m.part()
}
