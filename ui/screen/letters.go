package screen

import (
	"slices"

	"dev.scrapetop/storage"
	"dev.scrapetop/themes"
	"dev.scrapetop/ui/widget"
)

// lettersShare is how the body of the screen of dead letters is shared: rows of the groups, rows of the letters of one, and the
// detail of one letter. Where there is little room only one of the two lists is there.
type lettersShare struct{ groups, letters, detail int }

func (p *Picture) lettersShare(class Class, body int) lettersShare {
	var s lettersShare
	switch class {
	case Full:
		s.groups = 6 + (body-32)/4
		if !p.List.NoDetail {
			s.detail = 12 + (body-32)/4
		}
		s.letters = body - 1 - s.groups - 3 - s.detail - 3
	case Standard:
		s.groups = 4 + (body-20)/4
		if !p.List.NoDetail {
			s.detail = 7 + (body-20)/4
		}
		s.letters = body - 1 - s.groups - 1 - s.detail - 2
	default:
		if p.Browse.Letters {
			s.letters = body - 1 - 1 - 2
		} else {
			s.groups = body - 1 - 1 - 2
		}
	}
	return s
}

// letters are the dead letters: what they died of, those of one cause, and what happened to one.
func (p *Picture) letters(class Class, w, h int) []string {
	if p.Browse.Open {
		return p.taskDetail(w, h)
	}
	s := p.lettersShare(class, h)
	groups, letters := p.groupTable(s.groups), p.letterTable(s.letters)
	group := p.Browse.ChosenGroup(p.Shown)
	title, helps := "Dead letters", ""
	if group != nil {
		title = groupWords(group.Key, p.Browse.ByDomain)
		if helps = whatHelps(group.Key); p.Browse.ByDomain {
			helps = ""
		}
	}
	lines := []string{p.groupLine(class, w)}
	switch class {
	case Full:
		lines = append(lines, widget.Pane{Title: "Dead letters by " + p.groupBy(), Right: p.lettersNote(), Focused: !p.Browse.Letters}.
			Draw(p.Look, w, s.groups+3, groups.Draw(p.Look, widget.Inner(w), s.groups+1))...)
		lines = append(lines, widget.Pane{Title: title, Right: p.tagsNote(), Bottom: helps, Focused: p.Browse.Letters}.
			Draw(p.Look, w, s.letters+3, letters.Draw(p.Look, widget.Inner(w), s.letters+1))...)
	case Standard:
		lines = append(lines, groups.Draw(p.Look, w, s.groups+1)...)
		lines = append(lines, p.Look.Line(w).Gap(1).Strong(true).Text(themes.Text, title).Strong(false).Text(themes.Dim, "  "+helps).String())
		lines = append(lines, letters.Draw(p.Look, w, s.letters+1)...)
	default:
		t := groups
		if p.Browse.Letters {
			t = letters
		}
		lines = append(lines, t.Draw(p.Look, w, max(s.groups, s.letters)+1)...)
		lines = append(lines, p.Look.Text(themes.Dim, helps, w))
		return append(lines, p.taskFoot(w)[1])
	}
	if s.detail > 0 {
		lines = append(lines, p.taskDetail(w, s.detail)...)
	}
	return lines
}

func (p *Picture) groupBy() string {
	if p.Browse.ByDomain {
		return "domain"
	}
	return "cause"
}

// groupLine is by what the letters are grouped, and what narrows them.
func (p *Picture) groupLine(class Class, w int) string {
	l := p.Look.Line(w)
	if class != Compact {
		l.Gap(1).Text(themes.Dim, "group by: ")
	}
	for _, by := range []string{"cause", "domain"} {
		if by == p.groupBy() {
			l.Strong(true).Text(themes.Focus, "["+by+"]").Strong(false)
		} else {
			l.Text(themes.Text, " "+by+" ")
		}
	}
	l.Text(themes.Dim, " (h l)")
	if s := p.Browse.Texts[Letters]; s != "" {
		l.Text(themes.Focus, "  with "+s)
	}
	if class == Full {
		return l.String()
	}
	if n := len(p.Browse.Tags[Letters]); n > 0 {
		return l.Right(themes.Focus, widget.Thousands(int64(n))+" tagged ").String()
	}
	return l.Right(themes.Dim, countIn(p.Data.Frame.Counts.Dead, 7)+" dead ").String()
}

