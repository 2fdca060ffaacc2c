package simulator

import (
	"cmp"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// EvomiHost is the host name at which the Evomi API answers. At hosts that are no site it answers below EvomiPath.
const (
	EvomiHost   = "evomi.sim"
	EvomiPath   = "/evomi"
	ControlPath = "/control" // the counters as JSON, at hosts that are no site
)

// maxStrangers bounds how many hosts beyond the configured sites a world makes up.
const maxStrangers = 10_000

// Options say what world to make. The zero Options is the demo's world.
type Options struct {
	Seed  uint64
	Speed float64          // how much faster than life; zero: 1
	Now   func() time.Time // the clock; nil: time.Now. It must agree with timers.
	Sites []Site           // nil: DemoSites
	Evomi EvomiSettings

	Spidra     SpidraSettings
	OmniScrape OmniScrapeSettings
	// Grace is how long after a wait was announced requests still count as sent before the client could know of it; zero:
	// 100 ms, which a busy machine may need between a socket and a scheduler.
	Grace time.Duration
}

// World is a running simulation.
type World struct {
	chance chance
	speed  float64
	now    func() time.Time
	began  time.Time
	grace  time.Duration
	evomi  *evomi
	spidra *spidra
	omni   *omni

	mu       sync.Mutex // guards the group below; held for look-ups only
	sites    []*site
	byHost   map[string]*site // aliases too
	listener net.Addr         // where the world listens, for DialContext

	serving sync.WaitGroup
}

// New makes a world; its time begins now.
func New(o Options) *World {
	w := &World{chance: chance(mix(o.Seed)), speed: o.Speed, now: o.Now, grace: cmp.Or(o.Grace, 100*time.Millisecond), byHost: map[string]*site{}}
	if w.speed <= 0 {
		w.speed = 1
	}
	if w.now == nil {
		w.now = time.Now
	}
	w.began = w.now()
	if o.Sites == nil {
		o.Sites = DemoSites()
	}
	for _, s := range o.Sites {
		w.addSite(s)
	}
	w.evomi = newEvomi(w, o.Evomi)
	w.spidra = newSpidra(w, o.Spidra)
	w.omni = newOmni(w, o.OmniScrape)
	return w
}

func (w *World) addSite(s Site) *site {
	s.Host = strings.ToLower(s.Host)
	n := newSite(w, s.scaled(w.speed))
	w.sites = append(w.sites, n)
	w.byHost[s.Host] = n
	return n
}

func (w *World) allSites() []*site {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sites[:len(w.sites):len(w.sites)]
}

// siteOf finds the site of a host name. With invent, an unknown host becomes an ordinary site.
func (w *World) siteOf(host string, invent bool) *site {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.byHost[host]
	if s == nil && invent && len(w.sites) < maxStrangers {
		s = w.addSite(Site{Host: host, Kind: "ordinary", Policy: Policy{Latency: Latency{Median: 300 * time.Millisecond, Spread: 0.4}}})
	}
	return s
}

// invented reports hosts that can be nothing but a simulated site (RFC 2606, and the demo's own).
func invented(host string) bool {
	for _, end := range []string{".test", ".example", ".demo", ".localhost"} {
		if strings.HasSuffix(host, end) {
			return true
		}
	}
	return false
}

func hostname(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), ".")
}

// ServeHTTP answers as the site or platform that the request's host names.
func (w *World) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	host := hostname(cmp.Or(r.Host, r.URL.Host))
	rw.Header().Set("Date", w.now().UTC().Format(http.TimeFormat))
	w.spidra.catchUp()
	w.omni.catchUp()
	for _, p := range w.services() {
		if host == p.host {
			p.serve(rw, r, "", r.URL.Path)
			return
		}
	}
	if s := w.siteOf(host, invented(host)); s != nil {
		s.serve(rw, r)
		return
	}
	for _, p := range w.services() {
		if rest, ok := strings.CutPrefix(r.URL.Path, p.path); ok && (rest == "" || rest[0] == '/') {
			p.serve(rw, r, p.path, rest)
			return
		}
	}
	if r.URL.Path == ControlPath {
		rw.Header().Set("Content-Type", "application/json")
		enc := json.NewEncoder(rw)
		enc.SetIndent("", "  ")
		if err := enc.Encode(w.Counters()); err != nil {
			panic(http.ErrAbortHandler) // the reader left
		}
		return
	}
	http.NotFound(rw, r)
}

// service is an API of the world: at a host of its own, and below a path at hosts that are no site.
type service struct {
	host, path string
	serve      func(rw http.ResponseWriter, r *http.Request, prefix, path string)
}

func (w *World) services() [3]service {
	return [3]service{
		{EvomiHost, EvomiPath, w.evomi.serve},
		{SpidraHost, SpidraPath, w.spidra.serve},
		{OmniScrapeHost, OmniScrapePath, w.omni.serve},
	}
}

func (w *World) hasService(host string) bool {
	for _, p := range w.services() {
		if host == p.host {
			return true
		}
	}
	return false
}

// sleep waits for d of the client's time. It reports false when ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
