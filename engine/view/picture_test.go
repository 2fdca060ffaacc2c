package view

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestLayersAreCountedApart(t *testing.T) {
	d := &drive{Model: New(Options{Limited: ByLayer{Account: 100, Busy: 7}}), at: t0}
	d.delta = Delta{Live: true, Tally: d.Tally()}
	d.put(busy("a.example", 1))
	d.pass(time.Minute, nil)
	d.refuse("a.example", "target", 3)
	d.refuse("", "rate", 2)
	d.refuse("a.example", "moon", 1)
	d.delta.Tally.Count(Answer{Domain: "a.example", Outcome: "busy", Layer: "capacity", Retry: true})
	d.delta.Tally.Count(Answer{Domain: "a.example", Outcome: "blocked", Layer: "target"})
	d.pass(time.Second, nil)
	at := d.at
	d.pass(4*time.Minute+59*time.Second, nil)

	type row struct {
		recent, total int64
		perMin        float64
		last          time.Time
	}
	want := map[string]row{
		"account": {0, 100, 0, time.Time{}}, "rate": {2, 2, 2.0 / 6, at}, "pending": {0, 0, 0, time.Time{}},
		"target": {3, 3, 3.0 / 6, at}, "busy": {1, 8, 1.0 / 6, at}, "unknown": {1, 1, 1.0 / 6, at},
	}
	var order []string
	for _, r := range d.Frame(Query{}).Layers {
		order = append(order, r.Layer)
		if got := (row{r.Recent, r.Total, r.PerMin, r.Last}); got != want[r.Layer] {
			t.Errorf("%s is %+v, want %+v", r.Layer, got, want[r.Layer])
		}
		wantTrend := make([]int64, trendBins)
		wantTrend[trendBins-1-20] = r.Recent // five minutes ago
		if !slices.Equal(r.Trend, wantTrend) {
			t.Errorf("the trend of %s is %v", r.Layer, r.Trend)
		}
	}
	if fmt.Sprint(order) != "[account rate pending target busy unknown]" {
		t.Errorf("the rows are %v", order)
	}

	d.pass(16*time.Minute, nil)
	for _, r := range d.Frame(Query{}).Layers {
		if r.Recent != 0 || r.Total != want[r.Layer].total {
			t.Errorf("sixteen minutes later %s is %d recent, %d in all", r.Layer, r.Recent, r.Total)
		}
	}
}

func TestARefusalOfADomainIsInItsRowAndDetail(t *testing.T) {
	d := newDrive()
	in := busy("a.example", 1)
	in.Limited = &ByLayer{Target: 141, Account: 1}
	d.put(in, busy("quiet.example", 1))
	d.pass(2*time.Minute, nil)
	d.refuse("a.example", "target", 4)
	d.refuse("a.example", "rate", 1)
	d.delta.Tally.Count(Answer{Domain: "a.example", Outcome: "busy", Retry: true})
	d.refuse("stranger.example", "target", 1)
	d.pass(time.Second, nil)

	f := d.Frame(Query{Selected: "a.example"})
	row := f.Domains.Rows[0]
	if row.Recent429 != 5 || row.Total429 != 142 || row.Trend[trendBins-1] != 5 {
		t.Errorf("the row counts %d recent, %d in all, trend %v", row.Recent429, row.Total429, row.Trend)
	}
	if quiet := f.Domains.Rows[1]; quiet.Trend != nil || quiet.Recent429 != 0 {
		t.Errorf("the quiet domain has %+v", quiet)
	}
	got := map[string][2]int64{}
	for _, l := range f.Detail.Layers {
		got[l.Layer] = [2]int64{l.Recent, l.Total}
	}
	want := map[string][2]int64{"target": {4, 141}, "account": {0, 1}, "rate": {1, 1}, "busy": {1, 1}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the layers of the detail are %v, want %v", got, want)
	}
}

