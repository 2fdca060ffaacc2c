// Command keypress measures how long the dashboard takes from a key to the screen while the engine runs flat out: the
// binary runs in a terminal of its own against a target in another process on loopback, the cursor is moved up and down,
// and the clock stops when the marked row on the screen is another one. With -tasks it opens the dashboard on the database of a
// run of so many tasks instead, and measures how long each screen takes to open and to follow a key. With -pairs it compares the processor time of a run at a fixed
// pace with that of the same run headless.
//
//	go build -o /tmp/scrapetop . && go run ./.ci/keypress -most 100ms /tmp/scrapetop
//	go run ./.ci/keypress -tasks 1000000 /tmp/scrapetop
//	go run ./.ci/keypress -pairs 7 /tmp/scrapetop
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
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

func main() {
	target := flag.Bool("target", false, "serve the target (used by the command itself)")
	presses := flag.Int("presses", 200, "keys to press")
	hosts := flag.Int("hosts", 40, "hosts of the target, 1 to 250")
	pages := flag.Int("pages", 10000, "pages of each host")
	inFlight := flag.Int("in-flight", 64, "ceiling in flight")
	most := flag.Duration("most", 0, "fail when the 95th percentile is above this")
	tasks := flag.Int("tasks", 0, "measure on the database of a run of so many tasks")
	pairs := flag.Int("pairs", 0, "compare the processor time with that of a headless run, in so many pairs")
	flag.Parse()
	if *target {
		serve(*hosts)
		return
	}
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "keypress: name the binary to measure")
		os.Exit(2)
	}
	run := func(binary string) error { return measure(binary, *presses, *hosts, *pages, *inFlight, *most) }
	switch {
	case *tasks > 0:
		run = func(binary string) error { return browse(binary, *tasks) }
	case *pairs > 0:
		run = func(binary string) error { return overhead(binary, *pairs, *hosts) }
	}
	if err := run(flag.Arg(0)); err != nil {
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
	s, stop, err := show(dir, binary, "run", input, "--db", filepath.Join(dir, "keypress.db"), "--robots", "off", "--max-in-flight", strconv.Itoa(inFlight))
	if err != nil {
		return err
	}
	defer stop()
	if err := s.press("2"); err != nil {
		return err
	}
	_, was, err := s.await(mark, "", 20*time.Second)
	if err != nil {
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
		at := time.Now()
		if err := s.press(key); err != nil {
			return err
		}
		var seen time.Time
		if seen, was, err = s.await(mark, was, 5*time.Second); err != nil {
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
