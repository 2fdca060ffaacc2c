package simulator

import (
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// omniJob is a scrape, synchronous or not.
type omniJob struct {
	id         string
	user       *omniAccount
	async      bool
	target     *url.URL
	url, fault string
	state      string
	begun      time.Time // accepted
	started    time.Time // got its slot
	done       time.Time // known from the start on
	updated    time.Time
	polled     time.Time
	holds      bool // a slot
	charged    bool
	visit      visit
}

const (
	omniQueued     = "queued"
	omniProcessing = "processing"
	omniCompleted  = "completed"
	omniFailed     = "failed"
	omniTimedOut   = "timed_out"
)

func (j *omniJob) over() bool { return j.state != omniQueued && j.state != omniProcessing }

// submit takes a scrape. The order of what is checked: the request, capacity, payment, slots.
func (o *omni) submit(c omniCall) (reply, *omniJob) {
	u, s := c.user, &o.settings
	u.counters.Submits++
	if len(u.times) < maxTimes {
		u.times = append(u.times, c.now)
	}
	if c.async {
		u.counters.Async++
	}
	if u.announced.on(c.now, o.w.grace) {
		u.counters.SentDuringWait++
	}
	target, ok := omniURL(c.body)
	if c.bodyErr != nil || !ok {
		u.counters.Rejected++
		return o.fail(http.StatusBadRequest, "", "url is required and must be an absolute http or https URL"), nil
	}
	key := target.String()
	o.submits[key]++
	fault := o.w.submitFault(s.Faults, target, o.submits[key])
	switch {
	case fault == faultServerError:
		return o.fail(http.StatusInternalServerError, "", "Internal server error"), nil
	case fault == faultResetBefore:
		return reply{dropped: true}, nil
	case s.Busy || fault == faultUnavailable:
		return o.busy(c.now, u, "The service is temporarily unavailable"), nil
	case s.NoQueue && c.async:
		return o.busy(c.now, u, "Asynchronous jobs are not available here"), nil
	}
	if rep, ok := o.payment(c.now, u, fault); !ok {
		u.counters.Unpaid++
		return rep, nil
	}
	full := u.inFlight >= u.Concurrency
	switch {
	case fault == faultLimited:
		u.counters.Refused++
		return o.fail(http.StatusTooManyRequests, "", "Too many requests"), nil
	case full && (!c.async || s.AsyncRefused || s.QueuedHolds):
		return o.refuse(c.now, u), nil
	}
	j := &omniJob{user: u, async: c.async, target: target, url: key, fault: fault, state: omniQueued, begun: c.now, updated: c.now}
	u.counters.Jobs++
	u.open++
	if u.scraped.again(key) {
		u.counters.DuplicateScrapes++
	}
	if !c.async {
		o.hold(u, j)
		o.start(c.now, j)
		return reply{}, j
	}
	return o.accept(c, j).spoilt(c.r, fault, s.SlowFor), j
}

// accept queues an asynchronous job and names it.
func (o *omni) accept(c omniCall, j *omniJob) reply {
	o.made++
	if o.made%sweepEvery == 0 {
		maps.DeleteFunc(j.user.jobs, func(_ string, old *omniJob) bool { return o.expired(c.now, old) })
	}
	j.id = fmt.Sprintf("%04x%08x", o.made, uint32(o.w.chance.of("omniscrape", o.made)))
	j.user.jobs[j.id] = j
	j.user.queued++
	j.user.counters.PeakQueued = max(j.user.counters.PeakQueued, j.user.queued)
	if o.settings.QueuedHolds {
		o.hold(j.user, j)
	}
	o.agenda.add(c.now.Add(o.settings.QueueTime), j)
	if j.fault == faultLateGateway {
		return o.fail(http.StatusGatewayTimeout, "", "Gateway timeout")
	}
	return reply{status: http.StatusAccepted, body: map[string]any{"success": true, "job_id": j.id, "status": omniQueued, "poll": omniJobsPath + j.id}}
}

// busy is a 503, with a wait or without.
func (o *omni) busy(now time.Time, u *omniAccount, text string) reply {
	u.counters.Busy++
	rep := o.fail(http.StatusServiceUnavailable, "", text)
	if wait := o.settings.BusyWait; wait > 0 {
		rep = rep.with("Retry-After", strconv.Itoa(seconds(wait)))
		u.announced.toldSeconds(now, seconds(wait))
	}
	return rep
}

// payment refuses who has nothing left, in three forms.
func (o *omni) payment(now time.Time, u *omniAccount, fault string) (reply, bool) {
	if month := monthOf(o.w.worldTime(now)); month.After(u.month) {
		u.month, u.Used = month, 0
	}
	spent := float64(int(u.counters.Charged)+u.open) * o.settings.Price
	switch {
	case fault == faultProxyLocked:
		return o.fail(http.StatusPaymentRequired, "PROXY_LOCKED", "The direct proxy is not part of the trial"), false
	case u.Monthly > 0 && u.Used >= u.Monthly:
		return o.fail(http.StatusPaymentRequired, "MONTHLY_QUOTA_EXCEEDED", fmt.Sprintf("Monthly quota exceeded (%d/%d)", u.Used, u.Monthly)), false
	case u.Balance-spent < o.settings.Price-1e-9:
		return o.fail(http.StatusPaymentRequired, "", "Your balance is exhausted"), false
	}
	return reply{}, true
}

// refuse is the answer to a scrape that finds no slot.
func (o *omni) refuse(now time.Time, u *omniAccount) reply {
	u.counters.Refused++
	rep := o.fail(http.StatusTooManyRequests, "CONCURRENCY_LIMIT", fmt.Sprintf("Concurrency limit of %d reached", u.Concurrency))
	wait := seconds(o.settings.RetryAfter)
	switch o.settings.RetryAfterForm {
	case RetryAfterAbsent:
		return rep
	case RetryAfterMalformed:
		return rep.with("Retry-After", "soon")
	case RetryAfterPast:
		return rep.with("Retry-After", now.Add(-time.Minute).UTC().Format(http.TimeFormat))
	case RetryAfterDate:
		h := http.Header{}
		u.announced.told(now, now.Add(tellWait(now, o.settings.RetryAfter, TellDate, h)))
		return rep.with("Retry-After", h.Get("Retry-After"))
	}
	u.announced.toldSeconds(now, wait)
	return rep.with("Retry-After", strconv.Itoa(wait))
}

func (o *omni) hold(u *omniAccount, j *omniJob) {
	j.holds = true
	u.inFlight++
	u.counters.PeakInFlight = max(u.counters.PeakInFlight, u.inFlight)
}

// free gives a job's slot to what is queued.
func (o *omni) free(now time.Time, j *omniJob) {
	if j.holds {
		j.holds = false
		j.user.inFlight--
		o.startQueued(now, j.user)
	}
}

func (o *omni) startQueued(now time.Time, u *omniAccount) {
	for len(u.queue) > 0 && u.inFlight < u.Concurrency {
		j := u.queue[0]
		u.queue[0] = nil
		u.queue = u.queue[1:]
		o.hold(u, j)
		o.start(now, j)
	}
}

// start visits the target for a job that has its slot; when it ends is known from here on.
func (o *omni) start(now time.Time, j *omniJob) {
	if j.async {
		j.user.queued--
	}
	j.user.counters.Started++
	j.state, j.started, j.updated = omniProcessing, now, now
	j.visit = o.w.visitAt(now, j.target)
	limit := o.settings.SyncLimit
	if j.async {
		limit = o.settings.JobLimit
	}
	j.done = now.Add(min(o.settings.Overhead+j.visit.took, limit))
	o.agenda.add(j.done, j)
}

// settle does what has come due by now, in the order of time: queued jobs that may start, scrapes that end. It is called
// with mu held, before anything is looked at.
func (o *omni) settle(now time.Time) {
	for {
		j, at, ok := o.agenda.due(now)
		switch {
		case !ok:
			return
		case j.state == omniProcessing:
			o.end(at, j)
		case j.holds:
			o.start(at, j)
		default:
			j.user.queue = append(j.user.queue, j)
			o.startQueued(at, j.user)
		}
	}
}

// end settles a scrape: it is charged when content was delivered.
func (o *omni) end(now time.Time, j *omniJob) {
	s, u := &o.settings, j.user
	limit, charge := s.SyncLimit, false
	if j.async {
		limit = s.JobLimit
	}
	switch took := s.Overhead + j.visit.took; {
	case took > limit:
		j.state, charge = omniTimedOut, s.ChargeTimeouts
	case j.unlockFailed(s):
		j.state = omniFailed
	default:
		j.state = omniCompleted
		charge = j.visit.body != "" && (j.visit.status < 400 || !s.FreeErrors)
	}
	if month := monthOf(o.w.worldTime(now)); month.After(u.month) {
		u.month, u.Used = month, 0
	}
	if charge {
		u.Used++
		u.counters.Charged++
		if u.paid.again(j.url) {
			u.counters.DuplicateCharges++
		}
	}
	j.charged, j.updated = charge, now
	u.open--
	o.free(now, j)
}

// hangUp is a client that left before its answer.
func (o *omni) hangUp(j *omniJob) {
	o.mu.Lock()
	defer o.mu.Unlock()
	j.user.counters.HungUp++
	if o.settings.FreeOnHangUp {
		now := o.w.now()
		o.settle(now)
		o.free(now, j)
	}
}

// unlockFailed reports that no page came, whatever was tried.
func (j *omniJob) unlockFailed(s *OmniScrapeSettings) bool {
	v := &j.visit
	return j.fault == faultBadGateway || v.failed() || v.fault == faultUnlock || s.UnlockFails && v.status == http.StatusForbidden
}

// faultUnlock is what a target's script can ask of OmniScrape.
const faultUnlock = "unlock"

// round keeps milliseconds of a number of seconds.
func round(d time.Duration) float64 { return math.Round(d.Seconds()*1000) / 1000 }
