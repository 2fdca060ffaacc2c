package evomi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"dev.scrapetop/engine/limits"
	"dev.scrapetop/engine/provider"
)

// Read says what the platform's answer means. A call that the platform itself refused or failed has no items; one that
// tells about the target is accepted and has the item.
func (p evomi) Read(c provider.Call, r provider.Response) provider.Reply {
	x := &reading{p: p, c: c, r: r, kind: kind(c)}
	if r.Status != 0 {
		said := limits.Response{Status: r.Status, Header: r.Header, Received: r.Received, Profile: p.Profile()}
		if r.Status >= 300 {
			said.Body = r.Body
		}
		x.reply.Signal = limits.Read(said)
		x.reply.HTTPStatus = limits.Some(r.Status)
		x.reply.Credits = provider.Amount(json.RawMessage(r.Header.Get("X-Credits-Used"))).V
	}
	switch {
	case r.Fault != provider.NoFault && !refusing(r.Status):
		x.fault()
	case r.Status >= 200 && r.Status <= 299:
		x.success()
	default:
		x.refusal()
	}
	x.reply.Notes = append(x.reply.Notes, x.reply.Signal.Notes...)
	return x.reply
}

// refusing reports the statuses that speak for themselves: they are obeyed even when the body behind them was cut.
func refusing(status int) bool {
	switch status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusPaymentRequired, http.StatusUnauthorized, http.StatusForbidden:
		return true
	}
	return false
}

// reading is one response on its way to a reply.
type reading struct {
	p     evomi
	c     provider.Call
	r     provider.Response
	kind  provider.Kind
	reply provider.Reply
}

func (x *reading) end(o provider.Outcome, l provider.Layer, why string) {
	x.reply.Outcome, x.reply.Layer, x.reply.Error = o, l, provider.Line(why)
}

// unknown is the end of a submit that may have been carried out although no answer told.
func (x *reading) unknown(o provider.Outcome, l provider.Layer, why string) {
	x.end(o, l, why)
	x.reply.Unknown = x.kind == provider.Submit
}

func (x *reading) fault() {
	why := string(x.r.Fault)
	if x.r.Error != "" {
		why += ": " + x.r.Error
	}
	if x.r.Fault == provider.FaultTooLarge {
		x.end(provider.TooLarge, provider.LayerTarget, why)
		return
	}
	x.end(provider.Transport, provider.LayerTransport, why)
	x.reply.Unknown = x.kind == provider.Submit && x.r.Sent
}

// refusal reads an answer outside 2xx (sheet section 6).
func (x *reading) refusal() {
	object, err := provider.Object(x.r.Body)
	why := fmt.Sprintf("the platform answered %d", x.r.Status)
	if err == nil {
		if text := errorText(object); text != "" {
			why += ": " + text
		}
	}
	switch status := x.r.Status; status {
	case http.StatusTooManyRequests:
		x.end(provider.Limited, provider.LayerAccount, why)
		x.adoptLimit(object)
	case http.StatusPaymentRequired:
		x.end(provider.Denied, provider.LayerQuota, why)
	case http.StatusUnauthorized, http.StatusForbidden:
		x.end(provider.Denied, provider.LayerAuth, why)
	case http.StatusServiceUnavailable:
		x.end(provider.Busy, provider.LayerCapacity, why)
	case http.StatusInternalServerError, http.StatusTooEarly:
		x.end(provider.Failed, provider.NoLayer, why)
	case http.StatusNotFound, http.StatusGone:
		if x.kind == provider.Poll {
			x.end(provider.Lost, provider.NoLayer, "the platform no longer knows the task: expired or already collected")
			return
		}
		x.end(provider.Refused, provider.NoLayer, why)
	case http.StatusRequestTimeout:
		x.timedOut(object, why)
	default:
		switch {
		case x.kind == provider.Poll && stateOf(object) == stateGone:
			x.end(provider.Lost, provider.NoLayer, why)
		case status >= 400 && status <= 499:
			x.end(provider.Refused, provider.NoLayer, why)
		default:
			x.unknown(provider.Failed, provider.NoLayer, why)
		}
	}
}

