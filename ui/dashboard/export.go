package dashboard

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"

	"dev.scrapetop/storage"
	"dev.scrapetop/themes"
	"dev.scrapetop/ui/keys"
	"dev.scrapetop/ui/screen"
	"dev.scrapetop/ui/widget"
)

// Exporter writes files. Export is called off the program's loop and may block; an ending ctx leaves nothing behind.
type Exporter interface {
	// Export writes what is asked for and returns how many records. A file that is there is replaced only with replace: without it
	// the error is ErrExists. told is called now and then with the records and bytes written so far.
	Export(ctx context.Context, spec storage.ExportSpec, path string, replace bool, told func(rows, bytes int64)) (int64, error)
}

// ErrExists is an Exporter's error about a file that is there already.
var ErrExists = errors.New("the file exists")

// export is a dialog of an export, and the export while it is written. A nil export is none.
type export struct {
	*screen.ExportForm
	field  textinput.Model
	edited bool // the path is the user's own
	hidden bool // it goes on in the background
	path   string

	cancel      context.CancelFunc // nil: nothing is written
	done        chan struct{}      // closed when the writing ended
	rows, bytes atomic.Int64
}

// exportedMsg is how an export ended.
type exportedMsg struct {
	rows int64
	err  error
}

func (e *export) open() bool   { return e != nil && !e.hidden }
func (e *export) writes() bool { return e != nil && e.cancel != nil }

// form is the dialog as it is drawn.
func (e *export) form() *screen.ExportForm {
	f := *e.ExportForm
	at := []rune(e.field.Value())
	f.Before, f.Behind = string(at[:e.field.Position()]), string(at[e.field.Position():])
	f.Rows, f.Bytes = e.rows.Load(), e.bytes.Load()
	return &f
}

func (e *export) mode() keys.Mode {
	switch {
	case e.Choosing:
		return keys.Columned
	case e.Focus == screen.FieldPath && !e.Writing:
		return keys.Pathed
	}
	return keys.Exporting
}

// edit gives a key to the field of the path.
func (e *export) edit(msg tea.KeyMsg) {
	before := e.field.Value()
	e.field, _ = e.field.Update(msg)
	if value := widget.Clean(e.field.Value(), mostPath); value != e.field.Value() {
		e.field.SetValue(value)
	}
	e.edited = e.edited || e.field.Value() != before
	e.Fault = ""
}

// mostPath is the longest path that can be typed, in characters.
const mostPath = 1000

// offer names the file after what is chosen, unless the user named it.
func (e *export) offer() {
	if !e.edited {
		e.field.SetValue(e.Path())
	}
	e.Fault = ""
}

func (m *Model) openExport() {
	m.closeOver()
	m.prompt = nil
	if m.export.writes() {
		m.export.hidden = false
		return
	}
	m.export = &export{ExportForm: screen.NewExportForm(m.exportedRun(), m.tab), field: newField("", mostPath)}
	for _, s := range m.scopes() {
		m.export.Offer(s)
	}
	m.export.offer()
}

// scopes are the rows that a screen narrows to, the narrowest last.
func (m *Model) scopes() []screen.ExportScope {
	b := &m.browse
	domain, state := "", storage.TaskState("")
	switch m.tab {
	case screen.Tasks:
		domain, state = b.Domain, b.State
	case screen.Letters:
		state = storage.TaskDead
		if g := b.GroupAt(m.shownRows); g >= 0 && b.ByDomain {
			domain = m.shownRows.GroupKeys[g]
		}
	}
	var list []screen.ExportScope
	if domain != "" {
		list = append(list, screen.ExportScope{Words: "of " + widget.Clean(domain, 60), Domain: domain})
	}
	if state != "" {
		s := screen.ExportScope{Words: "tasks that are " + string(state), Domain: domain, State: state}
		if domain != "" {
			s.Words += " of it"
		}
		list = append(list, s)
	}
	return list
}

