package screen

import (
	"strings"

	"dev.scrapetop/engine/view"
	"dev.scrapetop/themes"
	"dev.scrapetop/ui/widget"
)

// fleetStandard is the Fleet of 80x24: the chart became a sparkline.
func (p *Picture) fleetStandard(w, h int) []string {
	f := p.Data.Frame
	inner := widget.Inner(w)
	half := inner - 36
	first := p.Look.Line(inner).Text(themes.Dim, "rec/min ").Strong(true).Fit(themes.OK, rate(f.AcceptedPerMin), 5, widget.Right).Strong(false).Gap(1)
	widget.Spark(first, themes.OK, f.Chart.Values, max(half-first.Cells()-2, 0), 0)
	p.gauge(first.To(half).Text(themes.Dim, "in flight "), f.InFlight, f.Ceiling, 9)
	second := p.queue(p.Look.Line(inner).Text(themes.Dim, "queue "))
	states := p.states(p.Look.Line(inner))
	third := p.Look.Line(inner).Text(themes.Dim, "accepted ").Text(themes.OK, countIn(f.Counts.Accepted, 9)).
		Text(themes.Text, "  invalid "+countIn(f.Counts.Invalid, 7)+"  dead "+countIn(f.Counts.Dead, 7)).
		Right(themes.Text, "req "+rate(f.RequestsPerMin)+"/min  ok "+p.answered(f.OKShare))
	return widget.Pane{Title: "Fleet"}.Draw(p.Look, w, h, []string{first.String(), second.String(), states.String(), third.String()})
}

// mixedPane is in flight and cooldowns in one: the domains, and what holds each.
func (p *Picture) mixedPane(w, h int) []string {
	inner := widget.Inner(w)
	rows, first := p.List.window(p.Data, max(h-2, 0))
	lines := make([]string, 0, len(rows))
	name := max(inner-24, 12)
	for i := range rows {
		r := &rows[i]
		l := p.Look.Line(inner)
		p.mark(l, first+i)
		p.state(l, r, p.Data.Names[first+i], 7)
		l.Fit(themes.Text, r.Domain, name, widget.Left).Gap(1)
		l.Fit(themes.Text, ofLimit(r.InFlight, r.Limit), 6, widget.Right).Gap(1)
		note, role := p.domainNote(r)
		lines = append(lines, l.Text(role, note).String())
	}
	if len(lines) == 0 {
		lines = append(lines, p.Look.Text(themes.Dim, p.noDomains(), inner))
	}
	n := p.cooling(p.active())
	return widget.Pane{Title: "In flight, cooldowns " + widget.Count(int64(n)), Right: more(len(rows), p.Data.Frame.Domains.Matched), Focused: true}.
		Draw(p.Look, w, h, lines)
}

// layersStandard is the refusals by layer in a narrow pane.
func (p *Picture) layersStandard(w, h int) []string {
	f := p.Data.Frame
	inner := widget.Inner(w)
	var lines []string
	var all int64
	var perMin float64
	for i := range f.Layers {
		r := &f.Layers[i]
		last := widget.Unknown
		if !r.Last.IsZero() {
			last = since5(r.Last, p.Now)
		}
		if r.Layer != "busy" {
			all, perMin = add(all, r.Recent), perMin+r.PerMin
		}
		l := p.Look.Line(inner).Fit(themes.Text, r.Layer, 7, widget.Left).Fit(refusals(r.Recent), countIn(r.Recent, 5), 6, widget.Right).Gap(1)
		widget.Spark(l, refusals(r.Recent), r.Trend, max(inner-20, 0), 0)
		lines = append(lines, l.To(inner-5).Fit(themes.Text, last, 5, widget.Right).String())
	}
	lines = append(lines, p.Look.Line(inner).Strong(true).Fit(themes.Text, "all 429", 7, widget.Left).Fit(refusals(all), countIn(all, 5), 6, widget.Right).
		Strong(false).Text(themes.Dim, " "+rate(perMin)+"/min  held "+countIn(f.Counts.Held, 5)).String())
	pane := widget.Pane{Title: "429 by layer, 15 min"}
	if len(lines) > h-2 {
		pane.Right = "all " + countIn(all, 5)
	}
	return pane.Draw(p.Look, w, h, lines)
}