func (p *Picture) lettersNote() string {
	s := widget.Thousands(p.Data.Frame.Counts.Dead) + " dead"
	if p.Shown != nil {
		s += " of " + plural(len(p.Shown.Groups), p.groupBy())
	}
	return s
}

func (p *Picture) tagsNote() string {
	if n := len(p.Browse.Tags[Letters]); n > 0 {
		return widget.Thousands(int64(n)) + " tagged   r: requeue them"
	}
	return "Space: tag   r: requeue   R: all of them"
}

// groupWords is a group as a title.
func groupWords(key string, byDomain bool) string {
	if byDomain {
		return key
	}
	return reasonWords(key)
}

// reasonWords is a dead letter's reason in words.
func reasonWords(reason string) string {
	switch reason {
	case "attempts":
		return "every try failed"
	case "deadline":
		return "waited past its deadline"
	case "not_found":
		return "not found"
	case "blocked":
		return "access blocked"
	case "refused":
		return "our request refused"
	case "lost":
		return "lost at the platform"
	case "robots":
		return "robots.txt asks us not to"
	case "too_large":
		return "body too large"
	}
	return reason
}

// worthRetrying tells whether another try of a cause may end otherwise.
func worthRetrying(reason string) string {
	switch reason {
	case "attempts":
		return "maybe: once the site is well"
	case "deadline":
		return "yes: it only waited"
	case "lost":
		return "yes: it was not refused"
	case "refused":
		return "after a change of options"
	case "blocked":
		return "unlikely"
	case "too_large":
		return "with a higher --max-body"
	case "not_found", "robots":
		return "no"
	}
	return "not known"
}

// whatHelps is the smallest thing that helps against a cause. It never suggests getting around a refusal.
func whatHelps(reason string) string {
	switch reason {
	case "attempts":
		return "see its timeline; requeue once the site answers again, or raise --max-attempts"
	case "deadline":
		return "requeue: its deadline begins anew; a longer --deadline keeps it from dying again"
	case "not_found":
		return "nothing here: take the URL out of the input"
	case "blocked":
		return "nothing here: the site refuses this client; leave it, or ask its owner"
	case "refused":
		return "correct the options that the platform names, then requeue"
	case "lost":
		return "requeue: the platform lost the result before it was collected"
	case "robots":
		return "nothing here: the site asks not to be fetched there"
	case "too_large":
		return "requeue with a higher --max-body"
	}
	return "not known"
}

var groupColumns = []widget.Column{
	{Title: "CAUSE", Min: 18, Max: 40, Weight: 6},
	{Title: "TASKS", Min: 6, Max: 9, Align: widget.Right},
	{Title: "DOMAINS", Min: 7, Rank: 2, Align: widget.Right},
	{Title: "FIRST", Min: 8, Rank: 4, Align: widget.Right},
	{Title: "LAST", Min: 8, Rank: 1, Align: widget.Right},
	{Title: "WORTH RETRYING?", Min: 18, Max: 40, Weight: 3, Rank: 3},
}

var domainGroupColumns = func() []widget.Column {
	c := slices.Clone(groupColumns[:5])
	c[0].Title, c[2].Title = "DOMAIN", "CAUSES"
	return c
}()

func (p *Picture) groupTable(rows int) widget.Table {
	t := widget.Table{Columns: groupColumns, Focused: !p.Browse.Letters, Empty: p.noRows("no dead letters")}
	if p.Browse.ByDomain {
		t.Columns = domainGroupColumns
	}
	if p.Shown == nil {
		return t
	}
	at := p.Browse.GroupAt(p.Shown)
	first := max(min(at-rows+1, len(p.Shown.Groups)-rows), 0)
	for i := first; i < min(first+rows, len(p.Shown.Groups)); i++ {
		g := &p.Shown.Groups[i]
		t.Rows = append(t.Rows, widget.Row{Selected: i == at, Cells: []widget.Cell{
			{Role: themes.Text, Text: groupWords(g.Key, p.Browse.ByDomain)},
			{Role: themes.Bad, Text: countIn(g.Tasks, 6)},
			{Role: themes.Text, Text: countIn(g.Others, 7)},
			{Role: themes.Dim, Text: p.clockOf(g.First)},
			{Role: themes.Text, Text: p.clockOf(g.Last)},
			{Role: themes.Text, Text: worthRetrying(g.Key)},
		}})
	}
	return t
}

