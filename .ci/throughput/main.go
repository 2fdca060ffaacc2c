// Command throughput compares the engine with a bare net/http client loop of the same ceiling in flight, against a target
// in a process of its own on loopback: 2 KB pages, everything the engine keeps written durably. Runs alternate, so that
// noise of the machine meets both; the median of the ratios is what counts.
//
//	go run ./.ci/throughput -pairs 5 -pages 20000
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"sort"
	"strings"
	"sync"
	"syscall"
	"time"

	"dev.scrapetop/engine"
	"dev.scrapetop/storage"
	"dev.scrapetop/ui/heap"
)

func main() {
	target := flag.Bool("target", false, "serve the target (used by the command itself)")
	pairs := flag.Int("pairs", 5, "pairs of runs")
	pages := flag.Int("pages", 60000, "pages a run")
	inFlight := flag.Int("in-flight", 64, "ceiling in flight of both")
	least := flag.Float64("least", 0, "fail when the median ratio is below this")
	profile := flag.String("cpuprofile", "", "write a CPU profile of the engine's runs")
	flag.Parse()
	if *target {
		serve()
		return
	}
	if err := compare(*pairs, *pages, *inFlight, *least, *profile); err != nil {
		fmt.Fprintln(os.Stderr, "throughput:", err)
		os.Exit(1)
	}
}

// serve answers every request with the same 2 KB page and prints its address first.
func serve() {
	page := []byte("<!doctype html><title>page</title>" + strings.Repeat("<p>0123456789</p>", 118))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(l.Addr())
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		w.Write(page)
	})
	go func() { // the parent holds our stdin: it is gone when that ends
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	if err := http.Serve(l, handler); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

func compare(pairs, pages, inFlight int, least float64, profile string) error {
	addr, stop, err := startTarget()
	if err != nil {
		return err
	}
	defer stop()
	if profile != "" {
		f, err := os.Create(profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	var ratios, more []float64
	for i := range pairs {
		var bareRate, ourRate float64
		var bareCPU, ourCPU time.Duration
		measure := []func() error{
			func() (err error) {
				bareCPU = used(func() { bareRate, err = bare(addr, pages, inFlight) })
				return err
			},
			func() (err error) { ourCPU = used(func() { ourRate, err = ours(addr, pages, inFlight) }); return err },
		}
		for k := range measure {
			if err := measure[(k+i)%2](); err != nil {
				return err
			}
		}
		ratios = append(ratios, ourRate/bareRate)
		more = append(more, (ourCPU-bareCPU).Seconds()*1e6/float64(pages))
		fmt.Printf("pair %d: bare %.0f/s, engine %.0f/s, ratio %.2f, %.0f us of CPU more a page\n", i+1, bareRate, ourRate, ourRate/bareRate, more[i])
	}
	sort.Float64s(ratios)
	sort.Float64s(more)
	median := ratios[len(ratios)/2]
	fmt.Printf("median ratio %.2f and %.0f us of CPU a page beyond the bare loop's, of %d pairs, %d pages each, %d in flight\n",
		median, more[len(more)/2], pairs, pages, inFlight)
	if median < least {
		return fmt.Errorf("median ratio %.2f is below %.2f", median, least)
	}
	return nil
}

// used is the processor time of this process while something runs.
func used(run func()) time.Duration {
	before := cpu()
	run()
	return cpu() - before
}

func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func startTarget() (addr string, stop func(), err error) {
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
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return "", nil, fmt.Errorf("the target did not start: %w", err)
	}
	return strings.TrimSpace(line), func() { in.Close(); cmd.Wait() }, nil
}

// bare fetches the pages with a plain client and keeps nothing.
func bare(addr string, pages, inFlight int) (float64, error) {
	rt := &http.Transport{MaxIdleConnsPerHost: 2 * inFlight}
	defer rt.CloseIdleConnections()
	client := &http.Client{Transport: rt}
	urls := make(chan string, 1024)
	errs := make(chan error, inFlight)
	start := time.Now()
	var wg sync.WaitGroup
	for range inFlight {
		wg.Go(func() {
			for u := range urls {
				resp, err := client.Get(u)
				if err == nil {
					_, err = io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
				}
				if err != nil {
					select {
					case errs <- err:
					default:
					}
				}
			}
		})
	}
	for i := range pages {
		urls <- fmt.Sprintf("http://%s/p/%d", addr, i)
	}
	close(urls)
	wg.Wait()
	rate := float64(pages) / time.Since(start).Seconds()
	select {
	case err := <-errs:
		return 0, err
	default:
		return rate, nil
	}
}

// ours drives a run over the same pages: queued, fetched, judged, and written durably, with the heap kept as the program
// keeps it.
func ours(addr string, pages, inFlight int) (float64, error) {
	defer heap.Keep()()
	dir, err := os.MkdirTemp("", "throughput")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	st, err := storage.Open(ctx, filepath.Join(dir, "t.db"), storage.Options{})
	if err != nil {
		return 0, err
	}
	defer st.Close()
	run, err := st.CreateRun(ctx, storage.RunSpec{Name: "throughput", Input: "throughput", Provider: engine.Direct})
	if err != nil {
		return 0, err
	}
	e, err := engine.New(engine.Config{Provider: engine.Direct, MaxInFlight: inFlight, Robots: true}, st, run)
	if err != nil {
		return 0, err
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return 0, err
	}
	start := time.Now()
	fed := make(chan error, 1)
	go func() { fed <- feed(ctx, e, addr, host, pages) }()
	end, err := e.Run(ctx)
	if err != nil {
		return 0, err
	}
	took := time.Since(start)
	if err := <-fed; err != nil {
		return 0, err
	}
	s, err := st.Summary(ctx, run.ID)
	if err != nil {
		return 0, err
	}
	if end.State != storage.RunFinished || s.Accepted != int64(pages) || s.Records != int64(pages) {
		return 0, fmt.Errorf("the run ended %s with %d of %d accepted: %s", end.State, s.Accepted, pages, end.Reason)
	}
	return float64(pages) / took.Seconds(), nil
}

func feed(ctx context.Context, e *engine.Engine, addr, host string, pages int) error {
	defer e.FeedDone()
	batch := make([]storage.NewTask, 0, 1000)
	for i := range pages {
		u := fmt.Sprintf("http://%s/p/%d", addr, i)
		batch = append(batch, storage.NewTask{URL: u, InputURL: u, Domain: host})
		if len(batch) == cap(batch) || i == pages-1 {
			if _, err := e.Feed(ctx, batch); err != nil {
				return err
			}
			batch = batch[:0]
		}
	}
	return nil
}
