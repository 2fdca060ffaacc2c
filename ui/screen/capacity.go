package screen

import (
	"slices"
	"strings"

	"dev.scrapetop/engine/view"
	"dev.scrapetop/themes"
	"dev.scrapetop/ui/widget"
)

// capacityPane is what is left as last reported: credentials, accounts and tenants first, then the domains that have least.
func (p *Picture) capacityPane(w, h int) []string {
	inner := widget.Inner(w)
	lines := make([]string, 0, max(h, 0))
	all, budgets := p.capacities(max(h-2, 1)), len(p.told())
	room, first, cursor := max(h-2, 0), 0, -1
	if budgets > room {
		room = max(room-1, 0)
	}
	if p.List.OnBudgets(p.Data, Overview) {
		cursor = p.List.budget(p.Data, p.told())
		first = max(cursor-room+1, 0)
	}
	shown := all[first:min(first+room, len(all))]
	name := nameWidth(shown, inner)
	for i, c := range shown {
		l := p.Look.Line(inner)
		if budgets > 0 {
			if first+i == cursor {
				l.Strong(true).Repeat(themes.Focus, p.Look.Glyphs.Cursor, 1).Gap(1)
			} else {
				l.Gap(2)
			}
		}
		l.Fit(themes.Text, c.name, max(name-l.Cells(), 0), widget.Left).Gap(1)
		l.Fit(c.role, c.value, capacityValue, widget.Right).Gap(1)
		note := c.note
		if c.brief != "" && widget.Width(note) > l.Room() {
			note = c.brief
		}
		l.Text(themes.Dim, note)
		lines = append(lines, l.String())
	}
	if more := budgets - len(shown); more > 0 {
		lines = append(lines, p.Look.Text(themes.Dim, "and "+widget.Thousands(int64(more))+" more: B shows them", inner))
	}
	if len(lines) == 0 {
		lines = append(lines, p.Look.Text(themes.Dim, p.nothingTold(), inner))
	}
	pane := widget.Pane{Title: "Remaining, as last reported", Focused: p.List.Pane == paneCapacity}
	if cursor >= 0 && p.Data.Frame.Live {
		pane.Right = "p: pause"
		if act, _ := p.ProbeBudget(); act.Why == "" {
			pane.Right = "r: probe" // both do not fit; p is in the footer too
		}
	}
	return pane.Draw(p.Look, w, h, lines)
}

// capacity is one reported number.
type capacity struct {
	name, value, note string
	brief             string // note in fewer cells; empty: there is none
	role              themes.Role
}

// capacityValue is the cells of a value: 12,345/20,000 left is written with units.
const capacityValue = 12

// nameWidth is the cells of the names, so that the longest of the notes has its place where that leaves enough for them.
func nameWidth(shown []capacity, inner int) int {
	name, note := 0, 0
	for _, c := range shown {
		name, note = max(name, widget.Width(c.name)+2), max(note, widget.Width(c.note))
	}
	if name <= inner-note-capacityValue-2 {
		return min(max(name, 8), 40)
	}
	return min(max(inner-26, 8), 40)
}

// nothingTold says why no report is shown: no answer yet, or answers without any.
func (p *Picture) nothingTold() string {
	if slices.ContainsFunc(p.Data.Frame.Domains.Rows, func(r view.DomainRow) bool { return r.Remaining.Asked }) {
		return "no header has told a limit"
	}
	return "nothing reported yet"
}

// told are the budgets that say something.
func (p *Picture) told() []int { return p.List.Budgets(p.Data, Overview) }

// capacities are the budgets, and after them the scarcest of the domains that told a limit: n of them in all, or all
// budgets where those are more.
func (p *Picture) capacities(n int) []capacity {
	var out []capacity
	for _, i := range p.told() {
		out = append(out, p.budget(&p.Data.Frame.Budgets[i]))
	}
	if len(out) >= n {
		return out
	}
	rows := slices.Clone(p.Data.Frame.Domains.Rows)
	rows = slices.DeleteFunc(rows, func(r view.DomainRow) bool { return !r.Remaining.Known })
	slices.SortStableFunc(rows, func(a, b view.DomainRow) int { return scarce(a.Remaining).compare(scarce(b.Remaining)) })
	for i := range rows[:min(len(rows), n-len(out))] {
		r := &rows[i]
		c := capacity{name: r.Domain, value: remaining(r.Remaining, 11) + lowMark(r.Remaining), role: lowRole(r.Remaining)}
		c.note, c.brief = p.reportNote(r.Remaining)
		out = append(out, c)
	}
	return out
}

