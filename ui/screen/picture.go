package screen

import (
	"time"

	"github.com/charmbracelet/x/ansi"

	"dev.scrapetop/themes"
	"dev.scrapetop/ui/widget"
)

// Tab is one of the screens.
type Tab uint8

// The screens, in the order of their numbers.
const (
	Overview Tab = iota
	Budgets
	Tasks
	Letters // the dead ones
	Events
	History
	Results  // of the run that is looked at; reached from History
	Page     // one result, reached from Results
	TabCount // how many there are
)

// OfRows tells that a screen shows rows of storage.
func (t Tab) OfRows() bool { return t >= Tasks }

// Class is how much of a screen fits.
type Class uint8

// The classes, and the least sizes that they need.
const (
	TooSmall Class = iota
	Compact        // 40x10
	Standard       // 80x24
	Full           // 120x36
)

// ClassOf is the class of a terminal of w by h cells.
func ClassOf(w, h int) Class {
	switch {
	case w >= 120 && h >= 36:
		return Full
	case w >= 80 && h >= 24:
		return Standard
	case w >= 40 && h >= 10:
		return Compact
	}
	return TooSmall
}

// Message is the line above the keys: a toast, an offer to undo, a prompt.
type Message struct {
	Role themes.Role
	Text string // printable; empty: no message
	Hint string // what to press, at the right
	// Undo is the seconds in which Text can be undone; zero: it cannot. UndoOf is how many there were.
	Undo, UndoOf int
	// Prompt is a text field: Text is its name, Input what stands before the cursor, Behind what stands after it.
	Prompt bool
	Behind string
	Input  string
}

// Picture is everything a screen is drawn from. Drawing changes nothing in it.
type Picture struct {
	Look *widget.Look
	Data *Data
	W, H int
	// Now is the clock of countdowns and ages. It stands still while the picture is frozen.
	Now time.Time
	Tab Tab
	// List is what the user chose on the table of domains; both screens draw its cursor.
	List *List
	// Browse is what the user chose on the screens of rows, and Shown the answer that they show; nil: none has come.
	Browse *Browse
	Shown  *Rows
	// Range is the length of the chart asked for; zero: the whole run.
	Range time.Duration
	// ChartTop is the top of the chart's axis, kept between frames so that it does not jump (widget.RoundMax).
	ChartTop float64
	// Frozen is the instant of a frozen picture, zero while it is live; FrozenFor is how long it has been.
	Frozen    time.Time
	FrozenFor time.Duration
	// Alerts is the number of alerts to show in the tab line.
	Alerts  int
	Message Message
	// Wishes are acts that were asked for and not yet seen in a frame, by domain: "pausing...". The key "" is the run's.
	Wishes map[string]string
	// Footer draws the last line: the keys that matter here.
	Footer func(width int) string
	// Writing is how far an export came that is written in the background; empty: none is.
	Writing string
	// Starts are the keys that start a run of what is named, and the demo, where no run is loaded; empty: nothing can be started here.
	Starts [2]string
	// Runs is the key of the history.
	Runs string
	// Watching: another process drives the run that Data is about.
	Watching bool
	// Looking: Data is about a run that is only looked at, and nobody drives here.
	Looking bool
	// Resume is the command that goes on with the run once it ended unfinished; empty: nothing of it is kept.
	Resume string
	// Over is drawn over the screen's body: help, a dialog, a list to choose from.
	Over Overlay
}

// Overlay is drawn over the body of a screen, in a box of its own.
type Overlay interface {
	// Box returns the lines of the box for a body of w by h cells: all as wide as the first, at most w wide and h many.
	Box(look *widget.Look, w, h int) []string
}

// Draw returns the whole screen: exactly H lines of exactly W cells.
func (p *Picture) Draw() []string {
	if p.W <= 0 || p.H <= 0 {
		return nil
	}
	lines := make([]string, 0, p.H)
	class := ClassOf(p.W, p.H)
	if class == TooSmall {
		lines = p.tooSmall(lines)
	} else {
		lines = append(lines, p.header(class))
		if class != Compact {
			lines = append(lines, p.tabs(class))
			if text, role := p.banner(); text != "" {
				lines = append(lines, p.Look.Line(p.W).Gap(1).Strong(true).Text(role, text).String())
			}
		}
		top, body := len(lines), p.bodyHeight(class)
		lines = append(lines, p.body(class, p.W, body)...)
		lines = append(lines, p.message(class), p.footer())
		if p.Over != nil {
			if box := p.Over.Box(p.Look, p.W, body); len(box) > 0 {
				x, y := widget.Middle(p.W, widget.Width(box[0])), top+widget.Middle(body, len(box))
				lines = append(widget.Overlay(lines[:top+body], box, x, y, p.W), lines[top+body:]...)
			}
		}
	}
	if p.Look.Glyphs.ASCII {
		for i := range lines {
			lines[i] = widget.ASCII(lines[i])
		}
	}
	return lines
}

// bodyHeight is what header, tabs, banner, message and footer leave.
func (p *Picture) bodyHeight(class Class) int {
	if class == Compact {
		return p.H - 3
	}
	if text, _ := p.banner(); text != "" {
		return p.H - 5
	}
	return p.H - 4
}

