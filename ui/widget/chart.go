package widget

import (
	"math"
	"strconv"

	"dev.scrapetop/themes"
)

// Number is what a chart can draw.
type Number interface{ ~int | ~int64 | ~float64 }

// Spark appends a sparkline of the newest values (they are oldest first) in width cells, the newest at the right. A zero
// is a dot, anything above it at least the lowest block, a negative value a gap and blank; cells without a value are
// blank. Top is the value of a full block; zero or less takes the greatest one shown.
func Spark[N Number](l *Line, role themes.Role, values []N, width int, top N) *Line {
	width = min(width, l.Room())
	if width <= 0 {
		return l
	}
	if len(values) > width {
		values = values[len(values)-width:]
	}
	if top <= 0 {
		for _, v := range values {
			top = max(top, v)
		}
	}
	g := l.look.Glyphs
	l.Gap(width - len(values))
	for _, v := range values {
		switch {
		case v > 0:
			l.Repeat(role, g.Levels[eighths(float64(v), float64(top), 1)-1], 1)
		case v == 0:
			l.Repeat(themes.Dim, g.Zero, 1)
		default:
			l.Gap(1)
		}
	}
	return l
}

// eighths is the height of v in eighths of a row on a chart of that many rows: at least one, since v is not zero.
func eighths(v, top float64, rows int) int {
	full := 8 * rows
	if !(v < top) {
		return full
	}
	return max(int(math.Ceil(v/top*float64(full))), 1)
}

// Label is a text under a chart: it begins at the column of a value.
type Label struct {
	Back int // columns before the newest value
	Text string
}

// Chart is a column chart with a y axis and labels below.
type Chart struct {
	Role   themes.Role
	Values []float64 // oldest first; negative: a gap
	Top    float64   // value at the top of the axis, from RoundMax
	Labels []Label   // oldest first; one that would touch its neighbour is left out
}

// axisWidth is the cells of the axis: four of number, a space, the line.
const axisWidth = 6

// Columns is the number of values a chart of the given width shows.
func (c Chart) Columns(width int) int { return max(width-axisWidth, 0) }

// Draw returns the chart as exactly height lines of exactly width cells. The newest value stands at the right. A gap is a
// blank column, a zero a dot on the ground. Under 8x3 there is no room for a chart and the lines are blank.
func (c Chart) Draw(look *Look, width, height int) []string {
	out := make([]string, 0, max(height, 0))
	rows, columns := height-2, c.Columns(width)
	if rows < 1 || columns < 2 {
		for range height {
			out = append(out, spaces(width))
		}
		return out
	}
	values := c.Values
	if len(values) > columns {
		values = values[len(values)-columns:]
	}
	for row := rows - 1; row >= 0; row-- {
		l := look.Line(width)
		c.axis(l, row, rows)
		l.Gap(columns - len(values))
		for _, v := range values {
			c.cell(l, v, row, rows)
		}
		out = append(out, l.String())
	}
	g := look.Glyphs
	out = append(out, look.Line(width).Gap(axisWidth-1).Repeat(themes.Border, g.AxisCorner, 1).
		Repeat(themes.Border, g.AxisLine, columns).String())
	return append(out, c.labels(look, width))
}

// axis writes the y axis of a row: the top, the middle of charts that are tall enough, and zero have numbers.
func (c Chart) axis(l *Line, row, rows int) {
	g := l.look.Glyphs
	number, ok := 0.0, true
	switch {
	case row == rows-1:
		number = c.Top
	case row == 0:
	case rows >= 5 && rows%2 == 1 && row == rows/2:
		number = c.Top / 2
	default:
		ok = false
	}
	if !ok || c.Top <= 0 {
		l.Gap(axisWidth-1).Repeat(themes.Border, g.Axis, 1)
		return
	}
	l.Fit(themes.Dim, axisNumber(number), 4, Right).Gap(1).Repeat(themes.Border, g.AxisTick, 1)
}

// axisNumber writes a round number in at most four cells.
func axisNumber(v float64) string {
	unit := ""
	for _, next := range []string{"k", "M", "G", "T", "P", "E"} {
		if v < 1000 {
			break
		}
		v, unit = v/1000, next
	}
	return strconv.FormatFloat(v, 'g', 3, 64) + unit
}

// cell draws the part of a column that stands in a row.
func (c Chart) cell(l *Line, v float64, row, rows int) {
	g := l.look.Glyphs
	switch {
	case v < 0 || math.IsNaN(v):
		l.Gap(1)
	case v == 0:
		if row == 0 {
			l.Repeat(themes.Dim, g.Zero, 1)
		} else {
			l.Gap(1)
		}
	default:
		n := eighths(v, c.Top, rows) - 8*row
		switch {
		case n <= 0:
			l.Gap(1)
		case n >= 8:
			l.Repeat(c.Role, g.Used, 1)
		default:
			l.Repeat(c.Role, g.Levels[n-1], 1)
		}
	}
}

func (c Chart) labels(look *Look, width int) string {
	l := look.Line(width)
	for _, label := range c.Labels {
		cells := Width(label.Text)
		at := min(width-1-label.Back, width-cells)
		if at < axisWidth || at < l.cells+1 && l.cells > 0 {
			continue
		}
		l.To(at).Text(themes.Dim, label.Text)
	}
	return l.String()
}

// RoundMax is the top of an axis for values up to peak: a round number that moves by steps. It grows as soon as peak
// passes it and shrinks only when peak is below half of it, so the picture does not jump. Before is its last answer, zero
// at the start.
func RoundMax(peak, before float64) float64 {
	if math.IsNaN(peak) || math.IsInf(peak, 0) || peak <= 0 {
		peak = 0
	}
	if before > 0 && peak <= before && peak >= before/2 {
		return before
	}
	if peak == 0 {
		return 10
	}
	unit := math.Pow(10, math.Floor(math.Log10(peak)))
	for _, step := range []float64{1, 1.5, 2, 3, 4, 5, 6, 8} {
		if peak <= step*unit {
			return max(step*unit, 2)
		}
	}
	return max(10*unit, 2)
}

// Resample joins neighbouring values so that at most n are left, each the mean of those that are not gaps; all gaps give
// a gap. Newest is the number of the newest bin since any fixed start (its end divided by its length): groups are cut at
// multiples of their size in it, so a chart that moves keeps its shape. The last group may still be filling and is then
// the mean of what it has.
func Resample(values []float64, n int, newest int64) []float64 {
	if n <= 0 {
		return nil
	}
	size := 1
	for groups(len(values), size, newest) > n {
		size++
		if size > len(values) {
			break
		}
	}
	if size == 1 {
		return values
	}
	out := make([]float64, 0, n)
	first := newest - int64(len(values)) + 1
	for i := 0; i < len(values); {
		end := i + size - int(floorMod(first+int64(i), int64(size)))
		sum, seen := 0.0, 0
		for ; i < min(end, len(values)); i++ {
			if values[i] >= 0 {
				sum += values[i]
				seen++
			}
		}
		if seen == 0 {
			out = append(out, -1)
			continue
		}
		out = append(out, sum/float64(seen))
	}
	if len(out) > n {
		out = out[len(out)-n:]
	}
	return out
}

// groups is how many groups of size the values of bins up to newest fall into.
func groups(count, size int, newest int64) int {
	if count == 0 {
		return 0
	}
	first := newest - int64(count) + 1
	return int((newest-floorMod(newest, int64(size))-(first-floorMod(first, int64(size))))/int64(size)) + 1
}

func floorMod(a, b int64) int64 { return (a%b + b) % b }
