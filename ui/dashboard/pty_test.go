//go:build linux

package dashboard

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"dev.scrapetop/engine"
	"dev.scrapetop/engine/view"
	"dev.scrapetop/ui/screen/sample"

	_ "dev.scrapetop/themes/background" // before Bubble Tea asks the terminal
)

// childEnv makes the test binary a program with a dashboard: what a user starts in a terminal.
const childEnv = "SCRAPETOP_TEST_CHILD"

func TestMain(m *testing.M) {
	if mode := os.Getenv(childEnv); mode != "" {
		os.Exit(child(mode))
	}
	os.Exit(m.Run())
}

// ending is a source whose run ends when it is told to drain.
type ending struct {
	script
	over bool
}

func (e *ending) Do(c engine.Command) {
	e.script.Do(c)
	e.over = e.over || c.Verb == engine.Drain
}

func (e *ending) Frame(q view.Query) *view.Frame { return e.script.Frame(q) }

// child is the program; its exit code tells how the dashboard ended.
func child(mode string) int {
	f := sample.Normal()
	if mode == "stopped" {
		f = sample.Stopped()
	}
	source := &ending{script: script{frame: f}}
	crash := NewCrash(nil)
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1)
	interrupts := make(chan struct{})
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		defer crash.Guard()
		for s := range signals {
			switch s {
			case syscall.SIGUSR1:
				panic("a worker broke")
			case syscall.SIGHUP:
				cancel(errors.New("hung up"))
			default:
				interrupts <- struct{}{}
			}
		}
	}()
	err := Run(ctx, source, Options{Crash: crash, Interrupts: interrupts, Ended: func() bool { return mode == "stopped" || source.over }})
	var c *CrashError
	switch {
	case errors.As(err, &c):
		fmt.Printf("crashed: %s\n%s\n", c.Error(), c.Stack)
		return 3
	case err != nil:
		fmt.Printf("ended: %v\n", err)
		return 4
	}
	fmt.Println("left")
	return 0
}

// terminal emulation of a child.
type console struct {
	t      *testing.T
	cmd    *exec.Cmd
	pty    *os.File
	before *unix.Termios
	mu     sync.Mutex // guards raw and screen
	raw    strings.Builder
	screen *vt.Emulator
	news   chan struct{} // one value after each read
	closed chan struct{}
}

func open(t *testing.T, mode string) *console {
	t.Helper()
	c := &console{t: t, screen: vt.NewEmulator(120, 36), news: make(chan struct{}, 1), closed: make(chan struct{})}
	c.cmd = exec.Command(os.Args[0])
	c.cmd.Env = append(os.Environ(), childEnv+"="+mode, "TERM=xterm-256color", "NO_COLOR=", "SSH_CONNECTION=", "TMUX=", "LC_ALL=C.UTF-8",
		// Bubble Tea v1 notes its terminal again on coming back, while its own resize handler reads that: the same value,
		// and nothing to do with us. Races of ours are found in the programs of program_test.go.
		"GORACE=exitcode=0")
	p, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	c.pty = p
	if err := pty.Setsize(p, &pty.Winsize{Rows: 36, Cols: 120}); err != nil {
		t.Fatal(err)
	}
	if c.before, err = unix.IoctlGetTermios(int(p.Fd()), unix.TCGETS); err != nil {
		t.Fatal(err)
	}
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = tty, tty, tty
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = tty.Close()
	go c.read()
	t.Cleanup(func() {
		_ = c.cmd.Process.Kill()
		<-c.closed
		_ = p.Close()
	})
	return c
}

func (c *console) read() {
	defer close(c.closed)
	buf := make([]byte, 1<<16)
	for {
		n, err := c.pty.Read(buf)
		if n > 0 {
			c.mu.Lock()
			c.raw.Write(buf[:n])
			_, _ = c.screen.Write(buf[:n])
			c.mu.Unlock()
			select {
			case c.news <- struct{}{}:
			default:
			}
		}
		if err != nil {
			return // the child ended
		}
	}
}

// until waits for a fact about what was written and what is on the screen.
func (c *console) until(what string, fact func(raw, screen string) bool) {
	c.t.Helper()
	deadline := time.After(30 * time.Second)
	for {
		c.mu.Lock()
		raw, screen := c.raw.String(), c.screen.String()
		c.mu.Unlock()
		if fact(raw, screen) {
			return
		}
		select {
		case <-c.news:
		case <-deadline:
			c.t.Fatalf("waited in vain for %s; on the screen:\n%s", what, screen)
		case <-c.closed:
			c.mu.Lock()
			raw, screen = c.raw.String(), c.screen.String()
			c.mu.Unlock()
			if !fact(raw, screen) {
				c.t.Fatalf("ended before %s; written: %q", what, raw[max(len(raw)-500, 0):])
			}
			return
		}
	}
}

