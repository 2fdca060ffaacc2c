package view

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// healthy is a frame of a platform run that nobody refuses: below its ceiling, with work waiting for its sites.
func healthy() *Frame {
	f := &Frame{
		At: t0, Live: true, Run: Run{ID: 1, State: "running", Provider: "evomi"}, InFlight: 6, Ceiling: 48,
		Counts: Counts{Pending: 500, Held: 9}, States: map[State]int{StateRun: 10}, Domains: DomainWindow{Total: 10},
		Budgets: []BudgetRow{
			{Scope: "account", Key: "plan", InFlight: 4},
			{Scope: "credential", Key: "main", Account: "plan", State: StateRun, InFlight: 4, Limit: 5, Remaining: Remaining{
				Known: true, Remaining: 1, HasLimit: true, Limit: 5, At: t0.Add(-time.Second), Kind: "concurrency",
			}},
			{Scope: "global", InFlight: 6, Limit: 48},
			{Scope: "ip", Key: "evomi", InFlight: 6},
		},
		Evidence: &Evidence{LatencyNow: 900 * time.Millisecond, LatencyBefore: 800 * time.Millisecond},
	}
	for _, name := range layerNames[:indexUnknown] {
		f.Layers = append(f.Layers, LayerRow{Layer: name, Trend: make([]int64, trendBins)})
	}
	return f
}

func (f *Frame) refuse(layer string, n int64) {
	for i := range f.Layers {
		if f.Layers[i].Layer == layer {
			f.Layers[i].Recent, f.Layers[i].PerMin = n, float64(n)/15
			f.Layers[i].Trend[trendBins-1] = n
		}
	}
}

func cooling(announced bool, cause string, failed int, left time.Duration) CooldownRow {
	return CooldownRow{Scope: "domain", Key: "forum.example", Until: t0.Add(left), Full: 90 * time.Second, Cause: cause, Layer: "target", Announced: announced, Failed: failed}
}

