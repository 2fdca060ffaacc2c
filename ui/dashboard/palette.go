package dashboard

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"

	"dev.scrapetop/engine"
	"dev.scrapetop/engine/view"
	"dev.scrapetop/themes"
	"dev.scrapetop/ui/keys"
	"dev.scrapetop/ui/screen"
	"dev.scrapetop/ui/widget"
)

// palette is the field in which every action can be called by its name, and some with an argument.
type palette struct {
	*screen.Palette
	field   textinput.Model
	choices []choice // of Lines, in their order
}

// choice is a line of the palette.
type choice struct {
	text string         // what the field holds when it is completed, clean
	open bool           // an argument is missing yet
	run  func() tea.Cmd // nil while open
}

// verb is an action that takes an argument.
type verb struct {
	name, arg, help string
	action          keys.Action                 // whose key and whose reason to be off it shares; empty: none
	complete        func(begun string) []string // the arguments there are, as the engine names them; nil: any text
	run             func(argument string) tea.Cmd
}

// domainsAtOnce is the most domains that are offered to choose from.
const domainsAtOnce = 50

// verbs are the actions that take an argument on the screen on show.
func (m *Model) verbs() []verb {
	all := []verb{
		{name: "pause", arg: "<domain>", help: "stop sending to it, what is in flight finishes", action: keys.Pause, complete: m.domainsLike,
			run: func(domain string) tea.Cmd { m.pauseNamed(domain, engine.Pause); return nil }},
		{name: "resume", arg: "<domain>", help: "send to it again", action: keys.Pause, complete: m.domainsLike,
			run: func(domain string) tea.Cmd { m.pauseNamed(domain, engine.Resume); return nil }},
		{name: "add", arg: "<URL or file>", help: "to the run that is going", action: keys.AddURLs, run: func(text string) tea.Cmd { return m.startAdding(text) }},
		{name: "go", arg: "<domain>", help: "put the cursor on it", complete: m.domainsLike, run: func(domain string) tea.Cmd {
			m.list.Selected, m.list.Scope, m.list.Filter, m.list.Faults, m.chosen = domain, "", "", false, true
			m.show(screen.Budgets)
			m.refresh()
			return nil
		}},
		{name: "tasks", arg: "<domain>", help: "its tasks", complete: m.domainsLike, run: func(domain string) tea.Cmd { m.openTasks(domain); return nil }},
		{name: "filter", arg: "<text>", help: "narrow what is shown", action: keys.Filter, run: func(text string) tea.Cmd { m.filter(text); return nil }},
		{name: "theme", arg: "<name>", help: "wear a theme", action: keys.NextTheme, complete: func(string) []string { return m.themes },
			run: func(name string) tea.Cmd {
				m.toast, m.turned = toast{}, true
				if m.wear(name) && m.toast.text == "" {
					m.say(themes.Text, "theme "+widget.Clean(name, 60), "")
				}
				return nil
			}},
	}
	if m.screenMode() == keys.Domains {
		all = append(all, verb{name: "sort", arg: "<column>", help: "order the domains", action: keys.Sort, complete: func(string) []string {
			var names []string
			for _, s := range screen.Sorts {
				names = append(names, string(s))
			}
			return names
		}, run: func(column string) tea.Cmd { m.list.Sort = view.Sort(column); m.reorder(); return nil }})
	}
	if m.screenMode() == keys.Overview {
		all = append(all, verb{name: "range", arg: "<span>", help: "of the chart", action: keys.RangeLonger, complete: func(string) []string {
			var spans []string
			for _, r := range ranges {
				spans = append(spans, screen.RangeWord(r))
			}
			return spans
		}, run: func(span string) tea.Cmd {
			i := slices.IndexFunc(ranges, func(r time.Duration) bool { return screen.RangeWord(r) == span })
			m.setRange(i - slices.Index(ranges, m.chart))
			return nil
		}})
	}
	return all
}

// domainsLike are domains that hold what was begun, the first in the order of the table.
func (m *Model) domainsLike(begun string) []string {
	f := m.source.Frame(view.Query{Filter: begun, Limit: domainsAtOnce, Sort: view.SortDomain})
	if f == nil {
		return nil
	}
	names := make([]string, len(f.Domains.Rows))
	for i := range names {
		names[i] = f.Domains.Rows[i].Domain
	}
	return names
}

// pauseNamed pauses or resumes one domain.
func (m *Model) pauseNamed(domain string, want engine.Verb) {
	f := m.source.Frame(view.Query{Filter: "/^" + regexp.QuoteMeta(domain) + "$/", Selected: domain, Limit: 1})
	one := screen.List{Selected: domain}
	act := one.Pause(screen.Take(f))
	if len(act.Do) > 0 && act.Do[0].Verb != want {
		act = screen.Act{Why: widget.Clean(domain, 60) + " is so already"}
	}
	m.act(act)
}

func (m *Model) openPalette() {
	m.closeOver()
	m.palette = &palette{Palette: &screen.Palette{}, field: newField("", 120)}
	m.over = m.palette.Palette
	m.palette.list(m)
}

