package screen

import (
	"strings"

	"dev.scrapetop/storage"
	"dev.scrapetop/ui/widget"
)

// TagTask tags or untags the task under the cursor of a screen.
func (b *Browse) TagTask(r *Rows, tab Tab) {
	t := b.ChosenTask(r, tab)
	if t == nil {
		return
	}
	if b.Tags[tab] == nil {
		b.Tags[tab] = make(map[int64]storage.TaskState)
	}
	if _, tagged := b.Tags[tab][t.ID]; tagged {
		delete(b.Tags[tab], t.ID)
		return
	}
	b.Tags[tab][t.ID] = t.State
}

// NoRetry tells why a task cannot be tried now, with the way out; live: its run goes on. Empty: it can.
func NoRetry(t *storage.TaskRow, live bool) string {
	called := "task " + widget.Thousands(t.ID)
	switch {
	case t.State == storage.TaskDead:
		return ""
	case t.State == storage.TaskAccepted, t.State == storage.TaskCancelled:
		return called + " is " + string(t.State)
	case !live:
		return "no run is going"
	case t.State == storage.TaskInFlight:
		return called + " is in flight: its answer comes first"
	case t.State == storage.TaskRemote:
		return called + " is at the platform: it is polled until its result is there"
	case t.WaitsFor == "":
		return ""
	}
	what := strings.Replace(t.WaitsFor, ":", " ", 1)
	if t.Until.IsZero() {
		return what + " is paused: p there (2, B) resumes it"
	}
	return what + " cools: c there (2, B) ends that"
}

// CancelQuestion names the tasks, what becomes of them, and what it costs; the safe button has the focus. tasks are their states.
func (p *Picture) CancelQuestion(tasks map[int64]storage.TaskState) *Question {
	q := &Question{}
	n := int64(len(tasks))
	what, them := "task", "It is"
	if t := p.Browse.ChosenTask(p.Shown, p.Tab); n == 1 && t != nil {
		if _, is := tasks[t.ID]; is {
			what = "task " + widget.Thousands(t.ID)
			q.Lines = []string{widget.Truncate(t.URL, 200), ""}
		}
	} else {
		what, them = widget.Thousands(n)+" tasks", "They are"
	}
	var atWork, dead int64
	for _, state := range tasks {
		switch state {
		case storage.TaskInFlight, storage.TaskRemote:
			atWork++
		case storage.TaskDead:
			dead++
		}
	}
	q.Title = "Cancel " + what + "?"
	q.Lines = append(q.Lines, them+" not fetched any more, and neither resume nor requeue brings back what is cancelled.")
	q.Brief = []string{"Neither resume nor requeue brings that back."}
	if dead > 0 && n > 1 {
		q.Lines = append(q.Lines, widget.Thousands(dead)+" of them are dead letters and count as cancelled then.")
	}
	if atWork > 0 {
		work := "What is in flight ("
		if n == 1 {
			work = "It is in flight ("
		}
		work += widget.Thousands(atWork) + "): "
		if p.Data.Frame.Run.Provider == "direct" {
			work += "the request is broken off."
		} else {
			work += "the platform goes on and may charge for it; a result that it still brings is kept."
		}
		q.Lines = append(q.Lines, work)
	}
	q.Buttons = []string{"Keep", "Cancel " + what}
	if n == 1 {
		q.Buttons[1] = "Cancel it"
	}
	q.Hint = "x: cancel   Esc: keep"
	return q
}
