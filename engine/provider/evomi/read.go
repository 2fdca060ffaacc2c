package evomi

import (
	"cmp"
	"encoding/json"
	"net/http"

	"dev.scrapetop/engine/limits"
	"dev.scrapetop/engine/provider"
)

// Read says what the platform's answer means. A call that the platform itself refused or failed has no items; one that
// tells about the target is accepted and has the item.
func (p evomi) Read(c provider.Call, r provider.Response) provider.Reply {
	x := &reading{provider.NewReading(c, r, p.Profile()), p}
	x.Reply.Credits = provider.Amount(json.RawMessage(r.Header.Get("X-Credits-Used"))).V
	x.Reply.Balance = provider.Amount(json.RawMessage(r.Header.Get("X-Credits-Remaining")))
	return x.Judge(x.fault, x.success, x.refusal)
}

// reading is one response on its way to a reply.
type reading struct {
	provider.Reading
	p evomi
}

func (x *reading) fault() {
	if x.Response.Fault == provider.FaultTooLarge {
		x.End(provider.TooLarge, provider.LayerTarget, x.FaultText())
		return
	}
	x.Broken()
}

// refusal reads an answer outside 2xx (sheet section 6).
func (x *reading) refusal() {
	object, _ := provider.Object(x.Response.Body) // what is no object says nothing
	x.balance(object)
	why := x.RefusalText(provider.Words(object))
	switch x.Response.Status {
	case http.StatusTooManyRequests:
		x.End(provider.Limited, provider.LayerAccount, why)
		x.adoptLimit(object)
	case http.StatusPaymentRequired:
		x.End(provider.Denied, provider.LayerQuota, why)
	case http.StatusUnauthorized, http.StatusForbidden:
		x.End(provider.Denied, provider.LayerAuth, why)
	case http.StatusServiceUnavailable:
		x.End(provider.Busy, provider.LayerCapacity, why)
	case http.StatusInternalServerError, http.StatusTooEarly:
		x.End(provider.Failed, provider.NoLayer, why)
	case http.StatusNotFound, http.StatusGone:
		if x.Kind == provider.Poll {
			x.End(provider.Lost, provider.NoLayer, "the platform no longer knows the task: expired or already collected")
			return
		}
		x.End(provider.Refused, provider.NoLayer, why)
	case http.StatusRequestTimeout:
		x.timedOut(object, why)
	default:
		if x.Kind == provider.Poll && stateOf(object) == stateGone {
			x.End(provider.Lost, provider.NoLayer, why)
			return
		}
		x.OtherStatus(why)
	}
}

// timedOut reads a 408: with a task id the work goes on in the background, without one its end is unknown.
func (x *reading) timedOut(object map[string]json.RawMessage, why string) {
	switch {
	case x.Kind == provider.Submit && jobOf(object) != "":
		x.handedOver(jobOf(object))
	case x.Kind == provider.Poll && jobOf(object) != "":
		x.running()
	default:
		x.FailUnknown(why)
	}
}

// balance takes what a body tells of the credits left, where no header does.
func (x *reading) balance(object map[string]json.RawMessage) {
	left := provider.Amount(object["credits_remaining"])
	if payload, err := payloadOf(object); err == nil {
		left = orSaid(left, provider.Amount(payload["credits_remaining"]))
	}
	x.Reply.Balance = orSaid(x.Reply.Balance, left)
}

// adoptLimit takes the concurrency limit from a 429's body, where the headers say none or more.
func (x *reading) adoptLimit(object map[string]json.RawMessage) {
	limit := provider.Int(object["limit"])
	if !limit.OK || limit.V < 1 {
		return
	}
	if known := x.Reply.Signal.Limit; !known.OK || int64(limit.V) < known.V {
		x.Reply.Signal.Limit = limits.Some(int64(limit.V))
		x.Reply.Signal.Kind = limits.KindConcurrency
	}
}

// success reads a 2xx.
func (x *reading) success() {
	if x.p.raw && !x.p.async && x.Kind == provider.Submit && x.Response.Status == http.StatusOK {
		x.rawPage()
		return
	}
	object, err := provider.Object(x.Response.Body)
	if x.Kind == provider.Lookup {
		x.LookedUp()
		x.balance(object)
		x.Reply.Balance = orSaid(x.Reply.Balance, provider.Amount(object["credits"]))
		return
	}
	if err != nil {
		x.unreadable(err)
		return
	}
	x.balance(object)
	state := stateOf(object)
	if x.Kind == provider.Poll {
		x.polled(object, state)
		return
	}
	refused := provider.False(object["success"]) && state != stateRunning
	if job := jobOf(object); job != "" && !refused && state != stateFailed && !hasResult(object, state) {
		x.handedOver(job)
		return
	}
	if x.Response.Status == http.StatusAccepted && !refused && !hasResult(object, state) {
		x.FailUnknown("the platform accepted the work but gave no task id")
		return
	}
	x.result(object, state)
}

// unreadable is a 2xx whose body is not what was agreed. The scrape behind it was carried out and is paid; asking again is
// a new try, not a repetition of an unknown one.
func (x *reading) unreadable(err error) {
	if x.Kind == provider.Poll && x.Response.Status == http.StatusAccepted {
		x.running()
		return
	}
	x.End(provider.Failed, provider.NoLayer, err.Error())
}

func (x *reading) handedOver(job string) {
	x.HandedOver(job, 0)
	x.Reply.Credits = 0 // told again, and counted, with the result
}

func (x *reading) running() {
	x.Running(false, 0)
	x.Reply.Credits = 0
}

// polled reads an answer about a task. A state in words that we do not know is still running: the job's own deadline ends
// it.
func (x *reading) polled(object map[string]json.RawMessage, state state) {
	switch {
	case state == stateGone:
		x.End(provider.Lost, provider.NoLayer, cmp.Or(provider.Words(object), "the platform no longer knows the task"))
	case state == stateRunning:
		x.running()
		x.Reply.Started = provider.Text(object["status"]) != "pending"
	case state == stateUnknown && !hasResult(object, state):
		x.running()
		x.Note("task state %q is unknown: polling on", provider.Text(object["status"]))
	default:
		x.result(object, state)
	}
}

// rawPage is a 200 in raw delivery: the body is the page and nothing tells the target's status.
func (x *reading) rawPage() {
	if len(x.Response.Body) == 0 {
		x.unreadable(provider.ErrEmpty)
		return
	}
	x.End(provider.Accepted, provider.NoLayer, "")
	item := provider.Item{Task: x.First().Task, Outcome: provider.Accepted, Credits: x.Reply.Credits}
	item.Page = &provider.Page{Body: x.Response.Body, ContentType: x.Response.Header.Get("Content-Type"), FinalURL: x.First().URL}
	x.Reply.Items = []provider.Item{item}
}