// timedOut reads a 408: with a task id the work goes on in the background, without one its end is unknown.
func (x *reading) timedOut(object map[string]json.RawMessage, why string) {
	switch {
	case x.kind == provider.Submit && jobOf(object) != "":
		x.handedOver(jobOf(object))
	case x.kind == provider.Poll && jobOf(object) != "":
		x.running()
	default:
		x.unknown(provider.Failed, provider.NoLayer, why)
	}
}

// adoptLimit takes the concurrency limit from a 429's body, where the headers say none or more.
func (x *reading) adoptLimit(object map[string]json.RawMessage) {
	limit := provider.Int(object["limit"])
	if !limit.OK || limit.V < 1 {
		return
	}
	if known := x.reply.Signal.Limit; !known.OK || int64(limit.V) < known.V {
		x.reply.Signal.Limit = limits.Some(int64(limit.V))
		x.reply.Signal.Kind = limits.KindConcurrency
	}
}

// success reads a 2xx.
func (x *reading) success() {
	if x.kind == provider.Lookup {
		x.end(provider.Accepted, provider.NoLayer, "")
		return
	}
	if x.p.raw && !x.p.async && x.kind == provider.Submit && x.r.Status == http.StatusOK {
		x.rawPage()
		return
	}
	object, err := provider.Object(x.r.Body)
	if err != nil {
		x.unreadable(err)
		return
	}
	state := stateOf(object)
	if x.kind == provider.Poll {
		x.polled(object, state)
		return
	}
	refused := provider.False(object["success"]) && state != stateRunning
	if job := jobOf(object); job != "" && !refused && state != stateFailed && !hasResult(object, state) {
		x.handedOver(job)
		return
	}
	if x.r.Status == http.StatusAccepted && !refused && !hasResult(object, state) {
		x.unknown(provider.Failed, provider.NoLayer, "the platform accepted the work but gave no task id")
		return
	}
	x.result(object, state)
}

// unreadable is a 2xx whose body is not what was agreed. The scrape behind it was carried out and is paid; asking again is
// a new try, not a repetition of an unknown one.
func (x *reading) unreadable(err error) {
	if x.kind == provider.Poll && x.r.Status == http.StatusAccepted {
		x.running()
		return
	}
	x.end(provider.Failed, provider.NoLayer, err.Error())
}

func (x *reading) handedOver(job string) {
	x.end(provider.AcceptedRemote, provider.NoLayer, "")
	x.reply.Job = job
	x.reply.PollAfter = min(x.reply.Signal.Wait.V, maxPollAfter)
	x.reply.Credits = 0 // told again, and counted, with the result
}

func (x *reading) running() {
	x.end(provider.StillRunning, provider.NoLayer, "")
	x.reply.PollAfter = min(x.reply.Signal.Wait.V, maxPollAfter)
	x.reply.Credits = 0
}

// maxPollAfter bounds what Retry-After may ask of a poll: later the result may be gone.
const maxPollAfter = time.Minute

// polled reads an answer about a task. A state in words that we do not know is still running: the job's own deadline ends
// it.
func (x *reading) polled(object map[string]json.RawMessage, state state) {
	switch {
	case state == stateGone:
		x.end(provider.Lost, provider.NoLayer, cmp.Or(errorText(object), "the platform no longer knows the task"))
	case state == stateRunning:
		x.running()
	case state == stateUnknown && !hasResult(object, state):
		x.running()
		x.reply.Notes = append(x.reply.Notes, fmt.Sprintf("task state %q is unknown: polling on", provider.Line(provider.Text(object["status"]))))
	default:
		x.result(object, state)
	}
}

// rawPage is a 200 in raw delivery: the body is the page and nothing tells the target's status.
func (x *reading) rawPage() {
	if len(x.r.Body) == 0 {
		x.unreadable(provider.ErrEmpty)
		return
	}
	x.end(provider.Accepted, provider.NoLayer, "")
	item := x.item()
	item.Outcome, item.Credits = provider.Accepted, x.reply.Credits
	item.Page = &provider.Page{Body: x.r.Body, ContentType: x.r.Header.Get("Content-Type"), FinalURL: x.url()}
	x.reply.Items = []provider.Item{item}
}

func (x *reading) item() provider.Item {
	if len(x.c.Targets) == 0 {
		return provider.Item{}
	}
	return provider.Item{Task: x.c.Targets[0].Task}
}

func (x *reading) url() string {
	if len(x.c.Targets) == 0 {
		return ""
	}
	return x.c.Targets[0].URL
}
