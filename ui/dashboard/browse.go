package dashboard

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"dev.scrapetop/storage"
	"dev.scrapetop/ui/keys"
	"dev.scrapetop/ui/screen"
	"dev.scrapetop/ui/widget"
)

// Reader reads the rows of runs from storage. Read is called off the program's loop, one call at a time, and may block.
type Reader interface {
	Read(ctx context.Context, ask screen.Ask) (screen.Rows, error)
}

const (
	// rowsEvery is how often the rows on show are read again while the run goes on, and never more often than a share of
	// the time: what takes long to read is read seldom.
	rowsEvery = time.Second
	rowsShare = 20
	// rowsWithin is when a question is given up.
	rowsWithin = 20 * time.Second
)

// asking is where the questions about rows stand. One is out at a time: an answer that came too late is not drawn, and what
// changed meanwhile is asked for when it is there.
type asking struct {
	number uint64 // of the last question
	out    bool   // it has no answer yet
	due    bool   // another is to be put
	at     time.Time
	took   time.Duration
	seq    uint64 // of the frame on show when it was put
	shown  uint64 // number of the question whose answer is drawn
	ask    screen.Ask
}

// rowsMsg is an answer.
type rowsMsg struct {
	number uint64
	rows   *screen.Rows
	err    error
	took   time.Duration
}

// wantRows has the rows asked for when the message in hand is done. They are other rows when what is on show is not an answer
// to it any more.
func (m *Model) wantRows(other bool) {
	if m.asking.due = true; other {
		m.shownRows, m.browse.Fault = nil, ""
	}
	m.changed()
}

// question puts the question that is due, if any: its command reads and comes back as a message.
func (m *Model) question() tea.Cmd {
	a := &m.asking
	switch {
	case !a.due || a.out || !m.frozenAt.IsZero():
		return nil
	case m.opt.Rows == nil || !m.tab.OfRows() || m.data.Frame.Run.ID == 0 && m.tab != screen.History:
		a.due = false
		return nil
	}
	a.number++
	m.browse.Width = m.picture().BodyWidth()
	a.due, a.out, a.at, a.seq, a.ask = false, true, m.now, m.seq, m.rowsAsk(m.rows())
	number, ask, reader, now := a.number, a.ask, m.opt.Rows, m.opt.Now
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), rowsWithin)
		defer cancel()
		begun := now()
		rows, err := reader.Read(ctx, ask)
		rows.Ask = ask
		return rowsMsg{number, screen.TakeRows(rows), err, now().Sub(begun)}
	}
}

// answered takes an answer. It is drawn unless something else is on show by now.
func (m *Model) answered(msg rowsMsg) {
	a := &m.asking
	a.out, a.took = false, msg.took
	if !a.ask.Same(m.rowsAsk(1)) {
		a.due = true
		return
	}
	if a.shown = msg.number; msg.err != nil {
		m.browse.Fault = widget.Clean(msg.err.Error(), 200)
	} else {
		m.shownRows, m.browse.Fault = msg.rows, ""
		m.stands(msg.rows.Past)
	}
	m.changed()
}

// rereadRows asks again for what may have changed: once more after the last frame of a run, and not after that.
func (m *Model) rereadRows() {
	a := &m.asking
	if !m.tab.OfRows() || a.out {
		return
	}
	first := m.shownRows == nil && m.browse.Fault == ""
	if first || (m.data.Frame.Live || m.moving() || a.seq != m.seq) && m.now.Sub(a.at) >= max(rowsEvery, rowsShare*a.took) {
		a.due = true
	}
}

// rowsAsk is the question of the screen on show when h rows are in sight.
func (m *Model) rowsAsk(h int) screen.Ask {
	ask := m.browse.Ask(m.data.Frame.Run.ID, m.tab, h)
	ask.Past = m.looked != nil && ask.Run != 0
	return ask
}

// moving tells that what is shown changes though no run is driven here: another process drives it.
func (m *Model) moving() bool {
	return m.shownRows.Moving() || m.looked != nil && (m.looked.State == storage.RunRunning || m.looked.State == storage.RunDraining)
}

