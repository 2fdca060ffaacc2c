package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
)

// display is a terminal that a command draws on, with somebody at its keyboard.
type display struct {
	t    *testing.T
	pty  *os.File // the side of the terminal's owner
	tty  *os.File // the side of the program
	mu   sync.Mutex
	text bytes.Buffer // all that was written; guarded by mu
	read chan struct{}
}

func newScreen(t *testing.T) *display {
	t.Helper()
	owner, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(owner, &pty.Winsize{Rows: 36, Cols: 120}); err != nil {
		t.Fatal(err)
	}
	s := &display{t: t, pty: owner, tty: tty, read: make(chan struct{})}
	go func() {
		defer close(s.read)
		buf := make([]byte, 32<<10)
		for {
			n, err := owner.Read(buf)
			s.mu.Lock()
			s.text.Write(buf[:n])
			s.mu.Unlock()
			if err != nil {
				return // the terminal was closed
			}
		}
	}()
	t.Cleanup(func() {
		tty.Close()
		owner.Close()
		<-s.read
	})
	return s
}

func (s *display) shown() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// until waits for a text on the screen.
func (s *display) until(want string) {
	s.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !strings.Contains(s.shown(), want); <-time.After(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("no %q on the screen: %q", want, s.shown())
		}
	}
}

func (s *display) press(keys string) {
	s.t.Helper()
	if _, err := io.WriteString(s.pty, keys); err != nil {
		s.t.Fatal(err)
	}
}

// start runs a command on the screen.
func (s *display) start(signals chan os.Signal, args ...string) <-chan int {
	done := make(chan int, 1)
	go func() {
		done <- run(s.t.Context(), args, stdio{In: s.tty, Out: s.tty, Err: s.tty}, world{
			environ: []string{"TERM=xterm-256color"}, now: time.Now,
			signals: func() (<-chan os.Signal, func()) { return signals, func() {} },
		})
	}()
	return done
}

const leftAltScreen = "\x1b[?1049l"

func TestDashboardDrainsOnQuitAndRestoresTheTerminal(t *testing.T) {
	newShell(t)
	s := newScreen(t)
	done := s.start(nil, "demo", "--speed", "2")
	s.until("books.example")
	s.press("q")
	s.until("rain") // the button, with focus
	s.press("\r")
	if code := <-done; code != exitLeft {
		t.Errorf("exit %d", code)
	}
	if shown := s.shown(); !strings.Contains(shown, leftAltScreen) || !strings.Contains(shown[strings.LastIndex(shown, leftAltScreen):], "stopped") {
		t.Error("the terminal was not restored before the summary")
	}
	noneLeft(t)
}

func TestDashboardTakesSignals(t *testing.T) {
	newShell(t)
	s := newScreen(t)
	signals := make(chan os.Signal, 2)
	done := s.start(signals, "demo", "--speed", "2")
	s.until("books.example")
	signals <- os.Interrupt
	signals <- os.Interrupt
	if code := <-done; code != exitLeft {
		t.Errorf("exit %d", code)
	}
	s.until(leftAltScreen) // the command returned: what it wrote may still be on its way through the terminal
	noneLeft(t)
}

func TestDashboardOnHistoryAlone(t *testing.T) {
	sh := newShell(t)
	missing := newScreen(t)
	over := missing.start(nil)
	missing.until("No run is loaded")
	missing.press("q")
	if code := <-over; code != exitOK {
		t.Errorf("no database: exit %d", code)
	}
	if _, err := os.Stat(defaultDB); !os.IsNotExist(err) {
		t.Errorf("looking made a database: %v", err)
	}
	if got := sh.run("demo", "--headless", "--speed", "500", "--max-requests", "5", "--db", defaultDB); got.code != exitLeft {
		t.Fatalf("exit %d, %s", got.code, got.err)
	}
	s := newScreen(t)
	signals := make(chan os.Signal, 1)
	done := s.start(signals)
	s.until("accepted")
	s.press("q")
	if code := <-done; code != exitOK {
		t.Errorf("exit %d", code)
	}
}

// TestTheFirstRunStartsInTheDashboard: of a file that is named there, in the same program, and so does the demo.
func TestTheFirstRunStartsInTheDashboard(t *testing.T) {
	_, at := listen(t)
	sh := newShell(t)
	list := sh.file("urls.txt", pages(at.Sites[0], 3, ""))
	s := newScreen(t)
	done := s.start(nil)
	s.until("No run is loaded")
	s.press("a")
	s.until("New run")
	s.press("nowhere.txt")
	s.press("\r")
	s.until("no such file")
	s.press(strings.Repeat("\x7f", len("nowhere.txt")))
	s.press(list)
	s.press("\r")
	s.until("DONE")
	s.press("q")
	if code := <-done; code != exitOK {
		t.Errorf("exit %d", code)
	}
	if got := sh.run("history"); !strings.Contains(got.out, "urls.txt") {
		t.Errorf("history %q", got.out)
	}
	demo := newScreen(t)
	done = demo.start(nil, "--db", "other.db")
	demo.until("No run is loaded")
	demo.press("d")
	demo.until("RUNNING")
	demo.press("\x03\x03")
	if code := <-done; code != exitLeft {
		t.Errorf("the demo: exit %d", code)
	}
}

func TestUnfinishedInputIsAskedAboutAtTheTerminal(t *testing.T) {
	w, at := listen(t)
	sh := newShell(t)
	list := sh.file("urls.txt", pages(at.Sites[0], 20, "?sim_delay=4s"))
	first := make(chan told)
	go func() { first <- sh.run("run", list, "--domain-max-in-flight", "2") }()
	for w.Counters().Sites["one.example"].Requests < 1 {
		<-time.After(time.Millisecond)
	}
	sh.signals <- os.Interrupt
	if got := <-first; got.code != exitLeft {
		t.Fatalf("exit %d, %s", got.code, got.err)
	}
	quit := newScreen(t)
	done := quit.start(nil, "run", list, "--db", filepath.Join(sh.dir, defaultDB))
	quit.until("[r]esume")
	quit.press("q\r")
	if code := <-done; code != exitUsage {
		t.Errorf("exit %d", code)
	}
	s := newScreen(t)
	signals := make(chan os.Signal, 1)
	done = s.start(signals, "run", list, "--domain-max-in-flight", "20")
	s.until("[r]esume")
	s.press("r\r")
	s.until("127.77.0.1")
	s.until("the run finished")
	s.press("q")
	if code := <-done; code != exitOK {
		t.Errorf("exit %d: %q", code, s.shown())
	}
}

// TestUnknownThemeIsWrongUsage: the dashboard opened in other colours without a word.
func TestUnknownThemeIsWrongUsage(t *testing.T) {
	newShell(t)
	s := newScreen(t)
	if code := <-s.start(nil, "demo", "--theme", "nosuch"); code != exitUsage {
		t.Errorf("exit %d", code)
	}
	s.until("nosuch")
}
