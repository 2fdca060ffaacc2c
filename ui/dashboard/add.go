package dashboard

import (
	"context"
	"strings"

	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"

	"dev.scrapetop/engine"
	"dev.scrapetop/themes"
	"dev.scrapetop/ui/keys"
	"dev.scrapetop/ui/screen"
	"dev.scrapetop/ui/widget"
)

// Adder adds input to the run that is going. Add is called off the program's loop and may block while a file is read.
type Adder interface {
	// Add takes URLs with blanks between them, or the path of a file, in any form that a run takes. why is the reason for the first
	// line that was refused, empty when none was. An error says that nothing, or with Added the rest, was not added.
	Add(ctx context.Context, typed string) (added engine.Added, why string, err error)
}

// addition is the dialog in which URLs are named.
type addition struct {
	field textinput.Model
	anew  bool   // a run is started of them
	fault string // why they could not be added, printable
}

// addedMsg is what came of adding.
type addedMsg struct {
	typed string
	added engine.Added
	why   string
	err   error
}

// mostAdded is the most that can be typed or pasted at once, in characters.
const mostAdded = 20_000

func (a *addition) form() *screen.AddForm {
	at := []rune(a.field.Value())
	return &screen.AddForm{Before: string(at[:a.field.Position()]), Behind: string(at[a.field.Position():]), New: a.anew, Fault: a.fault}
}

// edit gives a key to the field.
func (a *addition) edit(msg tea.KeyMsg) {
	a.field, _ = a.field.Update(msg)
	if value := widget.Clean(a.field.Value(), mostAdded); value != a.field.Value() {
		a.field.SetValue(value)
	}
	a.fault = ""
}

// paste takes lines as they are: what does not fit is refused whole, so that nothing is lost unseen.
func (a *addition) paste(text string) {
	text = strings.Join(strings.Fields(text), " ")
	if len(text)+len(a.field.Value()) > mostAdded {
		a.fault = "too much at once: name a file of it"
		return
	}
	a.edit(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(text)})
}

func (m *Model) openAdd(typed string) {
	m.closeOver()
	m.prompt = nil
	m.add = &addition{field: newField(typed, mostAdded), anew: m.starts()}
}

func (m *Model) inAdding(action keys.Action) tea.Cmd {
	switch action {
	case keys.Close:
		m.closeOver()
	case keys.Open:
		if strings.TrimSpace(m.add.field.Value()) == "" {
			m.add.fault = "name a URL or a file"
			return nil
		}
		return m.startAdding(m.add.field.Value())
	}
	return nil
}

// startAdding has them added, off the loop.
func (m *Model) startAdding(typed string) tea.Cmd {
	typed = strings.TrimSpace(typed)
	m.closeOver()
	m.adding++
	m.changedAt = m.now // the answer is looked for at full pace
	m.say(themes.Text, "adding "+widget.Clean(typed, 100)+" ...", "")
	adder, path := m.opt.Adder, atHome(typed, m.opt.Getenv("HOME"))
	if m.starts() {
		opens := m.opt.Opens
		m.later = func() tea.Msg { return openedInputMsg{typed, path, opens(path)} }
		return m.hurry()
	}
	m.later = func() tea.Msg {
		added, why, err := adder.Add(context.Background(), path)
		return addedMsg{typed, added, why, err}
	}
	return m.hurry()
}

// starts tells that a run can be started here: none is loaded.
func (m *Model) starts() bool {
	return m.opt.Opens != nil && m.opt.Again != nil && m.data.Frame.Run.ID == 0 && !m.busy()
}

// openedInputMsg is what came of opening the input of a new run.
type openedInputMsg struct {
	typed, path string
	err         error
}

// openedInput leaves so that the caller can start the run, or has the dialog tell why there is none.
func (m *Model) openedInput(msg openedInputMsg) tea.Cmd {
	m.adding--
	if msg.err == nil {
		m.opt.Again(Again{Typed: msg.path})
		return tea.Quit
	}
	m.toast = toast{}
	m.openAdd(msg.typed)
	m.add.fault = widget.Clean(msg.err.Error(), 400)
	m.changed()
	return nil
}

// added tells what came of it. Of what could not be added at all the dialog is there again, unless something else is open by now.
func (m *Model) added(msg addedMsg) {
	m.adding--
	m.changedAt = m.now
	switch {
	case msg.err != nil && msg.added == (engine.Added{}) && m.mode() == m.screenMode() && m.noAdd(m.fresh && !m.data.Frame.Live) == "":
		m.toast = toast{}
		m.openAdd(msg.typed)
		m.add.fault = widget.Clean(msg.err.Error(), 400)
		m.changed()
	case msg.err != nil:
		m.say(themes.Bad, screen.AddedText(msg.added)+": "+widget.Clean(msg.err.Error(), 300), "")
	case msg.added.Cut:
		m.say(themes.Bad, screen.AddedText(msg.added), "")
	case msg.added.Refused > 0:
		m.say(themes.Warn, screen.AddedText(msg.added)+": "+widget.Clean(msg.why, 200), "")
	default:
		m.say(themes.Text, screen.AddedText(msg.added), "")
	}
	m.wantRows(false)
}

// noAdd tells why no URLs can be added now.
func (m *Model) noAdd(over bool) string {
	switch {
	case m.starts() && m.adding == 0:
		return ""
	case m.opt.Adder == nil && m.live:
		return "nothing can be added here"
	case m.opt.Adder == nil || over && m.data.Frame.Run.ID == 0:
		return "no run is going"
	case over:
		return "the run is over: nothing can be added to it"
	case m.data.Frame.Run.State == "draining":
		return "the run is stopping"
	case m.adding > 0:
		return "what you added before is being read still"
	}
	return ""
}