// edit takes a key for the field.
func (p *palette) edit(m *Model, msg tea.KeyMsg) {
	p.field, _ = p.field.Update(msg)
	if value := p.field.Value(); value != widget.Clean(value, 120) {
		p.field.SetValue(widget.Clean(value, 120))
	}
	p.list(m)
}

func (p *palette) put(m *Model, text string) {
	p.field.SetValue(text)
	p.field.CursorEnd()
	p.list(m)
}

// list makes the lines for what is typed: the arguments of a verb that was typed whole, else the verbs and actions that
// are like it.
func (p *palette) list(m *Model) {
	at := []rune(p.field.Value())
	p.Before, p.Behind = string(at[:p.field.Position()]), string(at[p.field.Position():])
	typed := strings.TrimLeft(p.field.Value(), " ")
	p.Cursor, p.Lines, p.choices = 0, nil, nil
	verbs := m.verbs()
	actions := m.opt.Keys.Search(m.screenMode(), "", m.disabled)
	p.Of = len(verbs) + len(actions)
	for _, v := range verbs {
		if argument, ok := strings.CutPrefix(typed, v.name+" "); ok && (v.complete != nil || strings.TrimSpace(argument) != "") {
			for _, e := range actions {
				if strings.HasPrefix(string(e.Action), typed) {
					p.action(m, e) // "pause run" is one, whatever "pause" takes
				}
			}
			p.arguments(m, v, strings.TrimSpace(argument))
			return
		}
	}
	for _, v := range verbs {
		if !alike(v.name+" "+v.help, typed) {
			continue
		}
		line := screen.PaletteLine{Command: v.name + " " + v.arg, Help: v.help}
		if v.action != "" {
			line.Keys, line.Off = m.opt.Keys.Key(m.screenMode(), v.action), m.disabled(v.action)
		}
		p.add(line, choice{text: v.name + " ", open: true})
	}
	for _, e := range m.opt.Keys.Search(m.screenMode(), typed, m.disabled) {
		if e.Action != keys.Palette {
			p.action(m, e)
		}
	}
}

func (p *palette) action(m *Model, e keys.Entry) {
	p.add(screen.PaletteLine{Command: string(e.Action), Keys: e.Keys, Help: e.Text, Off: e.Off, Asks: e.Asks},
		choice{text: string(e.Action), run: func() tea.Cmd { return m.carryOut(m.screenMode(), e.Action) }})
}

// arguments are the lines of a verb of which the argument is being typed.
func (p *palette) arguments(m *Model, v verb, begun string) {
	list := []string{begun}
	if v.complete != nil {
		list = slices.DeleteFunc(slices.Clone(v.complete(begun)), func(s string) bool { return !alike(s, begun) })
		p.Of = len(p.Lines) + len(list)
	}
	for _, argument := range list {
		text := v.name + " " + widget.Clean(argument, 253)
		line := screen.PaletteLine{Command: text}
		if v.action != "" {
			line.Off = m.disabled(v.action)
		}
		p.add(line, choice{text: text, run: func() tea.Cmd { return v.run(argument) }})
	}
}

func (p *palette) add(line screen.PaletteLine, c choice) {
	p.Lines, p.choices = append(p.Lines, line), append(p.choices, c)
}

// alike tells whether each word typed stands in text, or its letters do in their order within one word of it.
func alike(text, typed string) bool {
	text = strings.ToLower(text)
	for word := range strings.FieldsSeq(strings.ToLower(typed)) {
		found := strings.Contains(text, word)
		for part := range strings.FieldsSeq(text) {
			found = found || view.Fuzzy(part, word)
		}
		if !found {
			return false
		}
	}
	return true
}

func (m *Model) inPalette(action keys.Action) tea.Cmd {
	p := m.palette
	page := max(m.h/2, 1)
	move := func(by int) { p.Cursor = min(max(p.Cursor+by, 0), max(len(p.Lines)-1, 0)) }
	switch action {
	case keys.Down:
		move(1)
	case keys.Up:
		if p.Cursor == 0 && p.field.Value() == "" && m.command != "" {
			p.put(m, m.command)
		}
		move(-1)
	case keys.PageDown:
		move(page)
	case keys.PageUp:
		move(-page)
	case keys.Complete:
		if len(p.choices) > 0 {
			p.put(m, p.choices[p.Cursor].text)
		}
	case keys.Close:
		m.closeOver()
	case keys.Quit:
		m.closeOver()
		return m.quit()
	case keys.Open:
		return m.call()
	}
	return nil
}

// call does what the chosen line says; one that lacks its argument is completed as far as it goes.
func (m *Model) call() tea.Cmd {
	p := m.palette
	if len(p.choices) == 0 {
		return nil
	}
	c, line := p.choices[p.Cursor], p.Lines[p.Cursor]
	switch {
	case line.Off != "":
		m.closeOver()
		m.say(themes.Dim, line.Off, "")
		return nil
	case c.open:
		p.put(m, c.text)
		return nil
	}
	m.command = c.text
	m.closeOver()
	return together(c.run(), m.hurry())
}
