package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	_ "dev.scrapetop/themes/background" // before Bubble Tea is initialised
	"dev.scrapetop/ui/heap"

	"github.com/adrg/xdg"
	"github.com/mattn/go-isatty"
)

// The exit codes.
const (
	exitOK     = 0
	exitBroken = 1 // the run could not go on: config, database, disk, key
	exitUsage  = 2 // wrong usage or unreadable input
	exitDead   = 3 // finished, but some tasks were dead-lettered
	exitLeft   = 4 // stopped with work left to resume
)

// Main runs the program with the process's own stdio, environment and signals and returns its exit code.
func Main(args []string) int {
	if os.Getenv("GOGC") == "" {
		heap.Keep()
	}
	stdio := stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
	w := world{
		environ: os.Environ(),
		signals: notify,
		now:     time.Now,
		exit:    os.Exit,
	}
	w.memory = filepath.Join(xdg.StateHome, "scrapetop", "dashboard.toml")
	for _, dir := range append([]string{xdg.ConfigHome}, xdg.ConfigDirs...) {
		w.configDirs = append(w.configDirs, filepath.Join(dir, "scrapetop"))
	}
	return run(context.Background(), args, stdio, w)
}

// stdio is where a command reads and writes.
type stdio struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer
}

// world is what a command takes from the process around it.
type world struct {
	environ    []string
	configDirs []string // where scrapetop.toml is looked for after the working folder
	memory     string   // the file that keeps how the dashboard was left; empty: none
	signals    func() (<-chan os.Signal, func())
	now        func() time.Time
	exit       func(code int) // after a panic outside the command's goroutine, when nothing can be waited for
}

func notify() (<-chan os.Signal, func()) {
	c := make(chan os.Signal, 2)
	signal.Notify(c, stopSignals()...)
	return c, func() { signal.Stop(c) }
}

// stopSignals are the signals that end a command in order. A hangup that nohup made ignored stays ignored.
func stopSignals() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}

// run is Main with everything that it touches handed in. A panic on its goroutine becomes an error line and exit 1.
func run(ctx context.Context, args []string, std stdio, w world) (code int) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(std.Err, "scrapetop: internal error: %v, please report it with the lines below\n%s", p, debug.Stack())
			code = exitBroken
		}
	}()
	a := &app{std: std, world: w, env: environment(w.environ)}
	defer a.leaveAddress()
	root := a.rootCommand()
	root.SetArgs(append([]string{}, args...)) // never nil: cobra would take the process's own
	return a.exitCode(root.ExecuteContext(ctx))
}

// failure is an error with its exit code. Without err the code speaks for itself and nothing is printed.
type failure struct {
	code int
	err  error
}

func (f *failure) Error() string {
	if f.err == nil {
		return fmt.Sprintf("exit %d", f.code)
	}
	return f.err.Error()
}

func (f *failure) Unwrap() error { return f.err }

// usage is a failure of the caller: wrong arguments or unreadable input.
func usage(format string, args ...any) error {
	return &failure{code: exitUsage, err: fmt.Errorf(format, args...)}
}

// broken is a failure that stops the run: config, database, disk, key.
func broken(format string, args ...any) error {
	return &failure{code: exitBroken, err: fmt.Errorf(format, args...)}
}

// ended is a run's exit code that its summary already explained.
func ended(code int) error {
	if code == exitOK {
		return nil
	}
	return &failure{code: code}
}

// exitCode prints what there is to print about err and returns the code.
func (a *app) exitCode(err error) int {
	if err == nil {
		return exitOK
	}
	var f *failure
	if !errors.As(err, &f) {
		f = &failure{code: exitBroken, err: err}
	}
	if f.err != nil {
		fmt.Fprintf(a.std.Err, "scrapetop: %s\n", printable(strings.TrimSpace(f.err.Error())))
	}
	return f.code
}

// terminal reports whether v is a file open on a terminal.
func terminal(v any) bool {
	f, ok := v.(*os.File)
	return ok && (isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd()))
}

// environment turns "K=V" lines into a map; the last of a name wins, as in a shell.
func environment(lines []string) map[string]string {
	env := make(map[string]string, len(lines))
	for _, l := range lines {
		if k, v, ok := strings.Cut(l, "="); ok {
			env[k] = v
		}
	}
	return env
}
