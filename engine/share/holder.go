package share

import (
	"net"
	"slices"
	"time"

	"dev.scrapetop/engine/lease"
)

const (
	// term is how long a lease lasts, renewed at a third of it.
	term  = 6 * time.Second
	renew = term / 3
	// statusEvery is how often members are told what the others have in flight, when that has changed.
	statusEvery = 500 * time.Millisecond
)

// holder serves the members while it has the seat. Everything happens on its one goroutine; each connection has one that reads and one
// that writes.
type holder struct {
	seat   seat
	book   *lease.Book
	in     chan any
	stop   chan struct{}
	ended  chan struct{}
	links  map[int]*guest
	nextID int
	bound  bool
	noted  int
	status time.Time
	warn   func(error)
}

// guest is a member's connection.
type guest struct {
	*link
	id     int
	told   int64 // its last message
	joined bool  // it has said who it is

	// What it was told last.
	others  []lease.Other
	members int
}

// What the holder is told.
type (
	arrived struct{ conn net.Conn }
	spoke   struct {
		g *guest
		m told
	}
	went struct{ g *guest }
)

// serve makes a holder of a seat. former: this process was served by another holder until now.
func serve(s seat, former bool, warn func(error)) *holder {
	others := s.before()
	switch {
	case others < 0 && former: // the last one left in order, and this is one of those that remained
		others = -others - 1
	case others < 0:
		others = -others
	default: // it died
		others--
	}
	h := &holder{
		seat: s, in: make(chan any), stop: make(chan struct{}), ended: make(chan struct{}), links: map[int]*guest{}, warn: warn,
		book: lease.NewBook(time.Now(), term, others > 0),
	}
	h.bound = others > 0
	h.note(1)
	go h.listen()
	go h.run()
	return h
}

// listen takes connections in.
func (h *holder) listen() {
	for {
		conn, err := h.seat.accept()
		if err != nil {
			return
		}
		h.join(conn)
	}
}

// join serves a connection.
func (h *holder) join(conn net.Conn) { h.post(arrived{conn}) }

func (h *holder) post(m any) {
	select {
	case h.in <- m:
	case <-h.ended:
		if a, ok := m.(arrived); ok {
			_ = a.conn.Close() // nobody serves it
		}
	}
}

// leave ends the holder; what it leaves to its successor is on the seat.
func (h *holder) leave() {
	close(h.stop)
	<-h.ended
}

func (h *holder) run() {
	defer close(h.ended)
	timer := time.NewTimer(0)
	defer timer.Stop()
	due := time.Now()
	for {
		select {
		case <-h.stop:
			h.close()
			return
		case m := <-h.in:
			h.take(time.Now(), m)
		case <-timer.C:
		}
		now := time.Now()
		if now.Sub(due) > term/2 { // it slept: others may have gone by what it does not know
			h.restart(now)
		}
		h.deal(now)
		next := now.Add(term)
		if at, ok := h.book.Next(now); ok && h.bound && at.Before(next) {
			next = at
		}
		if at := h.status.Add(statusEvery); len(h.links) > 1 && at.Before(next) {
			next = at
		}
		timer.Reset(max(next.Sub(now), time.Millisecond))
		due = next
	}
}

func (h *holder) take(now time.Time, m any) {
	switch m := m.(type) {
	case arrived:
		h.nextID++
		g := &guest{link: newLink(m.conn), id: h.nextID}
		h.links[g.id] = g
		go func() {
			// Whatever ended it, the other end may only have lost its way: its lease goes on until it ends.
			_ = read(g.link, func(m told) { h.post(spoke{g, m}) })
			g.close()
			h.post(went{g})
		}()
	case spoke:
		h.spoke(now, m.g, &m.m)
	case went:
		if h.links[m.g.id] == m.g {
			delete(h.links, m.g.id)
			h.book.Lose(m.g.id)
		}
	}
}

