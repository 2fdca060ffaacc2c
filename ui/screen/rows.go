package screen

import (
	"math"
	"slices"

	"dev.scrapetop/storage"
)

// Ask is a question about the rows of a run, which are in storage and too many for a frame. An answer holds all that one
// screen shows.
type Ask struct {
	Run    int64
	Past   bool // the run is only looked at: how it stands is read too
	Tab    Tab
	State  storage.TaskState // Tasks: of this state; empty: of all
	Domain string            // Tasks: of this domain; empty: of all
	Text   string            // a part of what the row says; empty: all
	Level  string            // Events: of this level and above; empty: of all
	// Letters: grouped by domain rather than cause, and those of which group; empty: of the largest.
	ByDomain bool
	Group    string
	Tagged   [2]int64 // History: the runs to compare; zero: what the run under the cursor can be compared with
	Task     int64    // Page: whose result
	Page     int64    // Page: the how-manieth of its pages, from zero
	Width    int      // Page: the cells of a line of its body
	// Around is the row under the cursor; Before and After are how many are wanted on its sides; of a body they are bytes.
	storage.Window
}

// Same tells whether two questions are about the same list, wherever their windows are.
func (a Ask) Same(b Ask) bool {
	a.Window, b.Window = storage.Window{}, storage.Window{}
	return a == b
}

// Rows is an answer: the rows around the cursor, and what belongs to the one under it.
type Rows struct {
	Tasks    storage.Rows[storage.TaskRow]
	Chosen   int64             // the task whose attempts these are; zero: none
	Attempts []storage.Attempt // of it, the latest
	Groups   []storage.DeadGroup
	Group    string // whose letters Tasks are
	Events   storage.Rows[storage.Event]
	Runs     storage.Rows[storage.Run] // newest first
	Versus   []Measured                // the runs to compare, the newer one first
	Alike    []storage.Run             // earlier ones of the same name: what such runs vary by
	Bytes    int64                     // of the database
	Run      int64                     // whose Results these are
	Results  storage.Rows[storage.ResultRow]
	Page     *storage.PageRow // nil: there is none
	Lines    []BodyLine       // of its body; made by TakeRows

	Past storage.Run // the run that is looked at; the zero one: none is

	Ask Ask // the question

	// As the engine names them: what an act carries.
	Domains    []string // of Tasks
	URLs       []string // likewise
	ResultURLs []string // of Results
	PageURL    string   // of Page
	GroupKeys  []string // of Groups
}

// TakeRows cleans every text of an answer that came from outside.
func TakeRows(r Rows) *Rows {
	r.Groups, r.GroupKeys = slices.Clone(r.Groups), make([]string, len(r.Groups))
	for i := range r.Groups {
		r.GroupKeys[i], r.Groups[i].Key = r.Groups[i].Key, name(r.Groups[i].Key)
	}
	r.Group = name(r.Group)
	r.Tasks.Rows, r.Domains, r.URLs = slices.Clone(r.Tasks.Rows), make([]string, len(r.Tasks.Rows)), make([]string, len(r.Tasks.Rows))
	for i := range r.Tasks.Rows {
		t := &r.Tasks.Rows[i]
		r.Domains[i], r.URLs[i] = t.Domain, t.URL
		t.URL, t.Domain, t.Tenant, t.HopURL = text(t.URL), name(t.Domain), name(t.Tenant), text(t.HopURL)
		t.State, t.Reason, t.Error, t.WaitsFor = storage.TaskState(name(string(t.State))), name(t.Reason), text(t.Error), name(t.WaitsFor)
		if t.Last != nil {
			last := *t.Last
			last.Outcome, last.Layer = name(last.Outcome), name(last.Layer)
			t.Last = &last
		}
	}
	r.Events.Rows = slices.Clone(r.Events.Rows)
	for i := range r.Events.Rows {
		e := &r.Events.Rows[i]
		e.Level, e.Scope, e.Key, e.Text = name(e.Level), name(e.Scope), name(e.Key), text(e.Text)
	}
	r.takeHistory()
	r.Attempts = slices.Clone(r.Attempts)
	for i := range r.Attempts {
		a := &r.Attempts[i]
		a.Outcome, a.Layer, a.Kind, a.Credential = name(a.Outcome), name(a.Layer), name(a.Kind), name(a.Credential)
		a.Decision, a.Error, a.RemoteJob, a.BodyKind = text(a.Decision), text(a.Error), name(a.RemoteJob), name(a.BodyKind)
		a.BodySample = []byte(text(string(a.BodySample)))
	}
	return &r
}

