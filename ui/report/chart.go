package report

import (
	"math"
	"strconv"
	"strings"
	"time"

	"dev.scrapetop/ui/widget"
)

// The canvas of a chart, in the units of its viewBox.
const (
	chartWide = 960.0
	chartHigh = 190.0
	plotLeft  = 52.0
	plotTop   = 10.0
	plotHigh  = 150.0
	plotWide  = chartWide - plotLeft - 8
)

// chart is a picture of amounts over time: the template writes it as SVG, all the geometry is done here.
type chart struct {
	Title  string
	Unit   string
	Series []series
	X, Y   []tick
	Wide   float64
	High   float64
	Left   float64
	Bottom float64
	Right  float64
}

// series is one colour of a chart.
type series struct {
	Name  string
	Class string // its colour, by name
	Total string // empty: none is told
	Path  string
}

// tick is a mark on an axis.
type tick struct {
	At    float64
	Label string
}

// layered is one series of a stack of bars.
type layered struct {
	name, class string
	counts      []float64
}

// bars stacks series of counts, the first at the bottom; a series without anything is left out.
func (t *timeline) bars(title, unit string, stack []layered) chart {
	sums := make([]float64, len(t.part))
	for _, l := range stack {
		for i, n := range l.counts {
			sums[i] += n
		}
	}
	c, scale := t.canvas(title, unit, sums)
	wide := plotWide / float64(max(len(sums), 1))
	gap := min(wide*.15, 2)
	floor := make([]float64, len(sums))
	for _, l := range stack {
		var path strings.Builder
		total := 0.0
		for i, n := range l.counts {
			if n == 0 {
				continue
			}
			total += n
			high := n * scale
			y := c.Bottom - floor[i] - high
			floor[i] += high
			path.WriteString("M" + num(plotLeft+float64(i)*wide+gap/2) + " " + num(y) + "h" + num(wide-gap) + "v" + num(high) + "h-" + num(wide-gap) + "z")
		}
		if total > 0 {
			c.Series = append(c.Series, series{Name: l.name, Class: l.class, Total: widget.Thousands(int64(total)), Path: path.String()})
		}
	}
	return c
}

// area draws amounts as one filled step line.
func (t *timeline) area(title, unit, name, class string, amounts []float64) chart {
	c, scale := t.canvas(title, unit, amounts)
	wide := plotWide / float64(max(len(amounts), 1))
	var path strings.Builder
	path.WriteString("M" + num(plotLeft) + " " + num(c.Bottom))
	for _, n := range amounts {
		path.WriteString("V" + num(c.Bottom-max(n, 0)*scale) + "h" + num(wide))
	}
	path.WriteString("V" + num(c.Bottom) + "z")
	if len(amounts) > 0 {
		c.Series = []series{{Name: name, Class: class, Path: path.String()}}
	}
	return c
}

// canvas is an empty chart whose axes fit amounts, and the height of one.
func (t *timeline) canvas(title, unit string, amounts []float64) (chart, float64) {
	c := chart{Title: title, Unit: unit, Wide: chartWide, High: chartHigh, Left: plotLeft, Bottom: plotTop + plotHigh, Right: plotLeft + plotWide}
	top := 0.0
	for _, n := range amounts {
		top = max(top, n)
	}
	step := niceStep(top / 4)
	top = max(math.Ceil(top/step), 1) * step
	scale := plotHigh / top
	for i := 0; ; i++ {
		n := float64(i) * step
		if n > top*1.0001 {
			break
		}
		c.Y = append(c.Y, tick{At: c.Bottom - n*scale, Label: axis(n)})
	}
	c.X = t.marks()
	return c, scale
}

// niceStep is the least of 1, 2, 5, 10, 20, ... that is not below least; half a thing has no mark.
func niceStep(least float64) float64 {
	for unit := 1.0; unit < 1e18; unit *= 10 {
		for _, k := range []float64{1, 2, 5} {
			if k*unit >= least {
				return k * unit
			}
		}
	}
	return least
}

func axis(n float64) string { return widget.Count(int64(n)) }

// marks are the marks of the time axis: at most six, at the edges of bars.
func (t *timeline) marks() []tick {
	n := len(t.part)
	if n == 0 {
		return nil
	}
	form := "15:04:05"
	switch whole := time.Duration(n) * t.width; {
	case whole > 48*time.Hour:
		form = "2 Jan 15:04"
	case t.width >= time.Minute:
		form = "15:04"
	}
	every := (n + 5) / 6
	var all []tick
	for i := 0; i < n; i += every {
		all = append(all, tick{
			At:    plotLeft + plotWide*float64(i)/float64(n),
			Label: t.from.Add(time.Duration(i) * t.width).UTC().Format(form),
		})
	}
	return all
}

// num writes a coordinate to a tenth.
func num(f float64) string { return strconv.FormatFloat(math.Round(f*10)/10, 'f', -1, 64) }
