package screen

import (
	"slices"
	"time"

	"dev.scrapetop/engine/view"
	"dev.scrapetop/themes"
	"dev.scrapetop/ui/widget"
)

// overview answers the five questions of the first screen: is it going, what holds it back, who refuses and at which
// layer, will it end well, what must be done.
func (p *Picture) overview(class Class, w, h int) []string {
	switch class {
	case Full:
		return p.overviewFull(w, h)
	case Standard:
		return p.overviewStandard(w, h)
	}
	return p.overviewCompact(w, h)
}

// overviewPanes is how the height of a full Overview is shared: rows of panes from top to bottom. The chart and the
// refusals have what they need; what is over goes to domains, then events.
type overviewPanes struct{ chart, flight, cool, events int }

func shareFull(h int) overviewPanes {
	s := overviewPanes{chart: 9, flight: 10, cool: 7, events: 6}
	extra := h - 32
	s.flight += extra / 2
	s.cool += extra / 4
	s.events = h - s.chart - s.flight - s.cool
	return s
}

func (p *Picture) overviewFull(w, h int) []string {
	if p.List.Zoomed {
		return p.zoomed(w, h)
	}
	s := shareFull(h)
	left := w / 2
	right := w - left
	lines := beside(p.chartPane(left, s.chart), p.fleetPane(right, s.chart))
	lines = append(lines, beside(p.flightPane(left, s.flight), p.layersPane(right, s.flight))...)
	caps := p.capsWidth()
	mid := (w - caps) / 2
	lines = append(lines, beside(p.cooldownsPane(w-caps-mid, s.cool), p.capacityPane(mid, s.cool), p.capsPane(caps, s.cool))...)
	return append(lines, p.eventsPane(w, s.events)...)
}

// The panes of the Overview, in the order in which Tab visits them.
const (
	paneFlight = iota
	paneChart
	paneLayers
	paneCooldowns
	paneCapacity
	paneCaps
	paneEvents
	overviewPaneCount
)

// Panes is how many panes can have the focus on a screen.
func Panes(tab Tab, w, h int) int {
	switch class := ClassOf(w, h); {
	case class == Full && tab == Domains:
		return 3
	case class == Full:
		return overviewPaneCount
	}
	return 1
}

// zoomed is the pane in focus on the whole screen.
func (p *Picture) zoomed(w, h int) []string {
	switch p.List.Pane {
	case paneChart:
		return p.chartPane(w, h)
	case paneLayers:
		return p.layersPane(w, h)
	case paneCooldowns:
		return p.cooldownsPane(w, h)
	case paneCapacity:
		return p.capacityPane(w, h)
	case paneCaps:
		return p.capsPane(w, h)
	case paneEvents:
		return p.eventsPane(w, h)
	}
	return p.flightPane(w, h)
}

func (p *Picture) overviewStandard(w, h int) []string {
	left := w*42/80 + (w-80)/8
	lines := p.fleetStandard(w, 6)
	flight, capacity := p.shareStandard(h)
	lines = append(lines, beside(p.mixedPane(left, flight), p.layersStandard(w-left, flight))...)
	lines = append(lines, p.capacityStandard(w, capacity)...)
	return append(lines, p.eventsPane(w, h-6-flight-capacity)...)
}

// shareStandard is the height of the panes in the middle of 80x24, half of what is over, and of the capacities: two lines
// where there are several keys, accounts or tenants.
func (p *Picture) shareStandard(h int) (flight, capacity int) {
	flight, capacity = 8+max(h-20, 0)/2, 3
	if len(p.Data.Frame.Budgets) > 1 {
		flight, capacity = flight-1, 4
	}
	return flight, capacity
}

// beside joins panes of equal height.
func beside(panes ...[]string) []string {
	out := slices.Clone(panes[0])
	for i := range out {
		for _, next := range panes[1:] {
			out[i] += next[i]
		}
	}
	return out
}

// chartPane is the accepted records a minute over time.
func (p *Picture) chartPane(w, h int) []string {
	f := p.Data.Frame
	inner := widget.Inner(w)
	c := widget.Chart{Role: themes.OK, Top: p.ChartTop}
	if c.Top <= 0 {
		c.Top = ChartTop(f, 0)
	}
	bin := f.Chart.Bin
	c.Values = f.Chart.Values
	if n := c.Columns(inner); len(c.Values) > n && bin > 0 {
		c.Values = widget.Resample(c.Values, n, f.Chart.End.UnixNano()/int64(bin))
		bin *= time.Duration((len(f.Chart.Values) + n - 1) / max(n, 1))
	}
	if n := len(c.Values); n > 1 && bin > 0 {
		for _, back := range []int{n - 1, (n - 1) * 2 / 3, (n - 1) / 3, 0} {
			at := f.Chart.End.Add(-time.Duration(back) * bin).In(p.Now.Location())
			c.Labels = append(c.Labels, widget.Label{Back: back, Text: at.Format("15:04")})
		}
	}
	title := "Accepted records/min  " + rate(f.AcceptedPerMin) + "  avg " + rate(f.AcceptedAverage)
	lines := c.Draw(p.Look, inner, h-2)
	if f.Live && len(c.Values) == 0 && len(lines) > 2 {
		text := "the first minute is not over"
		if f.Counts.Attempts == 0 {
			text = "waiting for the first response, " + widget.Clock(min(f.Run.Elapsed, longest))
		}
		lines[(len(lines)-2)/2] = p.Look.Line(inner).Gap(8).Text(themes.Dim, text).String()
	}
	return widget.Pane{Title: title, Right: p.rangeWord() + " (+ -)", Focused: p.List.Pane == paneChart}.Draw(p.Look, w, h, lines)
}

