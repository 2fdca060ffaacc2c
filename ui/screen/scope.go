package screen

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"dev.scrapetop/engine/view"
	"dev.scrapetop/themes"
	"dev.scrapetop/ui/widget"
)

// sharedParts is how the body of the Budgets screen is shared while it shows budgets that are no domain's.
type sharedParts struct {
	table  int // rows
	detail int // height of the detail pane; zero: the selected row is told in lines below
	below  int // of those lines
}

func sharedShare(class Class, body int, detail bool) sharedParts {
	var s sharedParts
	switch class {
	case Full:
		if detail {
			s.detail = 12
		}
		s.table = body - 1 - s.detail - 3 // scope line, border and heading
	case Standard:
		if detail {
			s.detail = 8
		}
		s.table = body - 1 - s.detail - 1 // scope line, heading
	default:
		s.below = 3
		s.table = body - s.below - 1
	}
	return s
}

// shared is the Budgets screen of any scope but the domains'.
func (p *Picture) shared(class Class, w, h int) []string {
	s := sharedShare(class, h, !p.List.NoDetail)
	t := p.sharedTable(s.table)
	if class == Full {
		lines := []string{p.scopeLine(w)}
		lines = append(lines, widget.Pane{
			Title: "Budgets: " + p.List.scope(), Right: "sort: attention", Focused: true,
			Bottom: "429 and busy: of the calls that drew on it, since the start   ! low   ~ old report",
		}.Draw(p.Look, w, s.table+3, t.Draw(p.Look, widget.Inner(w), s.table+1))...)
		return append(lines, p.budgetDetail(w, s.detail)...)
	}
	lines := t.Draw(p.Look, w, s.table+1)
	if class == Standard {
		lines = append(lines, p.budgetDetail(w, s.detail)...)
		return append(lines, p.scopeLine(w))
	}
	lines = append(lines, p.scopeLine(w))
	_, b, ok := p.List.ChosenBudget(p.Data, p.Tab)
	if !ok {
		return append(lines, widget.Blank(w), widget.Blank(w))
	}
	why, role := p.budgetWhy(b)
	if why == "" {
		why = p.remainingWords(b)
	}
	// A reason that needs two lines is worth more than the counts.
	if two := strings.Split(ansi.Wrap(why, w, ""), "\n"); len(two) > 1 {
		return append(lines, p.Look.Text(role, two[0], w), p.Look.Text(role, strings.Join(two[1:], " "), w))
	}
	return append(lines, p.Look.Text(role, why, w), p.refusedLine(p.Look.Line(w), b, 4).String())
}

// scopeLine tells the scope in words, how to turn to the next one, and what holds some of its budgets.
func (p *Picture) scopeLine(w int) string {
	l := p.Look.Line(w)
	if w >= 80 {
		l.Gap(1).Text(themes.Dim, "scope: ")
	}
	l.Strong(true).Text(themes.Focus, p.List.scope()).Strong(false).Text(themes.Dim, " (B)")
	if w >= 120 {
		for _, s := range scopes {
			if s != p.List.scope() {
				l.Gap(2).Text(themes.Dim, s)
			}
		}
	}
	note, role := p.scopeNote()
	return l.Gap(2).Text(role, note).String()
}

// scopeNote is how many budgets there are and how many of them start nothing now.
func (p *Picture) scopeNote() (string, themes.Role) {
	held := map[int]int64{}
	sight := p.List.Budgets(p.Data, p.Tab)
	for _, i := range sight {
		held[hold(p.Data.holder(&p.Data.Frame.Budgets[i]))]++
	}
	var words []string
	for _, k := range []struct {
		hold int
		word string
	}{{3, " stopped"}, {2, " paused"}, {1, " cooling"}} {
		if n := held[k.hold]; n > 0 {
			words = append(words, widget.Thousands(n)+k.word)
		}
	}
	all := widget.Thousands(int64(len(sight)))
	if len(words) > 0 {
		return all + ": " + strings.Join(words, " "), themes.Warn
	}
	return all + " in all", themes.Dim
}

// sharedColumns are the columns of the table; those of a higher rank leave first when it gets narrow.
var sharedColumns = []widget.Column{
	{Title: "STATE", Min: 7},
	{Title: "BUDGET", Min: 12, Max: 30, Weight: 9},
	{Title: "IN FLIGHT", Min: 10, Max: 16, Weight: 1, Rank: 1, Align: widget.Right},
	{Title: "REMAINING", Min: 10, Max: 14, Weight: 1, Rank: 2, Align: widget.Right},
	{Title: "AGE", Min: 4, Rank: 11, Align: widget.Right},
	{Title: "RESET", Min: 5, Rank: 10, Align: widget.Right},
	{Title: "COOL", Min: 5, Rank: 3, Align: widget.Right},
	{Title: "ACC", Min: 4, Rank: 4, Align: widget.Right},
	{Title: "RATE", Min: 4, Rank: 5, Align: widget.Right},
	{Title: "PEND", Min: 4, Rank: 6, Align: widget.Right},
	{Title: "TGT", Min: 4, Rank: 7, Align: widget.Right},
	{Title: "BUSY", Min: 4, Rank: 8, Align: widget.Right},
	{Title: "WHY", Min: 16, Weight: 10, Rank: 12},
}

