package screen

import (
	"strings"
	"time"

	"dev.scrapetop/engine/view"
	"dev.scrapetop/themes"
	"dev.scrapetop/ui/widget"
)

// fleetPane is one line a theme; in flight is the gauge that matters.
func (p *Picture) fleetPane(w, h int) []string {
	f := p.Data.Frame
	inner := widget.Inner(w)
	row := func(label string) *widget.Line { return p.Look.Line(inner).Fit(themes.Dim, label, 10, widget.Left) }
	lines := []string{
		p.gauge(row("in flight"), f.InFlight, f.Ceiling, 20).String(),
		p.states(row("domains")).String(),
		p.queue(row("queue")).String(),
		p.records(row("records")).String(),
		row("requests").Text(themes.Text, rate(f.RequestsPerMin)+"/min   ok "+p.answered(f.OKShare)+
			"  retry "+p.answered(f.RetryShare)+"  dead "+p.answered(f.DeadShare)).String(),
		row("latency").Text(themes.Text, "p50 "+latency(f.LatencyP50)+"   p95 "+latency(f.LatencyP95)+
			"   p99 "+latency(f.LatencyP99)).String(),
		p.health(row("used")).String(),
	}
	return widget.Pane{Title: "Fleet"}.Draw(p.Look, w, h, lines)
}

// records are the accepted tasks, with what they brought where that is another number, and what was not accepted.
func (p *Picture) records(l *widget.Line) *widget.Line {
	c := &p.Data.Frame.Counts
	l.Text(themes.OK, countIn(c.Accepted, 11)+" accepted")
	if c.Records != c.Accepted {
		l.Text(themes.OK, " = "+countIn(c.Records, 11)+" records")
	}
	if c.Cached > 0 {
		l.Text(themes.Text, ", "+countIn(c.Cached, 9)+" cached")
	}
	return l.Text(themes.Text, "   "+countIn(c.Invalid, 9)+" invalid   "+countIn(c.Dead, 9)+" dead")
}

// answered is a share of the answers; without any answer it is not known, which is not zero.
func (p *Picture) answered(share float64) string {
	if p.Data.Frame.Counts.Attempts == 0 {
		return widget.Unknown
	}
	return tenths(share)
}

// latency of nothing measured is unknown, not zero.
func latency(d time.Duration) string {
	if d <= 0 {
		return widget.Unknown
	}
	return widget.Seconds(min(d, longest))
}

// gauge is in flight against a ceiling; without a ceiling the number stands alone.
func (p *Picture) gauge(l *widget.Line, used, limit, width int) *widget.Line {
	if limit <= 0 {
		return l.Strong(true).Text(themes.OK, countIn(int64(used), 9)).Strong(false).Text(themes.Dim, " (no ceiling)")
	}
	text := countIn(int64(used), 6) + " / " + countIn(int64(limit), 6)
	l.Strong(true).Fit(themes.OK, text, max(11, len(text)), widget.Left).Strong(false).Gap(1).Gauge(themes.OK, used, limit, 0, width)
	return l.Fit(themes.Text, percent(share(float64(used), float64(limit))), 5, widget.Right)
}

// stateOrder is the order in which states are told.
var stateOrder = []view.State{
	view.StateRun, view.StateSlow, view.StateCool, view.StatePause, view.StateBlock, view.StateIdle, view.StateDone,
}

func (p *Picture) states(l *widget.Line) *widget.Line {
	f := p.Data.Frame
	if f.Domains.Total == 0 {
		return l.Text(themes.Dim, "none yet")
	}
	words, roles, cells := make([]string, 0, len(stateOrder)), make([]themes.Role, 0, len(stateOrder)), 0
	for _, s := range stateOrder {
		if n := f.States[s]; n > 0 {
			words = append(words, widget.Count(int64(n))+" "+string(s))
			roles = append(roles, p.Look.Glyphs.State(string(s)).Role)
			cells += len(words[len(words)-1]) + 1
		}
	}
	// Idle and done need nobody: they are told together when there is no room for both.
	idle, done := f.States[view.StateIdle], f.States[view.StateDone]
	if cells-1 > l.Room() && idle > 0 && done > 0 {
		words, roles = words[:len(words)-1], roles[:len(roles)-1]
		words[len(words)-1] = widget.Count(int64(idle)+int64(done)) + " quiet"
	}
	for i, word := range words {
		l.Text(roles[i], word).Gap(1)
	}
	return l
}

func (p *Picture) queue(l *widget.Line) *widget.Line {
	f := p.Data.Frame
	l.Text(themes.Text, countIn(waiting(f), 11)+" waiting")
	if f.Counts.Remote > 0 {
		l.Text(themes.Text, "  "+countIn(f.Counts.Remote, 6)+" remote")
		if done := " (" + strings.TrimSpace(countIn(f.Counts.RemoteDone, 6)) + " done)"; f.Counts.RemoteDone > 0 && l.Room() >= len(done) {
			l.Text(themes.Dim, done)
		}
	}
	l.Text(themes.Text, "  oldest "+p.queueAge(f.QueueOldest))
	if p95 := "  p95 " + p.queueAge(f.QueueP95); l.Room() >= len(p95) {
		l.Text(themes.Text, p95)
	}
	return l
}

// waiting are the tasks that have not been started or wait to be started again.
func waiting(f *view.Frame) int64 {
	n := f.Counts.Pending + f.Counts.Delayed
	if n < f.Counts.Pending { // more than an int64 holds
		return f.Counts.Pending
	}
	return n
}

func (p *Picture) queueAge(d time.Duration) string {
	if waiting(p.Data.Frame) == 0 || d <= 0 {
		return widget.Unknown
	}
	return widget.ShortClock(min(d, longest))
}

// health tells what was spent, and the dashboard's own condition.
func (p *Picture) health(l *widget.Line) *widget.Line {
	f := p.Data.Frame
	if f.Counts.Credits > 0 {
		l.Text(themes.Text, amount(f.Counts.Credits)+" credits   ")
	}
	l.Text(themes.Text, widget.Bytes(f.Counts.Bytes)+"   ")
	if f.Health.StorageLag >= time.Second {
		l.Text(themes.Warn, "writes "+widget.Seconds(min(f.Health.StorageLag, longest))+" late   ")
	}
	if f.Health.Dropped > 0 {
		l.Text(themes.Warn, countIn(int64(min(f.Health.Dropped, 1<<62)), 6)+" events dropped")
	}
	return l
}
