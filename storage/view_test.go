package storage

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// columns are the stable columns of each view, which may only be added to.
var columns = map[string]string{
	"runs":         "id provider state started_at finished_at tasks accepted dead pending attempts",
	"tasks":        "id run url input_url domain tenant state tries attempts not_before waits_for reason created_at updated_at",
	"results":      "task_id run url input_url final_url domain tenant provider status content_type fetched_at elapsed_ms attempts credits bytes encoding body fields meta",
	"attempts":     "task_id run attempt url domain tenant provider credential kind exchange started_at elapsed_ms outcome layer http_status target_status retry_after_ms quota_limit remaining reset_ms in_flight in_flight_limit decision headers body_kind credits bytes error body_sample remote_job",
	"dead_letters": "task_id run url domain tenant reason tries attempts died_at error",
	"cooldowns":    "scope key until cause source set_at", "pauses": "scope key until cause source set_at",
	"learned_limits": "scope key kind quota_limit window_seconds per_second confidence evidence updated_at",
	"events":         "at run level scope key text task_id",
}

func TestViewsHaveTheirColumns(t *testing.T) {
	s := openTemp(t, Options{})
	for view, want := range columns {
		names := strings.Fields(want)
		quoted := make([]string, len(names)) // "x" of a missing column would be the text x
		for i, name := range names {
			quoted[i] = view + "." + name
		}
		query(t, s, "SELECT "+strings.Join(quoted, ", ")+" FROM "+view)
	}
}

// TestViewsDoWithoutNewFunctions keeps the views readable for the sqlite3 shells that people have: 3.40 and its like give
// NULL for unixepoch('subsec') (new in 3.42) without an error, so tasks seemed to wait for nothing.
func TestViewsDoWithoutNewFunctions(t *testing.T) {
	all, err := steps(embedded)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		for _, line := range strings.Split(s.sql, "\n") {
			code, _, _ := strings.Cut(line, "--")
			for _, word := range []string{"subsec", "jsonb", "concat(", "string_agg", "timediff", "octet_length"} {
				if strings.Contains(strings.ToLower(code), word) {
					t.Errorf("%s uses %q, which SQLite 3.40 does not know: %s", s.name, word, line)
				}
			}
		}
	}
}

