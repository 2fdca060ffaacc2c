package dashboard

import (
	"context"
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"dev.scrapetop/engine"
	"dev.scrapetop/storage"
	"dev.scrapetop/themes"
	"dev.scrapetop/ui/keys"
	"dev.scrapetop/ui/screen"
	"dev.scrapetop/ui/widget"
)

// Requeuer puts dead letters back in the queue. Both methods are called off the program's loop and may block.
type Requeuer interface {
	// Requeue puts back these letters and returns how many were still dead.
	Requeue(ctx context.Context, letters []engine.DeadLetter) (int64, error)
	// RequeueAll puts back the letters that a question is about, wherever its window is, and returns how many.
	RequeueAll(ctx context.Context, ask screen.Ask) (int64, error)
}

// requeuedMsg is how an act on dead letters ended.
type requeuedMsg struct {
	n    int64
	what string
	err  error
}

// doLetters carries out what concerns the dead letters; false: the action is about any rows.
func (m *Model) doLetters(action keys.Action, by int) bool {
	b := &m.browse
	switch {
	case action == keys.ColumnsLeft || action == keys.ColumnsRight:
		if b.ByDomain == (action == keys.ColumnsRight) {
			return true
		}
		b.ByDomain, b.Group, b.Letters, b.Picks[screen.Letters] = !b.ByDomain, "", false, screen.Pick{}
		m.wantRows(true)
	case action == keys.NextPane || action == keys.LastPane:
		b.Letters = !b.Letters
	case by != 0 && !b.Letters:
		b.MoveGroup(m.shownRows, by)
		m.wantRows(false)
	case action == keys.Open && !b.Letters:
		b.Letters = true
	case action == keys.Tag:
		b.TagLetter(m.shownRows)
		m.doRows(keys.Down)
	case action == keys.ClearTags:
		clear(b.Tags)
	case action == keys.Requeue:
		m.requeueLetters()
	case action == keys.RequeueAll:
		m.requeueGroup()
	default:
		return false
	}
	return true
}

// requeueLetters puts back the tagged letters, or else the one under the cursor; among the tasks always that one.
func (m *Model) requeueLetters() {
	var letters []engine.DeadLetter
	if m.tab == screen.Letters {
		for id, domain := range m.browse.Tags {
			letters = append(letters, engine.DeadLetter{Task: id, Domain: domain})
		}
		m.browse.Tags = nil
	}
	what := "tagged"
	if len(letters) == 0 {
		t := m.browse.ChosenTask(m.shownRows, m.tab)
		letters = []engine.DeadLetter{{Task: t.ID, Domain: m.shownRows.DomainOf(t.ID)}}
		what = "task " + widget.Thousands(t.ID)
	}
	requeuer := m.opt.Requeuer
	m.later = func() tea.Msg {
		n, err := requeuer.Requeue(context.Background(), letters)
		return requeuedMsg{n, what, err}
	}
}

// requeueGroup asks, and puts back a whole group.
func (m *Model) requeueGroup() {
	q := m.picture().RequeueQuestion()
	if q == nil {
		return
	}
	ask, requeuer := m.asking.ask, m.opt.Requeuer
	ask.Text = "" // the whole group is counted, whatever is searched for in it
	ask.Group = m.shownRows.GroupKeys[m.browse.GroupAt(m.shownRows)]
	what := "all of: " + m.browse.ChosenGroup(m.shownRows).Key
	m.openQuestion(&question{
		Question: q, letters: map[string]int{"r": 1},
		presses: []func() tea.Cmd{
			func() tea.Cmd { return nil },
			func() tea.Cmd {
				m.say(themes.Text, "requeueing "+what, "")
				return func() tea.Msg {
					n, err := requeuer.RequeueAll(context.Background(), ask)
					return requeuedMsg{n, what, err}
				}
			},
		},
	})
}

// requeued tells how it ended. What a run that is over has queued waits for its resume.
func (m *Model) requeued(msg requeuedMsg) {
	text := "requeued " + widget.Thousands(msg.n) + " dead letters (" + msg.what + ")"
	if msg.n == 1 {
		text = "requeued 1 dead letter (" + msg.what + ")"
	}
	hint := ""
	if !m.data.Frame.Live && m.opt.Resume != "" {
		hint = m.opt.Resume + " goes on with them"
	}
	if m.say(themes.Text, text, hint); msg.err != nil {
		m.say(themes.Bad, text+", then: "+widget.Clean(msg.err.Error(), 200), "")
	}
	m.wantRows(false)
}

// notDead tells why the task under the cursor cannot be requeued.
func (m *Model) notDead() string {
	t := m.browse.ChosenTask(m.shownRows, m.tab)
	switch {
	case t == nil:
		return "there is no row"
	case t.State != storage.TaskDead:
		return "only a dead letter is requeued: task " + widget.Thousands(t.ID) + " is " + string(t.State)
	}
	return ""
}

// noLetter tells why an act on dead letters can do nothing now.
func (m *Model) noLetter(action keys.Action) string {
	switch action {
	case keys.Requeue, keys.RequeueAll:
		switch {
		case m.looked != nil:
			return "they are of a run that is only looked at: scrapetop requeue --run " + strconv.FormatInt(m.looked.ID, 10)
		case m.opt.Requeuer == nil:
			return "nothing can be queued here: scrapetop requeue does it"
		case m.tab == screen.Tasks:
			return m.notDead()
		case m.browse.ChosenGroup(m.shownRows) == nil:
			return "there are no dead letters"
		case action == keys.Requeue && len(m.browse.Tags) == 0 && !m.browse.Letters:
			return "R requeues all of the group; Enter shows its letters, to choose from"
		case action == keys.Requeue && len(m.browse.Tags) == 0 && m.browse.ChosenTask(m.shownRows, m.tab) == nil:
			return "there is no row"
		}
	case keys.Tag:
		switch {
		case !m.browse.Letters:
			return "letters are tagged: Enter shows those of the group"
		case m.browse.ChosenTask(m.shownRows, m.tab) == nil:
			return "there is no row"
		}
	case keys.ClearTags:
		if len(m.browse.Tags) == 0 {
			return "nothing is tagged"
		}
	}
	return ""
}
