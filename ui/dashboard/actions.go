package dashboard

import (
	"cmp"
	"runtime"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"dev.scrapetop/engine/view"
	"dev.scrapetop/themes"
	"dev.scrapetop/ui/keys"
	"dev.scrapetop/ui/screen"
	"dev.scrapetop/ui/widget"
)

// ranges are the lengths of the chart to choose from; zero is the whole run.
var ranges = []time.Duration{5 * time.Minute, 15 * time.Minute, 50 * time.Minute, 0}

// atOnce is more rows than any list has.
const atOnce = 1 << 40

// do carries out an action of the screens.
func (m *Model) do(action keys.Action) tea.Cmd {
	if why := m.disabled(action); why != "" {
		m.say(themes.Dim, why, "")
		return nil
	}
	page := m.rows()
	if m.list.OnBudgets(m.data, m.tab) && m.doBudget(action) {
		return m.hurry()
	}
	switch action {
	case keys.Down, keys.Next:
		m.move(1)
	case keys.Up, keys.Previous:
		m.move(-1)
	case keys.HalfDown:
		m.move(max(page/2, 1))
	case keys.HalfUp:
		m.move(-max(page/2, 1))
	case keys.PageDown:
		m.move(page)
	case keys.PageUp:
		m.move(-page)
	case keys.Top:
		m.move(-atOnce)
		m.chosen = false
	case keys.Bottom:
		m.move(atOnce)
	case keys.ColumnsLeft:
		m.list.Shift = max(m.list.Shift-1, 0)
	case keys.ColumnsRight:
		m.list.Shift = min(m.list.Shift+1, m.list.Shifts())
	case keys.NextPane:
		m.list.Pane = (m.list.Pane + 1) % m.panes()
	case keys.LastPane:
		m.list.Pane = (m.list.Pane + m.panes() - 1) % m.panes()
	case keys.ShowOverview:
		m.show(screen.Overview)
	case keys.ShowDomains, keys.Open:
		m.show(screen.Domains)
	case keys.LastScreen:
		m.show(m.last)
	case keys.Close:
		m.back()
	case keys.Tag:
		m.tag()
	case keys.TagAll:
		m.tagAll()
	case keys.ClearTags:
		clear(m.list.Tags)
	case keys.Pause:
		m.act(m.list.Pause(m.data))
	case keys.LimitDown:
		m.act(m.list.Limit(m.data, -1, m.askedLimits(), m.yours))
	case keys.LimitUp:
		m.act(m.list.Limit(m.data, 1, m.askedLimits(), m.yours))
	case keys.EndCooldown:
		p := m.picture()
		m.endWait(m.list.EndCooldown(m.data, p), p.CooldownQuestion())
	case keys.Undo:
		m.takeBack()
	case keys.Copy:
		return m.copyRows()
	case keys.PauseRun:
		m.act(screen.PauseRun(m.data))
	case keys.Quit:
		return m.quit()
	default:
		return m.doView(action)
	}
	return m.hurry()
}

// doBudget carries out what concerns the budgets while their pane has the focus; false: the action is about something else.
func (m *Model) doBudget(action keys.Action) bool {
	by := map[keys.Action]int{
		keys.Down: 1, keys.Up: -1, keys.HalfDown: 2, keys.HalfUp: -2, keys.PageDown: 4, keys.PageUp: -4, keys.Bottom: atOnce, keys.Top: -atOnce,
	}[action]
	switch {
	case by != 0:
		m.list.MoveBudget(m.data, by)
		m.changed()
	case action == keys.Pause:
		m.act(m.list.PauseBudget(m.data))
	case action == keys.EndCooldown || action == keys.Probe:
		m.endWait(m.picture().ProbeBudget())
	default:
		return false
	}
	return true
}

