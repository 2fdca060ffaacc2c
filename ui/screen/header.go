package screen

import (
	"time"

	"dev.scrapetop/themes"
	"dev.scrapetop/ui/widget"
)

// header is the first line: what runs, in which state, since when and until when.
func (p *Picture) header(class Class) string {
	f := p.Data.Frame
	l := p.Look.Line(p.W)
	if class != Compact {
		l.Gap(1)
	}
	l.Strong(true).Text(themes.Focus, "scrapetop").Strong(false)
	if f.Run.ID == 0 && !f.Live {
		return l.Text(themes.Dim, "   no run").String()
	}
	right := p.headerRight(class)
	room := p.W - widget.Width(right) - 1
	number := "#" + widget.Thousands(f.Run.ID)
	mark := p.Look.Glyphs.State(f.Run.State)
	elapsed := widget.Clock(p.elapsed())
	switch class {
	case Full:
		l.Gap(3).Text(themes.Text, "run "+number+" ")
		name := f.Run.Name
		if f.Run.Provider != "" && f.Run.Provider != "direct" {
			name += " via " + f.Run.Provider
		}
		state := 2 + widget.Width(mark.Word) + 2 + len(elapsed) + len(" elapsed") + 4
		l.Text(themes.Text, widget.Truncate(name, max(room-l.Cells()-state, 0))).Gap(2)
		l.Strong(true).Text(mark.Role, mark.Glyph+" "+mark.Word).Strong(false)
		if room-l.Cells() > len(elapsed)+len(" elapsed")+2 {
			l.Gap(2).Text(themes.Text, elapsed+" elapsed")
		}
		if shared := widget.Thousands(int64(f.Run.Sharing)) + " processes"; f.Run.Sharing > 1 && room-l.Cells() > len(shared)+2 {
			l.Gap(2).Text(themes.Warn, shared)
		}
	case Standard:
		l.Gap(2).Text(themes.Text, number+" ")
		state := 3 + widget.Width(mark.Word) + 1 + len(elapsed)
		l.Text(themes.Text, widget.Truncate(f.Run.Name, max(room-l.Cells()-state, 0))).Gap(1)
		l.Strong(true).Text(mark.Role, mark.Glyph+" "+mark.Word).Strong(false)
		if room-l.Cells() > len(elapsed) {
			l.Gap(1).Text(themes.Text, elapsed)
		}
	default:
		l.Gap(1).Text(themes.Text, number+" ")
		l.Strong(true).Text(mark.Role, widget.Truncate(mark.Glyph+" "+mark.Word, max(room-l.Cells(), 1))).Strong(false)
	}
	if class != Compact {
		right += " "
	}
	return l.Right(themes.Text, right).String()
}

// elapsed is the active time of the run, up to the picture's clock while it is active.
func (p *Picture) elapsed() time.Duration {
	f := p.Data.Frame
	d := min(f.Run.Elapsed, longest)
	if f.Live && f.Run.State != "paused" {
		d += min(max(p.Now.Sub(f.At), 0), longest)
	}
	return d
}

// headerRight is the forecast and the clock. No clock is drawn when the numbers will not move.
func (p *Picture) headerRight(class Class) string {
	f := p.Data.Frame
	if !f.Live {
		return "took " + widget.Clock(min(f.Run.Elapsed, longest))
	}
	clock := p.Now.Format(time.TimeOnly)
	forecast := longETA(f.ETA)
	if f.Run.Loading {
		forecast = "reading the input"
	}
	switch class {
	case Full:
		if f.ETA.Known && !f.Run.Loading && f.ETA.Left < 24*time.Hour {
			forecast += "  ends ~" + p.Now.Add(f.ETA.Left).Format("15:04")
		}
		return widget.Truncate(forecast, 60) + "  " + clock
	case Standard:
		return widget.Truncate(forecast, 26) + "  " + clock
	}
	return clock
}

// tabs is the second line: the screens there are, the one on show marked by shape, and the alerts.
func (p *Picture) tabs(class Class) string {
	f := p.Data.Frame
	l := p.Look.Line(p.W)
	g := p.Look.Glyphs
	budgets := "2 Budgets"
	switch {
	case p.List.Shared(p.Tab) && (class == Full || p.Alerts == 0):
		budgets += ": " + p.List.scope()
	case class == Full && f.Domains.Total > 0:
		budgets += ": " + plural(f.Domains.Total, "domain")
	}
	tasks := "3 Tasks"
	if class == Full && f.Counts.Tasks > 0 {
		tasks += " " + countIn(f.Counts.Tasks, 9)
	}
	dead := "4 Dead"
	if f.Counts.Dead > 0 {
		dead += " " + countIn(f.Counts.Dead, 6)
	}
	for i, title := range []string{"1 Overview", budgets, tasks, dead, "5 Events", "6 History"} {
		if Tab(i) == min(p.Tab, History) { // results and a page are parts of it
			l.Strong(true).Text(themes.Focus, g.TabLeft+title+g.TabRight).Strong(false)
		} else {
			l.Text(themes.Text, " "+title+" ")
		}
		if class == Full {
			l.Gap(1)
		}
	}
	if p.Alerts > 0 {
		text := g.Look + " " + widget.Count(int64(p.Alerts))
		if class == Full {
			text = g.Look + " " + plural(p.Alerts, "alert")
		}
		l.Right(themes.Warn, text+" ")
	}
	return l.String()
}
