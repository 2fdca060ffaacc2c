package cli

import (
	"context"
	"math"

	"dev.scrapetop/engine"
	"dev.scrapetop/storage"
	"dev.scrapetop/ui/screen"
)

const (
	// attemptsRead is how many attempts of a task are read, and groupsRead how many groups of dead letters: more than any
	// screen shows.
	attemptsRead = 64
	groupsRead   = 500
	// requeueStep is how many dead letters of a group are put back together.
	requeueStep = 1000
)

// rowsOf reads the rows that the dashboard shows, on the connections that cannot write.
type rowsOf struct{ store *storage.Store }

// Read answers one question. It may be called from any goroutine.
func (r rowsOf) Read(ctx context.Context, ask screen.Ask) (screen.Rows, error) {
	var out screen.Rows
	var err error
	if ask.Past {
		ask.Past = false
		past, err := r.store.Run(ctx, ask.Run)
		if err != nil {
			return out, err
		}
		out, err = r.Read(ctx, ask)
		out.Past = past
		return out, err
	}
	if ask.Tab == screen.Events {
		q := storage.EventQuery{Run: ask.Run, Text: ask.Text, Window: ask.Window}
		switch ask.Level {
		case "warn":
			q.Levels = []string{"warn", "error"}
		case "error":
			q.Levels = []string{"error"}
		}
		out.Events, err = r.store.EventRows(ctx, q)
		return out, err
	}
	switch ask.Tab {
	case screen.History:
		return r.readHistory(ctx, ask)
	case screen.Results:
		out.Results, err = r.store.ResultRows(ctx, storage.ResultQuery{Run: ask.Run, Text: ask.Text, Window: ask.Window})
		return out, err
	case screen.Page:
		out.Page, err = r.store.PageRow(ctx, storage.PageQuery{Run: ask.Run, Task: ask.Task, Page: ask.Page, Window: ask.Window})
		return out, err
	}
	if ask.Tab == screen.Letters {
		if out.Groups, err = r.store.DeadGroups(ctx, ask.Run, ask.ByDomain, groupsRead); err != nil || len(out.Groups) == 0 {
			return out, err
		}
		out.Group = out.Groups[0].Key
		for _, g := range out.Groups {
			if g.Key == ask.Group {
				out.Group = g.Key
			}
		}
		ask.Group = out.Group
	}
	if out.Tasks, err = r.store.TaskRows(ctx, taskQuery(ask)); err != nil {
		return out, err
	}
	if out.Chosen = out.TaskAt(ask.Around); out.Chosen != 0 {
		out.Attempts, err = r.store.Timeline(ctx, out.Chosen, attemptsRead)
	}
	return out, err
}

func taskQuery(ask screen.Ask) storage.TaskQuery {
	q := storage.TaskQuery{Run: ask.Run, State: ask.State, Domain: ask.Domain, Text: ask.Text, Window: ask.Window}
	switch {
	case ask.Tab != screen.Letters:
	case ask.ByDomain:
		q.Domain = ask.Group
	default:
		q.Reason = ask.Group
	}
	return q
}

// taskActs change single tasks of a run that is driven, or was.
type taskActs struct {
	*engine.Engine
	rows rowsOf
}

// RequeueAll puts back the letters of a group, in steps, so that the run can start them meanwhile. One that dies again behind the
// place that was reached stays dead.
func (a taskActs) RequeueAll(ctx context.Context, ask screen.Ask) (total int64, err error) {
	ask.Window = storage.Window{After: requeueStep}
	for {
		rows, err := a.rows.store.TaskRows(ctx, taskQuery(ask))
		if err != nil || len(rows.Rows) == 0 {
			return total, err
		}
		letters := make([]int64, len(rows.Rows))
		for i := range rows.Rows {
			letters[i] = rows.Rows[i].ID
			ask.Around = rows.Rows[i].ID + 1
		}
		were, err := a.Requeue(ctx, letters, 0)
		if total += int64(len(were)); err != nil || rows.Last || ask.Around == math.MaxInt64 {
			return total, err
		}
	}
}
