package dashboard

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"dev.scrapetop/engine"
	"dev.scrapetop/storage"
	"dev.scrapetop/themes"
	"dev.scrapetop/ui/keys"
	"dev.scrapetop/ui/screen"
	"dev.scrapetop/ui/widget"
)

// TaskActs change single tasks of the run. All of them are called off the program's loop and may block.
type TaskActs interface {
	// Requeue puts dead letters back in the queue and returns those that were dead; they wait for hold, so that Bury within it
	// undoes it exactly.
	Requeue(ctx context.Context, tasks []int64, hold time.Duration) ([]storage.Letter, error)
	// Bury undoes a Requeue for those that were not tried since and returns how many.
	Bury(ctx context.Context, letters []storage.Letter) (int64, error)
	// RequeueAll puts back the letters that a question is about, wherever its window is, and returns how many.
	RequeueAll(ctx context.Context, ask screen.Ask) (int64, error)
	// RetryNow ends the backoff of tasks, places them before the others of their domains and returns how many waited.
	RetryNow(ctx context.Context, tasks []int64) (int64, error)
	// Cancel calls tasks off.
	Cancel(ctx context.Context, tasks []int64) (engine.Cancelled, error)
}

// heldFor is how long requeued letters wait: the offer to undo it, and what its answer may take to come.
const heldFor = undoFor + 2*time.Second

// actedMsg is how an act on tasks ended.
type actedMsg struct {
	tasks []int64
	text  string
	hint  string
	undo  []storage.Letter // that were requeued
	err   error
}

// acting are the tagged tasks of the screen on show, or else the one under the cursor, by state.
func (m *Model) acting() map[int64]storage.TaskState {
	if tags := m.browse.Tags[m.tab]; len(tags) > 0 {
		return tags
	}
	if t := m.browse.ChosenTask(m.shownRows, m.tab); t != nil && (m.tab == screen.Tasks || m.browse.Letters) {
		return map[int64]storage.TaskState{t.ID: t.State}
	}
	return nil
}

// called is one task by its number, several by how many they are.
func called(ids []int64) string {
	if len(ids) == 1 {
		return "task " + widget.Thousands(ids[0])
	}
	return widget.Thousands(int64(len(ids))) + " tasks"
}

// ofStates are the tasks in these states, in order.
func ofStates(tasks map[int64]storage.TaskState, states ...storage.TaskState) []int64 {
	var ids []int64
	for _, id := range slices.Sorted(maps.Keys(tasks)) {
		if slices.Contains(states, tasks[id]) {
			ids = append(ids, id)
		}
	}
	return ids
}

// begin shows what is asked for beside the tasks until it is done, and takes their tags away.
func (m *Model) begin(ids []int64, wish string) {
	if m.browse.Wishes == nil {
		m.browse.Wishes = make(map[int64]string)
	}
	for _, id := range ids {
		m.browse.Wishes[id] = wish
	}
	clear(m.browse.Tags[m.tab])
	m.undo = nil
	m.changed()
}

// requeueLetters puts back the tagged letters, or else the one under the cursor.
func (m *Model) requeueLetters() {
	m.later = m.requeue(ofStates(m.acting(), storage.TaskDead))
}

func (m *Model) requeue(ids []int64) tea.Cmd {
	m.begin(ids, "requeueing...")
	acts := m.opt.Acts
	return func() tea.Msg {
		letters, err := acts.Requeue(context.Background(), ids, heldFor)
		text := "requeued " + called(idsOf(letters))
		if len(ids) == 1 && len(letters) == 0 {
			text = called(ids) + " is dead no more"
		}
		return actedMsg{tasks: ids, text: text, undo: letters, err: err}
	}
}

func idsOf(letters []storage.Letter) []int64 {
	ids := make([]int64, len(letters))
	for i := range letters {
		ids[i] = letters[i].ID
	}
	return ids
}

// bury undoes a requeueing.
func (m *Model) bury(letters []storage.Letter) tea.Cmd {
	ids := idsOf(letters)
	m.begin(ids, "undoing...")
	acts := m.opt.Acts
	return func() tea.Msg {
		n, err := acts.Bury(context.Background(), letters)
		text := "undone: " + called(ids) + " dead again"
		if rest := int64(len(ids)) - n; rest > 0 {
			text = "undone for " + widget.Thousands(n) + " of " + called(ids) + ": the others were tried since"
		}
		return actedMsg{tasks: ids, text: text, err: err}
	}
}

