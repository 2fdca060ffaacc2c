package dashboard

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"dev.scrapetop/storage"
	"dev.scrapetop/ui/screen"
	"dev.scrapetop/ui/screen/sample"
)

// chronicle is a Reader of events.
type chronicle struct {
	shelf
	events []storage.Event
}

func (c *chronicle) Read(ctx context.Context, ask screen.Ask) (screen.Rows, error) {
	if ask.Tab != screen.Events {
		return c.shelf.Read(ctx, ask)
	}
	var rows []storage.Event
	for _, e := range c.events {
		if (ask.Level == "" || e.Level == "error" || ask.Level == "warn" && e.Level == "warn") && strings.Contains(e.Key+" "+e.Text, ask.Text) {
			rows = append(rows, e)
		}
	}
	at, _ := slices.BinarySearchFunc(rows, ask.Around, func(e storage.Event, id int64) int { return int(min(max(e.ID-id, -1), 1)) })
	from, to := max(at-ask.Before, 0), min(at+ask.After, len(rows))
	return screen.Rows{Events: storage.Rows[storage.Event]{Rows: rows[from:to], First: from == 0, Last: to == len(rows)}}, nil
}

func (c *chronicle) happens(level, key, text string, task int64) {
	c.events = append(c.events, storage.Event{ID: c.events[len(c.events)-1].ID + 1, At: sample.Now, Level: level, Scope: "domain", Key: key, Text: text, Task: task})
}

func newChronicle() *chronicle { return &chronicle{*million(95_000), sample.Log()} }

// TestKeysOnEvents is the reducer's table of the Events screen.
func TestKeysOnEvents(t *testing.T) {
	for _, tt := range []struct {
		name      string
		keys      []string
		sees, not []string
	}{
		{"follows from the start", nil, []string{"FOLLOWING (f)", "▶ 14:29:58 INFO"}, nil},
		{"up stops", []string{"k"}, []string{"0 new   f: follow", "▶ 14:29:31 ERR"}, []string{"FOLLOWING"}},
		{"down to the last follows", []string{"k", "j"}, []string{"FOLLOWING (f)"}, nil},
		{"f follows", []string{"g", "f"}, []string{"FOLLOWING (f)", "▶ 14:29:58"}, nil},
		{"G follows", []string{"g", "G"}, []string{"FOLLOWING (f)"}, nil},
		{"the first", []string{"g"}, []string{"▶ 13:41:07 INFO", "the run is driven by process 4711"}, nil},
		{"warnings and errors", []string{"L"}, []string{"warnings and errors (L)", "ERR  bank-h.example"}, []string{"robots.txt is read", "USER"}},
		{"errors", []string{"L", "L"}, []string{"errors only (L)", "ERR  tube-j.example"}, []string{"WARN"}},
		{"all again", []string{"L", "L", "L"}, []string{"level: all (L)", "robots.txt is read"}, nil},
		{"! is errors only", []string{"!"}, []string{"errors only (L)"}, []string{"WARN"}},
		{"! and back", []string{"!", "!"}, []string{"level: all (L)"}, nil},
		{"a search", []string{"/", "c", "o", "o", "l", "s", "enter"}, []string{"search: cools", "forum-c.example"}, []string{"robots.txt is read"}},
		{"a search of nothing", []string{"/", "q", "q", "enter"}, []string{"no event matches"}, nil},
		{"the whole text", []string{"k", "k"}, []string{"Enter: task 90,177", "goes first after that"}, nil},
		{"Enter opens the task", []string{"k", "k", "enter"}, []string{"▌3 Tasks", "Task 90,177"}, nil},
		{"Enter on what is no task's", []string{"enter"}, []string{"this event is about no single task"}, nil},
		{"and back", []string{"k", "k", "enter", "ctrl+o"}, []string{"▌5 Events▐"}, nil},
		{"copy", []string{"y"}, []string{"copied robots.txt is read"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := drive(t, sample.Normal(), 120, 36, func(o *Options) { o.Rows = newChronicle() })
			d.press(append([]string{"5"}, tt.keys...)...)
			d.drawn()
			for _, s := range tt.sees {
				d.sees(s)
			}
			for _, s := range tt.not {
				d.seesNot(s)
			}
			d.did()
		})
	}
}

// TestEnterOnTheLatestEventsShowsAll of them.
func TestEnterOnTheLatestEventsShowsAll(t *testing.T) {
	d := drive(t, sample.Normal(), 120, 36, func(o *Options) { o.Rows = newChronicle() })
	d.sees("5: all of them")
	d.press("shift+tab", "enter")
	d.drawn()
	d.sees("▌5 Events▐")
}

// TestFollowingAndNotFollowing: new events move a cursor that follows, and are counted beside one that does not.
func TestFollowingAndNotFollowing(t *testing.T) {
	for _, size := range [][2]int{{120, 36}, {80, 24}, {40, 10}} {
		c := newChronicle()
		d := drive(t, sample.Normal(), size[0], size[1], func(o *Options) { o.Rows = c })
		d.press("5")
		d.drawn()
		d.sees("FOLLOWING")
		c.happens("warn", "new.example", "came while following", 0)
		d.advance(2 * time.Second)
		d.drawn()
		d.sees("came while following")
		d.press("k")
		before := d.m.browse.Picks[screen.Events].ID
		for range 3 {
			c.happens("info", "new.example", "later", 0)
		}
		d.advance(2 * time.Second)
		d.drawn()
		d.sees("3 new   f: follow")
		if d.m.browse.Picks[screen.Events].ID != before {
			t.Error("the cursor moved by itself")
		}
		d.press("f")
		d.drawn()
		d.sees("FOLLOWING")
	}
}
