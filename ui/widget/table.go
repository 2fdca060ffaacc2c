package widget

import "dev.scrapetop/themes"

// Column is a column of a table as data.
type Column struct {
	Key    string // what sorting by it is called; empty: cannot be sorted by
	Title  string
	Min    int   // least width in cells
	Max    int   // greatest width; zero: Min when Weight is zero, else any
	Weight int   // its share of the cells that are left over
	Rank   int   // when cells are short, the column of the highest rank leaves first, of equal ranks the right one
	Align  Align // of title and text
}

// Placed is where a column stands.
type Placed struct {
	Index int // in the columns given
	X     int // cells from the left
	Width int
}

// gap is the cells between two columns.
const gap = 1

// Layout places columns in width cells: it lets columns leave until the least widths fit, then gives what is left by
// weight. The columns keep their order and never overlap or pass width. The last one left takes what there is; without
// any cell there is no column.
func Layout(columns []Column, width int) []Placed {
	if width <= 0 {
		return nil
	}
	placed := make([]Placed, len(columns))
	need := -gap
	for i, c := range columns {
		placed[i] = Placed{Index: i, Width: max(c.Min, 1)}
		need += placed[i].Width + gap
	}
	for len(placed) > 1 && need > width {
		leave := 0
		for i, p := range placed {
			if columns[p.Index].Rank >= columns[placed[leave].Index].Rank {
				leave = i
			}
		}
		need -= placed[leave].Width + gap
		placed = append(placed[:leave], placed[leave+1:]...)
	}
	if len(placed) == 0 {
		return nil
	}
	if len(placed) == 1 {
		placed[0].Width = min(placed[0].Width, width)
		need = placed[0].Width
	}
	share(columns, placed, width-need)
	x := 0
	for i := range placed {
		placed[i].X = x
		x += placed[i].Width + gap
	}
	return placed
}

// share gives the cells that are left over to columns with a weight, within their greatest widths.
func share(columns []Column, placed []Placed, left int) {
	for left > 0 {
		weight := 0
		for _, p := range placed {
			if c := columns[p.Index]; grows(c, p.Width) {
				weight += c.Weight
			}
		}
		if weight == 0 {
			return
		}
		pool, given := left, 0
		for i := range placed {
			c := columns[placed[i].Index]
			if !grows(c, placed[i].Width) {
				continue
			}
			n := max(pool*c.Weight/weight, 1)
			if c.Max > 0 {
				n = min(n, c.Max-placed[i].Width)
			}
			n = min(n, left)
			placed[i].Width += n
			left -= n
			given += n
		}
		if given == 0 {
			return
		}
	}
}

func grows(c Column, width int) bool { return c.Weight > 0 && (c.Max == 0 || width < c.Max) }

// Cell is what stands in a column of a row.
type Cell struct {
	Role themes.Role
	Text string
	// Draw, when set, draws the cell instead of Text into the next width cells, for gauges and sparklines.
	Draw func(l *Line, width int)
}

// Row is one row of the visible window.
type Row struct {
	Cells    []Cell // one for each of the table's columns, in their order; missing ones are blank
	Selected bool
	Tagged   bool
}

// Table is a window on a list: the rows given are the ones seen, the first one on top.
type Table struct {
	Columns []Column
	Sort    string // key of the column sorted by; it bears the arrow
	Down    bool   // greatest first
	Rows    []Row
	Focused bool   // the cursor is here; otherwise the row keeps a pale mark
	Empty   string // said in place of rows when there are none
}

// gutter is the cells before the columns: cursor, tag, space.
const gutter = 3

// Draw returns a heading and the rows as exactly height lines of exactly width cells; rows that do not fit are left out.
func (t Table) Draw(look *Look, width, height int) []string {
	if height <= 0 {
		return nil
	}
	placed := Layout(t.Columns, width-gutter)
	out := make([]string, 0, height)
	out = append(out, t.heading(look, width, placed))
	for _, row := range t.Rows {
		if len(out) == height {
			return out
		}
		out = append(out, t.row(look, width, placed, row))
	}
	if len(t.Rows) == 0 && t.Empty != "" && len(out) < height {
		out = append(out, look.Line(width).Gap(gutter).Text(themes.Dim, t.Empty).String())
	}
	for len(out) < height {
		out = append(out, spaces(width))
	}
	return out
}

func (t Table) heading(look *Look, width int, placed []Placed) string {
	l := look.Line(width).Strong(true).Gap(gutter)
	for _, p := range placed {
		c := t.Columns[p.Index]
		l.To(gutter + p.X)
		if c.Key == "" || c.Key != t.Sort {
			l.Fit(themes.Dim, c.Title, p.Width, c.Align)
			continue
		}
		arrow := look.Glyphs.Asc
		if t.Down {
			arrow = look.Glyphs.Desc
		}
		title := look.cutTo(c.Title, p.Width-1)
		l.Fit(themes.Focus, title+arrow, p.Width, c.Align)
	}
	return l.String()
}

func (t Table) row(look *Look, width int, placed []Placed, row Row) string {
	g := look.Glyphs
	l := look.Line(width)
	switch {
	case row.Selected && t.Focused:
		l.Strong(true).Repeat(themes.Focus, g.Cursor, 1)
	case row.Selected:
		l.Repeat(themes.Dim, g.CursorAway, 1)
	default:
		l.Gap(1)
	}
	if row.Tagged {
		l.Repeat(themes.Focus, g.Tag, 1)
	}
	for _, p := range placed {
		l.To(gutter + p.X)
		if p.Index >= len(row.Cells) {
			continue
		}
		switch cell := row.Cells[p.Index]; {
		case cell.Draw != nil:
			l.within(p.Width, cell.Draw)
		default:
			l.Fit(cell.Role, cell.Text, p.Width, t.Columns[p.Index].Align)
		}
	}
	return l.String()
}

// within lets draw write into the next width cells and no further.
func (l *Line) within(width int, draw func(l *Line, width int)) {
	width = min(width, l.Room())
	whole := l.width
	l.width = l.cells + width
	draw(l, width)
	l.Gap(l.Room())
	l.width = whole
}
