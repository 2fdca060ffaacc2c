package simulator

import (
	"cmp"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// EvomiAccount is a key of the simulated Evomi API. Each key has its own limits.
type EvomiAccount struct {
	Name        string // in the counters; default: the key
	Key         string
	Concurrency int     // simultaneous requests; zero: 5
	Credits     float64 // balance; zero: 1,000
}

// EvomiFaults are shares (0 to 1) of submits that go wrong, drawn for each submit of a URL. At most one happens.
type EvomiFaults struct {
	ServerError float64 // 500, nothing begun
	Unavailable float64 // 503, nothing begun
	ResetBefore float64 // the connection is dropped, nothing begun
	ResetAfter  float64 // the connection is dropped although the scrape was carried out and charged
	SlowBody    float64 // the answer comes in pieces, over SlowFor
	Truncated   float64 // the answer's JSON ends early
	HTML        float64 // an HTML page instead of JSON, with 502: outcome unknown, the scrape was carried out
}

// EvomiSettings are the switches of the simulated Evomi API. The zero settings are the documented behaviour, and where
// nothing is documented the mildest.
type EvomiSettings struct {
	Accounts []EvomiAccount // nil: one account, demo-key

	HandOffRequest time.Duration // a synchronous run in mode request becomes a task after this; zero: 30 s
	HandOffBrowser time.Duration // the same for browsers; zero: 45 s
	HandOff408     bool          // 408 with a task id instead of 202
	Overhead       time.Duration // what the platform adds to the target's latency; zero: 150 ms
	BrowserTime    time.Duration // what a browser adds; zero: 3 s
	UpgradeShare   float64       // share of URLs for which mode auto needs a browser

	Lease               time.Duration // a request counts at most this long; zero: 60 s
	LeaseWholeCounter   bool          // the whole counter expires together, a lease after it was last empty
	BackgroundHoldsSlot bool          // tasks hold a slot until they are done
	PollsHoldSlot       bool          // polls and health count as requests
	Reset               time.Duration // announced with 429; zero: 60 s
	RetryAfter          bool          // 429 carries Retry-After too
	UnavailableWait     time.Duration // announced as Retry-After with 503; zero: nothing

	Retention           time.Duration // how long a result can be read; zero: 600 s
	RetentionFromSubmit bool          // counted from the submit, not from completion
	CollectFailed       bool          // reading a failed task deletes it
	GoneStatus          int           // for a task that is not there; zero: 404
	NestedResult        bool          // completed tasks carry their page below "result"
	NestedErrors        bool          // errors are objects
	ChargeAll           bool          // scrapes that brought no page are charged too
	SlowFor             time.Duration // zero: 5 s
	Faults              EvomiFaults
}

// DemoKey is the key of the account that settings without accounts have.
const DemoKey = "demo-key"

func (s EvomiSettings) withDefaults(speed float64) EvomiSettings {
	if s.Accounts == nil {
		s.Accounts = []EvomiAccount{{Name: "demo", Key: DemoKey, Credits: 100_000}}
	}
	for _, d := range []struct {
		field *time.Duration
		zero  time.Duration
	}{
		{&s.HandOffRequest, 30 * time.Second}, {&s.HandOffBrowser, 45 * time.Second}, {&s.Overhead, 150 * time.Millisecond},
		{&s.BrowserTime, 3 * time.Second}, {&s.Lease, 60 * time.Second}, {&s.Reset, 60 * time.Second},
		{&s.UnavailableWait, 0}, {&s.Retention, 600 * time.Second}, {&s.SlowFor, 5 * time.Second},
	} {
		*d.field = scale(cmp.Or(*d.field, d.zero), speed)
	}
	s.GoneStatus = cmp.Or(s.GoneStatus, http.StatusNotFound)
	return s
}

// evomi is the simulated Evomi API.
type evomi struct {
	w *World

	mu       sync.Mutex // guards everything below; never held across a wait
	settings EvomiSettings
	accounts map[string]*evomiAccount // by key
	first    string
	tasks    int
	counters EvomiCounters // Keys holds none: the accounts do
	submits  map[string]int
}

func newEvomi(w *World, s EvomiSettings) *evomi {
	e := &evomi{w: w, settings: s.withDefaults(w.speed), accounts: map[string]*evomiAccount{}, submits: map[string]int{}}
	for _, a := range e.settings.Accounts {
		a.Name = cmp.Or(a.Name, a.Key)
		a.Concurrency = cmp.Or(a.Concurrency, 5)
		a.Credits = cmp.Or(a.Credits, 1000)
		e.accounts[a.Key] = &evomiAccount{EvomiAccount: a, jobs: map[string]*evomiJob{}, scraped: map[string]bool{}}
		e.first = cmp.Or(e.first, a.Key)
	}
	return e
}

func (e *evomi) firstKey() string { return e.first }

// TopUp adds credits to the account of a key.
func (w *World) TopUp(key string, credits float64) {
	w.evomi.mu.Lock()
	defer w.evomi.mu.Unlock()
	if a := w.evomi.accounts[key]; a != nil {
		a.Credits += credits
	}
}

// SetConcurrency changes the limit of a key while the world runs.
func (w *World) SetConcurrency(key string, n int) {
	w.evomi.mu.Lock()
	defer w.evomi.mu.Unlock()
	if a := w.evomi.accounts[key]; a != nil {
		a.Concurrency = n
	}
}

// SetEvomiFaults changes what goes wrong while the world runs.
func (w *World) SetEvomiFaults(f EvomiFaults) {
	w.evomi.mu.Lock()
	defer w.evomi.mu.Unlock()
	w.evomi.settings.Faults = f
}

const scraperPath = "/api/v1/scraper/"

// serve answers a request below the base URL.
func (e *evomi) serve(rw http.ResponseWriter, r *http.Request, _, path string) {
	var body map[string]any
	var bodyErr error
	if r.Method == http.MethodPost {
		body, bodyErr = readObject(r.Body)
	}
	account := e.authorize(r, body)
	if account == nil {
		e.error(rw, nil, http.StatusUnauthorized, "UNAUTHORIZED", "Invalid API key", nil)
		return
	}
	rest, ok := strings.CutPrefix(path, scraperPath)
	task, isTask := strings.CutPrefix(rest, "tasks/")
	switch {
	case !ok:
		e.error(rw, account, http.StatusNotFound, "NOT_FOUND", "Not found", nil)
	case rest == "realtime" && (r.Method == http.MethodGet || r.Method == http.MethodPost):
		if r.Method == http.MethodGet {
			body = fromQuery(r.URL.Query())
		}
		e.realtime(rw, r, account, body, bodyErr)
	case rest == "health" && r.Method == http.MethodGet:
		e.sideCall(rw, r, account, func(now time.Time) reply { return account.health() })
	case isTask && task != "" && r.Method == http.MethodGet:
		e.sideCall(rw, r, account, func(now time.Time) reply { return account.poll(now, task, &e.settings) })
	case rest == "realtime" || rest == "health" || isTask:
		e.error(rw, account, http.StatusMethodNotAllowed, "METHOD", "Method not allowed", nil)
	default:
		e.error(rw, account, http.StatusNotFound, "NOT_FOUND", "Not found", nil)
	}
}

// authorize finds the account of a request's key: the query's before the header's before the body's.
func (e *evomi) authorize(r *http.Request, body map[string]any) *evomiAccount {
	query, header := r.URL.Query().Get("api_key"), r.Header.Get("X-Api-Key")
	inBody, _ := body["api_key"].(string)
	e.mu.Lock()
	defer e.mu.Unlock()
	if query != "" {
		e.counters.KeysInQuery++
	}
	a := e.accounts[cmp.Or(query, header, inBody)]
	if a == nil {
		e.counters.Unauthorized++
	}
	return a
}

// error answers with the API's error body. account may be nil.
func (e *evomi) error(rw http.ResponseWriter, a *evomiAccount, status int, code, text string, extra map[string]any) {
	e.mu.Lock()
	rep := e.errorReply(e.w.now(), status, code, text, extra)
	slots := e.slots(e.w.now(), a)
	e.mu.Unlock()
	write(rw, rep, slots)
}

// errorReply is an error body, flat or nested. It is called with mu held.
func (e *evomi) errorReply(now time.Time, status int, code, text string, extra map[string]any) reply {
	body := map[string]any{"success": false, "error": text, "message": text, "timestamp": now.UTC().Format(time.RFC3339)}
	if e.settings.NestedErrors {
		body = map[string]any{"success": false, "status_code": status,
			"error": map[string]any{"code": code, "message": text, "details": map[string]any{"validation_errors": []string{text}}}}
	}
	for k, v := range extra {
		body[k] = v
	}
	return reply{status: status, body: body}
}

// slots are the two headers that every answer carries. It is called with mu held.
func (e *evomi) slots(now time.Time, a *evomiAccount) [2]int {
	if a == nil {
		return [2]int{5, 5} // no key, no count: what a plan has
	}
	return [2]int{a.Concurrency, max(0, a.Concurrency-a.inFlight(now, &e.settings))}
}

func write(rw http.ResponseWriter, rep reply, slots [2]int) {
	rw.Header().Set("X-RateLimit-Limit", strconv.Itoa(slots[0]))
	rw.Header().Set("X-RateLimit-Remaining", strconv.Itoa(slots[1]))
	rep.send(rw)
}

// sideCall answers a call that scrapes nothing.
func (e *evomi) sideCall(rw http.ResponseWriter, r *http.Request, a *evomiAccount, answer func(now time.Time) reply) {
	var slot *lease
	e.mu.Lock()
	now := e.w.now()
	if e.settings.PollsHoldSlot {
		if full, rep := e.refuse(now, a); full {
			slots := e.slots(now, a)
			e.mu.Unlock()
			write(rw, rep, slots)
			return
		}
		slot = a.hold(now, now.Add(e.settings.Lease))
	}
	e.mu.Unlock()
	there := sleep(r.Context(), scale(sideLatency, e.w.speed))
	e.mu.Lock()
	now = e.w.now()
	slots := e.slots(now, a)
	if slot != nil && there {
		a.free(slot)
	}
	if !there {
		e.mu.Unlock()
		return // nothing is collected by a client that left before
	}
	a.advance(now, e.settings)
	rep := answer(now)
	e.mu.Unlock()
	write(rw, rep, slots)
}

// refuse is the answer to a request that finds no slot. It is called with mu held.
func (e *evomi) refuse(now time.Time, a *evomiAccount) (bool, reply) {
	n := a.inFlight(now, &e.settings)
	if n < a.Concurrency {
		return false, reply{}
	}
	a.counters.Refused++
	limit := strconv.Itoa(a.Concurrency)
	seconds := int(max(1, math.Ceil(e.settings.Reset.Seconds())))
	rep := e.errorReply(now, http.StatusTooManyRequests, "RATE_LIMIT", "Concurrency limit exceeded ("+limit+"/"+limit+")",
		map[string]any{"limit": a.Concurrency, "reset": seconds})
	if e.settings.RetryAfter {
		rep.header = map[string]string{"Retry-After": strconv.Itoa(seconds)}
	}
	a.announced = append(a.announced, announcement{now, now.Add(time.Duration(seconds) * time.Second)})
	return true, rep
}