// doView carries out what changes only the picture.
func (m *Model) doView(action keys.Action) tea.Cmd {
	switch action {
	case keys.Filter:
		m.prompt = &prompt{input: m.list.Filter}
	case keys.Faults:
		m.list.Faults, m.list.Top = !m.list.Faults, 0
		m.refresh()
	case keys.Alerts:
		m.showAlerts()
	case keys.Sort:
		m.chooseSort()
	case keys.Reverse:
		m.list.Reverse = !m.list.Reverse
		m.reorder()
	case keys.Freeze:
		m.freeze()
		return m.restart()
	case keys.RangeLonger:
		m.setRange(1)
	case keys.RangeShorter:
		m.setRange(-1)
	case keys.Zoom:
		m.list.Zoomed = !m.list.Zoomed
	case keys.Detail:
		m.list.NoDetail = !m.list.NoDetail
		m.scroll()
	case keys.Wide:
		m.list.Wide = !m.list.Wide
		m.list.Shift = min(m.list.Shift, m.list.Shifts())
	case keys.NextTheme:
		m.turnTheme(1)
	case keys.LastTheme:
		m.turnTheme(-1)
	case keys.Help:
		m.closeOver()
		m.help = &screen.Help{Mode: m.screenMode(), Disabled: m.disabled}
		m.over = m.help
	}
	return nil
}

// disabled tells why an action can do nothing now; it is shown in the help and as the answer to the key.
func (m *Model) disabled(action keys.Action) string {
	frozen, none := !m.frozenAt.IsZero(), m.row() < 0
	over := m.fresh && !m.data.Frame.Live
	if m.list.OnBudgets(m.data, m.tab) {
		// Their pane has rows of its own.
		none = false
		if action == keys.EndCooldown || action == keys.Probe {
			return m.noProbe(over)
		}
	}
	switch action {
	case keys.Down, keys.Up, keys.HalfDown, keys.HalfUp, keys.PageDown, keys.PageUp, keys.Top, keys.Bottom, keys.Tag, keys.TagAll, keys.Copy:
		if none && m.data.Frame.Domains.Matched == 0 {
			return "there are no domains to move on"
		}
	case keys.Pause, keys.LimitDown, keys.LimitUp, keys.EndCooldown:
		switch {
		case over:
			return "no run is going"
		case none && len(m.list.Tags) == 0:
			return "no domain is selected"
		}
		if action == keys.EndCooldown {
			return m.list.EndCooldown(m.data, m.picture()).Why
		}
	case keys.Probe:
		switch {
		case len(m.data.Budgets) == 0:
			return "there is no key or account to probe"
		case m.panes() < 2:
			return "keys and accounts are chosen on panes, which need 120x36"
		}
		return "a key or account is probed: Tab to Remaining"
	case keys.PauseRun:
		switch {
		case over:
			return "no run is going"
		case m.data.Frame.Run.State == "draining":
			return "the run is stopping"
		}
	case keys.ClearTags:
		if len(m.list.Tags) == 0 {
			return "nothing is tagged"
		}
	case keys.Undo:
		if m.undo == nil {
			return "nothing to undo"
		}
	case keys.Next, keys.Previous:
		if m.list.Filter == "" {
			return "no filter is set: / sets one"
		}
	case keys.Filter, keys.Sort, keys.Reverse, keys.Faults, keys.RangeLonger, keys.RangeShorter:
		if frozen {
			return "the picture is frozen: Z"
		}
	case keys.NextPane, keys.LastPane, keys.Zoom:
		if m.panes() < 2 {
			return "panes need 120x36"
		}
	case keys.Detail:
		if screen.ClassOf(m.w, m.h) < screen.Standard {
			return "the detail needs 80x24"
		}
	case keys.NextTheme, keys.LastTheme:
		if m.profile == themes.NoColor {
			return "colours are off"
		}
	case keys.Suspend:
		if runtime.GOOS == "windows" {
			return "there is no job control here"
		}
	}
	return ""
}

// noProbe tells why no probe of the selected key or account can be asked for.
func (m *Model) noProbe(over bool) string {
	switch state := m.data.Frame.Run.State; {
	case over:
		return "no run is going"
	case state == "draining":
		return "the run is stopping"
	case state == "paused":
		return "the run is paused: P resumes it"
	}
	act, _ := m.picture().ProbeBudget()
	return act.Why
}

