package engine

import (
	"context"

	"dev.scrapetop/engine/core"
)

// errand is a call to be carried out under a context of its own, which cancel ends.
type errand struct {
	ctx    context.Context
	cancel context.CancelFunc
	call   *core.Call
}

// callers are the goroutines that carry out calls, one call at a time each. One that is done waits for the next call until
// the run ends: a new goroutine would grow its stack anew for every call, which costs as much as reading the answer. There
// are never more than calls were in flight at once.
type callers chan errand

// call has a waiting goroutine carry out an errand, or a new one.
func (l *loop) call(c errand) {
	select {
	case l.callers <- c:
		return
	default:
	}
	l.spawn(func() {
		l.do(c)
		for c := range l.callers {
			l.do(c)
		}
	})
}

func (l *loop) do(c errand) {
	defer c.cancel()
	l.carryOut(c.ctx, c.call)
}

// dismiss lets the waiting goroutines end. No call may follow.
func (l *loop) dismiss() { close(l.callers) }