// sharedTable is the part of the table that is in sight.
func (p *Picture) sharedTable(rows int) widget.Table {
	cols := append([]widget.Column(nil), sharedColumns...)
	cols[1].Title = strings.ToUpper(p.List.scope())
	if p.W < 80 {
		cols[1].Min, cols[2].Min, cols[2].Title, cols[3].Min, cols[3].Title = 9, 5, "N/MAX", 7, "REMAIN"
	}
	sight := p.List.Budgets(p.Data, p.Tab)
	cursor := p.List.budget(p.Data, sight)
	first := min(max(cursor-rows+1, 0), max(len(sight)-rows, 0))
	t := widget.Table{Columns: cols, Focused: true, Empty: p.noBudgets()}
	for n, i := range sight[first:min(first+max(rows, 0), len(sight))] {
		t.Rows = append(t.Rows, widget.Row{Cells: p.sharedCells(&p.Data.Frame.Budgets[i]), Selected: first+n == cursor})
	}
	return t
}

// noBudgets says why a scope is empty.
func (p *Picture) noBudgets() string {
	switch {
	case p.List.scope() == scopeTenant:
		return "no task names a tenant (--tenant)"
	case p.Data.Frame.Run.Provider == "direct" && p.List.scope() != scopePlatform:
		return "a direct run has no keys"
	}
	return "nothing is told yet"
}

// rowName is what a budget is called among those of its scope.
func rowName(b *view.BudgetRow) string {
	switch b.Scope {
	case scopeCredential, scopeAccount, scopeTenant:
		return b.Key
	case engineGlobal:
		return "program"
	}
	return b.Scope + " " + b.Key
}

// heldState is the state of a budget as it works out: a key of an account that is held starts as little as the account.
func (p *Picture) heldState(b *view.BudgetRow) view.State {
	by := p.Data.holder(b)
	if by.Stopped != "" && by.State != view.StatePause {
		return view.StateBlock
	}
	return by.State
}

func (p *Picture) sharedCells(b *view.BudgetRow) []widget.Cell {
	state := string(p.heldState(b))
	role := p.Look.Glyphs.State(state).Role
	cells := make([]widget.Cell, 0, len(sharedColumns))
	text := func(role themes.Role, s string) { cells = append(cells, widget.Cell{Role: role, Text: s}) }
	draw := func(f func(l *widget.Line, w int)) { cells = append(cells, widget.Cell{Draw: f}) }

	draw(func(l *widget.Line, w int) { l.State(state, w) })
	text(themes.Text, rowName(b))
	draw(func(l *widget.Line, w int) {
		s := ofLimit(b.InFlight, b.Limit)
		n := max(len(s), 5) + 1
		if gauge := max(w-n, 0); b.Limit > 0 {
			l.Gauge(role, b.InFlight, b.Limit, 0, gauge)
		} else {
			l.Gap(gauge)
		}
		l.Fit(themes.Text, s, min(n, w), widget.Right)
	})
	draw(func(l *widget.Line, w int) { l.Fit(lowRole(b.Remaining), leftWords(b.Remaining, w), w, widget.Right) })
	text(themes.Dim, p.shortAge(b.Remaining))
	text(themes.Text, p.reset(b.Remaining))
	if by := p.Data.holder(b); by.Until.After(p.Now) {
		text(themes.Cool, until5(by.Until, p.Now))
	} else {
		text(themes.Dim, widget.Unknown)
	}
	for _, n := range []int64{b.Refused.Account, b.Refused.Rate, b.Refused.Pending, b.Refused.Target, b.Refused.Busy} {
		text(refusals(n), countIn(n, 4))
	}
	why, whyRole := p.budgetWhy(b)
	text(whyRole, why)
	return cells
}

// leftWords is the last report in at most w cells: how much is free of the slots, or left of the window, the word where it
// fits.
func leftWords(r view.Remaining, w int) string {
	if !r.Known {
		return remaining(r, w)
	}
	word := " left"
	if r.Kind == "concurrency" {
		word = " free"
	}
	mark := lowMark(r)
	if r.Kind == "concurrency" {
		mark = "" // no free slot is how a key that works looks
	}
	s := remaining(r, w-len(mark)) + mark
	if len(s)+len(word) <= w {
		s += word
	}
	return s
}

// shortAge is the age of a report in a cell; one that is older than its window bears the mark for it.
func (p *Picture) shortAge(r view.Remaining) string {
	if !r.Known {
		return widget.Unknown
	}
	a := widget.Age(p.Now.Sub(r.At))
	if stale(r, p.Now) {
		return p.Look.Glyphs.Stale + a
	}
	return a
}

