package view

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// fleet is one domain of each state, named against the order of attention.
func fleet() []DomainInput {
	var out []DomainInput
	for i, state := range []State{StateDone, StateIdle, StateRun, StatePause, StateBlock, StateSlow, StateCool} {
		out = append(out, DomainInput{Domain: string(rune('a'+i)) + ".example", State: state})
	}
	return out
}

func TestSortOrders(t *testing.T) {
	domains := []DomainInput{
		{Domain: "a.example", State: StateRun, InFlight: 3, Queue: 5, Oldest: t0.Add(-time.Minute), Accepted: 4, LastAt: t0.Add(-time.Second), Told: &Told{Remaining: Remaining{Known: true, Remaining: 7, ResetAt: t0.Add(time.Hour)}}},
		{Domain: "b.example", State: StateCool, Queue: 9, Dead: 2, Limited: &ByLayer{}, Until: t0.Add(time.Minute)},
		{Domain: "c.example", State: StateRun, InFlight: 3, Queue: 5, Oldest: t0.Add(-time.Hour), Accepted: 9, LastAt: t0.Add(-time.Minute), Told: &Told{Remaining: Remaining{Known: true, Remaining: 0, ResetAt: t0.Add(2 * time.Hour)}}},
		{Domain: "d.example", State: StateCool, Until: t0.Add(10 * time.Second)},
	}
	tests := []struct {
		sort    Sort
		forward string
		reverse string
	}{
		{SortAttention, "b d a c", "a c b d"},
		{"", "b d a c", "a c b d"},
		{"no such column", "b d a c", "a c b d"},
		{SortDomain, "a b c d", "d c b a"},
		{SortInFlight, "a c b d", "b d a c"},
		{SortRemaining, "c a b d", "a c b d"}, // not known comes last either way
		{SortCooldown, "d b a c", "b d a c"},
		{Sort429, "d b a c", "a c b d"},
		{SortRate, "c a b d", "b d a c"},
		{SortQueue, "b a c d", "d a c b"},
		{SortOldest, "c a b d", "a c b d"},
		{SortReset, "a c b d", "c a b d"}, // the soonest first
		{SortETA, "a c b d", "c a b d"},
		{SortAccepted, "c a b d", "b d a c"},
		{SortDead, "b a c d", "a c d b"},
		{SortAnswer, "a c b d", "c a b d"}, // the latest first
	}
	for _, test := range tests {
		t.Run(string(test.sort), func(t *testing.T) {
			d := newDrive()
			d.put(domains...)
			d.send()
			d.pass(measured, nil)
			d.refuse("d.example", "target", 2)
			d.refuse("b.example", "target", 1)
			d.work("c.example", 5)
			d.work("a.example", 2)
			d.send()
			for i := range domains { // keep the deadlines ahead
				if !domains[i].Until.IsZero() {
					in := domains[i]
					in.Until = in.Until.Add(time.Hour)
					d.delta.Domains = append(d.delta.Domains, in)
				}
			}
			d.pass(20*time.Second, nil)
			for reverse, want := range map[bool]string{false: test.forward, true: test.reverse} {
				var got []byte
				for _, name := range names(d.Frame(Query{Sort: test.sort, Reverse: reverse})) {
					got = append(got, name[0], ' ')
				}
				if string(got) != want+" " {
					t.Errorf("reverse %v: %s, want %s", reverse, got, want)
				}
			}
		})
	}
}

func TestAttentionPutsWhatNeedsAHandFirst(t *testing.T) {
	d := newDrive()
	d.put(fleet()...)
	wantNames(t, d.Frame(Query{}), "g.example", "f.example", "e.example", "d.example", "c.example", "b.example", "a.example")
	wantNames(t, d.Frame(Query{Faults: true}), "g.example", "f.example", "e.example")
}

func TestFaultsFollowTheState(t *testing.T) {
	d := newDrive()
	d.put(fleet()...)
	q := Query{Faults: true, Sort: SortDomain}
	wantNames(t, d.Frame(q), "e.example", "f.example", "g.example")
	d.at = d.at.Add(sortEvery)
	d.put(DomainInput{Domain: "a.example", State: StateBlock}, DomainInput{Domain: "g.example", State: StateRun})
	wantNames(t, d.Frame(q), "a.example", "e.example", "f.example")
}

