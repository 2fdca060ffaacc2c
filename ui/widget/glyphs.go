package widget

import (
	"strings"

	"dev.scrapetop/themes"
)

// Mark is how a state is shown: a glyph of one cell, a word and the role that repeats both as colour.
type Mark struct {
	Glyph string
	Word  string
	Role  themes.Role
}

// Glyphs is a set of signs, each exactly one cell wide. There are two: Unicode, and one that any terminal and locale
// can show.
type Glyphs struct {
	ASCII bool

	Cursor, CursorAway string // the cursor's row; that of a pane without focus
	Tag                string
	Look               string // needs a look
	Stale              string // stands before the age of an old value
	Asc, Desc          string // direction of sorting
	TabLeft, TabRight  string // around the screen on show
	Cut                string // ends a text that was too long

	Used, Free    string // gauges
	Lowered, Lost string // where a limit was lowered to; what was taken away
	Forecast      string // where a run is expected to end
	Passed        string // passed part of a wait
	Zero          string // an empty bin
	Wait, Wire    string // of an attempt: the time before it, the time until its answer
	Levels        [8]string

	Axis, AxisTick, AxisCorner, AxisLine string
	Rule                                 string
	Box, Heavy                           Box

	states map[string]Mark
}

// Box is the signs of a border.
type Box struct{ TopLeft, Top, TopRight, Left, Right, BottomLeft, Bottom, BottomRight string }

var unicodeGlyphs = Glyphs{
	Cursor: "▶", CursorAway: "▷", Tag: "*", Look: "!", Stale: "~", Asc: "↑", Desc: "↓",
	TabLeft: "▌", TabRight: "▐", Cut: "…",
	Used: "█", Free: "░", Lowered: "▏", Lost: "·", Forecast: "┊", Passed: "▓", Zero: "·", Wait: "┄", Wire: "■",
	Levels: [8]string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
	Axis:   "│", AxisTick: "┤", AxisCorner: "└", AxisLine: "─", Rule: "─",
	Box:   Box{"╭", "─", "╮", "│", "│", "╰", "─", "╯"},
	Heavy: Box{"┏", "━", "┓", "┃", "┃", "┗", "━", "┛"},
	states: map[string]Mark{
		"run": {"●", "RUN", themes.OK}, "slow": {"◐", "SLOW", themes.Warn}, "cool": {"◔", "COOL", themes.Cool},
		"pause": {"‖", "PAUSE", themes.Pause}, "block": {"×", "BLOCK", themes.Bad}, "done": {"✓", "DONE", themes.OK},
		"idle": {"·", "IDLE", themes.Dim},

		"running": {"●", "RUNNING", themes.OK}, "waiting": {"◔", "WAITING", themes.Cool}, "locked out": {"×", "LOCKED OUT", themes.Bad},
		"paused": {"‖", "PAUSED", themes.Pause}, "draining": {"◔", "STOPPING", themes.Warn},
		"finished": {"✓", "DONE", themes.OK}, "stopped": {"‖", "STOPPED", themes.Pause},
		"failed": {"×", "FAILED", themes.Bad}, "interrupted": {"×", "INTERRUPTED", themes.Warn},
		"frozen": {"‖", "FROZEN", themes.Focus},

		"pending": {"○", "PENDING", themes.Dim}, "held": {"‖", "HELD", themes.Cool}, "delayed": {"◔", "DELAYED", themes.Cool},
		"in_flight": {"●", "FLIGHT", themes.OK}, "remote": {"◇", "REMOTE", themes.OK}, "accepted": {"✓", "ACCEPTED", themes.OK},
		"dead": {"×", "DEAD", themes.Bad}, "cancelled": {"‖", "CANCELLED", themes.Pause},
	},
}

var asciiGlyphs = Glyphs{
	ASCII:  true,
	Cursor: ">", CursorAway: "-", Tag: "@", Look: "!", Stale: "~", Asc: "^", Desc: "v",
	TabLeft: "[", TabRight: "]", Cut: "~",
	Used: "#", Free: "-", Lowered: "|", Lost: ".", Forecast: ":", Passed: "=", Zero: ".", Wait: "-", Wire: "#",
	Levels: [8]string{":", "-", "=", "+", "*", "%", "#", "@"},
	Axis:   "|", AxisTick: "+", AxisCorner: "+", AxisLine: "-", Rule: "-",
	Box:   Box{"+", "-", "+", "|", "|", "+", "-", "+"},
	Heavy: Box{"#", "=", "#", "|", "|", "#", "=", "#"},
	states: map[string]Mark{
		"run": {"*", "RUN", themes.OK}, "slow": {"/", "SLOW", themes.Warn}, "cool": {"%", "COOL", themes.Cool},
		"pause": {"=", "PAUSE", themes.Pause}, "block": {"x", "BLOCK", themes.Bad}, "done": {"+", "DONE", themes.OK},
		"idle": {".", "IDLE", themes.Dim},

		"running": {"*", "RUNNING", themes.OK}, "waiting": {"%", "WAITING", themes.Cool}, "locked out": {"x", "LOCKED OUT", themes.Bad},
		"paused": {"=", "PAUSED", themes.Pause}, "draining": {"%", "STOPPING", themes.Warn},
		"finished": {"+", "DONE", themes.OK}, "stopped": {"=", "STOPPED", themes.Pause},
		"failed": {"x", "FAILED", themes.Bad}, "interrupted": {"x", "INTERRUPTED", themes.Warn},
		"frozen": {"=", "FROZEN", themes.Focus},

		"pending": {"o", "PENDING", themes.Dim}, "held": {"=", "HELD", themes.Cool}, "delayed": {"%", "DELAYED", themes.Cool},
		"in_flight": {"*", "FLIGHT", themes.OK}, "remote": {"^", "REMOTE", themes.OK}, "accepted": {"+", "ACCEPTED", themes.OK},
		"dead": {"x", "DEAD", themes.Bad}, "cancelled": {"=", "CANCELLED", themes.Pause},
	},
}

// State returns the mark of a state by its word: those of a domain (cool, slow, block, pause, run, idle, done), those of
// a run (running, waiting, no key, paused, draining, finished, stopped, failed, interrupted), those of a task, and frozen. An unknown word is
// shown as it is, in capitals, after a question mark.
func (g *Glyphs) State(word string) Mark {
	if m, ok := g.states[word]; ok {
		return m
	}
	return Mark{Glyph: "?", Word: strings.ToUpper(word), Role: themes.Text}
}

// Legend is the meaning of the signs for the help, in the order of attention.
func (g *Glyphs) Legend() (states []Mark, signs []Mark) {
	for _, l := range []struct{ state, word string }{
		{"run", "run"}, {"slow", "slow: limit lowered"}, {"cool", "cool: waits"}, {"pause", "pause: by you"},
		{"block", "block: refused"}, {"done", "done"}, {"idle", "idle"},
	} {
		m := g.State(l.state)
		m.Word = l.word
		states = append(states, m)
	}
	signs = []Mark{
		{g.Used, "used", themes.OK}, {g.Free, "free", themes.Dim}, {g.Lowered, "lowered limit", themes.Warn},
		{g.Forecast, "forecast at the end", themes.Text}, {g.Passed, "time passed", themes.Cool},
		{g.Stale, "old value", themes.Dim}, {g.Look, "needs a look", themes.Warn}, {g.Tag, "tagged", themes.Focus},
	}
	return states, signs
}
