package screen

import (
	"cmp"
	"slices"

	"dev.scrapetop/engine"
	"dev.scrapetop/engine/view"
	"dev.scrapetop/themes"
	"dev.scrapetop/ui/widget"
)

// BudgetID names a budget that is no domain, as the engine does: what a command carries.
type BudgetID struct{ Scope, Key string }

// The scopes of budgets that the Budgets screen shows one at a time; everything else is the platform's.
const (
	scopeDomain     = "domain"
	scopeCredential = "credential"
	scopeAccount    = "account"
	scopeTenant     = "tenant"
	scopePlatform   = "platform"

	scopePending = "pending" // jobs of a kind that wait at the platform; its key is the account and the kind

	engineGlobal = "global" // the engine's word for the program's own budget
)

// scopes are in the order in which their key turns them: what is nearest to the user's own keys first.
var scopes = []string{scopeDomain, scopeCredential, scopeAccount, scopeTenant, scopePlatform}

// scopeOf is the scope in which the screen shows a budget that is no domain.
func scopeOf(id BudgetID) string {
	switch id.Scope {
	case scopeCredential, scopeAccount, scopeTenant:
		return id.Scope
	}
	return scopePlatform
}

// takeBudgets copies the budgets, cleaned, in the order of their scopes and of the attention that they want.
func (d *Data) takeBudgets(rows []view.BudgetRow) {
	type named struct {
		id  BudgetID
		row view.BudgetRow
	}
	all := make([]named, len(rows))
	accounts := make(map[string]*view.BudgetRow)
	for i := range rows {
		b := rows[i]
		all[i].id = BudgetID{Scope: b.Scope, Key: b.Key}
		b.Scope, b.Key, b.Account, b.Cause = name(b.Scope), name(b.Key), name(b.Account), text(b.Cause)
		b.Stopped, b.Learned, b.Layer, b.State = text(b.Stopped), text(b.Learned), name(b.Layer), view.State(name(string(b.State)))
		all[i].row = b
		if all[i].id.Scope == scopeAccount {
			accounts[b.Key] = &b // a copy: the rows move while they are put in order
		}
	}
	d.accounts = accounts
	// A key that comes and goes with each request does not change places for it.
	slices.SortStableFunc(all, func(a, b named) int {
		return cmp.Or(cmp.Compare(slices.Index(scopes, scopeOf(a.id)), slices.Index(scopes, scopeOf(b.id))),
			cmp.Compare(d.attention(&a.row), d.attention(&b.row)))
	})
	d.Budgets, d.Frame.Budgets = make([]BudgetID, len(all)), make([]view.BudgetRow, len(all))
	d.accounts = make(map[string]*view.BudgetRow, len(accounts))
	for i := range all {
		d.Budgets[i], d.Frame.Budgets[i] = all[i].id, all[i].row
		if all[i].id.Scope == scopeAccount {
			d.accounts[all[i].row.Key] = &d.Frame.Budgets[i]
		}
	}
}

// attention is the rank of a budget among those of its scope: what is stopped waits for a person, what cools only for its time.
func (d *Data) attention(b *view.BudgetRow) int {
	by := d.holder(b)
	if by.Stopped != "" {
		return 0
	}
	switch by.State {
	case view.StateCool, view.StateBlock:
		return 1
	case view.StateSlow:
		return 2
	case view.StatePause:
		return 3
	}
	return 4
}

// hold is how firmly a budget keeps work from starting: 3 stopped, 2 paused, 1 cooling, 0 not at all.
func hold(b *view.BudgetRow) int {
	switch {
	case b.Stopped != "":
		return 3
	case b.State == view.StatePause:
		return 2
	case b.State == view.StateCool || b.State == view.StateBlock || !b.Until.IsZero():
		return 1
	}
	return 0
}

// holder is the budget that keeps another from starting anything: a key's account where that holds more firmly than the key
// itself, else the budget.
func (d *Data) holder(b *view.BudgetRow) *view.BudgetRow {
	if b.Scope == scopeCredential {
		if a := d.accounts[b.Account]; a != nil && hold(a) > hold(b) {
			return a
		}
	}
	return b
}

