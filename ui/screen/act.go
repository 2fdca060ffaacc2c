package screen

import (
	"slices"
	"time"

	"dev.scrapetop/engine"
	"dev.scrapetop/engine/view"
	"dev.scrapetop/ui/widget"
)

// Act is what an action on the table asks of the engine. Commands name the wanted state, so that two presses cannot
// cross; they carry the domain that was under the cursor when the key was pressed.
type Act struct {
	Do, Undo []engine.Command
	Wishes   []Wish
	Text     string // what was asked, for the toast
	Why      string // why nothing can be done; everything else is empty then
}

// Wish is shown beside a row from the press until a frame confirms it.
type Wish struct {
	Domain string
	Text   string
	Limit  int // the limit asked for, zero when it is about pausing
	Met    func(*view.DomainRow) bool
}

// targets are the tagged rows, or else the one under the cursor, in the order of their names.
func (s *List) targets(d *Data) []view.DomainRow {
	var rows []view.DomainRow
	seen := func(name string) (view.DomainRow, bool) {
		for i, n := range d.Names {
			if n == name {
				r := d.Frame.Domains.Rows[i]
				r.Domain = name
				return r, true
			}
		}
		return view.DomainRow{}, false
	}
	for name, last := range s.Tags {
		r, ok := seen(name)
		if !ok {
			r = last
			r.Domain = name
		}
		rows = append(rows, r)
	}
	slices.SortFunc(rows, func(a, b view.DomainRow) int {
		if a.Domain < b.Domain {
			return -1
		}
		return 1
	})
	if len(rows) == 0 {
		if r, ok := seen(s.Selected); ok {
			rows = append(rows, r)
		}
	}
	return rows
}

const noTarget = "no domain is selected"

// named is one domain by its name, several by their number.
func named(rows []view.DomainRow) string {
	if len(rows) == 1 {
		return name(rows[0].Domain)
	}
	return widget.Thousands(int64(len(rows))) + " domains"
}

// Pause pauses the targets if any of them is not paused, else resumes them all. Those that are done are left alone.
func (s *List) Pause(d *Data) Act {
	rows := s.targets(d)
	if len(rows) == 0 {
		return Act{Why: noTarget}
	}
	open := slices.DeleteFunc(slices.Clone(rows), func(r view.DomainRow) bool { return r.State == view.StateDone })
	if len(open) == 0 {
		return Act{Why: named(rows) + " is done"}
	}
	pause := slices.ContainsFunc(open, func(r view.DomainRow) bool { return r.State != view.StatePause })
	verb, back, text, wish := engine.Resume, engine.Pause, "resumed ", "resuming..."
	if pause {
		verb, back, text, wish = engine.Pause, engine.Resume, "paused ", "pausing..."
	}
	a := Act{Text: text + named(open)}
	for _, r := range open {
		// Undo gives back what was: a row that was paused already stays so.
		if (r.State == view.StatePause) == pause {
			continue
		}
		a.Do = append(a.Do, engine.Command{Verb: verb, Scope: scopeDomain, Key: r.Domain})
		a.Undo = append(a.Undo, engine.Command{Verb: back, Scope: scopeDomain, Key: r.Domain})
		a.Wishes = append(a.Wishes, Wish{Domain: r.Domain, Text: wish, Met: func(r *view.DomainRow) bool {
			return (r.State == view.StatePause) == pause
		}})
	}
	return a
}

// Limit changes the ceilings of the targets by step. asked are the limits wished for and not yet seen, yours those that
// the user set before, by domain: undo goes back to them, or gives the limit back to the engine.
func (s *List) Limit(d *Data, step int, asked, yours map[string]int) Act {
	rows := s.targets(d)
	if len(rows) == 0 {
		return Act{Why: noTarget}
	}
	var a Act
	for _, r := range rows {
		from := r.Limit
		if n, ok := asked[r.Domain]; ok {
			from = n
		}
		if from <= 0 {
			if step > 0 {
				a.Why = name(r.Domain) + " has no limit to raise"
				continue
			}
			from = max(r.InFlight, 2)
		}
		to := from + step
		if to < 1 {
			a.Why = "1 is the least; p pauses"
			continue
		}
		a.Do = append(a.Do, engine.Command{Verb: engine.SetLimit, Scope: scopeDomain, Key: r.Domain, Limit: to})
		a.Undo = append(a.Undo, engine.Command{Verb: engine.SetLimit, Scope: scopeDomain, Key: r.Domain, Limit: yours[r.Domain]})
		wish := widget.Count(int64(from)) + " -> " + widget.Count(int64(to))
		a.Wishes = append(a.Wishes, Wish{Domain: r.Domain, Text: wish, Limit: to, Met: func(r *view.DomainRow) bool { return r.Limit == to }})
		a.Text = "limit of " + name(r.Domain) + " " + wish + " (yours)"
	}
	if len(a.Do) == 0 {
		return Act{Why: a.Why}
	}
	a.Why = ""
	if len(a.Do) > 1 {
		a.Text = "limits of " + widget.Thousands(int64(len(a.Do))) + " domains changed"
	}
	return a
}