// capacityStandard is what was reported to be left, as much as fits in the lines there are, and the caps at the right of the
// first.
func (p *Picture) capacityStandard(w, h int) []string {
	inner := widget.Inner(w)
	caps, role := p.capsWords(), themes.Text
	if strings.Contains(caps, "!") {
		role = themes.Warn
	}
	items := p.capacities(8)
	for i := range items {
		if items[i].brief != "" {
			items[i].note = items[i].brief
		}
	}
	var lines []string
	for i := 0; len(lines) < h-2; {
		l, room := p.Look.Line(inner), inner
		if len(lines) == 0 {
			room -= widget.Width(caps) + 2
		}
		for ; i < len(items); i++ {
			c := items[i]
			item := c.name + " " + c.value
			if c.note != "" {
				item += " " + c.note
			}
			if l.Cells() > 0 {
				if l.Cells()+2+widget.Width(item) > room {
					break
				}
				l.Gap(2)
			}
			l.Text(c.role, widget.Truncate(item, max(room-l.Cells(), 0)))
		}
		if len(items) == 0 && len(lines) == 0 {
			l.Text(themes.Dim, p.nothingTold())
		}
		if len(lines) == 0 {
			l.Right(role, caps)
		} else if more := len(p.told()) - i; more > 0 {
			l.Right(themes.Dim, "+"+widget.Count(int64(more)))
		}
		lines = append(lines, l.String())
	}
	return widget.Pane{Title: "Remaining, as last reported", Right: "caps  now>at end"}.Draw(p.Look, w, h, lines)
}

// capsWords are the caps in words: req 65%>76%.
func (p *Picture) capsWords() string {
	var words []string
	for _, c := range p.Data.Frame.Caps {
		words = append(words, widget.Truncate(c.Name, 8)+" "+capNumbers(c))
	}
	if len(words) == 0 {
		return "none set"
	}
	return strings.Join(words, "  ")
}

// overviewCompact is one line a fact, without boxes; what is over goes to domains and events.
func (p *Picture) overviewCompact(w, h int) []string {
	f := p.Data.Frame
	lines := make([]string, 0, h)
	line := func() *widget.Line { return p.Look.Line(w) }
	forecast := longETA(f.ETA)
	if !f.Live {
		forecast = "over"
	}
	first := line().Strong(true).Text(themes.OK, rate(f.AcceptedPerMin)).Strong(false).Text(themes.Dim, " rec/min ")
	widget.Spark(first, themes.OK, f.Chart.Values, max(min(w-first.Cells()-widget.Width(forecast)-1, 30), 0), 0)
	lines = append(lines, first.Right(themes.Text, forecast).String())
	lines = append(lines, p.gauge(line().Text(themes.Dim, "in flight "), f.InFlight, f.Ceiling, 10).String())
	second := "  oldest " + p.queueAge(f.QueueOldest)
	if f.Counts.Remote > 0 {
		second = "  remote " + countIn(f.Counts.Remote, 6)
	}
	lines = append(lines, line().Text(themes.Dim, "queue ").Text(themes.Text, countIn(waiting(f), 7)+second).
		Right(themes.Text, "dead "+countIn(f.Counts.Dead, 6)).String())
	lines = append(lines, p.layersCompact(w))
	lines = append(lines, p.cooldownsCompact(w))
	lines = append(lines, p.capacityCompact(w))
	for i := range f.Events {
		if len(lines) >= h {
			break
		}
		e := &f.Events[i]
		word, role := level(e.Level)
		lines = append(lines, line().Text(themes.Dim, p.clockOf(e.At)[:5]+" ").Text(role, word+" ").Text(themes.Text, e.Key+" "+e.Text).String())
	}
	for len(lines) < h {
		lines = append(lines, widget.Blank(w))
	}
	return lines[:h]
}

func (p *Picture) layersCompact(w int) string {
	l := p.Look.Line(w).Text(themes.Dim, "429")
	perMin := 0.0
	for i := range p.Data.Frame.Layers {
		r := &p.Data.Frame.Layers[i]
		word := map[string]string{"account": "acc", "pending": "pend", "target": "tgt"}[r.Layer]
		if word == "" {
			word = widget.Truncate(r.Layer, 4)
		}
		if r.Layer != "busy" {
			perMin += r.PerMin
		}
		l.Gap(1).Text(refusals(r.Recent), word+" "+widget.Count(r.Recent))
	}
	if s := rate(perMin) + "/m"; l.Room() > len(s) {
		l.Right(themes.Text, s)
	}
	return l.String()
}

