package screen

import (
	"slices"
	"strings"
	"time"

	"dev.scrapetop/engine/view"
	"dev.scrapetop/themes"
	"dev.scrapetop/ui/widget"
)

// flightPane is a gauge for each domain: in flight against its ceiling, and what holds it.
func (p *Picture) flightPane(w, h int) []string {
	inner := widget.Inner(w)
	rows, first := p.List.window(p.Data, max(h-2, 0))
	lines := make([]string, 0, len(rows))
	name := min(max(inner-40, 14), 40)
	for i := range rows {
		r := &rows[i]
		l := p.Look.Line(inner)
		p.mark(l, first+i)
		p.state(l, r, p.Data.Names[first+i], 8)
		l.Fit(themes.Text, r.Domain, name, widget.Left).Gap(1)
		role := p.Look.Glyphs.State(string(r.State)).Role
		p.domainGauge(l, role, r, min(max(inner-name-28, 6), 16))
		l.Gap(1).Fit(themes.Text, ofLimit(r.InFlight, r.Limit), 7, widget.Right)
		note, noteRole := p.domainNote(r)
		if note != "" {
			l.Gap(2).Text(noteRole, note)
		}
		lines = append(lines, l.String())
	}
	if len(lines) == 0 {
		lines = append(lines, p.Look.Text(themes.Dim, p.noDomains(), inner))
	}
	note := p.List.sortWord(p.Look) + more(len(rows), p.Data.Frame.Domains.Matched)
	if w < 70 {
		note = strings.TrimPrefix(note, "sort: ")
	}
	return widget.Pane{
		Title: "In flight / limit by domain", Right: note, Focused: p.List.Pane == paneFlight,
	}.Draw(p.Look, w, h, lines)
}

// mark is the cursor and the tag before a row.
func (p *Picture) mark(l *widget.Line, i int) {
	name := p.Data.Names[i]
	if name == p.List.Selected {
		cursor, role := p.Look.Glyphs.Cursor, themes.Focus
		if p.List.Pane != paneFlight {
			cursor, role = p.Look.Glyphs.CursorAway, themes.Dim
		}
		l.Strong(true).Repeat(role, cursor, 1)
	} else {
		l.Strong(false).Gap(1)
	}
	if _, tagged := p.List.Tags[name]; tagged {
		l.Repeat(themes.Focus, p.Look.Glyphs.Tag, 1)
	} else {
		l.Gap(1)
	}
}

// state is a domain's state, or the wish that a frame has not confirmed yet.
func (p *Picture) state(l *widget.Line, r *view.DomainRow, name string, w int) {
	if wish := p.Wishes[name]; wish != "" {
		l.Fit(themes.Focus, shortWish(wish, w), w, widget.Left).Gap(1)
		return
	}
	l.State(string(r.State), w).Gap(1)
}

// domainGauge is in flight against the ceiling; where there is none there is nothing to measure against.
func (p *Picture) domainGauge(l *widget.Line, role themes.Role, r *view.DomainRow, w int) *widget.Line {
	if r.Limit <= 0 {
		return l.Gap(w)
	}
	return l.Gauge(role, r.InFlight, r.Limit, r.LimitWas, w)
}

func (p *Picture) noDomains() string {
	switch {
	case p.List.Filter != "" || p.List.Faults:
		return "no domain matches: Esc shows all"
	case p.Data.Frame.Run.Loading:
		return "reading the input"
	}
	return "no domains yet"
}

func more(shown, all int) string {
	if all <= shown {
		return ""
	}
	return "   " + widget.Count(int64(shown)) + " of " + widget.Count(int64(all))
}

// ofLimit is 12/16; without a limit the number alone.
func ofLimit(n, limit int) string {
	if limit <= 0 {
		return countIn(int64(n), 5)
	}
	s := countIn(int64(n), 4) + "/" + countIn(int64(limit), 4)
	return s
}

// domainNote is the one thing to know about a domain beside its gauge.
func (p *Picture) domainNote(r *view.DomainRow) (string, themes.Role) {
	switch {
	case r.State == view.StatePause:
		return "by you", themes.Pause
	case r.Until.After(p.Now):
		return until5(r.Until, p.Now), themes.Cool
	case r.LimitWas > r.Limit && r.Limit > 0:
		return "was " + countIn(int64(r.LimitWas), 4), themes.Warn
	case r.Limit > 0 && r.InFlight >= r.Limit && r.Queue > 0:
		return "FULL", themes.Warn
	}
	return "", themes.Text
}

