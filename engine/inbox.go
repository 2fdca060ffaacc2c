package engine

import (
	"net/netip"
	"net/url"
	"strings"
	"sync"

	"dev.scrapetop/engine/core"
	"dev.scrapetop/engine/provider"
	"dev.scrapetop/engine/record"
	"dev.scrapetop/storage"
)

// inbox is what the loop is told, in order. Posting never blocks, so no goroutine ever waits for the loop.
type inbox struct {
	mu   sync.Mutex
	list []any
	bell chan struct{} // rung when the list stops being empty
}

func (b *inbox) init() { b.bell = make(chan struct{}, 1) }

func (b *inbox) post(m any) {
	b.mu.Lock()
	b.list = append(b.list, m)
	b.mu.Unlock()
	select {
	case b.bell <- struct{}{}:
	default:
	}
}

// take swaps the list for an empty one.
func (b *inbox) take(spare []any) []any {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := b.list
	b.list = spare[:0]
	return list
}

// What the loop is told, besides Command and the core's own events.
type (
	fed     struct{ storage.Queued }
	skipped struct{ n int64 }

	// outcome is a call's end, with everything that is kept of it.
	outcome struct {
		core.Replied
		response provider.Response
		verdicts []record.Verdict // by item
		robots   *robots
		hops     int64 // further requests that a lookup's redirects took

		headers map[string]string // redacted
		kind    string            // of the body
		sample  []byte            // redacted; nil for an accepted answer
	}

	// committed tells that a transaction is on disk, or why it is not.
	committed struct {
		calls []*core.Call
		sends []*core.Call // whose intents it held
		err   error
	}

	pausesRead struct {
		pauses []storage.Pause
		err    error
	}

	lost struct{ err error } // something that the run cannot go on without
)

// hostSet holds the hosts that the input named: only they may lead to private addresses, and only a redirect from such a
// host may lead to one.
type hostSet struct {
	m sync.Map
}

func (s *hostSet) add(host string) {
	if _, ok := s.m.Load(host); !ok {
		s.m.Store(host, true)
	}
}

func (s *hostSet) has(host string) bool {
	host = strings.Trim(host, "[]")
	_, ok := s.m.Load(host)
	if !ok {
		if a, err := netip.ParseAddr(host); err == nil {
			_, ok = s.m.Load(a.String())
		}
	}
	return ok
}

// follow lets a redirect of a loopback host that the input named lead to another name of the loopback: nobody is led
// anywhere that they were not.
func (s *hostSet) follow(from, to string) {
	if s.has(from) && loopback(from) && loopback(to) {
		s.add(to)
	}
}

func loopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsLoopback()
}

func (s *hostSet) allowBase(base string) {
	if u, err := url.Parse(base); err == nil && u.Hostname() != "" {
		s.add(strings.ToLower(u.Hostname()))
	}
}
