package screen

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"dev.scrapetop/storage"
	"dev.scrapetop/themes"
	"dev.scrapetop/ui/widget"
)

// ChosenResult is the result under the cursor; nil: there is none.
func (b *Browse) ChosenResult(r *Rows) *storage.ResultRow {
	if i := b.Picks[Results].at(r.ids(Results)); i >= 0 {
		return &r.Results.Rows[i]
	}
	return nil
}

func (p *Picture) resultsShare(class Class, body int) rowsShare {
	s := rowsShare{head: 1}
	detail := !p.List.NoDetail
	switch class {
	case Full:
		if detail {
			s.detail = 10 + (body-32)/3
		}
		s.table = body - s.head - s.detail - 3
	case Standard:
		if detail {
			s.detail = 6 + (body-20)/3
		}
		s.table = body - s.head - s.detail - 1
	default:
		if detail {
			s.foot = 2
		}
		s.table = body - s.head - s.foot - 1
	}
	return s
}

// results is the table of what a run brought.
func (p *Picture) results(class Class, w, h int) []string {
	s := p.resultsShare(class, h)
	f := p.Data.Frame
	head := p.Look.Line(w)
	if class != Compact {
		head.Gap(1)
	}
	head.Text(themes.Dim, "results of ").Text(themes.Focus, runNumber(f.Run.ID)+" "+f.Run.Name)
	if text := p.Browse.Texts[Results]; text != "" {
		head.Text(themes.Focus, "  with "+text)
	}
	if note := p.resultsNote(); head.Room() > len(note)+2 {
		head.Right(themes.Dim, note+" ")
	}
	lines := []string{head.String()}
	t := p.resultTable(s.table)
	if class == Full {
		lines = append(lines, widget.Pane{Title: "Results", Right: "by number of the task", Focused: true}.
			Draw(p.Look, w, s.table+3, t.Draw(p.Look, widget.Inner(w), s.table+1))...)
	} else {
		lines = append(lines, t.Draw(p.Look, w, s.table+1)...)
	}
	r := p.Browse.ChosenResult(p.Shown)
	switch {
	case s.detail > 0 && r == nil:
		lines = append(lines, widget.Pane{Title: "Result"}.Draw(p.Look, w, s.detail, nil)...)
	case s.detail > 0:
		lines = append(lines, widget.Pane{Title: "Task " + widget.Thousands(r.Task), Right: "Enter: headers and body"}.
			Draw(p.Look, w, s.detail, p.resultFacts(r, widget.Inner(w), s.detail-2))...)
	case s.foot > 0 && r == nil:
		lines = append(lines, widget.Blank(w), widget.Blank(w))
	case s.foot > 0:
		lines = append(lines, p.Look.Text(themes.Text, p.resultWords(r), w), p.Look.Text(themes.Dim, r.Fields, w))
	}
	return lines
}

// resultsNote tells the counts apart from what is shown.
func (p *Picture) resultsNote() string {
	s := widget.Thousands(p.Data.Frame.Counts.Records) + " in the run"
	if r := p.Shown; r != nil && r.Results.First && r.Results.Last {
		s = plural(len(r.Results.Rows), "task") + ", " + s
	}
	return s
}

var resultColumns = []widget.Column{
	{Title: "TASK", Min: 6, Max: 10, Weight: 1, Rank: 5, Align: widget.Right},
	{Title: "DOMAIN", Min: 10, Max: 30, Weight: 5, Rank: 3},
	{Title: "URL", Min: 10, Weight: 12},
	{Title: "ANSWER", Min: 6, Rank: 2, Align: widget.Right},
	{Title: "SIZE", Min: 7, Rank: 1, Align: widget.Right},
	{Title: "TYPE", Min: 9, Max: 24, Weight: 3, Rank: 8},
	{Title: "FETCHED", Min: 8, Rank: 4, Align: widget.Right},
	{Title: "TOOK", Min: 7, Rank: 6, Align: widget.Right},
	{Title: "RECORD", Min: 16, Weight: 10, Rank: 9},
}

