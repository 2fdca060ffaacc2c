package screen

import (
	"slices"
	"strings"

	"dev.scrapetop/engine/view"
	"dev.scrapetop/themes"
	"dev.scrapetop/ui/widget"
)

// domainParts is how the body of the Budgets screen is shared while it shows domains.
type domainParts struct {
	head   int // lines above the table: what is filtered
	table  int // rows of the table
	detail int // height of the detail pane; zero: none
	foot   int // lines below
}

func domainShare(class Class, body int, detail, budgets bool) domainParts {
	var s domainParts
	switch class {
	case Full:
		s.head = 1
		if detail {
			s.detail = 13 + (body-32)/3
		}
		if budgets {
			s.head++
		}
		s.table = body - s.head - s.detail - 3 // border and heading
	case Standard:
		s.foot = 1
		if budgets {
			s.foot++
		}
		if detail {
			s.detail = 7 + (body-20)/3
		}
		s.table = body - s.detail - s.foot - 1
	default:
		s.foot = 1
		s.table = body - s.foot - 1
	}
	return s
}

func (p *Picture) domains(class Class, w, h int) []string {
	switch {
	case p.List.Zoomed && p.List.Pane == 1:
		return p.detailPane(w, h, true)
	case p.List.Zoomed && p.List.Pane == 2:
		return p.limitsPane(w, h, true)
	}
	budgets := len(p.told()) > 0
	s := domainShare(class, h, !p.List.NoDetail && !p.List.Zoomed, budgets)
	var lines []string
	switch class {
	case Full:
		lines = append(lines, p.filterLine(w))
		if budgets {
			lines = append(lines, p.budgetsLine(p.Look.Line(w).Gap(1)))
		}
		t := p.table(s.table)
		lines = append(lines, widget.Pane{
			Title: "Domains", Right: p.tableNote(), Focused: p.List.Pane == 0,
			Bottom: "* tagged   ! low   ~ old value",
		}.Draw(p.Look, w, s.table+3, t.Draw(p.Look, widget.Inner(w), s.table+1))...)
		if s.detail > 0 {
			left := w / 2
			lines = append(lines, beside(p.detailPane(left, s.detail, p.List.Pane == 1), p.limitsPane(w-left, s.detail, p.List.Pane == 2))...)
		}
	case Standard:
		t := p.table(s.table)
		lines = append(lines, t.Draw(p.Look, w, s.table+1)...)
		if s.detail > 0 {
			lines = append(lines, p.detailStandard(w, s.detail)...)
		}
		l := p.Look.Line(w).Gap(1).Text(themes.Dim, "scope: ").Text(themes.Focus, scopeDomain).Text(themes.Dim, " (B)   "+p.tableNote())
		if p.List.Filter != "" {
			l.Text(themes.Focus, "   filter: "+p.List.Filter)
		}
		if legend := "* tagged  ! low  ~ old "; l.Room() > len(legend) {
			l.Right(themes.Dim, legend)
		}
		lines = append(lines, l.String())
		if budgets {
			lines = append(lines, p.budgetsLine(p.Look.Line(w).Gap(1)))
		}
	default:
		t := p.table(s.table)
		lines = t.Draw(p.Look, w, s.table+1)
		l := p.Look.Line(w).Text(themes.Focus, scopeDomain).Text(themes.Dim, " (B)").Gap(2)
		if budgets {
			lines = append(lines, p.budgetsLine(l))
		} else {
			lines = append(lines, l.Text(themes.Dim, p.tableNote()).String())
		}
	}
	return lines
}

func (p *Picture) filterLine(w int) string {
	filter, role := "none (/)", themes.Text
	if p.List.Filter != "" {
		filter, role = p.List.Filter+" (Esc: none)", themes.Focus
	}
	onOff := func(on bool) string {
		if on {
			return "on"
		}
		return "off"
	}
	columns := "usual"
	if p.List.Wide {
		columns = "wide"
	}
	rest := "faults only: " + onOff(p.List.Faults) + " (!)   columns: " + columns + " (w)   detail: " + onOff(!p.List.NoDetail) + " (|)"
	l := p.Look.Line(w).Gap(1).Text(themes.Dim, "scope: ").Text(themes.Focus, scopeDomain).Text(themes.Dim, " (B)   filter: ")
	return l.Text(role, widget.Truncate(filter, max(l.Room()-widget.Width(rest)-4, 1))).Gap(3).Text(themes.Dim, rest).String()
}

