package simulator

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// SpidraHost is the host name at which the Spidra API answers, its base URL ending in /api. At hosts that are no site it
// answers below SpidraPath.
const (
	SpidraHost = "spidra.sim"
	SpidraPath = "/spidra"
	spidraAPI  = "/api"
)

// SpidraDemoKey is the key of the account that settings without accounts have.
const SpidraDemoKey = "spd_demo"

// spidra is the simulated Spidra API.
type spidra struct {
	w *World

	mu       sync.Mutex // guards everything below; never held across a wait
	settings SpidraSettings
	users    []*spidraAccount
	keys     map[string]spidraKey
	ips      map[string]*spidraIP
	agenda   agenda[*spidraUnit]
	made     int
	submits  map[string]int // by the first URL, for scripts
	counters SpidraCounters // without IPs and Accounts
}

type spidraKey struct {
	user     *spidraAccount
	disabled bool
}

// spidraIP is a client's address and its window.
type spidraIP struct {
	window    *limiter
	announced announced
	counters  IPCounters
}

func newSpidra(w *World, s SpidraSettings) *spidra {
	p := &spidra{w: w, settings: s.withDefaults(w.speed), keys: map[string]spidraKey{}, ips: map[string]*spidraIP{}, submits: map[string]int{}}
	for _, a := range p.settings.Accounts {
		a.Name = cmp.Or(a.Name, a.Key)
		a.Credits = cmp.Or(a.Credits, 1000)
		a.Workers = cmp.Or(a.Workers, 5)
		u := &spidraAccount{SpidraAccount: a, jobs: map[string]*spidraJob{}, scraped: charged{}, paid: charged{}, recent: map[string]*spidraJob{}}
		p.users = append(p.users, u)
		for _, k := range append([]string{a.Key}, a.MoreKeys...) {
			p.keys[k] = spidraKey{user: u}
		}
		for _, k := range a.DisabledKeys {
			p.keys[k] = spidraKey{user: u, disabled: true}
		}
	}
	return p
}

func (p *spidra) firstKey() string {
	if len(p.users) == 0 {
		return ""
	}
	return p.users[0].Key
}

// SetSpidraBusy turns the capacity refusal of submits on or off while the world runs.
func (w *World) SetSpidraBusy(on bool) {
	w.spidra.mu.Lock()
	defer w.spidra.mu.Unlock()
	w.spidra.settings.Busy = on
}

// SetSpidraFaults changes what goes wrong while the world runs.
func (w *World) SetSpidraFaults(submits, polls PlatformFaults) {
	w.spidra.mu.Lock()
	defer w.spidra.mu.Unlock()
	w.spidra.settings.Faults, w.spidra.settings.PollFaults = submits, polls
}

// ChangeSpidra changes the account of a key while the world runs: its credits, its debt, its workers. change must not call
// the world; the keys and the name stay what they were.
func (w *World) ChangeSpidra(key string, change func(*SpidraAccount)) {
	p := w.spidra
	p.mu.Lock()
	defer p.mu.Unlock()
	if u := p.keys[key].user; u != nil {
		p.settle(w.now())
		change(&u.SpidraAccount)
	}
}

func (p *spidra) catchUp() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.settle(p.w.now())
}

func (p *spidra) snapshot(now time.Time) SpidraCounters {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.settle(now)
	out := p.counters
	out.IPs, out.Accounts = map[string]IPCounters{}, map[string]SpidraAccountCounters{}
	for name, ip := range p.ips {
		out.IPs[name] = ip.counters
	}
	for _, u := range p.users {
		out.Accounts[u.Name] = u.counters
	}
	return out
}

// serve answers a request; path is what follows prefix.
func (p *spidra) serve(rw http.ResponseWriter, r *http.Request, prefix, path string) {
	if file, ok := strings.CutPrefix(path, spidraFiles); ok {
		p.file(r, file).send(rw)
		return
	}
	var body map[string]any
	var bodyErr error
	if r.Method == http.MethodPost {
		body, bodyErr = readObject(r.Body)
	}
	p.mu.Lock()
	now := p.w.now()
	p.settle(now)
	rep := p.answer(spidraCall{r: r, now: now, prefix: prefix, body: body, bodyErr: bodyErr}, path)
	p.mu.Unlock()
	if sleep(r.Context(), p.settings.CallTime) { // what was decided stays so when the client left
		rep.send(rw)
	}
}

