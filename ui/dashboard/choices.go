package dashboard

import (
	"cmp"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"dev.scrapetop/engine/view"
	"dev.scrapetop/themes"
	"dev.scrapetop/ui/screen"
	"dev.scrapetop/ui/widget"
)

// ranges are the lengths of the chart to choose from; zero is the whole run.
var ranges = []time.Duration{5 * time.Minute, 15 * time.Minute, 50 * time.Minute, 0}

func (m *Model) setRange(by int) {
	i := slices.Index(ranges, m.chart)
	next := min(max(i+by, 0), len(ranges)-1)
	if next == i {
		m.say(themes.Dim, "there is no other range on that side", "")
		return
	}
	m.chart, m.chartTop = ranges[next], 0
	m.refresh()
}

func (m *Model) turnTheme(by int) {
	next := (max(m.theme, 0) + by + len(m.themes)) % len(m.themes)
	if m.theme < 0 && by > 0 {
		next = 0 // the theme of a file stands before the first
	}
	m.theme = next // of one that cannot be loaded the fault is said, and the next press goes on from there
	m.toast, m.turned = toast{}, true
	if m.wear(m.themes[next]) && m.toast.text == "" {
		m.say(themes.Text, "theme "+widget.Clean(m.themes[next], 60), "t: next")
	}
}

func (m *Model) chooseSort() {
	c := &screen.Choice{Title: "Sort by"}
	for _, s := range screen.Sorts {
		c.Items = append(c.Items, string(s))
	}
	c.Cursor = max(slices.Index(screen.Sorts, m.sorted()), 0)
	m.openMenu(c, func(i int) {
		m.list.Sort = screen.Sorts[i]
		m.reorder()
	})
}

func (m *Model) sorted() view.Sort {
	if m.list.Sort == "" {
		return view.SortAttention
	}
	return m.list.Sort
}

// reorder takes a new order at once, even while the old one was held.
func (m *Model) reorder() {
	m.holdUntil = time.Time{}
	m.refresh()
}

// showAlerts opens the list of alerts, newest first.
func (m *Model) showAlerts() {
	c := &screen.Choice{Title: "Alerts", Empty: "no alerts"}
	alerts := slices.SortedFunc(slices.Values(m.data.Frame.Alerts), func(a, b view.Alert) int { return cmp.Compare(b.Seq, a.Seq) })
	for _, a := range alerts {
		c.Items = append(c.Items, a.At.In(m.now.Location()).Format(time.TimeOnly)+"  "+a.Text)
		m.read = max(m.read, a.Seq)
	}
	m.openMenu(c, func(i int) {
		if alerts[i].Do != "" {
			m.say(themes.Warn, alerts[i].Do, "")
		}
	})
}

// endWait puts a question before an act on a wait; without one it acts at once.
func (m *Model) endWait(act screen.Act, q *screen.Question) {
	if q == nil || act.Why != "" {
		m.act(act)
		return
	}
	m.openQuestion(&question{
		Question: q, letters: map[string]int{"e": 1},
		presses: []func() tea.Cmd{
			func() tea.Cmd { return nil },
			func() tea.Cmd { m.act(act); return m.hurry() },
		},
	})
}
