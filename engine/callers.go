package engine

import "dev.scrapetop/engine/core"

// callers are the goroutines that carry out calls, one call at a time each. One that is done waits for the next call until
// the run ends: a new goroutine would grow its stack anew for every call, which costs as much as reading the answer. There
// are never more than calls were in flight at once.
type callers chan *core.Call

// call has a waiting goroutine carry out c, or a new one.
func (l *loop) call(c *core.Call) {
	select {
	case l.callers <- c:
		return
	default:
	}
	ctx := l.ctx
	l.spawn(func() {
		l.carryOut(ctx, c)
		for c := range l.callers {
			l.carryOut(ctx, c)
		}
	})
}

// dismiss lets the waiting goroutines end. No call may follow.
func (l *loop) dismiss() { close(l.callers) }