// RunAt is the run under a cursor that was put on a place; nil: there is none.
func (r *Rows) RunAt(place int64) *storage.Run {
	if i := (Pick{ID: place}).at(r.ids(History)); i >= 0 {
		return &r.Runs.Rows[i]
	}
	return nil
}

// Moving tells that a run is shown which some process drives.
func (r *Rows) Moving() bool {
	return r != nil && slices.ContainsFunc(r.Runs.Rows, func(run storage.Run) bool {
		return run.State == storage.RunRunning || run.State == storage.RunDraining
	})
}

// DomainOf is the domain of a row, as the engine names it.
func (r *Rows) DomainOf(task int64) string {
	if i := slices.Index(r.ids(Tasks), task); i >= 0 {
		return r.Domains[i]
	}
	return ""
}

// TaskAt is the task under a cursor that was put on a number: that one, else the next, else the last; zero: there is none.
func (r *Rows) TaskAt(id int64) int64 {
	ids := r.ids(Tasks)
	if i := (Pick{ID: id}).at(ids); i >= 0 {
		return ids[i]
	}
	return 0
}

// Pick is a place in a list of rows that are named by ascending numbers. It stays with its row when others come and go, and
// moves to the next one when its row left.
type Pick struct {
	ID  int64 // of the row under the cursor; MaxInt64: the last one
	Top int64 // of the first row in sight
}

// at is the index of the row under the cursor, -1 in an empty list.
func (c Pick) at(ids []int64) int {
	i, _ := slices.BinarySearch(ids, c.ID)
	return min(i, len(ids)-1)
}

// first is the index of the first row in sight when h fit; the cursor is among them.
func (c Pick) first(ids []int64, h int) int {
	top, _ := slices.BinarySearch(ids, c.Top)
	at := c.at(ids)
	top = min(max(top, at-h+1), at)
	return max(min(top, len(ids)-h), 0)
}

// Move moves the cursor by rows within what is there; a move beyond every list goes to its end, wherever that is. While the rows
// at that end have not come (whole tells which ends are there) a move from it would be one from somewhere else: it is let go.
func (c *Pick) Move(ids []int64, by, h int, whole [2]bool) {
	switch {
	case by >= math.MaxInt32:
		c.ID = math.MaxInt64
		return
	case by <= -math.MaxInt32:
		*c = Pick{}
		return
	case len(ids) == 0, c.ID == 0 && !whole[0], c.ID == math.MaxInt64 && !whole[1]:
		return
	}
	c.ID = ids[min(max(c.at(ids)+by, 0), len(ids)-1)]
	c.Top = ids[c.first(ids, h)]
}

// Browse is what the user chose on the screens of rows.
type Browse struct {
	State  storage.TaskState // of the tasks shown; empty: all
	Domain string            // of the tasks shown, as the engine names it; empty: all
	Picks  [TabCount]Pick
	Texts  [TabCount]string // what is searched for on each screen
	Open   bool             // the detail has the whole screen

	ByDomain bool   // dead letters are grouped by domain rather than by cause
	Group    string // the chosen group, as the engine names it
	Letters  bool   // the keys move over the letters of the group

	Tags   [TabCount]map[int64]storage.TaskState // the tagged tasks of each screen, as they were when they were tagged
	Wishes map[int64]string                      // what was asked for of tasks and is not done yet

	Level string // the least level of the events shown; empty: all
	Since int64  // the newest event when the cursor left it

	Runs  []int64 // the tagged ones, two at most
	Task  int64   // whose result is open
	Page  int64   // the how-manieth of its pages
	Width int     // the cells of a line of a body
	Line  int     // of the comparison on the whole screen: the first one in sight

	Fault string // why the rows could not be read
}

