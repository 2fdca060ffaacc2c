package screen

import (
	"encoding/json"
	"time"

	"dev.scrapetop/engine/view"
	"dev.scrapetop/storage"
)

// Address is the URL of the task or result under the cursor of a screen, as the engine names it; empty: there is none.
func (b *Browse) Address(r *Rows, tab Tab) string {
	if tab == Events || r == nil {
		return ""
	}
	switch i := b.Picks[tab].at(r.ids(tab)); {
	case tab == Results && i >= 0:
		return r.ResultURLs[i]
	case tab == Page && r.Page != nil:
		return r.PageURL
	case tab > Events:
		return ""
	}
	if i := b.Picks[tab].at(r.ids(tab)); i >= 0 && i < len(r.URLs) {
		return r.URLs[i]
	}
	return ""
}

// RowObject is what the row under the cursor says, to be written as JSON with the names of the exports; what says what it is.
// A nil object: there is no row.
func (p *Picture) RowObject() (what string, object any) {
	switch {
	case p.Tab == Events:
		e := p.Browse.ChosenEvent(p.Shown)
		if e == nil {
			return "", nil
		}
		return "event", map[string]any{
			"at": stamp(e.At), "run": p.Data.Frame.Run.ID, "level": e.Level, "scope": e.Scope, "key": e.Key, "text": e.Text, "task_id": orNull(e.Task, e.Task != 0),
		}
	case p.Tab == History:
		if run := p.Browse.ChosenRun(p.Shown); run != nil {
			return "run", runObject(run)
		}
		return "", nil
	case p.Tab == Results:
		if row := p.Browse.ChosenResult(p.Shown); row != nil {
			return "result", p.resultObject(row)
		}
		return "", nil
	case p.Tab == Page:
		if p.Shown != nil && p.Shown.Page != nil {
			return "result", p.resultObject(&p.Shown.Page.ResultRow)
		}
		return "", nil
	case p.Tab.OfRows():
		return p.taskObject()
	case p.List.OnBudgets(p.Data, p.Tab):
		id, b, ok := p.List.ChosenBudget(p.Data, p.Tab)
		if !ok {
			return "", nil
		}
		return id.Scope, map[string]any{
			"scope": id.Scope, "key": id.Key, "state": b.State, "in_flight": b.InFlight, "in_flight_limit": orNull(b.Limit, b.Limit > 0), "until": stamp(b.Until),
			"cause": b.Cause, "stopped": orNull(b.Stopped, b.Stopped != ""),
		}
	}
	for i, name := range p.Data.Names {
		if name == p.List.Selected {
			return name, domainObject(&p.Data.Frame.Domains.Rows[i], name)
		}
	}
	return "", nil
}

func domainObject(r *view.DomainRow, domain string) map[string]any {
	known := r.Remaining.Known
	return map[string]any{
		"domain": domain, "state": r.State, "in_flight": r.InFlight, "in_flight_limit": orNull(r.Limit, r.Limit > 0),
		"remaining": orNull(r.Remaining.Remaining, known), "quota_limit": orNull(r.Remaining.Limit, known), "cooldown_until": stamp(r.Until), "cause": r.Cause,
		"limited": r.Total429, "limited_15m": r.Recent429, "accepted_per_minute": r.OKPerMin, "queue": r.Queue, "oldest": stamp(r.Oldest),
		"accepted": r.Accepted, "dead": r.Dead, "last_at": stamp(r.LastAt), "last": r.LastText,
	}
}

func (p *Picture) taskObject() (string, any) {
	t := p.Browse.ChosenTask(p.Shown, p.Tab)
	if t == nil {
		return "", nil
	}
	o := map[string]any{
		"task_id": t.ID, "run": p.Data.Frame.Run.ID, "url": p.Browse.Address(p.Shown, p.Tab), "domain": t.Domain, "tenant": t.Tenant, "state": t.State,
		"tries": t.Tries, "reason": orNull(t.Reason, t.Reason != ""), "error": orNull(t.Error, t.Error != ""), "waits_for": orNull(t.WaitsFor, t.WaitsFor != ""),
		"updated_at": stamp(t.UpdatedAt),
	}
	if p.Shown.Chosen == t.ID {
		attempts := make([]any, len(p.Shown.Attempts))
		for i := range attempts {
			a := &p.Shown.Attempts[i]
			attempts[i] = map[string]any{
				"started_at": stamp(a.StartedAt), "elapsed_ms": a.Elapsed.Milliseconds(), "kind": a.Kind, "outcome": a.Outcome, "layer": a.Layer,
				"http_status": a.HTTPStatus, "target_status": a.TargetStatus, "decision": a.Decision,
				"error": orNull(a.Error, a.Error != ""),
			}
		}
		o["attempts"] = attempts
	}
	return "task", o
}

func runObject(r *storage.Run) map[string]any {
	t := &r.Totals
	return map[string]any{
		"run": r.ID, "name": r.Name, "provider": r.Provider, "state": r.State, "reason": orNull(r.Reason, r.Reason != ""), "started_at": stamp(r.StartedAt),
		"finished_at": stamp(r.FinishedAt), "elapsed_seconds": t.Elapsed.Seconds(), "tasks": r.Tasks, "accepted": r.Accepted, "records": r.Records, "dead": r.Dead,
		"pending": r.Pending, "attempts": r.Attempts, "requests": t.Requests, "retries": t.Retries, "cooldowns": t.Cooldowns, "credits": t.Credits, "bytes": t.Bytes,
		"limited": map[string]any{"account": t.Account, "rate": t.Rate, "pending": t.PendingJobs, "target": t.Target}, "busy": t.Busy,
	}
}

// resultObject is a result without its body, which may be of any size.
func (p *Picture) resultObject(r *storage.ResultRow) map[string]any {
	o := map[string]any{
		"task_id": r.Task, "run": p.Data.Frame.Run.ID, "url": p.Browse.Address(p.Shown, p.Tab), "final_url": r.FinalURL, "domain": r.Domain,
		"status": orNull(r.Status, r.Status != 0), "content_type": r.ContentType, "fetched_at": stamp(r.FetchedAt), "elapsed_ms": r.Elapsed.Milliseconds(),
		"attempts": r.Attempts, "credits": r.Credits, "bytes": r.Bytes, "fields": orNull(r.Fields, r.Fields != ""),
	}
	if json.Valid([]byte(r.Fields)) { // a long one is cut
		o["fields"] = json.RawMessage(r.Fields)
	}
	if p.Tab == Page {
		o["headers"] = p.Shown.Page.Headers
	}
	return o
}

// stamp is an instant as the exports write it, null when it is none.
func stamp(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z07:00")
}

func orNull(v any, known bool) any {
	if !known {
		return nil
	}
	return v
}
