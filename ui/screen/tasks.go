package screen

import (
	"strconv"
	"strings"
	"time"

	"dev.scrapetop/engine/view"
	"dev.scrapetop/storage"
	"dev.scrapetop/themes"
	"dev.scrapetop/ui/widget"
)

// rowsShare is how the body of a screen of rows is shared.
type rowsShare struct {
	head, table, detail, foot int
}

func (p *Picture) tasksShare(class Class, body int) rowsShare {
	s := rowsShare{head: 1}
	detail := !p.List.NoDetail
	switch class {
	case Full:
		if detail {
			s.detail = 14 + (body-32)/2
		}
		s.table = body - s.head - s.detail - 3
	case Standard:
		if detail {
			s.detail = 8 + (body-20)/2
		}
		s.table = body - s.head - s.detail - 1
	default:
		if detail {
			s.foot = 2
		}
		s.table = body - s.head - s.foot - 1
	}
	return s
}

// tasks is the table of the tasks with what happened to the one under the cursor.
func (p *Picture) tasks(class Class, w, h int) []string {
	if p.Browse.Open {
		return p.taskDetail(w, h)
	}
	s := p.tasksShare(class, h)
	lines := []string{p.stateTabs(class, w)}
	t := p.taskTable(s.table)
	if class == Full {
		lines = append(lines, widget.Pane{Title: "Tasks", Right: p.tasksNote(), Focused: true}.
			Draw(p.Look, w, s.table+3, t.Draw(p.Look, widget.Inner(w), s.table+1))...)
	} else {
		lines = append(lines, t.Draw(p.Look, w, s.table+1)...)
	}
	if s.detail > 0 {
		lines = append(lines, p.taskDetail(w, s.detail)...)
	}
	if s.foot > 0 {
		lines = append(lines, p.taskFoot(w)...)
	}
	return lines
}

// stateTabs are the states to choose from, with how many tasks each has; the chosen one stands in brackets.
func (p *Picture) stateTabs(class Class, w int) string {
	l := p.Look.Line(w)
	if class != Compact {
		l.Gap(1).Text(themes.Dim, "state: ")
	}
	rest := ""
	if b := p.Browse; b.Domain != "" {
		rest += "  of " + name(b.Domain)
	}
	if s := p.Browse.Texts[Tasks]; s != "" {
		rest += "  with " + s
	}
	if n := len(p.Browse.Tags[Tasks]); n > 0 && class != Full {
		rest += "  " + widget.Thousands(int64(n)) + " tagged"
	}
	words := make([]string, len(taskStates))
	long := 0
	for i, state := range taskStates {
		words[i] = StateWord(state)
		// The counts are the run's: beside a part of it they would mislead.
		if n := countOf(p.Data.Frame, state); class == Full && n > 0 && state != "" && rest == "" {
			words[i] += " " + countIn(n, 7)
		}
		long += widget.Width(words[i]) + 2
	}
	if long+widget.Width(rest) > l.Room() {
		// Only the chosen one and its neighbours fit.
		for i, state := range taskStates {
			if state == p.Browse.State {
				if i > 0 {
					l.Text(themes.Dim, StateWord(taskStates[i-1])+" ")
				}
				l.Strong(true).Text(themes.Focus, "["+words[i]+"]").Strong(false)
				if i+1 < len(taskStates) {
					l.Text(themes.Dim, " "+StateWord(taskStates[i+1]))
				}
			}
		}
		return l.Text(themes.Focus, rest).Right(themes.Dim, " h l").String()
	}
	for i, state := range taskStates {
		if state == p.Browse.State {
			l.Strong(true).Text(themes.Focus, "["+words[i]+"]").Strong(false)
		} else {
			l.Text(themes.Text, " "+words[i]+" ")
		}
	}
	l.Text(themes.Focus, rest)
	if l.Room() > 8 {
		l.Right(themes.Dim, "(h l) ")
	}
	return l.String()
}

// StateWord is a task's state in words; empty: all states.
func StateWord(s storage.TaskState) string {
	switch s {
	case "":
		return "all"
	case storage.TaskInFlight:
		return "in flight"
	}
	return string(s)
}

// countOf is how many tasks the frame counts in a state.
func countOf(f *view.Frame, s storage.TaskState) int64 {
	c := &f.Counts
	switch s {
	case storage.TaskPending:
		return c.Pending
	case storage.TaskDelayed:
		return c.Delayed
	case storage.TaskInFlight:
		return c.InFlight
	case storage.TaskRemote:
		return c.Remote
	case storage.TaskAccepted:
		return c.Accepted
	case storage.TaskDead:
		return c.Dead
	case storage.TaskCancelled:
		return c.Cancelled
	}
	return c.Tasks
}

// tasksNote tells the counts apart from what is shown: a list is never cut silently.
func (p *Picture) tasksNote() string {
	s := widget.Thousands(p.Data.Frame.Counts.Tasks) + " in the run"
	if r := p.Shown; r != nil && r.Tasks.First && r.Tasks.Last {
		s = widget.Thousands(int64(len(r.Tasks.Rows))) + " of " + s
	}
	if n := len(p.Browse.Tags[Tasks]); n > 0 {
		return widget.Thousands(int64(n)) + " tagged: r x   " + s
	}
	return s + "   by number"
}

var taskColumns = []widget.Column{
	{Title: "STATE", Min: 9, Max: 11, Weight: 20},
	{Title: "TASK", Min: 6, Max: 10, Weight: 2, Rank: 4, Align: widget.Right},
	{Title: "DOMAIN", Min: 10, Max: 30, Weight: 5, Rank: 3},
	{Title: "URL", Min: 10, Weight: 12},
	{Title: "TRY", Min: 3, Max: 4, Rank: 5, Align: widget.Right},
	{Title: "AGE", Min: 5, Rank: 6, Align: widget.Right},
	{Title: "NEXT", Min: 5, Rank: 2, Align: widget.Right},
	{Title: "RESULT", Min: 10, Max: 26, Weight: 6, Rank: 1},
}

