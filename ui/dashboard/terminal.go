package dashboard

import (
	"io"
	"os"
	"sync"
)

// terminal is the one writer to the terminal: the renderer and the clipboard sequence take turns, so that neither lands
// inside the other. It has Fd, Read and Close, so that Bubble Tea still sees a terminal, and both Write and WriteString,
// since the renderer uses io.WriteString and an embedded file would slip past the lock.
type terminal struct {
	mu sync.Mutex // guards out
	in io.Reader
	// out is the file, or a buffer in tests.
	out io.Writer
	fd  uintptr
}

// notATerminal is a descriptor no terminal has.
const notATerminal = ^uintptr(0)

func newTerminal(out io.Writer) *terminal {
	t := &terminal{out: out, fd: notATerminal}
	if f, ok := out.(*os.File); ok {
		t.fd, t.in = f.Fd(), f
	}
	return t
}

func (t *terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.out.Write(p)
}

func (t *terminal) WriteString(s string) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return io.WriteString(t.out, s)
}

func (t *terminal) Read(p []byte) (int, error) {
	if t.in == nil {
		return 0, io.EOF
	}
	return t.in.Read(p)
}

// Close leaves the file open: it belongs to the caller.
func (t *terminal) Close() error { return nil }

func (t *terminal) Fd() uintptr { return t.fd }