// says tells that a budget belongs among what is left, on the Overview: the user's keys and tenants always, others while they
// hold something or a limit of theirs is known. The program's own is Fleet's.
func says(id BudgetID, b *view.BudgetRow) bool {
	switch id.Scope {
	case scopeCredential, scopeTenant:
		return true
	case engineGlobal:
		return false
	case scopePending:
		return hold(b) > 0 || b.InFlight > 0
	case scopeAccount:
		return hold(b) > 0 || b.Limit > 0 || b.Remaining.Known
	}
	return hold(b) > 0
}

// Budgets are the indexes of the budgets in sight: on the Overview those that say something, on the Budgets screen those of
// the scope.
func (s *List) Budgets(d *Data, tab Tab) []int {
	var out []int
	for i, id := range d.Budgets {
		if tab == Overview && says(id, &d.Frame.Budgets[i]) || tab != Overview && scopeOf(id) == s.scope() {
			out = append(out, i)
		}
	}
	return out
}

// scope is the one in force.
func (s *List) scope() string { return cmp.Or(s.Scope, scopeDomain) }

// ScopeNamed is the scope of that name as List has it; empty, the domains', where there is none.
func ScopeNamed(name string) string {
	if slices.Contains(scopes, name) {
		return name
	}
	return ""
}

// NextScope turns to the next scope, and to the budget that was selected there.
func (s *List) NextScope() {
	if s.left == nil {
		s.left = make(map[string]BudgetID)
	}
	s.left[s.scope()] = s.Budget
	s.Scope = scopes[(slices.Index(scopes, s.scope())+1)%len(scopes)]
	if id, ok := s.left[s.Scope]; ok {
		s.Budget = id
	}
}

// Shared tells that the Budgets screen shows budgets that are no domain's.
func (s *List) Shared(tab Tab) bool { return tab == Budgets && s.scope() != scopeDomain }

// OnBudgets tells that the keys move over the budgets and act on them: the screen shows them, or their pane has the focus and
// shows some.
func (s *List) OnBudgets(d *Data, tab Tab) bool {
	return s.Shared(tab) || tab == Overview && s.Pane == paneCapacity && len(s.Budgets(d, tab)) > 0
}

// budget is the place of the selected budget among the ones in sight; the first, while none was chosen or the chosen one is
// not there.
func (s *List) budget(d *Data, sight []int) int {
	return max(slices.IndexFunc(sight, func(i int) bool { return d.Budgets[i] == s.Budget }), 0)
}

// Settle selects a budget in sight where the selected one is not: a row that nobody chose must not change under the hand.
func (s *List) Settle(d *Data, tab Tab) { s.MoveBudget(d, tab, 0) }

// MoveBudget selects another budget, by rows down.
func (s *List) MoveBudget(d *Data, tab Tab, by int) {
	sight := s.Budgets(d, tab)
	if len(sight) == 0 {
		return
	}
	by = min(max(by, -len(sight)), len(sight)) // a jump to the end is more than any list is long
	s.Budget = d.Budgets[sight[min(max(s.budget(d, sight)+by, 0), len(sight)-1)]]
}

// ChosenBudget is the selected budget as the engine names it and as it stands; false: none is in sight.
func (s *List) ChosenBudget(d *Data, tab Tab) (BudgetID, *view.BudgetRow, bool) {
	sight := s.Budgets(d, tab)
	if len(sight) == 0 {
		return BudgetID{}, nil, false
	}
	i := sight[s.budget(d, sight)]
	return d.Budgets[i], &d.Frame.Budgets[i], true
}

// OpenBudget turns the Budgets screen to the scope of the budget under the cursor.
func (s *List) OpenBudget(d *Data, tab Tab) {
	if id, _, ok := s.ChosenBudget(d, tab); ok {
		s.Budget, s.Scope = id, scopeOf(id)
	}
}

