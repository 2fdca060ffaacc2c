package dashboard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"dev.scrapetop/engine"
	"dev.scrapetop/engine/view"
	"dev.scrapetop/ui/screen/sample"
)

// tape is a terminal's output.
type tape struct {
	mu sync.Mutex // guards b
	b  bytes.Buffer
}

func (t *tape) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.Write(p)
}

func (t *tape) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.Len()
}

func (t *tape) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.String()
}

// locked is a script that another goroutine may change.
type locked struct {
	mu sync.Mutex // guards script
	script
}

func (l *locked) Frame(q view.Query) *view.Frame {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.script.Frame(q)
}

func (l *locked) Do(c engine.Command) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.script.Do(c)
}

func (l *locked) commands() []engine.Command {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]engine.Command(nil), l.done...)
}

// session is a whole program inside a synctest bubble: nothing real passes, and the bubble fails when a goroutine is left.
type session struct {
	source *locked
	out    *tape
	p      *tea.Program
	err    chan error
	keys   *io.PipeWriter
	cancel context.CancelCauseFunc
}

func begin(t *testing.T, frame *view.Frame, options ...func(*Options)) *session {
	t.Helper()
	s := &session{source: &locked{script: script{frame: frame}}, out: &tape{}, err: make(chan error, 1)}
	in, keys := io.Pipe()
	s.keys = keys
	opt := Options{Getenv: func(k string) string { return map[string]string{"TERM": "xterm-256color"}[k] }}
	for _, o := range options {
		o(&opt)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	s.cancel = cancel
	ready := make(chan *tea.Program, 1)
	go func() { s.err <- run(ctx, New(s.source, opt), in, s.out, func(p *tea.Program) { ready <- p }) }()
	s.p = <-ready
	s.p.Send(tea.WindowSizeMsg{Width: 120, Height: 36})
	time.Sleep(time.Second)
	return s
}

// end waits for the program, lets its last tick pass and ends its reader.
func (s *session) end(t *testing.T) error {
	t.Helper()
	err := <-s.err
	time.Sleep(3 * time.Second)
	_ = s.keys.Close()
	s.cancel(nil)
	out := s.out.String()
	if !strings.Contains(out, "\x1b[?1049l") || !strings.Contains(out, "\x1b[?25h") || !strings.Contains(out, "\x1b[?2004l") {
		t.Errorf("the terminal was not restored: %q", out[max(len(out)-200, 0):])
	}
	return err
}

func (s *session) press(t *testing.T, key string) {
	t.Helper()
	if _, err := io.WriteString(s.keys, key); err != nil {
		t.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond)
}

func TestNoByteIsWrittenWhenNothingMoves(t *testing.T) {
	for name, frame := range map[string]*view.Frame{"a run that ended": sample.Stopped(), "no run": sample.Empty(), "no frame": nil} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := begin(t, frame)
				time.Sleep(10 * time.Second) // the toasts of its alerts go
				before := s.out.Len()
				time.Sleep(10 * time.Minute)
				if n := s.out.Len() - before; n != 0 {
					t.Errorf("%d bytes in ten minutes of nothing", n)
				}
				s.press(t, "q")
				if err := s.end(t); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestALiveRunWritesItsClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := sample.Normal()
		f.At = time.Now()
		s := begin(t, f)
		time.Sleep(10 * time.Second)
		before := s.out.Len()
		time.Sleep(time.Minute)
		if n := s.out.Len() - before; n == 0 || n > 60*2000 {
			t.Errorf("%d bytes in a minute of countdowns alone", n)
		}
		s.press(t, "\x03")
		s.press(t, "\x03")
		if got := s.source.commands(); len(got) != 2 || got[0].Verb != engine.Drain || got[1].Verb != engine.Abandon {
			t.Errorf("two interrupts gave %v", got)
		}
		s.press(t, "\x03")
		if err := s.end(t); err != nil {
			t.Error(err)
		}
	})
}

func TestInterruptsArriveByChannel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		interrupts := make(chan struct{})
		s := begin(t, sample.Normal(), func(o *Options) { o.Interrupts = interrupts })
		interrupts <- struct{}{}
		synctest.Wait()
		if got := s.source.commands(); len(got) != 1 || got[0].Verb != engine.Drain {
			t.Errorf("a signal gave %v", got)
		}
		close(interrupts)
		s.cancel(errors.New("the terminal is gone"))
		if err := s.end(t); err == nil || err.Error() != "the terminal is gone" {
			t.Errorf("%v", err)
		}
	})
}