// spidraCall is a request as it arrived.
type spidraCall struct {
	r       *http.Request
	now     time.Time
	prefix  string // of the host that serves it, before the base's /api
	body    map[string]any
	bodyErr error
	user    *spidraAccount
}

// answer decides about a call: the IP's rate comes first, then the key. It is called with mu held.
func (p *spidra) answer(c spidraCall, path string) reply {
	if keyInQuery(c.r, p.keys) {
		p.counters.KeysInQuery++
	}
	ip := p.ip(c)
	ip.counters.Calls++
	if ip.announced.on(c.now, p.w.grace) {
		ip.counters.SentDuringWait++
	}
	ok, _ := ip.window.take(c.now, 0)
	if !ok && !p.settings.RefusalsFree {
		ip.window.states[0].spend(c.now)
	}
	if !ok {
		ip.counters.Refused++
		return p.rateHeaders(c.now, ip, p.fail(http.StatusTooManyRequests, "", "Too many requests from this IP, please try again later"), true)
	}
	rep, user := p.authorize(c.r)
	if user != nil {
		c.user = user
		rep = p.route(c, path)
	}
	return p.rateHeaders(c.now, ip, rep, false)
}

func (p *spidra) ip(c spidraCall) *spidraIP {
	name := clientIP(c.r)
	ip := p.ips[name]
	if ip == nil {
		kind := Fixed
		if p.settings.Sliding {
			kind = Sliding
		}
		ip = &spidraIP{window: newLimiter([]Limit{{Kind: kind, N: p.settings.Calls, Per: p.settings.Window}}, c.now)}
		p.ips[name] = ip
	}
	return ip
}

// rateHeaders adds what an answer says of the IP's window. A wait counts until its announced end.
func (p *spidra) rateHeaders(now time.Time, ip *spidraIP, rep reply, refused bool) reply {
	limit, remaining, reset, window, _ := ip.window.report(now)
	wait := seconds(reset)
	until := now.Add(time.Duration(wait) * time.Second)
	if !p.settings.ResetDelta { // the first whole second that is not before the window's end
		until = now.Add(reset + time.Second - 1).Truncate(time.Second)
	}
	if refused {
		ip.announced.told(now, now.Add(reset)) // whatever was announced is not before it
	}
	if p.settings.QuietHeaders && !refused {
		return rep
	}
	rep = rep.with("RateLimit-Limit", strconv.Itoa(limit)).with("RateLimit-Remaining", strconv.Itoa(remaining))
	if p.settings.ResetDelta {
		rep = rep.with("RateLimit-Reset", strconv.Itoa(wait))
	} else {
		rep = rep.with("RateLimit-Reset", strconv.FormatInt(until.Unix(), 10))
	}
	if p.settings.DraftHeaders {
		rep = rep.with("RateLimit", `"default";r=`+strconv.Itoa(remaining)+`;t=`+strconv.Itoa(wait)).
			with("RateLimit-Policy", `"default";q=`+strconv.Itoa(limit)+`;w=`+strconv.Itoa(seconds(window)))
	}
	if p.settings.RetryAfter && refused {
		rep = rep.with("Retry-After", strconv.Itoa(wait))
	}
	return rep
}

// authorize finds the account of a request's key; without one the reply says why.
func (p *spidra) authorize(r *http.Request) (reply, *spidraAccount) {
	key := r.Header.Get("X-Api-Key")
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok && key == "" && p.settings.Bearer {
		key = bearer
	}
	known := p.keys[key]
	switch {
	case key == "":
		p.counters.Unauthorized++
		return p.fail(http.StatusUnauthorized, "", "Missing API key"), nil
	case known.user == nil:
		p.counters.Unauthorized++
		return p.fail(http.StatusForbidden, "", "Invalid token or API key"), nil
	case known.disabled:
		p.counters.Unauthorized++
		return p.fail(http.StatusForbidden, "", "This API key is disabled"), nil
	}
	return reply{}, known.user
}

