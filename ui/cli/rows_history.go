package cli

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"dev.scrapetop/storage"
	"dev.scrapetop/ui/screen"
)

const (
	// newestRead is how many of a run's last results are shown beside the runs.
	newestRead = 40
	// alikeRead is from how many earlier runs of a name it is told how much such runs vary.
	alikeRead = 10
)

// readHistory reads a window of the runs, the last results of the one under the cursor, and the runs to compare.
func (r rowsOf) readHistory(ctx context.Context, ask screen.Ask) (out screen.Rows, err error) {
	if out.Runs, err = r.store.RunRows(ctx, storage.RunQuery{Text: ask.Text, Window: ask.Window}); err != nil {
		return out, err
	}
	if out.Bytes, err = r.store.Bytes(); err != nil {
		return out, err
	}
	run := out.RunAt(ask.Around)
	if run == nil {
		return out, nil
	}
	out.Run = run.ID
	out.Results, err = r.store.ResultRows(ctx, storage.ResultQuery{Run: run.ID, Window: storage.Window{Around: math.MaxInt64, Before: newestRead}})
	if err != nil {
		return out, err
	}
	pair, err := r.pair(ctx, *run, ask.Tagged)
	if err != nil || len(pair) < 2 {
		return out, err
	}
	for i := range pair {
		m := screen.Measured{Run: pair[i]}
		if m.P50, m.P95, err = r.store.Latency(ctx, m.ID, screen.LatencyOf); err != nil {
			return out, err
		}
		out.Versus = append(out.Versus, m)
	}
	out.Alike, err = r.store.RunsBefore(ctx, pair[0], alikeRead)
	return out, err
}

// pair are the two runs to compare, the newer one first: those that are tagged, or the tagged one and that under the cursor, or that one
// and the last before it of its name. Fewer: there are no two.
func (r rowsOf) pair(ctx context.Context, run storage.Run, tagged [2]int64) ([]storage.Run, error) {
	var pair []storage.Run
	for _, id := range tagged {
		if id == 0 {
			continue
		}
		one, err := r.store.Run(ctx, id)
		if errors.Is(err, storage.ErrNoRun) {
			continue // it was pruned
		}
		if err != nil {
			return nil, err
		}
		pair = append(pair, one)
	}
	switch {
	case len(pair) == 0:
		before, err := r.store.RunsBefore(ctx, run, 1)
		return append([]storage.Run{run}, before...), err
	case len(pair) == 1 && pair[0].ID != run.ID:
		pair = append(pair, run)
	}
	slices.SortFunc(pair, func(a, b storage.Run) int { return cmp.Compare(b.ID, a.ID) })
	return pair, nil
}
