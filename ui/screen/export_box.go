package screen

import (
	"dev.scrapetop/themes"
	"dev.scrapetop/ui/widget"
)

// formLabel is the cells of a field's name.
const formLabel = 9

// Box draws the dialog; of fields that do not fit, those around the focus are in sight.
func (f *ExportForm) Box(look *widget.Look, w, h int) []string {
	width := min(w, 84)
	inner := widget.Inner(width)
	if f.Choosing {
		return f.chooser(look, min(w, 44), h)
	}
	var lines []string
	at := 0
	add := func(field int, line *widget.Line) {
		if field == f.Focus {
			at = len(lines)
		}
		lines = append(lines, line.String())
	}
	label := func(field int, name string) *widget.Line {
		l := look.Line(inner)
		if field == f.Focus {
			return l.Strong(true).Repeat(themes.Focus, look.Glyphs.Cursor, 1).Gap(1).Fit(themes.Focus, name, formLabel, widget.Left).Strong(false)
		}
		return l.Gap(2).Fit(themes.Dim, name, formLabel, widget.Left)
	}
	what := make([]string, len(exported))
	for i, s := range exported {
		if what[i] = s; f.Counts[i] >= 0 && f.whole() {
			what[i] += " " + countIn(f.Counts[i], 9)
		}
	}
	add(FieldWhat, f.options(label(FieldWhat, "What"), what, f.What))
	one := 0
	if f.All {
		one = 1
	}
	add(FieldRun, f.options(label(FieldRun, "Run"), []string{runNumber(f.Run) + " " + widget.Truncate(f.Name, 20), "all runs"}, one))
	scopes, chosen := make([]string, len(f.Scopes)), 0
	for i, s := range f.Scopes {
		if scopes[i] = widget.Truncate(s.Words, 40); s == f.scope() {
			chosen = i
		}
	}
	add(FieldScope, f.options(label(FieldScope, "Which"), scopes, chosen))
	add(FieldFormat, f.options(label(FieldFormat, "Format"), formats, f.Format))
	all, left := f.columns()
	columns := "all " + widget.Thousands(int64(len(all)))
	if left > 0 {
		columns = widget.Thousands(int64(len(all)-left)) + " of " + widget.Thousands(int64(len(all)))
	}
	add(FieldColumns, label(FieldColumns, "Columns").Text(themes.Text, columns).Text(themes.Dim, "   Enter: choose"))
	path := label(FieldPath, "To")
	if f.Focus == FieldPath && !f.Writing {
		// The end of a long path stays in sight: that is where the typing is.
		room := path.Room() - 1
		path.Text(themes.Text, lastCells(f.Before, room)).Text(themes.Focus, "_").Text(themes.Text, f.Behind)
	} else {
		path.Text(themes.Text, lastCells(f.Before+f.Behind, path.Room()))
	}
	add(FieldPath, path)
	roomy := h >= len(lines)+6
	if roomy {
		lines = append(lines, look.Text(themes.Dim, f.about(), inner))
	}
	buttons := [2]string{"Export", "Cancel"}
	hint := "Esc: cancel"
	switch {
	case f.Writing:
		buttons, hint = [2]string{"In the background", "Stop"}, ""
		lines = append(lines, f.progress(look, inner))
		at = len(lines)
	case f.Fault != "":
		lines = append(lines, look.Text(themes.Bad, f.Fault, inner))
	}
	if roomy {
		lines = append(lines, widget.Blank(inner))
	}
	b := look.Line(inner)
	for i, s := range buttons {
		if f.Focus == FieldExport+i {
			at = len(lines)
			b.Strong(true).Repeat(themes.Focus, look.Glyphs.Cursor, 1).Gap(1).Text(themes.Focus, "["+s+"]").Strong(false).Gap(2)
		} else {
			b.Gap(2).Text(themes.Text, "["+s+"]").Gap(2)
		}
	}
	if b.Room() > len(hint) {
		b.Right(themes.Dim, hint)
	}
	lines = append(lines, b.String())
	rows := max(h-2, 1)
	first := max(min(at-rows/2, len(lines)-rows), 0)
	lines = lines[first:min(first+rows, len(lines))]
	return widget.Pane{Title: "Export", Focused: true}.Draw(look, width, min(len(lines)+2, h), lines)
}