// TestEachRowOfTheTable: every row of the troubleshooting table (and those that keep what is no rate limit apart) has
// evidence that fits it, with numbers in its words, and evidence that nearly does.
func TestEachRowOfTheTable(t *testing.T) {
	site := func(f *Frame, n int64, refusers int) {
		f.refuse("target", n)
		f.Evidence.Refusers = refusers
		for range min(refusers, worstRefusers) {
			f.Evidence.Worst = append(f.Evidence.Worst, Refuser{Domain: "forum.example", Recent: n, Limit: 3, Learned: "3 in flight, refused at 4; 2 refusals"})
		}
	}
	for _, tt := range []struct {
		fits  string
		level string
		yes   func(*Frame)
		says  []string // in the evidence
		do    string
		no    map[string]func(*Frame)
	}{
		{
			FitsAnnounced, "info", func(f *Frame) { f.Cooldowns = []CooldownRow{cooling(true, "retry-after: 90 s", 0, time.Minute)} },
			[]string{"1 announced wait", "1m30s for domain forum.example (retry-after: 90 s)"}, "one probe",
			map[string]func(*Frame){
				"our own backoff": func(f *Frame) { f.Cooldowns = []CooldownRow{cooling(false, "backoff 1", 0, time.Minute)} },
				"a wait that is over": func(f *Frame) {
					f.Cooldowns = []CooldownRow{cooling(true, "retry-after: 90 s", 0, -time.Second)}
				},
			},
		},
		{
			FitsBackoff, "info", func(f *Frame) { f.Cooldowns = []CooldownRow{cooling(false, "backoff 2", 1, time.Minute)} },
			[]string{"1 wait of our own", "backoff 2", "after 1 failed probe"}, "capped and has jitter",
			map[string]func(*Frame){
				"a wait that was told": func(f *Frame) { f.Cooldowns = []CooldownRow{cooling(true, "retry-after: 90 s", 2, time.Minute)} },
				"a hold for failures":  func(f *Frame) { f.Cooldowns = []CooldownRow{cooling(false, "5 failures in a row", 0, time.Minute)} },
			},
		},
		{
			FitsBackoff, "warn", func(f *Frame) { f.Cooldowns = []CooldownRow{cooling(false, "backoff 4", 3, time.Minute)} },
			[]string{"after 3 failed probes"}, "lower the budget",
			map[string]func(*Frame){},
		},
		{
			FitsUnrelated, "warn", func(f *Frame) { f.refuse("account", 31); f.Evidence.Hit = 7 },
			[]string{"31 x 429 in 15 min (2.1 a minute)", "for 7 domains", "main 4 of 5 in flight and 1 of 5 free"}, "max_in_flight of the credential",
			map[string]func(*Frame){
				"one site refuses":     func(f *Frame) { site(f, 31, 1) },
				"busy is no 429":       func(f *Frame) { f.refuse("busy", 31) },
				"four sites of ten":    func(f *Frame) { site(f, 31, 4) },
				"five sites of twenty": func(f *Frame) { site(f, 31, 5); f.Domains.Total = 20 },
			},
		},
		{
			FitsUnrelated, "warn", func(f *Frame) { f.refuse("rate", 3) }, []string{"request rate from this address", "evomi 6 in flight"}, "--batch",
			map[string]func(*Frame){"nothing lately": func(f *Frame) { f.refuse("rate", 0) }},
		},
		{
			FitsUnrelated, "info", func(f *Frame) { f.refuse("pending", 3) }, []string{"jobs that wait there"}, "nothing yet: one fewer than was refused goes",
			map[string]func(*Frame){"nothing lately": func(f *Frame) { f.refuse("pending", 0) }},
		},
		{
			FitsUnrelated, "warn", func(f *Frame) { site(f, 40, 5) }, []string{"by 5 of 10 sites", "forum.example 40"}, "what they share",
			map[string]func(*Frame){"each its own matter": func(f *Frame) { site(f, 40, 3) }},
		},
		{
			FitsOneTarget, "warn", func(f *Frame) { site(f, 27, 1) },
			[]string{"forum.example 27 x 429", "none by 9 other sites", "held at 3 in flight", "learned: 3 in flight"}, "crawling policy",
			map[string]func(*Frame){
				"the platform refuses":   func(f *Frame) { f.refuse("account", 27); f.Evidence.Hit = 1 },
				"half of the sites":      func(f *Frame) { site(f, 27, 5) },
				"it refused in the past": func(f *Frame) { f.Layers[3].Total = 27 },
			},
		},
		{
			FitsOneTarget, "info", func(f *Frame) { site(f, 3, 1) }, []string{"forum.example 3 x 429 (held at 3 in flight, learned: 3 in flight"}, "nothing yet",
			map[string]func(*Frame){},
		},
		{
			FitsOneTarget, "warn", func(f *Frame) { site(f, 3, 1); f.Evidence.Worst[0].Learned = "" }, []string{"forum.example 3 x 429"}, "crawling policy",
			map[string]func(*Frame){},
		},
		{
			FitsOneTarget, "warn", func(f *Frame) { site(f, 27, 1); f.Evidence = nil }, []string{"27 x 429 in 15 min", "by targets"}, "sort the domains",
			map[string]func(*Frame){"no evidence of anything": func(f *Frame) { f.Evidence = nil }},
		},
		{
			FitsLatency, "warn", func(f *Frame) {
				f.Evidence.LatencyNow, f.Evidence.LatencyBefore = 4100*time.Millisecond, 1900*time.Millisecond
			},
			[]string{"p95 4.1 s in the last 2 minutes, 1.9 s earlier", "no 429 yet", "6 of 48 in flight"}, "by a step",
			map[string]func(*Frame){
				"a little slower": func(f *Frame) {
					f.Evidence.LatencyNow, f.Evidence.LatencyBefore = 2500*time.Millisecond, 1900*time.Millisecond
				},
				"fast all the same": func(f *Frame) {
					f.Evidence.LatencyNow, f.Evidence.LatencyBefore = 150*time.Millisecond, 50*time.Millisecond
				},
				"nothing to compare": func(f *Frame) { f.Evidence.LatencyNow, f.Evidence.LatencyBefore = 4*time.Second, 0 },
				"faster":             func(f *Frame) { f.Evidence.LatencyNow, f.Evidence.LatencyBefore = time.Second, 4*time.Second },
			},
		},
		{
			FitsWorkers, "warn", func(f *Frame) {
				f.refuse("account", 12)
				f.Budgets[1].InFlight, f.Budgets[1].Remaining.Remaining = 2, 0
			},
			[]string{"5 of 5 slots in use, 2 are ours, so 3 are somebody else's", "12 x 429 of the account in the last 7 minutes, 0 in the 7 before"}, "here 2",
			map[string]func(*Frame){
				"all slots are ours": func(f *Frame) {
					f.refuse("account", 12)
					f.Budgets[1].InFlight, f.Budgets[1].Remaining.Remaining = 5, 0
				},
				"the answered call is counted": func(f *Frame) {
					f.refuse("account", 12)
					f.Budgets[1].InFlight, f.Budgets[1].Remaining.Remaining = 4, 0
				},
				"no 429 of the account": func(f *Frame) { f.Budgets[1].InFlight, f.Budgets[1].Remaining.Remaining = 2, 0 },
				"an old report": func(f *Frame) {
					f.refuse("account", 12)
					f.Budgets[1].InFlight, f.Budgets[1].Remaining.Remaining, f.Budgets[1].Remaining.At = 2, 0, t0.Add(-time.Minute)
				},
				"a second key of ours uses them": func(f *Frame) {
					f.refuse("account", 12)
					f.Budgets[1].InFlight, f.Budgets[1].Remaining.Remaining = 2, 0
					f.Budgets = append(f.Budgets, BudgetRow{Scope: "credential", Key: "two", Account: "plan", InFlight: 3})
				},
				"a window is no count of workers": func(f *Frame) {
					f.refuse("account", 12)
					f.Budgets[1].InFlight, f.Budgets[1].Remaining.Remaining, f.Budgets[1].Remaining.Kind = 2, 0, "window"
				},
			},
		},
		{
			FitsAccess, "warn", func(f *Frame) {
				f.Evidence.Blocked, f.States[StateBlock] = 9, 1
				f.Domains.Rows = []DomainRow{{Domain: "bank.example", State: StateBlock}}
			},
			[]string{"9 x refused access", "1 domain held for it: bank.example"}, "access policy",
			map[string]func(*Frame){
				"a 429 of a site": func(f *Frame) { site(f, 9, 1) },
				"answers 5xx":     func(f *Frame) { f.Evidence.Failed = 9 },
			},
		},
		{
			FitsKey, "error", func(f *Frame) { f.Budgets[0].Stopped = "quota: no credits are left" },
			[]string{"account plan is stopped: quota: no credits are left", "and with it the key main"}, "top up",
			map[string]func(*Frame){"it cools": func(f *Frame) { f.Budgets[0].State = StateCool }},
		},
		{
			FitsKey, "error", func(f *Frame) { f.Budgets[1].Stopped = "auth: 401" }, []string{"credential main is stopped: auth: 401"}, "mend the key",
			map[string]func(*Frame){"it is paused": func(f *Frame) { f.Budgets[1].State = StatePause }},
		},
		{
			FitsBusy, "info", func(f *Frame) { f.refuse("busy", 2) }, []string{"2 x busy", "apart from 429"}, "recovered",
			map[string]func(*Frame){"a 429": func(f *Frame) { f.refuse("rate", 2) }},
		},
		{
			FitsFaults, "info", func(f *Frame) { f.Evidence.Transport = 5 }, []string{"5 exchanges without a whole response"}, "--timeout",
			map[string]func(*Frame){"a few": func(f *Frame) { f.Evidence.Transport, f.Evidence.Failed, f.Evidence.Invalid = 4, 4, 4 }},
		},
		{
			FitsFaults, "info", func(f *Frame) { f.Evidence.Invalid = 12 }, []string{"12 answers that fail validation"}, "[validate]",
			map[string]func(*Frame){"blocked": func(f *Frame) { f.Evidence.Blocked = 12 }},
		},
		{
			FitsFaults, "info", func(f *Frame) { f.Evidence.Failed = 12 }, []string{"12 answers 5xx"}, "repair",
			map[string]func(*Frame){"busy": func(f *Frame) { f.refuse("busy", 12) }},
		},
		{
			FitsPaused, "info", func(f *Frame) { f.Budgets[1].State, f.States[StatePause] = StatePause, 2 },
			[]string{"credential main, 2 domains"}, "p on the row",
			map[string]func(*Frame){"cooling": func(f *Frame) { f.Budgets[1].State = StateCool }},
		},
		{
			FitsPaused, "warn", func(f *Frame) { f.Run.State, f.Budgets[2].State = "paused", StatePause }, []string{"the whole run"}, "P resumes",
			map[string]func(*Frame){"it is stopping": func(f *Frame) { f.Run.State = "draining" }},
		},
		{
			FitsStorage, "error", func(f *Frame) { f.Health.StorageError = "disk full" }, []string{"disk full"}, "make room",
			map[string]func(*Frame){"it is slow": func(f *Frame) { f.Health.StorageLag = time.Minute }},
		},
	} {
		t.Run(tt.fits, func(t *testing.T) {
			f := healthy()
			tt.yes(f)
			found := Diagnose(f)
			i := slices.IndexFunc(found, func(x Finding) bool { return x.Fits == tt.fits })
			if i < 0 {
				t.Fatalf("not found among %+v", found)
			}
			if found[i].Level != tt.level || !strings.Contains(found[i].Do, tt.do) {
				t.Errorf("%+v, want level %s and to do %q", found[i], tt.level, tt.do)
			}
			for _, s := range tt.says {
				if !strings.Contains(found[i].Evidence, s) {
					t.Errorf("the evidence %q does not say %q", found[i].Evidence, s)
				}
			}
			for name, no := range tt.no {
				f := healthy()
				no(f)
				for _, x := range Diagnose(f) {
					if x.Fits == tt.fits && strings.Contains(x.Evidence, tt.says[0]) {
						t.Errorf("%s: fits too: %+v", name, x)
					}
					if x.Fits == tt.fits && !slices.Contains([]string{FitsUnrelated, FitsFaults}, tt.fits) {
						t.Errorf("%s: fits too: %+v", name, x)
					}
				}
			}
		})
	}
}

