package storage

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// ledgerRun is a run of two tenants with a batch, a poll, a lookup and two dead letters.
func ledgerRun(t *testing.T, s *Store) Run {
	t.Helper()
	run, tasks := newRun(t, s, "spidra", "http://a.test/1", "http://a.test/2", "http://a.test/3", "http://a.test/4")
	began := time.UnixMilli(1_700_000_000_000)
	wait := 3 * time.Second
	at := func(ms, task int, exchange, kind, domain, outcome string) Attempt {
		a := Attempt{Number: 1, Domain: domain, Tenant: "acme", Provider: "spidra", Credential: "main", Kind: kind, Exchange: exchange,
			StartedAt: began.Add(time.Duration(ms) * time.Millisecond), Elapsed: 100 * time.Millisecond, Outcome: outcome}
		if task > 0 {
			a.Task = tasks[task-1].ID
		}
		if task == 2 {
			a.Tenant = "globex"
		}
		return a
	}
	refused := at(50, 4, "x3", "submit", "a.test", "limited")
	refused.Layer, refused.RetryAfter = "rate", &wait
	lookup := at(0, 0, "x0", "lookup", "c.test", "accepted")
	lookup.Tenant, lookup.Credential, lookup.Provider = "", "", "direct"
	poll := at(700, 1, "x4", "poll", "a.test", "accepted")
	poll.Credits = 2.5
	write(t, s, Tx{Run: run.ID,
		// In the order in which they ended, which is none of those asked for.
		Attempts: []Attempt{poll, refused, at(200, 2, "x1", "submit", "b.test", "accepted_remote"), at(200, 1, "x1", "submit", "a.test", "accepted_remote"), lookup},
		Tasks: []TaskChange{{ID: tasks[0].ID, State: TaskAccepted}, {ID: tasks[2].ID, State: TaskDead, Reason: "blocked", Error: "the first"},
			{ID: tasks[3].ID, State: TaskDead, Reason: "blocked", Error: "the second"}},
		Results: []Result{{Task: tasks[0].ID, Page: "p1"}, {Task: tasks[0].ID, Page: "p2"}},
		Unseen:  []Unseen{{Tenant: "globex", Requests: 2, Tasks: 1}},
		Events: []Event{{At: began, Level: "info", Text: "one"}, {At: began, Level: "warn", Text: "two"}, {At: began, Level: "warn", Text: "three"},
			{At: began, Level: "error", Text: "four"}},
		Totals: Totals{Credits: 2.5},
	})
	return run
}

func TestLedgerTellsExchangesInBothOrders(t *testing.T) {
	s := openTemp(t, Options{})
	other, tasks := newRun(t, s, "direct", "http://z.test/")
	write(t, s, accept(other.ID, tasks[0], "another run's"))
	run := ledgerRun(t, s)
	err := s.Ledger(t.Context(), run.ID, func(l *Ledger) error {
		var byTime, byDomain []string
		if err := l.ByTime(t.Context(), func(x *Exchange) {
			byTime = append(byTime, x.ID+x.Domain[:1])
			if x.ID == "x3" && (x.RetryAfter == nil || *x.RetryAfter != 3*time.Second || x.Layer != "rate" || x.Elapsed != 100*time.Millisecond) {
				t.Errorf("%+v", x)
			}
		}); err != nil {
			return err
		}
		if err := l.ByDomain(t.Context(), func(x *Exchange) { byDomain = append(byDomain, x.Domain[:1]+x.ID) }); err != nil {
			return err
		}
		if got := strings.Join(byTime, " "); got != "x0c x3a x1b x1a x4a" {
			t.Errorf("by time %s", got)
		}
		if got := strings.Join(byDomain, " "); got != "ax3 ax1 ax4 bx1 cx0" {
			t.Errorf("by domain %s", got)
		}
		if l.First.UnixMilli() != 1_700_000_000_000 || l.Last.UnixMilli() != 1_700_000_000_800 {
			t.Errorf("from %v to %v", l.First, l.Last)
		}
		if l.Run.ID != run.ID || l.Summary.Tasks != 4 || l.Summary.Records != 2 {
			t.Errorf("%+v, %+v", l.Run, l.Summary)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestLedgerSumsUp(t *testing.T) {
	s := openTemp(t, Options{})
	run := ledgerRun(t, s)
	err := s.Ledger(t.Context(), run.ID, func(l *Ledger) error {
		accounts, n, err := l.Accounts(t.Context(), 2)
		if err != nil {
			return err
		}
		// The tasks themselves are of no tenant here, so the records are.
		if n != 3 || len(accounts) != 2 || accounts[0] != (Account{Tenant: "acme", Requests: 3, Credits: 2.5}) ||
			accounts[1] != (Account{Tenant: "globex", Requests: 3, Unpriced: 1}) {
			t.Errorf("%d accounts: %+v", n, accounts)
		}
		if accounts, _, err = l.Accounts(t.Context(), 10); err != nil || len(accounts) != 3 || accounts[2] != (Account{Records: 2, Requests: 1}) {
			t.Errorf("%+v, %v", accounts, err)
		}
		burials, err := l.Burials(t.Context())
		if err != nil {
			return err
		}
		if len(burials) != 1 || burials[0].Reason != "blocked" || burials[0].Tasks != 2 || burials[0].Domains != 1 || !strings.HasPrefix(burials[0].Error, "the ") ||
			burials[0].URL == "" || burials[0].Latest.IsZero() {
			t.Errorf("%+v", burials)
		}
		warnings, n, err := l.Warnings(t.Context(), 1)
		if err != nil {
			return err
		}
		if n != 2 || len(warnings) != 1 || warnings[0].Text != "two" {
			t.Errorf("%d warnings: %+v", n, warnings)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestLedgerIsOfOneInstant: what is written while it is read is not in it.
func TestLedgerIsOfOneInstant(t *testing.T) {
	s := openTemp(t, Options{})
	run, tasks := newRun(t, s, "direct", "http://a.test/1", "http://a.test/2")
	write(t, s, accept(run.ID, tasks[0], "page"))
	err := s.Ledger(t.Context(), run.ID, func(l *Ledger) error {
		write(t, s, accept(run.ID, tasks[1], "page"))
		n := 0
		if err := l.ByTime(t.Context(), func(*Exchange) { n++ }); err != nil {
			return err
		}
		if n != 1 || l.Summary.Accepted != 1 {
			t.Errorf("%d exchanges, %d accepted", n, l.Summary.Accepted)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if sum, err := s.Summary(t.Context(), run.ID); err != nil || sum.Accepted != 2 {
		t.Errorf("%+v, %v", sum, err)
	}
}

func TestLedgerOfNothing(t *testing.T) {
	s := openTemp(t, Options{})
	if err := s.Ledger(t.Context(), 7, func(*Ledger) error { return nil }); !errors.Is(err, ErrNoRun) {
		t.Errorf("of no run: %v", err)
	}
	run, err := s.CreateRun(t.Context(), RunSpec{Provider: "direct"})
	if err != nil {
		t.Fatal(err)
	}
	mine := errors.New("mine")
	err = s.Ledger(t.Context(), run.ID, func(l *Ledger) error {
		accounts, n, err := l.Accounts(t.Context(), 5)
		if err != nil || n != 0 || len(accounts) != 0 || !l.First.IsZero() || !l.Last.IsZero() {
			t.Errorf("%v, %d %v, %v to %v", err, n, accounts, l.First, l.Last)
		}
		return mine
	})
	if !errors.Is(err, mine) {
		t.Errorf("the reader's error is %v", err)
	}
}