// fail is an error body.
func (p *spidra) fail(status int, code, text string) reply {
	body := map[string]any{"status": "error", "message": text}
	if code != "" {
		body["code"] = code
	}
	return reply{status: status, body: body}
}

// route leads a call with a good key to what it asks for.
func (p *spidra) route(c spidraCall, path string) reply {
	rest, ok := strings.CutPrefix(path, spidraAPI+"/")
	if !ok {
		return p.fail(http.StatusNotFound, "", "Not found")
	}
	if after, ok := strings.CutPrefix(rest, "batch-scrape"); ok && (after == "" || after[0] == '/') {
		rest = "batch/scrape" + after
	}
	parts := strings.Split(rest, "/")
	for _, route := range spidraRoutes {
		if args, ok := route.match(c.r.Method, parts); ok {
			return route.answer(p, c, args)
		}
	}
	return p.fail(http.StatusNotFound, "", "Not found")
}

// spidraRoute is one endpoint; * in its path stands for any part and is handed on.
type spidraRoute struct {
	method, path string
	answer       func(p *spidra, c spidraCall, id string) reply
}

func (r spidraRoute) match(method string, parts []string) (id string, ok bool) {
	want := strings.Split(r.path, "/")
	if method != r.method || len(want) != len(parts) {
		return "", false
	}
	for i, w := range want {
		switch {
		case w == "*" && parts[i] != "":
			id = parts[i]
		case w != parts[i]:
			return "", false
		}
	}
	return id, true
}

// spidraRoutes are the endpoints; the first that fits is taken.
var spidraRoutes = []spidraRoute{
	{"POST", "scrape", func(p *spidra, c spidraCall, _ string) reply { return p.submit(c, spidraScrape) }},
	{"POST", "batch/scrape", func(p *spidra, c spidraCall, _ string) reply { return p.submit(c, spidraBatch) }},
	{"POST", "crawl", func(p *spidra, c spidraCall, _ string) reply { return p.submit(c, spidraCrawl) }},
	{"GET", "scrape/*", func(p *spidra, c spidraCall, id string) reply { return p.poll(c, spidraScrape, id) }},
	{"GET", "batch/scrape", (*spidra).listBatches},
	{"GET", "batch/scrape/*", func(p *spidra, c spidraCall, id string) reply { return p.poll(c, spidraBatch, id) }},
	{"POST", "batch/scrape/*/retry", (*spidra).retry},
	{"DELETE", "batch/scrape/*", func(p *spidra, c spidraCall, id string) reply { return p.cancel(c, spidraBatch, id) }},
	{"GET", "crawl/history", (*spidra).crawlHistory},
	{"GET", "crawl/stats", (*spidra).crawlStats},
	{"GET", "crawl/job/*", (*spidra).crawlJob},
	{"GET", "crawl/*", func(p *spidra, c spidraCall, id string) reply { return p.poll(c, spidraCrawl, id) }},
	{"GET", "crawl/*/pages", (*spidra).crawlPages},
	{"DELETE", "crawl/*", func(p *spidra, c spidraCall, id string) reply { return p.cancel(c, spidraCrawl, id) }},
	{"GET", "scrape-logs", (*spidra).logList},
	{"GET", "scrape-logs/*", (*spidra).logEntry},
	{"GET", "usage-stats", (*spidra).usage},
}

// pageOf cuts a list to what page and limit of a query ask for.
func pageOf[T any](list []T, q url.Values) (part []T, page, limit int) {
	page, limit = max(1, number(q.Get("page"))), number(q.Get("limit"))
	if limit < 1 {
		limit = 20
	}
	limit = min(limit, 50)
	from := min(len(list), (page-1)*limit)
	return slices.Clone(list[from:min(len(list), from+limit)]), page, limit
}