func (p *Picture) resultTable(rows int) widget.Table {
	t := widget.Table{Columns: resultColumns, Focused: true, Empty: p.noRows("no result matches")}
	if p.Browse.Texts[Results] == "" {
		t.Empty = p.noRows("it has no result")
	}
	if r := p.Shown; r != nil && !slices.ContainsFunc(r.Results.Rows, func(row storage.ResultRow) bool { return hasFields(&row) }) {
		t.Columns = resultColumns[:len(resultColumns)-1]
	}
	ids := p.Shown.ids(Results)
	pick := p.Browse.Picks[Results]
	first, at := pick.first(ids, rows), pick.at(ids)
	for i := first; i < min(first+rows, len(ids)); i++ {
		r := &p.Shown.Results.Rows[i]
		domain, path := splitURL(r.URL, r.Domain)
		if r.Pages > 1 {
			path += "  (" + widget.Thousands(r.Pages) + " pages)"
		}
		fetched := widget.Unknown
		if !r.FetchedAt.IsZero() {
			fetched = p.clockOf(r.FetchedAt)
		}
		t.Rows = append(t.Rows, widget.Row{Selected: i == at, Cells: []widget.Cell{
			{Role: themes.Text, Text: widget.Thousands(r.Task)}, {Role: themes.Text, Text: domain}, {Role: themes.Text, Text: path},
			{Role: themes.OK, Text: statusWord(r)}, {Role: themes.Text, Text: widget.Bytes(r.Bytes)}, {Role: themes.Dim, Text: r.ContentType},
			{Role: themes.Dim, Text: fetched}, {Role: themes.Text, Text: widget.Seconds(r.Elapsed)}, {Role: themes.Text, Text: r.Fields},
		}})
	}
	return t
}

func hasFields(r *storage.ResultRow) bool { return r.Fields != "" && r.Fields != "{}" }

// statusWord is the target's status, which not every platform tells, or that an earlier result was reused.
func statusWord(r *storage.ResultRow) string {
	switch {
	case r.Cached:
		return "reused"
	case r.Status == 0:
		return widget.Unknown
	}
	return widget.Thousands(int64(r.Status))
}

// resultWords are the facts of a result in a line.
func (p *Picture) resultWords(r *storage.ResultRow) string {
	words := []string{statusWord(r), widget.Bytes(r.Bytes)}
	if r.ContentType != "" {
		words = append(words, r.ContentType)
	}
	if !r.FetchedAt.IsZero() {
		words = append(words, "fetched "+p.clockOf(r.FetchedAt)+" in "+widget.Seconds(r.Elapsed))
	}
	words = append(words, plural(r.Attempts, "exchange"))
	if r.Credits > 0 {
		words = append(words, amount(r.Credits)+" credits")
	}
	if r.Flag != "" {
		words = append(words, r.Flag)
	}
	return strings.Join(words, "  ")
}

// resultFacts are the facts of a result in at most rows lines: where it is from, how it was fetched, what was extracted.
func (p *Picture) resultFacts(r *storage.ResultRow, inner, rows int) []string {
	lines := []string{p.Look.Text(themes.Text, r.URL, inner)}
	if r.FinalURL != "" && r.FinalURL != r.URL {
		lines = append(lines, p.Look.Line(inner).Text(themes.Dim, "came from ").Text(themes.Text, r.FinalURL).String())
	}
	lines = append(lines, p.Look.Text(themes.Text, p.resultWords(r), inner))
	if hasFields(r) {
		for _, s := range strings.Split(ansi.Wrap(r.Fields, max(inner, 1), ""), "\n") {
			lines = append(lines, p.Look.Text(themes.Focus, s, inner))
		}
	}
	return lines[:min(len(lines), max(rows, 0))]
}