// lastCells is the end of s in at most n cells.
func lastCells(s string, n int) string {
	for widget.Width(s) > max(n, 0) {
		s = string([]rune(s)[1:])
	}
	return s
}

// about says what a form means for those who read the file.
func (f *ExportForm) about() string {
	switch formats[f.Format] {
	case "csv":
		return "           a heading line; cells that a spreadsheet would run are written inert"
	case "json":
		return "           one array of objects"
	}
	return "           one object a line; written beside, then named: no half file"
}

// options are what a field offers, the chosen one marked; only that one where there is no room for all.
func (f *ExportForm) options(l *widget.Line, words []string, chosen int) *widget.Line {
	need, gap := -1, 1
	for _, s := range words {
		need += widget.Width(s) + 5
	}
	if need+len(words) <= l.Room() {
		gap = 2
	}
	if need > l.Room() {
		return l.Text(themes.Dim, "< ").Text(themes.Text, words[chosen]).Text(themes.Dim, " >")
	}
	for i, s := range words {
		mark, role := "( ) ", themes.Text
		if i == chosen {
			mark, role = "(*) ", themes.Focus
		}
		l.Text(role, mark+s).Gap(gap)
	}
	return l
}

// Done is how far the writing came, in words.
func (f *ExportForm) Done() string {
	if of := f.Counts[f.What]; of > 0 && f.whole() {
		return percent(share(float64(f.Rows), float64(of))) + "  " + widget.Thousands(f.Rows) + " of " + widget.Thousands(of) + ", " + widget.Bytes(f.Bytes)
	}
	return widget.Thousands(f.Rows) + " rows, " + widget.Bytes(f.Bytes)
}

// progress is how far the writing came; of how much is known for one run only.
func (f *ExportForm) progress(look *widget.Look, inner int) string {
	l := look.Line(inner).Gap(2).Fit(themes.Dim, "Writing", formLabel, widget.Left)
	told := f.Done()
	if of := f.Counts[f.What]; of > 0 && f.whole() {
		part := share(float64(f.Rows), float64(of))
		if bar := l.Room() - widget.Width(told) - 1; bar > 4 {
			l.Gauge(themes.OK, int(part*1000), 1000, 0, min(bar, 40)).Gap(1)
		}
	}
	return l.Text(themes.Text, told).String()
}

// chooser is the list of the columns.
func (f *ExportForm) chooser(look *widget.Look, width, h int) []string {
	inner := widget.Inner(width)
	all, left := f.columns()
	rows := max(min(len(all), h-2), 1)
	first := min(max(f.Column-rows/2, 0), max(len(all)-rows, 0))
	var lines []string
	for i := first; i < min(first+rows, len(all)); i++ {
		mark, role := "[x] ", themes.Text
		if f.Left[exported[f.What]][all[i]] {
			mark, role = "[ ] ", themes.Dim
		}
		l := look.Line(inner)
		if i == f.Column {
			l.Strong(true).Text(themes.Focus, look.Glyphs.Cursor+" "+mark+all[i])
		} else {
			l.Gap(2).Text(role, mark+all[i])
		}
		lines = append(lines, l.String())
	}
	return widget.Pane{
		Title: "Columns", Right: widget.Thousands(int64(len(all)-left)) + " of " + widget.Thousands(int64(len(all))), Bottom: "Space: in or out   *: all   Enter: done", Focused: true,
	}.Draw(look, width, min(len(lines)+2, h), lines)
}

// StopExportQuestion asks before one leaves while an export is written.
func StopExportQuestion(path string, f *ExportForm) *Question {
	q := &Question{}
	q.Title = "Leave while an export is written?"
	q.Lines = []string{path + ": " + f.Done() + ". Leaving stops it, and nothing of it stays."}
	q.Brief = []string{"Leaving stops it."}
	q.Buttons = []string{"Stay", "Leave"}
	q.Hint = "l: leave   Esc: stay"
	return q
}

// ReplaceQuestion asks before a file is replaced; the safe button has the focus.
func ReplaceQuestion(path string) *Question {
	q := &Question{}
	q.Title = "Replace the file?"
	q.Lines = []string{path + " exists. What is in it would be lost."}
	q.Brief = []string{"The file exists."}
	q.Buttons = []string{"Keep it", "Replace it"}
	q.Hint = "r: replace it   Esc: keep it"
	return q
}
