package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"time"
)

// kind is what a request was for.
type kind string

const (
	submit kind = "submit" // a direct fetch too
	poll   kind = "poll"
	lookup kind = "lookup"
)

// request is one request as it reached the world.
type request struct {
	life     int // of the program: it ends with a kill
	kind     kind
	host     string // of a direct one
	urls     []string
	job      string
	arrived  time.Time
	answered time.Time     // when its answer began; zero: never
	status   int           // of an answer, which may not have reached anybody
	wait     time.Duration // announced with it
	rate     bool          // the wait is for every call, polls too: Spidra's for the calls of an address
}

// refused reports that it began nothing.
func (r *request) refused() bool {
	return r.status == http.StatusTooManyRequests || r.status == http.StatusServiceUnavailable
}

// journal stands before the world and writes down what it is asked.
type journal struct {
	world  http.Handler
	direct bool

	mu    sync.Mutex
	all   []*request
	life  int
	conns map[net.Conn]bool
	point point
	count int           // of what the point counts, in this life
	met   chan struct{} // closed when the point is met
}

// point is an instant of the program's work.
type point struct {
	kind     kind
	answered bool // and not only come
	nth      int  // of this life; 0: its start
}

// begin opens a life; the channel is closed when it has come to the point.
func (j *journal) begin(p point) <-chan struct{} {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.life++
	j.point, j.count, j.met = p, 0, make(chan struct{})
	if p.nth == 0 {
		close(j.met)
	}
	return j.met
}

// passed counts towards the point. It is called with mu held.
func (j *journal) passed(r *request, answered bool) {
	if r.life != j.life || j.point.nth == 0 || r.kind != j.point.kind || answered != j.point.answered {
		return
	}
	if j.count++; j.count == j.point.nth {
		close(j.met)
	}
}

// ServeHTTP hands a request on to the world.
func (j *journal) ServeHTTP(rw http.ResponseWriter, hr *http.Request) {
	body, err := io.ReadAll(hr.Body)
	if err != nil {
		return // the program died while it wrote
	}
	hr.Body = io.NopCloser(bytes.NewReader(body))
	r := asked(hr, body, j.direct)
	j.mu.Lock()
	r.life = j.life
	j.all = append(j.all, r)
	j.passed(r, false)
	j.mu.Unlock()
	a := &answer{ResponseWriter: rw}
	defer func() { // the world drops connections by a panic
		j.mu.Lock()
		defer j.mu.Unlock()
		if a.status > 0 {
			r.answered, r.status, r.wait = a.began, a.status, a.wait()
			r.rate = a.status == http.StatusTooManyRequests && a.Header().Get("RateLimit-Limit") != ""
			j.passed(r, true)
		}
	}()
	j.world.ServeHTTP(a, hr)
}

var jobOf = regexp.MustCompile(`/(?:tasks|jobs|scrape|scrape-logs)/([^/]+)$`)

// asked says what a request is for.
func asked(hr *http.Request, body []byte, direct bool) *request {
	r := &request{arrived: time.Now(), kind: lookup}
	job := jobOf.FindStringSubmatch(hr.URL.Path)
	switch {
	case direct:
		r.host, _, _ = net.SplitHostPort(hr.Host)
		if hr.URL.Path != "/robots.txt" {
			r.kind, r.urls = submit, []string{"http://" + hr.Host + hr.URL.RequestURI()}
		}
	case hr.Method == http.MethodPost:
		r.kind, r.urls = submit, urlsOf(body)
	case job != nil:
		r.kind, r.job = poll, job[1]
	}
	return r
}

// urlsOf are the URLs of a submit: of Evomi and OmniScrape "url", of Spidra "urls", which are texts or objects.
func urlsOf(body []byte) []string {
	var f struct {
		URL  string            `json:"url"`
		URLs []json.RawMessage `json:"urls"`
	}
	if json.Unmarshal(body, &f) != nil {
		return nil
	}
	if f.URL != "" {
		return []string{f.URL}
	}
	var all []string
	for _, raw := range f.URLs {
		var text string
		var one struct{ URL string }
		if json.Unmarshal(raw, &text) == nil {
			all = append(all, text)
		} else if json.Unmarshal(raw, &one) == nil {
			all = append(all, one.URL)
		}
	}
	return all
}

// answer notes the beginning of an answer, and what a refusal says.
type answer struct {
	http.ResponseWriter
	began  time.Time
	status int
	body   []byte
}

func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.began, a.status = time.Now(), status
	}
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Write(p []byte) (int, error) {
	if a.status == 0 {
		a.began, a.status = time.Now(), http.StatusOK
	}
	if a.status >= 400 && len(a.body) < 1<<10 {
		a.body = append(a.body, p...)
	}
	return a.ResponseWriter.Write(p)
}

// wait is what a refusal announced: Retry-After in seconds, or a field of its body.
func (a *answer) wait() time.Duration {
	if a.status != http.StatusTooManyRequests && a.status != http.StatusServiceUnavailable {
		return 0
	}
	var f struct {
		Reset      int `json:"reset"`
		RetryAfter int `json:"retry_after"`
	}
	n, err := strconv.Atoi(a.Header().Get("Retry-After"))
	if err != nil && json.Unmarshal(a.body, &f) == nil {
		n = max(f.Reset, f.RetryAfter)
	}
	return time.Duration(n) * time.Second
}

// track keeps the connections, as the server tells of them.
func (j *journal) track(c net.Conn, s http.ConnState) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch s {
	case http.StateNew:
		j.conns[c] = true
	case http.StateClosed, http.StateHijacked:
		delete(j.conns, c)
	}
}

// taken reports that a connection from an address is open.
func (j *journal) taken(from net.Addr) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	for c := range j.conns {
		if c.RemoteAddr().String() == from.String() {
			return true
		}
	}
	return false
}

// quiet reports that no connection is open.
func (j *journal) quiet() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.conns) == 0
}

// seen is what came so far; its requests change no more once it is quiet.
func (j *journal) seen() []*request {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.all[:len(j.all):len(j.all)]
}
