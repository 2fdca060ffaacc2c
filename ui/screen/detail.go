package screen

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"dev.scrapetop/engine/view"
	"dev.scrapetop/themes"
	"dev.scrapetop/ui/widget"
)

// detail is what a frame tells about the domain under the cursor: nil until a frame answered for it.
func (p *Picture) detail() *view.DomainDetail {
	r := p.selected()
	if d := p.Data.Frame.Detail; d != nil && r != nil && d.Domain == r.Domain {
		return d
	}
	return nil
}

// detailPane says in words what the row says in signs: since when, how long still, why, what comes after.
func (p *Picture) detailPane(w, h int, focused bool) []string {
	r := p.selected()
	inner := widget.Inner(w)
	if r == nil {
		return widget.Pane{Title: "Detail", Focused: focused}.Draw(p.Look, w, h, []string{p.Look.Text(themes.Dim, "no domain is selected", inner)})
	}
	d := p.detail()
	row := func(label string) *widget.Line { return p.Look.Line(inner).Fit(themes.Dim, label, 12, widget.Left) }
	lines := []string{p.stateLine(row("state"), r, d).String()}
	if r.Until.After(p.Now) {
		lines = append(lines, p.countdown(row("countdown"), r, 20).String(), row("reason").Text(themes.Text, orUnknown(r.Cause)).String())
	}
	if d != nil && d.Next != "" {
		for i, line := range strings.Split(ansi.Wrap(nextWords(d), max(inner-12, 1), ""), "\n") {
			label := ""
			if i == 0 {
				label = p.nextLabel(r)
			}
			lines = append(lines, row(label).Text(themes.Text, line).String())
		}
	}
	lines = append(lines, p.remainingLine(row("remaining"), r).String())
	lines = append(lines, row("tasks").Text(themes.Text, countIn(r.Queue, 9)+" waiting   "+countIn(r.Accepted, 9)+" accepted   "+
		countIn(r.Dead, 9)+" dead").String())
	lines = append(lines, p.lastLine(row("last answer"), r).String())
	if d != nil {
		lines = append(lines, row("politeness").Text(themes.Text, politeness(d)).String())
		lines = append(lines, p.headerLines(d, inner)...)
	}
	return widget.Pane{Title: r.Domain, Focused: focused}.Draw(p.Look, w, h, lines)
}

// nextLabel says of which time DomainDetail.Next speaks: while something is waited for it is what comes then.
func (p *Picture) nextLabel(r *view.DomainRow) string {
	if r.Until.After(p.Now) {
		return "after this"
	}
	return "now"
}

func nextWords(d *view.DomainDetail) string { return strings.TrimPrefix(d.Next, "then ") }

func orUnknown(s string) string {
	if s == "" {
		return widget.Unknown
	}
	return s
}

func (p *Picture) stateLine(l *widget.Line, r *view.DomainRow, d *view.DomainDetail) *widget.Line {
	m := p.Look.Glyphs.State(string(r.State))
	l.Strong(true).Text(m.Role, m.Glyph+" "+m.Word).Strong(false)
	if wish := p.Wishes[p.List.Selected]; wish != "" {
		l.Text(themes.Focus, ", "+wish)
	}
	if r.State == view.StatePause && !r.Paused.IsZero() {
		l.Text(themes.Text, " by you since "+p.clockOf(r.Paused))
	} else if d != nil && !d.Since.IsZero() {
		l.Text(themes.Text, " since "+p.clockOf(d.Since))
	}
	if r.Until.After(p.Now) {
		l.Text(themes.Text, ", wakes "+p.clockOf(r.Until))
	}
	return l
}

func (p *Picture) countdown(l *widget.Line, r *view.DomainRow, bar int) *widget.Line {
	l.Strong(true).Text(themes.Cool, until(r.Until, p.Now)).Strong(false)
	l.Text(themes.Text, " of "+widget.Clock(wholeWait(r.Full))+"  ")
	return l.Passed(passed(r.Until, p.Now, r.Full), bar)
}

// remainingLine is the last report in words, with its age.
func (p *Picture) remainingLine(l *widget.Line, r *view.DomainRow) *widget.Line {
	m := r.Remaining
	switch {
	case !m.Known && m.Asked:
		return l.Text(themes.Dim, "no header: the site never told a limit")
	case !m.Known:
		return l.Text(themes.Dim, "- no answer yet")
	}
	l.Text(lowRole(m), countIn(m.Remaining, 11))
	if m.HasLimit {
		l.Text(themes.Text, " of "+countIn(m.Limit, 11))
	}
	if m.ResetAt.After(p.Now) {
		l.Text(themes.Text, ", resets in "+until5(m.ResetAt, p.Now))
	}
	return l.Text(themes.Dim, " ("+p.reportAge(m)+")")
}

func (p *Picture) lastLine(l *widget.Line, r *view.DomainRow) *widget.Line {
	if r.LastAt.IsZero() {
		return l.Text(themes.Dim, "- none yet")
	}
	return l.Text(themes.Text, orUnknown(r.LastText)).Text(themes.Dim, ", "+widget.Age(p.Now.Sub(r.LastAt))+" ago")
}

func politeness(d *view.DomainDetail) string {
	robots := "robots.txt " + orUnknown(d.Robots)
	if d.CrawlDelay > 0 {
		return robots + ", crawl-delay " + widget.Seconds(min(d.CrawlDelay, longest))
	}
	return robots
}