// tableNote is how many rows match and are tagged, and the order.
func (p *Picture) tableNote() string {
	f := p.Data.Frame
	s := widget.Thousands(int64(f.Domains.Matched)) + " of " + widget.Thousands(int64(f.Domains.Total))
	if n := len(p.List.Tags); n > 0 {
		s += "   " + widget.Thousands(int64(n)) + " tagged"
	}
	if p.List.Faults {
		s += "   faults only"
	}
	s += "   " + p.List.sortWord(p.Look)
	if p.List.Held {
		s += ", held"
	}
	return s
}

// columns are the columns of the table; those of a higher rank leave first when it gets narrow.
var columns = []widget.Column{
	{Key: string(view.SortAttention), Title: "STATE", Min: 7, Max: 11, Weight: 6},
	{Key: string(view.SortDomain), Title: "DOMAIN", Min: 15, Max: 60, Weight: 8},
	{Key: string(view.SortInFlight), Title: "IN FLIGHT", Min: 10, Max: 24, Weight: 3, Rank: 1, Align: widget.Right},
	{Key: string(view.SortRemaining), Title: "REMAINING", Min: 10, Max: 16, Weight: 2, Rank: 2, Align: widget.Right},
	{Key: string(view.SortReset), Title: "RESET", Min: 5, Rank: 9, Align: widget.Right},
	{Key: string(view.SortCooldown), Title: "COOL", Min: 5, Max: 8, Weight: 1, Rank: 3, Align: widget.Right},
	{Key: string(view.Sort429), Title: "429", Min: 4, Max: 7, Weight: 1, Rank: 4, Align: widget.Right},
	{Title: "TREND", Min: 5, Max: 24, Weight: 4, Rank: 7},
	{Key: string(view.SortRate), Title: "OK/MIN", Min: 6, Max: 8, Rank: 8, Align: widget.Right},
	{Key: string(view.SortQueue), Title: "QUEUE", Min: 6, Max: 11, Weight: 1, Rank: 5, Align: widget.Right},
	{Key: string(view.SortOldest), Title: "OLDEST", Min: 6, Rank: 6, Align: widget.Right},
	{Key: string(view.SortETA), Title: "ETA", Min: 6, Rank: 10, Align: widget.Right},
}

// compactColumns are the same for terminals under 80 cells: what holds a domain goes before what is left.
var compactColumns = func() []widget.Column {
	c := slices.Clone(columns)
	c[1].Min, c[2].Min, c[2].Title = 12, 5, "N/MAX"
	c[3].Rank, c[5].Rank, c[6].Rank = 4, 2, 3
	return c
}()

// wideColumns come with the wide set.
var wideColumns = []widget.Column{
	{Key: string(view.SortAccepted), Title: "ACCEPTED", Min: 8, Max: 11, Rank: 12, Weight: 1, Align: widget.Right},
	{Key: string(view.SortDead), Title: "DEAD", Min: 5, Max: 9, Rank: 13, Align: widget.Right},
	{Key: string(view.SortAll429), Title: "429 ALL", Min: 7, Rank: 14, Align: widget.Right},
	{Key: string(view.SortAnswer), Title: "LAST ANSWER", Min: 14, Max: 40, Weight: 4, Rank: 11},
}

// fixedColumns stay at the left when the columns are scrolled.
const fixedColumns = 2

// Shifts is how far the columns can be scrolled.
func (s *List) Shifts() int {
	n := len(columns) - fixedColumns - 1
	if s.Wide {
		n += len(wideColumns)
	}
	return n
}

