package simulator

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// submit takes a job. The order of what is checked: validation, billing, pending jobs, capacity.
func (p *spidra) submit(c spidraCall, kind string) reply {
	u, s := c.user, &p.settings
	u.counters.Submits++
	if u.announced.on(c.now, p.w.grace) {
		u.counters.SentDuringWait++
	}
	if c.bodyErr != nil || c.body == nil {
		u.counters.Rejected++
		return p.fail(http.StatusBadRequest, "", "The body is not a JSON object")
	}
	f, err := p.fields(kind, c.body)
	if err != nil {
		u.counters.Rejected++
		return p.invalid(err)
	}
	first := f.targets[0]
	p.submits[first.String()]++
	fault := p.w.submitFault(s.Faults, first, p.submits[first.String()])
	switch fault {
	case faultServerError:
		return p.fail(http.StatusInternalServerError, "", "Internal server error")
	case faultBadGateway:
		return p.fail(http.StatusBadGateway, "", "Bad gateway")
	case faultHTML:
		return reply{status: http.StatusBadGateway, page: gatewayPage}
	case faultResetBefore:
		return reply{dropped: true}
	}
	pages := float64(max(len(f.targets), f.maxPages))
	if rep, ok := p.billing(u, pages*f.price); !ok {
		return rep
	}
	request, err := json.Marshal(c.body)
	if err != nil {
		panic(err) // it was JSON
	}
	key := kind + string(request)
	if j := u.recent[key]; j != nil && c.now.Sub(j.begun) < s.DedupeFor {
		u.counters.Deduped++
		return p.accepted(c, j).spoilt(c.r, fault, s.SlowFor)
	}
	if rep, ok := p.pending(c.now, u, kind, len(f.targets)); !ok {
		return rep
	}
	if s.Busy || fault == faultUnavailable {
		return p.busy(c.now, u)
	}
	j := p.accept(c.now, u, kind, f)
	if s.DedupeFor > 0 {
		u.recent[key] = j
	}
	if fault == faultLateGateway {
		return p.fail(http.StatusGatewayTimeout, "", "Gateway timeout")
	}
	return p.accepted(c, j).spoilt(c.r, fault, s.SlowFor)
}

// invalid is a 422 in one of its two forms.
func (p *spidra) invalid(err error) reply {
	rep := p.fail(http.StatusUnprocessableEntity, "", err.Error())
	if p.settings.ErrorsList {
		rep.body = map[string]any{"errors": []string{err.Error()}}
	}
	return rep
}

// billing refuses who has not paid, or has not enough left.
func (p *spidra) billing(u *spidraAccount, worst float64) (reply, bool) {
	switch {
	case u.Overdue:
		u.counters.Unpaid++
		return p.fail(http.StatusPaymentRequired, "PAYMENT_OVERDUE", "Your last payment is overdue"), false
	case u.Credits-u.reserved < worst:
		u.counters.NoCredits++
		return p.fail(http.StatusForbidden, "", "You have used up your monthly credits"), false
	}
	return reply{}, true
}

// pending refuses a job of a kind of which too many wait.
func (p *spidra) pending(now time.Time, u *spidraAccount, kind string, urls int) (reply, bool) {
	s := &p.settings
	count, most := *u.waiting.of(kind), *s.Pending.of(kind)
	if s.PendingActive {
		count = *u.open.of(kind)
	}
	full := count >= most
	if kind == spidraBatch && s.PendingURLs {
		full = u.waitURLs+urls > most
	}
	if !full {
		return reply{}, true
	}
	u.counters.RefusedPending++
	rep := p.fail(http.StatusTooManyRequests, "TOO_MANY_PENDING_JOBS", "You have too many pending "+kind+" jobs")
	if s.PendingHint > 0 {
		rep = rep.with("Retry-After", strconv.Itoa(seconds(s.PendingHint)))
		u.announced.toldSeconds(now, seconds(s.PendingHint))
	}
	return rep, false
}

func (p *spidra) busy(now time.Time, u *spidraAccount) reply {
	u.counters.Busy++
	rep := p.fail(http.StatusServiceUnavailable, "SERVICE_BUSY", "The service is busy, please try again later")
	if !p.settings.BusySilent {
		wait := seconds(p.settings.BusyWait)
		rep.body.(map[string]any)["retry_after"] = wait
		u.announced.toldSeconds(now, wait)
	}
	return rep
}

// accept makes a job and puts it in line.
func (p *spidra) accept(now time.Time, u *spidraAccount, kind string, f spidraFields) *spidraJob {
	j := &spidraJob{id: p.name(kind[:1]), kind: kind, user: u, fields: f, begun: now, updated: now, state: spidraWaiting}
	if kind == spidraBatch {
		j.state = spidraPending
	}
	for _, t := range f.targets {
		j.items = append(j.items, p.newItem(t, 0, f.price))
		if u.scraped.again(t.String()) {
			u.counters.DuplicateScrapes++
		}
	}
	j.left = len(j.items)
	u.reserved += f.price * float64(max(len(j.items), f.maxPages))
	u.counters.Jobs++
	u.counters.URLs += int64(len(j.items))
	if u.counters.Jobs%sweepEvery == 0 {
		p.sweep(now, u)
	}
	u.jobs[j.id] = j
	switch kind {
	case spidraBatch:
		u.batches = append(u.batches, j)
	case spidraCrawl:
		u.crawls = append(u.crawls, j)
		j.seen = map[string]bool{f.targets[0].String(): true}
	}
	*u.open.of(kind)++
	*u.waiting.of(kind)++
	p.enqueue(now, j, j.items)
	return j
}