// inExport is a key in the dialog.
func (m *Model) inExport(action keys.Action) tea.Cmd {
	e := m.export
	switch action {
	case keys.NextPane:
		e.Step(1)
	case keys.LastPane:
		e.Step(-1)
	case keys.ColumnsRight:
		if e.Turn(1) {
			e.offer()
		}
	case keys.ColumnsLeft:
		if e.Turn(-1) {
			e.offer()
		}
	case keys.Close:
		return m.closeExport()
	case keys.Open:
		switch {
		case e.Focus == screen.FieldColumns && !e.Writing:
			e.Choosing, e.Column = true, 0
		case e.Focus == screen.FieldExport && e.Writing:
			e.hidden, m.toast = true, toast{} // how far it is stands where toasts do
		case e.Focus == screen.FieldExport:
			return m.startExport(false)
		case e.Focus == screen.FieldCancel:
			return m.closeExport()
		default:
			e.Step(1)
		}
	}
	return nil
}

// inColumns is a key among the columns.
func (m *Model) inColumns(action keys.Action) {
	e := m.export
	switch action {
	case keys.Down:
		e.MoveColumn(1)
	case keys.Up:
		e.MoveColumn(-1)
	case keys.Tag:
		e.ToggleColumn()
		e.MoveColumn(1)
	case keys.TagAll:
		e.AllColumns()
	case keys.Open, keys.Close:
		e.Choosing = false
	}
}

// closeExport closes the dialog; what is being written is stopped, and nothing of it stays.
func (m *Model) closeExport() tea.Cmd {
	if m.export.writes() {
		m.export.cancel()
		return nil // its end comes as a message
	}
	m.export = nil
	return nil
}

// startExport begins to write, off the loop.
func (m *Model) startExport(replace bool) tea.Cmd {
	e := m.export
	if e.path = e.field.Value(); e.path == "" {
		e.Fault = "name the file to write"
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	e.cancel, e.done = cancel, make(chan struct{})
	e.Writing, e.Fault, e.Focus = true, "", screen.FieldExport
	e.rows.Store(0)
	e.bytes.Store(0)
	spec, path, exporter := e.Spec(), atHome(e.path, m.opt.Getenv("HOME")), m.opt.Exporter
	m.later = func() tea.Msg {
		defer close(e.done)
		n, err := exporter.Export(ctx, spec, path, replace, func(rows, bytes int64) {
			e.rows.Store(rows)
			e.bytes.Store(bytes)
		})
		return exportedMsg{n, err}
	}
	return m.restart()
}

// atHome is a path as a shell would take it: ~/ is the user's own folder.
func atHome(path, home string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && home != "" {
		return filepath.Join(home, rest)
	}
	return path
}

// exporting has the progress drawn.
func (m *Model) exporting() {
	if m.export.writes() {
		m.changed()
	}
}

// exported tells how an export ended. One that failed keeps its dialog with all that was chosen; a file that is there is asked about.
func (m *Model) exported(msg exportedMsg) {
	e := m.export
	stopped := errors.Is(msg.err, context.Canceled)
	e.cancel()
	e.cancel, e.Writing = nil, false
	m.changed()
	switch {
	case errors.Is(msg.err, ErrExists):
		e.hidden = false
		m.openQuestion(&question{
			Question: screen.ReplaceQuestion(widget.Clean(e.path, 300)), letters: map[string]int{"r": 1},
			presses: []func() tea.Cmd{
				func() tea.Cmd { e.Focus = screen.FieldPath; return nil },
				func() tea.Cmd { return m.startExport(true) },
			},
		})
	case stopped:
		m.export = nil
		m.told(themes.Text, "stopped, nothing of it was written: "+e.path, "")
	case msg.err != nil:
		e.Fault, e.hidden, e.Focus = widget.Clean(msg.err.Error(), 400), false, screen.FieldPath
	default:
		m.export = nil
		m.told(themes.Text, "exported "+widget.Thousands(msg.rows)+" "+e.Spec().What+", "+widget.Bytes(e.bytes.Load())+": "+e.path, "")
	}
}

// abandonExport stops an export that is still being written when the program ends, and waits until nothing of it is left.
func (m *Model) abandonExport() {
	if m.export.writes() {
		m.export.cancel()
		<-m.export.done
	}
}
