package core

import (
	"dev.scrapetop/engine/budget"
	"dev.scrapetop/engine/provider"
)

// setup is whether base URL and options were proved right: that shows by the first answers, and
// until then a fault in either is everybody's, not that of the task that met it.
type setup struct {
	met   bool // the platform has spoken
	told  bool // what came instead was said
	taken bool // it took a submit of ours: the options are right
	// refused is how the submits in a row were refused, and alike how many tasks were told so. Those of held were put back:
	// each may have met the fault of all.
	refused string
	alike   int
	held    map[int64]struct{}
}

const toldAlike = "; it says so to every task: correct the options and resume"

// mostHeld bounds the tasks that are put back, where each is refused with words of its own.
const mostHeld = 100

// blameSetup turns an answer that speaks of the run's base URL or options into a refusal of the credential: nothing more is
// asked, the tasks stay pending without a try, and resume goes on when the fault is mended. What is kept of the exchange
// is as it was read.
func (m *Machine) blameSetup(c *Call, r *provider.Reply) {
	if m.cfg.Direct || c.health || c.Robots != nil || c.search != nil {
		return
	}
	s := &m.setup
	switch r.Outcome {
	case provider.Accepted, provider.AcceptedRemote:
		s.met, s.taken = true, s.taken || c.Job == nil
	case provider.StillRunning:
		s.met = true
	case provider.Failed, provider.Busy, provider.Transport:
		switch {
		case s.met || r.Layer == provider.LayerTarget:
		case r.Astray:
			r.Outcome, r.Unknown = provider.Denied, false
		case !s.told && r.Error != "": // it may pass, but whoever waits for the first page wants to know
			s.told = true
			m.tell("warn", budget.Provider, m.provider.Name, r.Error, c.firstTask())
		}
	case provider.Refused:
		if !s.taken && !r.Split && len(r.Items) == 0 && len(c.Tasks) == 1 {
			m.refusedUnproven(c, r)
		}
	}
}

// refusedUnproven takes a refusal in before any submit was taken. The task waits for the next ones to say whose fault it is:
// it is everybody's when several are told the same, or all there are.
func (m *Machine) refusedUnproven(c *Call, r *provider.Reply) {
	s, id := &m.setup, c.Tasks[0].ID
	if s.refused != r.Error {
		s.refused, s.alike = r.Error, 0
	}
	_, again := s.held[id]
	if !again {
		s.alike++
	}
	switch {
	case s.alike >= budget.InARow, again && s.alike >= len(s.held):
		r.Outcome, r.Error = provider.Denied, r.Error+toldAlike
	case !again && len(s.held) < mostHeld:
		if s.held == nil {
			s.held = make(map[int64]struct{})
		}
		s.held[id] = struct{}{}
		c.unproven = true
	}
}