// layersPane counts refusals by who said no. Zero is told as zero.
func (p *Picture) layersPane(w, h int) []string {
	f := p.Data.Frame
	inner := widget.Inner(w)
	trend := max(min(inner-30, 40), 4)
	lines := []string{
		p.Look.Line(inner).Strong(true).Fit(themes.Dim, "LAYER", 8, widget.Left).Fit(themes.Dim, "COUNT", 7, widget.Right).
			Fit(themes.Dim, "/MIN", 6, widget.Right).Gap(2).Fit(themes.Dim, "TREND, 15 min", trend, widget.Left).
			Fit(themes.Dim, "LAST", 6, widget.Right).String(),
	}
	var all, total int64
	var perMin float64
	for i := range f.Layers {
		r := &f.Layers[i]
		if r.Layer == "busy" {
			continue
		}
		all, total, perMin = add(all, r.Recent), add(total, r.Total), perMin+r.PerMin
		lines = append(lines, p.layer(r, inner, trend))
	}
	row := func(label string) *widget.Line { return p.Look.Line(inner).Fit(themes.Dim, label, 8, widget.Left) }
	lines = append(lines, row("all 429").Strong(true).Fit(refusals(all), countIn(all, 7), 7, widget.Right).Strong(false).
		Fit(themes.Text, rate(perMin), 6, widget.Right).Gap(2).
		Text(themes.Dim, countIn(total, 9)+" in the run, "+tenths(share(float64(total), float64(f.Counts.Requests)))+" of requests").String())
	for i := range f.Layers {
		if f.Layers[i].Layer == "busy" {
			lines = append(lines, p.layer(&f.Layers[i], inner, trend))
		}
	}
	lines = append(lines, row("held").Fit(themes.Text, countIn(f.Counts.Held, 7), 7, widget.Right).Gap(8).
		Text(themes.Dim, "waits by our own limits").String())
	return widget.Pane{Title: "429 by layer, last 15 min", Focused: p.List.Pane == paneLayers}.Draw(p.Look, w, h, lines)
}

func (p *Picture) layer(r *view.LayerRow, inner, trend int) string {
	last := widget.Unknown
	if !r.Last.IsZero() {
		last = since5(r.Last, p.Now)
	}
	l := p.Look.Line(inner).Fit(themes.Text, r.Layer, 8, widget.Left).Fit(refusals(r.Recent), countIn(r.Recent, 7), 7, widget.Right).
		Fit(themes.Text, rate(r.PerMin), 6, widget.Right).Gap(2)
	widget.Spark(l, refusals(r.Recent), r.Trend, trend, 0)
	return l.To(inner-6).Fit(themes.Text, last, 6, widget.Right).String()
}

// refusals are dim while there are none.
func refusals(n int64) themes.Role {
	if n > 0 {
		return themes.Warn
	}
	return themes.Dim
}

// add sums without running over.
func add(a, b int64) int64 {
	if s := a + b; s >= a || b < 0 {
		return s
	}
	return a
}

// cooldownsPane are the waits in force, who wakes next first.
func (p *Picture) cooldownsPane(w, h int) []string {
	inner := widget.Inner(w)
	active := p.active()
	// The names take what they need, so that the reasons have the rest.
	name := 10
	for _, c := range active[:min(len(active), max(h, 0))] {
		name = max(name, widget.Width(cooldownName(c)))
	}
	name = min(name, max(inner-28, 10))
	lines := []string{
		p.Look.Line(inner).Strong(true).Fit(themes.Dim, "KEY", name, widget.Left).Gap(1).Fit(themes.Dim, "LEFT", 5, widget.Right).Gap(1).
			Fit(themes.Dim, "OF", 5, widget.Right).Gap(1).Text(themes.Dim, "WHY").String(),
	}
	if len(active) == 0 {
		lines[0] = p.Look.Text(themes.Dim, "none active", inner)
	}
	all := p.cooling(active)
	room := max(h-2-len(lines), 0)
	cut := all > room
	if cut {
		room = max(room-1, 0)
	}
	for _, c := range active[:min(room, len(active))] {
		l := p.Look.Line(inner)
		l.Fit(themes.Text, cooldownName(c), name, widget.Left).Gap(1)
		l.Strong(true).Fit(themes.Cool, until5(c.Until, p.Now), 5, widget.Right).Strong(false).Gap(1)
		l.Fit(themes.Dim, widget.ShortClock(wholeWait(c.Full)), 5, widget.Right).Gap(1)
		if bar := min(inner-name-13-20, 12); bar >= 4 {
			l.Passed(passed(c.Until, p.Now, c.Full), bar).Gap(1)
		}
		l.Text(themes.Text, c.Cause)
		lines = append(lines, l.String())
	}
	if cut {
		lines = append(lines, p.Look.Text(themes.Dim, "and "+widget.Thousands(int64(all-min(room, len(active))))+" more: 2 Domains shows them", inner))
	}
	return widget.Pane{Title: "Cooldowns", Right: widget.Thousands(int64(all)) + " active", Focused: p.List.Pane == paneCooldowns}.Draw(p.Look, w, h, lines)
}

