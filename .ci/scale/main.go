// Command scale gives the compiled program a long list over many domains and reports when the first request arrived,
// counted from the program's start, and its resident memory at its peak. The target answers on every loopback address, so
// that each domain is an address of 127.0.0.0/8.
//
//	go build -o /tmp/scrapetop . && go run ./.ci/scale -binary /tmp/scrapetop -urls 200000 -domains 20000
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

func main() {
	binary := flag.String("binary", "", "the compiled program (required)")
	urls := flag.Int("urls", 200_000, "URLs")
	domains := flag.Int("domains", 20_000, "domains, at most 60,000")
	first := flag.Duration("first", 0, "fail when the first request arrives later than this")
	memory := flag.Int64("memory", 0, "fail when more than this many MB were resident")
	flag.Parse()
	if err := measure(*binary, *urls, *domains, *first, *memory); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

// target answers a small page on every loopback address and remembers when it was first asked.
type target struct {
	listener net.Listener
	once     sync.Once
	first    time.Time
}

func (t *target) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err != nil || !net.ParseIP(host).IsLoopback() {
		return
	}
	t.once.Do(func() { t.first = time.Now() })
	if r.URL.Path == "/robots.txt" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprint(w, "<!doctype html><title>page</title><p>text</p>")
}

func measure(binary string, urls, domains int, most time.Duration, memory int64) error {
	if binary == "" {
		return fmt.Errorf("-binary is required: go build -o FILE . and name it")
	}
	l, err := net.Listen("tcp4", "0.0.0.0:0")
	if err != nil {
		return err
	}
	t := &target{listener: l}
	server := &http.Server{Handler: t}
	go server.Serve(l)
	defer server.Close()
	dir, err := os.MkdirTemp("", "scale")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	list := filepath.Join(dir, "list.txt")
	if err := writeList(list, l.Addr().(*net.TCPAddr).Port, urls, domains); err != nil {
		return err
	}
	cmd := exec.Command(binary, "run", "--headless", "--summary", "json", "--db", filepath.Join(dir, "t.db"), list)
	start := time.Now()
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", cmd, err)
	}
	var summary struct {
		Accepted int64   `json:"accepted"`
		Elapsed  float64 `json:"elapsed_seconds"`
	}
	if err := json.Unmarshal(out, &summary); err != nil {
		return fmt.Errorf("the summary: %w", err)
	}
	peak := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10
	first := t.first.Sub(start)
	fmt.Printf("%d URLs over %d domains: %d accepted in %.1f s; first request after %d ms; at most %d MB resident\n",
		urls, domains, summary.Accepted, summary.Elapsed, first.Milliseconds(), peak)
	switch {
	case summary.Accepted != int64(urls):
		return fmt.Errorf("%d of %d accepted", summary.Accepted, urls)
	case most > 0 && first > most:
		return fmt.Errorf("the first request arrived after %s, wanted within %s", first, most)
	case memory > 0 && peak > memory:
		return fmt.Errorf("%d MB were resident, wanted at most %d", peak, memory)
	}
	return nil
}

func writeList(path string, port, urls, domains int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	for i := range urls {
		d := i % domains
		fmt.Fprintf(w, "http://127.1.%d.%d:%d/p/%d\n", d/250, d%250+1, port, i/domains)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}
