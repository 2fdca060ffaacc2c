package simulator

import (
	"net/http"
	"time"
)

// realtime takes a scrape request and carries it to its answer.
func (e *evomi) realtime(rw http.ResponseWriter, r *http.Request, a *evomiAccount, body map[string]any, bodyErr error) {
	now := e.w.now()
	e.mu.Lock()
	a.advance(now, e.settings)
	job, fault, rep := e.submit(now, a, body, bodyErr)
	if job == nil {
		slots := e.slots(now, a)
		e.mu.Unlock()
		write(rw, rep, slots)
		return
	}
	slot := a.hold(now, now.Add(e.settings.Lease))
	e.mu.Unlock()

	// The target is asked without our lock: its site has its own.
	v := e.w.siteOf(hostname(job.fields.target.Host), true).visitBy(now, job)
	e.mu.Lock()
	e.begin(a, job, v)
	s := e.settings
	e.mu.Unlock()

	handOff := s.HandOffRequest
	if job.browser() {
		handOff = s.HandOffBrowser
	}
	wait := min(job.done.Sub(now), handOff)
	if job.fields.async {
		wait = min(wait, scale(sideLatency, e.w.speed))
	}
	if !sleep(r.Context(), wait) {
		return // the slot of a client that left is counted until its lease ends; the scrape goes on
	}

	e.mu.Lock()
	now = e.w.now()
	slots := e.slots(now, a)
	if job.fields.async || now.Before(job.done) {
		rep = e.handOver(a, job, slot, &s)
	} else {
		a.free(slot)
		a.advance(now, s)
		rep = a.result(job)
	}
	e.mu.Unlock()
	e.spoil(rw, r, fault, rep, slots, s.SlowFor)
}

// spoil writes an answer the way the fault of its submit says.
func (e *evomi) spoil(rw http.ResponseWriter, r *http.Request, fault string, rep reply, slots [2]int, slowFor time.Duration) {
	if fault == faultHTML {
		rep = reply{status: http.StatusBadGateway}
	}
	write(rw, rep.spoilt(r, fault, slowFor), slots)
}

// faultOf chooses what goes wrong with the nth submit of a URL.
func (e *evomi) faultOf(f scrapeFields, n int) string {
	if s, ok := scriptOf(f.target); ok && s.outer != "" {
		if s.applies(n) {
			return s.outer
		}
		return ""
	}
	shares := &e.settings.Faults
	is := pick(e.w.chance.of(f.target.String(), -n).float(0))
	switch {
	case is.within(shares.ServerError):
		return faultServerError
	case is.within(shares.Unavailable):
		return faultUnavailable
	case is.within(shares.ResetBefore):
		return faultResetBefore
	case is.within(shares.ResetAfter):
		return faultResetAfter
	case is.within(shares.SlowBody):
		return faultSlow
	case is.within(shares.Truncated):
		return faultTruncated
	case is.within(shares.HTML):
		return faultHTML
	}
	return ""
}