// active are the cooldowns whose deadline has not passed on the picture's clock.
func (p *Picture) active() []view.CooldownRow {
	return slices.DeleteFunc(slices.Clone(p.Data.Frame.Cooldowns), func(c view.CooldownRow) bool { return !c.Until.After(p.Now) })
}

// cooling is how many cooldowns are active in all: a frame holds only those that end first.
func (p *Picture) cooling(active []view.CooldownRow) int {
	f := p.Data.Frame
	return len(active) + max(f.Cooling-len(f.Cooldowns), 0)
}

// cooldownName is the key, with its scope where that is no domain.
func cooldownName(c view.CooldownRow) string {
	if c.Scope == "domain" || c.Scope == "" {
		return c.Key
	}
	return c.Scope + " " + c.Key
}

// capacityPane is what is left as last reported: credentials, accounts and tenants first, then the domains that have least.
func (p *Picture) capacityPane(w, h int) []string {
	inner := widget.Inner(w)
	name := min(max(inner-26, 8), 40)
	lines := make([]string, 0, max(h, 0))
	all, budgets := p.capacities(p.Data.Frame.Budgets, max(h-2, 1)), len(p.Data.Frame.Budgets)
	room, first, cursor := max(h-2, 0), 0, -1
	if budgets > room {
		room = max(room-1, 0)
	}
	if p.List.OnBudgets(p.Data, Overview) {
		cursor = p.List.budget(p.Data)
		first = max(cursor-room+1, 0)
	}
	shown := all[first:min(first+room, len(all))]
	for i, c := range shown {
		l := p.Look.Line(inner)
		if budgets > 0 {
			if first+i == cursor {
				l.Strong(true).Repeat(themes.Focus, p.Look.Glyphs.Cursor, 1).Gap(1)
			} else {
				l.Gap(2)
			}
		}
		l.Fit(themes.Text, c.name, max(name-l.Cells(), 0), widget.Left).Gap(1)
		l.Fit(c.role, c.value, 12, widget.Right).Gap(1)
		l.Text(themes.Dim, c.note)
		lines = append(lines, l.String())
	}
	if more := budgets - len(shown); more > 0 {
		lines = append(lines, p.Look.Text(themes.Dim, "and "+widget.Thousands(int64(more))+" more: z on this pane shows them", inner))
	}
	if len(lines) == 0 {
		lines = append(lines, p.Look.Text(themes.Dim, p.nothingTold(), inner))
	}
	pane := widget.Pane{Title: "Remaining, as last reported", Focused: p.List.Pane == paneCapacity}
	if cursor >= 0 {
		pane.Right = "p: pause"
		if act, _ := p.ProbeBudget(); act.Why == "" {
			pane.Right = "r: probe" // both do not fit; p is in the footer too
		}
	}
	return pane.Draw(p.Look, w, h, lines)
}

// capacity is one reported number.
type capacity struct {
	name, value, note string
	role              themes.Role
}

// nothingTold says why no report is shown: no answer yet, or answers without any.
func (p *Picture) nothingTold() string {
	if slices.ContainsFunc(p.Data.Frame.Domains.Rows, func(r view.DomainRow) bool { return r.Remaining.Asked }) {
		return "no header has told a limit"
	}
	return "nothing reported yet"
}

