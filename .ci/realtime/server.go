package main

import (
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// admission is what a rule says of a request.
type admission struct {
	ok     bool
	took   time.Duration // with ok: how long the page takes
	wait   time.Duration // otherwise: until there is room
	header map[string]string
}

// rule decides about requests to one host; it is called under the host's lock. began is when the host got its first.
type rule func(now time.Time, inFlight int) admission

// announce is how a refusal tells its wait.
type announce int

const (
	silent announce = iota
	inSeconds
	asDate
)

// target is one host.
type target struct {
	name string
	n    int
	rule rule
	tell announce

	mu       sync.Mutex
	inFlight int
	refused  int
	pages    map[string]bool
	twice    int
	first    time.Time
	last     time.Time
	until    time.Time // end of the announced wait
	told     time.Time // when it was announced
	inside   int
}

// late is how long after an announcement a request may still arrive that was sent before it: ten lists go at once, and a
// busy machine may take that long between a socket and a scheduler. It is a tenth of the shortest wait.
const late = 100 * time.Millisecond

func (t *target) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	now := time.Now()
	t.mu.Lock()
	if t.first.IsZero() {
		t.first = now
	}
	if now.Before(t.until) && now.Sub(t.told) > late {
		t.inside++
	}
	a := t.rule(now, t.inFlight)
	for k, v := range a.header {
		w.Header().Set(k, v)
	}
	if !a.ok {
		t.refused++
		wait := time.Duration(math.Ceil(a.wait.Seconds())) * time.Second
		switch t.tell {
		case inSeconds:
			w.Header().Set("Retry-After", strconv.Itoa(int(wait/time.Second)))
		case asDate:
			at := now.Add(a.wait).Add(time.Second - time.Nanosecond).Truncate(time.Second)
			wait = at.Sub(now)
			w.Header().Set("Retry-After", at.UTC().Format(http.TimeFormat))
		}
		if t.tell != silent && now.Add(wait).After(t.until) {
			t.until, t.told = now.Add(wait), now
		}
		t.mu.Unlock()
		w.WriteHeader(http.StatusTooManyRequests)
		return
	}
	t.inFlight++
	t.mu.Unlock()
	time.Sleep(a.took)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, "<html><head><title>%s</title></head><body><h1>page</h1></body></html>\n", r.URL.Path)
	t.mu.Lock()
	t.inFlight--
	t.last = time.Now()
	if t.pages[r.URL.Path] {
		t.twice++
	}
	t.pages[r.URL.Path] = true
	t.mu.Unlock()
}

// farm is the hosts of a scenario, each on an address of its own with one port.
type farm struct {
	block   int
	port    int
	targets []*target
	servers []*http.Server
	failed  chan error
}

func listen(s scenario, port int) (*farm, error) {
	f := &farm{block: s.block, targets: s.hosts(), failed: make(chan error, 64), port: port}
	for i, t := range f.targets {
		t.pages = map[string]bool{}
		l, err := net.Listen("tcp", net.JoinHostPort(f.address(i), strconv.Itoa(f.port)))
		if err != nil {
			return nil, errors.Join(err, f.close())
		}
		f.port = l.Addr().(*net.TCPAddr).Port
		server := &http.Server{Handler: t, ReadHeaderTimeout: 10 * time.Second}
		f.servers = append(f.servers, server)
		go func() {
			if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				f.failed <- err
			}
		}()
	}
	return f, nil
}

func (f *farm) address(i int) string { return fmt.Sprintf("127.88.%d.%d", f.block, i+1) }

func (f *farm) urls() []string {
	var out []string
	most := 0
	for _, t := range f.targets {
		most = max(most, t.n)
	}
	for k := range most {
		for i, t := range f.targets {
			if k < t.n {
				out = append(out, fmt.Sprintf("http://%s/p/%d", net.JoinHostPort(f.address(i), strconv.Itoa(f.port)), k))
			}
		}
	}
	return out
}

func (f *farm) close() error {
	var errs []error
	for _, s := range f.servers {
		errs = append(errs, s.Close())
	}
	select {
	case err := <-f.failed:
		errs = append(errs, err)
	default:
	}
	return errors.Join(errs...)
}

// result is what the hosts saw.
func (f *farm) result(s scenario) (result, error) {
	var first, last time.Time
	pages, refused, inside := 0, 0, 0
	for _, t := range f.targets {
		t.mu.Lock()
		if first.IsZero() || t.first.Before(first) {
			first = t.first
		}
		if t.last.After(last) {
			last = t.last
		}
		pages, refused, inside = pages+len(t.pages), refused+t.refused, inside+t.inside
		missing, twice := t.n-len(t.pages), t.twice
		t.mu.Unlock()
		if missing != 0 || twice != 0 {
			return result{}, fmt.Errorf("%s: %d pages missing, %d served twice", t.name, missing, twice)
		}
	}
	return result{efficiency: s.ideal / last.Sub(first).Seconds(), refused: 1000 * float64(refused) / float64(pages), inside: inside}, nil
}
