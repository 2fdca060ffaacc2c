package screen

import (
	"strconv"
	"strings"

	"dev.scrapetop/storage"
	"dev.scrapetop/themes"
	"dev.scrapetop/ui/widget"
)

// ExportForm is the dialog of an export: what, of which run, in which form, with which columns, and where to. It implements
// Overlay.
type ExportForm struct {
	Run    int64
	Name   string // of the run, printable
	Counts [4]int64
	What   int // index in exported
	All    bool
	Format int // index in formats
	Scopes []ExportScope
	Scope  int // index in Scopes
	// Left are the columns that are left out, by what is exported.
	Left map[string]map[string]bool

	Focus    int
	Choosing bool // the columns are open, to choose from
	Column   int  // the one under the cursor

	// Before and Behind are the path before and behind the cursor of its field.
	Before, Behind string
	Fault          string // why it could not be written, printable

	Writing bool
	Rows    int64 // written so far
	Bytes   int64
}

// ExportScope is which rows are written: all, those about a domain, or tasks of a state.
type ExportScope struct {
	Words  string // printable
	Domain string // as the engine names it
	State  storage.TaskState
}

// What can be exported, and in which forms. Counts tells of the run how many there are; below zero: not known.
var (
	exported = []string{"results", "tasks", "attempts", "events"}
	formats  = []string{"jsonl", "json", "csv"}
)

// The fields of the dialog, in the order in which Tab visits them; while it writes there are only the buttons.
const (
	FieldWhat = iota
	FieldRun
	FieldScope
	FieldFormat
	FieldColumns
	FieldPath
	FieldExport // a button; while writing: go on in the background
	FieldCancel // a button; while writing: stop
	fieldCount
)

// NewExportForm is the dialog for a run, with what a screen shows chosen.
func NewExportForm(run *storage.Run, tab Tab) *ExportForm {
	f := &ExportForm{Run: run.ID, Name: name(run.Name), Counts: [4]int64{run.Records, run.Tasks, run.Attempts, -1}, Left: map[string]map[string]bool{}}
	f.Scopes = []ExportScope{{Words: "all"}}
	switch tab {
	case Tasks, Letters:
		f.What = 1
	case Events:
		f.What = 3
	}
	return f
}

// Offer offers rows of a domain or a state, and chooses them.
func (f *ExportForm) Offer(s ExportScope) {
	f.Scopes = append(f.Scopes, s)
	f.Scope = len(f.Scopes) - 1
}

// scope is which rows are written: only tasks have a state.
func (f *ExportForm) scope() ExportScope {
	if s := f.Scopes[f.Scope]; s.State == "" || exported[f.What] == "tasks" {
		return s
	}
	return f.Scopes[0]
}

// Spec is what was chosen, for storage.
func (f *ExportForm) Spec() storage.ExportSpec {
	spec := storage.ExportSpec{What: exported[f.What], Format: formats[f.Format], Run: f.Run}
	if f.All {
		spec.Run = 0
	}
	scope := f.scope()
	spec.Domain, spec.State = scope.Domain, string(scope.State)
	if left := f.Left[spec.What]; len(left) > 0 {
		for _, c := range storage.ExportColumns(spec.What) {
			if !left[c] {
				spec.Columns = append(spec.Columns, c)
			}
		}
	}
	return spec
}

// Path is the file that is offered: named after the run and what is written.
func (f *ExportForm) Path() string {
	base := fileWord(strings.SplitN(f.Name, ".", 2)[0], "run")
	if f.All {
		base = "all"
	} else {
		base += "-" + strconv.FormatInt(f.Run, 10)
	}
	base += "-" + exported[f.What]
	if s := f.scope(); s.State != "" {
		base += "-" + string(s.State)
	} else if s.Domain != "" {
		base += "-" + fileWord(s.Domain, "domain")
	}
	return base + "." + formats[f.Format]
}