func (p *Picture) cooldownsCompact(w int) string {
	l := p.Look.Line(w).Text(themes.Dim, "cool ")
	active := p.active()
	if len(active) == 0 {
		return l.Text(themes.Dim, "none").String()
	}
	all := p.cooling(active)
	for i, c := range active {
		rest := "+" + widget.Count(int64(all-i))
		left := until5(c.Until, p.Now)
		if i > 0 && l.Room() < 8+len(left)+2+len(rest) {
			return l.Right(themes.Text, rest).String()
		}
		l.Text(themes.Text, widget.Truncate(c.Key, max(min(14, l.Room()-len(left)-len(rest)-3), 4))+" ").Text(themes.Cool, left).Gap(2)
	}
	return l.String()
}

func (p *Picture) capacityCompact(w int) string {
	l := p.Look.Line(w).Text(themes.Dim, "left ")
	caps, role := p.worstCap()
	if len(p.Data.Frame.Caps) == 0 && len(p.told()) > 0 {
		caps = "" // the keys need the room
	}
	items := p.capacities(1)
	if len(items) == 0 {
		return l.Text(themes.Dim, "not told").Right(role, caps).String()
	}
	c := items[0]
	text := " " + strings.TrimSuffix(c.value, " left")
	room := l.Room() - widget.Width(caps) - 1
	if brief := strings.Replace(c.brief, "resets ", "for ", 1); brief != "" {
		if c.note, _, _ = strings.Cut(c.note, ","); min(widget.Width(c.name), 8)+widget.Width(text+" "+brief) <= room {
			c.note = brief
		}
	}
	if c.note != "" {
		text += " " + strings.TrimSuffix(c.note, " ago")
	}
	l.Text(c.role, widget.Truncate(widget.Truncate(c.name, max(room-widget.Width(text), 6))+text, max(room, 0)))
	return l.Right(role, caps).String()
}

// worstCap is the cap that is nearest to its end, in few cells: time 41>93!.
func (p *Picture) worstCap() (string, themes.Role) {
	var worst *view.CapRow
	for i := range p.Data.Frame.Caps {
		if c := &p.Data.Frame.Caps[i]; worst == nil || max(c.Forecast, capShare(*c)) > max(worst.Forecast, capShare(*worst)) {
			worst = c
		}
	}
	if worst == nil {
		return "caps none set", themes.Dim
	}
	return widget.Truncate(worst.Name, 6) + " " + capNumbers(*worst), capRole(*worst)
}

// capNumbers is 41%>93%!: now, at the end, and a look when that is near.
func capNumbers(c view.CapRow) string {
	s := percent(capShare(c))
	if c.Forecast > 0 {
		s += ">" + percent(c.Forecast)
	}
	return s + capWord(c)
}

// noRun says what to press when nothing is loaded. Nothing else competes.
func (p *Picture) noRun(w, h int) []string {
	inner := widget.Inner(w)
	text := func(role themes.Role, s string) string { return p.Look.Text(role, s, inner) }
	rows := [][2]string{
		{"scrapetop run urls.txt", "starts one: a file with one URL a line, or CSV, JSONL, a sitemap"},
		{"scrapetop demo", "shows everything: no key, no network, made-up sites"},
		{"scrapetop resume", "continues the latest unfinished run"},
	}
	head := "No run is loaded. In the shell:"
	if p.Starts[0] != "" {
		head = "No run is loaded."
		rows = [][2]string{
			{p.Starts[0], "starts a run of URLs or of a file"},
			{p.Starts[1], "starts the demo: no network"},
		}
	}
	rows = append(rows, [2]string{p.Runs, "all runs of the database: their figures and results, run again, resume"})
	if w < 80 {
		lines := []string{text(themes.Text, head)}
		for _, r := range rows {
			line := r[0]
			if widget.Width(line) < 10 {
				line += "  " + r[1]
			}
			lines = append(lines, text(themes.Text, line))
		}
		return widget.Pane{Title: "scrapetop"}.Draw(p.Look, w, h, lines)
	}
	lines, lead := []string{"", text(themes.Text, head), ""}, 0
	for _, r := range rows {
		lead = max(lead, widget.Width(r[0])+3)
	}
	for _, r := range rows {
		lines = append(lines, p.Look.Line(inner).Fit(themes.Focus, r[0], lead, widget.Left).Text(themes.Text, r[1]).String())
	}
	return widget.Pane{Title: "scrapetop"}.Draw(p.Look, w, h, lines)
}
