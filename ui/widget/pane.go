package widget

import (
	"strings"

	"dev.scrapetop/themes"
)

// Pane is a box with its title in the top border.
type Pane struct {
	Title   string
	Right   string // in the top border, right: counts, sorting
	Bottom  string // in the bottom border, left: a legend
	Focused bool   // a heavier border, and without colour the title in capitals
}

// Inner is the width of the lines inside a pane of the given width.
func Inner(width int) int { return max(width-4, 0) }

// Draw returns the pane as exactly height lines of exactly width cells. Lines are expected Inner(width) wide and are
// fitted if they are not; missing ones are blank, those too many left out. A pane of under 4x2 has no room for a border
// and is blank.
func (p Pane) Draw(look *Look, width, height int, lines []string) []string {
	if height <= 0 {
		return nil
	}
	out := make([]string, 0, height)
	if width < 4 || height < 2 {
		for range height {
			out = append(out, spaces(width))
		}
		return out
	}
	box, role := &look.Glyphs.Box, themes.Border
	title, titleRole := p.Title, themes.Text
	if p.Focused {
		box, role, titleRole = &look.Glyphs.Heavy, themes.Focus, themes.Focus
		if look.Mono() {
			title = strings.ToUpper(title)
		}
	}
	out = append(out, p.edge(look, width, role, box.TopLeft, box.Top, box.TopRight, title, titleRole, p.Right))
	inner := Inner(width)
	pre, suf := look.Palette.Prefix(role), look.Palette.Suffix()
	left, right := pre+box.Left+suf+" ", " "+pre+box.Right+suf
	for i := range height - 2 {
		text := ""
		if i < len(lines) {
			text = lines[i]
		}
		out = append(out, left+Fit(text, inner, Left)+right)
	}
	return append(out, p.edge(look, width, role, box.BottomLeft, box.Bottom, box.BottomRight, p.Bottom, themes.Dim, ""))
}

// edge draws a border with a text on each side; the right one gives way first.
func (p Pane) edge(look *Look, width int, role themes.Role, left, fill, right, title string, titleRole themes.Role, note string) string {
	l := look.line(width, len(fill))
	l.strong = p.Focused
	l.Repeat(role, left, 1)
	if room := width - 6; title != "" && room > 0 {
		l.Repeat(role, fill, 1).Gap(1).Text(titleRole, look.cutTo(title, room)).Gap(1)
	}
	if w := Width(note); note != "" && l.cells+w+5 <= width {
		l.Repeat(role, fill, width-l.cells-w-4).Gap(1).Text(themes.Dim, note).Gap(1).Repeat(role, fill, 1)
	} else {
		l.Repeat(role, fill, width-l.cells-1)
	}
	return l.Repeat(role, right, 1).String()
}

func (k *Look) cutTo(s string, width int) string {
	s, _ = cut(s, width, k.Glyphs.Cut)
	return s
}
