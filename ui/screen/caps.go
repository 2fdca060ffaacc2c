package screen

import (
	"time"

	"dev.scrapetop/engine/view"
	"dev.scrapetop/themes"
	"dev.scrapetop/ui/widget"
)

// capsWidth is the width of capsPane: caps are set before a run, so it does not change within one.
func (p *Picture) capsWidth() int {
	if len(p.Data.Frame.Caps) == 0 {
		return 14
	}
	return 30
}

// capsPane are the user's ceilings on what the run may use, now and at its forecast end.
func (p *Picture) capsPane(w, h int) []string {
	inner := widget.Inner(w)
	lines := make([]string, 0, h)
	for _, c := range p.Data.Frame.Caps {
		l := p.Look.Line(inner)
		now := capShare(c)
		l.Fit(themes.Text, c.Name, 9, widget.Left).Gap(1).Bar(capRole(c), now, c.Forecast, max(inner-10-12, 0))
		l.Text(capRole(c), " "+capNumbers(c))
		lines = append(lines, l.String())
		if 2*len(p.Data.Frame.Caps) <= h-2 {
			lines = append(lines, p.Look.Line(inner).Gap(2).Text(themes.Dim, capUse(c)).Right(capRole(c), capNear(c)).String())
		}
	}
	if len(lines) == 0 {
		lines = append(lines, p.Look.Text(themes.Dim, "none set", inner))
	}
	title := "Caps  now>at end"
	if len(p.Data.Frame.Caps) == 0 {
		title = "Caps"
	}
	return widget.Pane{Title: title, Focused: p.List.Pane == paneCaps}.Draw(p.Look, w, h, lines)
}

func capShare(c view.CapRow) float64 {
	if !(c.Limit > 0) {
		return 0
	}
	return c.Used / c.Limit
}

// capUse is what was used of a cap, in its own unit.
func capUse(c view.CapRow) string {
	show := amount
	if c.Name == "time" {
		show = func(f float64) string {
			return widget.ShortClock(time.Duration(min(f, longest.Seconds()) * float64(time.Second)))
		}
	}
	return show(c.Used) + " of " + show(c.Limit)
}

// capNear is the word for a cap that is nearly met, or will be.
func capNear(c view.CapRow) string {
	switch capRole(c) {
	case themes.Bad:
		return "OVER"
	case themes.Warn:
		return "near"
	}
	return ""
}

// capWord says in shape what the colour says: past 90 % at the end a look, past 100 % over.
func capWord(c view.CapRow) string {
	if c.Forecast > .9 || capShare(c) > .9 {
		return "!"
	}
	return ""
}

func capRole(c view.CapRow) themes.Role {
	switch {
	case c.Forecast > 1 || capShare(c) >= 1:
		return themes.Bad
	case c.Forecast > .9 || capShare(c) > .9:
		return themes.Warn
	}
	return themes.OK
}
