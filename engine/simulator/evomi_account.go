package simulator

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// evomiAccount is a key at work. Everything in it is guarded by the API's lock.
type evomiAccount struct {
	EvomiAccount
	leases    []*lease
	lastEmpty time.Time // for LeaseWholeCounter
	reserved  float64   // worst prices of what runs
	running   []*evomiJob
	jobs      map[string]*evomiJob // tasks that can be polled
	scraped   map[string]bool      // target URLs
	announced []announcement
	counters  KeyCounters
}

// lease is one counted request.
type lease struct{ until time.Time }

// evomiJob is one scrape, from its start on. Its end is known: whoever looks later finds it done.
type evomiJob struct {
	id      string // empty while it is no task
	begun   time.Time
	done    time.Time
	worst   float64
	price   float64
	settled bool
	lease   *lease // held in the background

	url, mode string
	visit     visit
	fields    scrapeFields
}

// hold counts a request until it is freed, or until its lease ends.
func (a *evomiAccount) hold(now, until time.Time) *lease {
	if len(a.leases) == 0 {
		a.lastEmpty = now
	}
	l := &lease{until}
	a.leases = append(a.leases, l)
	a.counters.PeakInFlight = max(a.counters.PeakInFlight, len(a.leases))
	return l
}

func (a *evomiAccount) free(l *lease) {
	for i, other := range a.leases {
		if other == l {
			a.leases = append(a.leases[:i], a.leases[i+1:]...)
			return
		}
	}
}

func (a *evomiAccount) inFlight(now time.Time, s *EvomiSettings) int {
	if s.LeaseWholeCounter {
		if len(a.leases) > 0 && now.Sub(a.lastEmpty) >= s.Lease {
			a.leases = nil
		}
		return len(a.leases)
	}
	kept := a.leases[:0]
	for _, l := range a.leases {
		if now.Before(l.until) {
			kept = append(kept, l)
		}
	}
	clear(a.leases[len(kept):])
	a.leases = kept
	return len(a.leases)
}

// advance settles what has ended by now: charges, background slots, results that expired.
func (a *evomiAccount) advance(now time.Time, s EvomiSettings) {
	kept := a.running[:0]
	for _, j := range a.running {
		if now.Before(j.done) {
			kept = append(kept, j)
			continue
		}
		a.settle(j)
	}
	clear(a.running[len(kept):])
	a.running = kept
	for id, j := range a.jobs {
		from := j.done
		if s.RetentionFromSubmit {
			from = j.begun
		}
		if !now.Before(j.done) && now.Sub(from) >= s.Retention {
			delete(a.jobs, id)
		}
	}
}

func (a *evomiAccount) settle(j *evomiJob) {
	if j.settled {
		return
	}
	j.settled = true
	a.reserved -= j.worst
	a.Credits -= j.price
	a.counters.Charges += j.price
	if j.lease != nil {
		a.free(j.lease)
	}
}

func (a *evomiAccount) health() reply {
	a.counters.Health++
	return reply{status: http.StatusOK, body: map[string]any{"success": true, "credits": a.Credits, "concurrency": a.Concurrency}}
}

// poll tells of a task, and deletes it when it is told to its end.
func (a *evomiAccount) poll(now time.Time, id string, s *EvomiSettings) reply {
	a.counters.Polls++
	j := a.jobs[id]
	if j == nil {
		a.counters.Gone++
		return reply{status: s.GoneStatus, body: map[string]any{"success": false, "error": "Task not found", "message": "Task not found or expired",
			"timestamp": now.UTC().Format(time.RFC3339)}}
	}
	if now.Before(j.done) {
		return reply{status: http.StatusOK, body: map[string]any{"task_id": id, "status": "processing",
			"created_at": j.begun.UTC().Format(time.RFC3339), "elapsed_seconds": int(now.Sub(j.begun).Seconds())}}
	}
	if j.visit.failed() {
		if s.CollectFailed {
			delete(a.jobs, id)
		}
		return reply{status: http.StatusOK, body: map[string]any{"task_id": id, "status": "failed", "error": navigationFailed}}
	}
	delete(a.jobs, id)
	a.counters.Collected++
	result := a.envelope(j)
	body := map[string]any{"task_id": id, "status": "completed"}
	if s.NestedResult {
		body["result"] = result
	} else {
		for k, v := range result {
			body[k] = v
		}
	}
	return reply{status: http.StatusOK, body: body, header: a.prices(j)}
}

const navigationFailed = "navigation failed"

// failed reports that a visit brought no page at all.
func (v visit) failed() bool { return v.ending == dropped || v.ending == cut }

// envelope is the JSON form of a scrape's result.
func (a *evomiAccount) envelope(j *evomiJob) map[string]any {
	out := map[string]any{"success": true, "url": j.url, "domain": j.fields.target.Hostname(), "title": j.fields.target.Hostname(),
		"status_code": j.visit.status, "credits_used": j.price, "credits_remaining": a.Credits, "mode_used": j.mode}
	if j.fields.include && !j.fields.noHTML {
		out["content"] = j.visit.body
	}
	return out
}

func (a *evomiAccount) prices(j *evomiJob) map[string]string {
	return map[string]string{
		"X-Credits-Used":      strconv.FormatFloat(j.price, 'f', -1, 64),
		"X-Credits-Remaining": strconv.FormatFloat(a.Credits, 'f', -1, 64),
		"X-Mode-Used":         j.mode,
	}
}

// price is what a scrape costs: 1 for request by datacenter, 2 by residential, 5 for a browser; auto 2, or 6 when it took
// the browser.
func price(f scrapeFields, browser bool) float64 {
	switch {
	case f.mode == "auto" && browser:
		return 6
	case browser:
		return 5
	case f.mode == "request" && f.proxy == "datacenter":
		return 1
	}
	return 2
}

func taskID(n int, c chance) string {
	return fmt.Sprintf("task_%06x%04x", n, uint16(c.of("task", n)))
}
