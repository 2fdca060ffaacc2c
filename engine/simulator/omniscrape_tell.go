package simulator

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

const unlockFailed = "The target could not be unlocked"

// result is the answer to a synchronous scrape that has ended.
func (o *omni) result(j *omniJob) reply {
	switch {
	case j.state == omniTimedOut:
		return o.fail(http.StatusGatewayTimeout, "", "The scrape took too long")
	case j.state == omniFailed:
		rep := o.fail(http.StatusBadGateway, "", unlockFailed)
		rep.body.(map[string]any)["metadata"] = o.metadata(j)
		return rep
	case j.fault == faultLateGateway:
		return o.fail(http.StatusGatewayTimeout, "", "Gateway timeout")
	}
	rep := reply{status: http.StatusOK, body: o.envelope(j)}
	if v := &j.visit; o.settings.InnerWait && v.status == http.StatusTooManyRequests {
		wait := 1
		if v.wait > 0 {
			wait = seconds(v.wait)
		}
		rep = rep.with("Retry-After", strconv.Itoa(wait))
	}
	return rep
}

func (o *omni) metadata(j *omniJob) map[string]any {
	solved := j.state == omniFailed || j.visit.header.Get("Cf-Mitigated") != ""
	return map[string]any{"elapsed_time": round(j.done.Sub(j.started)), "solver_used": solved}
}

// envelope is a page as both kinds of scrape deliver it.
func (o *omni) envelope(j *omniJob) map[string]any {
	charged := 0.0
	if j.charged {
		charged = o.settings.Price
	}
	return map[string]any{"success": j.visit.status < 400 || !o.settings.SuccessFalse,
		"data":     map[string]any{"content": j.visit.body, "status_code": j.visit.status},
		"metadata": o.metadata(j), "billing": map[string]any{"charged": charged}}
}

// poll tells of a job. success speaks of the poll, not of the job.
func (o *omni) poll(c omniCall, id string) reply {
	u, s := c.user, &o.settings
	u.counters.Polls++
	fault := s.PollFaults.of(o.w.chance.of(id, int(u.counters.Polls)).float(0))
	switch fault {
	case faultServerError:
		return o.fail(http.StatusInternalServerError, "", "Internal server error")
	case faultBadGateway, faultLateGateway:
		return o.fail(http.StatusGatewayTimeout, "", "Gateway timeout")
	case faultUnavailable:
		return o.fail(http.StatusServiceUnavailable, "", "The service is temporarily unavailable")
	case faultResetBefore:
		return reply{dropped: true}
	}
	j := u.jobs[id]
	if j != nil && o.expired(c.now, j) {
		delete(u.jobs, id)
		j = nil
	}
	if j == nil {
		u.counters.Gone++
		return o.fail(s.GoneStatus, "", "Job not found").spoilt(c.r, fault, s.SlowFor)
	}
	if !j.polled.IsZero() && c.now.Sub(j.polled) < s.fastestPoll {
		u.counters.FastPolls++
	}
	j.polled = c.now
	body := map[string]any{"success": true}
	data := map[string]any{"job_id": id, "status": j.state, "url": j.url, "created_at": zulu(j.begun), "updated_at": zulu(j.updated)}
	body["data"] = data
	if j.over() {
		u.counters.Collected++
	}
	switch j.state {
	case omniCompleted:
		data["result"] = o.envelope(j)
	case omniFailed, omniTimedOut:
		o.tellFailure(j, body, data)
	}
	return reply{status: http.StatusOK, body: body}.spoilt(c.r, fault, s.SlowFor)
}

func (o *omni) expired(now time.Time, j *omniJob) bool {
	return j.over() && now.Sub(j.done) >= o.settings.Retention
}

// tellFailure says why a job failed, in one of the places.
func (o *omni) tellFailure(j *omniJob, body, data map[string]any) {
	text := unlockFailed
	if j.state == omniTimedOut {
		text = fmt.Sprintf("The job exceeded its time limit of %v", o.settings.JobLimit)
	}
	switch o.settings.FailureAt {
	case FailureOnTop:
		body["error"] = text
	case FailureInResult:
		data["result"] = map[string]any{"success": false, "error": text}
	default:
		data["error"] = text
	}
}
