// Package sample holds frames for the tests of screens and dashboard: invented runs whose numbers agree with each other.
// Every call returns new values, so a test may change what it got.
package sample

import (
	"fmt"
	"math"
	"strings"
	"time"

	"dev.scrapetop/engine/view"
)

// Now is the moment of every sample.
var Now = time.Date(2026, 8, 22, 14, 30, 0, 0, time.UTC)

// Normal is a direct run in its middle: ten domains in all states, three cooldowns, refusals of the target.
func Normal() *view.Frame {
	rows := []view.DomainRow{
		{
			Domain: "forum-c.example", State: view.StateCool, InFlight: 0, Limit: 4, LimitWas: 10,
			Remaining: window(0, 120, 42*time.Second, 48*time.Second), Until: in(42), Full: 90 * time.Second,
			Cause: "Retry-After: 90", Recent429: 27, Total429: 142, Trend: []int64{0, 2, 4, 6, 3, 2, 3, 5, 8, 6},
			OKPerMin: 0, Queue: 2933, Oldest: ago(9*60 + 48), Accepted: 8204, Dead: 4, ETA: eta(37),
			LastAt: ago(48), LastText: "429 target",
		},
		{
			Domain: "jobs-d.example", State: view.StateSlow, InFlight: 3, Limit: 5, LimitWas: 12,
			Remaining: window(38, 300, 51*time.Second, 5*time.Second), Until: in(6), Full: 15 * time.Second,
			Cause: "backoff 3", Recent429: 11, Total429: 61, Trend: []int64{0, 0, 2, 2, 0, 0, 1, 3, 2, 1},
			OKPerMin: 64, Queue: 871, Oldest: ago(4*60 + 5), Accepted: 6112, Dead: 5, ETA: eta(19),
			LastAt: ago(13), LastText: "429 target",
		},
		{
			Domain: "bank-h.example", State: view.StateBlock, Limit: 2, Remaining: view.Remaining{Asked: true},
			Until: in(29*60 + 31), Full: 30 * time.Minute, Cause: "403 x5", Recent429: 2, Total429: 2,
			Trend: []int64{0, 0, 0, 0, 0, 0, 1, 1, 0, 0}, Queue: 77, Oldest: ago(22*60 + 10), Accepted: 0, Dead: 9,
			ETA: view.ETA{Why: "blocked"}, LastAt: ago(29), LastText: "403 blocked",
		},
		{
			Domain: "maps-f.example", State: view.StatePause, Limit: 6,
			Remaining: window(88, 90, 0, 40*time.Second), Queue: 640, Oldest: ago(18*60 + 31), Accepted: 1200,
			ETA: view.ETA{Why: "paused"}, LastAt: ago(1889), LastText: "200 in 0.80 s", Paused: ago(1889),
		},
		{
			Domain: "shop-a.example", State: view.StateRun, InFlight: 12, Limit: 16,
			Remaining: window(412, 600, 38*time.Second, time.Second), Recent429: 3, Total429: 7,
			Trend: []int64{0, 0, 1, 0, 0, 1, 0, 0, 1, 0}, OKPerMin: 212, Queue: 1204, Oldest: ago(72), Accepted: 9300,
			ETA: eta(7), LastAt: ago(2), LastText: "200 in 1.10 s",
		},
		{
			Domain: "tube-j.example", State: view.StateRun, InFlight: 2, Limit: 4,
			Remaining: window(17, 40, 9*time.Second, 2*time.Minute), Recent429: 1, Total429: 1,
			Trend: []int64{0, 0, 0, 0, 1, 0, 0, 0, 0, 0}, OKPerMin: 22, Queue: 58, Oldest: ago(31), Accepted: 802, Dead: 1,
			ETA: eta(3), LastAt: ago(120), LastText: "200 in 2.40 s",
		},
		{
			Domain: "news-b.example", State: view.StateRun, InFlight: 8, Limit: 8, Remaining: view.Remaining{Asked: true},
			OKPerMin: 148, Queue: 310, Oldest: ago(22), Accepted: 2381, ETA: eta(3), LastAt: ago(1), LastText: "200 in 0.31 s",
			Trend: make([]int64, 10),
		},
		{
			Domain: "wiki-e.example", State: view.StateRun, InFlight: 6, Limit: 10,
			Remaining: window(9120, 10000, 41*time.Minute+2*time.Second, time.Second), OKPerMin: 305, Queue: 92,
			Oldest: ago(4), Accepted: 2580, ETA: view.ETA{Known: true, Left: 20 * time.Second}, LastAt: ago(2),
			LastText: "200 in 0.22 s", Trend: make([]int64, 10),
		},
		{
			Domain: "blog-g.example", State: view.StateIdle, Limit: 4, Remaining: window(60, 60, 0, 50*time.Second),
			Accepted: 310, LastAt: ago(50), LastText: "200 in 0.61 s", Trend: make([]int64, 10),
		},
		{Domain: "docs-i.example", State: view.StateDone, Accepted: 315, Dead: 4, LastAt: ago(900), LastText: "200 in 0.44 s"},
	}
	f := &view.Frame{
		Seq: 41, At: Now, Live: true,
		Run: view.Run{
			ID: 184, Name: "catalog", Provider: "direct", State: "running", Started: ago(2933), Elapsed: 2933 * time.Second,
		},
		InFlight: 31, Ceiling: 48,
		Counts: view.Counts{
			Tasks: 37443, Pending: 6185, Delayed: 12, InFlight: 31, Accepted: 31204, Dead: 23,
			Records: 31204, Cached: 0, Invalid: 412, Duplicates: 1906, Requests: 38870, Retries: 1360, Attempts: 38870, Held: 118,
			Bytes: 9_400_000_000,
		},
		Domains:     view.DomainWindow{Total: 10, Matched: 10, Rows: rows, Index: -1},
		States:      map[view.State]int{"run": 4, "slow": 1, "cool": 1, "pause": 1, "block": 1, "idle": 1, "done": 1},
		QueueOldest: 22*time.Minute + 10*time.Second, QueueP95: 9*time.Minute + 48*time.Second,
		AcceptedPerMin: 751, AcceptedAverage: 638, Chart: chart(), RequestsPerMin: 782,
		OKShare: .964, RetryShare: .035, DeadShare: .001,
		LatencyP50: 410 * time.Millisecond, LatencyP95: 2900 * time.Millisecond, LatencyP99: 7100 * time.Millisecond,
		Layers: []view.LayerRow{
			{Layer: "account"}, {Layer: "rate"}, {Layer: "pending"},
			{
				Layer: "target", Recent: 44, Total: 211, PerMin: 2.9, Last: ago(13),
				Trend: []int64{0, 0, 2, 3, 4, 6, 3, 2, 0, 0, 2, 3, 3, 3, 5, 7, 8, 6, 4, 3, 2, 2, 0, 2},
			},
			{Layer: "busy", Recent: 2, Total: 5, PerMin: .1, Last: ago(400), Trend: []int64{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
		},
		Cooldowns: []view.CooldownRow{
			{Scope: "domain", Key: "jobs-d.example", Until: in(6), Full: 15 * time.Second, Cause: "backoff 3", Layer: "target", Failed: 2},
			{Scope: "domain", Key: "forum-c.example", Until: in(42), Full: 90 * time.Second, Cause: "Retry-After: 90", Layer: "target"},
			{Scope: "domain", Key: "bank-h.example", Until: in(29*60 + 31), Full: 30 * time.Minute, Cause: "403 x5", Layer: "target"},
		},
		Caps: []view.CapRow{
			{Name: "requests", Used: 38870, Limit: 60000, Forecast: .76},
			{Name: "time", Used: 2933, Limit: 7200, Forecast: .93},
		},
		Events: []view.EventRow{
			{Seq: 904, At: ago(2), Level: "info", Scope: "domain", Key: "wiki-e.example", Text: "200 in 0.22 s, accepted", Task: 90213},
			{Seq: 903, At: ago(13), Level: "warn", Scope: "domain", Key: "jobs-d.example", Text: "limit lowered 12 -> 5 after 3 x 429"},
			{Seq: 902, At: ago(29), Level: "error", Scope: "domain", Key: "bank-h.example", Text: "403: dead letter, blocked", Task: 88901},
			{Seq: 901, At: ago(48), Level: "warn", Scope: "domain", Key: "forum-c.example", Text: "429 target, Retry-After: 90: cooling until 14:30:42", Task: 90177},
			{Seq: 900, At: ago(1889), Level: "user", Scope: "domain", Key: "maps-f.example", Text: "paused by you"},
		},
		ETA:     view.ETA{Known: true, Left: 37 * time.Minute, PlusMinus: 5 * time.Minute, LeftOut: 717, LeftOutDomains: 2},
		Cooling: 3,
		Alerts:  []view.Alert{{Seq: 7, At: ago(120), Level: "warn", Text: "time is forecast to reach 93% of its cap", Do: "raise --run-deadline or resume later"}},
	}
	return f
}

// Platform is a run behind a platform: two credentials of one account, the second stopped.
func Platform() *view.Frame {
	f := Normal()
	f.Run.Provider = "evomi"
	f.Budgets = []view.BudgetRow{
		{
			Scope: "credential", Key: "main", State: view.StateCool, InFlight: 5, Limit: 5, Until: in(12), Full: 12 * time.Second, Cause: "Retry-After: 12", Layer: "account", Announced: true,
			Account: "acme-plan", Refused: view.ByLayer{Account: 31, Target: 44, Busy: 2},
			Remaining: view.Remaining{Known: true, Remaining: 0, HasLimit: true, Limit: 5, At: ago(3), Kind: "concurrency", Asked: true},
		},
		{Scope: "credential", Key: "spare", Account: "acme-plan", State: view.StateBlock, Remaining: view.Remaining{Asked: true}, Stopped: "auth: 401, the key was refused"},
		{
			Scope: "account", Key: "acme-plan", State: view.StateRun, InFlight: 5, Limit: 10, Refused: view.ByLayer{Account: 31, Target: 44, Busy: 2},
			Remaining: view.Remaining{Known: true, Remaining: 5, HasLimit: true, Limit: 10, At: ago(3), Kind: "concurrency", Asked: true},
		},
		{Scope: "tenant", Key: "acme", State: view.StateRun, InFlight: 5, Limit: 10, Refused: view.ByLayer{Account: 31, Target: 44, Busy: 2}},
		{Scope: "provider", Key: "evomi", State: view.StateRun, InFlight: 5, Refused: view.ByLayer{Account: 31, Target: 44, Busy: 2}},
		{Scope: "ip", Key: "evomi", State: view.StateRun, InFlight: 31},
		{Scope: "global", State: view.StateRun, InFlight: 31, Limit: 48},
	}
	f.Layers[0] = view.LayerRow{Layer: "account", Recent: 31, Total: 31, PerMin: 2.1, Last: ago(12), Trend: []int64{0, 0, 0, 3, 0, 0, 0, 9, 19}}
	f.Cooldowns = append([]view.CooldownRow{{Scope: "credential", Key: "main", Until: in(12), Full: 12 * time.Second, Cause: "Retry-After: 12", Layer: "account"}}, f.Cooldowns...)
	f.Cooling = 4
	f.Counts.Credits = 212.5
	return f
}

// Keys is a run behind a platform with keys of three accounts: one account is out of credits, one key was refused, one waits,
// one is paused, and jobs of a kind are full.
func Keys() *view.Frame {
	f := Platform()
	key := func(name, account string, state view.State, n int) view.BudgetRow {
		return view.BudgetRow{Scope: "credential", Key: name, Account: account, State: state, InFlight: n}
	}
	main, night, old, spare := key("main", "acme-plan", view.StateCool, 5), key("night", "night-plan", view.StateIdle, 0), key("old", "acme-plan", view.StateBlock, 0), key("spare", "spare-plan", view.StatePause, 1)
	main.Limit, main.Until, main.Full, main.Cause, main.Layer, main.Announced = 5, in(12), 12*time.Second, "Retry-After: 12", "account", true
	main.Remaining = view.Remaining{Known: true, Remaining: 0, HasLimit: true, Limit: 5, At: ago(3), Kind: "concurrency", Asked: true}
	main.Refused = view.ByLayer{Account: 31, Rate: 4, Target: 40, Busy: 2}
	main.FreeJobs = true
	night.Remaining, night.Refused = window(38, 300, 51*time.Second, 5*time.Second), view.ByLayer{Rate: 6, Pending: 12}
	old.Stopped = "auth: 401, the key was refused"
	spare.Limit, spare.Learned = 4, "4 in flight, refused at 5; 3 refusals"
	f.Budgets = []view.BudgetRow{
		{Scope: "account", Key: "acme-plan", State: view.StateRun, InFlight: 5, Refused: main.Refused},
		{Scope: "account", Key: "night-plan", State: view.StateIdle, Stopped: "quota: 402, no credits are left", Refused: night.Refused},
		{Scope: "account", Key: "spare-plan", State: view.StateIdle, InFlight: 1},
		main, night, old, spare,
		{Scope: "global", State: view.StateRun, InFlight: 6, Limit: 48, Refused: view.ByLayer{Account: 31, Rate: 10, Pending: 12, Target: 40, Busy: 2}},
		{Scope: "ip", Key: "spidra", State: view.StateCool, InFlight: 6, Until: in(42), Full: time.Minute, Cause: "ratelimit-reset: 60 s", Layer: "rate", Announced: true, Refused: view.ByLayer{Rate: 10}},
		{Scope: "pending", Key: "night-plan/scrape", State: view.StateRun, InFlight: 100, Limit: 100, Refused: view.ByLayer{Pending: 12}},
		{Scope: "provider", Key: "spidra", State: view.StateRun, InFlight: 6, Refused: view.ByLayer{Account: 31, Pending: 12, Busy: 2}},
		{Scope: "tenant", Key: "acme", State: view.StateRun, InFlight: 5, Limit: 10, Refused: main.Refused},
	}
	f.Run.Provider = "spidra"
	f.Evidence = &view.Evidence{
		Refusers: 2, Hit: 7, Blocked: 9, Transport: 6, LatencyNow: 4100 * time.Millisecond, LatencyBefore: 1900 * time.Millisecond,
		Worst: []view.Refuser{
			{Domain: "forum-c.example", Recent: 27, Limit: 4, Learned: "30 requests per 60 s, sliding; 3 windows, 27 refusals"},
			{Domain: "jobs-d.example", Recent: 11, Limit: 5},
		},
	}
	return f
}

// Starting is a live run before its first answer.
func Starting() *view.Frame {
	return &view.Frame{
		Seq: 1, At: Now, Live: true, Ceiling: 64, Run: view.Run{ID: 1, Name: "urls.txt", Provider: "direct", State: "running", Started: Now, Loading: true},
		ETA: view.ETA{Why: "measuring"}, Domains: view.DomainWindow{Index: -1},
		Layers: []view.LayerRow{{Layer: "account"}, {Layer: "rate"}, {Layer: "pending"}, {Layer: "target"}, {Layer: "busy"}},
	}
}

// Empty is no run at all.
func Empty() *view.Frame { return &view.Frame{Domains: view.DomainWindow{Index: -1}} }

// Stopped is a run that ended.
func Stopped() *view.Frame {
	f := Normal()
	f.Live, f.InFlight, f.Cooldowns, f.Cooling = false, 0, nil, 0
	f.Run.State, f.Run.Reason = "stopped", "stop requested"
	f.ETA = view.ETA{}
	return f
}

// Huge has numbers at the edge of what their types hold.
func Huge() *view.Frame {
	f := Platform()
	big := int64(math.MaxInt64)
	f.InFlight, f.Ceiling = math.MaxInt32, math.MaxInt32
	f.Counts = view.Counts{
		Tasks: big, Pending: big, Delayed: big, InFlight: big, Remote: big, Accepted: big, Dead: big, Records: big,
		Invalid: big, Duplicates: big, Requests: big, Retries: big, Held: big, Credits: math.MaxFloat64, Bytes: big,
	}
	f.QueueOldest, f.QueueP95, f.Run.Elapsed = math.MaxInt64, math.MaxInt64, math.MaxInt64
	f.AcceptedPerMin, f.AcceptedAverage, f.RequestsPerMin = math.MaxFloat64, math.Inf(1), math.NaN()
	f.LatencyP50, f.LatencyP99 = math.MaxInt64, -1
	f.OKShare, f.RetryShare = math.Inf(-1), 1e9
	f.Chart.Values = append(f.Chart.Values, math.MaxFloat64, math.Inf(1), math.NaN(), 1e300)
	f.ETA = view.ETA{Known: true, Left: math.MaxInt64, PlusMinus: math.MaxInt64}
	for i := range f.Domains.Rows {
		r := &f.Domains.Rows[i]
		r.InFlight, r.Limit, r.LimitWas, r.Queue, r.Total429, r.Recent429 = math.MaxInt32, math.MaxInt32, math.MaxInt32, big, big, big
		r.Remaining = view.Remaining{Known: true, Remaining: big, HasLimit: true, Limit: big, ResetAt: Now.Add(math.MaxInt64), At: time.Unix(0, 0), Asked: true}
		r.Until, r.Full, r.OKPerMin = Now.Add(math.MaxInt64), math.MaxInt64, 1e300
		r.Trend = []int64{big, 0, -1, big}
		r.Oldest = time.Unix(0, 0)
	}
	for i := range f.Layers {
		f.Layers[i].Recent, f.Layers[i].Total, f.Layers[i].PerMin = big, big, 1e300
	}
	for i := range f.Caps {
		f.Caps[i].Used, f.Caps[i].Limit, f.Caps[i].Forecast = 1e300, 1e-300, 1e300
	}
	for i := range f.Budgets {
		f.Budgets[i].InFlight, f.Budgets[i].Limit, f.Budgets[i].Refused = math.MaxInt32, math.MaxInt32, view.ByLayer{Account: big, Rate: big, Pending: big, Target: big, Busy: big}
	}
	f.Evidence = &view.Evidence{
		Refusers: math.MaxInt32, Hit: math.MaxInt32, Blocked: big, Failed: big, Transport: big, Invalid: big,
		LatencyNow: math.MaxInt64, LatencyBefore: 1, Worst: []view.Refuser{{Domain: "a.example", Recent: big, Limit: math.MaxInt32}},
	}
	f.Detail = Detail("forum-c.example")
	return f
}

// Hostile has text of strangers in every field that can hold any.
func Hostile() *view.Frame {
	f := Platform()
	evil := []string{
		"\x1b]0;owned\x07title", "\x1b[2J\x1b[Hgone", "a\rb\bc\x00d", "\x1b]52;c;cHduZWQ=\x1b\\", "\u202egpj.exe", "\x9b6nC1",
		"\x1b]8;;http://evil.example\x1b\\link", "\xff\xfe\xfd", strings.Repeat("w\u0301\u0302", 80), "日本語のホスト名がとても長い場合です.example",
		"unterminated \x1b]0;", "👩\u200d👩\u200d👧 family", "tab\tand\nnewline", "שלום.example",
	}
	n := 0
	next := func() string { n++; return evil[n%len(evil)] }
	f.Run.Name, f.Run.Provider, f.Run.Reason, f.Run.State = next(), next(), next(), next()
	for i := range f.Domains.Rows {
		r := &f.Domains.Rows[i]
		r.Domain, r.Cause, r.LastText = fmt.Sprint(next(), i), next(), next()
		r.State = view.State(next())
		r.ETA.Why, r.Remaining.Kind = next(), next()
	}
	for i := range f.Events {
		e := &f.Events[i]
		e.Level, e.Scope, e.Key, e.Text = next(), next(), next(), next()
	}
	for i := range f.Cooldowns {
		c := &f.Cooldowns[i]
		c.Scope, c.Key, c.Cause, c.Layer = next(), next(), next(), next()
	}
	for i := range f.Layers {
		f.Layers[i].Layer = next()
	}
	for i := range f.Caps {
		f.Caps[i].Name = next()
	}
	for i := range f.Budgets {
		b := &f.Budgets[i]
		b.Scope, b.Key, b.Account, b.Cause, b.Stopped, b.Learned = next(), next(), next(), next(), next(), next()
	}
	for i := range f.Alerts {
		f.Alerts[i].Text, f.Alerts[i].Do, f.Alerts[i].Level = next(), next(), next()
	}
	f.Evidence = &view.Evidence{Refusers: 2, Worst: []view.Refuser{{Domain: next(), Recent: 3, Learned: next()}, {Domain: next(), Recent: 1}}}
	f.ETA = view.ETA{Why: next()}
	f.Health.StorageError = next()
	f.Detail = Detail(f.Domains.Rows[0].Domain)
	f.Detail.Next, f.Detail.Robots, f.Detail.Learned = next(), next(), next()
	for i := range 4 {
		f.Detail.Headers[next()] = next()
		f.Detail.Notes = append(f.Detail.Notes, next())
		f.Detail.Layers[i%2].Layer = next()
	}
	return f
}

// Detail is what is told about one domain.
func Detail(domain string) *view.DomainDetail {
	return &view.DomainDetail{
		Domain: domain, Since: ago(48), HeadersAt: ago(48),
		Headers: map[string]string{
			"x-ratelimit-limit": "120", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "90", "retry-after": "90",
		},
		CrawlDelay: time.Second, Robots: "allowed", Next: "one probe, then 1, 2, 4 in flight",
		Layers: []view.LayerRow{
			{Layer: "target", Recent: 27, Total: 142, Last: ago(48), Trend: []int64{0, 2, 4, 6, 3, 2, 0, 2, 3, 5, 8, 6, 4, 3}},
			{Layer: "busy", Total: 1, Last: ago(1865), Trend: make([]int64, 14)},
		},
		Limits: view.Series{Bin: time.Minute, End: Now, Values: []float64{10, 10, 10, 10, 5, 5, 6, 7, 8, 8, 8, 4, 4, 4, 5, 5, 6, 6, 4, 4}},
		Notes:  []string{"14:29:12 429 target", "13:58:31 limit 10 -> 5", "13:41:07 started at 2"},
	}
}

func chart() view.Series {
	v := make([]float64, 50)
	for i := range v {
		v[i] = 520 + 280*math.Sin(float64(i)/7) + float64(i%5)*12
	}
	v[9] = -1 // a gap: the process slept
	return view.Series{Bin: time.Minute, End: Now, Values: v}
}

func window(left, limit int64, reset, age time.Duration) view.Remaining {
	r := view.Remaining{Known: true, Remaining: left, HasLimit: true, Limit: limit, At: Now.Add(-age), Kind: "window", Asked: true}
	if reset > 0 {
		r.ResetAt = Now.Add(reset)
	}
	return r
}

func eta(minutes int) view.ETA {
	return view.ETA{Known: true, Left: time.Duration(minutes) * time.Minute}
}

func in(seconds int) time.Time  { return Now.Add(time.Duration(seconds) * time.Second) }
func ago(seconds int) time.Time { return Now.Add(-time.Duration(seconds) * time.Second) }
