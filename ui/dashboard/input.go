package dashboard

import (
	"regexp"
	"slices"
	"strings"

	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"

	"dev.scrapetop/themes"
	"dev.scrapetop/ui/keys"
	"dev.scrapetop/ui/screen"
	"dev.scrapetop/ui/widget"
)

// prompt is a text field on the message line. What is typed filters at once.
type prompt struct {
	field textinput.Model
	part  bool // what is typed is a part of a row's text
}

// newField is a text field that has the keys: only editing, no drawing, no clipboard of its own.
func newField(value string, most int) textinput.Model {
	f := textinput.New()
	f.CharLimit = most
	f.KeyMap.Paste.SetEnabled(false)
	f.SetValue(value)
	f.Focus() // the command would let its own cursor blink
	return f
}

func (p *prompt) message() screen.Message {
	hint := "word   !word: without   ~wrd: fuzzy   /re/: pattern"
	input := p.field.Value()
	if p.part {
		hint = "a part of what the row says"
	} else if re, ok := strings.CutPrefix(input, "/"); ok {
		if _, err := regexp.Compile(strings.TrimSuffix(re, "/")); err != nil {
			hint = "not a pattern: matches nothing"
		}
	}
	at := []rune(input)
	return screen.Message{Prompt: true, Text: "filter:", Input: string(at[:p.field.Position()]), Behind: string(at[p.field.Position():]), Hint: hint}
}

// menu is a short list to choose from.
type menu struct {
	*screen.Choice
	chosen func(i int)
}

// question is a dialog with what its buttons do.
type question struct {
	*screen.Question
	presses []func() tea.Cmd
	letters map[string]int // a button's own letter
}

// mode is what has the keys now.
func (m *Model) mode() keys.Mode {
	switch {
	case m.ask != nil:
		return keys.Dialog
	case m.export.open():
		return m.export.mode()
	case m.add != nil:
		return keys.Adding
	case m.help != nil:
		return keys.HelpMode
	case m.menu != nil:
		return keys.Menu
	case m.reading != nil:
		return keys.Diagnosed
	case m.palette != nil:
		return keys.Commands
	case m.prompt != nil:
		return keys.FilterRow
	}
	return m.screenMode()
}

func (m *Model) screenMode() keys.Mode {
	switch {
	case m.list.Shared(m.tab):
		return keys.Shared
	case m.tab == screen.Budgets:
		return keys.Domains
	case m.tab == screen.Tasks:
		return keys.Tasks
	case m.tab == screen.Letters:
		return keys.Letters
	case m.tab == screen.Events:
		return keys.Events
	case m.tab == screen.History:
		return keys.History
	case m.tab == screen.Results:
		return keys.Results
	case m.tab == screen.Page:
		return keys.Page
	}
	return keys.Overview
}

// elsewhere says how to come to the mode in which a key does something.
func (m *Model) elsewhere(mode keys.Mode) string {
	key := func(a keys.Action) string { return m.opt.Keys.Key(m.screenMode(), a) }
	switch mode {
	case keys.Domains:
		return "domains: " + key(keys.ShowBudgets) + ", then " + key(keys.Scope) + " until they show"
	case keys.Shared:
		return "keys, accounts and others: " + key(keys.Scope)
	case keys.Tasks:
		return "tasks: " + key(keys.ShowTasks)
	case keys.Letters:
		return "dead letters: " + key(keys.ShowLetters)
	case keys.Events:
		return "events: " + key(keys.ShowEvents)
	case keys.History:
		return "history: " + key(keys.ShowHistory)
	case keys.Results:
		return "results: " + key(keys.ShowHistory) + ", then " + m.opt.Keys.Key(keys.History, keys.Open)
	case keys.Page:
		return "a result: " + key(keys.ShowHistory) + ", then " + m.opt.Keys.Key(keys.History, keys.Open) + " twice"
	}
	return "the Overview: " + key(keys.ShowOverview)
}

func (m *Model) textMode() bool {
	return m.ask == nil && (m.help != nil || m.palette != nil || m.add != nil || m.mode() == keys.Pathed) || m.prompt != nil
}

