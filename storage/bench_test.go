package storage

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// BenchmarkWrite accepts tasks with a 2 KB page each: state to in_flight, then attempt, result and state in one Tx, as the
// engine does. Target: more than 15,000 tasks a second with synchronous=FULL.
func BenchmarkWrite(b *testing.B) {
	s := openTemp(b, Options{})
	tasks := bulk(b, s, b.N, 1000)
	body := strings.Repeat("<p>text of a page</p>\n", 93)
	var group sync.WaitGroup
	b.ResetTimer()
	for i := range tasks {
		group.Add(2)
		done := func(err error) {
			if err != nil {
				b.Error(err)
			}
			group.Done()
		}
		s.Write(Tx{Run: 1, Tasks: []TaskChange{{ID: tasks[i].ID, State: TaskInFlight, FirstTryAt: time.Now()}}}, done)
		s.Write(accept(1, tasks[i], body), done)
		for { // the engine starts nothing new beyond 32 MiB
			if held, _ := s.Backlog(); held < 32<<20 {
				break
			}
			if err := s.Sync(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	}
	group.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "tasks/s")
}

// bulk enqueues n tasks over a number of domains and returns them.
func bulk(b *testing.B, s *Store, n, domains int) []Task {
	b.Helper()
	run, err := s.CreateRun(b.Context(), RunSpec{Provider: "direct"})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := s.Own(b.Context(), run.ID); err != nil {
		b.Fatal(err)
	}
	enqueue(b, s, run.ID, n, domains)
	var wants []Want
	for d := range min(domains, n) {
		wants = append(wants, Want{Domain: host(d), N: n})
	}
	tasks, err := s.Pending(b.Context(), run.ID, wants)
	if err != nil || len(tasks) != n {
		b.Fatal(len(tasks), err)
	}
	return tasks
}

func host(d int) string { return fmt.Sprintf("host%05d.example", d) }

func enqueue(b testing.TB, s *Store, run int64, n, domains int) {
	b.Helper()
	batch := make([]NewTask, 0, 1000)
	for i := range n {
		d := host(i % domains)
		batch = append(batch, NewTask{URL: fmt.Sprintf("http://%s/products/item-%d.html", d, i), Domain: d})
		if len(batch) == cap(batch) || i == n-1 {
			if _, err := s.Enqueue(b.Context(), run, batch); err != nil {
				b.Fatal(err)
			}
			batch = batch[:0]
		}
	}
}

// BenchmarkEnqueue adds 200,000 tasks over 20,000 domains in batches of 1000.
func BenchmarkEnqueue(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		s := openTemp(b, Options{})
		run, err := s.CreateRun(b.Context(), RunSpec{Provider: "direct"})
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		enqueue(b, s, run.ID, 200_000, 20_000)
	}
	b.ReportMetric(float64(b.N)*200_000/b.Elapsed().Seconds(), "tasks/s")
}

// BenchmarkPending refills 1000 domains with 4 tasks each, of a run of 200,000 tasks over 20,000 domains.
func BenchmarkPending(b *testing.B) {
	s := openTemp(b, Options{})
	run, err := s.CreateRun(b.Context(), RunSpec{Provider: "direct"})
	if err != nil {
		b.Fatal(err)
	}
	enqueue(b, s, run.ID, 200_000, 20_000)
	var wants []Want
	for d := range 1000 {
		wants = append(wants, Want{Domain: host(d * 20), N: 4})
	}
	for b.Loop() {
		tasks, err := s.Pending(b.Context(), run.ID, wants)
		if err != nil || len(tasks) != 4000 {
			b.Fatal(len(tasks), err)
		}
	}
	b.ReportMetric(float64(b.N)*4000/b.Elapsed().Seconds(), "tasks/s")
}
