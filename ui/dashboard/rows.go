package dashboard

import (
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"dev.scrapetop/themes"
	"dev.scrapetop/ui/screen"
	"dev.scrapetop/ui/widget"
)

func (m *Model) tag() {
	i := m.row()
	if i < 0 {
		return
	}
	if _, ok := m.list.Tags[m.list.Selected]; ok {
		delete(m.list.Tags, m.list.Selected)
	} else {
		m.list.Tags[m.list.Selected] = m.data.Frame.Domains.Rows[i]
	}
	m.move(1)
}

// maxTags is the most that is tagged at once: every tagged row is told to the engine by its own command.
const maxTags = 10_000

// tagAll tags all rows that match, also those out of sight.
func (m *Model) tagAll() {
	w := &m.data.Frame.Domains
	names, rows := m.data.Names, w.Rows
	if w.Matched > len(names) && m.frozenAt.IsZero() {
		q := m.query()
		q.Offset, q.Limit = 0, maxTags
		if f := m.source.Frame(q); f != nil {
			rows = f.Domains.Rows
			names = make([]string, len(rows))
			for i := range rows {
				names[i] = rows[i].Domain
			}
		}
	}
	for i, name := range names[:min(len(names), maxTags)] {
		m.list.Tags[name] = rows[i]
	}
	text := widget.Thousands(int64(len(m.list.Tags))) + " tagged"
	if w.Matched > len(names) {
		text += " of " + widget.Thousands(int64(w.Matched)) + ": no more at once"
	}
	m.say(themes.Text, text, "U: clear")
}

// freeze stops the picture, or lets it go on. A frozen picture holds more rows, so that there is something to move on.
func (m *Model) freeze() {
	if !m.frozenAt.IsZero() {
		m.frozenAt = time.Time{}
		m.changedAt = m.now
		m.refresh()
		return
	}
	q := m.query()
	q.Offset, q.Limit, q.Evidence = max(m.index-500, 0), 1000, true
	m.take(q)
	m.settle()
	m.frozenAt = m.now
}

// copyRows copies the budget under the cursor, or the domains that are tagged, or the one under the cursor.
func (m *Model) copyRows() tea.Cmd {
	var names []string
	if m.tab == screen.Events {
		return m.copyNames([]string{m.browse.ChosenEvent(m.shownRows).Text})
	}
	if m.tab.OfRows() {
		return m.copyNames([]string{m.browse.ChosenTask(m.shownRows, m.tab).URL})
	}
	if m.list.OnBudgets(m.data, m.tab) {
		id, _, _ := m.list.ChosenBudget(m.data, m.tab)
		return m.copyNames([]string{widget.Clean(id.Key, 253)})
	}
	for name := range m.list.Tags {
		names = append(names, widget.Clean(name, 253))
	}
	slices.Sort(names)
	if len(names) == 0 {
		names = []string{widget.Clean(m.list.Selected, 253)}
	}
	return m.copyNames(names)
}

func (m *Model) copyNames(names []string) tea.Cmd {
	text := strings.Join(names, "\n")
	seq, ok := clip(text, m.opt.Getenv)
	if !ok {
		m.say(themes.Warn, "too much to copy: many terminals take 50 KB at most", "")
		return nil
	}
	write := m.copy(seq)
	if write == nil {
		return nil
	}
	told := names[0]
	if len(names) > 1 {
		told = widget.Thousands(int64(len(names))) + " domains"
	}
	return func() tea.Msg {
		if msg, failed := write().(error); failed {
			return copiedMsg{fault: "not copied: " + widget.Clean(msg.Error(), 200)}
		}
		return copiedMsg{text: told}
	}
}
