package dashboard

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"dev.scrapetop/engine/view"
	"dev.scrapetop/ui/screen/sample"
)

func TestSelectionIsTheName(t *testing.T) {
	d := drive(t, sample.Normal(), 120, 36)
	d.press("2", "j")
	d.selected("jobs-d.example")
	d.source.change(func(f *view.Frame) { slices.Reverse(f.Domains.Rows) })
	d.advance(5 * time.Second)
	d.selected("jobs-d.example")
	d.source.change(func(f *view.Frame) {
		f.Domains.Rows = slices.DeleteFunc(f.Domains.Rows, func(r view.DomainRow) bool { return r.Domain == "jobs-d.example" })
	})
	d.advance(time.Second)
	d.selected("forum-c.example") // the neighbour that took its place
	d.sees("jobs-d.example left the list: now on forum-c.example")
}

func TestTheTopStaysInSightUntilARowIsChosen(t *testing.T) {
	sink := func(f *view.Frame) { // the row under the cursor falls to the end
		f.Domains.Rows = append(slices.Clone(f.Domains.Rows[1:]), f.Domains.Rows[0])
	}
	d := drive(t, many(200), 120, 36)
	d.selected("d00000.example")
	d.source.change(sink)
	d.advance(time.Second)
	d.selected("d00001.example")
	d.sees("d00001.example")

	d.press("j")
	d.selected("d00002.example")
	d.advance(4 * time.Second)
	d.source.change(func(f *view.Frame) { slices.Reverse(f.Domains.Rows) })
	d.advance(time.Second)
	d.selected("d00002.example")
	d.sees("d00002.example")

	d.press("g")
	d.advance(4 * time.Second)
	d.source.change(sink)
	d.advance(time.Second)
	if d.m.index != 0 {
		t.Errorf("after g the cursor stays with the first line, it is on line %d", d.m.index)
	}
}

func TestOrderIsHeldAfterACursorKey(t *testing.T) {
	d := drive(t, sample.Normal(), 120, 36)
	d.press("2", "j")
	if !d.source.asked.Hold {
		t.Fatal("the order is not held")
	}
	d.sees("held")
	d.advance(2900 * time.Millisecond)
	if !d.source.asked.Hold {
		t.Fatal("the order is held for less than three seconds")
	}
	d.advance(200 * time.Millisecond)
	d.advance(100 * time.Millisecond)
	if d.source.asked.Hold {
		t.Fatal("the order is still held")
	}
	d.seesNot("held while")
}

func TestMovingThroughManyRows(t *testing.T) {
	d := drive(t, many(40_000), 120, 36)
	d.press("2")
	for _, step := range []struct{ key, want string }{
		{"G", "d39999.example"},
		{"k", "d39998.example"},
		{"g", "d00000.example"},
		{"k", "d00000.example"},
		{"pgdown", "d00015.example"},
		{"pgdown", "d00030.example"},
		{"pgdown", "d00045.example"},
		{"pgdown", "d00060.example"},
		{"ctrl+u", "d00053.example"},
		{"home", "d00000.example"},
		{"end", "d39999.example"},
	} {
		d.press(step.key)
		d.selected(step.want)
		d.sees(step.want)
		if n := len(d.m.data.Names); n > 100 {
			t.Fatalf("%d rows were asked for", n)
		}
	}
}

func TestTheListMayShrinkUnderAJump(t *testing.T) {
	d := drive(t, many(400), 120, 36)
	d.press("2")
	d.source.frame = many(10)
	d.source.frame.Seq = 77
	d.press("G") // asks for rows that are no longer there
	d.selected("d00000.example")
}

func TestFreezeStopsThePictureAlone(t *testing.T) {
	d := drive(t, sample.Normal(), 120, 36)
	d.press("2", "Z")
	d.sees("FROZEN at 14:30:00 for 00:00. The run goes on. Z: live")
	d.source.change(func(f *view.Frame) { d.source.row(f, "forum-c.example").Queue = 777 })
	d.advance(12 * time.Second)
	d.sees("for 00:12")
	d.sees("00:42") // countdowns belong to the frozen instant
	d.seesNot("777")
	if got := d.paces[len(d.paces)-1]; got != time.Second {
		t.Errorf("a frozen picture ticks each %v", got)
	}
	d.press("j", "s")
	d.selected("jobs-d.example")
	d.sees("the picture is frozen: Z")
	d.press("p")
	d.did(pause("jobs-d.example"))
	d.press("Z")
	d.sees("777")
}

