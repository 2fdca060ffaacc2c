package screen

import (
	"strings"

	"dev.scrapetop/themes"
	"dev.scrapetop/ui/keys"
	"dev.scrapetop/ui/widget"
)

// Help is the help, made from the key table: all keys of a mode by group, or those that a search finds. It implements
// Overlay.
type Help struct {
	Keys     *keys.Map
	Mode     keys.Mode // of the screen that it is about
	Query    string
	Cursor   int // index in Entries
	Disabled keys.Disabled
}

// Entries are the lines to choose from, in the order in which they are drawn.
func (h *Help) Entries() []keys.Entry {
	if h.Query != "" {
		return h.Keys.Search(h.Mode, h.Query, h.Disabled)
	}
	var out []keys.Entry
	for _, g := range h.Keys.HelpFor(h.Mode, h.Disabled) {
		out = append(out, g.Entries...)
	}
	return out
}

// helpKeys is the cells of the keys in a line.
const helpKeys = 9

// helpLine is a heading, or an entry by its index.
type helpLine struct {
	heading string
	entry   int
}

// Box draws the help. It scrolls with the cursor.
func (h *Help) Box(look *widget.Look, w, height int) []string {
	entries := h.Entries()
	wide := min(w, 118)
	inner := widget.Inner(wide)
	columns := max(inner/56, 1)
	each := (inner - 2*(columns-1)) / columns
	lines := h.lines(entries)
	rows := max(height-2-2, 1)
	tight := height < 12
	if tight {
		rows = max(height-2-1, 1)
	}
	legend := h.legend(look, inner)
	// The legend has its place when everything else has one; a scrolling help leaves it out.
	if needed := (len(lines) + columns - 1) / columns; needed+len(legend)+1 <= rows {
		rows = max(needed, 1)
	} else {
		legend = nil
	}
	perPage := rows * columns
	at := 0
	for i, l := range lines {
		if l.heading == "" && l.entry == h.Cursor {
			at = i
		}
	}
	page := at / perPage
	pages := max((len(lines)+perPage-1)/perPage, 1)
	top := look.Line(inner).Text(themes.Dim, "Type to search: ").Strong(true).Text(themes.Focus, h.Query+"_").Strong(false)
	if len(entries) == 0 {
		top.Text(themes.Warn, "  nothing found")
	}
	if note := "Enter: do it   - can do nothing now"; top.Room() > widget.Width(note)+1 {
		top.Right(themes.Dim, note)
	}
	out := []string{top.String()}
	if !tight {
		out = append(out, widget.Blank(inner))
	}
	for r := range rows {
		l := look.Line(inner)
		for c := range columns {
			i := page*perPage + c*rows + r
			l.To(c * (each + 2))
			if i < len(lines) {
				h.line(l, lines[i], entries, each)
			}
		}
		out = append(out, l.String())
	}
	out = append(out, legend...)
	note := "page " + widget.Thousands(int64(page+1)) + " of " + widget.Thousands(int64(pages)) + "   Esc: close"
	return widget.Pane{Title: "Help: " + strings.ToUpper(string(h.Mode[:1])) + string(h.Mode[1:]), Right: note, Focused: true}.
		Draw(look, wide, min(len(out)+2, height), out)
}

// lines are the entries under their headings; what a search found stands alone.
func (h *Help) lines(entries []keys.Entry) []helpLine {
	var lines []helpLine
	n := 0
	if h.Query == "" {
		for i, g := range h.Keys.HelpFor(h.Mode, h.Disabled) {
			if i > 0 {
				lines = append(lines, helpLine{heading: " "})
			}
			lines = append(lines, helpLine{heading: string(g.Group)})
			for range g.Entries {
				lines = append(lines, helpLine{entry: n})
				n++
			}
		}
		return lines
	}
	for i := range entries {
		lines = append(lines, helpLine{entry: i})
	}
	return lines
}

func (h *Help) line(l *widget.Line, line helpLine, entries []keys.Entry, width int) {
	end := l.Cells() + width
	if line.heading != "" {
		l.Strong(true).Text(themes.Dim, line.heading).Strong(false).To(end)
		return
	}
	e := entries[line.entry]
	role := themes.Text
	switch {
	case line.entry == h.Cursor:
		l.Strong(true).Text(themes.Focus, "> ")
	case e.Off != "":
		l.Text(themes.Dim, "- ")
	default:
		l.Gap(2)
	}
	if e.Off != "" {
		role = themes.Dim
	}
	l.Fit(themes.Focus, e.Keys, helpKeys, widget.Left).Gap(1)
	text := e.Text
	switch {
	case e.Off != "":
		text += ": " + e.Off
	case e.Asks:
		text += " (asks)"
	case e.Undo:
		text += " (undo)"
	}
	l.Fit(role, text, max(end-l.Cells(), 0), widget.Left).Strong(false)
}

// legend is the meaning of the signs.
func (h *Help) legend(look *widget.Look, inner int) []string {
	states, signs := look.Glyphs.Legend()
	row := func(title string, marks []widget.Mark) string {
		l := look.Line(inner).Strong(true).Fit(themes.Dim, title, 8, widget.Left).Strong(false)
		for _, m := range marks {
			l.Text(m.Role, m.Glyph).Gap(1).Text(themes.Text, m.Word).Gap(3)
		}
		return l.String()
	}
	return []string{widget.Blank(inner), row("STATES", states), row("SIGNS", signs)}
}

// Question is a dialog over the screen. It implements Overlay.
type Question struct{ widget.Dialog }

// Box draws the dialog.
func (q *Question) Box(look *widget.Look, w, h int) []string {
	return q.Draw(look, min(w, 78), h)
}

// Choice is a short list to choose from. It implements Overlay.
type Choice struct {
	Title  string
	Items  []string
	Cursor int
	Empty  string // said when there is nothing to choose
}

// Box draws the list, scrolled so that the cursor is in sight.
func (c *Choice) Box(look *widget.Look, w, h int) []string {
	width := widget.Width(c.Title) + 12
	for _, s := range c.Items {
		width = max(width, widget.Width(s)+8)
	}
	width = min(max(width, 30), w)
	inner := widget.Inner(width)
	rows := max(min(len(c.Items), h-2), 1)
	first := min(max(c.Cursor-rows+1, 0), max(len(c.Items)-rows, 0))
	var lines []string
	if len(c.Items) == 0 {
		lines = append(lines, look.Text(themes.Dim, c.Empty, inner))
	}
	for i := first; i < min(first+rows, len(c.Items)); i++ {
		l := look.Line(inner)
		if i == c.Cursor {
			l.Strong(true).Text(themes.Focus, look.Glyphs.Cursor+" "+c.Items[i])
		} else {
			l.Gap(2).Text(themes.Text, c.Items[i])
		}
		lines = append(lines, l.String())
	}
	return widget.Pane{Title: c.Title, Focused: true}.Draw(look, width, min(len(lines)+2, h), lines)
}
