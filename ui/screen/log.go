package screen

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"dev.scrapetop/storage"
	"dev.scrapetop/themes"
	"dev.scrapetop/ui/widget"
)

// levels are the least levels that the Events screen shows, in the order in which its key turns them.
var levels = []string{"", "warn", "error"}

// TurnLevel shows the next least level.
func (b *Browse) TurnLevel() {
	b.Level = levels[(slices.Index(levels, b.Level)+1)%len(levels)]
}

// OnlyErrors shows errors alone, or everything again.
func (b *Browse) OnlyErrors() {
	if b.Level == "error" {
		b.Level = ""
	} else {
		b.Level = "error"
	}
}

// Follow keeps the cursor on the newest event.
func (b *Browse) Follow() { b.Picks[Events] = Pick{ID: math.MaxInt64} }

// Follows tells that the cursor stays on the newest event.
func (b *Browse) Follows() bool { return b.Picks[Events].ID == math.MaxInt64 }

// settleFollow follows again when the cursor came to the newest event, and notes what was the newest when it left it.
func (b *Browse) settleFollow(r *Rows, followed bool) {
	if r == nil || len(r.Events.Rows) == 0 {
		return
	}
	newest := r.Events.Rows[len(r.Events.Rows)-1].ID
	switch pick := &b.Picks[Events]; {
	case r.Events.Last && pick.ID == newest && !followed:
		b.Follow()
	case followed && pick.ID != math.MaxInt64:
		b.Since = newest
	}
}

// ChosenEvent is the event under the cursor; nil: there is none.
func (b *Browse) ChosenEvent(r *Rows) *storage.Event {
	if i := b.Picks[Events].at(r.ids(Events)); i >= 0 {
		return &r.Events.Rows[i]
	}
	return nil
}

func (p *Picture) eventsShare(class Class, body int) rowsShare {
	s := rowsShare{head: 1}
	detail := !p.List.NoDetail
	switch class {
	case Full:
		if detail {
			s.detail = 5
		}
		s.table = body - s.head - s.detail - 2
	case Standard:
		if detail {
			s.detail = 4
		}
		s.table = body - s.head - s.detail
	default:
		if detail {
			s.foot = 2
		}
		s.table = body - s.head - s.foot
	}
	return s
}

// eventLog is all events of the run, the newest at the bottom.
func (p *Picture) eventLog(class Class, w, h int) []string {
	s := p.eventsShare(class, h)
	lines := []string{p.eventHead(class, w)}
	inner := w
	if class == Full {
		inner = widget.Inner(w)
	}
	rows := make([]string, 0, s.table)
	ids := p.Shown.ids(Events)
	pick := p.Browse.Picks[Events]
	first, at := pick.first(ids, s.table), pick.at(ids)
	for i := first; i < min(first+s.table, len(ids)); i++ {
		rows = append(rows, p.logLine(&p.Shown.Events.Rows[i], inner, i == at))
	}
	if len(ids) == 0 {
		rows = append(rows, p.Look.Line(inner).Gap(2).Text(themes.Dim, p.noRows("no event matches")).String())
	}
	for len(rows) < s.table {
		rows = append(rows, widget.Blank(inner))
	}
	if class == Full {
		rows = widget.Pane{Title: "Events", Right: p.followNote(), Focused: true}.Draw(p.Look, w, s.table+2, rows)
	}
	lines = append(lines, rows...)
	e := p.Browse.ChosenEvent(p.Shown)
	switch {
	case s.detail > 0:
		lines = append(lines, p.eventDetail(e, w, s.detail)...)
	case s.foot > 0:
		lines = append(lines, p.eventText(e, w, s.foot)...)
	}
	return lines
}

