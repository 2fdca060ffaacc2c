package screen

import (
	"time"

	"dev.scrapetop/engine/view"
	"dev.scrapetop/themes"
	"dev.scrapetop/ui/widget"
)

// chartPane is the accepted records a minute over time.
func (p *Picture) chartPane(w, h int) []string {
	f := p.Data.Frame
	inner := widget.Inner(w)
	c := widget.Chart{Role: themes.OK, Top: p.ChartTop}
	if c.Top <= 0 {
		c.Top = ChartTop(f, 0)
	}
	bin := f.Chart.Bin
	c.Values = f.Chart.Values
	if n := c.Columns(inner); len(c.Values) > n && bin > 0 {
		c.Values = widget.Resample(c.Values, n, f.Chart.End.UnixNano()/int64(bin))
		bin *= time.Duration((len(f.Chart.Values) + n - 1) / max(n, 1))
	}
	if n := len(c.Values); n > 1 && bin > 0 {
		for _, back := range []int{n - 1, (n - 1) * 2 / 3, (n - 1) / 3, 0} {
			at := f.Chart.End.Add(-time.Duration(back) * bin).In(p.Now.Location())
			c.Labels = append(c.Labels, widget.Label{Back: back, Text: at.Format("15:04")})
		}
	}
	title := "Accepted records/min  " + rate(f.AcceptedPerMin) + "  avg " + rate(f.AcceptedAverage)
	lines := c.Draw(p.Look, inner, h-2)
	if f.Live && len(c.Values) == 0 && len(lines) > 2 {
		text := "the first minute is not over"
		if f.Counts.Attempts == 0 {
			text = "waiting for the first response, " + widget.Clock(min(f.Run.Elapsed, longest))
		}
		lines[(len(lines)-2)/2] = p.Look.Line(inner).Gap(8).Text(themes.Dim, text).String()
	}
	return widget.Pane{Title: title, Right: RangeWord(p.Range) + " (+ -)", Focused: p.List.Pane == paneChart}.Draw(p.Look, w, h, lines)
}

// ChartTop is the top of the chart's axis for a frame; before is the last one, zero at the start.
func ChartTop(f *view.Frame, before float64) float64 {
	peak := 0.0
	for _, v := range f.Chart.Values {
		peak = max(peak, v)
	}
	return widget.RoundMax(peak, before)
}

// RangeWord is a range of the chart in words; zero is the whole run.
func RangeWord(r time.Duration) string {
	if r <= 0 {
		return "whole run"
	}
	return widget.Thousands(int64(r/time.Minute)) + " min"
}