// keys takes a key message apart: printable keys that arrived in one read are one message, and a paste is one too.
func (m *Model) keys(msg tea.KeyMsg) tea.Cmd {
	if msg.Paste {
		switch {
		case m.mode() == keys.Adding:
			m.add.paste(string(msg.Runes))
			m.changed()
		case m.textMode():
			m.typed(widget.Clean(string(msg.Runes), 1000))
		default:
			m.say(themes.Dim, "pasted text is taken in a text field only (/)", "")
		}
		return nil
	}
	mode := m.mode()
	if _, known := m.opt.Keys.Lookup(mode, msg.String()); msg.Alt && !known {
		// Escape and a key in one read arrive as Alt and that key.
		plain := msg
		plain.Alt = false
		if mode != m.screenMode() {
			return together(m.press("esc"), m.keys(plain))
		}
		msg = plain
	}
	if msg.Type == tea.KeyRunes && len(msg.Runes) > 1 {
		switch {
		case mode == keys.Adding:
			m.add.paste(string(msg.Runes))
			m.changed()
			return nil
		case m.textMode():
			m.typed(widget.Clean(string(msg.Runes), 1000))
			return nil
		}
		var cmds []tea.Cmd
		for _, r := range msg.Runes {
			m.pressed = tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}}
			cmds = append(cmds, m.press(string(r)))
		}
		return together(cmds...)
	}
	m.pressed = msg
	return m.press(msg.String())
}

// together joins commands, nil when there is none.
func together(cmds ...tea.Cmd) tea.Cmd {
	cmds = slices.DeleteFunc(cmds, func(c tea.Cmd) bool { return c == nil })
	switch len(cmds) {
	case 0:
		return nil
	case 1:
		return cmds[0]
	}
	return tea.Batch(cmds...)
}

// press handles one key; m.pressed is its message, for a field.
func (m *Model) press(key string) tea.Cmd {
	if m.toast.role == themes.Bad {
		m.toast = toast{} // a fault stays until a key
		m.changed()
	}
	mode := m.mode()
	action, known := m.opt.Keys.Lookup(mode, key)
	if !known {
		switch {
		case m.ask != nil:
			if i, ok := m.ask.letters[key]; ok {
				return m.answer(i)
			}
		case m.textMode():
			m.edit(m.pressed)
		case mode == m.screenMode():
			if other, does, ok := m.opt.Keys.Elsewhere(mode, key); ok {
				m.say(themes.Dim, keys.Show(key)+" ("+string(does)+") is for "+m.elsewhere(other), "")
			}
		}
		return nil
	}
	return m.carryOut(mode, action)
}

// carryOut does in a mode what a key asked for there.
func (m *Model) carryOut(mode keys.Mode, action keys.Action) tea.Cmd {
	switch action {
	case keys.Interrupt:
		return m.interrupt()
	case keys.Redraw:
		return tea.ClearScreen
	case keys.Suspend:
		if why := m.disabled(action); why != "" {
			m.say(themes.Dim, why, "")
			return nil
		}
		m.suspended = true
		m.chain++
		return tea.Suspend
	}
	m.changed()
	switch mode {
	case keys.Dialog:
		return m.inDialog(action)
	case keys.HelpMode:
		return m.inHelp(action)
	case keys.Menu:
		return m.inMenu(action)
	case keys.Diagnosed:
		return m.inDiagnosis(action)
	case keys.Exporting, keys.Pathed:
		return m.inExport(action)
	case keys.Columned:
		m.inColumns(action)
		return nil
	case keys.Adding:
		return m.inAdding(action)
	case keys.FilterRow:
		return m.inPrompt(action)
	case keys.Commands:
		return m.inPalette(action)
	}
	return m.do(action)
}

// typed puts text into the field that has the keys.
func (m *Model) typed(text string) { m.edit(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(text)}) }