func (p *Picture) taskTable(rows int) widget.Table {
	t := widget.Table{Columns: taskColumns, Focused: true, Empty: p.noRows("no task matches")}
	ids := p.Shown.ids(Tasks)
	pick := p.Browse.Picks[Tasks]
	first, at := pick.first(ids, rows), pick.at(ids)
	for i := first; i < min(first+rows, len(ids)); i++ {
		row := &p.Shown.Tasks.Rows[i]
		_, tagged := p.Browse.Tags[Tasks][row.ID]
		t.Rows = append(t.Rows, widget.Row{Cells: p.taskCells(row), Selected: i == at, Tagged: tagged})
	}
	return t
}

// noRows says why there are none.
func (p *Picture) noRows(none string) string {
	switch {
	case p.Browse.Fault != "":
		return "cannot be read: " + p.Browse.Fault
	case p.Shown == nil:
		return "reading"
	}
	return none
}

func (p *Picture) taskCells(t *storage.TaskRow) []widget.Cell {
	next, role := p.nextTry(t)
	last, lastRole := lastResult(t)
	if wish := p.Browse.Wishes[t.ID]; wish != "" {
		last, lastRole = wish, themes.Focus
	}
	domain, path := splitURL(t.URL, t.Domain)
	return []widget.Cell{
		{Draw: func(l *widget.Line, w int) { l.State(shownState(t), w) }},
		{Role: themes.Text, Text: widget.Thousands(t.ID)},
		{Role: themes.Text, Text: domain},
		{Role: themes.Text, Text: path},
		{Role: themes.Text, Text: strconv.Itoa(t.Tries)},
		{Role: themes.Text, Text: since5(t.CreatedAt, p.Now)},
		{Role: role, Text: next},
		{Role: lastRole, Text: last},
	}
}

// shownState is a task's state; a pending task that cannot start is held.
func shownState(t *storage.TaskRow) string {
	if t.State == storage.TaskPending && t.WaitsFor != "" {
		return "held"
	}
	return string(t.State)
}

// splitURL takes the scheme and the domain, which has a column of its own, off a URL.
func splitURL(url, domain string) (string, string) {
	_, rest, ok := strings.Cut(url, "://")
	if !ok {
		return domain, url
	}
	if path, ok := strings.CutPrefix(rest, domain); ok {
		return domain, path
	}
	return domain, rest
}

// nextTry is when a task is tried next.
func (p *Picture) nextTry(t *storage.TaskRow) (string, themes.Role) {
	switch {
	case t.State == storage.TaskInFlight:
		return "now", themes.OK
	case t.State != storage.TaskPending && t.State != storage.TaskDelayed, t.Until.IsZero():
		return widget.Unknown, themes.Dim
	}
	return until5(t.Until, p.Now), themes.Cool
}

// lastResult is how a task ended, or else what it waits for, or how its last attempt ended.
func lastResult(t *storage.TaskRow) (string, themes.Role) {
	switch {
	case t.State == storage.TaskDead:
		s := t.Reason
		if t.Last != nil && t.Reason != t.Last.Outcome {
			s += ": " + answerWords(t.Last)
		}
		return s, themes.Bad
	case t.WaitsFor != "":
		return "waits for " + strings.Replace(t.WaitsFor, ":", " ", 1), themes.Cool
	case t.Last == nil:
		return widget.Unknown, themes.Dim
	}
	return answerWords(t.Last), outcomeRole(t.Last.Outcome)
}

// answerWords is an answer in few words: 200 in 0.22 s, 429 target, transport.
func answerWords(a *storage.Answer) string {
	status := a.TargetStatus
	if status == 0 {
		status = a.HTTPStatus
	}
	s := a.Outcome
	if a.Layer != "" && (a.Outcome == "limited" || a.Outcome == "busy" || a.Outcome == "denied") {
		s = a.Layer
	}
	switch {
	case a.Outcome == "accepted" && status > 0:
		return strconv.Itoa(status) + " in " + widget.Seconds(a.Elapsed)
	case status > 0:
		return strconv.Itoa(status) + " " + s
	}
	return s
}

func outcomeRole(outcome string) themes.Role {
	switch outcome {
	case "accepted":
		return themes.OK
	case "accepted_remote", "still_running":
		return themes.Text
	case "limited", "busy":
		return themes.Warn
	}
	return themes.Bad
}

// taskFoot is the task under the cursor in two lines, for the smallest screens.
func (p *Picture) taskFoot(w int) []string {
	t := p.Browse.ChosenTask(p.Shown, p.Tab)
	if t == nil {
		return []string{widget.Blank(w), widget.Blank(w)}
	}
	facts := p.Look.Line(w).Text(themes.Dim, widget.Thousands(t.ID)+" ").Text(themes.Text, strings.TrimPrefix(strings.TrimPrefix(t.URL, "https://"), "http://")).String()
	l := p.Look.Line(w)
	if a := p.attemptsOf(t); len(a) > 0 {
		last := &a[len(a)-1]
		l.Text(outcomeRole(last.Outcome), attemptWords(last)).Text(themes.Dim, " > ").Text(themes.Text, last.Decision)
	} else {
		l.Text(themes.Dim, p.noAttempts(t))
	}
	return []string{facts, l.String()}
}

// age writes a length of time in at most five cells.
func age(d time.Duration) string { return widget.ShortClock(min(max(d, 0), longest)) }
