package omniscrape

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"dev.scrapetop/engine/limits"
	"dev.scrapetop/engine/provider"
)

// Read says what the platform's answer means. A call that the platform itself refused or failed has no items; one that
// tells about the target is accepted and has the item.
func (p omniscrape) Read(c provider.Call, r provider.Response) provider.Reply {
	x := &reading{p: p, c: c, r: r, kind: kind(c)}
	if r.Status != 0 {
		x.reply.Signal = limits.Read(limits.Response{Status: r.Status, Header: r.Header, Received: r.Received, Profile: p.Profile()})
		x.reply.HTTPStatus = limits.Some(r.Status)
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
	p     omniscrape
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
		if x.kind == provider.Poll { // reading it again would bring the same
			x.target(provider.Item{Outcome: provider.TooLarge, Layer: provider.LayerTarget, Error: x.reply.Error})
		}
		return
	}
	x.end(provider.Transport, provider.LayerTransport, why)
	x.reply.Unknown = x.kind == provider.Submit && x.r.Sent
}

// refusal reads an answer outside 2xx (sheet section 6).
func (x *reading) refusal() {
	object, err := provider.Object(x.r.Body)
	why := fmt.Sprintf("the platform answered %d", x.r.Status)
	if text := errorText(object); text != "" {
		why += ": " + text
	}
	switch status := x.r.Status; status {
	case http.StatusTooManyRequests:
		x.end(provider.Limited, provider.LayerAccount, why)
	case http.StatusPaymentRequired:
		x.unpaid(object, why)
	case http.StatusUnauthorized, http.StatusForbidden:
		x.end(provider.Denied, provider.LayerAuth, why)
	case http.StatusServiceUnavailable:
		if x.p.asyncSubmit(x.c) && x.kind == provider.Submit {
			why += " (a deployment without a queue answers so to every asynchronous submit)"
		}
		x.end(provider.Busy, provider.LayerCapacity, why)
	case http.StatusNotFound, http.StatusGone:
		switch x.kind {
		case provider.Poll:
			x.end(provider.Lost, provider.NoLayer, "the platform no longer knows the job")
		case provider.Lookup:
			if err != nil && len(x.r.Body) > 0 { // somebody's page: it says nothing of the platform or the key
				x.end(provider.Refused, provider.NoLayer, why+" with a page instead of JSON: the base URL may be wrong")
				return
			}
			x.end(provider.Accepted, provider.NoLayer, "")
		default:
			x.end(provider.Refused, provider.NoLayer, why)
		}
	case http.StatusInternalServerError:
		x.end(provider.Failed, provider.NoLayer, why)
	case http.StatusBadGateway:
		if x.kind == provider.Submit && (err == nil || len(x.r.Body) == 0) {
			x.unlockFailed(object, why)
			return
		}
		x.unknown(provider.Failed, provider.NoLayer, why) // a page instead of the platform's JSON: a gateway before it
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly:
		x.unknown(provider.Failed, provider.NoLayer, why)
	default:
		if status >= 400 && status <= 499 {
			x.end(provider.Refused, provider.NoLayer, why)
			return
		}
		x.unknown(provider.Failed, provider.NoLayer, why)
	}
}

// unpaid tells the three meanings of a 402 by its code, found even in a body that was cut.
func (x *reading) unpaid(object map[string]json.RawMessage, why string) {
	code := strings.ToUpper(provider.Text(object["code"]))
	for _, known := range []string{codeLocked, codeMonth} {
		if object == nil && bytes.Contains(x.r.Body, []byte(known)) {
			code = known
		}
	}
	switch code {
	case codeLocked:
		x.end(provider.Refused, provider.NoLayer, why+" ("+codeLocked+": the plan does not allow what the request asks for)")
	case codeMonth:
		x.end(provider.Denied, provider.LayerQuota, why+" (the month's allowance is used up)")
	default:
		x.end(provider.Denied, provider.LayerQuota, why+" (the balance is used up)")
	}
}

// The codes that tell the meanings of a 402 apart.
const (
	codeLocked = "PROXY_LOCKED"
	codeMonth  = "MONTHLY_QUOTA_EXCEEDED"
)

// unlockFailed is a target that the platform could not open. It looks like a fault of a gateway and is none: the account
// and the other targets go on.
func (x *reading) unlockFailed(object map[string]json.RawMessage, why string) {
	x.end(provider.Accepted, provider.NoLayer, "")
	x.charge(object)
	x.target(provider.Item{Outcome: provider.Failed, Layer: provider.LayerTarget, Error: why})
}

// target is the item of the call's one target.
func (x *reading) target(item provider.Item) {
	if len(x.c.Targets) > 0 {
		item.Task = x.c.Targets[0].Task
	}
	item.Error, item.Credits = provider.Line(item.Error), x.reply.Credits
	x.reply.Items = []provider.Item{item}
}

// charge adopts what an envelope says that the work cost.
func (x *reading) charge(envelope map[string]json.RawMessage) {
	if billing, err := provider.Object(envelope["billing"]); err == nil {
		x.reply.Credits = provider.Amount(billing["charged"]).V
	}
}

func said(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// errorText is the platform's reason, as text or as an object with a message.
func errorText(object map[string]json.RawMessage) string {
	if nested, err := provider.Object(object["error"]); err == nil {
		return cmp.Or(provider.Text(nested["message"]), provider.Text(nested["code"]))
	}
	return cmp.Or(provider.Text(object["error"]), provider.Text(object["message"]))
}

// success reads a 2xx.
func (x *reading) success() {
	if x.kind == provider.Lookup {
		x.end(provider.Accepted, provider.NoLayer, "")
		return
	}
	object, err := provider.Object(x.r.Body)
	if err != nil {
		// A sync scrape behind it was carried out; of a job that was to be made nothing is known.
		if x.kind == provider.Submit && (x.p.asyncSubmit(x.c) || x.r.Status == http.StatusAccepted) {
			x.unknown(provider.Failed, provider.NoLayer, err.Error())
			return
		}
		x.end(provider.Failed, provider.NoLayer, err.Error())
		return
	}
	if x.kind == provider.Poll {
		x.polled(object)
		return
	}
	job := provider.Text(object["job_id"])
	data, dataErr := provider.Object(object["data"])
	if job == "" {
		job = provider.Text(data["job_id"])
	}
	hasPage := dataErr == nil && (said(data["content"]) || said(data["status_code"]))
	switch {
	case hasPage || provider.False(object["success"]):
		x.envelope(object)
	case provider.ValidJob(job):
		x.end(provider.AcceptedRemote, provider.NoLayer, "")
		x.reply.Job, x.reply.PollAfter = job, x.pollAfter()
	case x.p.asyncSubmit(x.c) || x.r.Status == http.StatusAccepted:
		x.unknown(provider.Failed, provider.NoLayer, "the platform accepted the work but gave no job id")
	default:
		x.envelope(object)
	}
}

// Polls come never faster than once a second, and what Retry-After asks is bounded: later the result may be gone.
const (
	minPollAfter = time.Second
	maxPollAfter = time.Minute
)

func (x *reading) pollAfter() time.Duration {
	return min(max(x.reply.Signal.Wait.V, minPollAfter), maxPollAfter)
}
