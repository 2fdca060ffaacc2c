package dashboard

import (
	"math"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"dev.scrapetop/engine/view"
	"dev.scrapetop/themes"
	"dev.scrapetop/ui/screen"
	"dev.scrapetop/ui/widget"
)

// The pace of the frame clock.
const (
	// localFPS is for as long after a key as eager says: what it does is looked for. watchedFPS is for whoever only looks on, as a
	// drawn frame costs a run processor time.
	localFPS   = 10
	watchedFPS = 5
	sshFPS     = 4 // whole screens travel there
	maxFPS     = 30
	eager      = 5 * time.Second
	// slow is the pace when nobody looks, when the picture is frozen, and when no run is live.
	slow = time.Second
	// quiet is the pace after nothing changed for quietAfter: only countdowns move.
	quiet      = time.Second / 2
	quietAfter = 3 * time.Second
	// hold is how long the order of rows stays after the cursor moved.
	hold = 3 * time.Second
)

// frame is a tick of the frame clock.
func (m *Model) frame(f frameMsg) tea.Cmd {
	if f.chain != m.chain || m.suspended {
		return nil // a tick from before a suspend or a change of pace
	}
	m.now = f.now
	m.refresh()
	m.rereadRows()
	m.expire()
	m.exporting()
	if m.leaving != staying && !m.busy() {
		return tea.Quit
	}
	m.pace = m.paceNow()
	return m.tick(m.chain, m.pace)
}

// restart begins a new chain of ticks; those of the old one are dropped when they come.
func (m *Model) restart() tea.Cmd {
	m.chain++
	m.pace = m.paceNow()
	return m.tick(m.chain, m.pace)
}

// hurry begins a new chain if the one in force is slower than it should be now.
func (m *Model) hurry() tea.Cmd {
	if m.paceNow() < m.pace {
		return m.restart()
	}
	return nil
}

func (m *Model) paceNow() time.Duration {
	switch {
	case m.export.writes():
		return time.Second / localFPS
	case m.blurred, !m.frozenAt.IsZero(), m.fresh && !m.data.Frame.Live && len(m.wishes) == 0:
		return slow
	case m.now.Sub(m.changedAt) > quietAfter:
		return quiet
	}
	fps := m.opt.FPS
	switch {
	case fps > 0:
		fps = min(fps, maxFPS)
	case m.opt.Getenv("SSH_CONNECTION") != "":
		fps = sshFPS
	case m.now.Sub(m.touchedAt) <= eager:
		fps = localFPS
	default:
		fps = watchedFPS
	}
	return time.Second / time.Duration(fps)
}

func (m *Model) holding() bool { return m.now.Before(m.holdUntil) }

// rows is how many rows of the table are in sight.
func (m *Model) rows() int { return m.picture().Rows() }

// query is what the screen on show wants to see: the rows in sight with a page on either side, so that moving by a page
// finds its row here.
func (m *Model) query() view.Query {
	page := m.rows()
	return view.Query{
		Offset: max(m.list.Top-page, 0), Limit: max(3*page, 50), Sort: m.list.Sort, Reverse: m.list.Reverse,
		Filter: m.list.Filter, Faults: m.list.Faults, Selected: m.list.Selected, Hold: m.holding(), Range: m.chart,
		Evidence: m.reading != nil,
	}
}

// refresh takes the latest frame, unless the picture is frozen.
func (m *Model) refresh() {
	if !m.frozenAt.IsZero() {
		return
	}
	m.take(m.query())
	// The row under the cursor may have moved out of the rows asked for, or away.
	switch w := &m.data.Frame.Domains; {
	case m.list.Selected == "" && len(m.data.Names) > 0:
		m.choose(0)
	case m.list.Selected != "" && w.Index < 0:
		m.lost()
	case w.Index >= 0 && m.row() < 0 && m.chosen:
		m.index = w.Index
		m.scroll()
		m.take(m.query())
	case !m.chosen && w.Index >= m.rows():
		// Nobody chose that row: the top of the list, which asks for attention, is worth more than staying with it.
		m.choose(0)
	case w.Index >= 0:
		m.index = w.Index
		m.scroll()
	}
	m.settle()
	m.remember()
	if m.list.OnBudgets(m.data, m.tab) {
		m.list.Settle(m.data, m.tab)
	}
}