func TestAPanicAnywhereRestoresTheTerminal(t *testing.T) {
	t.Run("in a goroutine of the engine", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			crash := NewCrash(func() { t.Error("the dashboard runs, and the process was ended") })
			s := begin(t, sample.Normal(), func(o *Options) { o.Crash = crash })
			go func() {
				defer crash.Guard()
				panic("worker 7 broke")
			}()
			err := s.end(t)
			var c *CrashError
			if !errors.As(err, &c) || !strings.Contains(c.Error(), "worker 7 broke") || !strings.Contains(c.Stack, "program_test.go") {
				t.Errorf("%v", err)
			}
		})
	})
	t.Run("in the loop", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := begin(t, sample.Normal())
			s.source.mu.Lock()
			s.source.panic = true
			s.source.mu.Unlock()
			err := s.end(t)
			var c *CrashError
			if !errors.As(err, &c) || !strings.Contains(c.Cause, "the source broke") {
				t.Errorf("%v", err)
			}
			if out := s.out.String(); strings.Contains(out, "goroutine ") {
				t.Error("the stack was printed into the picture")
			}
		})
	})
}

func TestTheClipboardWaitsForTheRenderer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, sample.Normal())
		s.press(t, "y")
		if !strings.Contains(s.out.String(), "\x1b]52;c;") {
			t.Error("nothing was copied")
		}
		s.cancel(nil)
		if err := s.end(t); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

func TestWithoutATerminalThereIsNoDashboard(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if err := Run(t.Context(), &script{}, Options{Output: w, Input: r}); !errors.Is(err, ErrNoTerminal) {
		t.Errorf("%v", err)
	}
}

func TestTerminalWriter(t *testing.T) {
	out := &tape{}
	term := newTerminal(out)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				_, _ = term.WriteString("\x1b]52;c;YQ==\x07")
				_, _ = term.Write([]byte("\x1b[1mx\x1b[0m"))
			}
		})
	}
	wg.Wait()
	left := strings.NewReplacer("\x1b]52;c;YQ==\x07", "", "\x1b[1mx\x1b[0m", "").Replace(out.String())
	if left != "" {
		t.Errorf("sequences were mixed: %q", left)
	}
	if _, err := term.Read(nil); !errors.Is(err, io.EOF) {
		t.Errorf("reading a writer: %v", err)
	}
}

func TestClip(t *testing.T) {
	env := func(k, v string) func(string) string {
		return func(key string) string {
			if key == k {
				return v
			}
			return ""
		}
	}
	tests := []struct {
		name   string
		getenv func(string) string
		want   string
	}{
		{"plain", env("TERM", "xterm"), "\x1b]52;c;YQ==\x07"},
		{"tmux", env("TMUX", "/tmp/tmux"), "\x1bPtmux;\x1b\x1b]52;c;YQ==\x07\x1b\\"},
		{"screen", env("TERM", "screen-256color"), "\x1bP\x1b]52;c;YQ==\x07\x1b\\"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, ok := clip("a", tt.getenv); !ok || got != tt.want {
				t.Errorf("%q", got)
			}
		})
	}
	if _, ok := clip(strings.Repeat("a", maxCopyBytes+1), env("", "")); ok {
		t.Error("more than terminals take was copied")
	}
}

func BenchmarkUnchangedView(b *testing.B) {
	m := New(&script{frame: sample.Normal()}, Options{})
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 36})
	m.View()
	b.ReportAllocs()
	for b.Loop() {
		m.View()
	}
}

func BenchmarkUpdateAndDraw(b *testing.B) {
	source := &script{frame: sample.Platform()}
	m := New(source, Options{})
	m.tick = func(int, time.Duration) tea.Cmd { return nil }
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 36})
	b.ReportAllocs()
	for b.Loop() {
		source.frame.Seq++
		m.Update(frameMsg{m.chain, sample.Now})
		m.View()
	}
}

// BenchmarkKey is a key on forty thousand domains: the cost of moving the cursor and drawing.
func BenchmarkKey(b *testing.B) {
	model := view.New(view.Options{})
	d := view.Delta{At: sample.Now, Live: true, Run: view.Run{ID: 1, State: "running"}}
	for i := range 40_000 {
		d.Domains = append(d.Domains, view.DomainInput{Domain: fmt.Sprintf("d%05d.example", i), State: view.StateRun, Queue: int64(i)})
	}
	model.Update(d)
	m := New(onModel{&script{}, model}, Options{})
	m.tick = func(int, time.Duration) tea.Cmd { return nil }
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 36})
	m.Update(key("2"))
	b.ReportAllocs()
	for b.Loop() {
		m.Update(key("j"))
		m.View()
	}
}

func TestAnUnchangedViewCostsNothing(t *testing.T) {
	m := New(&script{frame: sample.Normal()}, Options{})
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 36})
	m.View()
	if n := testing.AllocsPerRun(100, func() { m.View() }); n != 0 {
		t.Errorf("%.0f allocations", n)
	}
}
