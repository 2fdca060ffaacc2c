package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"github.com/creack/pty"
)

// screen is a terminal of 120x36 of which what was written since the last key is known.
type screen struct {
	terminal *os.File
	bytes    atomic.Int64
	news     chan struct{} // filled when something was written

	mu    sync.Mutex
	text  []byte
	at    time.Time // of the last piece of text
	ended error
}

var (
	control  = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]`)
	finished = regexp.MustCompile(`(FINISHED|DONE)`)
	mark     = regexp.MustCompile(`▶[^\n▶]*?(127\.78\.0\.[0-9]+) `)
)

// remembered is the most text that is kept: some whole screens.
const remembered = 64 << 10

// show starts the program in a terminal of its own, with a folder for what it keeps; stop ends it.
func show(dir, binary string, args ...string) (s *screen, stop func(), err error) {
	s, cmd, err := open(dir, binary, args...)
	return s, func() {
		cmd.Process.Kill()
		cmd.Wait()
		s.terminal.Close()
	}, err
}

func open(dir, binary string, args ...string) (*screen, *exec.Cmd, error) {
	cmd := exec.Command(binary, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "LC_ALL=C.UTF-8", "XDG_CONFIG_HOME="+dir, "XDG_STATE_HOME="+dir, "SSH_CONNECTION=")
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 36, Cols: 120})
	if err != nil {
		return nil, nil, err
	}
	s := &screen{terminal: terminal, news: make(chan struct{}, 1)}
	go s.read()
	return s, cmd, nil
}

func (s *screen) read() {
	buf := make([]byte, 64<<10)
	for {
		n, err := s.terminal.Read(buf)
		now := time.Now()
		s.bytes.Add(int64(n))
		s.mu.Lock()
		if s.text = append(s.text, buf[:n]...); len(s.text) > remembered {
			s.text = append(s.text[:0], s.text[len(s.text)-remembered/2:]...)
		}
		s.at, s.ended = now, err
		s.mu.Unlock()
		select {
		case s.news <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

// press writes a key and forgets what was on the screen.
func (s *screen) press(key string) error {
	s.mu.Lock()
	s.text = s.text[:0]
	s.mu.Unlock()
	_, err := io.WriteString(s.terminal, key)
	return err
}

// await waits until what was written since the last key holds the pattern, its last group being another text than not, and
// tells since when, and that text.
func (s *screen) await(want *regexp.Regexp, not string, most time.Duration) (at time.Time, found string, err error) {
	late := time.After(most)
	for {
		s.mu.Lock()
		all := want.FindAllSubmatch(control.ReplaceAll(s.text, nil), -1)
		at, ended := s.at, s.ended
		s.mu.Unlock()
		if len(all) > 0 {
			last := all[len(all)-1]
			if found = string(last[len(last)-1]); found != not {
				return at, found, nil
			}
		}
		if ended != nil {
			return at, "", fmt.Errorf("the program ended: %w", ended)
		}
		select {
		case <-s.news:
		case <-late:
			return at, "", fmt.Errorf("no other %q than %q on the screen after %v", want, not, most)
		}
	}
}
