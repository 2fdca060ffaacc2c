package cli

import (
	"context"

	"dev.scrapetop/storage"
	"dev.scrapetop/ui/screen"
)

// attemptsRead is how many attempts of a task are read: more than any screen shows.
const attemptsRead = 64

// rowsOf reads the rows that the dashboard shows, on the connections that cannot write.
type rowsOf struct{ store *storage.Store }

// Read answers one question. It may be called from any goroutine.
func (r rowsOf) Read(ctx context.Context, ask screen.Ask) (screen.Rows, error) {
	rows, err := r.store.TaskRows(ctx, storage.TaskQuery{Run: ask.Run, State: ask.State, Domain: ask.Domain, Text: ask.Text, Window: ask.Window})
	out := screen.Rows{Tasks: rows}
	if err != nil {
		return out, err
	}
	if out.Chosen = out.TaskAt(ask.Around); out.Chosen != 0 {
		out.Attempts, err = r.store.Timeline(ctx, out.Chosen, attemptsRead)
	}
	return out, err
}