// table is the part of the table of domains that is in sight.
func (p *Picture) table(rows int) widget.Table {
	s := p.List
	cols := columns
	if p.W < 80 {
		cols = compactColumns
	}
	if s.Wide {
		cols = append(cols[:len(cols):len(cols)], wideColumns...)
	}
	shift := min(s.Shift, s.Shifts())
	if shift > 0 {
		cols = append(cols[:fixedColumns:fixedColumns], cols[fixedColumns+shift:]...)
	}
	t := widget.Table{
		Columns: cols, Sort: string(s.sorted()), Down: s.down(),
		Focused: s.Pane == 0, Empty: p.noDomains(),
	}
	window, first := s.window(p.Data, rows)
	t.Rows = make([]widget.Row, 0, len(window))
	for i := range window {
		name := p.Data.Names[first+i]
		cells := p.cells(&window[i], name)
		if shift > 0 {
			cells = append(cells[:fixedColumns:fixedColumns], cells[fixedColumns+shift:]...)
		}
		_, tagged := s.Tags[name]
		t.Rows = append(t.Rows, widget.Row{Cells: cells, Selected: name == s.Selected, Tagged: tagged})
	}
	return t
}

func (p *Picture) cells(r *view.DomainRow, name string) []widget.Cell {
	role := p.Look.Glyphs.State(string(r.State)).Role
	cells := make([]widget.Cell, 0, len(columns)+len(wideColumns))
	text := func(role themes.Role, s string) { cells = append(cells, widget.Cell{Role: role, Text: s}) }
	draw := func(f func(l *widget.Line, w int)) { cells = append(cells, widget.Cell{Draw: f}) }

	if wish := p.Wishes[name]; wish != "" {
		draw(func(l *widget.Line, w int) { l.Text(themes.Focus, shortWish(wish, w)) })
	} else {
		draw(func(l *widget.Line, w int) { l.State(string(r.State), w) })
	}
	text(themes.Text, r.Domain)
	draw(func(l *widget.Line, w int) {
		s := ofLimit(r.InFlight, r.Limit)
		n := max(len(s), 5) + 1
		p.domainGauge(l, role, r, max(w-n, 0)).Fit(themes.Text, s, min(n, w), widget.Right)
	})
	draw(func(l *widget.Line, w int) { p.remainingCell(l, r.Remaining, w) })
	text(themes.Text, p.reset(r.Remaining))
	if r.Until.After(p.Now) {
		text(themes.Cool, until5(r.Until, p.Now))
	} else {
		text(themes.Dim, widget.Unknown)
	}
	text(refusals(r.Recent429), countIn(r.Recent429, 4))
	draw(func(l *widget.Line, w int) { widget.Spark(l, refusals(r.Recent429), r.Trend, w, 0) })
	text(themes.Text, rate(r.OKPerMin))
	text(themes.Text, countIn(r.Queue, 6))
	if r.Oldest.IsZero() {
		text(themes.Dim, widget.Unknown)
	} else {
		text(themes.Text, since5(r.Oldest, p.Now))
	}
	text(themes.Text, estimate(r.ETA))
	if p.List.Wide {
		text(themes.Text, countIn(r.Accepted, 8))
		text(themes.Text, countIn(r.Dead, 5))
		text(themes.Text, countIn(r.Total429, 7))
		last := r.LastText
		if last == "" {
			last = widget.Unknown
		}
		text(themes.Dim, last)
	}
	return cells
}

// shortWish leaves the dots of a wish out where they do not fit.
func shortWish(wish string, w int) string {
	if widget.Width(wish) > w {
		return strings.TrimSuffix(wish, "...")
	}
	return wish
}

// remainingCell is the last report with what is to be known about it in signs: ! little is left, ~ it is old.
func (p *Picture) remainingCell(l *widget.Line, r view.Remaining, w int) {
	marks := lowMark(r)
	if stale(r, p.Now) {
		marks += p.Look.Glyphs.Stale
		if long := marks + widget.Age(p.Now.Sub(r.At)); w >= 14 {
			marks = long
		}
	}
	l.Fit(lowRole(r), remaining(r, w-len(marks))+marks, w, widget.Right)
}

// reset is the time to the moment that the window opens again, as the header told.
func (p *Picture) reset(r view.Remaining) string {
	if !r.Known || !r.ResetAt.After(p.Now) {
		return widget.Unknown
	}
	return until5(r.ResetAt, p.Now)
}

// selected is the row under the cursor, nil when it is not in the data.
func (p *Picture) selected() *view.DomainRow {
	for i, name := range p.Data.Names {
		if name == p.List.Selected {
			return &p.Data.Frame.Domains.Rows[i]
		}
	}
	return nil
}
