package view

import "sync"

// Options is what a model starts from. The zero Options is a run without a past.
type Options struct {
	// Limited is what earlier drives of the same run counted, by layer.
	Limited ByLayer
}

// Model is the read model of one run. Create it with New.
type Model struct {
	inbox struct {
		sync.Mutex
		deltas []Delta
		spare  []*Tally // emptied, for the loop to count in
	}

	mu    sync.Mutex // guards everything below; held while a frame is made, so Update only tries it
	state state
}

// inboxPatience is how many deltas wait for somebody to ask for a frame before the loop folds the oldest in itself: more
// than a second of them, so that a screen that draws never leaves the cost to the loop.
const inboxPatience = 16

// New returns an empty model.
func New(o Options) *Model {
	m := &Model{}
	m.state.init(o)
	return m
}

// Update hands over what changed. Only one goroutine may call it. It does not wait for frames that are being made.
func (m *Model) Update(d Delta) {
	m.inbox.Lock()
	m.inbox.deltas = append(m.inbox.deltas, d)
	crowded := len(m.inbox.deltas) > inboxPatience
	m.inbox.Unlock()
	if crowded && m.mu.TryLock() {
		m.fold(2)
		m.mu.Unlock()
	}
}

// Tally returns an empty tally to count in until the next Update; it reuses those already folded in.
func (m *Model) Tally() *Tally {
	m.inbox.Lock()
	defer m.inbox.Unlock()
	if n := len(m.inbox.spare); n > 0 {
		t := m.inbox.spare[n-1]
		m.inbox.spare = m.inbox.spare[:n-1]
		return t
	}
	return &Tally{}
}

// Frame answers a query from everything handed over so far, as of the newest Delta. It never returns nil and may be called
// from any goroutine; calls wait for each other but never for the loop.
func (m *Model) Frame(q Query) *Frame {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fold(0)
	return m.state.frame(q)
}

// fold takes the oldest n waiting deltas in, or all with n zero. m.mu is held.
func (m *Model) fold(n int) {
	m.inbox.Lock()
	waiting := m.inbox.deltas
	if n == 0 || n >= len(waiting) {
		m.inbox.deltas = nil
	} else {
		m.inbox.deltas = append([]Delta(nil), waiting[n:]...)
		waiting = waiting[:n]
	}
	m.inbox.Unlock()

	for i := range waiting {
		m.state.apply(&waiting[i])
		if t := waiting[i].Tally; t != nil {
			t.clear()
			m.inbox.Lock()
			m.inbox.spare = append(m.inbox.spare, t)
			m.inbox.Unlock()
		}
	}
}
