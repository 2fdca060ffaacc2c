package dashboard

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"dev.scrapetop/engine"
	"dev.scrapetop/themes"
	"dev.scrapetop/ui/screen"
	"dev.scrapetop/ui/widget"
)

// How long news stays.
const (
	toastFor = 4 * time.Second
	undoFor  = 10 * time.Second
	// answerWithin is when a wish that no frame confirmed is told.
	answerWithin = 2 * time.Second
)

// toast is a line of news. One that tells a fault stays until a key.
type toast struct {
	role  themes.Role
	text  string // printable
	hint  string
	until time.Time
}

// undo is the way back from the last act.
type undo struct {
	text     string
	commands []engine.Command
	back     func() tea.Cmd // of what no command undoes; it tells how it went. nil: commands undo it
	until    time.Time
}

// wish is shown until a frame confirms it.
type wish struct {
	screen.Wish
	at  time.Time
	run string // for the run: the state it leaves
}

func (m *Model) say(role themes.Role, text, hint string) {
	m.toast = toast{role: role, text: text, hint: hint, until: m.now.Add(toastFor)}
	m.changed()
}

// message is what the line above the keys shows: what is being typed, else the news, else the offer to undo.
func (m *Model) message() screen.Message {
	switch {
	case m.prompt != nil:
		return m.prompt.message()
	case m.undo != nil && m.undo.text == m.toast.text:
		left := int((m.undo.until.Sub(m.now) + time.Second - 1) / time.Second)
		return screen.Message{Role: themes.Text, Text: m.undo.text, Undo: max(left, 1), UndoOf: int(undoFor / time.Second)}
	}
	return screen.Message{Role: m.toast.role, Text: m.toast.text, Hint: m.toast.hint}
}

// expire takes away what had its time.
func (m *Model) expire() {
	if m.undo != nil && !m.now.Before(m.undo.until) {
		if m.toast.text == m.undo.text {
			m.toast = toast{}
		}
		m.undo = nil
		m.changed()
	}
	keeps := m.toast.role == themes.Bad || m.undo != nil && m.toast.text == m.undo.text
	if m.toast.text != "" && !keeps && !m.now.Before(m.toast.until) {
		m.toast = toast{}
		m.changed()
	}
	if !m.holdUntil.IsZero() && !m.holding() {
		m.holdUntil = time.Time{}
		m.changed()
	}
	for name, w := range m.wishes {
		if m.now.Sub(w.at) < answerWithin {
			continue
		}
		delete(m.wishes, name)
		m.changed()
		switch {
		case w.Limit > 0 && m.changedAt.After(w.at):
			m.say(themes.Text, "asked for "+w.Text+": a lower limit is in force", "")
		default:
			m.say(themes.Warn, "the engine has not answered yet: "+w.Text, "")
		}
	}
}

// confirm takes away the wishes that the frame shows to be met.
func (m *Model) confirm() {
	for name, w := range m.wishes {
		if name == "" {
			if (m.data.Frame.Run.State == "paused") != (w.run == "paused") {
				delete(m.wishes, name)
			}
			continue
		}
		for i, n := range m.data.Names {
			if n == name && w.Met(&m.data.Frame.Domains.Rows[i]) {
				delete(m.wishes, name)
			}
		}
	}
}

// alerts toasts the newest of what must be seen. Alerts are numbered, so none is missed: those that this frame brought
// too, or that were overtaken, are counted in the hint.
func (m *Model) alerts() {
	before, newest := m.seen, -1
	for i := range m.data.Frame.Alerts {
		if a := &m.data.Frame.Alerts[i]; a.Seq > m.seen {
			m.seen, newest = a.Seq, i
		}
	}
	if newest < 0 {
		return
	}
	a := &m.data.Frame.Alerts[newest]
	role, hint := themes.Warn, a.Do
	if a.Level == "error" {
		role = themes.Bad
	}
	if others := a.Seq - before - 1; others > 0 {
		hint = widget.Thousands(int64(min(others, 1<<62))) + " more alerts: ! on the Overview"
	}
	m.say(role, a.Text, hint)
}

// unread is the number of alerts that came since the list was last open.
func (m *Model) unread() int {
	n := 0
	for i := range m.data.Frame.Alerts {
		if m.data.Frame.Alerts[i].Seq > m.read {
			n++
		}
	}
	return n
}

// act carries out what a screen decided.
func (m *Model) act(a screen.Act) {
	if a.Why != "" {
		m.say(themes.Dim, a.Why, "")
		return
	}
	for _, w := range a.Wishes {
		if old, ok := m.wishes[w.Domain]; ok && old.Limit == 0 && w.Limit == 0 {
			m.say(themes.Dim, "already asked: "+old.Text, "")
			return
		}
	}
	m.changedAt, m.chosen = m.now, true // the answer is looked for at full pace
	for _, c := range a.Do {
		m.source.Do(c)
		if c.Verb == engine.SetLimit {
			m.yours[c.Key] = c.Limit
		}
	}
	for _, w := range a.Wishes {
		m.wishes[w.Domain] = wish{Wish: w, at: m.now, run: m.data.Frame.Run.State}
	}
	m.say(themes.Text, a.Text, "")
	m.undo = nil
	if len(a.Undo) > 0 {
		m.undo = &undo{text: a.Text, commands: a.Undo, until: m.now.Add(undoFor)}
	}
}

// takeBack undoes the last act.
func (m *Model) takeBack() {
	if back := m.undo.back; back != nil {
		m.toast, m.undo = toast{}, nil
		m.later = back()
		return
	}
	for _, c := range m.undo.commands {
		m.source.Do(c)
		delete(m.wishes, c.Key)
		if c.Verb == engine.SetLimit {
			m.yours[c.Key] = c.Limit
		}
	}
	text := m.undo.text
	m.undo = nil
	m.say(themes.Text, "undone: "+text, "")
}

// askedLimits are the limits that are wished for and not yet seen.
func (m *Model) askedLimits() map[string]int {
	asked := make(map[string]int)
	for name, w := range m.wishes {
		if w.Limit > 0 {
			asked[name] = w.Limit
		}
	}
	return asked
}
