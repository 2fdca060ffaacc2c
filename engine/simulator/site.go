package simulator

import (
	"container/heap"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

// site is a target site at work.
type site struct {
	Site
	w *World

	mu        sync.Mutex // guards the group below; never held across a wait
	phase     int        // of Phases, or -1
	limiter   *limiter
	urls      map[string]*urlState
	direct    int      // requests of clients in flight
	admitted  int      // those of them that the limits let in
	visits    timeHeap // ends of a platform's visits, which nobody waits for
	announced []announcement
	counters  SiteCounters
}

type urlState struct {
	tries     int
	delivered bool
}

// announcement is a wait that a client was told of.
type announcement struct{ at, until time.Time }

func newSite(w *World, s Site) *site {
	return &site{Site: s, w: w, phase: -1, limiter: newLimiter(s.Policy.Limits, w.began), urls: map[string]*urlState{}}
}

// ending is how a visit ends for the counters.
type ending int

const (
	delivered ending = iota
	refused
	busy
	blocked
	notFound
	soft
	redirected
	failed
	dropped // before any answer
	cut     // inside the page
)

// visit is everything about one request, decided as it arrives.
type visit struct {
	ending   ending
	status   int
	header   http.Header
	body     string
	took     time.Duration // until the answer is written
	wait     time.Duration // announced with it; zero: none
	fault    string        // of its script
	admitted bool
}

// serve answers a client.
func (s *site) serve(rw http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/robots.txt" {
		s.robots(rw, r)
		return
	}
	v := s.arrive(s.w.now(), r.URL, false)
	there := sleep(r.Context(), v.took)
	s.leave(s.w.now(), v, r.URL, there)
	if !there {
		return
	}
	if v.ending == dropped {
		panic(http.ErrAbortHandler)
	}
	for name, values := range v.header {
		rw.Header()[name] = values
	}
	rw.Header().Set("Date", s.w.now().UTC().Format(http.TimeFormat))
	rw.Header().Set("Content-Length", strconv.Itoa(len(v.body)))
	rw.WriteHeader(v.status)
	if v.ending == cut {
		fmt.Fprint(rw, v.body[:len(v.body)/2])
		drop(rw)
	}
	if r.Method != http.MethodHead {
		fmt.Fprint(rw, v.body)
	}
}

// drop closes the connection once what was written is out.
func drop(rw http.ResponseWriter) {
	if f, ok := rw.(http.Flusher); ok {
		f.Flush()
	}
	panic(http.ErrAbortHandler)
}

func (s *site) robots(rw http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.counters.Robots++
	p := s.policy(s.w.now())
	s.mu.Unlock()
	if !sleep(r.Context(), min(p.Latency.Median/4, 100*time.Millisecond)) {
		return
	}
	if p.NoRobots {
		http.NotFound(rw, r)
		return
	}
	rw.Header().Set("Content-Type", "text/plain; charset=utf-8")
	fmt.Fprintf(rw, "User-agent: *\n")
	for _, path := range p.Disallow {
		fmt.Fprintf(rw, "Disallow: %s\n", path)
	}
	if p.CrawlDelay > 0 {
		fmt.Fprintf(rw, "Crawl-delay: %s\n", strconv.FormatFloat(p.CrawlDelay.Seconds(), 'f', -1, 64))
	}
}

// policy is the one of now. The limits of a new phase begin empty. It is called with mu held.
func (s *site) policy(now time.Time) *Policy {
	elapsed := now.Sub(s.w.began)
	phase := s.phase
	for phase+1 < len(s.Phases) && s.Phases[phase+1].At <= elapsed {
		phase++
	}
	if phase != s.phase {
		s.phase = phase
		s.limiter = newLimiter(s.Phases[phase].Policy.Limits, now)
	}
	if phase < 0 {
		return &s.Policy
	}
	return &s.Phases[phase].Policy
}

// arrive decides about a request. A client's is counted when it leaves; a platform's visit is counted at once, and is in
// flight until it took its time whether or not somebody waits for it.
func (s *site) arrive(now time.Time, u *url.URL, platform bool) visit {
	s.mu.Lock()
	p := s.policy(now)
	s.prune(now)
	s.counters.Requests++
	if !platform && s.waiting(now) {
		s.counters.SentDuringWait++
	}
	for _, closed := range p.Disallow {
		if strings.HasPrefix(u.Path, closed) {
			s.counters.Disallowed++
			break
		}
	}
	state := s.url(u)
	state.tries++
	try := state.tries
	inFlight := s.admitted + len(s.visits)
	v := s.decide(now, p, u, try, inFlight)
	if platform {
		heap.Push(&s.visits, now.Add(v.took))
		s.count(v, state)
	} else {
		s.direct++
		if v.admitted {
			s.admitted++
		}
	}
	s.counters.PeakInFlight = max(s.counters.PeakInFlight, s.direct+len(s.visits))
	if !s.tellCounters(now, p.Tell, v.header) && v.header.Get("Retry-After") == "" {
		v.wait = 0 // nothing announced it
	}
	s.mu.Unlock()
	s.fill(&v, p, u)
	return v
}

