package screen

import (
	"dev.scrapetop/themes"
	"dev.scrapetop/ui/widget"
)

// Palette is the command palette: what was typed, and the commands like it. It implements Overlay.
type Palette struct {
	Before, Behind string // what was typed, on both sides of the cursor in the field
	Lines          []PaletteLine
	Cursor         int // index in Lines
	Of             int // how many commands there are
}

// PaletteLine is a command to choose.
type PaletteLine struct {
	Command string // as it is typed
	Keys    string // that do the same
	Help    string
	Asks    bool
	Off     string // why it can do nothing now
}

// Box draws the palette. It scrolls with the cursor.
func (c *Palette) Box(look *widget.Look, w, h int) []string {
	width := min(w, 90)
	inner := widget.Inner(width)
	rows := max(min(h-4, 16), 1)
	tight := h < 12
	if tight {
		rows = max(h-3, 1)
	}
	top := look.Line(inner).Strong(true).Text(themes.Focus, ": ").Strong(false).Text(themes.Text, c.Before).Text(themes.Focus, "_").Text(themes.Text, c.Behind)
	if count := widget.Thousands(int64(len(c.Lines))) + " of " + widget.Thousands(int64(c.Of)); top.Room() > len(count)+1 {
		top.Right(themes.Dim, count)
	}
	lines := []string{top.String()}
	if !tight {
		lines = append(lines, widget.Blank(inner))
	}
	if len(c.Lines) == 0 {
		lines = append(lines, look.Text(themes.Dim, "no command is like that", inner))
	}
	first := max(min(c.Cursor-rows/2, len(c.Lines)-rows), 0)
	for i := first; i < min(first+rows, len(c.Lines)); i++ {
		lines = append(lines, c.Lines[i].draw(look, inner, i == c.Cursor))
	}
	return widget.Pane{Title: "Command", Focused: true}.Draw(look, width, min(len(lines)+2, h), lines)
}

func (p *PaletteLine) draw(look *widget.Look, width int, chosen bool) string {
	l := look.Line(width)
	role := themes.Text
	switch {
	case chosen:
		l.Strong(true).Text(themes.Focus, look.Glyphs.Cursor+" ")
	case p.Off != "":
		l.Text(themes.Dim, "- ")
	default:
		l.Gap(2)
	}
	if p.Off != "" {
		role = themes.Dim
	}
	if p.Help == "" && p.Off == "" {
		return l.Text(role, p.Command).String()
	}
	wide := min(max(width/3, 18), 28)
	l.Fit(role, p.Command, min(wide, l.Room()), widget.Left).Gap(1).Fit(themes.Focus, p.Keys, min(9, l.Room()), widget.Left).Gap(1)
	text := p.Help
	switch {
	case p.Off != "":
		text = p.Off
	case p.Asks:
		text += " (asks)"
	}
	return l.Strong(false).Text(themes.Dim, text).String()
}