// headerLines are the limit headers of the last answer as they came.
func (p *Picture) headerLines(d *view.DomainDetail, inner int) []string {
	if len(p.Data.Headers) == 0 {
		return nil
	}
	title := "headers of the last answer"
	if !d.HeadersAt.IsZero() {
		title += ", " + widget.Age(p.Now.Sub(d.HeadersAt)) + " ago"
	}
	lines := []string{p.Look.Text(themes.Dim, title, inner)}
	for _, name := range p.Data.Headers {
		lines = append(lines, p.Look.Line(inner).Gap(2).Fit(themes.Text, name, 24, widget.Left).Gap(1).Text(themes.Text, d.Headers[name]).String())
	}
	return lines
}

// limitsPane is the ceiling over time and the refusals of the domain by layer: the staircase shows whether we probe too
// hard.
func (p *Picture) limitsPane(w, h int, focused bool) []string {
	inner := widget.Inner(w)
	pane := widget.Pane{Title: "Limits and 429s", Focused: focused}
	d := p.detail()
	if d == nil {
		return pane.Draw(p.Look, w, h, []string{p.Look.Text(themes.Dim, "nothing told yet", inner)})
	}
	var lines []string
	if values := p.ceilings(d); len(values) > 0 {
		title := "ceiling in flight"
		if d.Limits.Bin > 0 {
			title += ", " + widget.Estimate(min(d.Limits.Bin, longest)) + " a column, the last is now"
		}
		lines = append(lines, p.Look.Text(themes.Dim, title, inner))
		top := 0.0
		for _, v := range values {
			top = max(top, v)
		}
		c := widget.Chart{Role: themes.Cool, Values: values, Top: widget.RoundMax(top, 0)}
		lines = append(lines, c.Draw(p.Look, inner, max(h-2-3-len(d.Layers), 4))...)
		// The chart has no labels, so its last line is free.
		lines = lines[:len(lines)-1]
	}
	if len(d.Layers) == 0 {
		lines = append(lines, p.Look.Text(themes.Dim, "no 429 in the run", inner))
	}
	trend := max(min(inner-32, 24), 4)
	if len(d.Layers) > 0 {
		lines = append(lines, p.Look.Line(inner).Strong(true).Fit(themes.Dim, "LAYER", 9, widget.Left).Fit(themes.Dim, "15 MIN", 7, widget.Right).
			Fit(themes.Dim, "RUN", 8, widget.Right).Gap(2).Fit(themes.Dim, "TREND", trend, widget.Left).Fit(themes.Dim, "LAST", 6, widget.Right).String())
	}
	for i := range d.Layers {
		r := &d.Layers[i]
		last := widget.Unknown
		if !r.Last.IsZero() {
			last = since5(r.Last, p.Now)
		}
		l := p.Look.Line(inner).Fit(themes.Text, r.Layer, 9, widget.Left).Fit(refusals(r.Recent), countIn(r.Recent, 7), 7, widget.Right).
			Fit(themes.Text, countIn(r.Total, 8), 8, widget.Right).Gap(2)
		widget.Spark(l, refusals(r.Recent), r.Trend, trend, 0)
		lines = append(lines, l.To(inner-6).Fit(themes.Text, last, 6, widget.Right).String())
	}
	for _, n := range d.Notes {
		lines = append(lines, p.Look.Text(themes.Dim, n, inner))
	}
	return pane.Draw(p.Look, w, h, lines)
}

// ceilings are the ceiling of the selected domain over time: from its first, the closed bins and the one that is not yet.
func (p *Picture) ceilings(d *view.DomainDetail) []float64 {
	values := d.Limits.Values
	for len(values) > 0 && values[0] < 0 {
		values = values[1:]
	}
	r := p.selected()
	if r == nil || r.Limit <= 0 && len(values) == 0 {
		return values
	}
	now := -1.0
	if r.Limit > 0 {
		now = float64(r.Limit)
	}
	return append(values[:len(values):len(values)], now)
}

// detailStandard is the detail in five lines.
func (p *Picture) detailStandard(w, h int) []string {
	inner := widget.Inner(w)
	r := p.selected()
	if r == nil {
		return widget.Pane{Title: "Detail"}.Draw(p.Look, w, h, []string{p.Look.Text(themes.Dim, "no domain is selected", inner)})
	}
	d := p.detail()
	l := p.stateLine(p.Look.Line(inner), r, d)
	lines := []string{l.String()}
	if r.Until.After(p.Now) {
		lines = append(lines, p.countdown(p.Look.Line(inner), r, 16).Text(themes.Text, "  "+r.Cause).String())
	}
	lines = append(lines, p.remainingLine(p.Look.Line(inner).Text(themes.Dim, "remaining "), r).String())
	if d != nil {
		var words []string
		for i := range d.Layers {
			words = append(words, d.Layers[i].Layer+" "+countIn(d.Layers[i].Total, 7))
		}
		if len(words) == 0 {
			words = []string{"none"}
		}
		lines = append(lines, p.Look.Line(inner).Text(themes.Dim, "429 in the run: ").Text(themes.Text, strings.Join(words, "  ")+"   "+politeness(d)).String())
		if d.Next != "" {
			lines = append(lines, p.Look.Line(inner).Text(themes.Dim, p.nextLabel(r)+": ").Text(themes.Text, nextWords(d)).String())
		}
	}
	lines = append(lines, p.lastLine(p.Look.Line(inner).Text(themes.Dim, "last answer "), r).String())
	return widget.Pane{Title: r.Domain}.Draw(p.Look, w, h, lines)
}
