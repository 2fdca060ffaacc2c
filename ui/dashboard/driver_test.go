package dashboard

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"dev.scrapetop/engine"
	"dev.scrapetop/engine/view"
	"dev.scrapetop/ui/screen/sample"
	"dev.scrapetop/ui/widget"
)

// script is a Source that answers from one frame, as the view does: filter, order, window, position of the selection.
type script struct {
	frame *view.Frame
	done  []engine.Command
	asked view.Query
	calls int
	order []string // of the last answer, for Hold
	panic bool
}

func (s *script) Do(c engine.Command) { s.done = append(s.done, c) }

func (s *script) Frame(q view.Query) *view.Frame {
	s.calls++
	if s.panic {
		panic("the source broke")
	}
	s.asked = q
	if s.frame == nil {
		return nil
	}
	f := *s.frame
	var rows []view.DomainRow
	for _, r := range s.frame.Domains.Rows {
		if like(r.Domain, q.Filter) && (!q.Faults || r.State == "cool" || r.State == "slow" || r.State == "block") {
			rows = append(rows, r)
		}
	}
	if q.Sort == view.SortDomain {
		slices.SortFunc(rows, func(a, b view.DomainRow) int { return strings.Compare(a.Domain, b.Domain) })
	}
	if q.Reverse {
		slices.Reverse(rows)
	}
	if q.Hold {
		at := make(map[string]int, len(s.order))
		for i, name := range s.order {
			at[name] = i + 1
		}
		slices.SortStableFunc(rows, func(a, b view.DomainRow) int { return at[a.Domain] - at[b.Domain] })
	}
	s.order = s.order[:0]
	for _, r := range rows {
		s.order = append(s.order, r.Domain)
	}
	w := view.DomainWindow{Total: len(s.frame.Domains.Rows), Matched: len(rows), Offset: min(q.Offset, len(rows)), Index: -1}
	w.Index = slices.IndexFunc(rows, func(r view.DomainRow) bool { return r.Domain == q.Selected })
	limit := q.Limit
	if limit == 0 {
		limit = 100
	}
	w.Rows = rows[w.Offset:min(w.Offset+limit, len(rows))]
	f.Domains = w
	if w.Index >= 0 {
		f.Detail = sample.Detail(q.Selected)
	}
	return &f
}

// like is what the view makes of a word or a pattern.
func like(domain, filter string) bool {
	if pattern, ok := strings.CutPrefix(filter, "/"); ok {
		re, err := regexp.Compile(strings.TrimSuffix(pattern, "/"))
		return err == nil && re.MatchString(domain)
	}
	return strings.Contains(domain, filter)
}

// change publishes a frame that differs.
func (s *script) change(f func(*view.Frame)) {
	next := *s.frame
	next.Domains.Rows = slices.Clone(next.Domains.Rows)
	next.Seq++
	f(&next)
	s.frame = &next
}

// row is a domain of the frame.
func (s *script) row(f *view.Frame, domain string) *view.DomainRow {
	for i := range f.Domains.Rows {
		if f.Domains.Rows[i].Domain == domain {
			return &f.Domains.Rows[i]
		}
	}
	panic("no domain " + domain)
}

// driver presses keys on a model and turns its clock. Nothing real passes: ticks fire from advance alone.
type driver struct {
	t      *testing.T
	m      *Model
	source *script
	now    time.Time
	quit   bool
	copied string
	paces  []time.Duration // of the ticks asked for
	chain  int
	unlike bool // laws are not checked
	hold   bool // answers about rows are kept back until release
	held   []rowsMsg
}

type tickAsked struct {
	chain int
	every time.Duration
}

func drive(t *testing.T, frame *view.Frame, w, h int, options ...func(*Options)) *driver {
	t.Helper()
	d := &driver{t: t, source: &script{frame: frame}, now: sample.Now}
	opt := Options{Getenv: func(key string) string {
		return map[string]string{"TERM": "xterm-256color", "COLORTERM": "truecolor"}[key]
	}, Now: func() time.Time { return d.now }}
	for _, o := range options {
		o(&opt)
	}
	d.m = New(d.source, opt)
	d.m.tick = func(chain int, every time.Duration) tea.Cmd {
		return func() tea.Msg { return tickAsked{chain, every} }
	}
	d.m.copy = func(seq string) tea.Cmd {
		return func() tea.Msg { d.copied = seq; return nil }
	}
	d.run(d.m.Init())
	d.send(tea.WindowSizeMsg{Width: w, Height: h})
	d.advance(100 * time.Millisecond)
	return d
}

// send gives the model a message, runs what it asks for, and checks the laws.
func (d *driver) send(msg tea.Msg) {
	d.t.Helper()
	_, cmd := d.m.Update(msg)
	d.run(cmd)
	d.laws()
}

func (d *driver) run(cmd tea.Cmd) {
	d.t.Helper()
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil:
	case tickAsked:
		d.paces, d.chain = append(d.paces, msg.every), msg.chain
	case tea.QuitMsg:
		d.quit = true
	case rowsMsg:
		if d.hold {
			d.held = append(d.held, msg)
			return
		}
		d.send(msg)
	case tea.BatchMsg:
		for _, c := range msg {
			d.run(c)
		}
	default:
		if strings.HasPrefix(reflect.TypeOf(msg).String(), "tea.") {
			return // of the terminal: clear, suspend, ask the size
		}
		d.send(msg)
	}
}