var letterColumns = []widget.Column{
	{Title: "TASK", Min: 7, Max: 10, Align: widget.Right},
	{Title: "DOMAIN", Min: 12, Max: 30, Weight: 4, Rank: 3},
	{Title: "URL", Min: 12, Weight: 12},
	{Title: "TRY", Min: 3, Rank: 4, Align: widget.Right},
	{Title: "DIED", Min: 8, Rank: 2, Align: widget.Right},
	{Title: "AGE", Min: 5, Rank: 5, Align: widget.Right},
	{Title: "RESULT", Min: 10, Max: 30, Weight: 4, Rank: 1},
}

func (p *Picture) letterTable(rows int) widget.Table {
	t := widget.Table{Columns: letterColumns, Focused: p.Browse.Letters, Empty: p.noRows("no letter matches")}
	ids := p.Shown.ids(Letters)
	pick := p.Browse.Picks[Letters]
	first, at := pick.first(ids, rows), pick.at(ids)
	for i := first; i < min(first+rows, len(ids)); i++ {
		r := &p.Shown.Tasks.Rows[i]
		domain, path := splitURL(r.URL, r.Domain)
		result := r.Reason
		if r.Last != nil {
			result = answerWords(r.Last)
		}
		role := themes.Bad
		if wish := p.Browse.Wishes[r.ID]; wish != "" {
			result, role = wish, themes.Focus
		}
		_, tagged := p.Browse.Tags[Letters][r.ID]
		t.Rows = append(t.Rows, widget.Row{Selected: i == at, Tagged: tagged, Cells: []widget.Cell{
			{Role: themes.Text, Text: widget.Thousands(r.ID)}, {Role: themes.Text, Text: domain}, {Role: themes.Text, Text: path},
			{Role: themes.Text, Text: countIn(int64(r.Tries), 3)}, {Role: themes.Text, Text: p.clockOf(r.UpdatedAt)},
			{Role: themes.Dim, Text: age(r.UpdatedAt.Sub(r.CreatedAt))}, {Role: role, Text: result},
		}})
	}
	return t
}

// ChosenGroup is the group under the cursor; nil: there is none.
func (b *Browse) ChosenGroup(r *Rows) *storage.DeadGroup {
	if i := b.GroupAt(r); i >= 0 {
		return &r.Groups[i]
	}
	return nil
}

// GroupAt is the place of the chosen group, the first while none was chosen or that one is gone; -1: there is none.
func (b *Browse) GroupAt(r *Rows) int {
	if r == nil || len(r.Groups) == 0 {
		return -1
	}
	return max(slices.IndexFunc(r.Groups, func(g storage.DeadGroup) bool { return g.Key == r.Group }), 0)
}

// MoveGroup moves the cursor over the groups; the letters of the new one are shown from the first.
func (b *Browse) MoveGroup(r *Rows, by int) {
	if i := b.GroupAt(r); i >= 0 {
		by = min(max(by, -len(r.Groups)), len(r.Groups))
		b.Group, b.Picks[Letters] = r.GroupKeys[min(max(i+by, 0), len(r.Groups)-1)], Pick{}
	}
}

// RequeueQuestion asks before a whole group goes back: it is told in numbers, and the safe button has the focus.
func (p *Picture) RequeueQuestion() *Question {
	g := p.Browse.ChosenGroup(p.Shown)
	if g == nil {
		return nil
	}
	n := widget.Thousands(g.Tasks)
	q := &Question{}
	q.Title = "Requeue " + n + " dead letters?"
	q.Lines = []string{
		"All of: " + groupWords(g.Key, p.Browse.ByDomain) + ". Their tries and deadlines begin anew, and each costs requests again.",
		"", "Worth it? " + worthRetrying(g.Key),
	}
	if p.Browse.ByDomain {
		q.Lines = q.Lines[:1]
	}
	q.Brief = []string{groupWords(g.Key, p.Browse.ByDomain) + ": each costs requests again."}
	q.Buttons = []string{"Leave them", "Requeue " + n}
	q.Hint = "r: requeue   Esc: leave them"
	return q
}
