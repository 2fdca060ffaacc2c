package dashboard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"dev.scrapetop/engine"
	"dev.scrapetop/engine/view"
	"dev.scrapetop/storage"
	"dev.scrapetop/ui/screen"
	"dev.scrapetop/ui/screen/sample"
)

// grave is a Reader of dead letters that notes what was put back.
type grave struct {
	asked []screen.Ask
	put   []string
	tried int64 // of those that an act is about
	err   error
}

func (g *grave) Read(_ context.Context, ask screen.Ask) (screen.Rows, error) {
	g.asked = append(g.asked, ask)
	r := screen.Rows{Groups: sample.Groups(), Group: "blocked"}
	if ask.ByDomain {
		r.Groups, r.Group = []storage.DeadGroup{{Key: "bank-h.example", Tasks: 9, Others: 1}, {Key: "evil\x1b.example", Tasks: 2, Others: 1}}, "bank-h.example"
	}
	for _, group := range r.Groups {
		if group.Key == ask.Group {
			r.Group = ask.Group
		}
	}
	for _, t := range sample.DeadLetters() {
		if strings.Contains(t.URL, ask.Text) {
			r.Tasks.Rows = append(r.Tasks.Rows, t)
		}
	}
	r.Tasks.First, r.Tasks.Last = true, true
	r.Chosen = r.TaskAt(ask.Around)
	return r, nil
}

func (g *grave) Requeue(_ context.Context, tasks []int64, hold time.Duration) ([]storage.Letter, error) {
	var letters []storage.Letter
	for _, id := range tasks {
		g.put = append(g.put, fmt.Sprint("requeue ", id))
		letters = append(letters, storage.Letter{TaskChange: storage.TaskChange{ID: id}})
	}
	if hold < undoFor {
		g.put = append(g.put, "not held")
	}
	return letters, g.err
}

func (g *grave) Bury(_ context.Context, letters []storage.Letter) (int64, error) {
	for _, l := range letters {
		g.put = append(g.put, fmt.Sprint("bury ", l.ID))
	}
	return int64(len(letters)) - g.tried, g.err
}

func (g *grave) RetryNow(_ context.Context, tasks []int64) (int64, error) {
	g.put = append(g.put, fmt.Sprint("retry ", tasks))
	return int64(len(tasks)), g.err
}

func (g *grave) Cancel(_ context.Context, tasks []int64) (engine.Cancelled, error) {
	g.put = append(g.put, fmt.Sprint("cancel ", tasks))
	return engine.Cancelled{Tasks: int64(len(tasks)) - g.tried, AtWork: g.tried}, g.err
}

func (g *grave) RequeueAll(_ context.Context, ask screen.Ask) (int64, error) {
	g.put = append(g.put, fmt.Sprintf("all %s %v %q", ask.Group, ask.ByDomain, ask.Text))
	return 9, g.err
}

