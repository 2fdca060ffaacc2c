package screen

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"dev.scrapetop/storage"
	"dev.scrapetop/themes"
	"dev.scrapetop/ui/widget"
)

// Measured is a run with what its row does not tell: how long its latest exchanges took.
type Measured struct {
	storage.Run
	P50, P95 time.Duration // zero: it had none
}

// figure is something that two runs are compared by.
type figure struct {
	label string
	of    func(*Measured) float64
	show  func(float64) string
	// more tells that more of it is better, and less that less is; neither: it is told and not judged.
	more, less bool
	// total: it grows with what was fetched, so it is judged between runs of one input that came to their end only.
	total bool
	// noise is what a change may be at least and still be the same, where that is more than steady: no row of the runs tells how much
	// it varies.
	noise float64
	// part: of the figure above it, told where there is room.
	part bool
}

func count(n func(*storage.Run) int64) func(*Measured) float64 {
	return func(m *Measured) float64 { return float64(n(&m.Run)) }
}

func shownSeconds(f float64) string {
	if f == 0 {
		return widget.Unknown
	}
	return widget.Seconds(time.Duration(f * float64(time.Second)))
}

func shownCount(f float64) string { return countIn(whole(f), 11) }

// figures are in the order of what they weigh.
var figures = []figure{
	{label: "took", of: func(m *Measured) float64 { return m.Totals.Elapsed.Seconds() }, less: true, total: true, show: func(f float64) string {
		return widget.Clock(min(time.Duration(f*float64(time.Second)), longest))
	}},
	{label: "accepted", of: count(func(r *storage.Run) int64 { return r.Accepted }), show: shownCount, more: true, total: true},
	{label: "per minute", of: func(m *Measured) float64 { return perMinute(&m.Run) }, show: rate, more: true},
	{label: "requests", of: count(func(r *storage.Run) int64 { return r.Totals.Requests }), show: shownCount, less: true, total: true},
	{label: "429", of: func(m *Measured) float64 { return share429(&m.Run) }, show: tenths, less: true},
	{label: "  account", of: count(func(r *storage.Run) int64 { return r.Totals.Account }), show: shownCount, part: true},
	{label: "  rate", of: count(func(r *storage.Run) int64 { return r.Totals.Rate }), show: shownCount, part: true},
	{label: "  pending", of: count(func(r *storage.Run) int64 { return r.Totals.PendingJobs }), show: shownCount, part: true},
	{label: "  target", of: count(func(r *storage.Run) int64 { return r.Totals.Target }), show: shownCount, part: true},
	{label: "busy", of: count(func(r *storage.Run) int64 { return r.Totals.Busy }), show: shownCount, less: true, total: true, part: true},
	{label: "dead", of: count(func(r *storage.Run) int64 { return r.Dead }), show: shownCount, less: true, total: true},
	{label: "credits", of: func(m *Measured) float64 { return m.Totals.Credits }, show: amount, less: true, total: true},
	{label: "p95", of: func(m *Measured) float64 { return m.P95.Seconds() }, show: shownSeconds, less: true, noise: .15},
	{label: "p50", of: func(m *Measured) float64 { return m.P50.Seconds() }, show: shownSeconds, less: true, noise: .15, part: true},
	{label: "cooldowns", of: count(func(r *storage.Run) int64 { return r.Totals.Cooldowns }), show: shownCount, part: true},
	{label: "most in flight", of: count(func(r *storage.Run) int64 { return r.Totals.MaxInFlight }), show: shownCount, part: true},
}

// steady is what a change may be and still be the same, where too few runs tell how much such runs vary.
const steady = .02

// verdict tells how a figure changed from the older run to the newer one, in per cent of the older or in words, and whether that is
// better. A change within what runs of that name vary by is none.
func verdict(f *figure, newer, older *Measured, alike []storage.Run) (change, word string) {
	a, b := f.of(newer), f.of(older)
	switch {
	case a == b:
		return "", "same"
	case math.IsNaN(a) || math.IsNaN(b):
		return "", ""
	case b == 0:
		change = "new"
	default:
		by := (a - b) / math.Abs(b)
		change = fmt.Sprintf("%+.0f%%", min(by*100, 9999))
		if math.Abs(by) < .1 {
			change = fmt.Sprintf("%+.1f%%", by*100)
		}
		if math.Abs(by) <= max(spread(f, alike), f.noise) {
			return change, "same"
		}
	}
	switch {
	case !f.more && !f.less, f.total && !(ended(newer) && ended(older) && newer.Name == older.Name):
		return change, ""
	case (a > b) == f.more:
		return change, "better"
	}
	return change, "worse"
}

func ended(m *Measured) bool { return m.State == storage.RunFinished }

// leastAlike is from how many runs on their own variation is believed.
const leastAlike = 3

