package screen

import (
	"dev.scrapetop/engine/view"
	"dev.scrapetop/themes"
	"dev.scrapetop/ui/widget"
)

// layersPane counts refusals by who said no. Zero is told as zero.
func (p *Picture) layersPane(w, h int) []string {
	f := p.Data.Frame
	inner := widget.Inner(w)
	trend := max(min(inner-30, 40), 4)
	lines := []string{
		p.Look.Line(inner).Strong(true).Fit(themes.Dim, "LAYER", 8, widget.Left).Fit(themes.Dim, "COUNT", 7, widget.Right).
			Fit(themes.Dim, "/MIN", 6, widget.Right).Gap(2).Fit(themes.Dim, "TREND, 15 min", trend, widget.Left).
			Fit(themes.Dim, "LAST", 6, widget.Right).String(),
	}
	var all, total int64
	var perMin float64
	for i := range f.Layers {
		r := &f.Layers[i]
		if r.Layer == "busy" {
			continue
		}
		all, total, perMin = add(all, r.Recent), add(total, r.Total), perMin+r.PerMin
		lines = append(lines, p.layer(r, inner, trend))
	}
	row := func(label string) *widget.Line { return p.Look.Line(inner).Fit(themes.Dim, label, 8, widget.Left) }
	lines = append(lines, row("all 429").Strong(true).Fit(refusals(all), countIn(all, 7), 7, widget.Right).Strong(false).
		Fit(themes.Text, rate(perMin), 6, widget.Right).Gap(2).
		Text(themes.Dim, countIn(total, 9)+" in the run, "+tenths(share(float64(total), float64(f.Counts.Requests)))+" of requests").String())
	for i := range f.Layers {
		if f.Layers[i].Layer == "busy" {
			lines = append(lines, p.layer(&f.Layers[i], inner, trend))
		}
	}
	lines = append(lines, row("held").Fit(themes.Text, countIn(f.Counts.Held, 7), 7, widget.Right).Gap(8).
		Text(themes.Dim, "waits by our own limits").String())
	return widget.Pane{Title: "429 by layer, last 15 min", Focused: p.List.Pane == paneLayers}.Draw(p.Look, w, h, lines)
}

func (p *Picture) layer(r *view.LayerRow, inner, trend int) string {
	last := widget.Unknown
	if !r.Last.IsZero() {
		last = since5(r.Last, p.Now)
	}
	l := p.Look.Line(inner).Fit(themes.Text, r.Layer, 8, widget.Left).Fit(refusals(r.Recent), countIn(r.Recent, 7), 7, widget.Right).
		Fit(themes.Text, rate(r.PerMin), 6, widget.Right).Gap(2)
	widget.Spark(l, refusals(r.Recent), r.Trend, trend, 0)
	return l.To(inner-6).Fit(themes.Text, last, 6, widget.Right).String()
}

// refusals are dim while there are none.
func refusals(n int64) themes.Role {
	if n > 0 {
		return themes.Warn
	}
	return themes.Dim
}

// add sums without running over.
func add(a, b int64) int64 {
	if s := a + b; s >= a || b < 0 {
		return s
	}
	return a
}
