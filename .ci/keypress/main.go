// Command keypress measures how long the dashboard takes from a key to the screen while the engine runs flat out: the
// binary runs in a terminal of its own against a target in another process on loopback, the cursor is moved up and down,
// and the clock stops when the marked row on the screen is another one.
//
//	go build -o /tmp/scrapetop . && go run ./.ci/keypress -most 100ms /tmp/scrapetop
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/creack/pty"
)

func main() {
	target := flag.Bool("target", false, "serve the target (used by the command itself)")
	presses := flag.Int("presses", 200, "keys to press")
	hosts := flag.Int("hosts", 40, "hosts of the target, 1 to 250")
	pages := flag.Int("pages", 10000, "pages of each host")
	inFlight := flag.Int("in-flight", 64, "ceiling in flight")
	most := flag.Duration("most", 0, "fail when the 95th percentile is above this")
	flag.Parse()
	if *target {
		serve(*hosts)
		return
	}
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "keypress: name the binary to measure")
		os.Exit(2)
	}
	if err := measure(flag.Arg(0), *presses, *hosts, *pages, *inFlight, *most); err != nil {
		fmt.Fprintln(os.Stderr, "keypress:", err)
		os.Exit(1)
	}
}

// serve answers on as many loopback addresses as hosts with the same 2 KB page, says its port first, and how often it was
// asked each time a line is read, until there is none.
func serve(hosts int) {
	page := []byte("<!doctype html><title>page</title>" + strings.Repeat("<p>0123456789</p>", 118))
	var asked atomic.Int64
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "text/html")
		if _, err := w.Write(page); err != nil {
			return // the other side is gone
		}
	})
	port := "0"
	for i := range hosts {
		l, err := net.Listen("tcp", net.JoinHostPort(host(i), port))
		if err != nil {
			fmt.Fprintln(os.Stderr, "keypress:", err)
			os.Exit(1)
		}
		_, port, _ = net.SplitHostPort(l.Addr().String())
		go http.Serve(l, handler) //nolint:errcheck // ends with the process
	}
	fmt.Println(port)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		fmt.Println(asked.Load())
	}
}

func host(i int) string { return "127.78.0." + strconv.Itoa(i+1) }

// server is the target's process.
type server struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out io.Reader
}

func startTarget(hosts int) (*server, string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, "", err
	}
	s := &server{cmd: exec.Command(self, "-target", "-hosts", strconv.Itoa(hosts))}
	s.cmd.Stderr = os.Stderr
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, "", err
	}
	if s.out, err = s.cmd.StdoutPipe(); err != nil {
		return nil, "", err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, "", err
	}
	var port string
	if _, err := fmt.Fscanln(s.out, &port); err != nil {
		return nil, "", fmt.Errorf("the target does not say its port: %w", err)
	}
	return s, port, nil
}

func (s *server) asked() (n int64, err error) {
	if _, err = fmt.Fprintln(s.in); err == nil {
		_, err = fmt.Fscanln(s.out, &n)
	}
	return n, err
}

// stop ends the target; its exit says nothing more.
func (s *server) stop() {
	s.in.Close()
	s.cmd.Wait()
}