// accepted is the answer that names a job.
func (p *spidra) accepted(c spidraCall, j *spidraJob) reply {
	rep := reply{status: http.StatusAccepted}
	body := map[string]any{"status": "queued"}
	if j.kind == spidraBatch {
		body["batchId"], body["total"] = j.id, len(j.items)
		rep = rep.with("Location", c.prefix+spidraAPI+"/batch/scrape/"+j.id)
	} else {
		body["jobId"] = j.id
	}
	if len(j.fields.warnings) > 0 {
		body["schema_warnings"] = j.fields.warnings
	}
	rep.body = body
	return rep
}

// retry runs the failed items of a batch again, which brings it back to life.
func (p *spidra) retry(c spidraCall, id string) reply {
	u := c.user
	u.counters.Retries++
	if u.announced.on(c.now, p.w.grace) {
		u.counters.SentDuringWait++
	}
	j := p.find(c.now, u, spidraBatch, id)
	if j == nil {
		return p.gone(u)
	}
	var again []*spidraItem
	for _, it := range j.items {
		if it.state == spidraFailed {
			again = append(again, it)
		}
	}
	if len(again) == 0 || j.state == spidraCancelled {
		u.counters.Rejected++
		return p.fail(http.StatusBadRequest, "", "There is nothing to retry in this batch")
	}
	if rep, ok := p.billing(u, j.fields.price*float64(len(again))); !ok {
		return rep
	}
	if p.settings.Busy {
		return p.busy(c.now, u)
	}
	for _, it := range again {
		it.state, it.at, it.hops, it.reserved, it.visit = spidraPending, it.target, 0, j.fields.price, visit{}
	}
	if j.over() {
		*u.open.of(spidraBatch)++
	}
	u.reserved += j.fields.price * float64(len(again))
	u.counters.Retried += int64(len(again))
	j.state, j.ended, j.updated = spidraRunning, time.Time{}, c.now
	j.left += len(again)
	p.enqueue(c.now, j, again)
	return reply{status: http.StatusAccepted, body: map[string]any{"status": "queued", "retriedCount": len(again)}}
}

// cancel ends a job: what waits is called off and its credits are free again, what a batch has begun goes on.
func (p *spidra) cancel(c spidraCall, kind, id string) reply {
	u := c.user
	j := p.find(c.now, u, kind, id)
	if j == nil {
		return p.gone(u)
	}
	if j.over() {
		return p.fail(http.StatusConflict, "ALREADY_TERMINAL", "This "+kind+" has already ended")
	}
	off, refund := 0, 0.0
	for _, it := range j.items {
		if it.state != spidraPending {
			continue
		}
		it.state = spidraCancelled
		off++
		refund += it.reserved
		j.left--
	}
	u.reserved -= refund
	u.counters.Cancelled += int64(off)
	u.counters.Refunded += refund
	if kind == spidraBatch {
		u.waitURLs -= off
	}
	if !j.started {
		j.started = true
		*u.waiting.of(kind)--
	}
	p.close(c.now, j, spidraCancelled)
	body := map[string]any{"status": spidraCancelled}
	if kind == spidraBatch {
		body["cancelledItems"], body["creditsRefunded"] = off, refund
	}
	return reply{status: http.StatusOK, body: body}
}

// find is a job that its account may still read; a job that ended is there for a while only.
func (p *spidra) find(now time.Time, u *spidraAccount, kind, id string) *spidraJob {
	j := u.jobs[id]
	if j == nil || j.kind != kind {
		return nil
	}
	keep := p.settings.Retention
	if j.state == spidraFailed {
		keep = p.settings.RetentionFail
	}
	if j.over() && now.Sub(j.ended) >= keep {
		delete(u.jobs, id)
		return nil
	}
	return j
}

// sweep forgets what can be read no longer.
func (p *spidra) sweep(now time.Time, u *spidraAccount) {
	for id, j := range u.jobs {
		p.find(now, u, j.kind, id)
	}
	u.batches = slices.DeleteFunc(u.batches, func(j *spidraJob) bool { return u.jobs[j.id] == nil })
	maps.DeleteFunc(u.recent, func(_ string, j *spidraJob) bool { return now.Sub(j.begun) >= p.settings.DedupeFor })
}

func (p *spidra) gone(u *spidraAccount) reply {
	u.counters.Gone++
	return p.fail(http.StatusNotFound, "", "Job not found")
}

// poll tells of a job.
func (p *spidra) poll(c spidraCall, kind, id string) reply {
	u := c.user
	u.counters.Polls++
	fault := p.settings.PollFaults.of(p.w.chance.of(id, int(u.counters.Polls)).float(0))
	switch fault {
	case faultServerError:
		return p.fail(http.StatusInternalServerError, "", "Internal server error")
	case faultBadGateway:
		return p.fail(http.StatusBadGateway, "", "Bad gateway")
	case faultUnavailable, faultLateGateway:
		return p.fail(http.StatusGatewayTimeout, "", "Gateway timeout")
	case faultHTML:
		return reply{status: http.StatusBadGateway, page: gatewayPage}
	case faultResetBefore:
		return reply{dropped: true}
	}
	j := p.find(c.now, u, kind, id)
	if j == nil {
		return p.gone(u).spoilt(c.r, fault, p.settings.SlowFor)
	}
	body := p.tell(c, j)
	if j.over() {
		u.counters.Collected++
	}
	return reply{status: http.StatusOK, body: body}.spoilt(c.r, fault, p.settings.SlowFor)
}