func (c *console) sees(text string) {
	c.t.Helper()
	c.until(text, func(_, screen string) bool { return strings.Contains(screen, text) })
}

func (c *console) press(s string) {
	c.t.Helper()
	if _, err := c.pty.WriteString(s); err != nil {
		c.t.Fatal(err)
	}
}

// ended waits for the child and checks that the terminal is as it was.
func (c *console) ended(code int, told string) {
	c.t.Helper()
	c.until(told, func(raw, _ string) bool {
		_, after, ok := strings.Cut(raw[strings.LastIndex(raw, "\x1b[?1049h")+1:], "\x1b[?1049l")
		return ok && strings.Contains(after, told)
	})
	// The line settings are those of the terminal, not of the process: read them before it is closed.
	after, err := unix.IoctlGetTermios(int(c.pty.Fd()), unix.TCGETS)
	if err != nil {
		c.t.Fatal(err)
	}
	if after.Lflag != c.before.Lflag || after.Iflag != c.before.Iflag || after.Oflag != c.before.Oflag {
		c.t.Error("the line settings of the terminal were not restored")
	}
	_ = c.cmd.Wait()
	if got := c.cmd.ProcessState.ExitCode(); got != code {
		c.mu.Lock()
		c.t.Errorf("exit code %d, not %d: %q", got, code, c.raw.String())
		c.mu.Unlock()
	}
	<-c.closed
	raw := c.raw.String()
	if strings.LastIndex(raw, "\x1b[?25h") < strings.LastIndex(raw, "\x1b[?25l") {
		c.t.Error("the cursor stays hidden")
	}
}

func TestOnATerminalStartAndQuit(t *testing.T) {
	c := open(t, "stopped")
	c.sees("Accepted records/min")
	c.press("2")
	c.sees("▌2 Budgets")
	c.press("q")
	c.ended(0, "left")
}

func TestOnATerminalQuitDrains(t *testing.T) {
	c := open(t, "live")
	c.sees("in flight 31 / 48")
	c.press("q")
	c.sees("[Drain]")
	c.press("\r")
	c.ended(0, "left")
}

func TestOnATerminalACrashInAGoroutineIsReadable(t *testing.T) {
	c := open(t, "live")
	c.sees("Fleet")
	if err := c.cmd.Process.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	c.ended(3, "a worker broke")
}

func TestOnATerminalSIGTERMDrains(t *testing.T) {
	c := open(t, "live")
	c.sees("Fleet")
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	c.ended(0, "left")
}

func TestOnATerminalHangUpRestores(t *testing.T) {
	c := open(t, "live")
	c.sees("Fleet")
	if err := c.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	c.ended(4, "ended: hung up")
}

func TestOnATerminalSuspendAndResume(t *testing.T) {
	c := open(t, "stopped")
	c.sees("Fleet")
	c.press("\x1a")
	c.until("the shell's screen", func(raw, _ string) bool { return strings.Contains(raw, "\x1b[?1049l") })
	if err := pty.Setsize(c.pty, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	c.screen.Resize(80, 24)
	c.mu.Unlock()
	// No shell is above the child, so it is not stopped and only waits to be continued; a signal that comes before it
	// waits is lost, as it would not be with a shell.
	again := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-again:
				return
			case <-tick.C:
				_ = c.cmd.Process.Signal(syscall.SIGCONT)
			}
		}
	})
	c.until("the dashboard again", func(raw, screen string) bool {
		return strings.Count(raw, "\x1b[?1049h") == 2 && strings.Contains(screen, "In flight, cooldowns")
	})
	close(again)
	wg.Wait()
	c.press("q")
	c.ended(0, "left")
}

func TestOnATerminalResizeLeavesNoGhosts(t *testing.T) {
	c := open(t, "stopped")
	c.sees("Remaining, as last reported")
	for _, size := range []pty.Winsize{{Rows: 10, Cols: 40}, {Rows: 3, Cols: 20}, {Rows: 24, Cols: 80}} {
		c.mu.Lock()
		c.screen.Resize(int(size.Cols), int(size.Rows))
		c.mu.Unlock()
		if err := pty.Setsize(c.pty, &size); err != nil {
			t.Fatal(err)
		}
		want := map[uint16]string{40: "429 acc", 20: "needs 40x10", 80: "In flight, cooldowns"}[size.Cols]
		c.until(want, func(_, screen string) bool {
			return strings.Contains(screen, want) && strings.Count(screen, "scrapetop") <= 1
		})
	}
	c.press("q")
	c.ended(0, "left")
}
