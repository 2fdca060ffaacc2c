package dashboard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/mattn/go-isatty"
)

// ErrNoTerminal is returned by Run when the output is no terminal: the headless commands are for that.
var ErrNoTerminal = errors.New("no terminal to draw on: use --headless, or run it in a terminal")

// drawFPS is how often the renderer looks whether there is something new to write. It is above the frame clock's pace, so
// that the answer to a key is on the screen within 50 ms.
const drawFPS = 20

// Run shows source until the user leaves or ctx is cancelled; it restores the terminal in every case. It returns nil when
// the user left, the cause when ctx was cancelled, and a *CrashError after a panic, in the dashboard or in any goroutine
// guarded by Options.Crash. While it runs no signal is handled here: the caller turns them into Interrupts, or cancels.
func Run(ctx context.Context, source Source, opt Options) error {
	if opt.Output == nil {
		opt.Output = os.Stdout
	}
	if opt.Input == nil {
		opt.Input = os.Stdin
	}
	if !isatty.IsTerminal(opt.Output.Fd()) {
		return ErrNoTerminal
	}
	m := New(source, opt)
	err := run(ctx, m, opt.Input, opt.Output, nil)
	if crashed := (*CrashError)(nil); errors.As(err, &crashed) {
		return err // how it was left may be why it crashed
	}
	if kept := m.keep(); kept != nil && opt.Tell != nil {
		opt.Tell(kept.Error())
	}
	return err
}

// Still draws one picture of source as a terminal of w by h cells shows it after typed was typed (a line end is Enter),
// without a terminal: what screen.SVG makes a picture file of. It returns h lines of w cells, or the panic that drawing met.
func Still(source Source, opt Options, w, h int, typed string) ([]string, error) {
	m := New(source, opt)
	m.tick = func(int, time.Duration) tea.Cmd { return nil }
	m.heedStill(tea.WindowSizeMsg{Width: w, Height: h})
	for _, r := range typed {
		key := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}}
		if r == '\n' {
			key = tea.KeyMsg{Type: tea.KeyEnter}
		}
		m.heedStill(key)
	}
	m.toast = toast{}
	m.changed()
	view := m.View()
	if err := m.crash.err(); err != nil {
		return nil, err
	}
	return strings.Split(view, "\n"), nil
}

// heedStill takes a message without a program around: the rows that it asks for are read and taken at once.
func (m *Model) heedStill(msg tea.Msg) {
	_, cmd := m.Update(msg)
	if cmd == nil {
		return
	}
	switch said := cmd().(type) {
	case rowsMsg:
		m.heedStill(said)
	case tea.BatchMsg:
		for _, cmd := range said {
			if cmd == nil {
				continue
			}
			if rows, ok := cmd().(rowsMsg); ok {
				m.heedStill(rows)
			}
		}
	}
}

// run drives a model's program on any reader and writer. started, when not nil, is told the program before it runs.
func run(ctx context.Context, m *Model, in io.Reader, out io.Writer, started func(*tea.Program)) error {
	term := newTerminal(out)
	m.native = func(text string) []string { return native(text, m.opt.Getenv) }
	m.copy = func(seq string) tea.Cmd {
		return func() tea.Msg {
			if _, err := term.WriteString(seq); err != nil {
				return err
			}
			return nil
		}
	}
	p := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(term), tea.WithAltScreen(),
		tea.WithFPS(drawFPS), tea.WithReportFocus(), tea.WithoutSignalHandler())
	m.crash.attach(p.Kill)
	defer m.crash.attach(nil)

	over := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer m.crash.Guard()
		for {
			select {
			case <-over:
				return
			case _, open := <-m.opt.Interrupts:
				if !open {
					return
				}
				p.Send(interruptMsg{})
			}
		}
	}()
	if started != nil {
		started(p)
	}
	_, err := p.Run()
	m.abandonExport()
	close(over)
	<-done
	if crashed := m.crash.err(); crashed != nil {
		return crashed
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("dashboard: %w", err)
	}
	return nil
}
