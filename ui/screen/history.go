package screen

import (
	"math"
	"slices"
	"strings"
	"time"

	"dev.scrapetop/engine/view"
	"dev.scrapetop/storage"
	"dev.scrapetop/themes"
	"dev.scrapetop/ui/widget"
)

// takeHistory cleans what an answer holds of runs and of their results.
func (r *Rows) takeHistory() {
	r.Runs.Rows, r.Alike, r.Versus = slices.Clone(r.Runs.Rows), slices.Clone(r.Alike), slices.Clone(r.Versus)
	for i := range r.Runs.Rows {
		takeRun(&r.Runs.Rows[i])
	}
	takeRun(&r.Past)
	for i := range r.Versus {
		takeRun(&r.Versus[i].Run)
	}
	r.Results.Rows, r.ResultURLs = slices.Clone(r.Results.Rows), make([]string, len(r.Results.Rows))
	for i := range r.Results.Rows {
		r.ResultURLs[i] = r.Results.Rows[i].URL
		takeResult(&r.Results.Rows[i])
	}
	if r.Page == nil {
		return
	}
	page := *r.Page
	r.PageURL = page.URL
	takeResult(&page.ResultRow)
	page.PageName = text(page.PageName)
	page.Headers = make(map[string]string, len(r.Page.Headers))
	for k, v := range r.Page.Headers {
		page.Headers[name(k)] = text(v)
	}
	r.Page, r.Lines = &page, bodyLines(r.Page, r.Ask)
}

func takeRun(r *storage.Run) {
	r.Name, r.Provider, r.State, r.Reason = name(r.Name), name(r.Provider), storage.RunState(name(string(r.State))), text(r.Reason)
}

func takeResult(r *storage.ResultRow) {
	r.URL, r.FinalURL, r.Domain, r.ContentType, r.Flag = text(r.URL), text(r.FinalURL), name(r.Domain), name(r.ContentType), name(r.Flag)
	r.Fields = widget.Clean(r.Fields, maxFields)
}

// maxFields is the most that is kept of an extracted record, in cells.
const maxFields = 2000

// PastFrame is what is known of a run that nobody drives here, as a frame: its counts. What only an engine knows is empty.
func PastFrame(r *storage.Run) *view.Frame {
	return &view.Frame{
		Run: view.Run{ID: r.ID, Name: r.Name, Provider: r.Provider, State: string(r.State), Reason: r.Reason, Started: r.StartedAt, Elapsed: r.Totals.Elapsed},
		Counts: view.Counts{
			Tasks: r.Tasks, Pending: r.Pending, Accepted: r.Accepted, Dead: r.Dead, Records: r.Records, Cached: r.Totals.Cached, Skipped: r.Totals.Skipped,
			Duplicates: r.Totals.Duplicates, Attempts: r.Attempts, Requests: r.Totals.Requests, Retries: r.Totals.Retries, Credits: r.Totals.Credits,
			Bytes: r.Totals.Bytes,
		},
		Domains: view.DomainWindow{Index: -1},
	}
}

// ChosenRun is the run under the cursor; nil: there is none.
func (b *Browse) ChosenRun(r *Rows) *storage.Run {
	if i := b.Picks[History].at(r.ids(History)); i >= 0 {
		return &r.Runs.Rows[i]
	}
	return nil
}

// TagRun tags or untags the run under the cursor. Two are tagged at most: the one that was tagged first makes room.
func (b *Browse) TagRun(r *Rows) {
	run := b.ChosenRun(r)
	if run == nil {
		return
	}
	if i := slices.Index(b.Runs, run.ID); i >= 0 {
		b.Runs = slices.Delete(slices.Clone(b.Runs), i, i+1)
		return
	}
	if b.Runs = append(slices.Clone(b.Runs), run.ID); len(b.Runs) > 2 {
		b.Runs = b.Runs[1:]
	}
}

// RunWords are the number and the name of the run under the cursor; empty: there is none.
func (b *Browse) RunWords(r *Rows) string {
	run := b.ChosenRun(r)
	if run == nil {
		return ""
	}
	return runNumber(run.ID) + " " + run.Name
}

// OtherRun forgets what was chosen of the rows of a run: those of another one are shown.
func (b *Browse) OtherRun() {
	kept := *b
	*b = Browse{Runs: kept.Runs, State: kept.State, ByDomain: kept.ByDomain, Level: kept.Level, Width: kept.Width}
	b.Picks[History], b.Texts[History] = kept.Picks[History], kept.Texts[History]
	b.Follow()
}

