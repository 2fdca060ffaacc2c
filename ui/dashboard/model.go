package dashboard

import (
	"cmp"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"dev.scrapetop/engine"
	"dev.scrapetop/engine/view"
	"dev.scrapetop/storage"
	"dev.scrapetop/themes"
	"dev.scrapetop/ui/keys"
	"dev.scrapetop/ui/screen"
	"dev.scrapetop/ui/widget"
)

// Source is what the dashboard shows and drives. Both methods are called from the program's loop and must not block.
type Source interface {
	// Frame answers a screen's question from the latest picture; nil is an empty one.
	Frame(view.Query) *view.Frame
	// Do hands over a command, which a later frame confirms.
	Do(engine.Command)
}

// Options are what the command line knows. The zero Options run the default theme on stdin and stdout.
type Options struct {
	Theme   string // the name of one of Themes or the path of a theme file; empty: the default
	Themes  themes.Library
	Keys    *keys.Map // the keys in force; nil: the default ones
	NoColor bool      // as --no-color; NO_COLOR and TERM are read from the environment
	ASCII   bool      // ASCII signs only
	FPS     int       // frames a second, 1 to 30; zero: 10 after a key, then 5, over SSH 4
	Output  *os.File
	Input   *os.File // the terminal's keys; the caller opens it when stdin holds the run's input

	// Interrupts brings one value for each SIGINT or SIGTERM; each is what Ctrl-C is: drain first, then stop at once.
	Interrupts <-chan struct{}
	// Ended tells whether what the dashboard drives is over, so that leaving loses nothing. Nil: a frame's Live tells.
	Ended func() bool
	// Passing: nothing of what is driven stays when it ends, so that there is nothing to resume.
	Passing bool
	// Resume is the command that goes on with the run once it ended unfinished; empty: there is none.
	Resume string
	// Crash receives panics, those of the dashboard too. Nil: the dashboard has its own.
	Crash *Crash
	// Memory is the file that keeps how the user leaves the picture, for the next start; empty: nothing is kept.
	Memory string
	// Tell says a line when the terminal is the shell's again; nil: nobody listens.
	Tell func(line string)
	// Watching: the run is not driven here, so that of all acts only pauses reach whoever drives it.
	Watching bool
	// Open is the screen that is shown first, whichever was left; the zero one: the one that was left.
	Open screen.Tab
	// Rows reads what is too much for a frame; nil: the screens of rows stay empty.
	Rows Reader
	// Acts change single tasks; nil: nothing can.
	Acts TaskActs
	// Adder adds URLs to the run that is going; nil: nothing can.
	Adder Adder
	// Exporter writes files; nil: nothing can.
	Exporter Exporter
	// Again is told which run is to be started again, or to go on; the program ends then, and the caller does it. Nil: nobody can.
	Again func(Again)
	// Opens tells why no run can be started of what was typed, URLs or a file; nil: Again may be told it. It is called off the
	// program's loop. Nil: nothing can be started where no run is loaded.
	Opens func(typed string) error
	// Getenv reads the environment; nil: the process's.
	Getenv func(string) string
	// Now is the clock of what is not on the frame clock; nil: the system's.
	Now func() time.Time
}

// Model is the root model. It is made by New and driven by a Bubble Tea program, or by a test.
type Model struct {
	source Source
	opt    Options
	crash  *Crash

	themes  []string
	theme   int
	profile themes.Profile
	look    *widget.Look

	w, h  int
	now   time.Time
	start time.Time

	chain     int // number of the tick chain in force; ticks of older ones are dropped
	pace      time.Duration
	blurred   bool
	suspended bool
	changedAt time.Time // of the last frame that differed
	touchedAt time.Time // of the last key

	seq       uint64 // of the frame shown
	asked     view.Query
	fresh     bool // a frame was taken
	data      *screen.Data
	live      bool // the run that is driven goes on, whichever is shown
	chosen    bool // the user moved to the selected row, or acted on it, since the first line was asked for
	index     int  // position of the selected row when it was last seen
	list      screen.List
	tab, last screen.Tab
	chart     time.Duration
	chartTop  float64
	frozenAt  time.Time
	holdUntil time.Time

	browse    screen.Browse
	shownRows *screen.Rows // nil: none has come for what is on show
	asking    asking
	later     tea.Cmd      // an act on storage that the message in hand asked for
	looked    *storage.Run // the run looked at, which nobody drives here; nil: the one that is driven
	export    *export      // nil: none is asked for and none is written

	add    *addition // the dialog that asks for URLs; nil: closed
	adding int       // inputs that are being added

	over    screen.Overlay
	ask     *question
	menu    *menu
	reading *reading // the diagnosis; nil: closed
	help    *screen.Help
	palette *palette
	command string // the last one of the palette
	kept    remembered
	turned  bool // the user chose the theme
	prompt  *prompt
	pressed tea.KeyMsg // the key that is being handled
	toast   toast
	undo    *undo
	wishes  map[string]wish
	yours   map[string]int // limits the user set, by domain
	seen    uint64         // last alert toasted
	read    uint64         // last alert looked at in the list
	leaving leaving

	// tick, copy, native and visit are the edges, replaced in tests.
	tick func(chain int, every time.Duration) tea.Cmd
	copy func(text string) tea.Cmd
	// native gives a copy to programs and names those that took it.
	native func(text string) []string
	visit  func(command []string, address string, after <-chan time.Time, guard func()) openedMsg

	rev    uint64 // grows with every change that is not in the frame
	drawn  string
	key    drawKey
	frames uint64 // pictures drawn, for tests
}