// TestNothingWrongIsAFindingToo: it says what bounds the run.
func TestNothingWrongIsAFindingToo(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*Frame)
		says   string
	}{
		{"pace", func(*Frame) {}, "6 in flight, 500 tasks wait for the pace of their sites; 9 waits were our own"},
		{"pace and age", func(f *Frame) { f.QueueOldest = 20 * time.Minute }, "pace of their sites, the oldest for 20m0s; 9 waits"},
		{"the program's ceiling", func(f *Frame) { f.InFlight = 48 }, "48 of 48 in flight: the program's ceiling"},
		{"a key's limit", func(f *Frame) { f.Budgets[1].InFlight = 5 }, "credential main has 5 of 5 in flight"},
		{"jobs at the platform", func(f *Frame) {
			f.Budgets = append(f.Budgets, BudgetRow{Scope: "pending", Key: "plan/scrape", InFlight: 10, Limit: 10})
		}, "10 of 10 jobs wait at the platform (plan/scrape)"},
		{"a window", func(f *Frame) {
			f.Budgets[1].Remaining = Remaining{Known: true, HasLimit: true, Limit: 300, Kind: "window", ResetAt: t0.Add(20 * time.Second)}
		}, "the window of 300 requests is spent, it opens in 20 s"},
		{"sites' ceilings", func(f *Frame) {
			f.Domains.Rows = []DomainRow{{Queue: 9, Limit: 2, InFlight: 2}, {Limit: 2, InFlight: 2}}
		}, "1 domain with work at the ceiling in flight"},
		{"no work", func(f *Frame) { f.Counts.Pending, f.Counts.Remote = 0, 3 }, "nothing waits: 6 in flight, 3 at the platform"},
		{"input", func(f *Frame) { f.Counts.Pending, f.Run.Loading = 0, true }, "still being read"},
		{"stopping", func(f *Frame) { f.Run.State = "draining" }, "it is stopping"},
		{"over", func(f *Frame) { f.Live = false }, "no run is going"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := healthy()
			tt.change(f)
			found := Diagnose(f)
			if len(found) != 1 || found[0].Fits != FitsOwnLimit || !strings.Contains(found[0].Evidence, tt.says) || found[0].Do == "" {
				t.Errorf("%+v", found)
			}
		})
	}
	if found := Diagnose(&Frame{}); len(found) != 1 {
		t.Errorf("no run: %+v", found)
	}
}