// fileWord is a text as a part of a file's name, wherever that may be typed; otherwise: it has nothing that can be.
func fileWord(s, otherwise string) string {
	s = strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '-'
	}, s), "-")
	if s == "" || len(s) > 60 {
		return otherwise
	}
	return s
}

// Step goes to the next field, or to the last one.
func (f *ExportForm) Step(by int) {
	if f.Writing {
		f.Focus = FieldExport + FieldCancel - f.Focus
		return
	}
	f.Focus = (f.Focus + by + fieldCount) % fieldCount
}

// Turn chooses the next of what the field in focus offers, or the last one; false: it offers nothing.
func (f *ExportForm) Turn(by int) bool {
	if f.Writing {
		f.Step(by)
		return true
	}
	turn := func(at, n int) int { return (at + by + n) % n }
	switch f.Focus {
	case FieldWhat:
		f.What = turn(f.What, len(exported))
	case FieldRun:
		f.All = !f.All
	case FieldScope:
		f.Scope = turn(f.Scope, len(f.Scopes))
	case FieldFormat:
		f.Format = turn(f.Format, len(formats))
	case FieldExport, FieldCancel:
		f.Focus = FieldExport + FieldCancel - f.Focus
	default:
		return false
	}
	return true
}

// whole tells that all of one run is written, of which it is known how much there is.
func (f *ExportForm) whole() bool { return !f.All && f.scope() == f.Scopes[0] }

// columns are those of what is exported, and how many are left out.
func (f *ExportForm) columns() (all []string, left int) {
	return storage.ExportColumns(exported[f.What]), len(f.Left[exported[f.What]])
}

// MoveColumn moves the cursor over the columns.
func (f *ExportForm) MoveColumn(by int) {
	all, _ := f.columns()
	f.Column = min(max(f.Column+by, 0), len(all)-1)
}

// ToggleColumn leaves out the column under the cursor, or takes it in again. One stays at least.
func (f *ExportForm) ToggleColumn() {
	all, left := f.columns()
	what, c := exported[f.What], all[f.Column]
	switch {
	case f.Left[what][c]:
		delete(f.Left[what], c)
	case left+1 < len(all):
		if f.Left[what] == nil {
			f.Left[what] = map[string]bool{}
		}
		f.Left[what][c] = true
	}
}

// AllColumns takes in all columns, or leaves out all but the one under the cursor when all are in.
func (f *ExportForm) AllColumns() {
	all, left := f.columns()
	what := exported[f.What]
	f.Left[what] = map[string]bool{}
	if left > 0 {
		return
	}
	for i, c := range all {
		if i != f.Column {
			f.Left[what][c] = true
		}
	}
}

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

// AgainQuestion asks before a run is started again; an unfinished one can go on instead.
func AgainQuestion(r *storage.Run) *Question {
	q := &Question{}
	number := runNumber(r.ID)
	q.Title = "Run " + number + " again?"
	q.Lines = []string{
		name(r.Name) + " via " + name(r.Provider) + ": a new run of the same input with the same settings. It fetches all " + widget.Thousands(r.Tasks) + " tasks anew, and each may cost credits again.",
	}
	q.Brief = []string{"All " + widget.Thousands(r.Tasks) + " tasks are fetched anew."}
	q.Buttons = []string{"Leave it", "Run again"}
	q.Hint = "a: run again   Esc: leave it"
	if r.Pending > 0 || r.State != storage.RunFinished {
		q.Title = number + " is unfinished: resume it?"
		q.Lines = []string{
			"Resume: " + widget.Thousands(r.Pending) + " of " + widget.Thousands(r.Tasks) + " tasks are left; what was accepted stays.",
			"Run again: a new run of the same input fetches everything anew, and each page may cost credits again.",
		}
		q.Brief = []string{widget.Thousands(r.Pending) + " of " + widget.Thousands(r.Tasks) + " tasks are left."}
		q.Buttons = []string{"Leave it", "Resume", "Run again"}
		q.Hint = "r: resume   a: run again   Esc: leave it"
	}
	return q
}
