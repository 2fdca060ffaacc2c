package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"dev.scrapetop/storage"
)

const (
	batch   = 1000
	domains = 5000
)

// build makes the database of a run that was stopped halfway: of n tasks over 5,000 domains of Zipf sizes six of ten are
// accepted, one of twenty is a dead letter and the rest wait; each that was tried has an attempt, and each hundredth an event.
func build(ctx context.Context, path string, n int) (err error) {
	st, err := storage.Open(ctx, path, storage.Options{Fast: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	run, err := st.CreateRun(ctx, storage.RunSpec{Name: "million.txt", Input: "/lists/million.txt", Provider: "direct"})
	if err != nil {
		return err
	}
	if _, err := st.Own(ctx, run.ID); err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(1, 1))
	sizes := rand.NewZipf(rng, 1.1, 10, domains-1)
	began := time.Now().Add(-time.Hour)
	failed := make(chan error, n/batch+2)
	for from := 0; from < n; from += batch {
		list := make([]storage.NewTask, min(batch, n-from))
		for i := range list {
			domain := fmt.Sprintf("shop-%04d.example", sizes.Uint64())
			list[i] = storage.NewTask{URL: fmt.Sprintf("https://%s/item/%d", domain, from+i), Domain: domain}
		}
		if _, err := st.Enqueue(ctx, run.ID, list); err != nil {
			return err
		}
		st.Write(change(run.ID, int64(from+1), list, began, rng), func(err error) { failed <- err })
		if err := <-failed; err != nil {
			return err
		}
	}
	st.Write(storage.Tx{Run: run.ID, State: storage.RunStopped, Finished: time.Now()}, func(err error) { failed <- err })
	return <-failed
}

// change is what became of the tasks that have the ids from first on.
func change(run, first int64, list []storage.NewTask, began time.Time, rng *rand.Rand) storage.Tx {
	tx := storage.Tx{Run: run}
	for i := range list {
		id := first + int64(i)
		at := began.Add(time.Duration(id) * 3 * time.Millisecond)
		status, outcome := 200, "accepted"
		state := storage.TaskChange{ID: id, State: storage.TaskAccepted, Tries: 1, Attempts: 1, FirstTryAt: at}
		switch p := rng.IntN(20); {
		case p == 0:
			status, outcome = 404, "not_found"
			state.State, state.Reason, state.Error = storage.TaskDead, "not_found", "the page is gone (404)"
		case p > 12:
			continue
		default:
			tx.Results = append(tx.Results, storage.Result{Task: id, FinalURL: list[i].URL, Status: &status, ContentType: "text/html", FetchedAt: at,
				Elapsed: 80 * time.Millisecond, Attempts: 1, Body: fmt.Appendf(nil, "<!doctype html><title>item %d</title>", id)})
		}
		tx.Tasks = append(tx.Tasks, state)
		tx.Attempts = append(tx.Attempts, storage.Attempt{Task: id, Number: 1, URL: list[i].URL, Domain: list[i].Domain, Provider: "direct", Kind: "fetch",
			Exchange: fmt.Sprint("x", id), StartedAt: at, Elapsed: 80 * time.Millisecond, Outcome: outcome, HTTPStatus: &status, Decision: outcome, BodyKind: "html"})
		if id%100 == 0 {
			tx.Events = append(tx.Events, storage.Event{At: at, Level: "info", Scope: "domain", Key: list[i].Domain, Text: "a limit of 5 at once was found"})
		}
	}
	tx.Totals.Requests = int64(len(tx.Attempts))
	return tx
}