// leaving is how far the user is on the way out.
type leaving uint8

const (
	staying   leaving = iota
	draining          // the program ends when the drain did
	abandoned         // likewise, at once
)

// drawKey decides whether the picture must be drawn again.
type drawKey struct {
	seq    uint64
	rev    uint64
	second int64
	w, h   int
	look   *widget.Look
}

type (
	frameMsg struct {
		chain int
		now   time.Time
	}
	interruptMsg struct{}
	copiedMsg    struct {
		text, fault string
		took        []string // programs that have it for certain
	}
)

// New makes the model. It touches no terminal.
func New(source Source, opt Options) *Model {
	if opt.Getenv == nil {
		opt.Getenv = os.Getenv
	}
	if opt.Keys == nil {
		opt.Keys = keys.Default()
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Crash == nil {
		opt.Crash = NewCrash(nil)
	}
	m := &Model{
		source: source, opt: opt, crash: opt.Crash, themes: opt.Themes.Names(), now: opt.Now(), index: -1,
		wishes: make(map[string]wish), yours: make(map[string]int), data: screen.Take(nil),
	}
	m.start, m.changedAt, m.touchedAt = m.now, m.now, m.now
	m.browse.Follow()
	m.list.Tags = make(map[string]view.DomainRow)
	m.profile = themes.Detect(opt.Getenv)
	if opt.NoColor {
		m.profile = themes.NoColor
	}
	m.opt.ASCII = opt.ASCII || !unicodeLocale(opt.Getenv)
	m.tick = func(chain int, every time.Duration) tea.Cmd {
		return tea.Every(every, func(now time.Time) tea.Msg { return frameMsg{chain, now} })
	}
	m.copy = func(string) tea.Cmd { return nil }
	m.native = func(string) []string { return nil }
	m.visit = visit
	m.recall()
	if opt.Open != screen.Overview {
		m.tab = opt.Open
	}
	if !m.wear(cmp.Or(m.opt.Theme, themes.Default)) {
		theme, err := themes.Load(themes.Default)
		if err != nil {
			panic(err) // the default is part of the program
		}
		m.put(theme)
	}
	return m
}

// unicodeLocale tells whether the locale can show our signs. POSIX looks at LC_ALL, LC_CTYPE and LANG in this order and
// takes the first that is set; where none is, the terminal is taken to be a modern one.
func unicodeLocale(getenv func(string) string) bool {
	for _, key := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(getenv(key)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return true
}

// wear loads a theme; false: it cannot be loaded, which is said.
func (m *Model) wear(name string) bool {
	theme, err := m.opt.Themes.Load(name)
	if err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		m.say(themes.Warn, widget.Clean(first, 400), "")
		return false
	}
	if len(theme.Notes) > 0 {
		m.say(themes.Warn, "theme "+widget.Clean(theme.Name+": "+theme.Notes[0], 400), "")
	}
	m.put(theme)
	return true
}

func (m *Model) put(theme themes.Theme) {
	m.theme = slices.Index(m.themes, theme.Name)
	m.look = widget.NewLook(theme.Palette(m.profile), m.opt.ASCII)
	m.changed()
}

// changed notes that the picture differs though the frame does not.
func (m *Model) changed() { m.rev++ }

// Init starts the frame clock.
func (m *Model) Init() tea.Cmd { return m.guard(m.restart()) }

// Update handles a message. A panic in it ends the program after the terminal was restored.
func (m *Model) Update(msg tea.Msg) (model tea.Model, cmd tea.Cmd) {
	defer func() {
		if r := recover(); r != nil {
			m.crash.report(r, debug.Stack())
			model, cmd = m, tea.Quit
		}
	}()
	return m, m.guard(m.handle(msg))
}

// guard makes a command's panic one of ours: Bubble Tea would print it into the alternate screen.
func (m *Model) guard(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		defer m.crash.Guard()
		return cmd()
	}
}

