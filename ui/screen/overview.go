package screen

import (
	"strings"
)

// overview answers the five questions of the first screen: is it going, what holds it back, who refuses and at which
// layer, will it end well, what must be done.
func (p *Picture) overview(class Class, w, h int) []string {
	switch class {
	case Full:
		return p.overviewFull(w, h)
	case Standard:
		return p.overviewStandard(w, h)
	}
	return p.overviewCompact(w, h)
}

// overviewPanes is how the height of a full Overview is shared: rows of panes from top to bottom. The chart and the
// refusals have what they need; what is over goes to domains, then events.
type overviewPanes struct{ chart, flight, cool, events int }

func shareFull(h int) overviewPanes {
	s := overviewPanes{chart: 9, flight: 10, cool: 7, events: 6}
	extra := h - 32
	s.flight += extra / 2
	s.cool += extra / 4
	s.events = h - s.chart - s.flight - s.cool
	return s
}

func (p *Picture) overviewFull(w, h int) []string {
	if p.List.Zoomed {
		return p.zoomed(w, h)
	}
	s := shareFull(h)
	left := w / 2
	right := w - left
	lines := beside(p.chartPane(left, s.chart), p.fleetPane(right, s.chart))
	lines = append(lines, beside(p.flightPane(left, s.flight), p.layersPane(right, s.flight))...)
	caps := p.capsWidth()
	mid := (w - caps) / 2
	lines = append(lines, beside(p.cooldownsPane(w-caps-mid, s.cool), p.capacityPane(mid, s.cool), p.capsPane(caps, s.cool))...)
	return append(lines, p.eventsPane(w, s.events)...)
}

// The panes of the Overview, in the order in which Tab visits them.
const (
	paneFlight = iota
	paneChart
	paneLayers
	paneCooldowns
	paneCapacity
	paneCaps
	paneEvents
	overviewPaneCount
)

// Panes is how many panes can have the focus on a screen.
func (s *List) Panes(tab Tab, w, h int) int {
	switch class := ClassOf(w, h); {
	case s.Shared(tab):
		return 1
	case class == Full && tab == Budgets:
		return 3
	case class == Full:
		return overviewPaneCount
	}
	return 1
}

// OnEvents tells that the pane of the latest events has the focus.
func (s *List) OnEvents(tab Tab) bool { return tab == Overview && s.Pane == paneEvents }

// zoomed is the pane in focus on the whole screen.
func (p *Picture) zoomed(w, h int) []string {
	switch p.List.Pane {
	case paneChart:
		return p.chartPane(w, h)
	case paneLayers:
		return p.layersPane(w, h)
	case paneCooldowns:
		return p.cooldownsPane(w, h)
	case paneCapacity:
		return p.capacityPane(w, h)
	case paneCaps:
		return p.capsPane(w, h)
	case paneEvents:
		return p.eventsPane(w, h)
	}
	return p.flightPane(w, h)
}

func (p *Picture) overviewStandard(w, h int) []string {
	left := w*42/80 + (w-80)/8
	lines := p.fleetStandard(w, 6)
	flight, capacity := p.shareStandard(h)
	lines = append(lines, beside(p.mixedPane(left, flight), p.layersStandard(w-left, flight))...)
	lines = append(lines, p.capacityStandard(w, capacity)...)
	return append(lines, p.eventsPane(w, h-6-flight-capacity)...)
}

// shareStandard is the height of the panes in the middle of 80x24, half of what is over, and of the capacities: two lines
// where there are several keys, accounts or tenants.
func (p *Picture) shareStandard(h int) (flight, capacity int) {
	flight, capacity = 8+max(h-20, 0)/2, 3
	if len(p.told()) > 1 {
		flight, capacity = flight-1, 4
	}
	return flight, capacity
}

// beside joins panes of equal height.
func beside(panes ...[]string) []string {
	out := make([]string, len(panes[0]))
	row := make([]string, len(panes))
	for i := range out {
		for n, pane := range panes {
			row[n] = pane[i]
		}
		out[i] = strings.Join(row, "")
	}
	return out
}