func (p *Picture) historyShare(class Class, body int) rowsShare {
	s := rowsShare{head: 1}
	detail := !p.List.NoDetail
	switch class {
	case Full:
		if detail {
			s.detail = 18 + (body-32)/2
		}
		s.table = body - s.head - s.detail - 3
	case Standard:
		if detail {
			s.detail, s.foot = 6+(body-20)/3, 4+(body-20)/3
		}
		s.table = body - s.head - s.detail - s.foot - 1
	default:
		if detail {
			s.foot = 2
		}
		s.table = body - s.head - s.foot - 1
	}
	return s
}

// history is the table of all runs, two of them side by side, and the newest results of the one under the cursor.
func (p *Picture) history(class Class, w, h int) []string {
	if p.Browse.Open {
		return p.versusScreen(class, w, h)
	}
	s := p.historyShare(class, h)
	lines := []string{p.historyHead(class, w)}
	t := p.runTable(s.table)
	if class == Full {
		lines = append(lines, widget.Pane{Title: "Runs", Right: p.runsNote() + "   newest first", Focused: true}.
			Draw(p.Look, w, s.table+3, t.Draw(p.Look, widget.Inner(w), s.table+1))...)
	} else {
		lines = append(lines, t.Draw(p.Look, w, s.table+1)...)
	}
	switch {
	case class == Full && s.detail > 0:
		left := w / 2
		lines = append(lines, beside(p.versusPane(left, s.detail), p.newestPane(w-left, s.detail))...)
	case s.detail > 0:
		lines = append(lines, p.versusPane(w, s.detail)...)
		lines = append(lines, p.newestPane(w, s.foot)...)
	case s.foot > 0:
		lines = append(lines, p.runFoot(w)...)
	}
	return lines
}

// historyHead is what narrows the runs, and which ones are tagged.
func (p *Picture) historyHead(class Class, w int) string {
	l := p.Look.Line(w)
	search, role := "none (/)", themes.Text
	if s := p.Browse.Texts[History]; s != "" {
		search, role = s+" (Esc: none)", themes.Focus
	}
	if class == Compact {
		l.Text(themes.Dim, "/").Text(role, widget.Truncate(strings.TrimSuffix(search, " (/)"), 14))
	} else {
		l.Gap(1).Text(themes.Dim, "search: ").Text(role, widget.Truncate(search, w/2))
	}
	switch n := len(p.Browse.Runs); {
	case n == 0 && class == Full:
		l.Text(themes.Dim, "   Space tags two runs, = compares them")
	case n > 0:
		tagged := make([]string, n)
		for i, id := range p.Browse.Runs {
			tagged[i] = runNumber(id)
		}
		l.Text(themes.Focus, "   tagged "+strings.Join(tagged, " ")).Text(themes.Dim, "  =: compare")
	}
	note := ""
	switch r := p.Shown; {
	case r == nil:
	case class == Full:
		note = "database " + widget.Bytes(r.Bytes) + " "
	case class == Standard:
		note = p.runsNote() + "  " + widget.Bytes(r.Bytes) + " "
	}
	if l.Room() > len(note) {
		l.Right(themes.Dim, note)
	}
	return l.String()
}

func runNumber(id int64) string { return "#" + widget.Thousands(id) }

// runsNote tells how many runs there are; a list is never cut silently.
func (p *Picture) runsNote() string {
	r := p.Shown
	switch {
	case r == nil:
		return ""
	case r.Runs.First && r.Runs.Last:
		return plural(len(r.Runs.Rows), "run")
	}
	return widget.Thousands(int64(len(r.Runs.Rows))) + "+ runs"
}