// doRows carries out what concerns the rows on show; false: the action is about something else.
func (m *Model) doRows(action keys.Action) bool {
	page := m.rows()
	half := max(page/2, 1)
	by := map[keys.Action]int{
		keys.Down: 1, keys.Up: -1, keys.HalfDown: half, keys.HalfUp: -half, keys.PageDown: page, keys.PageUp: -page, keys.Bottom: atOnce, keys.Top: -atOnce,
	}[action]
	switch {
	case m.tab == screen.Letters && m.doLetters(action, by):
	case m.tab == screen.Events && m.doEvents(action):
	case m.tab >= screen.History && m.doHistory(action, by):
	case by != 0:
		m.browse.MoveRow(m.shownRows, m.tab, by, page)
		m.wantRows(false)
	case action == keys.ColumnsLeft || action == keys.ColumnsRight:
		turn := 1
		if action == keys.ColumnsLeft {
			turn = -1
		}
		m.browse.TurnState(turn)
		m.wantRows(true)
	case action == keys.Open:
		m.browse.Open = !m.browse.Open
	case action == keys.Requeue:
		m.requeueLetters()
	case action == keys.Retry:
		m.retry()
	case action == keys.Cancel:
		m.cancel()
	case action == keys.Tag:
		m.tagTask()
	case action == keys.ClearTags:
		clear(m.browse.Tags[m.tab])
	default:
		return false
	}
	m.changed()
	return true
}

// backRows is Esc on a screen of rows: it closes the nearest thing; false: there is none.
func (m *Model) backRows() bool {
	b := &m.browse
	switch {
	case b.Open:
		b.Open = false
		return true
	case m.tab == screen.Letters && b.Letters:
		b.Letters = false
		return true
	case b.Texts[m.tab] != "":
		b.Texts[m.tab] = ""
	case m.tab == screen.Tasks && b.Domain != "":
		b.Domain = ""
	default:
		return false
	}
	m.wantRows(true)
	return true
}

// noRow tells why an action on the rows can do nothing now.
func (m *Model) noRow(action keys.Action) string {
	if m.tab == screen.Events {
		return m.noEvent(action)
	}
	if m.tab >= screen.History {
		return m.noHistory(action)
	}
	switch action {
	case keys.Retry, keys.Cancel:
		return m.noTask(action)
	case keys.ClearTags:
		if len(m.browse.Tags[m.tab]) == 0 {
			return "nothing is tagged"
		}
	case keys.Tag:
		if m.tab == screen.Tasks && m.browse.ChosenTask(m.shownRows, m.tab) == nil {
			return "there is no row"
		}
	case keys.Open, keys.Copy, keys.CopyJSON:
		if action == keys.Open && m.tab == screen.Letters && !m.browse.Letters {
			return ""
		}
		if m.browse.ChosenTask(m.shownRows, m.tab) == nil {
			return "there is no row"
		}
	}
	return ""
}

// doEvents carries out what concerns the events; false: the action is about any rows.
func (m *Model) doEvents(action keys.Action) bool {
	b := &m.browse
	switch action {
	case keys.Follow:
		b.Follow()
		m.wantRows(false)
	case keys.Level:
		b.TurnLevel()
		m.wantRows(true)
	case keys.Faults:
		b.OnlyErrors()
		m.wantRows(true)
	case keys.Open:
		b.Domain, b.State, b.Texts[screen.Tasks] = "", "", ""
		b.Picks[screen.Tasks] = screen.Pick{ID: b.ChosenEvent(m.shownRows).Task}
		m.show(screen.Tasks)
	default:
		return false
	}
	return true
}

// tagTask tags or untags the task under the cursor and goes to the next one.
func (m *Model) tagTask() {
	m.browse.TagTask(m.shownRows, m.tab)
	m.doRows(keys.Down)
}

// noEvent tells why an action on the events can do nothing now.
func (m *Model) noEvent(action keys.Action) string {
	e := m.browse.ChosenEvent(m.shownRows)
	switch action {
	case keys.Open, keys.Copy, keys.CopyJSON:
		switch {
		case e == nil:
			return "there is no row"
		case action == keys.Open && e.Task == 0:
			return "this event is about no single task"
		}
	}
	return ""
}

// openTasks shows the tasks of a domain.
func (m *Model) openTasks(domain string) {
	m.browse.Domain, m.browse.State, m.browse.Picks[screen.Tasks] = domain, "", screen.Pick{}
	m.show(screen.Tasks)
}
