package simulator

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// OmniScrapeHost is the host name at which the OmniScrape API answers. At hosts that are no site it answers below
// OmniScrapePath.
const (
	OmniScrapeHost = "omniscrape.sim"
	OmniScrapePath = "/omniscrape"
)

// OmniScrapeDemoKey is the key of the account that settings without accounts have.
const OmniScrapeDemoKey = "omni-demo"

// OmniScrapeAccount is an account of the simulated OmniScrape API. Its keys share what it may.
type OmniScrapeAccount struct {
	Name        string // in the counters; default: the key
	Key         string
	MoreKeys    []string
	Concurrency int     // slots; zero: 5, the plan that pays as it goes
	Balance     float64 // money; zero: 1,000
	Monthly     int     // successful requests in a month of the world's calendar (UTC); zero: unlimited
	Used        int     // of them, when the world begins
	Trial       bool    // the direct proxy is locked
}

// RetryAfterForm is how a 429 tells its wait.
type RetryAfterForm string

// The forms. All but the first two announce nothing that can be kept.
const (
	RetryAfterSeconds   RetryAfterForm = "" // 2
	RetryAfterDate      RetryAfterForm = "date"
	RetryAfterPast      RetryAfterForm = "past" // a date a minute ago
	RetryAfterAbsent    RetryAfterForm = "absent"
	RetryAfterMalformed RetryAfterForm = "malformed" // soon
)

// Where a failed job says why.
const (
	FailureInData   = "" // data.error
	FailureOnTop    = "error"
	FailureInResult = "data.result.error"
)

// OmniScrapeSettings are the switches of the simulated OmniScrape API. The zero settings are the documented behaviour, and
// where nothing is documented the mildest.
type OmniScrapeSettings struct {
	Accounts []OmniScrapeAccount // nil: one account, omni-demo

	RetryAfter     time.Duration // announced with CONCURRENCY_LIMIT; zero: 2 s
	RetryAfterForm RetryAfterForm
	FreeOnHangUp   bool          // the slot of a client that left is free at once; the scrape goes on and is charged
	QueuedHolds    bool          // an asynchronous job holds a slot from its submit on; without a free one it is refused
	AsyncRefused   bool          // an asynchronous submit that finds all slots taken is refused, not queued
	QueueTime      time.Duration // how long a job is queued at least; zero: 500 ms
	Overhead       time.Duration // what the platform adds to the target's latency; zero: 400 ms
	SyncLimit      time.Duration // a synchronous scrape that takes longer is 504; zero: 120 s
	JobLimit       time.Duration // a job that takes longer is timed_out; zero: 300 s
	ChargeTimeouts bool          // both are charged
	Price          float64       // of a page; zero: 0.004
	FreeErrors     bool          // pages with a target status of 400 and above are neither charged nor counted
	UnlockFails    bool          // a target that answers 403 is 502, not a page

	SuccessFalse bool          // an inner status of 400 and above comes with success:false
	InnerWait    bool          // an inner 429's wait is told as the answer's Retry-After
	FailureAt    string        // where a failed job says why: FailureInData, ...
	Retention    time.Duration // how long an ended job can be read; zero: 24 h
	GoneStatus   int           // for a job that is not there; zero: 404
	Busy         bool          // 503 to every submit
	NoQueue      bool          // 503 to asynchronous ones only
	BusyWait     time.Duration // announced with 503 for being busy; zero: nothing
	SlowFor      time.Duration // zero: 5 s
	Faults       PlatformFaults
	PollFaults   PlatformFaults
	CallTime     time.Duration // what a call takes that scrapes nothing; zero: 40 ms
	fastestPoll  time.Duration
}