// Rows is how many rows are in sight of the table that the keys move over: what a page is.
func (p *Picture) Rows() int {
	class := ClassOf(p.W, p.H)
	body := p.bodyHeight(class)
	switch {
	case class == TooSmall:
		return 1
	case p.List.Shared(p.Tab):
		return max(sharedShare(class, body, !p.List.NoDetail).table, 1)
	case p.Tab == Events:
		return max(p.eventsShare(class, body).table, 1)
	case p.Tab == History:
		return max(p.historyShare(class, body).table, 1)
	case p.Tab == Results:
		return max(p.resultsShare(class, body).table, 1)
	case p.Tab == Page:
		return max(p.pageShare(class, body).table, 1)
	case p.Tab == Letters && p.Browse.Letters:
		return max(p.lettersShare(class, body).letters, 1)
	case p.Tab == Letters:
		return max(p.lettersShare(class, body).groups, 1)
	case p.Tab == Tasks:
		return max(p.tasksShare(class, body).table, 1)
	case p.Tab == Budgets:
		detail := !p.List.NoDetail && !p.List.Zoomed
		return max(domainShare(class, body, detail, len(p.told()) > 0).table, 1)
	case class == Full && p.List.Zoomed:
		return max(body-2, 1)
	case p.List.OnBudgets(p.Data, p.Tab):
		return max(shareFull(body).cool-2, 1)
	case class == Full:
		return max(shareFull(body).flight-2, 1)
	case class == Standard:
		flight, _ := p.shareStandard(body)
		return max(flight-2, 1)
	}
	return max(body, 1)
}

func (p *Picture) body(class Class, w, h int) []string {
	switch {
	case p.Tab == History:
		return p.history(class, w, h)
	case p.Data.Frame.Run.ID == 0 && !p.Data.Frame.Live:
		return p.noRun(w, h)
	case p.List.Shared(p.Tab):
		return p.shared(class, w, h)
	case p.Tab == Budgets:
		return p.domains(class, w, h)
	case p.Tab == Tasks:
		return p.tasks(class, w, h)
	case p.Tab == Letters:
		return p.letters(class, w, h)
	case p.Tab == Events:
		return p.eventLog(class, w, h)
	case p.Tab == Results:
		return p.results(class, w, h)
	case p.Tab == Page:
		return p.page(class, w, h)
	}
	return p.overview(class, w, h)
}

// tooSmall says which size is needed; it never refuses to quit.
func (p *Picture) tooSmall(lines []string) []string {
	text := "scrapetop needs 40x10, this is " + widget.Thousands(int64(p.W)) + "x" + widget.Thousands(int64(p.H)) + ". q quits."
	if widget.Width(text) > p.W {
		text = "needs 40x10. q quits."
	}
	lines = append(lines, p.Look.Line(p.W).Text(themes.Warn, text).String())
	for len(lines) < p.H {
		lines = append(lines, widget.Blank(p.W))
	}
	return lines
}

func (p *Picture) message(class Class) string {
	m := p.Message
	switch {
	case m.Prompt:
		l := p.Look.Line(p.W).Gap(1).Strong(true).Text(themes.Focus, m.Text+" ").Strong(false)
		// The end of a long input stays in sight: that is where the typing is.
		room := l.Room() - 1
		if w := widget.Width(m.Input); w > room {
			m.Input = ansi.TruncateLeft(m.Input, w-room, "")
		}
		return l.Text(themes.Text, m.Input).Text(themes.Focus, "_").Text(themes.Text, widget.Truncate(m.Behind, max(room-widget.Width(m.Input), 0))).Right(themes.Dim, m.Hint).String()
	case m.Undo > 0:
		return widget.Undo(p.Look, p.W, m.Text, "u", m.Undo, m.UndoOf)
	case m.Text != "":
		return widget.Toast(p.Look, p.W, m.Role, m.Text, m.Hint)
	}
	if class == Compact {
		if text, role := p.banner(); text != "" {
			return p.Look.Text(role, text, p.W)
		}
	}
	return p.Look.Line(p.W).Gap(1).Text(themes.Dim, p.hint()).String()
}

func (p *Picture) footer() string {
	if p.Footer == nil {
		return widget.Blank(p.W)
	}
	return widget.Fit(p.Footer(p.W), p.W, widget.Left)
}

// hint is said when nothing else is: what the table's marks mean, what the tags are for.
func (p *Picture) hint() string {
	switch {
	case p.Writing != "":
		return p.Writing
	case p.List.Held && p.Data.Frame.Domains.Matched > 0:
		return "order held while you move"
	case len(p.List.Tags) > 0 && !p.Tab.OfRows():
		return widget.Thousands(int64(len(p.List.Tags))) + " tagged: p pauses or resumes them, [ ] change their limits, U clears the tags"
	}
	if e := &p.Data.Frame.ETA; e.LeftOut > 0 && p.Data.Frame.Live {
		return "ETA leaves out what is paused or blocked: " + widget.Thousands(e.LeftOut) + " waiting in " +
			plural(e.LeftOutDomains, "domain")
	}
	return ""
}