func TestSharesOfTheLastQuarter(t *testing.T) {
	d := newDrive()
	d.work("a.example", 90)
	d.refuse("a.example", "target", 8)
	for range 2 {
		d.delta.Tally.Count(Answer{Domain: "a.example", Outcome: "not_found"})
		d.delta.Tally.Bury("a.example")
	}
	for range 50 {
		d.delta.Tally.Count(Answer{Outcome: "still_running"}) // says nothing of a task yet
	}
	d.pass(time.Second, nil)
	if f := d.Frame(Query{}); f.OKShare != 0.90 || f.RetryShare != 0.08 || f.DeadShare != 0.02 {
		t.Errorf("ok %v retry %v dead %v", f.OKShare, f.RetryShare, f.DeadShare)
	}
	d.pass(16*time.Minute, nil)
	if f := d.Frame(Query{}); f.OKShare != 0 || f.RetryShare != 0 {
		t.Errorf("sixteen minutes later: ok %v retry %v", f.OKShare, f.RetryShare)
	}
}

func TestDetail(t *testing.T) {
	d := newDrive()
	in := busy("a.example", 1)
	in.Limit, in.Since, in.CrawlDelay, in.Robots, in.Next = 8, t0, time.Second, "allowed", "one probe, then 4"
	in.Told = &Told{Headers: map[string]string{"retry-after": "90"}, At: t0}
	d.put(in)
	d.pass(10*time.Minute, nil)
	in.Limit = 4
	d.delta.Events = []EventRow{{At: d.at, Key: "a.example", Text: "limit 8 -> 4"}, {At: d.at, Key: "b.example", Text: "other"}}
	d.put(in)
	d.pass(5*time.Minute, nil)

	got := d.Frame(Query{Selected: "a.example"}).Detail
	if got == nil || got.Domain != "a.example" || got.CrawlDelay != time.Second || got.Robots != "allowed" || got.Next != in.Next ||
		got.Headers["retry-after"] != "90" || !got.HeadersAt.Equal(t0) || !got.Since.Equal(t0) {
		t.Fatalf("the detail is %+v", got)
	}
	if fmt.Sprint(got.Notes) != "[12:10:00 limit 8 -> 4]" {
		t.Errorf("the notes are %q", got.Notes)
	}
	values := got.Limits.Values
	if n := len(values); n != limitsBins || values[n-16] != -1 || values[n-15] != 8 || values[n-6] != 8 || values[n-5] != 4 || values[n-1] != 4 {
		t.Errorf("the limit over time is %v", values)
	}
	if d.Frame(Query{Selected: "nobody.example"}).Detail != nil {
		t.Error("a domain that is not there has a detail")
	}
}

func TestTheStaircaseOfALimitIsBounded(t *testing.T) {
	var d domain
	for i := range 10 * limitsKept {
		d.noteLimit(t0.Add(time.Duration(i)*time.Second), 1+i%5)
	}
	if len(d.limits) != limitsKept || d.limits[limitsKept-1].limit != 5 {
		t.Errorf("%d changes are kept, the last to %d", len(d.limits), d.limits[len(d.limits)-1].limit)
	}
}

func TestCooldowns(t *testing.T) {
	d := newDrive()
	cool := func(name string, left time.Duration) DomainInput {
		return DomainInput{Domain: name, State: StateCool, Until: t0.Add(left), Full: time.Hour, Cause: "Retry-After: 90", Layer: "target", FailedProbes: 2}
	}
	d.delta.Budgets = []BudgetRow{{Scope: "account", Key: "acme", Until: t0.Add(20 * time.Second), Cause: "backoff 1"}, {Scope: "ip", Key: "evomi"}}
	d.put(cool("late.example", time.Minute), cool("b.example", 10*time.Second), cool("a.example", 10*time.Second), cool("over.example", -time.Second), busy("run.example", 1))
	f := d.Frame(Query{})
	var keys []string
	for _, c := range f.Cooldowns {
		keys = append(keys, c.Scope+" "+c.Key)
	}
	if fmt.Sprint(keys) != "[domain a.example domain b.example account acme domain late.example]" || f.Cooling != 4 {
		t.Errorf("%d cooldowns: %v", f.Cooling, keys)
	}
	if got, want := f.Cooldowns[0], (CooldownRow{"domain", "a.example", t0.Add(10 * time.Second), time.Hour, "Retry-After: 90", "target", false, 2}); got != want {
		t.Errorf("the first is %+v, want %+v", got, want)
	}

	d.pass(15*time.Second, nil)
	if f := d.Frame(Query{}); f.Cooling != 2 || f.Cooldowns[0].Key != "acme" {
		t.Errorf("15 s later %d are active, first %+v", f.Cooling, f.Cooldowns[0])
	}
	for i := range 500 {
		d.delta.Domains = append(d.delta.Domains, cool(fmt.Sprintf("%03d.example", 499-i), time.Hour+time.Duration(499-i)*time.Second))
	}
	d.send()
	f = d.Frame(Query{})
	if f.Cooling != 502 || len(f.Cooldowns) != cooldownsMost || f.Cooldowns[cooldownsMost-1].Key != "097.example" {
		t.Errorf("%d active, %d shown, the last %s", f.Cooling, len(f.Cooldowns), f.Cooldowns[len(f.Cooldowns)-1].Key)
	}
}