func TestWhatStandsStillComesFirst(t *testing.T) {
	f := healthy()
	f.refuse("busy", 2)
	f.refuse("rate", 2)
	f.Budgets[1].Stopped = "auth: 401"
	var levels []string
	for _, x := range Diagnose(f) {
		levels = append(levels, x.Level)
	}
	if strings.Join(levels, " ") != "error warn info" {
		t.Errorf("%v", levels)
	}
}

func TestHypothesesAreOfSharedBudgetsAndTheSelectedDomain(t *testing.T) {
	f := healthy()
	f.Budgets[1].Learned = "4 in flight, refused at 5; 1 refusal"
	f.Detail = &DomainDetail{Domain: "forum.example", Learned: "10 requests per 60 s"}
	got := Hypotheses(f)
	want := []Hypothesis{{"credential", "main", "4 in flight, refused at 5; 1 refusal"}, {"domain", "forum.example", "10 requests per 60 s"}}
	if !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	f.Detail.Learned = ""
	if got := Hypotheses(f); len(got) != 1 {
		t.Errorf("a domain that taught nothing is told: %+v", got)
	}
}

// TestEvidenceIsMadeWhenAskedFor from what was counted, and forgets what is older than a quarter of an hour.
func TestEvidenceIsMadeWhenAskedFor(t *testing.T) {
	d := newDrive()
	d.put(busy("a.example", 5), busy("b.example", 5), busy("c.example", 5), busy("quiet.example", 5))
	answer := func(outcome string, n int, took time.Duration) {
		for range n {
			d.delta.Tally.Count(Answer{Domain: "c.example", Outcome: outcome, Latency: took})
		}
	}
	d.pass(5*time.Minute, func() { answer("accepted", 1, time.Second) })
	d.refuse("a.example", "target", 3)
	d.refuse("b.example", "target", 8)
	d.refuse("b.example", "account", 1)
	d.refuse("c.example", "rate", 2)
	answer("blocked", 4, 0)
	answer("failed", 3, 0)
	answer("transport", 2, 0)
	answer("invalid", 1, 0)
	d.pass(2*time.Minute, func() { answer("accepted", 1, 3*time.Second) })
	if f := d.Frame(Query{}); f.Evidence != nil {
		t.Error("nobody asked for evidence")
	}
	e := d.Frame(Query{Evidence: true}).Evidence
	if e.Refusers != 2 || e.Hit != 2 || len(e.Worst) != 2 || e.Worst[0].Domain != "b.example" || e.Worst[0].Recent != 8 {
		t.Errorf("%+v", e)
	}
	if e.Blocked != 4 || e.Failed != 3 || e.Transport != 2 || e.Invalid != 1 {
		t.Errorf("%+v", e)
	}
	if e.LatencyNow < 2*e.LatencyBefore || e.LatencyBefore < 800*time.Millisecond {
		t.Errorf("p95 %v now, %v before", e.LatencyNow, e.LatencyBefore)
	}
	d.pass(16*time.Minute, nil)
	e = d.Frame(Query{Evidence: true}).Evidence
	if e.Refusers != 0 || e.Hit != 0 || e.Blocked != 0 || e.LatencyNow != 0 || len(d.state.refused) != 0 {
		t.Errorf("16 minutes later: %+v, %d domains kept", e, len(d.state.refused))
	}
	d.refuse("a.example", "target", 1)
	d.send()
	if e = d.Frame(Query{Evidence: true}).Evidence; e.Refusers != 1 {
		t.Errorf("a domain that refuses again: %+v", e)
	}
}
