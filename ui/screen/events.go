package screen

import (
	"time"

	"dev.scrapetop/engine/view"
	"dev.scrapetop/themes"
	"dev.scrapetop/ui/widget"
)

// eventsPane are the latest events, newest first.
func (p *Picture) eventsPane(w, h int) []string {
	inner := widget.Inner(w)
	boxed := h > 2
	rows := h - 2
	if !boxed {
		// Too low for a box: the events alone.
		inner, rows = w-2, h
	}
	lines := make([]string, 0, max(h, 0))
	for i := range p.Data.Frame.Events {
		if len(lines) >= rows {
			break
		}
		lines = append(lines, p.event(&p.Data.Frame.Events[i], inner))
	}
	if len(lines) == 0 {
		lines = append(lines, p.Look.Text(themes.Dim, "nothing yet", inner))
	}
	if !boxed {
		for i := range lines {
			lines[i] = " " + lines[i] + " "
		}
		for len(lines) < h {
			lines = append(lines, widget.Blank(w))
		}
		return lines
	}
	return widget.Pane{Title: "Latest events", Right: "5: all of them", Focused: p.List.Pane == paneEvents}.Draw(p.Look, w, h, lines)
}

func (p *Picture) event(e *view.EventRow, w int) string {
	l := p.Look.Line(w)
	l.Text(themes.Dim, e.At.In(p.Now.Location()).Format(time.TimeOnly)).Gap(2)
	word, role := level(e.Level)
	l.Fit(role, word, 5, widget.Left).Gap(1)
	if e.Key != "" {
		l.Fit(themes.Text, e.Key, min(max(w/5, 14), 30), widget.Left).Gap(1)
	}
	task := ""
	if e.Task > 0 && w >= 100 {
		task = "task " + widget.Thousands(e.Task)
	}
	room := l.Room() - len(task)
	if task != "" {
		room -= 2
	}
	l.Text(themes.Text, widget.Truncate(e.Text, room))
	return l.Right(themes.Dim, task).String()
}

// level is the word of fixed width for a level.
func level(s string) (string, themes.Role) {
	switch s {
	case "warn", "warning":
		return "WARN", themes.Warn
	case "error":
		return "ERR", themes.Bad
	case "user":
		return "USER", themes.Pause
	case "info", "":
		return "INFO", themes.Dim
	}
	return "NOTE", themes.Text
}
