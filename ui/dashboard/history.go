package dashboard

import (
	tea "github.com/charmbracelet/bubbletea"

	"dev.scrapetop/storage"
	"dev.scrapetop/themes"
	"dev.scrapetop/ui/keys"
	"dev.scrapetop/ui/screen"
	"dev.scrapetop/ui/widget"
)

// Again is a run to be started again: anew with the same input and settings, or, if it is unfinished, from where it stopped.
type Again struct {
	Run    int64 // zero: none
	Resume bool
	Typed  string // instead of a run: the URLs or the file that a new one is of
	Demo   bool   // instead of a run: the demo
}

// lookAt makes the screens of rows show a run. One that nobody drives here is looked at only; the banner says so.
func (m *Model) lookAt(run storage.Run) {
	if m.data.Frame.Run.ID == run.ID {
		return
	}
	m.lookAway() // so that the frame on show is that of the run that is driven
	if m.data.Frame.Run.ID != run.ID {
		m.looked = &run
		m.other()
	}
}

// lookAway shows the run that is driven again.
func (m *Model) lookAway() {
	if m.looked != nil {
		m.looked = nil
		m.other()
	}
}

// other takes the frame of the run that is shown from now on.
func (m *Model) other() {
	m.browse.OtherRun()
	m.shownRows, m.fresh = nil, false
	m.take(m.query())
	m.settle()
	m.refresh()
	m.wantRows(true)
}

// stands takes how the run that is looked at stands by now: another process may drive it.
func (m *Model) stands(run storage.Run) {
	if m.looked == nil || run.ID != m.looked.ID || run.State == m.looked.State && run.Attempts == m.looked.Attempts && run.Tasks == m.looked.Tasks {
		return
	}
	m.looked, m.fresh = &run, false
	m.take(m.query())
}

// doHistory carries out what concerns runs and their results; false: the action is about any rows.
func (m *Model) doHistory(action keys.Action, by int) bool {
	b := &m.browse
	switch {
	case m.tab == screen.History && b.Open && by != 0:
		b.Line = min(max(b.Line+min(max(by, -1000), 1000), 0), m.picture().VersusEnd())
	case m.tab == screen.History && action == keys.Open:
		run := *b.ChosenRun(m.shownRows)
		m.lookAt(run)
		m.show(screen.Results)
	case m.tab == screen.Results && action == keys.Open:
		row := b.ChosenResult(m.shownRows)
		b.Task, b.Page, b.Picks[screen.Page] = row.Task, 0, screen.Pick{}
		m.show(screen.Page)
	case m.tab == screen.Page && (action == keys.ColumnsLeft || action == keys.ColumnsRight):
		turn := int64(1)
		if action == keys.ColumnsLeft {
			turn = -1
		}
		if b.TurnPage(m.shownRows, turn) {
			m.wantRows(true)
		}
	case action == keys.Tag:
		b.TagRun(m.shownRows)
		m.doRows(keys.Down)
	case action == keys.ClearTags:
		b.Runs = nil
		m.wantRows(false)
	case action == keys.Compare:
		b.Open, b.Line = !b.Open, 0
	case action == keys.Settings:
		m.openMenu(screen.Settings(b.ChosenRun(m.shownRows)), func(int) {})
	case action == keys.Again:
		m.askAgain(*b.ChosenRun(m.shownRows))
	default:
		return false
	}
	return true
}

// noHistory tells why an action on runs or results can do nothing now.
func (m *Model) noHistory(action keys.Action) string {
	b := &m.browse
	if action == keys.Open && !m.frozenAt.IsZero() {
		return "the picture is frozen: Z"
	}
	switch action {
	case keys.Open, keys.Copy, keys.CopyJSON, keys.Tag, keys.Compare, keys.Settings, keys.Again:
		if m.tab == screen.History && b.ChosenRun(m.shownRows) == nil || m.tab != screen.History && b.Address(m.shownRows, m.tab) == "" {
			return "there is no row"
		}
		if action == keys.Again {
			return m.noAgain(b.ChosenRun(m.shownRows))
		}
	case keys.ColumnsLeft, keys.ColumnsRight:
		if r := m.shownRows; r == nil || r.Page == nil || r.Page.Pages < 2 {
			return "the result has one page"
		}
	case keys.ClearTags:
		if len(b.Runs) == 0 {
			return "nothing is tagged"
		}
	}
	return ""
}

// noAgain tells why a run cannot be started again now.
func (m *Model) noAgain(run *storage.Run) string {
	switch {
	case m.opt.Again == nil:
		return "nothing can be started here: scrapetop run, scrapetop resume"
	case m.busy():
		return "a run is going: q ends it first"
	case run.State == storage.RunRunning || run.State == storage.RunDraining:
		return "another process drives run #" + widget.Thousands(run.ID)
	}
	return ""
}

// askAgain asks, and leaves so that the caller can start the run.
func (m *Model) askAgain(run storage.Run) {
	q := screen.AgainQuestion(&run)
	leave := func(resume bool) func() tea.Cmd {
		return func() tea.Cmd {
			m.opt.Again(Again{Run: run.ID, Resume: resume})
			return tea.Quit
		}
	}
	stay := func() tea.Cmd { return nil }
	if len(q.Buttons) == 3 {
		m.openQuestion(&question{Question: q, letters: map[string]int{"r": 1, "a": 2}, presses: []func() tea.Cmd{stay, leave(true), leave(false)}})
		return
	}
	m.openQuestion(&question{Question: q, letters: map[string]int{"a": 1}, presses: []func() tea.Cmd{stay, leave(false)}})
}

// exportedRun is the run that an export is about: the one under the cursor of the history, else the one that is shown.
func (m *Model) exportedRun() *storage.Run {
	if m.tab == screen.History {
		return m.browse.ChosenRun(m.shownRows)
	}
	f := m.data.Frame
	if f.Run.ID == 0 {
		return nil
	}
	c := &f.Counts
	return &storage.Run{ID: f.Run.ID, Name: f.Run.Name, Records: c.Records, Tasks: c.Tasks, Attempts: c.Attempts}
}

// noExport tells why nothing can be exported now.
func (m *Model) noExport() string {
	switch {
	case m.opt.Exporter == nil:
		return "nothing can be written here: scrapetop export does it"
	case m.export.writes(): // its dialog is opened again
	case m.exportedRun() == nil:
		return "no run is chosen: 6 shows them all"
	}
	return ""
}

// told is a toast about an export.
func (m *Model) told(role themes.Role, text, hint string) { m.say(role, widget.Clean(text, 400), hint) }