// noBudget says why nothing can be done.
func (s *List) noBudget(tab Tab) Act {
	if s.Shared(tab) {
		return Act{Why: "no " + scopeNoun(s.scope()) + " is told"}
	}
	return Act{Why: "no key or account is told"}
}

func scopeNoun(scope string) string {
	if scope == scopePlatform {
		return "budget of the platform"
	}
	return scope
}

// PauseBudget pauses the selected budget, or resumes it: nothing new starts that draws on it, what is in flight finishes.
func (s *List) PauseBudget(d *Data, tab Tab) Act {
	id, row, ok := s.ChosenBudget(d, tab)
	switch {
	case !ok:
		return s.noBudget(tab)
	case id.Scope == engineGlobal:
		return PauseRun(d)
	}
	pause := engine.Command{Verb: engine.Pause, Scope: id.Scope, Key: id.Key}
	resume := engine.Command{Verb: engine.Resume, Scope: id.Scope, Key: id.Key}
	called := budgetName(row)
	if row.State == view.StatePause {
		return Act{Do: []engine.Command{resume}, Undo: []engine.Command{pause}, Text: "resumed " + called}
	}
	return Act{Do: []engine.Command{pause}, Undo: []engine.Command{resume}, Text: "paused " + called + "; what is in flight finishes"}
}

// ProbeBudget asks for one probe of the selected budget, or of the account that holds the selected key. The platform's stop is
// lifted for it without a question: it is what a user does who has topped up or mended the key. A wait is ended after
// question, which is nil for a stop.
func (p *Picture) ProbeBudget() (act Act, question *Question) {
	d, s := p.Data, p.List
	id, row, ok := s.ChosenBudget(d, p.Tab)
	if !ok {
		return s.noBudget(p.Tab), nil
	}
	if by := d.holder(row); by != row && row.State != view.StatePause {
		row = by
		for i := range d.Frame.Budgets {
			if &d.Frame.Budgets[i] == by {
				id = d.Budgets[i]
			}
		}
	}
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
		return act, p.endWait(called, row.Until, row.Full, "Cause: "+orUnknown(row.Cause)+"      429 so far: "+widget.Thousands(row.Refused.Limited()))
	case row.State == view.StateCool || row.State == view.StateBlock:
		return Act{Why: called + ": one probe is the next to go or out already"}, nil
	}
	why := called + " is not stopped and does not cool"
	if i := slices.IndexFunc(d.Frame.Budgets, func(b view.BudgetRow) bool { return b.Stopped != "" }); i >= 0 {
		why += "; " + budgetName(&d.Frame.Budgets[i]) + " is stopped"
	}
	return Act{Why: why}, nil
}

// budgetName is a budget in words.
func budgetName(b *view.BudgetRow) string {
	if b.Scope == engineGlobal {
		return "the whole program"
	}
	return b.Scope + " " + b.Key
}

// budgetWhy says what keeps a budget from starting anything, or else what is known of it that its numbers do not tell.
func (p *Picture) budgetWhy(b *view.BudgetRow) (string, themes.Role) {
	by := p.Data.holder(b)
	account := ""
	if by != b {
		account = budgetName(by)
	}
	switch {
	case by.Stopped != "" && account == "":
		return "STOPPED " + by.Stopped, themes.Bad
	case by.Stopped != "":
		return account + " is stopped: " + by.Stopped, themes.Bad
	case by.State == view.StatePause && account == "":
		return "paused by you", themes.Pause
	case by.State == view.StatePause:
		return account + " is paused by you", themes.Pause
	case by.Until.After(p.Now) && account == "":
		return orUnknown(by.Cause), themes.Cool
	case by.Until.After(p.Now):
		return account + " cools " + until5(by.Until, p.Now) + ": " + orUnknown(by.Cause), themes.Cool
	case hold(by) > 0 && account == "":
		return "one probe is next or out", themes.Cool
	case hold(by) > 0:
		return account + ": one probe is next or out", themes.Cool
	case b.FreeJobs:
		return "background work holds no slot", themes.Dim
	}
	return b.Learned, themes.Dim
}
