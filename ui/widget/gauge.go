package widget

import (
	"math"

	"dev.scrapetop/themes"
)

// Gauge appends what is used of a limit in width cells: used in the colour of role, the rest free. With was above limit,
// the limit was lowered: the scale is was, a mark stands at the limit and dots at what was taken away. Some is never
// shown as none, and less than all never as all, as far as width allows. A limit of zero or less is drawn as all free.
func (l *Line) Gauge(role themes.Role, used, limit, was, width int) *Line {
	g := l.look.Glyphs
	if was <= limit {
		n := filled(used, limit, width)
		return l.Repeat(role, g.Used, n).Repeat(themes.Dim, g.Free, width-n)
	}
	if width <= 0 {
		return l
	}
	mark := min(scale(limit, was, width), width-1)
	n := min(filled(used, was, width), mark)
	return l.Repeat(role, g.Used, n).Repeat(themes.Dim, g.Free, mark-n).
		Repeat(themes.Warn, g.Lowered, 1).Repeat(themes.Dim, g.Lost, width-mark-1)
}

// Bar appends a share (0 to 1) in width cells, with a mark where it is forecast to end; a forecast at or below the share
// is not drawn, one past the end stands in the last cell. Near or past its limit the mark is a warning.
func (l *Line) Bar(role themes.Role, share, forecast float64, width int) *Line {
	g := l.look.Glyphs
	if width <= 0 {
		return l
	}
	n := part(share, width)
	mark := min(part(forecast, width), width-1)
	if !(forecast > share) || mark < n {
		return l.Repeat(role, g.Used, n).Repeat(themes.Dim, g.Free, width-n)
	}
	warn := themes.Text
	if forecast > 0.9 {
		warn = themes.Warn
	}
	return l.Repeat(role, g.Used, n).Repeat(themes.Dim, g.Free, mark-n).
		Repeat(warn, g.Forecast, 1).Repeat(themes.Dim, g.Free, width-mark-1)
}

// Passed appends the passed part of a wait (0 to 1) in width cells; it fills up only when the wait is over.
func (l *Line) Passed(share float64, width int) *Line {
	g := l.look.Glyphs
	n := 0
	if share > 0 {
		n = int(min(share, 1) * float64(width))
	}
	return l.Repeat(themes.Cool, g.Passed, n).Repeat(themes.Dim, g.Free, width-n)
}

// filled is the cells of used out of total, keeping some from none and less than all from all.
func filled(used, total, width int) int {
	if used <= 0 || total <= 0 || width <= 0 {
		return 0
	}
	if used >= total {
		return width
	}
	return max(min(scale(used, total, width), width-1), 1)
}

// scale is n of total on width cells, rounded.
func scale(n, total, width int) int {
	return part(float64(n)/float64(total), width)
}

// part is a share of width cells, rounded and held within them.
func part(share float64, width int) int {
	if !(share > 0) {
		return 0
	}
	return int(math.Round(min(share, 1) * float64(width)))
}