// submit checks a request; without a job, rep is the answer. It is called with mu held.
func (e *evomi) submit(now time.Time, a *evomiAccount, body map[string]any, bodyErr error) (job *evomiJob, fault string, rep reply) {
	a.counters.Submits++
	for _, w := range a.announced {
		if now.After(w.at.Add(e.w.grace)) && now.Before(w.until) {
			a.counters.SentDuringWait++
			break
		}
	}
	if bodyErr != nil || body == nil {
		a.counters.Rejected++
		return nil, "", e.errorReply(now, http.StatusBadRequest, "BAD_REQUEST", "The body is not a JSON object", nil)
	}
	f, err := checkFields(body)
	if err != nil {
		a.counters.Rejected++
		return nil, "", e.errorReply(now, http.StatusUnprocessableEntity, "VALIDATION_ERROR", err.Error(), nil)
	}
	key := f.target.String()
	e.submits[key]++
	switch fault = e.faultOf(f, e.submits[key]); fault {
	case faultServerError:
		return nil, "", e.errorReply(now, http.StatusInternalServerError, "INTERNAL", "Internal server error", nil)
	case faultUnavailable:
		a.counters.Busy++
		rep := e.errorReply(now, http.StatusServiceUnavailable, "UNAVAILABLE", "Service temporarily unavailable", nil)
		if wait := e.settings.UnavailableWait; wait > 0 {
			h := http.Header{}
			a.announced = append(a.announced, announcement{now, now.Add(tellWait(now, wait, TellSeconds, h))})
			rep.header = map[string]string{"Retry-After": h.Get("Retry-After")}
		}
		return nil, "", rep
	case faultResetBefore:
		return nil, "", reply{dropped: true}
	case faultTimeout:
		return nil, "", e.errorReply(now, http.StatusRequestTimeout, "TIMEOUT", "Request timed out", nil)
	}
	job = &evomiJob{begun: now, url: key, fields: f, mode: f.mode}
	browser := f.mode == "browser"
	if f.mode == "auto" {
		browser = e.w.chance.of(key, 0).float(70) < e.settings.UpgradeShare
		job.mode = "auto (request)"
		if browser {
			job.mode = "auto (browser)"
		}
	}
	job.price = price(f, browser)
	job.worst = price(f, f.mode != "request")
	if a.Credits-a.reserved < job.worst {
		a.counters.Unpaid++
		return nil, "", e.errorReply(now, http.StatusPaymentRequired, "CREDITS", "Insufficient credits",
			map[string]any{"credits_remaining": a.Credits})
	}
	if full, rep := e.refuse(now, a); full {
		return nil, "", rep
	}
	a.reserved += job.worst
	job.done = now.Add(e.settings.Overhead + scale(time.Duration(f.wait)*time.Second, e.w.speed))
	if browser {
		job.done = job.done.Add(e.settings.BrowserTime)
	}
	a.counters.Started++
	if a.scraped[key] {
		a.counters.DuplicateScrapes++
	}
	a.scraped[key] = true
	return job, fault, reply{}
}

func (j *evomiJob) browser() bool { return j.mode == "browser" || j.mode == "auto (browser)" }

// visitBy is a platform's visit for a job.
func (s *site) visitBy(now time.Time, j *evomiJob) visit {
	if s == nil { // more hosts than a world holds
		return visit{ending: dropped}
	}
	return s.arrive(now, j.fields.target, true)
}

// begin notes how a job will end. It is called with mu held.
func (e *evomi) begin(a *evomiAccount, j *evomiJob, v visit) {
	j.visit = v
	j.done = j.done.Add(v.took)
	if !e.settings.ChargeAll && (v.failed() || v.status >= 300) {
		j.price = 0
	}
	a.running = append(a.running, j)
}

// handOver makes a job a task. It is called with mu held.
func (e *evomi) handOver(a *evomiAccount, j *evomiJob, slot *lease, s *EvomiSettings) reply {
	e.tasks++
	j.id = taskID(e.tasks, e.w.chance)
	a.jobs[j.id] = j
	a.counters.HandedOn++
	switch {
	case s.BackgroundHoldsSlot && !j.settled:
		slot.until = j.begun.Add(max(s.Lease, j.done.Sub(j.begun)))
		j.lease = slot
	default:
		a.free(slot)
	}
	body := map[string]any{"task_id": j.id, "status": "processing", "check_url": scraperPath + "tasks/" + j.id}
	status := http.StatusAccepted
	if !j.fields.async {
		body["success"] = true
		body["message"] = "Task is taking longer than expected. Use task_id to check status."
		if s.HandOff408 {
			status = http.StatusRequestTimeout
			body["status"] = "pending"
		}
	}
	return reply{status: status, body: body}
}

// result is the answer to a synchronous scrape that ended in time.
func (a *evomiAccount) result(j *evomiJob) reply {
	if j.visit.failed() {
		return reply{status: http.StatusOK, header: a.prices(j), body: map[string]any{"success": false, "url": j.url,
			"error": navigationFailed, "message": navigationFailed}}
	}
	if j.fields.delivery == "json" {
		return reply{status: http.StatusOK, header: a.prices(j), body: a.envelope(j)}
	}
	return reply{status: http.StatusOK, header: a.prices(j), page: j.visit.body, kind: j.visit.header.Get("Content-Type")}
}
