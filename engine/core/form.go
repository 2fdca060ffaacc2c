package core

import (
	"time"

	"dev.scrapetop/engine/budget"
	"dev.scrapetop/engine/provider"
)

// asyncRefusals is how many refusals of asynchronous submits for capacity, none of one sent before the last was known, show
// that the platform takes none: it has no queue.
const asyncRefusals = 3

// form is how submits are made where a platform knows two ways (Facts.SyncToo).
type form struct {
	sync    bool // from now on they are synchronous
	taken   bool // an asynchronous one was taken: the platform has a queue, whatever it refuses later
	refused int
	last    time.Time // when one was last refused
}

// learnForm learns from a reply whether the platform takes asynchronous submits at all. Without this a run at a platform
// that has no queue would test its capacity for ever.
func (m *Machine) learnForm(now time.Time, c *Call, r *provider.Reply) {
	f := &m.form
	if !m.cfg.Facts.SyncToo || c.For != provider.Submit || c.Sync || f.taken || f.sync {
		return
	}
	switch {
	case r.Outcome == provider.AcceptedRemote || r.Outcome == provider.Accepted:
		f.taken = true
	case r.Outcome == provider.Busy && r.Layer == provider.LayerCapacity && c.Sent.After(f.last):
		f.last = now
		if f.refused++; f.refused == asyncRefusals {
			f.sync = true
			m.tell("warn", budget.Provider, m.cfg.Provider, "every asynchronous submit was refused for capacity: the platform seems to have no queue, submits are synchronous from now on", 0)
		}
	}
}
