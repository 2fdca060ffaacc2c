package core

import (
	"dev.scrapetop/engine/provider"
)

// start is what a run knows of its own beginning: whether the base URL is right shows by the first answers, and until then
// a fault in it is everybody's, not that of the task that met it.
type start struct {
	met bool // the platform has spoken
}

// astray turns an answer that speaks of the run's base URL into a refusal of the credential: nothing more is
// asked, the tasks stay pending without a try, and resume goes on when the fault is mended. What is kept of the exchange
// is as it was read.
func (m *Machine) astray(c *Call, r *provider.Reply) {
	if m.cfg.Direct || c.health || c.Robots != nil || c.search != nil {
		return
	}
	s := &m.start
	switch r.Outcome {
	case provider.Accepted, provider.AcceptedRemote, provider.StillRunning:
		s.met = true
	case provider.Failed:
		if r.Astray && !s.met {
			r.Outcome, r.Unknown = provider.Denied, false
		}
	}
}
