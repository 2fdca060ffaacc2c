package engine

import (
	"fmt"
	"strconv"
	"time"

	"dev.scrapetop/engine/budget"
	"dev.scrapetop/engine/core"
	"dev.scrapetop/engine/lease"
)

// reportEvery is the least time between two reports to those that the budgets are shared with.
const reportEvery = 5 * time.Millisecond

// Share connects a run with the other processes that spend from the same budgets. hear is told what they leave to this one, from
// any goroutine, after the News that is returned.
type Share func(hear func(lease.News)) (lease.Sharing, lease.News, error)

// neighbours is what the loop knows of the processes that it shares budgets with.
type neighbours struct {
	sharing lease.Sharing
	news    lease.News // the last
	others  map[lease.Key]int
	done    int64
	changed bool // something happened since the last report
	at      time.Time
}

// meet connects with the other processes. Without them the run goes on alone, and says so.
func (l *loop) meet() {
	if l.cfg.Share == nil {
		return
	}
	sharing, first, err := l.cfg.Share(func(n lease.News) { l.inbox.post(n) })
	if err != nil {
		l.event("warn", "global", "", "budgets are not shared with other processes on this database: "+err.Error(), 0)
		return
	}
	l.near.sharing = sharing
	l.hear(first)
}

// hear carries out what other processes leave to this one.
func (l *loop) hear(n lease.News) {
	before := l.near.news
	l.near.news, l.near.done = n, max(l.near.done, n.Number)
	if n.Others != nil {
		l.near.others = make(map[lease.Key]int, len(n.Others))
		for _, o := range n.Others {
			l.near.others[o.Key] = o.InFlight
		}
	}
	if !n.Bound {
		l.near.others = nil
	}
	if n.Fault != "" {
		l.event("warn", "global", "", "the lock of the shared budgets: "+n.Fault, 0)
	}
	switch {
	case n.Lost && !before.Lost:
		l.event("warn", "global", "", fmt.Sprintf("%s: until somebody does, each of %d processes keeps to an even part of every limit", n.Why, n.Members), 0)
	case before.Lost && !n.Lost:
		l.event("info", "global", "", "budgets are shared again: "+processes(n.Members), 0)
	case n.Members > 1 && n.Members != before.Members:
		l.event("info", "global", "", "budgets are shared by "+processes(n.Members)+" on this database", 0)
	case !n.Bound && before.Bound:
		l.event("info", "global", "", "no other process is left on this database", 0)
	}
	if n.Bound || before.Bound {
		l.step(core.Leased{News: n})
	}
	if n.Bound && !n.Lost && (!before.Bound || before.Lost) { // what was met alone the others do not know
		l.near.sharing.Report(lease.Report{Cooled: l.m.Cooldowns(time.Now())})
	}
	for _, c := range n.Cooled {
		l.coolWith(c)
	}
	l.near.changed = true
}

// coolWith takes over a cooldown that another process met.
func (l *loop) coolWith(c lease.Cooldown) {
	if c.Provider != "" && c.Provider != l.cfg.Provider {
		return
	}
	until := time.Now().Add(c.Left)
	if l.m.CoolsUntil(c.Scope, c.Name).Before(until.Add(-time.Millisecond)) {
		l.event("warn", string(c.Scope), c.Name, "another process was refused: "+c.Cause+"; cooling for "+c.Left.Round(100*time.Millisecond).String(), 0)
		l.step(core.CooldownKept{Scope: c.Scope, Key: c.Name, Until: until, Cause: c.Cause, Layer: c.Layer})
	}
}

// tellCooled lets the other processes know of a cooldown.
func (l *loop) tellCooled(now time.Time, c core.CoolChange) {
	if !l.near.news.Bound || !c.Until.After(now) {
		return
	}
	l.near.sharing.Report(lease.Report{Cooled: []lease.Cooldown{{
		Key: l.m.LeaseKey(c.Scope, c.Key), Left: c.Until.Sub(now), Cause: c.Cause, Layer: c.Source,
	}}})
}

// report tells what this process could use, when something has changed.
func (l *loop) report(now time.Time) {
	n := &l.near
	if !n.changed || !n.news.Bound || now.Before(n.at.Add(reportEvery)) {
		return
	}
	n.changed, n.at = false, now
	demands, whole := l.m.Demands(now)
	n.sharing.Report(lease.Report{Done: n.done, Whole: whole, Demands: demands})
}

// reportDue is when the next report is due; false: nothing has changed.
func (l *loop) reportDue() (time.Time, bool) {
	return l.near.at.Add(reportEvery), l.near.changed && l.near.news.Bound
}

// part gives everything back.
func (l *loop) part() {
	if l.near.sharing == nil {
		return
	}
	if l.near.news.Bound {
		demands, whole := l.m.Demands(time.Now())
		l.near.sharing.Report(lease.Report{Done: l.near.done, Whole: whole, Demands: demands})
	}
	l.near.sharing.Leave()
	l.near = neighbours{}
}

// othersUse is what other processes have in flight of a budget.
func (l *loop) othersUse(scope budget.Scope, name string) int {
	if l.near.others == nil {
		return 0
	}
	return l.near.others[l.m.LeaseKey(scope, name)]
}

func processes(n int) string {
	if n == 1 {
		return "1 process"
	}
	return strconv.Itoa(n) + " processes"
}