func TestEventsAndAlertsAreNumberedAndBounded(t *testing.T) {
	d := newDrive()
	for i := range 150 {
		d.delta.Events = append(d.delta.Events, EventRow{Text: fmt.Sprint("event ", i)})
	}
	for i := range 60 {
		d.delta.Alerts = append(d.delta.Alerts, Alert{Text: fmt.Sprint("alert ", i)})
	}
	d.send()
	f := d.Frame(Query{})
	if len(f.Events) != 150 || f.Events[0].Text != "event 149" || f.Events[0].Seq != 150 || f.Health.Dropped != 0 {
		t.Errorf("%d events, first %+v, %d dropped", len(f.Events), f.Events[0], f.Health.Dropped)
	}
	if len(f.Alerts) != alertsKept || f.Alerts[0].Seq != 60 || f.Alerts[0].Text != "alert 59" {
		t.Errorf("%d alerts, first %+v", len(f.Alerts), f.Alerts[0])
	}

	for i := range 450 {
		d.delta.Events = append(d.delta.Events, EventRow{Text: fmt.Sprint("more ", i)})
	}
	d.delta.Health.Dropped = 3 // by the engine, before they came here
	d.send()
	f = d.Frame(Query{})
	if len(f.Events) != eventsKept || f.Events[0].Seq != 600 || f.Events[eventsKept-1].Seq != 401 || f.Health.Dropped != 3+250 {
		t.Errorf("%d events, numbers %d to %d, %d dropped", len(f.Events), f.Events[eventsKept-1].Seq, f.Events[0].Seq, f.Health.Dropped)
	}
}

func TestStatesAreCounted(t *testing.T) {
	d := newDrive()
	a, b := busy("a.example", 1), busy("b.example", 1)
	d.put(a, b)
	a.State = StateCool
	d.put(a)
	if got := d.Frame(Query{}).States; !reflect.DeepEqual(got, map[State]int{StateCool: 1, StateRun: 1}) {
		t.Errorf("states are %v", got)
	}
	b.State = StateCool
	d.put(b)
	if got := d.Frame(Query{}).States; !reflect.DeepEqual(got, map[State]int{StateCool: 2}) {
		t.Errorf("states are %v", got)
	}
}

func TestSeqStaysWhileNothingVisibleChanges(t *testing.T) {
	d := newDrive()
	in := busy("a.example", 10)
	in.State, in.InFlight, in.Until = StateCool, 0, t0.Add(time.Hour)
	d.put(in)
	d.pass(20*time.Second, nil)
	q := Query{Selected: "a.example"}
	before := d.Frame(q)
	for range 4 { // within a bin of the chart
		d.at = d.at.Add(time.Second)
		d.delta.Domains = []DomainInput{in} // handed over again, the same
		d.send()
		f := d.Frame(q)
		if f.Seq != before.Seq {
			t.Fatalf("seq went from %d to %d at %v", before.Seq, f.Seq, d.at)
		}
		if !f.At.Equal(d.at) || f.Run.Elapsed != d.at.Sub(t0) {
			t.Fatalf("the frame is of %v, %v elapsed", f.At, f.Run.Elapsed)
		}
	}
	if again := d.Frame(q); again != d.Frame(q) {
		t.Error("the same question at the same instant was answered twice")
	}
	changes := []struct {
		name string
		do   func()
	}{
		{"a count", func() { d.delta.Counts.Accepted++ }},
		{"a domain's queue", func() { in.Queue++; d.delta.Domains = []DomainInput{in} }},
		{"a header", func() {
			in.Told = &Told{Headers: map[string]string{"retry-after": "1"}}
			d.delta.Domains = []DomainInput{in}
		}},
		{"a refusal", func() { d.refuse("a.example", "target", 1) }},
		{"an event", func() { d.delta.Events = []EventRow{{Text: "x"}} }},
		{"an alert", func() { d.delta.Alerts = []Alert{{Text: "x"}} }},
		{"the end", func() { d.delta.Live = false }},
	}
	last := d.Frame(q).Seq
	for _, change := range changes {
		change.do()
		d.send()
		if f := d.Frame(q); f.Seq <= last {
			t.Errorf("%s did not move seq %d", change.name, last)
		} else {
			last = f.Seq
		}
	}
	d.pass(time.Hour, nil)
	if f := d.Frame(q); f.Seq != last && len(f.Cooldowns) > 0 {
		t.Errorf("an ended run moved from seq %d to %d", last, f.Seq)
	}
}