// eventHead is what narrows the events.
func (p *Picture) eventHead(class Class, w int) string {
	l := p.Look.Line(w)
	level := map[string]string{"": "all", "warn": "warnings and errors", "error": "errors only"}[p.Browse.Level]
	if class != Compact {
		l.Gap(1)
	}
	role := themes.Text
	if p.Browse.Level != "" {
		role = themes.Focus
	}
	if class != Compact {
		l.Text(themes.Dim, "level: ")
	}
	l.Text(role, level).Text(themes.Dim, " (L)")
	if s := p.Browse.Texts[Events]; class == Compact && s != "" {
		l.Text(themes.Focus, " /"+widget.Truncate(s, 10))
	}
	search, role := "none (/)", themes.Text
	if s := p.Browse.Texts[Events]; s != "" {
		search, role = s+" (Esc: none)", themes.Focus
	}
	if class == Full || class == Standard && p.Browse.Texts[Events] != "" {
		room := l.Room() - 11
		if class != Full {
			room -= widget.Width(p.followNote()) + 2
		}
		l.Text(themes.Dim, "   search: ").Text(role, widget.Truncate(search, max(room, 1)))
	}
	if class != Full {
		l.Right(themes.Focus, p.followNote()+" ")
	}
	return l.String()
}

// followNote tells whether the newest event is followed, or how many came since that ended.
func (p *Picture) followNote() string {
	if p.Browse.Follows() {
		return "FOLLOWING (f)"
	}
	n := 0
	if p.Shown != nil {
		for i := range p.Shown.Events.Rows {
			if p.Shown.Events.Rows[i].ID > p.Browse.Since {
				n++
			}
		}
		if !p.Shown.Events.Last && n == 0 {
			return "f: follow"
		}
	}
	more := ""
	if p.Shown != nil && !p.Shown.Events.Last {
		more = "+"
	}
	return widget.Thousands(int64(n)) + more + " new   f: follow"
}

// logLine is one event.
func (p *Picture) logLine(e *storage.Event, w int, selected bool) string {
	l := p.Look.Line(w)
	if selected {
		l.Strong(true).Repeat(themes.Focus, p.Look.Glyphs.Cursor, 1).Gap(1)
	} else {
		l.Gap(2)
	}
	at := p.clockOf(e.At)
	if w < 60 {
		at = at[:5]
	}
	word, role := level(e.Level)
	l.Text(themes.Dim, at).Gap(1).Fit(role, word, 5, widget.Left)
	if key := eventKey(e); w >= 60 {
		l.Fit(themes.Text, key, min(max(w/5, 14), 30), widget.Left).Gap(1)
	} else if key != "" {
		l.Text(themes.Text, key+" ")
	}
	task := ""
	if e.Task > 0 && w >= 100 {
		task = "  task " + widget.Thousands(e.Task)
	}
	l.Text(themes.Text, widget.Truncate(e.Text, max(l.Room()-len(task), 0)))
	return l.Right(themes.Dim, task).String()
}

// eventKey is what an event is about.
func eventKey(e *storage.Event) string {
	if e.Key == "" || e.Scope == "" || e.Scope == scopeDomain {
		return e.Key
	}
	return e.Scope + " " + e.Key
}

// eventText is an event's text in lines.
func (p *Picture) eventText(e *storage.Event, w, h int) []string {
	var lines []string
	if e != nil {
		for _, s := range strings.Split(ansi.Wrap(e.Text, max(w, 1), ""), "\n") {
			if len(lines) < h {
				lines = append(lines, p.Look.Text(themes.Text, s, w))
			}
		}
	}
	for len(lines) < h {
		lines = append(lines, widget.Blank(w))
	}
	return lines
}

// eventDetail is the whole event under the cursor.
func (p *Picture) eventDetail(e *storage.Event, w, h int) []string {
	if e == nil {
		return widget.Pane{Title: "Event"}.Draw(p.Look, w, h, nil)
	}
	word, _ := level(e.Level)
	title, right := e.At.In(p.Now.Location()).Format(time.DateTime)+"  "+word, ""
	if key := eventKey(e); key != "" {
		title += "  " + key
	}
	if e.Task > 0 {
		right = "Enter: task " + widget.Thousands(e.Task)
	}
	return widget.Pane{Title: widget.Truncate(title, max(w-len(right)-10, 10)), Right: right}.Draw(p.Look, w, h, p.eventText(e, widget.Inner(w), h-2))
}