// release lets the answers come that were kept back.
func (d *driver) release() {
	d.t.Helper()
	held := d.held
	d.held = nil
	for _, msg := range held {
		d.send(msg)
	}
}

// advance turns the clock and fires the tick that is due.
func (d *driver) advance(by time.Duration) {
	d.t.Helper()
	d.now = d.now.Add(by)
	d.send(frameMsg{d.chain, d.now})
}

var named = map[string]tea.KeyType{
	"enter": tea.KeyEnter, "esc": tea.KeyEsc, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
	"tab": tea.KeyTab, "shift+tab": tea.KeyShiftTab, "home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp,
	"pgdown": tea.KeyPgDown, "ctrl+c": tea.KeyCtrlC, "ctrl+d": tea.KeyCtrlD, "ctrl+u": tea.KeyCtrlU, "ctrl+l": tea.KeyCtrlL,
	"ctrl+o": tea.KeyCtrlO, "ctrl+p": tea.KeyCtrlP, "ctrl+z": tea.KeyCtrlZ, "ctrl+w": tea.KeyCtrlW, "backspace": tea.KeyBackspace, " ": tea.KeySpace,
	"f1": tea.KeyF1, "f6": tea.KeyF6, "f7": tea.KeyF7, "f8": tea.KeyF8, "f9": tea.KeyF9, "f10": tea.KeyF10,
}

func key(name string) tea.KeyMsg {
	if t, ok := named[name]; ok {
		k := tea.KeyMsg{Type: t}
		if t == tea.KeySpace {
			k.Runes = []rune(" ")
		}
		return k
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
}

// press presses keys by name; any other text arrives in one read.
func (d *driver) press(names ...string) {
	d.t.Helper()
	for _, n := range names {
		d.send(key(n))
	}
}

// screen is the picture without colours.
func (d *driver) screen() []string {
	lines := strings.Split(d.m.View(), "\n")
	for i := range lines {
		lines[i] = plain(lines[i])
	}
	return lines
}

func plain(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == 0x1b {
			i += strings.IndexByte(s[i:], 'm')
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func (d *driver) sees(text string) {
	d.t.Helper()
	if s := strings.Join(d.screen(), "\n"); !strings.Contains(s, text) {
		d.t.Fatalf("no %q on the screen:\n%s", text, s)
	}
}

func (d *driver) seesNot(text string) {
	d.t.Helper()
	if s := strings.Join(d.screen(), "\n"); strings.Contains(s, text) {
		d.t.Fatalf("%q is on the screen:\n%s", text, s)
	}
}

func (d *driver) selected(domain string) {
	d.t.Helper()
	if d.m.list.Selected != domain {
		d.t.Fatalf("%q is selected, not %q", d.m.list.Selected, domain)
	}
}

// did fails unless exactly these commands were handed over since the last call.
func (d *driver) did(want ...engine.Command) {
	d.t.Helper()
	if !slices.Equal(d.source.done, want) {
		d.t.Fatalf("commands %v, not %v", d.source.done, want)
	}
	d.source.done = nil
}

// laws hold after every step.
func (d *driver) laws() {
	d.t.Helper()
	if d.unlike {
		return
	}
	view := d.m.View()
	if again := d.m.View(); again != view {
		d.t.Fatal("two views of one state differ")
	}
	if text := d.m.crash.Text(); text != "" {
		d.t.Fatal(text)
	}
	lines := strings.Split(view, "\n")
	if d.m.w < 1 || d.m.h < 1 {
		if view != "" {
			d.t.Fatalf("a picture of no size: %q", view)
		}
		return
	}
	if len(lines) != d.m.h {
		d.t.Fatalf("%d lines, not %d", len(lines), d.m.h)
	}
	for y, line := range lines {
		if w := widget.Width(line); w != d.m.w {
			d.t.Fatalf("line %d is %d cells, not %d: %q", y, w, d.m.w, line)
		}
		for _, r := range plain(line) {
			if r < 0x20 || r >= 0x7f && r < 0xa0 {
				d.t.Fatalf("line %d has a control character: %q", y, line)
			}
		}
	}
	if w := d.m.data.Frame.Domains; w.Matched > 0 && d.m.frozenAt.IsZero() && d.m.row() < 0 {
		d.t.Fatalf("nothing is selected among %d rows (%q)", w.Matched, d.m.list.Selected)
	}
	if d.m.mode() != d.m.screenMode() && d.m.picture().Over == nil && d.m.prompt == nil {
		d.t.Fatal("keys go to something that is not drawn")
	}
}

// many is a run of n domains.
func many(n int) *view.Frame {
	f := sample.Normal()
	f.Domains.Rows = make([]view.DomainRow, n)
	for i := range f.Domains.Rows {
		f.Domains.Rows[i] = view.DomainRow{Domain: fmt.Sprintf("d%05d.example", i), State: view.StateRun, InFlight: 1, Limit: 4, Queue: 3}
	}
	return f
}