func TestAnEndedRunStandsStill(t *testing.T) {
	d := newDrive()
	d.put(busy("a.example", 0))
	d.pass(3*time.Minute, func() { d.work("a.example", 1) })
	d.delta.Live, d.delta.Run.State = false, "finished"
	d.send()
	before := d.Frame(Query{})
	if before.AcceptedPerMin == 0 || len(before.Chart.Values) == 0 {
		t.Fatalf("the last frame shows %v a minute", before.AcceptedPerMin)
	}
	d.pass(time.Hour, nil)
	if after := d.Frame(Query{}); after.Seq != before.Seq {
		t.Errorf("seq went from %d to %d", before.Seq, after.Seq)
	}
}

func TestEachFieldOfADomainCounts(t *testing.T) {
	typ := reflect.TypeFor[DomainInput]()
	for i := range typ.NumField() {
		a, b := DomainInput{}, DomainInput{}
		field := reflect.ValueOf(&b).Elem().Field(i)
		switch v := field.Addr().Interface().(type) {
		case *string:
			*v = "x"
		case *State:
			*v = "x"
		case *bool:
			*v = true
		case *int:
			*v = 1
		case *int64:
			*v = 1
		case *float64:
			*v = 1
		case *time.Duration:
			*v = 1
		case *time.Time:
			*v = t0
		case **Told:
			*v = &Told{Headers: map[string]string{"a": "b"}}
		case **ByLayer:
			*v = &ByLayer{Busy: 1}
		default:
			t.Fatalf("a field of type %T needs a case here", v)
		}
		if same(&a, &b) {
			t.Errorf("a change of %s is not seen", typ.Field(i).Name)
		}
	}
}

func TestHostileTextPassesThroughUntouched(t *testing.T) {
	hostile := []string{"\x1b[2J\x1b]0;owned\x07.example", "a\nb.example", "\u202eelpmaxe.live", "", strings.Repeat("x", 10_000), "\xff\xfe.example", "世界.example"}
	d := newDrive()
	for _, name := range hostile {
		d.delta.Domains = append(d.delta.Domains, DomainInput{Domain: name, State: StateRun, Cause: name, LastText: name, Next: name})
		d.delta.Events = append(d.delta.Events, EventRow{Key: name, Text: name})
		d.refuse(name, name, 1)
	}
	d.pass(time.Second, nil)
	f := d.Frame(Query{Sort: SortDomain})
	want := slices.Sorted(slices.Values(hostile))
	for i, r := range f.Domains.Rows {
		if r.Domain != want[i] || r.Cause != want[i] || r.LastText != want[i] {
			t.Errorf("row %d is %q", i, r.Domain)
		}
	}
	for _, name := range hostile {
		f := d.Frame(Query{Selected: name, Filter: name, Sort: Sort(name)})
		if name != "" && (f.Detail == nil || f.Detail.Next != name) {
			t.Errorf("the detail of %q is %+v", name, f.Detail)
		}
	}
	for i, e := range f.Events {
		if name := hostile[len(hostile)-1-i]; e.Text != name || e.Key != name {
			t.Errorf("event %d is %q of %q", i, e.Text, e.Key)
		}
	}
}
