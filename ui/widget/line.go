package widget

import (
	"dev.scrapetop/themes"
)

// Line builds one line of a screen out of segments that stand side by side. It never holds more cells than it was made
// for: what does not fit is cut with the glyph for it, what comes after is left out, and String fills up with spaces.
type Line struct {
	look   *Look
	b      []byte
	cells  int
	width  int
	strong bool
	open   string // prefix that is in force
}

// Line starts a line of exactly width cells.
func (k *Look) Line(width int) *Line { return k.line(width, 1) }

// line is a Line that holds cells of so many bytes each without growing.
func (k *Look) line(width, bytes int) *Line {
	width = max(width, 0)
	return &Line{look: k, width: width, b: make([]byte, 0, width*bytes+96)}
}

// Strong makes what follows bold, as on the row under the cursor.
func (l *Line) Strong(on bool) *Line {
	l.strong = on
	return l
}

// Cells is the number of cells written so far.
func (l *Line) Cells() int { return l.cells }

// Room is the number of cells left.
func (l *Line) Room() int { return l.width - l.cells }

// Text appends s in the colour of role.
func (l *Line) Text(role themes.Role, s string) *Line {
	if s == "" {
		return l
	}
	s, cells := cut(s, l.Room(), l.look.Glyphs.Cut)
	return l.put(role, s, cells)
}

// Fit appends s in exactly width cells.
func (l *Line) Fit(role themes.Role, s string, width int, align Align) *Line {
	width = min(width, l.Room())
	s, cells := cut(s, width, l.look.Glyphs.Cut)
	gap := width - cells
	switch {
	case gap <= 0:
		return l.put(role, s, cells)
	case align == Right:
		return l.Gap(gap).put(role, s, cells)
	case align == Centre:
		return l.Gap(gap/2).put(role, s, cells).Gap(gap - gap/2)
	}
	return l.put(role, s, cells).Gap(gap)
}

// Gap appends n spaces.
func (l *Line) Gap(n int) *Line {
	n = min(n, l.Room())
	if n <= 0 {
		return l
	}
	l.style("")
	l.b = append(l.b, spaces(n)...)
	l.cells += n
	return l
}

// To appends spaces up to column cell, counted from zero; a line that is there already stays as it is.
func (l *Line) To(cell int) *Line { return l.Gap(cell - l.cells) }

// Right appends s so that it ends where the line ends. When there is less room than s needs it is cut on its right.
func (l *Line) Right(role themes.Role, s string) *Line {
	return l.To(l.width-Width(s)).Text(role, s)
}

// Repeat appends n times a glyph of one cell.
func (l *Line) Repeat(role themes.Role, glyph string, n int) *Line {
	n = min(n, l.Room())
	if n <= 0 {
		return l
	}
	l.style(l.prefix(role))
	for range n {
		l.b = append(l.b, glyph...)
	}
	l.cells += n
	return l
}

// State appends a state's glyph and its word in exactly width cells; a word that does not fit leaves the glyph.
func (l *Line) State(state string, width int) *Line {
	m := l.look.Glyphs.State(state)
	end := min(l.cells+width, l.width)
	if width < 2+Width(m.Word) {
		return l.Fit(m.Role, m.Glyph, width, Left)
	}
	return l.Text(m.Role, m.Glyph).Gap(1).Text(m.Role, m.Word).To(end)
}

// String returns the line, filled with spaces to its width, with every colour closed.
func (l *Line) String() string {
	l.Gap(l.Room())
	l.style("")
	return string(l.b)
}

// put appends a text of known width that fits.
func (l *Line) put(role themes.Role, s string, cells int) *Line {
	if cells == 0 {
		return l
	}
	l.style(l.prefix(role))
	l.b = append(l.b, s...)
	l.cells += cells
	return l
}

func (l *Line) prefix(role themes.Role) string {
	if l.strong {
		return l.look.Palette.Strong(role)
	}
	return l.look.Palette.Prefix(role)
}

// style ends the colour in force and begins another, so that equal neighbours share one pair of codes.
func (l *Line) style(prefix string) {
	if prefix == l.open {
		return
	}
	if l.open != "" {
		l.b = append(l.b, l.look.Palette.Suffix()...)
	}
	l.b = append(l.b, prefix...)
	l.open = prefix
}

// Text is a whole line of one text: the shorthand for a line with a single segment.
func (k *Look) Text(role themes.Role, s string, width int) string {
	return k.Line(width).Text(role, s).String()
}

// Blank is a line of spaces.
func Blank(width int) string { return spaces(width) }
