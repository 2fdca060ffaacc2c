package screen

import (
	"slices"

	"dev.scrapetop/engine/view"
	"dev.scrapetop/themes"
	"dev.scrapetop/ui/widget"
)

// cooldownsPane are the waits in force, who wakes next first.
func (p *Picture) cooldownsPane(w, h int) []string {
	inner := widget.Inner(w)
	active := p.active()
	// The names take what they need, so that the reasons have the rest.
	name := 10
	for _, c := range active[:min(len(active), max(h, 0))] {
		name = max(name, widget.Width(cooldownName(c)))
	}
	name = min(name, max(inner-28, 10))
	lines := []string{
		p.Look.Line(inner).Strong(true).Fit(themes.Dim, "KEY", name, widget.Left).Gap(1).Fit(themes.Dim, "LEFT", 5, widget.Right).Gap(1).
			Fit(themes.Dim, "OF", 5, widget.Right).Gap(1).Text(themes.Dim, "WHY").String(),
	}
	if len(active) == 0 {
		lines[0] = p.Look.Text(themes.Dim, "none active", inner)
	}
	all := p.cooling(active)
	room := max(h-2-len(lines), 0)
	cut := all > room
	if cut {
		room = max(room-1, 0)
	}
	for _, c := range active[:min(room, len(active))] {
		l := p.Look.Line(inner)
		l.Fit(themes.Text, cooldownName(c), name, widget.Left).Gap(1)
		l.Strong(true).Fit(themes.Cool, until5(c.Until, p.Now), 5, widget.Right).Strong(false).Gap(1)
		l.Fit(themes.Dim, widget.ShortClock(wholeWait(c.Full)), 5, widget.Right).Gap(1)
		if bar := min(inner-name-13-20, 12); bar >= 4 {
			l.Passed(passed(c.Until, p.Now, c.Full), bar).Gap(1)
		}
		l.Text(themes.Text, c.Cause)
		lines = append(lines, l.String())
	}
	if cut {
		lines = append(lines, p.Look.Text(themes.Dim, "and "+widget.Thousands(int64(all-min(room, len(active))))+" more: 2 shows them", inner))
	}
	return widget.Pane{Title: "Cooldowns", Right: widget.Thousands(int64(all)) + " active", Focused: p.List.Pane == paneCooldowns}.Draw(p.Look, w, h, lines)
}

// active are the cooldowns whose deadline has not passed on the picture's clock.
func (p *Picture) active() []view.CooldownRow {
	return slices.DeleteFunc(slices.Clone(p.Data.Frame.Cooldowns), func(c view.CooldownRow) bool { return !c.Until.After(p.Now) })
}

// cooling is how many cooldowns are active in all: a frame holds only those that end first.
func (p *Picture) cooling(active []view.CooldownRow) int {
	f := p.Data.Frame
	return len(active) + max(f.Cooling-len(f.Cooldowns), 0)
}

// cooldownName is the key, with its scope where that is no domain.
func cooldownName(c view.CooldownRow) string {
	if c.Scope == "domain" || c.Scope == "" {
		return c.Key
	}
	return c.Scope + " " + c.Key
}
