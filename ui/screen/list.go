package screen

import (
	"dev.scrapetop/engine/view"
	"dev.scrapetop/ui/widget"
)

// List is what the user chose on the table of domains. The selection and the tags are names, never row numbers.
type List struct {
	Selected string   // as the engine names it; empty: nothing
	Budget   BudgetID // the selected one of the budgets that are no domain's
	Scope    string   // of the budgets on the Budgets screen; empty: domain
	// left is the budget that was selected in each scope when it was left.
	left map[string]BudgetID
	// Tags are the tagged domains with the row in which each was last seen: a tagged row may be out of sight.
	Tags     map[string]view.DomainRow
	Sort     view.Sort // empty: attention
	Reverse  bool
	Filter   string
	Faults   bool
	Held     bool // the order is held while the cursor moves
	Wide     bool // all columns
	NoDetail bool
	Shift    int  // columns scrolled away to the right of the fixed ones
	Pane     int  // the pane in focus, on either screen
	Zoomed   bool // the pane in focus has the whole screen
	// Top is the position, among the matched rows, of the first one in sight.
	Top int
}

// window returns the rows that are in sight when h of them fit, and the index of the first one in the data. The row
// under the cursor is always among them.
func (s *List) window(d *Data, h int) ([]view.DomainRow, int) {
	w := &d.Frame.Domains
	if len(w.Rows) == 0 || h <= 0 {
		return nil, 0
	}
	first := s.Top - w.Offset
	for i, name := range d.Names {
		if name == s.Selected {
			first = min(max(first, i-h+1), i)
			break
		}
	}
	first = min(max(first, 0), max(len(w.Rows)-h, 0))
	return w.Rows[first:min(first+h, len(w.Rows))], first
}

// sorted is the order in force.
func (s *List) sorted() view.Sort {
	if s.Sort == "" {
		return view.SortAttention
	}
	return s.Sort
}

// down tells whether the greatest comes first. Names, what is left and waits begin with the least.
func (s *List) down() bool {
	switch s.sorted() {
	case view.SortDomain, view.SortRemaining, view.SortCooldown, view.SortReset:
		return s.Reverse
	}
	return !s.Reverse
}

func (s *List) sortWord(look *widget.Look) string {
	arrow := look.Glyphs.Asc
	if s.down() {
		arrow = look.Glyphs.Desc
	}
	return "sort: " + string(s.sorted()) + " " + arrow
}

// Sorts are the orders to choose from.
var Sorts = []view.Sort{
	view.SortAttention, view.SortDomain, view.SortInFlight, view.SortRemaining, view.SortCooldown, view.Sort429, view.SortRate,
	view.SortQueue, view.SortOldest, view.SortReset, view.SortETA, view.SortAccepted, view.SortDead, view.SortAll429, view.SortAnswer,
}
