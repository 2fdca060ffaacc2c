package dashboard

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// Crash catches panics so that the terminal is restored before anybody reads about them. Bubble Tea sees only panics of
// its own loop; one in a goroutine of the engine would end the process with the alternate screen and raw mode on.
//
// The first panic is kept; it ends the running dashboard, or calls the function given to NewCrash when none runs. A
// Crash is safe for concurrent use; a nil Crash catches nothing.
type Crash struct {
	alone func()

	mu    sync.Mutex // guards what follows
	cause string
	stack string
	kill  func()
}

// NewCrash makes a Crash. alone, which may be nil, is called after a panic while no dashboard runs: a headless program
// prints Text and exits there.
func NewCrash(alone func()) *Crash { return &Crash{alone: alone} }

// Guard is deferred first thing in each goroutine: go func() { defer crash.Guard(); ... }().
func (c *Crash) Guard() {
	if c == nil {
		return
	}
	if r := recover(); r != nil {
		c.report(r, debug.Stack())
	}
}

// Text is the panic and its stack, empty while nothing happened.
func (c *Crash) Text() string {
	if c == nil {
		return ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause == "" {
		return ""
	}
	return c.cause + "\n\n" + c.stack
}

// err is what Run returns after a panic, nil when there was none.
func (c *Crash) err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause == "" {
		return nil
	}
	return &CrashError{Cause: c.cause, Stack: c.stack}
}

func (c *Crash) report(r any, stack []byte) {
	c.mu.Lock()
	first := c.cause == ""
	if first {
		c.cause, c.stack = fmt.Sprintf("panic: %v", r), string(stack)
	}
	end := c.kill
	if end == nil {
		end = c.alone
	}
	c.mu.Unlock()
	// Outside the lock: ending may call back for the text.
	if first && end != nil {
		end()
	}
}

// attach names what a panic ends from now on; nil detaches. A panic that came earlier ends it at once.
func (c *Crash) attach(kill func()) {
	c.mu.Lock()
	c.kill = kill
	late := c.cause != "" && kill != nil
	c.mu.Unlock()
	if late {
		kill()
	}
}

// CrashError is returned by Run after a panic, once the terminal is restored.
type CrashError struct {
	Cause string // one line
	Stack string
}

func (e *CrashError) Error() string {
	return "the program met a fault of its own and stopped: " + e.Cause
}