// TestKeysOnDeadLetters is the reducer's table of their screen.
func TestKeysOnDeadLetters(t *testing.T) {
	for _, tt := range []struct {
		name string
		keys []string
		put  []string
		sees []string
	}{
		{"groups by cause", nil, nil, []string{"▶  access blocked", "▷   88,600", "nothing here: the site refuses this client"}},
		{"the next cause", []string{"j"}, nil, []string{"▶  every try failed", "see its timeline"}},
		{"the last and beyond", []string{"G", "j"}, nil, []string{"▶  body too large"}},
		{"to the letters", []string{"enter"}, nil, []string{"▷  access blocked", "▶   88,600"}},
		{"Tab goes there too, and back", []string{"tab", "tab"}, nil, []string{"▶  access blocked"}},
		{"a letter", []string{"enter", "j", "j"}, nil, []string{"▶   88,750", "Task 88,750"}},
		{"all that happened to it", []string{"enter", "j", "enter"}, nil, []string{"Esc: back", "https://bank-h.example/rates/history"}},
		{"and back in steps", []string{"enter", "enter", "esc", "esc"}, nil, []string{"▶  access blocked"}},
		{"r on a group says what does", []string{"r"}, nil, []string{"R requeues all of the group; Enter shows its letters"}},
		{"r on a letter", []string{"enter", "j", "r"}, []string{"requeue 88675"}, []string{"requeued task 88,675", "u: undo, 10 s left"}},
		{"tags", []string{"enter", " ", "j", " "}, nil, []string{"2 tagged", " *  88,600", " *  88,750", "▶   88,825"}},
		{"r on tags", []string{"enter", " ", "j", " ", "r"}, []string{"requeue 88600", "requeue 88750"}, []string{"requeued 2 tasks", "Space: tag"}},
		{"u takes it back", []string{"enter", "j", "r", "u"}, []string{"requeue 88675", "bury 88675"}, []string{"undone: task 88,675 dead again"}},
		{"u twice does nothing more", []string{"enter", "j", "r", "u", "u"}, []string{"requeue 88675", "bury 88675"}, []string{"nothing to undo"}},
		{"a tag taken back", []string{"enter", " ", "k", " "}, nil, []string{"Space: tag"}},
		{"U clears", []string{"enter", " ", "U"}, nil, []string{"Space: tag"}},
		{"R asks", []string{"j", "R"}, nil, []string{"Requeue 6 dead letters?", "maybe: once the site is well"}},
		{"R, Enter leaves them", []string{"R", "enter"}, nil, []string{"access blocked"}},
		{"R, y does nothing", []string{"R", "y"}, nil, []string{"Requeue 9 dead letters?"}},
		{"R, its letter does it", []string{"j", "R", "r"}, []string{`all attempts false ""`}, []string{"requeued 9 dead letters (all of: attempts)"}},
		{"R takes the whole group, whatever is searched for", []string{"/", "o", "f", "f", "enter", "R", "r"}, []string{`all blocked false ""`}, []string{"with off"}},
		{"by domain", []string{"l"}, nil, []string{"[domain]", "▶  bank-h.example"}},
		{"by domain twice", []string{"l", "l"}, nil, []string{"[domain]"}},
		{"and back", []string{"l", "h"}, nil, []string{"[cause]"}},
		{"R by a domain of a strange name", []string{"l", "j", "R", "r"}, []string{"all evil\x1b.example true \"\""}, []string{"requeued 9 dead letters"}},
		{"a search", []string{"/", "o", "f", "f", "enter"}, nil, []string{"with off", "/offers"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := &grave{}
			d := drive(t, sample.Normal(), 120, 36, func(o *Options) { o.Rows, o.Acts = g, g })
			d.press(append([]string{"4"}, tt.keys...)...)
			d.advance(100 * time.Millisecond)
			d.drawn()
			if !slices.Equal(g.put, tt.put) {
				t.Errorf("put back %q, want %q", g.put, tt.put)
			}
			for _, s := range tt.sees {
				d.sees(s)
			}
			d.did()
		})
	}
}

func TestRequeueingThatFailsIsTold(t *testing.T) {
	g := &grave{err: errors.New("database is locked\x1b[2J")}
	d := drive(t, sample.Normal(), 80, 24, func(o *Options) { o.Rows, o.Acts = g, g })
	d.press("4", "enter", "r")
	d.sees("then: database is locked")
	d = drive(t, sample.Normal(), 80, 24, func(o *Options) { o.Rows = g })
	d.press("4", "R")
	d.sees("nothing can be queued here: scrapetop requeue does it")
}

// TestRequeueingAfterTheRunNamesResume: nothing starts them now.
func TestRequeueingAfterTheRunNamesResume(t *testing.T) {
	g := &grave{}
	d := drive(t, sample.Stopped(), 120, 36, func(o *Options) { o.Rows, o.Acts, o.Resume = g, g, "scrapetop resume 184" })
	d.press("4", "enter", "r")
	d.sees("scrapetop resume 184 goes on with them")
	d.source.change(func(f *view.Frame) { f.Counts.Dead = 22 })
	d.advance(time.Second)
	d.sees("4 Dead 22")
}
