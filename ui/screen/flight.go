package screen

import (
	"strings"

	"dev.scrapetop/engine/view"
	"dev.scrapetop/themes"
	"dev.scrapetop/ui/widget"
)

// flightPane is a gauge for each domain: in flight against its ceiling, and what holds it.
func (p *Picture) flightPane(w, h int) []string {
	inner := widget.Inner(w)
	rows, first := p.List.window(p.Data, max(h-2, 0))
	lines := make([]string, 0, len(rows))
	name := min(max(inner-40, 14), 40)
	for i := range rows {
		r := &rows[i]
		l := p.Look.Line(inner)
		p.mark(l, first+i)
		p.state(l, r, p.Data.Names[first+i], 8)
		l.Fit(themes.Text, r.Domain, name, widget.Left).Gap(1)
		role := p.Look.Glyphs.State(string(r.State)).Role
		p.domainGauge(l, role, r, min(max(inner-name-28, 6), 16))
		l.Gap(1).Fit(themes.Text, ofLimit(r.InFlight, r.Limit), 7, widget.Right)
		note, noteRole := p.domainNote(r)
		if note != "" {
			l.Gap(2).Text(noteRole, note)
		}
		lines = append(lines, l.String())
	}
	if len(lines) == 0 {
		lines = append(lines, p.Look.Text(themes.Dim, p.noDomains(), inner))
	}
	note := p.List.sortWord(p.Look) + more(len(rows), p.Data.Frame.Domains.Matched)
	if w < 70 {
		note = strings.TrimPrefix(note, "sort: ")
	}
	return widget.Pane{
		Title: "In flight / limit by domain", Right: note, Focused: p.List.Pane == paneFlight,
	}.Draw(p.Look, w, h, lines)
}

// mark is the cursor and the tag before a row.
func (p *Picture) mark(l *widget.Line, i int) {
	name := p.Data.Names[i]
	if name == p.List.Selected {
		cursor, role := p.Look.Glyphs.Cursor, themes.Focus
		if p.List.Pane != paneFlight {
			cursor, role = p.Look.Glyphs.CursorAway, themes.Dim
		}
		l.Strong(true).Repeat(role, cursor, 1)
	} else {
		l.Strong(false).Gap(1)
	}
	if _, tagged := p.List.Tags[name]; tagged {
		l.Repeat(themes.Focus, p.Look.Glyphs.Tag, 1)
	} else {
		l.Gap(1)
	}
}

// state is a domain's state, or the wish that a frame has not confirmed yet.
func (p *Picture) state(l *widget.Line, r *view.DomainRow, name string, w int) {
	if wish := p.Wishes[name]; wish != "" {
		l.Fit(themes.Focus, shortWish(wish, w), w, widget.Left).Gap(1)
		return
	}
	l.State(string(r.State), w).Gap(1)
}

// domainGauge is in flight against the ceiling; where there is none there is nothing to measure against.
func (p *Picture) domainGauge(l *widget.Line, role themes.Role, r *view.DomainRow, w int) *widget.Line {
	if r.Limit <= 0 {
		return l.Gap(w)
	}
	return l.Gauge(role, r.InFlight, r.Limit, r.LimitWas, w)
}

func (p *Picture) noDomains() string {
	switch {
	case p.List.Filter != "" || p.List.Faults:
		return "no domain matches: Esc shows all"
	case p.Data.Frame.Run.Loading:
		return "reading the input"
	}
	if p.Data.Frame.Counts.Tasks > 0 && !p.Data.Frame.Live {
		return "they are being counted" // of a run that is read from the database
	}
	return "no domains yet"
}

func more(shown, all int) string {
	if all <= shown {
		return ""
	}
	return "   " + widget.Count(int64(shown)) + " of " + widget.Count(int64(all))
}

// ofLimit is 12/16; without a limit the number alone.
func ofLimit(n, limit int) string {
	if limit <= 0 {
		return countIn(int64(n), 5)
	}
	s := countIn(int64(n), 4) + "/" + countIn(int64(limit), 4)
	return s
}

// domainNote is the one thing to know about a domain beside its gauge.
func (p *Picture) domainNote(r *view.DomainRow) (string, themes.Role) {
	switch {
	case r.State == view.StatePause:
		return "by you", themes.Pause
	case r.Until.After(p.Now):
		return until5(r.Until, p.Now), themes.Cool
	case r.LimitWas > r.Limit && r.Limit > 0:
		return "was " + countIn(int64(r.LimitWas), 4), themes.Warn
	case r.Limit > 0 && r.InFlight >= r.Limit && r.Queue > 0:
		return "FULL", themes.Warn
	}
	return "", themes.Text
}