func (m *Model) handle(msg tea.Msg) tea.Cmd {
	cmd := m.heed(msg)
	act := m.later
	m.later = nil
	return together(cmd, act, m.question())
}

func (m *Model) heed(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case rowsMsg:
		m.answered(msg)
	case actedMsg:
		m.acted(msg)
	case openedInputMsg:
		return m.openedInput(msg)
	case addedMsg:
		m.added(msg)
	case exportedMsg:
		m.exported(msg)
	case frameMsg:
		return m.frame(msg)
	case tea.WindowSizeMsg:
		if msg.Width != m.w || msg.Height != m.h {
			m.w, m.h = max(msg.Width, 0), max(msg.Height, 0)
			if m.panes() < 2 {
				m.list.Pane, m.list.Zoomed = 0, false
			}
			m.changed()
			m.refresh()
			m.wantRows(false)
		}
	case tea.KeyMsg:
		m.now = m.opt.Now()
		m.touchedAt = m.now
		return together(m.keys(msg), m.hurry())
	case tea.FocusMsg:
		m.blurred = false
		return m.restart()
	case tea.BlurMsg:
		m.blurred = true
	case tea.ResumeMsg:
		m.suspended = false
		m.changed()
		return tea.Batch(tea.WindowSize(), m.restart())
	case interruptMsg:
		m.now = m.opt.Now()
		return m.interrupt()
	case copiedMsg:
		m.copied(msg)
	case openedMsg:
		if msg.fault != "" {
			m.say(themes.Warn, widget.Clean(msg.fault, 200), "")
		} else {
			m.say(themes.Text, "opened "+widget.Clean(msg.address, 200), "")
		}
	}
	return nil
}

// View returns the picture; one that did not change is returned as it is.
func (m *Model) View() (view string) {
	defer func() {
		if r := recover(); r != nil {
			m.crash.report(r, debug.Stack())
			view = ""
		}
	}()
	key := m.drawKey()
	if key != m.key || m.frames == 0 {
		m.drawn, m.key = strings.Join(m.picture().Draw(), "\n"), key
		m.frames++
	}
	return m.drawn
}

func (m *Model) drawKey() drawKey {
	k := drawKey{seq: m.seq, rev: m.rev, w: m.w, h: m.h, look: m.look}
	if m.moves() {
		k.second = m.now.Unix()
	}
	return k
}

// moves tells whether the clock is part of the picture.
func (m *Model) moves() bool {
	return m.data.Frame.Live || !m.frozenAt.IsZero() || m.undo != nil || m.export.writes()
}

// clock is the time that the picture shows: it stands still while frozen, and when no run is live nothing ages.
func (m *Model) clock() time.Time {
	switch {
	case !m.frozenAt.IsZero():
		return m.frozenAt
	case !m.data.Frame.Live && !m.data.Frame.At.IsZero():
		return m.data.Frame.At
	}
	return m.now
}

// picture is everything the screen is drawn from.
func (m *Model) picture() *screen.Picture {
	list := m.list
	list.Held = m.holding()
	browse := m.browse
	p := &screen.Picture{
		Look: m.look, Data: m.data, W: m.w, H: m.h, Now: m.clock(), Tab: m.tab, List: &list, Browse: &browse, Shown: m.shownRows, Range: m.chart,
		ChartTop: m.chartTop, Frozen: m.frozenAt, Alerts: m.unread(), Message: m.message(), Looking: m.looked != nil, Watching: m.opt.Watching,
		Over: m.over, Resume: m.opt.Resume,
	}
	p.Runs = m.opt.Keys.Key(keys.Overview, keys.ShowHistory)
	if m.starts() {
		p.Starts = [2]string{m.opt.Keys.Key(keys.Overview, keys.AddURLs), m.opt.Keys.Key(keys.Overview, keys.Demo)}
	}
	if !m.frozenAt.IsZero() {
		p.FrozenFor = m.now.Sub(m.frozenAt)
	}
	if len(m.wishes) > 0 {
		p.Wishes = make(map[string]string, len(m.wishes))
		for name, w := range m.wishes {
			p.Wishes[name] = w.Text
		}
	}
	if m.reading != nil {
		p.Over = p.Diagnosis(m.reading.top)
	}
	if m.export.writes() && m.export.hidden {
		p.Writing = "writing " + widget.Clean(m.export.path, 100) + ": " + m.export.form().Done()
	}
	if m.add != nil && m.ask == nil {
		p.Over = m.add.form()
	}
	if m.export.open() && m.ask == nil {
		p.Over = m.export.form()
	}
	p.Footer = func(width int) string { return screen.Footer(m.look, m.opt.Keys, m.mode(), width, m.disabled) }
	return p
}