var runColumns = []widget.Column{
	{Title: "RUN", Min: 5, Max: 9, Weight: 1, Align: widget.Right},
	{Title: "NAME", Min: 9, Max: 40, Weight: 10, Rank: 1},
	{Title: "STATE", Min: 13},
	{Title: "PROVIDER", Min: 8, Max: 10, Weight: 1, Rank: 12},
	{Title: "STARTED", Min: 11, Max: 16, Weight: 5, Rank: 4},
	{Title: "TOOK", Min: 7, Max: 8, Weight: 1, Rank: 5, Align: widget.Right},
	{Title: "ACCEPTED", Min: 9, Rank: 2, Align: widget.Right},
	{Title: "/MIN", Min: 6, Rank: 6, Align: widget.Right},
	{Title: "REQUESTS", Min: 9, Rank: 9, Align: widget.Right},
	{Title: "429", Min: 5, Rank: 7, Align: widget.Right},
	{Title: "DEAD", Min: 6, Rank: 3, Align: widget.Right},
	{Title: "LEFT", Min: 6, Rank: 8, Align: widget.Right},
	{Title: "CREDITS", Min: 7, Rank: 11, Align: widget.Right},
}

func (p *Picture) runTable(rows int) widget.Table {
	t := widget.Table{Columns: runColumns, Focused: true, Empty: p.noRows(p.noRuns())}
	if p.W < 80 {
		t.Columns = slices.Clone(runColumns)
		t.Columns[2].Min = 9 // the longest word leaves its sign
	}
	ids := p.Shown.ids(History)
	pick := p.Browse.Picks[History]
	first, at := pick.first(ids, rows), pick.at(ids)
	for i := first; i < min(first+rows, len(ids)); i++ {
		r := &p.Shown.Runs.Rows[i]
		t.Rows = append(t.Rows, widget.Row{Cells: p.runCells(r), Selected: i == at, Tagged: slices.Contains(p.Browse.Runs, r.ID)})
	}
	return t
}

func (p *Picture) noRuns() string {
	if p.Browse.Texts[History] != "" {
		return "no run matches"
	}
	return "no run is kept yet: scrapetop run INPUT starts one"
}

func (p *Picture) runCells(r *storage.Run) []widget.Cell {
	number := func(n int64, width int, role themes.Role) widget.Cell {
		if n == 0 {
			role = themes.Dim
		}
		return widget.Cell{Role: role, Text: countIn(n, width)}
	}
	return []widget.Cell{
		{Role: themes.Text, Text: runNumber(r.ID)},
		{Role: themes.Text, Text: r.Name},
		{Draw: func(l *widget.Line, w int) { l.State(string(r.State), w) }},
		{Role: themes.Dim, Text: r.Provider},
		{Draw: func(l *widget.Line, w int) {
			at := r.StartedAt.In(p.Now.Location())
			if layout := "2006-01-02 15:04"; w >= len(layout) {
				l.Text(themes.Text, at.Format(layout))
			} else {
				l.Text(themes.Text, at.Format("01-02 15:04"))
			}
		}},
		{Role: themes.Text, Text: widget.Clock(min(r.Totals.Elapsed, longest))},
		number(r.Accepted, 9, themes.OK),
		{Role: themes.Text, Text: pace(perMinute(r))},
		number(r.Totals.Requests, 9, themes.Text),
		{Role: refusals(refusedBy(r)), Text: tenths(share429(r))},
		number(r.Dead, 6, themes.Bad),
		number(r.Pending, 6, themes.Warn),
		{Role: themes.Text, Text: amount(r.Totals.Credits)},
	}
}

// pace is a number a minute in at most six cells.
func pace(f float64) string {
	if f >= 10 {
		return countIn(whole(f), 6)
	}
	return rate(f)
}

// perMinute is how many results a run had accepted in a minute of its active time; what was active for under a second tells nothing.
func perMinute(r *storage.Run) float64 {
	if r.Totals.Elapsed < time.Second {
		return math.NaN()
	}
	return float64(r.Accepted) / r.Totals.Elapsed.Minutes()
}

// refusedBy is how many answers were 429, of all layers.
func refusedBy(r *storage.Run) int64 {
	t := &r.Totals
	return add(add(t.Account, t.Rate), add(t.PendingJobs, t.Target))
}

func share429(r *storage.Run) float64 {
	return share(float64(refusedBy(r)), float64(r.Totals.Requests))
}