// remainingWords is the last report of a budget in a sentence.
func (p *Picture) remainingWords(b *view.BudgetRow) string {
	r := b.Remaining
	switch {
	case !r.Known && r.Asked:
		return "no header has told a limit"
	case !r.Known && b.Scope == scopeCredential:
		return "no answer has told a limit"
	case !r.Known:
		return "told by key: see the credential"
	}
	s := leftWords(r, 40)
	if r.ResetAt.After(p.Now) {
		s += ", resets in " + until5(r.ResetAt, p.Now)
	}
	return s + ", told " + p.reportAge(r)
}

// refusedLine is the refusals by layer; letters is how much of each layer's name is written.
func (p *Picture) refusedLine(l *widget.Line, b *view.BudgetRow, letters int) *widget.Line {
	r := &b.Refused
	for i, x := range []struct {
		word, short string
		n           int64
	}{
		{"account", "acc", r.Account}, {"rate", "rate", r.Rate}, {"pending", "pend", r.Pending}, {"target", "tgt", r.Target}, {"busy", "busy", r.Busy},
	} {
		word := x.word
		if letters < len(word) {
			word = x.short
		}
		if i == 0 {
			l.Text(themes.Dim, "429 ")
		} else {
			l.Gap(1 + letters/7)
		}
		l.Text(refusals(x.n), word+" "+countIn(x.n, 5))
	}
	return l
}

// budgetDetail says in words what the selected row says in signs.
func (p *Picture) budgetDetail(w, h int) []string {
	if h <= 0 {
		return nil
	}
	inner := widget.Inner(w)
	_, b, ok := p.List.ChosenBudget(p.Data, p.Tab)
	if !ok {
		return widget.Pane{Title: "Detail"}.Draw(p.Look, w, h, []string{p.Look.Text(themes.Dim, p.noBudgets(), inner)})
	}
	row := func(label string) *widget.Line { return p.Look.Line(inner).Fit(themes.Dim, label, 12, widget.Left) }
	var lines []string
	say := func(label string, role themes.Role, s string) {
		for i, line := range strings.Split(ansi.Wrap(s, max(inner-12, 1), ""), "\n") {
			if i > 0 {
				label = ""
			}
			lines = append(lines, row(label).Text(role, line).String())
		}
	}
	by := p.Data.holder(b)
	m := p.Look.Glyphs.State(string(p.heldState(b)))
	state := row("state").Strong(true).Text(m.Role, m.Glyph+" "+m.Word).Strong(false)
	if b.Limit > 0 {
		state.Text(themes.Text, ", "+ofLimit(b.InFlight, b.Limit)+" in flight")
	} else {
		state.Text(themes.Text, ", "+countIn(int64(b.InFlight), 9)+" in flight, no limit known")
	}
	if b.Account != "" {
		state.Text(themes.Dim, "   of account ").Text(themes.Text, b.Account)
	}
	lines = append(lines, state.String())
	if n := p.Data.Frame.Run.Sharing; n > 1 {
		lines = append(lines, row("shared").Text(themes.Text, "by "+widget.Thousands(int64(n))+" processes, the others have "+countIn(int64(b.Others), 9)+" in flight").String())
	}
	if hold(by) > 0 {
		why, role := p.budgetWhy(b)
		say("why", role, why)
	}
	if by.Until.After(p.Now) {
		lines = append(lines, row("countdown").Strong(true).Text(themes.Cool, until(by.Until, p.Now)).Strong(false).
			Text(themes.Text, " of "+widget.Clock(wholeWait(by.Full))+"  ").Passed(passed(by.Until, p.Now, by.Full), 20).String())
	}
	lines = append(lines, row("remaining").Text(lowRole(b.Remaining), p.remainingWords(b)).String())
	lines = append(lines, p.refusedLine(row("refused"), b, 7).Text(themes.Dim, "   so far").String())
	if b.Learned != "" {
		say("learned", themes.Text, b.Learned)
	}
	say("what it is", themes.Dim, p.meaning(b))
	return widget.Pane{Title: budgetName(b), Right: p.budgetKeys(by)}.Draw(p.Look, w, h, lines)
}

// budgetKeys is what can be done with the selected budget.
func (p *Picture) budgetKeys(by *view.BudgetRow) string {
	switch {
	case !p.Data.Frame.Live:
		return ""
	case by.State == view.StatePause:
		return "p: resume"
	case by.Stopped != "" || by.Until.After(p.Now):
		return "p: pause   r: one probe"
	}
	return "p: pause"
}

// meaning says what draws on a budget.
func (p *Picture) meaning(b *view.BudgetRow) string {
	switch b.Scope {
	case scopeCredential:
		if b.FreeJobs {
			return "one key. Its work in the background is known to hold no slot."
		}
		return "one key. Work in the background is taken to hold a slot."
	case scopeAccount:
		return "what one or several keys draw on: its concurrency, its credits."
	case scopeTenant:
		return "whose work it is: one customer's burst stays within this."
	case "provider":
		return "new work for the provider; polls of what runs there go on."
	case "ip":
		return "everything from this address for the provider, polls included."
	case "pending":
		return "jobs of one kind that wait at the platform, by account."
	case engineGlobal:
		return "all requests of the program (--max-in-flight). p pauses the run."
	}
	return ""
}