// retry tries the tagged tasks, or else the one under the cursor, now: it ends their backoff, or puts them back when they are dead.
func (m *Model) retry() {
	tasks := m.acting()
	dead, waiting := ofStates(tasks, storage.TaskDead), ofStates(tasks, storage.TaskPending, storage.TaskDelayed)
	var cmds []tea.Cmd
	if len(dead) > 0 {
		cmds = append(cmds, m.requeue(dead))
	}
	if len(waiting) > 0 {
		m.begin(waiting, "retrying...")
		acts := m.opt.Acts
		cmds = append(cmds, func() tea.Msg {
			n, err := acts.RetryNow(context.Background(), waiting)
			text := called(waiting) + " goes next"
			switch {
			case n == 0:
				text = called(waiting) + ": not waiting any more"
			case len(waiting) > 1:
				text = widget.Thousands(n) + " of " + called(waiting) + " go next"
			}
			return actedMsg{tasks: waiting, text: text, hint: "a cooldown, a pause or a limit holds them still", err: err}
		})
	}
	m.later = together(cmds...)
}

// cancel asks, and calls the tagged tasks off, or else the one under the cursor.
func (m *Model) cancel() {
	tasks := maps.Clone(m.acting())
	q := m.picture().CancelQuestion(tasks)
	acts, direct := m.opt.Acts, m.data.Frame.Run.Provider == "direct"
	m.openQuestion(&question{
		Question: q, letters: map[string]int{"x": 1},
		presses: []func() tea.Cmd{
			func() tea.Cmd { return nil },
			func() tea.Cmd {
				ids := slices.Sorted(maps.Keys(tasks))
				m.begin(ids, "cancelling...")
				return func() tea.Msg {
					c, err := acts.Cancel(context.Background(), ids)
					return actedMsg{tasks: ids, text: cancelled(ids, c, direct), err: err}
				}
			},
		},
	})
}

// cancelled tells what came of it.
func cancelled(ids []int64, c engine.Cancelled, direct bool) string {
	text := "cancelled " + called(ids)
	if c.Tasks != int64(len(ids)) {
		text = "cancelled " + widget.Thousands(c.Tasks) + " of " + called(ids)
	}
	n := widget.Thousands(c.AtWork)
	switch {
	case c.AtWork == 0 && c.Tasks == 0:
		return called(ids) + ": ended already"
	case c.AtWork == 0:
		return text
	case direct && c.AtWork == int64(len(ids)):
		return "broke off " + called(ids)
	case direct:
		return text + ", broke off " + n + " in flight"
	case c.AtWork == int64(len(ids)):
		return called(ids) + ": not tried again; what the platform still brings is kept"
	}
	return text + "; " + n + " at work are not tried again"
}

// acted tells how an act ended, offers its undo, and has the rows read that it changed.
func (m *Model) acted(msg actedMsg) {
	for _, id := range msg.tasks {
		delete(m.browse.Wishes, id)
	}
	if !m.data.Frame.Live && m.opt.Resume != "" && len(msg.undo) > 0 {
		msg.text += "; " + m.opt.Resume + " goes on with them" // the offer to undo it has the hint's place
	}
	if m.say(themes.Text, msg.text, msg.hint); msg.err != nil {
		m.say(themes.Bad, msg.text+", then: "+widget.Clean(msg.err.Error(), 200), "")
	}
	if len(msg.undo) > 0 && msg.err == nil {
		letters := msg.undo
		m.undo = &undo{text: msg.text, until: m.now.Add(undoFor), back: func() tea.Cmd { return m.bury(letters) }}
	}
	m.wantRows(false)
}

// noTask tells why an act on single tasks can do nothing now.
func (m *Model) noTask(action keys.Action) string {
	if m.looked != nil {
		return "it is of a run that is only looked at: scrapetop requeue --run " + strconv.FormatInt(m.looked.ID, 10)
	}
	if m.opt.Acts == nil {
		return "no run is driven here: scrapetop resume or requeue does it"
	}
	tasks := m.acting()
	if len(tasks) == 0 {
		return "there is no row"
	}
	live := m.data.Frame.Live
	t := m.browse.ChosenTask(m.shownRows, m.tab)
	one := len(m.browse.Tags[m.tab]) == 0
	switch action {
	case keys.Retry:
		if one {
			return screen.NoRetry(t, live)
		}
		if len(ofStates(tasks, storage.TaskDead)) == 0 && (!live || len(ofStates(tasks, storage.TaskPending, storage.TaskDelayed)) == 0) {
			return "none of the tagged tasks waits or is dead"
		}
	case keys.Cancel:
		states := []storage.TaskState{storage.TaskPending, storage.TaskDelayed, storage.TaskDead}
		if live {
			states = append(states, storage.TaskInFlight, storage.TaskRemote)
		}
		switch {
		case len(ofStates(tasks, states...)) > 0:
		case one:
			return "task " + widget.Thousands(t.ID) + " is " + screen.StateWord(t.State) + " already"
		default:
			return "the tagged tasks have ended already"
		}
	}
	return ""
}
