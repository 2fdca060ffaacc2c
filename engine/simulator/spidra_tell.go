package simulator

import (
	"time"
)

func zulu(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339)
}

// tell is what a poll says of a job. A target's status is in none of it.
func (p *spidra) tell(c spidraCall, j *spidraJob) map[string]any {
	switch j.kind {
	case spidraBatch:
		return p.tellBatch(j)
	case spidraCrawl:
		return p.tellCrawl(j)
	}
	body := map[string]any{"status": j.state, "result": nil, "error": nil}
	switch j.state {
	case spidraCompleted:
		body["result"] = p.scrapeResult(j)
	case spidraFailed:
		body["error"] = j.items[0].visit.complaint()
	case spidraActive:
		body["progress"] = map[string]any{"message": "loading", "progress": progress(c.now, j)}
	default:
		body["progress"] = map[string]any{"message": "waiting", "progress": 0}
	}
	return body
}

// progress is a share of what is known to be done, by the items and by the time: nothing to rely on.
func progress(now time.Time, j *spidraJob) float64 {
	share := float64(len(j.items)-j.left) / float64(len(j.items))
	return min(0.9, share+min(0.5, now.Sub(j.begun).Minutes()))
}

// scrapeResult is one answer for all pages of a scrape.
func (p *spidra) scrapeResult(j *spidraJob) map[string]any {
	var data []map[string]any
	text, aiFailed := "", false
	for _, it := range j.items {
		page := map[string]any{"url": it.target.String(), "title": titleOf(it.visit.body), "markdownContent": markdown(it.visit.body),
			"success": it.state == spidraCompleted, "screenshotUrl": nil}
		if it.state != spidraCompleted {
			page["markdownContent"], page["error"] = nil, it.complaint()
		} else {
			if text != "" {
				text += "\n\n"
			}
			text += markdown(it.visit.body)
		}
		data = append(data, page)
		aiFailed = aiFailed || p.extractionFails(j, it)
	}
	var content any = text
	tokens := 0
	if j.fields.ai && !aiFailed {
		content = extraction(j.items[0])
		tokens = len(text) / 4
	}
	return map[string]any{"content": content, "data": data, "screenshots": []string{}, "ai_extraction_failed": aiFailed,
		"stats": map[string]any{"durationMs": j.ended.Sub(j.begun).Milliseconds(), "captchaSolvedCount": 0,
			"inputTokens": tokens, "outputTokens": tokens / 10, "totalTokens": tokens + tokens/10}}
}

// extractionFails reports that a page came but not what was to be drawn from it.
func (p *spidra) extractionFails(j *spidraJob, it *spidraItem) bool {
	return j.fields.ai && it.state == spidraCompleted &&
		(it.visit.fault == faultAI || p.w.chance.of(it.target.String(), 0).float(71) < p.settings.AIFailed)
}

func extraction(it *spidraItem) map[string]any {
	return map[string]any{"title": titleOf(it.visit.body), "url": it.target.String()}
}

// complaint is why an item failed.
func (it *spidraItem) complaint() string {
	if text := it.visit.complaint(); text != "" {
		return text
	}
	return "the page could not be read"
}

func (it *spidraItem) finished() bool { return it.state == spidraCompleted || it.state == spidraFailed }

func (p *spidra) tellBatch(j *spidraJob) map[string]any {
	completed, failed := j.counts()
	items := make([]map[string]any, 0, len(j.items))
	for _, it := range j.items {
		line := map[string]any{"uuid": it.uuid, "url": it.target.String(), "jobId": nil, "status": it.state, "result": nil, "error": nil,
			"creditsUsed": it.credits}
		if it.state != spidraPending && it.state != spidraCancelled {
			line["jobId"] = "x-" + it.uuid
		}
		switch {
		case it.state == spidraFailed:
			line["error"] = it.complaint()
		case it.state != spidraCompleted:
		case j.fields.ai && !p.extractionFails(j, it):
			line["result"] = extraction(it)
		default:
			line["result"] = markdown(it.visit.body)
		}
		items = append(items, line)
	}
	return map[string]any{"status": j.state, "totalUrls": len(j.items), "completedCount": completed, "failedCount": failed,
		"createdAt": zulu(j.begun), "finishedAt": zulu(j.ended), "items": items}
}

func (j *spidraJob) counts() (completed, failed int) {
	for _, it := range j.items {
		switch it.state {
		case spidraCompleted:
			completed++
		case spidraFailed:
			failed++
		}
	}
	return completed, failed
}

func (p *spidra) tellCrawl(j *spidraJob) map[string]any {
	pages := []map[string]any{}
	for _, it := range j.items {
		if it.finished() {
			pages = append(pages, map[string]any{"url": it.at.String(), "title": titleOf(it.visit.body), "status": it.pageState(), "data": p.pageData(j, it)})
		}
	}
	body := map[string]any{"status": j.state, "result": nil, "error": nil,
		"progress": map[string]any{"message": j.state, "pagesCrawled": len(pages), "maxPages": j.fields.maxPages}}
	switch j.state {
	case spidraCompleted, spidraCancelled:
		body["result"] = pages
	case spidraFailed:
		body["error"] = j.items[0].complaint()
	}
	return body
}

// pageState is the word for a crawl's page.
func (it *spidraItem) pageState() string {
	switch it.state {
	case spidraCompleted:
		return "success"
	case spidraFailed:
		return spidraFailed
	}
	return spidraPending
}

func (p *spidra) pageData(j *spidraJob, it *spidraItem) any {
	switch {
	case it.state != spidraCompleted:
		return nil
	case j.fields.ai && !p.extractionFails(j, it):
		return extraction(it)
	}
	return markdown(it.visit.body)
}

func (p *spidra) crawlPages(c spidraCall, id string) reply {
	c.user.counters.Polls++
	j := p.find(c.now, c.user, spidraCrawl, id)
	if j == nil {
		return p.gone(c.user)
	}
	ending := "_url"
	if p.settings.ShortLinks {
		ending = ""
	}
	pages := []map[string]any{}
	for _, it := range j.items {
		page := map[string]any{"id": it.uuid, "url": it.at.String(), "title": nil, "status": it.pageState(), "data": p.pageData(j, it),
			"error_message": nil, "created_at": zulu(j.begun)}
		switch it.state {
		case spidraCompleted:
			page["title"] = titleOf(it.visit.body)
			page["html"+ending], page["markdown"+ending] = p.link(c, it, "html"), p.link(c, it, "md")
		case spidraFailed:
			page["error_message"] = it.complaint()
		}
		pages = append(pages, page)
	}
	return reply{status: 200, body: map[string]any{"pages": pages}}
}