// spread is how much a figure varies between runs of the same name: its standard deviation as a share of its mean.
func spread(f *figure, alike []storage.Run) float64 {
	var sum, squares, n float64
	for i := range alike {
		if alike[i].State != storage.RunFinished {
			continue // a run that broke off says nothing about those that did not
		}
		v := f.of(&Measured{Run: alike[i]})
		if math.IsNaN(v) {
			continue
		}
		sum, squares, n = sum+v, squares+v*v, n+1
	}
	if n < leastAlike || sum == 0 {
		return steady
	}
	mean := sum / n
	return max(math.Sqrt(max(squares/n-mean*mean, 0))/math.Abs(mean), steady)
}

// versus are the runs to compare, while they are those of the question on show; ok: there are two.
func (p *Picture) versus() (a, b *Measured, ok bool) {
	if p.Shown == nil || len(p.Shown.Versus) < 2 {
		return nil, nil, false
	}
	return &p.Shown.Versus[0], &p.Shown.Versus[1], true
}

// noVersus says why there are no two runs to compare.
func (p *Picture) noVersus() string {
	switch {
	case p.Shown == nil:
		return p.noRows("")
	case len(p.Browse.Runs) == 1:
		return "one run is tagged: Space tags the other"
	}
	return "no earlier run has this name: Space tags two to compare"
}

// told are the figures worth telling: parts only where there is room for them, and none that is zero on both sides.
func told(a, b *Measured, parts bool) []*figure {
	var list []*figure
	for i := range figures {
		if f := &figures[i]; (parts || !f.part) && (f.of(a) != 0 || f.of(b) != 0) {
			list = append(list, f)
		}
	}
	return list
}

// versusPane is the comparison, as much as there is room for.
func (p *Picture) versusPane(w, h int) []string {
	inner := widget.Inner(w)
	a, b, ok := p.versus()
	if !ok {
		return widget.Pane{Title: "Comparison"}.Draw(p.Look, w, h, []string{p.Look.Text(themes.Dim, p.noVersus(), inner)})
	}
	var lines []string
	if h < 12 {
		lines = p.versusBrief(a, b, inner, h-2)
	} else {
		lines = p.versusLines(a, b, inner, h-2)
	}
	title := runNumber(a.ID) + " against " + runNumber(b.ID)
	if len(p.Browse.Runs) > 0 {
		title += " (tagged)"
	}
	return widget.Pane{Title: title, Right: "=: all of it"}.Draw(p.Look, w, h, lines)
}

// versusBrief are the figures that weigh most, two in a line.
func (p *Picture) versusBrief(a, b *Measured, inner, rows int) []string {
	cells := told(a, b, false)
	half := inner / 2
	var lines []string
	for i := 0; i < len(cells) && len(lines) < rows; i += 2 {
		l := p.Look.Line(inner)
		for n, f := range cells[i:min(i+2, len(cells))] {
			x, y := f.of(a), f.of(b)
			change, word := verdict(f, a, b, p.Shown.Alike)
			l.To(n*half).Text(themes.Dim, f.label+" ").Text(themes.Text, f.show(x)+" / "+f.show(y)).Gap(1).Text(verdictRole(word), change+" "+word)
		}
		lines = append(lines, l.String())
	}
	return lines
}

func verdictRole(word string) themes.Role {
	switch word {
	case "better":
		return themes.OK
	case "worse":
		return themes.Bad
	}
	return themes.Dim
}

// versusLines are the figures one below the other, the parts where rows are enough for all, and what differs in the settings.
func (p *Picture) versusLines(a, b *Measured, inner, rows int) []string {
	settings := settingsDiffer(a.Settings, b.Settings)
	wide := min((inner-16-18)/2, 14)
	head := p.Look.Line(inner).Gap(15).Strong(true).Fit(themes.Dim, runNumber(a.ID), wide, widget.Right).Fit(themes.Dim, runNumber(b.ID), wide, widget.Right).
		Fit(themes.Dim, "CHANGE", 9, widget.Right)
	lines := []string{head.String()}
	for _, f := range told(a, b, len(told(a, b, true))+2 <= rows) {
		x, y := f.of(a), f.of(b)
		change, word := verdict(f, a, b, p.Shown.Alike)
		lines = append(lines, p.Look.Line(inner).Fit(themes.Text, f.label, 15, widget.Left).Fit(themes.Text, f.show(x), wide, widget.Right).
			Fit(themes.Text, f.show(y), wide, widget.Right).Fit(verdictRole(word), change, 9, widget.Right).Gap(2).Text(verdictRole(word), word).String())
	}
	text := "the settings are the same"
	if n := len(settings); n > 0 {
		text = plural(n, "setting") + " differ: look there first (=)"
	}
	return append(lines, p.Look.Text(themes.Dim, text, inner))
}