// decide is the policy's answer, without its page.
func (s *site) decide(now time.Time, p *Policy, u *url.URL, try, inFlight int) visit {
	forever, once := s.w.chance.of(u.String(), 0), s.w.chance.of(u.String(), try)
	v := visit{status: http.StatusOK, header: http.Header{"Server": {"simulated"}}}
	v.took = s.latency(now, &p.Latency, once, inFlight)
	short := min(v.took/4, 80*time.Millisecond)
	if script, ok := scriptOf(u); ok && script.applies(try) {
		script.direct(&v, s.w.speed)
		return v
	}
	ok, wait := s.limiter.take(now, inFlight)
	if !ok {
		v.ending, v.status, v.took = refused, http.StatusTooManyRequests, short
		v.wait = tellWait(now.Add(v.took), wait-v.took, p.Tell, v.header)
		return v
	}
	v.admitted = true
	m := &p.Moods
	switch is := pick(forever.float(0)); {
	case p.Down:
		v.ending, v.status, v.took = busy, http.StatusServiceUnavailable, short
		if p.DownWait > 0 {
			v.wait = tellWait(now.Add(v.took), p.DownWait, TellSeconds, v.header)
		}
	case is.within(m.NotFound):
		v.ending, v.status = notFound, http.StatusNotFound
	case is.within(m.Blocked):
		v.ending, v.status = blocked, http.StatusForbidden
	case is.within(m.Challenge):
		v.ending, v.status = blocked, http.StatusForbidden
		v.header.Set("Cf-Mitigated", "challenge")
	case is.within(m.Soft), is.within(m.Empty):
		v.ending = soft
	case is.within(m.Redirect) && !strings.HasPrefix(u.Path, movedPath):
		v.ending, v.status = redirected, http.StatusMovedPermanently
		v.header.Set("Location", movedPath+u.RequestURI())
	case is.within(m.Login) && u.Path != loginPath:
		v.ending, v.status = blocked, http.StatusFound
		v.header.Set("Location", loginPath+"?next="+url.QueryEscape(u.RequestURI()))
	case u.Path == loginPath:
		v.ending = soft
	default:
		switch is := pick(once.float(10)); {
		case is.within(m.Fail):
			v.ending, v.status = failed, http.StatusInternalServerError
		case is.within(m.Reset):
			v.ending = dropped
		case is.within(m.Truncate):
			v.ending = cut
		}
	}
	return v
}

const (
	movedPath = "/moved"
	loginPath = "/login"
)

// picker chooses one of several shares by one number.
type picker struct{ at float64 }

func pick(at float64) *picker { return &picker{at} }

// within reports whether the number falls into the next share.
func (p *picker) within(share float64) bool {
	p.at -= share
	return p.at < 0 && p.at >= -share
}

func (s *site) latency(now time.Time, l *Latency, c chance, inFlight int) time.Duration {
	d := c.around(1, l.Median, l.Spread) + time.Duration(inFlight)*l.PerInFlight
	if l.Drift > 0 {
		drift := time.Duration(float64(l.Drift) * now.Sub(s.w.began).Minutes())
		if l.DriftMax > 0 {
			drift = min(drift, l.DriftMax)
		}
		d += drift
	}
	if n := int(s.counters.Requests - 1); n < l.ColdFor {
		d += l.Cold * time.Duration(l.ColdFor-n) / time.Duration(l.ColdFor)
	}
	return d
}

// leave ends a client's request.
func (s *site) leave(now time.Time, v visit, u *url.URL, there bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.direct--
	if v.admitted {
		s.admitted--
	}
	if !there {
		s.counters.Aborted++
		return
	}
	s.count(v, s.url(u))
	if v.wait > 0 {
		s.announced = append(s.announced, announcement{now, now.Add(v.wait)})
	}
}

func (s *site) url(u *url.URL) *urlState {
	key := u.RequestURI()
	state := s.urls[key]
	if state == nil {
		state = &urlState{}
		s.urls[key] = state
	}
	return state
}

func (s *site) count(v visit, state *urlState) {
	c := &s.counters
	switch v.ending {
	case delivered:
		c.Accepted++
		if state.delivered {
			c.Duplicates++
		}
		state.delivered = true
	case refused:
		c.Refused++
	case busy:
		c.Busy++
	case blocked:
		c.Blocked++
	case notFound:
		c.NotFound++
	case soft:
		c.Soft++
	case redirected:
		c.Redirected++
	case failed:
		c.Failed++
	case dropped, cut:
		c.Dropped++
	}
}

// waiting reports whether an announced wait is on that the client had the time to learn of.
func (s *site) waiting(now time.Time) bool {
	for _, a := range s.announced {
		if now.After(a.at.Add(s.w.grace)) && now.Before(a.until) {
			return true
		}
	}
	return false
}

// prune drops what has ended.
func (s *site) prune(now time.Time) {
	for len(s.visits) > 0 && !s.visits[0].After(now) {
		heap.Pop(&s.visits)
	}
	kept := s.announced[:0]
	for _, a := range s.announced {
		if now.Before(a.until) {
			kept = append(kept, a)
		}
	}
	s.announced = kept
}

func (s *site) snapshot(now time.Time) SiteCounters {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prune(now)
	c := s.counters
	c.InFlight = s.direct + len(s.visits)
	return c
}

// timeHeap is a heap of moments, the earliest first.
type timeHeap []time.Time

func (h timeHeap) Len() int           { return len(h) }
func (h timeHeap) Less(i, j int) bool { return h[i].Before(h[j]) }
func (h timeHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *timeHeap) Push(x any)        { *h = append(*h, x.(time.Time)) }
func (h *timeHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}