func (s OmniScrapeSettings) withDefaults(speed float64) OmniScrapeSettings {
	if s.Accounts == nil {
		s.Accounts = []OmniScrapeAccount{{Name: "demo", Key: OmniScrapeDemoKey, Balance: 100_000}}
	}
	for _, d := range []struct {
		field *time.Duration
		zero  time.Duration
	}{
		{&s.RetryAfter, 2 * time.Second}, {&s.QueueTime, 500 * time.Millisecond}, {&s.Overhead, 400 * time.Millisecond},
		{&s.SyncLimit, 120 * time.Second}, {&s.JobLimit, 300 * time.Second}, {&s.Retention, 24 * time.Hour}, {&s.BusyWait, 0},
		{&s.SlowFor, 5 * time.Second}, {&s.CallTime, sideLatency}, {&s.fastestPoll, time.Second},
	} {
		*d.field = scale(cmp.Or(*d.field, d.zero), speed)
	}
	s.Price = cmp.Or(s.Price, 0.004)
	s.GoneStatus = cmp.Or(s.GoneStatus, http.StatusNotFound)
	return s
}

// maxTimes bounds what OmniScrapeSubmits keeps.
const maxTimes = 100_000

// omni is the simulated OmniScrape API.
type omni struct {
	w *World

	mu       sync.Mutex // guards everything below; never held across a wait
	settings OmniScrapeSettings
	users    []*omniAccount
	keys     map[string]*omniAccount
	agenda   agenda[*omniJob]
	made     int
	submits  map[string]int // by URL, for scripts
	counters OmniScrapeCounters
}

// omniAccount is an account at work. Everything in it is guarded by the API's lock.
type omniAccount struct {
	OmniScrapeAccount
	month     time.Time // Used is of the month that this begins
	inFlight  int       // slots held
	open      int       // accepted and not ended: what may be charged yet
	queue     []*omniJob
	queued    int // asynchronous jobs that have not begun, in the queue or on their way into it
	jobs      map[string]*omniJob
	scraped   charged
	paid      charged
	announced announced
	times     []time.Time
	counters  OmniScrapeAccountCounters
}

func newOmni(w *World, s OmniScrapeSettings) *omni {
	o := &omni{w: w, settings: s.withDefaults(w.speed), keys: map[string]*omniAccount{}, submits: map[string]int{}}
	for _, a := range o.settings.Accounts {
		a.Name = cmp.Or(a.Name, a.Key)
		a.Concurrency = cmp.Or(a.Concurrency, 5)
		a.Balance = cmp.Or(a.Balance, 1000)
		u := &omniAccount{OmniScrapeAccount: a, month: monthOf(w.worldTime(w.began)), jobs: map[string]*omniJob{}, scraped: charged{}, paid: charged{}}
		o.users = append(o.users, u)
		for _, k := range append([]string{a.Key}, a.MoreKeys...) {
			o.keys[k] = u
		}
	}
	return o
}

func (o *omni) firstKey() string {
	if len(o.users) == 0 {
		return ""
	}
	return o.users[0].Key
}

func monthOf(t time.Time) time.Time {
	y, m, _ := t.UTC().Date()
	return time.Date(y, m, 1, 0, 0, 0, 0, time.UTC)
}

// SetOmniScrapeBusy turns the capacity refusal on or off while the world runs: of every submit, of asynchronous ones.
func (w *World) SetOmniScrapeBusy(all, async bool) {
	w.omni.mu.Lock()
	defer w.omni.mu.Unlock()
	w.omni.settings.Busy, w.omni.settings.NoQueue = all, async
}

// SetOmniScrapeFaults changes what goes wrong while the world runs.
func (w *World) SetOmniScrapeFaults(submits, polls PlatformFaults) {
	w.omni.mu.Lock()
	defer w.omni.mu.Unlock()
	w.omni.settings.Faults, w.omni.settings.PollFaults = submits, polls
}

// ChangeOmniScrape changes the account of a key while the world runs: its slots, its balance, its allowance. change must
// not call the world; the keys and the name stay what they were.
func (w *World) ChangeOmniScrape(key string, change func(*OmniScrapeAccount)) {
	o := w.omni
	o.mu.Lock()
	defer o.mu.Unlock()
	if u := o.keys[key]; u != nil {
		now := w.now()
		o.settle(now)
		change(&u.OmniScrapeAccount)
		o.startQueued(now, u)
	}
}

