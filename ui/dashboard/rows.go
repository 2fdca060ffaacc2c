package dashboard

import (
	"time"

	"dev.scrapetop/themes"
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