// ChartTop is the top of the chart's axis for a frame; before is the last one, zero at the start.
func ChartTop(f *view.Frame, before float64) float64 {
	peak := 0.0
	for _, v := range f.Chart.Values {
		peak = max(peak, v)
	}
	return widget.RoundMax(peak, before)
}

func (p *Picture) rangeWord() string {
	if p.Range <= 0 {
		return "whole run"
	}
	return widget.Thousands(int64(p.Range/time.Minute)) + " min"
}

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

// capsWidth is the width of capsPane: caps are set before a run, so it does not change within one.
func (p *Picture) capsWidth() int {
	if len(p.Data.Frame.Caps) == 0 {
		return 14
	}
	return 30
}

// capsPane are the user's ceilings on what the run may use, now and at its forecast end.
func (p *Picture) capsPane(w, h int) []string {
	inner := widget.Inner(w)
	lines := make([]string, 0, h)
	for _, c := range p.Data.Frame.Caps {
		l := p.Look.Line(inner)
		now := capShare(c)
		l.Fit(themes.Text, c.Name, 9, widget.Left).Gap(1).Bar(capRole(c), now, c.Forecast, max(inner-10-12, 0))
		l.Text(capRole(c), " "+capNumbers(c))
		lines = append(lines, l.String())
	}
	if len(lines) == 0 {
		lines = append(lines, p.Look.Text(themes.Dim, "none set", inner))
	}
	title := "Caps  now>at end"
	if len(p.Data.Frame.Caps) == 0 {
		title = "Caps"
	}
	return widget.Pane{Title: title, Focused: p.List.Pane == paneCaps}.Draw(p.Look, w, h, lines)
}

func capShare(c view.CapRow) float64 {
	if !(c.Limit > 0) {
		return 0
	}
	return c.Used / c.Limit
}

// capWord says in shape what the colour says: past 90 % at the end a look, past 100 % over.
func capWord(c view.CapRow) string {
	if c.Forecast > .9 || capShare(c) > .9 {
		return "!"
	}
	return ""
}

func capRole(c view.CapRow) themes.Role {
	switch {
	case c.Forecast > 1 || capShare(c) >= 1:
		return themes.Bad
	case c.Forecast > .9 || capShare(c) > .9:
		return themes.Warn
	}
	return themes.OK
}

// eventsPane are the latest events, newest first.
func (p *Picture) eventsPane(w, h int) []string {
	inner := widget.Inner(w)
	boxed := h > 2
	rows := h - 2
	if !boxed {
		// Too low for a box: the events alone.
		inner, rows = w-2, h
	}
	lines := make([]string, 0, max(h, 0))
	for i := range p.Data.Frame.Events {
		if len(lines) >= rows {
			break
		}
		lines = append(lines, p.event(&p.Data.Frame.Events[i], inner))
	}
	if len(lines) == 0 {
		lines = append(lines, p.Look.Text(themes.Dim, "nothing yet", inner))
	}
	if !boxed {
		for i := range lines {
			lines[i] = " " + lines[i] + " "
		}
		for len(lines) < h {
			lines = append(lines, widget.Blank(w))
		}
		return lines
	}
	return widget.Pane{Title: "Latest events", Focused: p.List.Pane == paneEvents}.Draw(p.Look, w, h, lines)
}

func (p *Picture) event(e *view.EventRow, w int) string {
	l := p.Look.Line(w)
	l.Text(themes.Dim, e.At.In(p.Now.Location()).Format(time.TimeOnly)).Gap(2)
	word, role := level(e.Level)
	l.Fit(role, word, 5, widget.Left).Gap(1)
	if e.Key != "" {
		l.Fit(themes.Text, e.Key, min(max(w/5, 14), 30), widget.Left).Gap(1)
	}
	task := ""
	if e.Task > 0 && w >= 100 {
		task = "task " + widget.Thousands(e.Task)
	}
	room := l.Room() - len(task)
	if task != "" {
		room -= 2
	}
	l.Text(themes.Text, widget.Truncate(e.Text, room))
	return l.Right(themes.Dim, task).String()
}

// level is the word of fixed width for a level.
func level(s string) (string, themes.Role) {
	switch s {
	case "warn", "warning":
		return "WARN", themes.Warn
	case "error":
		return "ERR", themes.Bad
	case "user":
		return "USER", themes.Pause
	case "info", "":
		return "INFO", themes.Dim
	}
	return "NOTE", themes.Text
}