// OmniScrapeSubmits are the moments at which the submits of a key's account arrived, the first 100,000 of them.
func (w *World) OmniScrapeSubmits(key string) []time.Time {
	w.omni.mu.Lock()
	defer w.omni.mu.Unlock()
	if u := w.omni.keys[key]; u != nil {
		return slices.Clone(u.times)
	}
	return nil
}

func (o *omni) catchUp() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.settle(o.w.now())
}

func (o *omni) snapshot(now time.Time) OmniScrapeCounters {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.settle(now)
	out := o.counters
	out.Accounts = map[string]OmniScrapeAccountCounters{}
	for _, u := range o.users {
		c := u.counters
		c.Charges = float64(c.Charged) * o.settings.Price // one product: a sum would drift
		c.InFlight = u.inFlight
		out.Accounts[u.Name] = c
	}
	return out
}

// serve answers a request; path is what follows the host or prefix.
func (o *omni) serve(rw http.ResponseWriter, r *http.Request, _, path string) {
	var body map[string]any
	var bodyErr error
	if r.Method == http.MethodPost {
		body, bodyErr = readObject(r.Body)
	}
	c := omniCall{r: r, body: body, bodyErr: bodyErr, async: path == omniScrapePath+"/async"}
	o.mu.Lock()
	c.now = o.w.now()
	o.settle(c.now)
	rep, job := o.answer(c, path)
	slow := o.settings.SlowFor
	o.mu.Unlock()
	if job == nil || job.async {
		if sleep(r.Context(), o.settings.CallTime) { // what was decided stays so when the client left
			rep.send(rw)
		}
		return
	}
	if !sleep(r.Context(), job.done.Sub(c.now)) {
		o.hangUp(job)
		return
	}
	o.mu.Lock()
	o.settle(later(o.w.now(), job.done))
	rep = o.result(job).spoilt(r, job.fault, slow)
	o.mu.Unlock()
	rep.send(rw)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// omniCall is a request as it arrived.
type omniCall struct {
	r       *http.Request
	now     time.Time
	body    map[string]any
	bodyErr error
	async   bool
	user    *omniAccount
}

const (
	omniScrapePath = "/v1/scrape"
	omniJobsPath   = "/v1/jobs/"
	omniProxyPath  = "/v1/proxy/fetch"
)

// answer decides about a call. With a synchronous job the answer is not known yet. It is called with mu held.
func (o *omni) answer(c omniCall, path string) (reply, *omniJob) {
	if keyInQuery(c.r, o.keys) {
		o.counters.KeysInQuery++
	}
	c.user = o.keys[c.r.Header.Get("X-Api-Key")]
	if c.user == nil {
		o.counters.Unauthorized++
		return o.fail(http.StatusUnauthorized, "", "Invalid or missing API key"), nil
	}
	id, isJob := strings.CutPrefix(path, omniJobsPath)
	switch {
	case c.r.Method == http.MethodPost && (path == omniScrapePath || c.async):
		return o.submit(c)
	case c.r.Method == http.MethodGet && isJob:
		return o.poll(c, id), nil
	case path == omniProxyPath && c.user.Trial:
		return o.fail(http.StatusPaymentRequired, "PROXY_LOCKED", "The direct proxy is not part of the trial"), nil
	case path == omniScrapePath || c.async || isJob:
		return o.fail(http.StatusMethodNotAllowed, "", "Method not allowed"), nil
	}
	return o.fail(http.StatusNotFound, "", "Not found"), nil
}

// fail is an error body.
func (o *omni) fail(status int, code, text string) reply {
	body := map[string]any{"success": false, "error": text}
	if code != "" {
		body["code"] = code
	}
	return reply{status: status, body: body}
}

// omniURL reads the one field that matters.
func omniURL(body map[string]any) (*url.URL, bool) {
	text, _ := body["url"].(string)
	return webAddress(text)
}
