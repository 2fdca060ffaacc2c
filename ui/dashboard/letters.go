package dashboard

import (
	"context"
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"dev.scrapetop/themes"
	"dev.scrapetop/ui/keys"
	"dev.scrapetop/ui/screen"
	"dev.scrapetop/ui/widget"
)

// doLetters carries out what concerns the dead letters; false: the action is about any rows.
func (m *Model) doLetters(action keys.Action, by int) bool {
	b := &m.browse
	switch {
	case action == keys.ColumnsLeft || action == keys.ColumnsRight:
		if b.ByDomain == (action == keys.ColumnsRight) {
			return true
		}
		b.ByDomain, b.Group, b.Letters, b.Picks[screen.Letters] = !b.ByDomain, "", false, screen.Pick{}
		m.wantRows(true)
	case action == keys.NextPane || action == keys.LastPane:
		b.Letters = !b.Letters
	case by != 0 && !b.Letters:
		b.MoveGroup(m.shownRows, by)
		m.wantRows(false)
	case action == keys.Open && !b.Letters:
		b.Letters = true
	case action == keys.Tag:
		m.tagTask()
	case action == keys.Requeue:
		m.requeueLetters()
	case action == keys.RequeueAll:
		m.requeueGroup()
	default:
		return false
	}
	return true
}

// requeueGroup asks, and puts back a whole group.
func (m *Model) requeueGroup() {
	q := m.picture().RequeueQuestion()
	if q == nil {
		return
	}
	ask, acts := m.asking.ask, m.opt.Acts
	ask.Text = "" // the whole group is counted, whatever is searched for in it
	ask.Group = m.shownRows.GroupKeys[m.browse.GroupAt(m.shownRows)]
	what, hint := "all of: "+m.browse.ChosenGroup(m.shownRows).Key, ""
	if !m.data.Frame.Live && m.opt.Resume != "" {
		hint = m.opt.Resume + " goes on with them"
	}
	m.openQuestion(&question{
		Question: q, letters: map[string]int{"r": 1},
		presses: []func() tea.Cmd{
			func() tea.Cmd { return nil },
			func() tea.Cmd {
				m.say(themes.Text, "requeueing "+what, "")
				return func() tea.Msg {
					n, err := acts.RequeueAll(context.Background(), ask)
					return actedMsg{text: "requeued " + widget.Thousands(n) + " dead letters (" + what + ")", hint: hint, err: err}
				}
			},
		},
	})
}

// noLetter tells why an act on dead letters can do nothing now.
func (m *Model) noLetter(action keys.Action) string {
	switch action {
	case keys.Requeue, keys.RequeueAll:
		switch {
		case m.looked != nil:
			return "they are of a run that is only looked at: scrapetop requeue --run " + strconv.FormatInt(m.looked.ID, 10)
		case m.opt.Acts == nil:
			return "nothing can be queued here: scrapetop requeue does it"
		case m.browse.ChosenGroup(m.shownRows) == nil:
			return "there are no dead letters"
		case action == keys.Requeue && len(m.browse.Tags[screen.Letters]) == 0 && !m.browse.Letters:
			return "R requeues all of the group; Enter shows its letters, to choose from"
		case action == keys.Requeue && len(m.browse.Tags[screen.Letters]) == 0 && m.browse.ChosenTask(m.shownRows, m.tab) == nil:
			return "there is no row"
		}
	case keys.Tag:
		switch {
		case !m.browse.Letters:
			return "letters are tagged: Enter shows those of the group"
		case m.browse.ChosenTask(m.shownRows, m.tab) == nil:
			return "there is no row"
		}
	}
	return ""
}