func TestWhatPendingTasksWaitFor(t *testing.T) {
	base := time.Now().Truncate(time.Millisecond).UTC()
	text := func(d time.Duration) string { return base.Add(d).Format("2006-01-02T15:04:05.000Z") }
	cool := func(scope, key string, d time.Duration) Cooldown {
		return Cooldown{Scope: scope, Key: key, Until: base.Add(d), SetAt: base}
	}
	cases := []struct {
		name        string
		provider    string
		credentials int
		accounts    int
		cooldowns   []Cooldown
		pauses      []Pause
		want        string
	}{
		{"nothing", "evomi", 1, 0, nil, nil, "NULL|NULL"},
		{"a domain", "direct", 1, 0, []Cooldown{cool("domain", "a.test", time.Hour)}, nil, "domain:a.test|" + text(time.Hour)},
		{"another domain", "direct", 1, 0, []Cooldown{cool("domain", "b.test", time.Hour)}, nil, "NULL|NULL"},
		{"one that is over", "direct", 1, 0, []Cooldown{cool("domain", "a.test", -time.Hour)}, nil, "NULL|NULL"},
		{"a tenant", "direct", 1, 0, []Cooldown{cool("tenant", "acme", time.Hour)}, nil, "tenant:acme|" + text(time.Hour)},
		{"the longer of two", "evomi", 1, 0, []Cooldown{cool("domain", "a.test", time.Minute), cool("provider", "evomi", time.Hour)}, nil, "provider:evomi|" + text(time.Hour)},
		{"another provider", "evomi", 1, 0, []Cooldown{cool("provider", "spidra", time.Hour)}, nil, "NULL|NULL"},
		{"our address there", "spidra", 1, 0, []Cooldown{cool("ip", "spidra", time.Hour)}, nil, "ip:spidra|" + text(time.Hour)},
		{"the only account", "evomi", 1, 0, []Cooldown{cool("account", "acme-plan", time.Hour)}, nil, "account:acme-plan|" + text(time.Hour)},
		{"one account of two", "evomi", 2, 0, []Cooldown{cool("account", "acme-plan", time.Hour)}, nil, "NULL|NULL"},
		{"both accounts: the first to open", "evomi", 2, 0, []Cooldown{cool("account", "one", time.Hour), cool("account", "two", time.Minute)}, nil, "account:two|" + text(time.Minute)},
		{"two keys of one account", "evomi", 2, 1, []Cooldown{cool("account", "acme-plan", time.Hour)}, nil, "account:acme-plan|" + text(time.Hour)},
		{"one key of two", "evomi", 2, 1, []Cooldown{cool("credential", "main", time.Hour)}, nil, "NULL|NULL"},
		{"a provider without a name", "evomi", 1, 0, []Cooldown{cool("provider", "", time.Hour)}, nil, "provider|" + text(time.Hour)},
		{"keys are nothing to direct", "direct", 1, 0, []Cooldown{cool("credential", "main", time.Hour)}, nil, "NULL|NULL"},
		{"a pause, which has no end", "direct", 1, 0, []Cooldown{cool("provider", "direct", time.Hour)}, []Pause{{Scope: "domain", Key: "a.test"}}, "domain:a.test|NULL"},
		{"everything", "direct", 1, 0, nil, []Pause{{Scope: "global"}}, "global|NULL"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := openTemp(t, Options{Fast: true})
			run, err := s.CreateRun(t.Context(), RunSpec{Provider: c.provider, Credentials: c.credentials, Accounts: c.accounts})
			if err != nil {
				t.Fatal(err)
			}
			var list []NewTask
			for i := range 3 {
				list = append(list, NewTask{URL: fmt.Sprint("http://a.test/", i), Domain: "a.test", Tenant: "acme"})
			}
			if _, err := s.Enqueue(t.Context(), run.ID, list); err != nil {
				t.Fatal(err)
			}
			write(t, s, Tx{Run: run.ID, Cooldowns: c.cooldowns, Tasks: []TaskChange{
				{ID: 2, State: TaskAccepted}, {ID: 3, State: TaskDelayed, NotBefore: base.Add(time.Second)}}})
			for _, p := range c.pauses {
				if err := s.SetPause(t.Context(), p); err != nil {
					t.Fatal(err)
				}
			}
			got := query(t, s, "SELECT waits_for, not_before FROM tasks ORDER BY id")
			if got[0] != c.want {
				t.Errorf("pending: got %s, want %s", got[0], c.want)
			}
			if got[1] != "NULL|NULL" || got[2] != "NULL|"+text(time.Second) {
				t.Errorf("accepted and delayed: %v", got[1:])
			}
		})
	}
}