// edit gives a key to the field that has the keys: it types or edits there, and nothing leaks through.
func (m *Model) edit(msg tea.KeyMsg) {
	if m.help != nil {
		f := newField(m.help.Query, 60)
		f, _ = f.Update(msg)
		m.help.Query, m.help.Cursor = widget.Clean(f.Value(), 60), 0
	} else if m.palette != nil {
		m.palette.edit(m, msg)
	} else if m.export.open() {
		m.export.edit(msg)
	} else if m.add != nil {
		m.add.edit(msg)
	} else if m.prompt != nil {
		m.prompt.field, _ = m.prompt.field.Update(msg)
		if value := m.prompt.field.Value(); value != widget.Clean(value, 250) {
			m.prompt.field.SetValue(widget.Clean(value, 250))
		}
		m.filter(m.prompt.field.Value())
	}
	m.changed()
}

func (m *Model) inPrompt(action keys.Action) tea.Cmd {
	switch action {
	case keys.Open:
		m.prompt = nil
	case keys.Close:
		m.prompt = nil
		m.filter("")
	case keys.Down:
		m.move(1)
	case keys.Up:
		m.move(-1)
	case keys.Quit:
		return m.quit()
	}
	return nil
}

// filter narrows the table at once.
func (m *Model) filter(s string) {
	if m.tab.OfRows() {
		if s != m.browse.Texts[m.tab] {
			m.browse.Texts[m.tab] = s
			m.wantRows(true)
		}
		return
	}
	m.list.Filter, m.list.Top = s, 0
	m.refresh()
}

func (m *Model) inHelp(action keys.Action) tea.Cmd {
	entries := m.help.Entries()
	page := max(m.h/2, 1)
	move := func(by int) { m.help.Cursor = min(max(m.help.Cursor+by, 0), max(len(entries)-1, 0)) }
	switch action {
	case keys.Down:
		move(1)
	case keys.Up:
		move(-1)
	case keys.PageDown:
		move(page)
	case keys.PageUp:
		move(-page)
	case keys.Close, keys.Help:
		m.closeOver()
	case keys.Quit:
		m.closeOver()
		return m.quit()
	case keys.Open:
		if m.help.Cursor >= len(entries) {
			return nil
		}
		e := entries[m.help.Cursor]
		m.closeOver()
		return m.carryOut(m.mode(), e.Action)
	}
	return nil
}

func (m *Model) inMenu(action keys.Action) tea.Cmd {
	move := func(by int) { m.menu.Cursor = min(max(m.menu.Cursor+by, 0), max(len(m.menu.Items)-1, 0)) }
	page := max(m.h/2, 1)
	switch action {
	case keys.Down:
		move(1)
	case keys.Up:
		move(-1)
	case keys.HalfDown, keys.PageDown:
		move(page)
	case keys.HalfUp, keys.PageUp:
		move(-page)
	case keys.Top:
		m.menu.Cursor = 0
	case keys.Bottom:
		move(len(m.menu.Items))
	case keys.Close:
		m.closeOver()
	case keys.Help:
		m.closeOver()
		return m.do(keys.Help)
	case keys.Quit:
		m.closeOver()
		return m.quit()
	case keys.Open:
		chosen, i := m.menu.chosen, m.menu.Cursor
		empty := len(m.menu.Items) == 0
		m.closeOver()
		if !empty {
			chosen(i)
		}
	}
	return nil
}

func (m *Model) inDialog(action keys.Action) tea.Cmd {
	n := len(m.ask.Buttons)
	switch action {
	case keys.NextPane:
		m.ask.Focus = (m.ask.Focus + 1) % n
	case keys.LastPane:
		m.ask.Focus = (m.ask.Focus + n - 1) % n
	case keys.Close:
		m.closeOver()
	case keys.Open:
		return m.answer(m.ask.Focus)
	}
	return nil
}

// answer presses a button of the dialog.
func (m *Model) answer(i int) tea.Cmd {
	press := m.ask.presses[i]
	m.closeOver()
	m.changed()
	return press()
}

// closeOver closes what is drawn over the screen.
func (m *Model) closeOver() {
	m.ask, m.help, m.menu, m.palette, m.reading, m.add, m.over = nil, nil, nil, nil, nil, nil, nil
	m.changed()
}

func (m *Model) openQuestion(q *question) {
	m.closeOver()
	m.prompt = nil
	m.ask, m.over = q, q.Question
}

func (m *Model) openMenu(c *screen.Choice, chosen func(int)) {
	m.closeOver()
	m.menu, m.over = &menu{c, chosen}, c
}
