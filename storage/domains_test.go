package storage

import (
	"fmt"
	"testing"
	"time"
)

func TestDomainTotals(t *testing.T) {
	s := openTemp(t, Options{Fast: true})
	run, _ := newRun(t, s, "direct", "http://a.test/1", "http://a.test/2", "http://a.test/3", "http://a.test/4", "http://a.test/5")
	if _, err := s.Enqueue(t.Context(), run.ID, []NewTask{{URL: "http://b.test/1", Domain: "b.test"}, {URL: "http://b.test/2", Domain: "b.test"}}); err != nil {
		t.Fatal(err)
	}
	other, _ := newRun(t, s, "direct", "http://a.test/1")
	attempt := func(task int64, outcome, layer string) Attempt {
		return Attempt{Task: task, Domain: "a.test", Outcome: outcome, Layer: layer, StartedAt: time.Now(), Exchange: fmt.Sprint(task, outcome, layer)}
	}
	write(t, s, Tx{Run: run.ID, Tasks: []TaskChange{
		{ID: 1, State: TaskAccepted}, {ID: 2, State: TaskDead, Reason: "blocked"}, {ID: 3, State: TaskInFlight}, {ID: 4, State: TaskDelayed, NotBefore: time.Now()}, {ID: 7, State: TaskRemote},
	}, Attempts: []Attempt{attempt(1, "limited", "target"), attempt(1, "limited", "account"), attempt(2, "busy", "capacity"), attempt(2, "limited", "rate"), attempt(3, "limited", "pending"), attempt(1, "accepted", "")}})
	write(t, s, Tx{Run: other.ID, Attempts: []Attempt{attempt(8, "limited", "target")}})
	got, err := s.DomainTotals(t.Context(), run.ID)
	if err != nil || len(got) != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	for i := range got {
		if got[i].Oldest.IsZero() || got[i].Updated.IsZero() {
			t.Errorf("%+v", got[i])
		}
		got[i].Oldest, got[i].Updated = time.Time{}, time.Time{}
	}
	if want := (DomainTotals{Domain: "a.test", Pending: 1, Delayed: 1, InFlight: 1, Accepted: 1, Dead: 1, Account: 1, Rate: 1, PendingJobs: 1, Target: 1, Busy: 1}); got[0] != want {
		t.Errorf("%+v", got[0])
	}
	if want := (DomainTotals{Domain: "b.test", Pending: 1, Remote: 1}); got[1] != want {
		t.Errorf("%+v", got[1])
	}
}

func TestNewestEvents(t *testing.T) {
	s := openTemp(t, Options{Fast: true})
	run, _ := newRun(t, s, "direct", "http://a.test/1")
	var tx Tx
	tx.Run = run.ID
	for i := range 5 {
		tx.Events = append(tx.Events, Event{At: time.Now(), Level: "info", Text: fmt.Sprint(i)})
	}
	write(t, s, tx)
	last, err := s.LastEvent(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		after int64
		limit int
		want  string
	}{{0, 3, "234"}, {0, 9, "01234"}, {last - 1, 9, "4"}, {last, 9, ""}} {
		events, err := s.NewestEvents(t.Context(), run.ID, c.after, c.limit)
		text := ""
		for _, e := range events {
			text += e.Text
		}
		if err != nil || text != c.want {
			t.Errorf("%+v: %q, %v", c, text, err)
		}
	}
}