func TestHoldsAreKept(t *testing.T) {
	s := openTemp(t, Options{})
	ctx := t.Context()
	run, _ := newRun(t, s, "direct")
	set := time.Now().Truncate(time.Millisecond).UTC()
	p := Pause{Scope: "domain", Key: "a.test", Cause: "asked", Source: "user", SetAt: set}
	if err := s.SetPause(ctx, p); err != nil {
		t.Fatal(err)
	}
	if err := s.SetPause(ctx, Pause{Scope: "domain", Key: "a.test", Cause: "again"}); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Pauses(ctx); err != nil || len(got) != 1 || got[0] != p {
		t.Errorf("%+v, %v", got, err)
	}
	for _, want := range []bool{true, false} {
		if got, err := s.ClearPause(ctx, "domain", "a.test"); err != nil || got != want {
			t.Errorf("%v, %v", got, err)
		}
	}
	limit, window := int64(300), 15*time.Minute
	for _, evidence := range []string{"one refusal", "two refusals"} {
		write(t, s, Tx{Run: run.ID, Learned: []Learned{{Provider: "direct", Scope: "domain", Key: "a.test", Kind: "window", QuotaLimit: &limit, Window: &window, Confidence: 0.5, Evidence: evidence, UpdatedAt: set}}})
	}
	got, err := s.LearnedLimits(ctx, "direct")
	if err != nil || len(got) != 1 || *got[0].QuotaLimit != 300 || *got[0].Window != window || got[0].PerSecond != nil || got[0].Evidence != "two refusals" || !got[0].UpdatedAt.Equal(set) {
		t.Errorf("%+v, %v", got, err)
	}
	write(t, s, Tx{Run: run.ID, Events: []Event{{At: set, Level: "info", Text: "one"}, {At: set, Level: "warn", Scope: "domain", Key: "a.test", Text: "two", Task: 7}}})
	events, err := s.Events(ctx, run.ID, 0, 1)
	if err != nil || len(events) != 1 || events[0].Text != "one" {
		t.Fatalf("%+v, %v", events, err)
	}
	events, err = s.Events(ctx, run.ID, events[0].ID, 10)
	if err != nil || len(events) != 1 || events[0] != (Event{ID: events[0].ID, At: set, Level: "warn", Scope: "domain", Key: "a.test", Text: "two", Task: 7}) {
		t.Errorf("%+v, %v", events, err)
	}
}

func TestCached(t *testing.T) {
	s := openTemp(t, Options{})
	now := time.Now()
	url := "http://a.test/1"
	run, tasks := newRun(t, s, "evomi", url)
	tx := accept(run.ID, tasks[0], "page")
	tx.Results[0].Fields = []byte(`{"n": 1.50}`)
	write(t, s, tx)
	cases := []struct {
		name, url, provider, options string
		since                        time.Time
		want                         bool
	}{
		{"young enough", url, "evomi", "o", now.Add(-time.Minute), true},
		{"too old", url, "evomi", "o", now.Add(time.Minute), false},
		{"another page", url + "/", "evomi", "o", now.Add(-time.Minute), false},
		{"another provider", url, "direct", "o", now.Add(-time.Minute), false},
		{"other options", url, "evomi", "p", now.Add(-time.Minute), false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			all, err := s.Cached(t.Context(), c.url, c.provider, c.options, c.since)
			if err != nil || len(all) > 1 || (len(all) == 1) != c.want {
				t.Fatalf("%v, %v", all, err)
			}
			if !c.want {
				return
			}
			if got := all[0]; string(got.Body) != "page" || *got.Status != 200 || string(got.Fields) != `{"n":1.50}` || got.Elapsed != 80*time.Millisecond {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestCachedCrawlHasAllItsPages: the results of a crawl are its pages, none of which stands for the root alone.
func TestCachedCrawlHasAllItsPages(t *testing.T) {
	s := openTemp(t, Options{})
	now := time.Now()
	url := "http://a.test/"
	run, tasks := newRun(t, s, "spidra", url)
	tx := accept(run.ID, tasks[0], "page")
	tx.Results = nil
	for i, page := range []string{url, url + "b", url + "c"} {
		tx.Results = append(tx.Results, Result{Task: tasks[0].ID, Page: page, FinalURL: page, FetchedAt: now.Add(-time.Duration(i) * time.Minute), Body: []byte(page)})
	}
	write(t, s, tx)
	all, err := s.Cached(t.Context(), url, "spidra", "o", now.Add(-3*time.Minute))
	if err != nil || len(all) != 3 || all[0].Page != url || all[2].Page != url+"c" || string(all[2].Body) != url+"c" {
		t.Fatalf("%+v, %v", all, err)
	}
	if all, err = s.Cached(t.Context(), url, "spidra", "o", now.Add(-time.Minute-time.Second)); err != nil || len(all) != 0 {
		t.Fatalf("a crawl with a page that is too old: %+v, %v", all, err)
	}
}
