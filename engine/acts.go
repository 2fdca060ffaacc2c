package engine

import (
	"strconv"
	"time"

	"dev.scrapetop/engine/budget"
	"dev.scrapetop/engine/core"
	"dev.scrapetop/storage"
)

// command carries out a person's act.
func (l *loop) command(c Command) {
	scope := budget.Scope(c.Scope)
	switch c.Verb {
	case Pause, Resume:
		l.setPause(c)
	case PauseRun:
		l.pausedAt = time.Now()
		l.event("info", "global", "", "the run is paused", 0)
		l.step(core.Asked{Verb: "pause", Scope: budget.Global})
	case ResumeRun:
		l.pausedAt = time.Time{}
		l.event("info", "global", "", "the run goes on", 0)
		l.step(core.Asked{Verb: "resume", Scope: budget.Global})
	case SetLimit:
		text := "the ceiling in flight is left to the engine again"
		if c.Limit > 0 {
			text = "the ceiling in flight is set to " + strconv.Itoa(c.Limit)
		}
		l.event("info", c.Scope, c.Key, text, 0)
		l.step(core.Asked{Verb: "limit", Scope: scope, Key: c.Key, Limit: c.Limit})
	case EndCooldown:
		l.event("info", c.Scope, c.Key, "asked by you: one probe goes out now", 0)
		l.step(core.Asked{Verb: "end cooldown", Scope: scope, Key: c.Key})
	case Drain:
		l.drain("stopped by you")
	case Abandon:
		l.step(core.Draining{Reason: "stopped by you", Abandon: true})
	}
	l.publish(time.Now(), true)
}

// drain stops starts and gives what is in flight one exchange's time.
func (l *loop) drain(reason string) {
	if !l.drainBy.IsZero() {
		return
	}
	timeout := l.cfg.Timeout
	if timeout <= 0 {
		timeout = l.provider.Facts().Timeout
	}
	l.drainBy = time.Now().Add(timeout)
	l.event("info", "global", "", "draining: nothing new starts, what is in flight may finish", 0)
	l.batch.state = storage.RunDraining
	l.batch.dirty = true
	l.step(core.Draining{Reason: reason, By: l.drainBy})
}