func measure(binary string, presses, hosts, pages, inFlight int, most time.Duration) error {
	dir, err := os.MkdirTemp("", "keypress-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	target, port, err := startTarget(hosts)
	if err != nil {
		return err
	}
	defer target.stop()
	input := filepath.Join(dir, "urls.txt")
	if err := write(input, port, hosts, pages); err != nil {
		return err
	}
	cmd := exec.Command(binary, "run", input, "--db", filepath.Join(dir, "keypress.db"), "--robots", "off",
		"--max-in-flight", strconv.Itoa(inFlight))
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "LC_ALL=C.UTF-8", "XDG_CONFIG_HOME="+dir, "SSH_CONNECTION=")
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 36, Cols: 120})
	if err != nil {
		return err
	}
	s := watch(terminal)
	defer func() {
		cmd.Process.Kill()
		cmd.Wait()
		terminal.Close()
	}()
	if err := s.press("2"); err != nil {
		return err
	}
	if _, err := s.other("", 20*time.Second); err != nil {
		return err
	}
	time.Sleep(5 * time.Second) // the engine opens its ceilings
	before, err := target.asked()
	if err != nil {
		return err
	}
	began, written := time.Now(), s.bytes.Load()
	took := make([]time.Duration, 0, presses)
	for i := range presses {
		time.Sleep(20*time.Millisecond + rand.N(120*time.Millisecond)) // not in step with the screen's clock
		key := "j"
		if i%2 == 1 {
			key = "k"
		}
		was := s.marked()
		at := time.Now()
		if err := s.press(key); err != nil {
			return err
		}
		seen, err := s.other(was, 5*time.Second)
		if err != nil {
			return fmt.Errorf("press %d: %w", i+1, err)
		}
		took = append(took, seen.Sub(at))
	}
	lasted := time.Since(began)
	after, err := target.asked()
	if err != nil {
		return err
	}
	slices.Sort(took)
	p95 := took[len(took)*95/100]
	fmt.Printf("%d keys in %.1f s at %.0f requests/s and %.1f KB/s to the terminal: p50 %.1f ms, p95 %.1f ms, most %.1f ms\n", presses, lasted.Seconds(),
		float64(after-before)/lasted.Seconds(), float64(s.bytes.Load()-written)/1024/lasted.Seconds(), ms(took[len(took)/2]), ms(p95), ms(took[len(took)-1]))
	if after == before {
		return fmt.Errorf("the run was over before it was measured: more -pages")
	}
	if most > 0 && p95 > most {
		return fmt.Errorf("the 95th percentile is above %v", most)
	}
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// write makes the input: the hosts take turns, so that none is done before the others.
func write(path, port string, hosts, pages int) error {
	var b bytes.Buffer
	for i := range pages {
		for h := range hosts {
			fmt.Fprintf(&b, "http://%s:%s/%d\n", host(h), port, i)
		}
	}
	return os.WriteFile(path, b.Bytes(), 0o600)
}

// screen follows which row is marked.
type screen struct {
	terminal *os.File
	bytes    atomic.Int64
	news     chan struct{} // filled when row or the end changed

	mu    sync.Mutex
	row   string
	at    time.Time
	ended error
}

var (
	control = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]`)
	mark    = regexp.MustCompile(`▶[^\n▶]*?(127\.78\.0\.[0-9]+) `)
)

func watch(terminal *os.File) *screen {
	s := &screen{terminal: terminal, news: make(chan struct{}, 1)}
	go func() {
		buf := make([]byte, 64<<10)
		var rest []byte
		for {
			n, err := terminal.Read(buf)
			now := time.Now()
			s.bytes.Add(int64(n))
			rest = append(rest, buf[:n]...)
			text := control.ReplaceAll(rest, nil)
			if found := mark.FindAllSubmatch(text, -1); found != nil {
				s.note(string(found[len(found)-1][1]), now, nil)
				rest = rest[:0]
			} else if len(rest) > 32<<10 {
				rest = append(rest[:0], rest[len(rest)-1024:]...)
			}
			if err != nil {
				s.note("", now, err)
				return
			}
		}
	}()
	return s
}

func (s *screen) note(row string, at time.Time, ended error) {
	s.mu.Lock()
	if ended != nil {
		s.ended = ended
	} else if row != s.row {
		s.row, s.at = row, at
	}
	s.mu.Unlock()
	select {
	case s.news <- struct{}{}:
	default:
	}
}

func (s *screen) press(key string) error {
	_, err := io.WriteString(s.terminal, key)
	return err
}

func (s *screen) marked() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.row
}

// other waits until another row than was is marked, and tells since when.
func (s *screen) other(was string, most time.Duration) (time.Time, error) {
	late := time.After(most)
	for {
		s.mu.Lock()
		row, at, ended := s.row, s.at, s.ended
		s.mu.Unlock()
		switch {
		case row != was:
			return at, nil
		case ended != nil:
			return at, fmt.Errorf("the program ended: %w", ended)
		}
		select {
		case <-s.news:
		case <-late:
			return at, fmt.Errorf("the marked row is still %q after %v", was, most)
		}
	}
}