// taskStates are the states that the Tasks screen shows one at a time, in the order of a task's way; empty: all.
var taskStates = []storage.TaskState{
	"", storage.TaskPending, storage.TaskDelayed, storage.TaskInFlight, storage.TaskRemote, storage.TaskAccepted, storage.TaskDead, storage.TaskCancelled,
}

// TurnState shows the tasks of the next state, or of the last one. There is nothing beyond the ends.
func (b *Browse) TurnState(by int) {
	i := slices.Index(taskStates, b.State)
	b.State = taskStates[min(max(i+by, 0), len(taskStates)-1)]
	b.Picks[Tasks].Top = 0
}

// ids are the numbers of the rows.
func (r *Rows) ids(tab Tab) []int64 {
	if r == nil || !tab.OfRows() {
		return nil
	}
	switch tab {
	case Events:
		return numbers(r.Events.Rows, func(e *storage.Event) int64 { return e.ID })
	case History:
		return numbers(r.Runs.Rows, func(run *storage.Run) int64 { return storage.NewestFirst(run.ID) })
	case Results:
		return numbers(r.Results.Rows, func(row *storage.ResultRow) int64 { return row.Task })
	case Page:
		return numbers(r.Lines, func(l *BodyLine) int64 { return l.At })
	}
	return numbers(r.Tasks.Rows, func(t *storage.TaskRow) int64 { return t.ID })
}

func numbers[T any](rows []T, number func(*T) int64) []int64 {
	list := make([]int64, len(rows))
	for i := range list {
		list[i] = number(&rows[i])
	}
	return list
}

// ends tells whether the first and the last row of the whole list are there.
func (r *Rows) ends(tab Tab) [2]bool {
	switch {
	case r == nil:
		return [2]bool{}
	case tab == Events:
		return [2]bool{r.Events.First, r.Events.Last}
	case tab == History:
		return [2]bool{r.Runs.First, r.Runs.Last}
	case tab == Results:
		return [2]bool{r.Results.First, r.Results.Last}
	case tab == Page && r.Page != nil:
		return [2]bool{r.Page.From == 0, r.Page.From+int64(len(r.Page.Body)) >= r.Page.Bytes}
	}
	return [2]bool{r.Tasks.First, r.Tasks.Last}
}

// MoveRow moves the cursor of a screen of rows; h is how many are in sight.
func (b *Browse) MoveRow(r *Rows, tab Tab, by, h int) {
	if tab == Page {
		b.scrollBody(r, by, h)
		return
	}
	followed := b.Follows()
	b.Picks[tab].Move(r.ids(tab), by, h, r.ends(tab))
	if tab == Events {
		b.settleFollow(r, followed)
	}
}

// ChosenTask is the task under the cursor of a screen; nil: there is none.
func (b *Browse) ChosenTask(r *Rows, tab Tab) *storage.TaskRow {
	if tab != Tasks && tab != Letters {
		return nil
	}
	if i := b.Picks[tab].at(r.ids(tab)); i >= 0 {
		return &r.Tasks.Rows[i]
	}
	return nil
}

// Ask is the question of a screen when h rows are in sight: enough on both sides that moving by a page finds its rows here.
func (b *Browse) Ask(run int64, tab Tab, h int) Ask {
	side := max(8*h, 300)
	a := Ask{Run: run, Tab: tab, Text: b.Texts[tab], Window: storage.Window{Around: b.Picks[tab].ID, Before: side, After: side}}
	switch tab {
	case Tasks:
		a.State, a.Domain = b.State, b.Domain
	case Events:
		a.Level = b.Level
	case Letters:
		a.State, a.ByDomain, a.Group = storage.TaskDead, b.ByDomain, b.Group
	case History:
		a.Run = 0 // they are all runs
		copy(a.Tagged[:], b.Runs)
	case Page:
		a.Task, a.Page, a.Width = b.Task, b.Page, max(b.Width, 1)
		// Lines of a body without line ends are as long as they were: the window begins at a multiple of them.
		a.Before, a.After = min(side*a.Width, bodyWindow), min(side*a.Width, bodyWindow)
		a.Before -= a.Before % a.Width
	}
	return a
}