// budget tells a credential, an account or another shared budget: why it does not start anything, or else what is free of
// its slots or left of its window with the age of that report, or else what it has in flight. A key whose account is held
// tells that.
func (p *Picture) budget(b *view.BudgetRow) capacity {
	c := capacity{name: b.Key, role: themes.Text}
	if b.Scope != scopeCredential {
		c.name = b.Scope + " " + b.Key
	}
	r, by := b.Remaining, p.Data.holder(b)
	if b.Scope == scopePending {
		account, kind := pendingKind(b)
		c.name, c.value, c.note = account, ofLimit(b.InFlight, b.Limit), kind+" pending"
		if b.Until.After(p.Now) {
			c.note, c.role = c.note+", cools "+until5(b.Until, p.Now), themes.Cool
		}
		return c
	}
	switch {
	case by.Stopped != "":
		c.value, c.note, c.role = "STOPPED", by.Stopped, themes.Bad
		if by != b {
			c.note = budgetName(by) + ": " + by.Stopped
		}
		return c
	case !r.Known && b.Limit > 0:
		c.value = ofLimit(b.InFlight, b.Limit) + " busy"
	case !r.Known:
		c.value = countIn(int64(b.InFlight), 6) + " busy"
	case r.Kind == "concurrency":
		c.value, c.role = remaining(r, 7)+" free", lowRole(r)
		c.note, c.brief = p.reportNote(r)
	default:
		c.value, c.role = remaining(r, 7)+lowMark(r)+" left", lowRole(r)
		c.note, c.brief = p.reportNote(r)
	}
	switch {
	case by != b && hold(by) > 0:
		c.note, c.role = p.budgetWhy(b)
	case b.State == view.StatePause:
		c.note, c.role = "paused by you", themes.Pause
	case b.Until.After(p.Now):
		c.note, c.role = "cools "+until5(b.Until, p.Now), themes.Cool
	case b.HasCredits:
		credits := amount(b.Credits) + " credits"
		c.note, c.brief = credits+", "+c.note, credits
	}
	return c
}

// pendingKind takes a budget of jobs that wait at the platform apart: the account, and its kind in the platform's words.
func pendingKind(b *view.BudgetRow) (account, kind string) {
	account, kind, ok := strings.Cut(b.Key, "/")
	switch {
	case !ok:
		return b.Key, "jobs"
	case strings.HasSuffix(kind, "ch"):
		return account, kind + "es"
	}
	return account, kind + "s"
}

// reportNote is the age of a report, and when its window opens again where that is known. In brief a report that
// is fresh tells the reset alone, an old one its age.
func (p *Picture) reportNote(r view.Remaining) (note, brief string) {
	if !r.Known || !r.ResetAt.After(p.Now) {
		return p.reportAge(r), ""
	}
	told := widget.Age(p.Now.Sub(r.At))
	if stale(r, p.Now) {
		told = p.reportAge(r)
	}
	note = told + ", resets " + until5(r.ResetAt, p.Now)
	if stale(r, p.Now) {
		return note, told
	}
	return note, note[len(told)+2:]
}

// budgetsLine is the credentials and accounts of a platform run in one line: what is free, how old that is, what cools.
func (p *Picture) budgetsLine(l *widget.Line) string {
	told := p.told()
	for n, i := range told {
		c := p.budget(&p.Data.Frame.Budgets[i])
		item := c.name + " " + c.value
		if c.note != "" {
			item += " " + c.note
		}
		if rest := "+" + widget.Count(int64(len(told)-n)); n > 0 && l.Room() < widget.Width(item)+len(rest)+2 {
			return l.Right(themes.Dim, rest+" ").String()
		}
		l.Text(c.role, item).Gap(3)
	}
	return l.String()
}

func lowMark(r view.Remaining) string {
	if low(r) {
		return "!"
	}
	return ""
}

func lowRole(r view.Remaining) themes.Role {
	switch {
	case !r.Known:
		return themes.Dim
	case low(r):
		return themes.Warn
	}
	return themes.Text
}

// reportAge is how old a reported value is; one that is older than its window says so.
func (p *Picture) reportAge(r view.Remaining) string {
	if !r.Known {
		return ""
	}
	a := widget.Age(p.Now.Sub(r.At))
	if stale(r, p.Now) {
		return p.Look.Glyphs.Stale + a + " old"
	}
	return a + " ago"
}

// scarcity orders reports: the smallest share left first, those without a limit behind them, those without a value last.
type scarcity struct {
	class int
	share float64
}

func scarce(r view.Remaining) scarcity {
	switch {
	case !r.Known:
		return scarcity{class: 2}
	case !r.HasLimit:
		return scarcity{class: 1, share: float64(r.Remaining)}
	}
	return scarcity{share: share(float64(r.Remaining), float64(r.Limit))}
}

func (a scarcity) compare(b scarcity) int {
	switch {
	case a.class != b.class:
		return a.class - b.class
	case a.share < b.share:
		return -1
	case a.share > b.share:
		return 1
	}
	return 0
}