func TestHoldKeepsTheOrderAndMovesTheNumbers(t *testing.T) {
	d := newDrive()
	queue := func(name string, n int64) DomainInput { return DomainInput{Domain: name, State: StateRun, Queue: n} }
	d.put(queue("a.example", 3), queue("b.example", 2), queue("c.example", 1))
	q := Query{Sort: SortQueue, Selected: "c.example"}
	wantNames(t, d.Frame(q), "a.example", "b.example", "c.example")

	q.Hold = true
	d.at = d.at.Add(time.Second)
	d.put(queue("c.example", 50), queue("new.example", 99))
	f := d.Frame(q)
	wantNames(t, f, "a.example", "b.example", "c.example")
	if f.Domains.Rows[2].Queue != 50 || f.Domains.Total != 4 || f.Domains.Matched != 3 || f.Domains.Index != 2 {
		t.Errorf("held, the window is %+v", f.Domains)
	}

	other := q
	other.Filter = "c" // another question has no order to hold yet
	wantNames(t, d.Frame(other), "c.example")

	q.Hold = false
	f = d.Frame(q)
	wantNames(t, f, "new.example", "c.example", "a.example", "b.example")
	if f.Domains.Index != 1 {
		t.Errorf("released, the selected is at %d", f.Domains.Index)
	}
}

func TestALiveOrderIsSortedFourTimesASecondAtMost(t *testing.T) {
	d := newDrive()
	queue := func(name string, n int64) DomainInput { return DomainInput{Domain: name, State: StateRun, Queue: n} }
	d.put(queue("a.example", 2), queue("b.example", 1))
	q := Query{Sort: SortQueue}
	wantNames(t, d.Frame(q), "a.example", "b.example")
	d.at = d.at.Add(100 * time.Millisecond)
	d.put(queue("b.example", 3))
	f := d.Frame(q)
	wantNames(t, f, "a.example", "b.example")
	if f.Domains.Rows[1].Queue != 3 {
		t.Errorf("the number waits for the order: %+v", f.Domains.Rows[1])
	}
	d.at = d.at.Add(150 * time.Millisecond)
	d.send()
	wantNames(t, d.Frame(q), "b.example", "a.example")

	d.at = d.at.Add(100 * time.Millisecond)
	d.delta.Live = false // the last delta of a run shows its final order
	d.put(queue("a.example", 9))
	wantNames(t, d.Frame(q), "a.example", "b.example")
}

func TestWindow(t *testing.T) {
	d := newDrive()
	d.put(many(250)...)
	at := func(i int) string { return fmt.Sprintf("host-%06d.example", i) }
	tests := []struct {
		name          string
		q             Query
		matched, from int
		rows          int
		first         string
		index         int
	}{
		{"the first hundred", Query{}, 250, 0, 100, at(0), -1},
		{"in the middle", Query{Offset: 100, Limit: 10, Selected: at(104)}, 250, 100, 10, at(100), 104},
		{"at the end", Query{Offset: 245, Limit: 10}, 250, 245, 5, at(245), -1},
		{"past the end", Query{Offset: 1000, Limit: 10}, 250, 250, 0, "", -1},
		{"before the start", Query{Offset: -5, Limit: 10}, 250, 0, 10, at(0), -1},
		{"a limit beyond all", Query{Limit: 1<<63 - 1}, 250, 0, 250, at(0), -1},
		{"a negative limit", Query{Limit: -1}, 250, 0, 100, at(0), -1},
		{"filtered", Query{Filter: "-00024", Selected: at(241)}, 10, 0, 10, at(240), 1},
		{"the selected is filtered away", Query{Filter: "-00024", Selected: at(5)}, 10, 0, 10, at(240), -1},
		{"a bad pattern", Query{Filter: "/(/"}, 0, 0, 0, "", -1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.q.Sort = SortDomain
			w := d.Frame(test.q).Domains
			first := ""
			if len(w.Rows) > 0 {
				first = w.Rows[0].Domain
			}
			if w.Total != 250 || w.Matched != test.matched || w.Offset != test.from || len(w.Rows) != test.rows || first != test.first || w.Index != test.index {
				t.Errorf("%d of %d from %d, first %q, %d rows, selected at %d", w.Matched, w.Total, w.Offset, first, len(w.Rows), w.Index)
			}
		})
	}
}

func TestManyQuestionsDoNotPileUp(t *testing.T) {
	d := newDrive()
	d.put(many(50)...)
	for i := range 200 {
		if got := len(d.Frame(Query{Filter: fmt.Sprint(i % 50)}).Domains.Rows); got == 0 {
			t.Fatalf("filter %d finds nothing", i%50)
		}
	}
	if len(d.state.orders) > ordersKept || len(d.state.answers) > answersKept {
		t.Errorf("%d orders and %d answers are kept", len(d.state.orders), len(d.state.answers))
	}
}

func TestNamesStayInOrderAsDomainsCome(t *testing.T) {
	d := newDrive()
	all := many(3000)
	for part := range slices.Chunk(all, 700) {
		d.at = d.at.Add(time.Second)
		d.put(part...)
		d.Frame(Query{Sort: SortDomain})
	}
	got := names(d.Frame(Query{Sort: SortDomain, Limit: 5000}))
	if len(got) != 3000 || !slices.IsSorted(got) {
		t.Errorf("%d names, sorted: %v", len(got), slices.IsSorted(got))
	}
}