// settle makes sure that a row in the data is selected: between two questions the engine may have moved on.
func (m *Model) settle() {
	w := &m.data.Frame.Domains
	if w.Matched == 0 || m.row() >= 0 {
		return
	}
	if len(m.data.Names) == 0 {
		m.list.Top, m.index = 0, 0
		m.take(m.query())
		w = &m.data.Frame.Domains
	}
	if n := len(m.data.Names); n > 0 && m.row() < 0 {
		at := min(max(m.index-w.Offset, 0), n-1)
		m.list.Selected, m.index = m.data.Names[at], w.Offset+at
		m.scroll()
		m.changed()
	}
}

// take asks for a frame and makes it the one shown.
func (m *Model) take(q view.Query) {
	f := m.source.Frame(q)
	if f == nil {
		f = &view.Frame{Domains: view.DomainWindow{Index: -1}}
	}
	if m.fresh && f.Seq == m.seq && q == m.asked {
		return
	}
	if f.Seq != m.seq || !m.fresh {
		m.changedAt = m.now
	}
	if q != m.asked {
		m.changed()
	}
	m.seq, m.asked, m.fresh = f.Seq, q, true
	m.data, m.live = screen.Take(f), f.Live
	m.chartTop = screen.ChartTop(m.data.Frame, m.chartTop)
	m.alerts()
	m.confirm()
	if m.looked != nil {
		m.data = screen.Take(screen.PastFrame(m.looked))
	}
}

// row is the index of the selected row in the data, -1 when it is not there.
func (m *Model) row() int { return slices.Index(m.data.Names, m.list.Selected) }

// scroll keeps the selected row in sight.
func (m *Model) scroll() {
	page := m.rows()
	m.list.Top = min(max(m.list.Top, m.index-page+1), m.index)
	m.list.Top = max(min(m.list.Top, m.data.Frame.Domains.Matched-page), 0)
}

// lost handles a selected row that is no longer among the matched ones: its neighbour is selected, and that is said.
func (m *Model) lost() {
	gone := m.list.Selected
	if m.data.Frame.Domains.Matched == 0 {
		// The name is kept: it is selected again when a change of the filter brings it back.
		return
	}
	m.choose(min(max(m.index, 0), m.data.Frame.Domains.Matched-1))
	if m.list.Filter == "" && !m.list.Faults && m.list.Selected != gone {
		m.say(themes.Dim, widget.Clean(gone, 60)+" left the list: now on "+widget.Clean(m.list.Selected, 60), "")
	}
}

// choose selects the row at a position among the matched ones.
func (m *Model) choose(i int) {
	w := &m.data.Frame.Domains
	if w.Matched <= 0 && len(m.data.Names) == 0 {
		return
	}
	i = min(max(i, 0), max(w.Matched-1, 0))
	if i < w.Offset || i >= w.Offset+len(m.data.Names) {
		if !m.frozenAt.IsZero() {
			// A frozen picture holds no other rows.
			i = min(max(i, w.Offset), w.Offset+len(m.data.Names)-1)
		} else {
			q := m.query()
			q.Offset = max(i-q.Limit/2, 0)
			m.take(q)
			w = &m.data.Frame.Domains
		}
	}
	at := min(max(i-w.Offset, 0), len(m.data.Names)-1)
	if at < 0 {
		m.settle() // the list became shorter than where we asked
		return
	}
	m.list.Selected, m.index = m.data.Names[at], w.Offset+at
	m.scroll()
	m.changed()
	if m.frozenAt.IsZero() {
		m.take(m.query())
		m.settle()
	}
}

// move moves the cursor by rows and holds the order while the user does that.
func (m *Model) move(by int) {
	m.holdUntil, m.chosen = m.now.Add(hold), true
	at := m.index
	if i := m.row(); i >= 0 {
		at = m.data.Frame.Domains.Offset + i
	}
	// A jump to the end is more than any list is long.
	if by > 0 && at > math.MaxInt-by {
		at = math.MaxInt - by
	}
	m.choose(at + by)
	m.changed()
}

// remember keeps the last rows seen of what is tagged.
func (m *Model) remember() {
	for i, name := range m.data.Names {
		if _, ok := m.list.Tags[name]; ok {
			m.list.Tags[name] = m.data.Frame.Domains.Rows[i]
		}
	}
}

// busy tells that leaving now would leave something going.
func (m *Model) busy() bool {
	if m.opt.Ended != nil {
		return !m.opt.Ended()
	}
	return m.live
}
