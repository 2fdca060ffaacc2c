package dashboard

import (
	tea "github.com/charmbracelet/bubbletea"

	"dev.scrapetop/ui/keys"
)

// reading is the diagnosis on show: it follows the frames, so only the place in it is kept.
type reading struct{ top int }

func (m *Model) openDiagnosis() {
	m.closeOver()
	m.reading = &reading{}
	m.refresh() // its evidence is in frames that were asked for it
}

// inDiagnosis scrolls the diagnosis, and closes it.
func (m *Model) inDiagnosis(action keys.Action) tea.Cmd {
	p := m.picture()
	move := func(by int) { m.reading.top = min(max(m.reading.top+by, 0), p.DiagnosisEnd()) }
	page := max(p.DiagnosisPage(), 1)
	switch action {
	case keys.Down:
		move(1)
	case keys.Up:
		move(-1)
	case keys.HalfDown:
		move(max(page/2, 1))
	case keys.HalfUp:
		move(-max(page/2, 1))
	case keys.PageDown:
		move(page)
	case keys.PageUp:
		move(-page)
	case keys.Top:
		m.reading.top = 0
	case keys.Bottom:
		m.reading.top = p.DiagnosisEnd()
	case keys.Close, keys.Diagnosis:
		m.closeOver()
	case keys.Help:
		m.closeOver()
		return m.do(keys.Help)
	case keys.Quit:
		m.closeOver()
		return m.quit()
	}
	return nil
}
