package screen

import (
	"slices"

	"dev.scrapetop/engine"
	"dev.scrapetop/engine/view"
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
	called := row.Scope + " " + row.Key
	if row.State == view.StatePause {
		return Act{Do: []engine.Command{resume}, Undo: []engine.Command{pause}, Text: "resumed " + called}
	}
	return Act{Do: []engine.Command{pause}, Undo: []engine.Command{resume}, Text: "paused " + called + "; what is in flight finishes"}
}