func TestFilterNarrowsAsItIsTyped(t *testing.T) {
	d := drive(t, sample.Normal(), 120, 36)
	d.press("2", "/", "s", "h", "o", "p")
	d.sees("1 of 10")
	d.selected("shop-a.example")
	d.press("enter", "p")
	d.did(pause("shop-a.example"))
	d.press("/", "backspace", "backspace", "backspace", "backspace", "n", "o", "p", "e")
	d.sees("no domain matches: Esc shows all")
	d.press("esc")
	d.sees("10 of 10")
	d.press("/", "/", "(")
	d.sees("not a pattern: matches nothing")
	d.press("ctrl+u")
	d.sees("filter: _")
}

func TestTagsAreNames(t *testing.T) {
	d := drive(t, sample.Normal(), 120, 36)
	d.press("2", " ", " ")
	d.sees("2 tagged")
	d.press("U")
	d.seesNot("2 tagged   sort")
	d.press("*")
	d.sees("10 tagged")
	d.press("U", "U")
	d.sees("nothing is tagged")
}

func TestTagAllReachesRowsOutOfSight(t *testing.T) {
	d := drive(t, many(300), 120, 36)
	d.press("2", "*", "p")
	if n := len(d.source.done); n != 300 {
		t.Fatalf("%d commands for 300 tagged rows", n)
	}
}

func TestSortAndFaults(t *testing.T) {
	d := drive(t, sample.Normal(), 120, 36)
	d.press("2", "s", "j", "enter")
	if d.source.asked.Sort != view.SortDomain {
		t.Fatalf("sorted by %q", d.source.asked.Sort)
	}
	d.press("S")
	if !d.source.asked.Reverse {
		t.Fatal("not reversed")
	}
	d.press("!")
	d.sees("3 of 10")
	d.sees("faults only: on")
	d.press("esc", "esc")
	d.sees("10 of 10")
}

func TestOnTheEnginesReadModel(t *testing.T) {
	model := view.New(view.Options{})
	delta := func(at time.Time, from, n int, state view.State) view.Delta {
		d := view.Delta{At: at, Live: true, Run: view.Run{ID: 1, Name: "urls.txt", State: "running"}, Ceiling: 64}
		for i := from; i < from+n; i++ {
			d.Domains = append(d.Domains, view.DomainInput{Domain: fmt.Sprintf("d%03d.example", i), State: state, Queue: int64(i), Limit: 4})
		}
		return d
	}
	model.Update(delta(sample.Now, 0, 300, view.StateRun))
	d := drive(t, nil, 120, 36)
	d.m.source = onModel{d.source, model}
	d.advance(time.Second)
	d.press("2")
	d.selected("d000.example")
	d.press("G")
	d.selected("d299.example")
	d.press("pgup", "k")
	d.selected("d283.example")
	model.Update(delta(d.now, 283, 1, view.StateCool)) // attention moves it to the top, but the order is held
	d.advance(time.Second)
	d.selected("d283.example")
	if d.m.index != 283 {
		t.Errorf("the row moved to %d under the hand", d.m.index)
	}
	model.Update(delta(d.now.Add(4*time.Second), 0, 1, view.StateRun))
	d.advance(4 * time.Second)
	d.advance(time.Second)
	d.selected("d283.example")
	if d.m.index != 0 {
		t.Errorf("the row is at %d after the hold ended", d.m.index)
	}
	d.sees("▶  ◔ COOL")
	d.press("/", "d1")
	d.sees("100 of 300")
	d.press("esc", "!")
	d.sees("1 of 300")
	d.press("!", "s", "j", "enter", "g")
	d.selected("d000.example")
	d.press("S", "g")
	d.selected("d299.example")
	d.press("p")
	d.did(pause("d299.example"))
}
