package dashboard

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"dev.scrapetop/engine"
	"dev.scrapetop/themes"
	"dev.scrapetop/ui/screen"
	"dev.scrapetop/ui/widget"
)

// quit leaves, after asking what becomes of an export that is written and of a run that is going.
func (m *Model) quit() tea.Cmd {
	if !m.export.writes() {
		return m.quitRun()
	}
	e := m.export
	m.openQuestion(&question{
		Question: screen.StopExportQuestion(widget.Clean(e.path, 100), e.form()), letters: map[string]int{"l": 1},
		presses: []func() tea.Cmd{
			func() tea.Cmd { return nil },
			func() tea.Cmd {
				if e.writes() {
					e.cancel()
				}
				return m.quitRun()
			},
		},
	})
	return nil
}

func (m *Model) quitRun() tea.Cmd {
	if !m.busy() {
		return tea.Quit
	}
	m.lookAway() // what becomes of the run that is driven is asked
	stay := func() tea.Cmd { return nil }
	stop := func() tea.Cmd { return m.leave(abandoned) }
	if m.leaving != staying || m.data.Frame.Run.State == "draining" {
		m.openQuestion(&question{
			Question: screen.QuitQuestion(m.data, true, m.opt.Passing), letters: map[string]int{"n": 0, "a": 1},
			presses: []func() tea.Cmd{stay, stop},
		})
		return nil
	}
	m.openQuestion(&question{
		Question: screen.QuitQuestion(m.data, false, m.opt.Passing), letters: map[string]int{"n": 0, "y": 1, "a": 2},
		presses: []func() tea.Cmd{stay, func() tea.Cmd { return m.leave(draining) }, stop},
	})
	return nil
}

// interrupt is Ctrl-C and each signal: the first drains, the second stops at once, a third leaves without waiting.
func (m *Model) interrupt() tea.Cmd {
	if !m.busy() {
		return tea.Quit
	}
	switch m.leaving {
	case staying:
		return m.leave(draining)
	case draining:
		return m.leave(abandoned)
	}
	return tea.Quit
}

// leave asks the engine to end; the program ends when it did.
func (m *Model) leave(how leaving) tea.Cmd {
	m.closeOver()
	m.prompt = nil
	m.lookAway()
	m.leaving = how
	if how == abandoned {
		m.source.Do(engine.Command{Verb: engine.Abandon})
		m.say(themes.Warn, "stopping now: what is in flight returns to the queue", "")
	} else {
		m.source.Do(engine.Command{Verb: engine.Drain})
		m.say(themes.Warn, "stopping: what is in flight finishes", "Ctrl-C: stop now")
	}
	// A frozen or blurred picture would notice the end late.
	m.frozenAt = time.Time{}
	m.changedAt = m.now
	return m.restart()
}