// EndCooldown asks to probe the domain under the cursor now. Whoever calls asks the user first.
func (s *List) EndCooldown(d *Data, p *Picture) Act {
	for i, n := range d.Names {
		if n != s.Selected {
			continue
		}
		r := &d.Frame.Domains.Rows[i]
		if !r.Until.After(p.Now) {
			return Act{Why: r.Domain + " is not cooling"}
		}
		return Act{
			Do:   []engine.Command{{Verb: engine.EndCooldown, Scope: scopeDomain, Key: n}},
			Text: "ending the cooldown of " + r.Domain + ": one probe first",
		}
	}
	return Act{Why: noTarget}
}

// CooldownQuestion names the target and the consequence in numbers; the safe button has the focus.
func (p *Picture) CooldownQuestion() *Question {
	r := p.selected()
	if r == nil {
		return nil
	}
	return p.endWait(r.Domain, r.Until, r.Full, "Cause: "+orUnknown(r.Cause)+"      429 in 15 min: "+widget.Thousands(r.Recent429))
}

// endWait is the question before a wait is ended; cause is why it was set.
func (p *Picture) endWait(called string, end time.Time, full time.Duration, cause string) *Question {
	q := &Question{}
	q.Title = "End the cooldown of " + widget.Truncate(called, 44) + "?"
	q.Lines = []string{
		"A wait of " + widget.Clock(wholeWait(full)) + " was set; " + until(end, p.Now) +
			" are left. A request sent now is likely to be refused, and the next cooldown may be longer.",
		"", cause,
	}
	q.Brief = []string{until(end, p.Now) + " are left. Sent now it is likely refused, and the next wait may be longer."}
	q.Buttons = []string{"Keep waiting", "End it"}
	q.Hint = "e: end it   Esc: keep waiting"
	return q
}

// PauseRun pauses the run, or resumes it.
func PauseRun(d *Data) Act {
	if d.Frame.Run.State == "paused" {
		return Act{
			Do: []engine.Command{{Verb: engine.ResumeRun}}, Undo: []engine.Command{{Verb: engine.PauseRun}},
			Text: "resumed the run", Wishes: []Wish{{Text: "resuming the run..."}},
		}
	}
	return Act{
		Do: []engine.Command{{Verb: engine.PauseRun}}, Undo: []engine.Command{{Verb: engine.ResumeRun}},
		Text: "paused the run; what is in flight finishes", Wishes: []Wish{{Text: "pausing the run..."}},
	}
}

// QuitQuestion asks what becomes of what is going on. Drain has the focus: it loses nothing. A passing run is one whose
// database is deleted when it ends: nothing of it can be resumed.
func QuitQuestion(d *Data, draining, passing bool) *Question {
	f := d.Frame
	flight := widget.Thousands(int64(f.InFlight))
	q := &Question{}
	q.Title = "Quit?"
	if draining {
		q.Lines = []string{"The run is stopping: " + flight + " in flight are finishing, then the dashboard closes."}
		q.Brief = []string{flight + " in flight are finishing."}
		q.Buttons = []string{"Stay", "Stop now: " + flight + " return to the queue"}
		if passing {
			q.Buttons[1] = "Stop now"
		}
		q.Hint = "a: stop now   Esc: stay"
		return q
	}
	q.Lines = []string{
		"Drain: nothing new starts, " + flight + " in flight finish, the rest waits for resume.",
		"Stop now: they return to the queue. No accepted work is lost or repeated.",
	}
	q.Brief = []string{"Drain: " + flight + " in flight finish first.", "Stop now: they return to the queue."}
	if f.Run.State == "locked out" {
		q.Lines = []string{
			"Everything left waits for a key that the platform stopped.",
			"Drain: the run ends as failed. What is left is kept and waits for resume, once the key works.",
		}
		q.Brief = []string{"Everything left waits for a key.", "Drain: the run ends as failed."}
	}
	switch n := f.Counts.Remote; {
	case passing:
		q.Lines = []string{
			"Drain: nothing new starts, " + flight + " in flight finish. Stop now: at once.",
			"Nothing of this run is kept: its database is deleted when it ends.", "Started with --db FILE it would be.",
		}
		q.Brief = []string{"Drain: " + flight + " in flight finish first.", "Nothing is kept, either way."}
	case n > 0:
		q.Lines = append(q.Lines, widget.Thousands(n)+" are at the platform; what is not collected in time stays there.")
		q.Brief = append(q.Brief, widget.Thousands(n)+" stay at the platform.")
	}
	q.Buttons = []string{"Stay", "Drain", "Stop now"}
	q.Focus = 1
	q.Hint = "y: drain   a: stop now   Esc: stay"
	return q
}
