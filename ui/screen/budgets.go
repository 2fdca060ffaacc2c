package screen

import (
	"slices"

	"dev.scrapetop/engine"
	"dev.scrapetop/engine/view"
	"dev.scrapetop/ui/widget"
)

// BudgetID names a budget that is no domain, as the engine does: what a command carries.
type BudgetID struct{ Scope, Key string }

// OnBudgets tells that the keys move over the budgets and act on them: their pane has the focus and shows some.
func (s *List) OnBudgets(d *Data, tab Tab) bool {
	return tab == Overview && s.Pane == paneCapacity && len(d.Budgets) > 0
}

// budget is the index of the selected budget; the first, while none was chosen or the chosen one is not told.
func (s *List) budget(d *Data) int { return max(slices.Index(d.Budgets, s.Budget), 0) }

// MoveBudget selects another budget, by rows down.
func (s *List) MoveBudget(d *Data, by int) {
	at := s.budget(d)
	by = min(max(by, -len(d.Budgets)), len(d.Budgets)) // a jump to the end is more than any list is long
	s.Budget = d.Budgets[min(max(at+by, 0), len(d.Budgets)-1)]
}

// PauseBudget pauses the selected budget, or resumes it: nothing new starts that draws on it, what is in flight finishes.
func (s *List) PauseBudget(d *Data) Act {
	if len(d.Budgets) == 0 {
		return Act{Why: "no key or account is told"}
	}
	id, row := d.Budgets[s.budget(d)], d.Frame.Budgets[s.budget(d)]
	pause := engine.Command{Verb: engine.Pause, Scope: id.Scope, Key: id.Key}
	resume := engine.Command{Verb: engine.Resume, Scope: id.Scope, Key: id.Key}
	called := budgetName(&row)
	if row.State == view.StatePause {
		return Act{Do: []engine.Command{resume}, Undo: []engine.Command{pause}, Text: "resumed " + called}
	}
	return Act{Do: []engine.Command{pause}, Undo: []engine.Command{resume}, Text: "paused " + called + "; what is in flight finishes"}
}

// ProbeBudget asks for one probe of the selected budget. The platform's stop is lifted for it without a question: it is what
// a user does who has topped up or mended the key. A wait is ended after question, which is nil for a stop.
func (p *Picture) ProbeBudget() (act Act, question *Question) {
	d, s := p.Data, p.List
	if len(d.Budgets) == 0 {
		return Act{Why: "no key or account is told"}, nil
	}
	id, row := d.Budgets[s.budget(d)], &d.Frame.Budgets[s.budget(d)]
	called := budgetName(row)
	act.Do = []engine.Command{{Verb: engine.EndCooldown, Scope: id.Scope, Key: id.Key}}
	switch {
	case row.State == view.StatePause:
		return Act{Why: called + " is paused by you: p resumes it"}, nil
	case row.Stopped != "":
		act.Text = "asked for one probe of " + called + "; its answer reopens it or stops it again"
		return act, nil
	case row.Until.After(p.Now):
		act.Text = "ending the cooldown of " + called + ": one probe first"
		return act, p.endWait(called, row.Until, row.Full, "Cause: "+orUnknown(row.Cause)+"      refused in the run: "+widget.Thousands(row.Limited))
	case row.State == view.StateCool || row.State == view.StateBlock:
		return Act{Why: called + ": one probe is the next to go or out already"}, nil
	}
	why := called + " is not stopped and does not cool"
	// A platform refuses an account, and the user looks at its key.
	if i := slices.IndexFunc(d.Frame.Budgets, func(b view.BudgetRow) bool { return b.Stopped != "" }); i >= 0 {
		why += "; " + budgetName(&d.Frame.Budgets[i]) + " is stopped"
	}
	return Act{Why: why}, nil
}

func budgetName(b *view.BudgetRow) string { return b.Scope + " " + b.Key }