func (m *Model) panes() int { return screen.Panes(m.tab, m.w, m.h) }

func (m *Model) show(tab screen.Tab) {
	if tab == m.tab {
		return
	}
	m.last, m.tab = m.tab, tab
	m.list.Pane, m.list.Zoomed = 0, false
	m.scroll()
	m.refresh()
}

// back is Esc: it closes the nearest thing.
func (m *Model) back() {
	switch {
	case m.list.Zoomed:
		m.list.Zoomed = false
	case m.toast.text != "" && m.undo == nil:
		m.toast = toast{}
	case m.list.Filter != "" && m.frozenAt.IsZero():
		m.filter("")
	case m.list.Faults && m.frozenAt.IsZero():
		m.list.Faults = false
		m.refresh()
	case m.tab != screen.Overview:
		m.show(screen.Overview)
	}
}

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
	q.Offset, q.Limit = max(m.index-500, 0), 1000
	m.take(q)
	m.settle()
	m.frozenAt = m.now
}

func (m *Model) setRange(by int) {
	i := slices.Index(ranges, m.chart)
	next := min(max(i+by, 0), len(ranges)-1)
	if next == i {
		m.say(themes.Dim, "there is no other range on that side", "")
		return
	}
	m.chart, m.chartTop = ranges[next], 0
	m.refresh()
}

func (m *Model) turnTheme(by int) {
	m.theme = (max(m.theme, 0) + by + len(m.themes)) % len(m.themes)
	m.wear(m.themes[m.theme])
	m.say(themes.Text, "theme "+m.themes[m.theme], "t: next")
}

func (m *Model) chooseSort() {
	c := &screen.Choice{Title: "Sort by"}
	for _, s := range screen.Sorts {
		c.Items = append(c.Items, string(s))
	}
	c.Cursor = max(slices.Index(screen.Sorts, m.sorted()), 0)
	m.openMenu(c, func(i int) {
		m.list.Sort = screen.Sorts[i]
		m.reorder()
	})
}

func (m *Model) sorted() view.Sort {
	if m.list.Sort == "" {
		return view.SortAttention
	}
	return m.list.Sort
}

// reorder takes a new order at once, even while the old one was held.
func (m *Model) reorder() {
	m.holdUntil = time.Time{}
	m.refresh()
}

// showAlerts opens the list of alerts, newest first.
func (m *Model) showAlerts() {
	c := &screen.Choice{Title: "Alerts", Empty: "no alerts"}
	alerts := slices.SortedFunc(slices.Values(m.data.Frame.Alerts), func(a, b view.Alert) int { return cmp.Compare(b.Seq, a.Seq) })
	for _, a := range alerts {
		c.Items = append(c.Items, a.At.In(m.now.Location()).Format(time.TimeOnly)+"  "+a.Text)
		m.read = max(m.read, a.Seq)
	}
	m.openMenu(c, func(i int) {
		if alerts[i].Do != "" {
			m.say(themes.Warn, alerts[i].Do, "")
		}
	})
}

// endWait puts a question before an act on a wait; without one it acts at once.
func (m *Model) endWait(act screen.Act, q *screen.Question) {
	if q == nil || act.Why != "" {
		m.act(act)
		return
	}
	m.openQuestion(&question{
		Question: q, letters: map[string]int{"e": 1},
		presses: []func() tea.Cmd{
			func() tea.Cmd { return nil },
			func() tea.Cmd { m.act(act); return m.hurry() },
		},
	})
}

// copyRows copies the domains that are tagged, or the one under the cursor.
func (m *Model) copyRows() tea.Cmd {
	var names []string
	for name := range m.list.Tags {
		names = append(names, widget.Clean(name, 253))
	}
	slices.Sort(names)
	if len(names) == 0 {
		names = []string{widget.Clean(m.list.Selected, 253)}
	}
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
