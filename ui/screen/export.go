package screen

import (
	"strconv"
	"strings"

	"dev.scrapetop/storage"
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