// newestPane are the last results of the run under the cursor.
func (p *Picture) newestPane(w, h int) []string {
	inner := widget.Inner(w)
	run := p.Browse.ChosenRun(p.Shown)
	if run == nil {
		return widget.Pane{Title: "Results"}.Draw(p.Look, w, h, nil)
	}
	var lines []string
	if h > 5 {
		l := p.Look.Line(inner).Text(themes.Dim, "accepted ").Text(themes.OK, widget.Thousands(run.Accepted)).Text(themes.Dim, "   dead ").Text(themes.Text, widget.Thousands(run.Dead)).
			Text(themes.Dim, "   left ").Text(themes.Text, widget.Thousands(run.Pending)).Text(themes.Dim, "   bytes ").Text(themes.Text, widget.Bytes(run.Totals.Bytes))
		lines = append(lines, l.String())
		if run.Reason != "" {
			lines = append(lines, p.Look.Line(inner).Text(themes.Dim, "ended    ").Text(themes.Warn, run.Reason).String())
		}
		lines = append(lines, widget.Blank(inner), p.Look.Text(themes.Dim, "the last ones by number", inner))
	}
	switch {
	case p.Shown.Run != run.ID:
		lines = append(lines, p.Look.Text(themes.Dim, "reading", inner))
	case len(p.Shown.Results.Rows) == 0:
		lines = append(lines, p.Look.Text(themes.Dim, "it has no result", inner))
	}
	if p.Shown.Run == run.ID {
		for i := len(p.Shown.Results.Rows) - 1; i >= 0 && len(lines) < h-2; i-- {
			lines = append(lines, p.resultLine(&p.Shown.Results.Rows[i], inner))
		}
	}
	return widget.Pane{Title: "Results of " + runNumber(run.ID), Right: "Enter: browse"}.Draw(p.Look, w, h, lines)
}

// resultLine is a result in a line: what was extracted, or else which page it is.
func (p *Picture) resultLine(r *storage.ResultRow, w int) string {
	l := p.Look.Line(w)
	at := widget.Unknown
	if !r.FetchedAt.IsZero() {
		at = p.clockOf(r.FetchedAt)
	}
	l.Fit(themes.Dim, at, 8, widget.Left).Gap(2)
	if r.Fields != "" && r.Fields != "{}" {
		return l.Text(themes.Text, r.Fields).String()
	}
	size := "  " + widget.Bytes(r.Bytes)
	_, path := splitURL(r.URL, "")
	return l.Text(themes.Text, widget.Truncate(path, max(l.Room()-len(size), 0))).Right(themes.Dim, size).String()
}

// runFoot is the run under the cursor in two lines, for the smallest screens.
func (p *Picture) runFoot(w int) []string {
	run := p.Browse.ChosenRun(p.Shown)
	if run == nil {
		return []string{widget.Blank(w), widget.Blank(w)}
	}
	first := p.Look.Line(w).Text(themes.Text, run.StartedAt.In(p.Now.Location()).Format("01-02 15:04")+" took "+widget.Clock(min(run.Totals.Elapsed, longest))).
		Right(themes.Text, pace(perMinute(run))+"/min")
	second := p.Look.Line(w).Text(refusals(refusedBy(run)), "429 "+tenths(share429(run))).Text(themes.Text, "  left "+countIn(run.Pending, 6)).
		Right(themes.Text, countIn(run.Totals.Requests, 7)+" requests")
	return []string{first.String(), second.String()}
}

// AgainQuestion asks before a run is started again; an unfinished one can go on instead.
func AgainQuestion(r *storage.Run) *Question {
	q := &Question{}
	number := runNumber(r.ID)
	q.Title = "Run " + number + " again?"
	q.Lines = []string{
		name(r.Name) + " via " + name(r.Provider) + ": a new run of the same input with the same settings. It fetches all " + widget.Thousands(r.Tasks) + " tasks anew, and each may cost credits again.",
	}
	q.Brief = []string{"All " + widget.Thousands(r.Tasks) + " tasks are fetched anew."}
	q.Buttons = []string{"Leave it", "Run again"}
	q.Hint = "a: run again   Esc: leave it"
	if r.Pending > 0 || r.State != storage.RunFinished {
		q.Title = number + " is unfinished: resume it?"
		q.Lines = []string{
			"Resume: " + widget.Thousands(r.Pending) + " of " + widget.Thousands(r.Tasks) + " tasks are left; what was accepted stays.",
			"Run again: a new run of the same input fetches everything anew, and each page may cost credits again.",
		}
		q.Brief = []string{widget.Thousands(r.Pending) + " of " + widget.Thousands(r.Tasks) + " tasks are left."}
		q.Buttons = []string{"Leave it", "Resume", "Run again"}
		q.Hint = "r: resume   a: run again   Esc: leave it"
	}
	return q
}
