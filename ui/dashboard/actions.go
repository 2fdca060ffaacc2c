package dashboard

import (
	tea "github.com/charmbracelet/bubbletea"

	"dev.scrapetop/themes"
	"dev.scrapetop/ui/keys"
	"dev.scrapetop/ui/screen"
)

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
	if m.tab.OfRows() && m.doRows(action) {
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
	case keys.ShowBudgets:
		m.show(screen.Budgets)
	case keys.ShowTasks:
		m.show(screen.Tasks)
	case keys.ShowLetters:
		m.show(screen.Letters)
	case keys.ShowEvents:
		m.show(screen.Events)
	case keys.ShowHistory:
		m.show(screen.History)
	case keys.AddURLs:
		m.openAdd("")
	case keys.Demo:
		m.opt.Again(Again{Demo: true})
		return tea.Quit
	case keys.Export:
		m.openExport()
	case keys.Open:
		m.open()
	case keys.Scope:
		m.turnScope()
	case keys.Diagnosis:
		m.openDiagnosis()
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
	case keys.CopyJSON:
		return m.copyJSON()
	case keys.Browse:
		return m.openAddress()
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
	page := m.rows()
	half := max(page/2, 1)
	by := map[keys.Action]int{
		keys.Down: 1, keys.Up: -1, keys.HalfDown: half, keys.HalfUp: -half, keys.PageDown: page, keys.PageUp: -page, keys.Bottom: atOnce, keys.Top: -atOnce,
	}[action]
	switch {
	case by != 0:
		m.list.MoveBudget(m.data, m.tab, by)
		m.changed()
	case action == keys.Pause:
		m.act(m.list.PauseBudget(m.data, m.tab))
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
		m.prompt = &prompt{field: newField(m.list.Filter, 250)}
		if m.tab.OfRows() {
			m.prompt = &prompt{field: newField(m.browse.Texts[m.tab], 250), part: true}
		}
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
	case keys.Palette:
		m.openPalette()
	case keys.Help:
		m.closeOver()
		m.help = &screen.Help{Keys: m.opt.Keys, Mode: m.screenMode(), Disabled: m.disabled}
		m.over = m.help
	}
	return nil
}

func (m *Model) panes() int { return m.list.Panes(m.tab, m.w, m.h) }

// open shows what the cursor is on: a budget among those of its scope, the tasks of a domain, all events, else the domains.
func (m *Model) open() {
	switch {
	case m.tab == screen.Budgets:
		m.openTasks(m.list.Selected)
		return
	case m.list.OnEvents(m.tab):
		m.show(screen.Events)
		return
	case m.list.OnBudgets(m.data, m.tab):
		m.list.OpenBudget(m.data, m.tab)
	default:
		m.list.Scope = ""
	}
	m.show(screen.Budgets)
}

// turnScope shows the budgets of the next scope, from the Overview too.
func (m *Model) turnScope() {
	m.list.NextScope()
	m.list.Pane, m.list.Zoomed = 0, false
	m.show(screen.Budgets)
	m.list.Settle(m.data, m.tab)
	m.scroll()
}

func (m *Model) show(tab screen.Tab) {
	if !tab.OfRows() {
		m.lookAway() // nothing else is known of a run that nobody drives here
	}
	if tab == m.tab {
		return
	}
	m.last, m.tab = m.tab, tab
	m.browse.Open = false
	m.wantRows(true)
	m.list.Pane, m.list.Zoomed = 0, false
	m.scroll()
	m.refresh()
}

// back is Esc: it closes the nearest thing.
func (m *Model) back() {
	if m.tab.OfRows() && m.frozenAt.IsZero() && m.backRows() {
		return
	}
	switch {
	case m.list.Zoomed:
		m.list.Zoomed = false
	case m.toast.text != "" && m.undo == nil:
		m.toast = toast{}
	case m.list.Filter != "" && m.frozenAt.IsZero() && !m.tab.OfRows():
		m.filter("")
	case m.list.Faults && m.frozenAt.IsZero() && !m.tab.OfRows():
		m.list.Faults = false
		m.refresh()
	case m.tab == screen.Page:
		m.show(screen.Results)
	case m.tab == screen.Results, m.looked != nil && m.tab != screen.History:
		m.show(screen.History)
	case m.tab != screen.Overview:
		m.show(screen.Overview)
	}
}
