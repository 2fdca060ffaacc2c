package simulator

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"time"
)

// errRange is the complaint about a range of days.
var errRange = errors.New("range must be 1d to 365d")

// maxLogs bounds how many old results an account keeps.
const maxLogs = 2000

// spidraLog is what is left of a page after its job.
type spidraLog struct {
	uuid string
	job  *spidraJob
	item *spidraItem
	at   time.Time
	body map[string]any
}

// spidraDay is what an account used on a day of the world's calendar.
type spidraDay struct {
	requests, tokens int
	credits          float64
}

// log notes the end of an item: under its job's id when the job is one page, else under its own.
func (p *spidra) log(now time.Time, j *spidraJob, it *spidraItem) {
	u := j.user
	entry := &spidraLog{uuid: it.uuid, job: j, item: it, at: now}
	if j.kind == spidraScrape && len(j.items) == 1 {
		entry.uuid = j.id
	}
	entry.body = map[string]any{"uuid": entry.uuid, "job_id": j.id, "kind": j.kind, "url": it.target.String(), "status": it.state,
		"credits_used": it.credits, "created_at": zulu(j.begun), "finished_at": zulu(now)}
	if it.state == spidraFailed {
		entry.body["error"] = it.complaint()
	}
	if len(u.logs) >= maxLogs {
		u.logs = u.logs[1:]
	}
	u.logs = append(u.logs, entry)
	if u.usage == nil {
		u.usage = map[string]*spidraDay{}
	}
	day := p.w.worldTime(now).UTC().Format(time.DateOnly)
	if u.usage[day] == nil {
		u.usage[day] = &spidraDay{}
	}
	u.usage[day].requests++
	u.usage[day].credits += it.credits
	if j.fields.ai && it.state == spidraCompleted {
		u.usage[day].tokens += len(it.visit.body) / 4
	}
}

// logList is the old results, the newest first.
func (p *spidra) logList(c spidraCall, _ string) reply {
	c.user.counters.Lookups++
	newest := slices.Clone(c.user.logs)
	slices.Reverse(newest)
	part, page, limit := pageOf(newest, c.r.URL.Query())
	list := []map[string]any{}
	for _, l := range part {
		list = append(list, l.body)
	}
	return reply{status: http.StatusOK, body: map[string]any{"logs": list, "page": page, "limit": limit, "total": len(newest)}}
}

func (p *spidra) logEntry(c spidraCall, uuid string) reply {
	c.user.counters.Lookups++
	for _, l := range slices.Backward(c.user.logs) {
		if l.uuid == uuid {
			body := maps.Clone(l.body)
			body["result"] = p.pageData(l.job, l.item)
			return reply{status: http.StatusOK, body: body}
		}
	}
	return p.gone(c.user)
}

// listBatches is the account's batches that can be read still, the newest first.
func (p *spidra) listBatches(c spidraCall, _ string) reply {
	c.user.counters.Lookups++
	list := []map[string]any{}
	for _, j := range slices.Backward(c.user.batches) {
		if p.find(c.now, c.user, spidraBatch, j.id) == nil {
			continue
		}
		completed, failed := j.counts()
		list = append(list, map[string]any{"batchId": j.id, "status": j.state, "totalUrls": len(j.items), "completedCount": completed,
			"failedCount": failed, "createdAt": zulu(j.begun), "finishedAt": zulu(j.ended)})
	}
	part, page, limit := pageOf(list, c.r.URL.Query())
	return reply{status: http.StatusOK, body: map[string]any{"batches": part, "page": page, "limit": limit, "total": len(list)}}
}

// crawlLine is a crawl in its bookkeeping.
func crawlLine(j *spidraJob) map[string]any {
	completed, failed := j.counts()
	credits := 0.0
	for _, it := range j.items {
		credits += it.credits
	}
	return map[string]any{"job_id": j.id, "base_url": j.items[0].target.String(), "crawl_instruction": j.fields.instruction, "status": j.state,
		"max_pages": j.fields.maxPages, "pages_crawled": completed + failed, "pages_failed": failed, "credits_used": credits,
		"created_at": zulu(j.begun), "finished_at": zulu(j.ended)}
}

func (p *spidra) crawlJob(c spidraCall, id string) reply {
	c.user.counters.Lookups++
	if j := p.find(c.now, c.user, spidraCrawl, id); j != nil {
		return reply{status: http.StatusOK, body: crawlLine(j)}
	}
	return p.gone(c.user)
}

func (p *spidra) crawlHistory(c spidraCall, _ string) reply {
	c.user.counters.Lookups++
	list := []map[string]any{}
	for _, j := range slices.Backward(c.user.crawls) {
		list = append(list, crawlLine(j))
	}
	part, page, limit := pageOf(list, c.r.URL.Query())
	return reply{status: http.StatusOK, body: map[string]any{"jobs": part, "page": page, "limit": limit, "total": len(list)}}
}

func (p *spidra) crawlStats(c spidraCall, _ string) reply {
	c.user.counters.Lookups++
	by, pages := map[string]int{}, 0
	for _, j := range c.user.crawls {
		by[j.state]++
		completed, failed := j.counts()
		pages += completed + failed
	}
	return reply{status: http.StatusOK, body: map[string]any{"total_jobs": len(c.user.crawls), "completed_jobs": by[spidraCompleted],
		"failed_jobs": by[spidraFailed], "pages_crawled": pages}}
}

// usage is what the account used, by day. A range is a number of days as in 7d.
func (p *spidra) usage(c spidraCall, _ string) reply {
	c.user.counters.Lookups++
	days := 7
	if text := c.r.URL.Query().Get("range"); len(text) > 1 && text[len(text)-1] == 'd' {
		if days = number(text[:len(text)-1]); days < 1 || days > 365 {
			return p.invalid(errRange)
		}
	}
	list := []map[string]any{}
	today := p.w.worldTime(c.now).UTC()
	for n := days - 1; n >= 0; n-- {
		date := today.AddDate(0, 0, -n).Format(time.DateOnly)
		day := spidraDay{}
		if d := c.user.usage[date]; d != nil {
			day = *d
		}
		list = append(list, map[string]any{"date": date, "credits": day.credits, "requests": day.requests, "tokens": day.tokens})
	}
	return reply{status: http.StatusOK, body: map[string]any{"data": list, "credits_remaining": c.user.Credits - c.user.reserved}}
}