// versusScreen is all of the comparison, scrolled.
func (p *Picture) versusScreen(class Class, w, h int) []string {
	inner, rows := w, h-1
	if class != Compact {
		inner, rows = widget.Inner(w), h-2
	}
	all := p.versusAll(inner)
	top := min(max(p.Browse.Line, 0), max(len(all)-rows, 0))
	shown := all[top:min(top+rows, len(all))]
	title := "Comparison"
	if a, b, ok := p.versus(); ok {
		title = runNumber(a.ID) + " against " + runNumber(b.ID)
	}
	if class != Compact {
		return widget.Pane{Title: title, Right: "Esc: back", Focused: true}.Draw(p.Look, w, h, shown)
	}
	out := []string{p.Look.Line(w).Strong(true).Text(themes.Focus, title).Strong(false).Right(themes.Dim, "Esc: back").String()}
	out = append(out, shown...)
	for len(out) < h {
		out = append(out, widget.Blank(w))
	}
	return out
}

// VersusEnd is the furthest that the comparison scrolls.
func (p *Picture) VersusEnd() int {
	class := ClassOf(p.W, p.H)
	if class == Compact {
		return max(len(p.versusAll(p.W))-p.bodyHeight(class)+1, 0)
	}
	return max(len(p.versusAll(widget.Inner(p.W)))-p.bodyHeight(class)+2, 0)
}

func (p *Picture) versusAll(inner int) []string {
	a, b, ok := p.versus()
	if !ok {
		return []string{p.Look.Text(themes.Dim, p.noVersus(), inner)}
	}
	lines := p.versusLines(a, b, inner, math.MaxInt)
	if inner < 60 {
		lines = nil
		for _, f := range told(a, b, true) {
			x, y := f.of(a), f.of(b)
			change, word := verdict(f, a, b, p.Shown.Alike)
			lines = append(lines, p.Look.Line(inner).Fit(themes.Text, f.label, 14, widget.Left).Text(themes.Text, f.show(x)+" / "+f.show(y)).
				Right(verdictRole(word), " "+change).String())
		}
	}
	settings := settingsDiffer(a.Settings, b.Settings)
	lines = append(lines, widget.Blank(inner), p.Look.Line(inner).Strong(true).Text(themes.Dim, "SETTINGS THAT DIFFER").String())
	if len(settings) == 0 {
		lines = append(lines, p.Look.Text(themes.Dim, "none", inner))
	}
	for _, s := range settings {
		lines = append(lines, p.Look.Line(inner).Text(themes.Text, s.name+"  ").Text(themes.Focus, s.a).Text(themes.Dim, " / ").Text(themes.Focus, s.b).String())
	}
	lines = append(lines, widget.Blank(inner), p.Look.Text(themes.Dim, "same: within what the last runs of this name vary by", inner))
	return append(lines, p.Look.Text(themes.Dim, "p95, p50: how long the latest "+widget.Thousands(LatencyOf)+" exchanges took", inner))
}

// LatencyOf is of how many of its latest exchanges a run's latency is told.
const LatencyOf = 2000

// setting is one that two runs have different.
type setting struct{ name, a, b string }

// settingsDiffer are the settings that differ, by name. Where the URLs came from is no setting.
func settingsDiffer(a, b json.RawMessage) []setting {
	x, y := flat(a), flat(b)
	names := slices.Sorted(maps.Keys(x))
	for k := range y {
		if _, both := x[k]; !both {
			names = append(names, k)
		}
	}
	slices.Sort(names)
	var out []setting
	for _, k := range names {
		if x[k] != y[k] {
			out = append(out, setting{name(k), orNone(x[k]), orNone(y[k])})
		}
	}
	return out
}

// Settings is the list of the settings that a run was started with, by name.
func Settings(r *storage.Run) *Choice {
	c := &Choice{Title: "Settings of " + runNumber(r.ID), Empty: "none but the defaults"}
	values := flat(r.Settings)
	for _, k := range slices.Sorted(maps.Keys(values)) {
		c.Items = append(c.Items, name(k)+"  "+values[k])
	}
	return c
}

func orNone(s string) string {
	if s == "" {
		return widget.Unknown
	}
	return s
}

// flat are the values of a JSON object by their paths.
func flat(raw json.RawMessage) map[string]string {
	out := make(map[string]string)
	var all map[string]any
	if json.Unmarshal(raw, &all) != nil {
		return out // settings of another version: nothing is known of them
	}
	delete(all, "inputs")
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, one := range v {
				walk(path+"."+k, one)
			}
		case []any:
			parts := make([]string, len(v))
			for i, one := range v {
				parts[i] = fmt.Sprint(one)
			}
			out[path] = text(strings.Join(parts, " "))
		case nil:
		default:
			out[path] = text(fmt.Sprint(v))
		}
	}
	for k, v := range all {
		if k == "flags" { // they are named as one types them
			if flags, ok := v.(map[string]any); ok {
				for name, texts := range flags {
					walk("--"+name, texts)
				}
				continue
			}
		}
		walk(k, v)
	}
	return out
}