func (h *holder) spoke(now time.Time, g *guest, m *told) {
	if h.links[g.id] != g {
		return
	}
	g.told = m.Number
	if !g.joined {
		if m.Version != version {
			h.drop(g)
			return
		}
		if !h.bound && (h.book.Members() > 0 || len(m.Demands) > 0) {
			h.bind(now)
		}
		g.joined = true
		h.book.Join(now, g.id)
		g.send(heard{Version: version, Number: m.Number, Members: h.book.Members(), Bound: h.bound, Cooled: h.book.Cooled(now)})
		h.tell(now, true)
	}
	if !h.book.Knows(g.id) { // it was silent for too long: it begins anew
		h.drop(g)
		return
	}
	h.book.Report(now, g.id, &lease.Report{Done: m.Done, Whole: m.Whole, Demands: m.Demands})
	var grown []lease.Cooldown
	for _, c := range m.Cooled {
		if h.book.Cool(now, c) {
			grown = append(grown, c)
		}
	}
	if len(grown) > 0 {
		for _, other := range h.links {
			if other != g && other.joined {
				other.send(heard{Number: other.told, Cooled: grown})
			}
		}
	}
	switch {
	case m.Bye:
		delete(h.links, g.id)
		h.book.Leave(now, g.id)
		g.finish()
	case len(m.Demands) == 0 && len(m.Cooled) == 0 && m.Done == 0:
		g.send(heard{Number: m.Number}) // it renews
	}
}

// drop ends a connection; the member comes back by itself.
func (h *holder) drop(g *guest) {
	delete(h.links, g.id)
	h.book.Lose(g.id)
	g.close()
}

// deal hands out what may be.
func (h *holder) deal(now time.Time) {
	if h.bound {
		number, grants := h.book.Deal(now)
		for id, g := range grants {
			if to := h.links[id]; to != nil {
				to.send(heard{Number: to.told, Deal: number, Grants: g})
			}
		}
	}
	if h.bound && h.book.Alone(now) {
		h.bound = false
		h.tell(now, true)
	}
	h.note(h.book.Members())
	h.tell(now, false)
}

// bind has everybody go by leases from now on: whoever was alone uses what it likes until it says what that is.
func (h *holder) bind(now time.Time) {
	h.bound = true
	for _, g := range h.links {
		if g.joined {
			h.book.Free(g.id)
		}
	}
	h.tell(now, true)
}

// tell lets every member know how many there are, and what the others have in flight.
func (h *holder) tell(now time.Time, all bool) {
	if !all && now.Sub(h.status) < statusEvery {
		return
	}
	h.status = now
	members := h.book.Members()
	for _, g := range h.links {
		if !g.joined {
			continue
		}
		others := h.book.Others(g.id)
		if !all && slices.Equal(others, g.others) && g.members == members {
			continue
		}
		g.others, g.members = others, members
		g.send(heard{Number: g.told, Members: members, Bound: h.bound, Others: others, Status: true})
	}
}

// note keeps how many processes there are.
func (h *holder) note(members int) {
	if members = max(members, 1); members == h.noted {
		return
	}
	h.noted = members
	if err := h.seat.note(members); err != nil {
		h.warn(err)
	}
}

// restart begins anew, as after another holder's death: whoever is there joins again.
func (h *holder) restart(now time.Time) {
	if len(h.links) <= 1 && !h.bound {
		return
	}
	for _, g := range h.links {
		g.close()
	}
	clear(h.links)
	h.book = lease.NewBook(now, term, true)
	h.bound = true
}

// close gives the seat up.
func (h *holder) close() {
	for _, g := range h.links {
		g.finish()
	}
	others := h.book.Members() // the member of this process has left before
	if others > 0 {
		if err := h.seat.note(-others); err != nil {
			h.warn(err)
		}
	}
	if err := h.seat.leave(others == 0); err != nil {
		h.warn(err)
	}
}