// capacities are the budgets, and after them the scarcest of the domains that told a limit: n of them in all, or all
// budgets where those are more.
func (p *Picture) capacities(budgets []view.BudgetRow, n int) []capacity {
	var out []capacity
	for i := range budgets {
		out = append(out, p.budget(&budgets[i]))
	}
	if len(out) >= n {
		return out
	}
	rows := slices.Clone(p.Data.Frame.Domains.Rows)
	rows = slices.DeleteFunc(rows, func(r view.DomainRow) bool { return !r.Remaining.Known })
	slices.SortStableFunc(rows, func(a, b view.DomainRow) int { return scarce(a.Remaining).compare(scarce(b.Remaining)) })
	for i := range rows[:min(len(rows), n-len(out))] {
		r := &rows[i]
		out = append(out, capacity{name: r.Domain, value: remaining(r.Remaining, 11) + lowMark(r.Remaining), note: p.reportAge(r.Remaining), role: lowRole(r.Remaining)})
	}
	return out
}

// budget tells a credential, an account or another shared budget: why it does not start anything, or else what is free of
// its slots or left of its window with the age of that report, or else what it has in flight.
func (p *Picture) budget(b *view.BudgetRow) capacity {
	c := capacity{name: b.Key, role: themes.Text}
	if b.Scope != "credential" {
		c.name = b.Scope + " " + b.Key
	}
	r := b.Remaining
	switch {
	case b.Stopped != "":
		c.value, c.note, c.role = "STOPPED", b.Stopped, themes.Bad
		return c
	case !r.Known && b.Limit > 0:
		c.value = ofLimit(b.InFlight, b.Limit) + " busy"
	case !r.Known:
		c.value = countIn(int64(b.InFlight), 6) + " busy"
	case r.Kind == "concurrency":
		c.value, c.note, c.role = remaining(r, 7)+" free", p.reportAge(r), lowRole(r)
	default:
		c.value, c.note, c.role = remaining(r, 7)+lowMark(r)+" left", p.reportAge(r), lowRole(r)
	}
	switch {
	case b.State == view.StatePause:
		c.note, c.role = "paused by you", themes.Pause
	case b.Until.After(p.Now):
		c.note, c.role = "cools "+until5(b.Until, p.Now), themes.Cool
	case r.Known && r.ResetAt.After(p.Now) && r.Remaining == 0:
		c.note = "resets " + until5(r.ResetAt, p.Now)
	}
	return c
}

// budgetsLine is the credentials and accounts of a platform run in one line: what is free, how old that is, what cools.
func (p *Picture) budgetsLine(w int) string {
	l := p.Look.Line(w)
	if w >= 80 {
		l.Gap(1)
	}
	for i := range p.Data.Frame.Budgets {
		c := p.budget(&p.Data.Frame.Budgets[i])
		item := c.name + " " + c.value
		if c.note != "" {
			item += " " + c.note
		}
		if rest := "+" + widget.Count(int64(len(p.Data.Frame.Budgets)-i)); i > 0 && l.Room() < widget.Width(item)+len(rest)+2 {
			return l.Right(themes.Dim, rest+" ").String()
		}
		l.Text(c.role, item).Gap(3)
	}
	return l.String()
}

func lowMark(r view.Remaining) string {
	if low(r) {
		return "!"
	}
	return ""
}

func lowRole(r view.Remaining) themes.Role {
	switch {
	case !r.Known:
		return themes.Dim
	case low(r):
		return themes.Warn
	}
	return themes.Text
}

// reportAge is how old a reported value is; one that is older than its window says so.
func (p *Picture) reportAge(r view.Remaining) string {
	if !r.Known {
		return ""
	}
	a := widget.Age(p.Now.Sub(r.At))
	if stale(r, p.Now) {
		return p.Look.Glyphs.Stale + a + " old"
	}
	return a + " ago"
}

// scarcity orders reports: the smallest share left first, those without a limit behind them, those without a value last.
type scarcity struct {
	class int
	share float64
}

func scarce(r view.Remaining) scarcity {
	switch {
	case !r.Known:
		return scarcity{class: 2}
	case !r.HasLimit:
		return scarcity{class: 1, share: float64(r.Remaining)}
	}
	return scarcity{share: share(float64(r.Remaining), float64(r.Limit))}
}

func (a scarcity) compare(b scarcity) int {
	switch {
	case a.class != b.class:
		return a.class - b.class
	case a.share < b.share:
		return -1
	case a.share > b.share:
		return 1
	}
	return 0
}

// clockOf is the time of day of an instant in the picture's zone.
func (p *Picture) clockOf(t time.Time) string { return t.In(p.Now.Location()).Format(time.TimeOnly) }
