// Command beside measures what an export costs the run beside it: the compiled program fetches a fixed number of pages a
// second into a database that holds the results of an earlier run, once alone and once while another process exports those,
// in pairs. It says what the export made of the run's processor time, and how large the log of the database became.
//
//	go build -o /tmp/scrapetop . && go run ./.ci/beside -binary /tmp/scrapetop
package main

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

type options struct {
	binary  string
	pairs   int
	results int
	rate    int
	seconds int
	most    float64
}

func main() {
	var o options
	target := flag.Bool("target", false, "serve the target (used by the command itself)")
	flag.StringVar(&o.binary, "binary", "", "the compiled program (required)")
	flag.IntVar(&o.pairs, "pairs", 7, "pairs of runs")
	flag.IntVar(&o.results, "results", 100_000, "results that are exported")
	flag.IntVar(&o.rate, "rate", 500, "pages a second")
	flag.IntVar(&o.seconds, "seconds", 15, "how long a run is")
	flag.Float64Var(&o.most, "most", 0, "fail when the median ratio is above this, or the log above 256 MB")
	flag.Parse()
	run := func() error { return measure(o) }
	if *target {
		run = serve
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "beside:", err)
		os.Exit(1)
	}
}

// hosts of the target: so many sites share the load.
const hosts = 40

func host(i int) string { return "127.79.0." + strconv.Itoa(i+1) }

// serve answers on the hosts with the same 2 KB page and says its port first, until the parent is gone: it holds our stdin.
func serve() error {
	page := []byte("<!doctype html><title>page</title>" + strings.Repeat("<p>0123456789</p>", 118))
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write(page) // the other side may be gone
	})
	port := "0"
	for i := range hosts {
		l, err := net.Listen("tcp", net.JoinHostPort(host(i), port))
		if err != nil {
			return err
		}
		if _, port, err = net.SplitHostPort(l.Addr().String()); err != nil {
			return err
		}
		go http.Serve(l, handler) //nolint:errcheck // ends with the process
	}
	fmt.Println(port)
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

func startTarget() (port string, stop func() error, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	cmd := exec.Command(self, "-target")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() error { return errors.Join(in.Close(), cmd.Wait()) }
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return "", nil, errors.Join(fmt.Errorf("the target did not start: %w", err), stop())
	}
	return strings.TrimSpace(line), stop, nil
}

func measure(o options) (err error) {
	if o.binary == "" {
		return errors.New("-binary is required: go build -o FILE . and name it")
	}
	if o.binary, err = filepath.Abs(o.binary); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "beside")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	port, stop, err := startTarget()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	b := bench{options: o, dir: dir, port: port}
	if err := b.prepare(); err != nil {
		return err
	}
	ratios := make([]float64, o.pairs)
	var log int64
	var took time.Duration
	for i := range ratios {
		var spent [2]time.Duration
		for _, j := range [][]int{{0, 1}, {1, 0}}[i%2] { // neither is always the first
			r, err := b.run(fmt.Sprintf("%d-%d.db", i, j), j == 1)
			if err != nil {
				return err
			}
			spent[j] = r.spent
			log, took = max(log, r.log), max(took, r.exported)
		}
		ratios[i] = spent[1].Seconds() / spent[0].Seconds()
		fmt.Fprintf(os.Stderr, "%.2f s beside an export, %.2f s alone\n", spent[1].Seconds(), spent[0].Seconds())
	}
	slices.Sort(ratios)
	median := ratios[o.pairs/2]
	fmt.Printf("%d pages a second beside an export of %d results, which takes at most %.1f s: %.3f of the processor time of the run alone (median of %d pairs, %.3f to %.3f); the log of the database has at most %.0f MB\n",
		o.rate, o.results, took.Seconds(), median, o.pairs, ratios[0], ratios[o.pairs-1], float64(log)/(1<<20))
	if o.most > 0 && (median > o.most || log > 256<<20) {
		return fmt.Errorf("wanted at most %.2f and 256 MB", o.most)
	}
	return nil
}

// bench is what the runs have in common.
type bench struct {
	options
	dir, port string
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

// list writes an input: the hosts take turns.
func (b *bench) list(name string, n int) error {
	var text bytes.Buffer
	for i := range n {
		fmt.Fprintf(&text, "http://%s:%s/%s/%d\n", host(i%hosts), b.port, name, i)
	}
	return os.WriteFile(b.path(name), text.Bytes(), 0o600)
}

func (b *bench) command(args ...string) *exec.Cmd {
	cmd := exec.Command(b.binary, args...)
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+b.dir, "XDG_STATE_HOME="+b.dir)
	return cmd
}

// prepare makes the database with the results that are exported, and the input of the runs.
func (b *bench) prepare() error {
	if err := errors.Join(b.list("earlier.txt", b.results), b.list("list.txt", b.rate*b.seconds)); err != nil {
		return err
	}
	out, err := b.command("run", "earlier.txt", "--headless", "--robots", "off", "--db", "earlier.db").CombinedOutput()
	if err != nil {
		return fmt.Errorf("the earlier run: %w: %s", err, out)
	}
	return nil
}

// result is what a run took.
type result struct {
	spent    time.Duration // of the processor
	exported time.Duration // how long the export took
	log      int64         // bytes, at its largest
}

const (
	exportAfter = 3 * time.Second // the run has its pace by then
	lookEvery   = 20 * time.Millisecond
)

// run drives a run over a database of its own, which is a copy of the earlier one.
func (b *bench) run(name string, beside bool) (r result, err error) {
	db := b.path(name)
	if err := copyFile(db, b.path("earlier.db")); err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.Remove(db)) }()
	cmd := b.command("run", "list.txt", "--headless", "--robots", "off", "--rate", strconv.Itoa(b.rate)+"/s", "--db", db)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		return r, err
	}
	ended, exported := make(chan error, 1), make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	begin := make(<-chan time.Time)
	if beside {
		begin = time.After(exportAfter)
	} else {
		exported <- nil
	}
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		select {
		case <-look.C:
			if info, err := os.Stat(db + "-wal"); err == nil {
				r.log = max(r.log, info.Size())
			}
		case <-begin:
			go func() {
				began := time.Now()
				err := b.export(db)
				r.exported = time.Since(began)
				exported <- err
			}()
		case err := <-ended:
			if err != nil {
				err = fmt.Errorf("the run: %w: %s", err, said.Bytes())
			}
			u := cmd.ProcessState.SysUsage().(*syscall.Rusage)
			r.spent = time.Duration(u.Utime.Nano() + u.Stime.Nano())
			return r, errors.Join(err, <-exported)
		}
	}
}

// export exports the results of the earlier run and looks whether they are all there.
func (b *bench) export(db string) error {
	file := db + ".jsonl"
	out, err := b.command("export", "--run", "1", "--db", db, "-o", file).CombinedOutput()
	if err != nil {
		return fmt.Errorf("the export: %w: %s", err, out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if n := bytes.Count(text, []byte("\n")); n != b.results {
		return fmt.Errorf("%d of %d results were exported", n, b.results)
	}
	return os.Remove(file)
}

func copyFile(to, from string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
