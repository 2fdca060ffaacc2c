package omniscrape

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"dev.scrapetop/engine/provider"
)

// Read says what the platform's answer means. A call that the platform itself refused or failed has no items; one that
// tells about the target is accepted and has the item.
func (p omniscrape) Read(c provider.Call, r provider.Response) provider.Reply {
	x := &reading{provider.NewReading(c, r, p.Profile()), p}
	return x.Judge(x.fault, x.success, x.refusal)
}

// reading is one response on its way to a reply.
type reading struct {
	provider.Reading
	p omniscrape
}

func (x *reading) fault() {
	if x.Response.Fault == provider.FaultTooLarge {
		x.End(provider.TooLarge, provider.LayerTarget, x.FaultText())
		if x.Kind == provider.Poll { // reading it again would bring the same
			x.target(provider.Item{Outcome: provider.TooLarge, Layer: provider.LayerTarget, Error: x.Reply.Error})
		}
		return
	}
	x.Broken()
}

// refusal reads an answer outside 2xx (sheet section 6).
func (x *reading) refusal() {
	object, err := provider.Object(x.Response.Body)
	why := x.RefusalText(provider.Words(object))
	switch x.Response.Status {
	case http.StatusTooManyRequests:
		x.End(provider.Limited, provider.LayerAccount, why)
	case http.StatusPaymentRequired:
		x.unpaid(object, why)
	case http.StatusUnauthorized, http.StatusForbidden:
		x.End(provider.Denied, provider.LayerAuth, why)
	case http.StatusServiceUnavailable:
		if x.p.asyncSubmit(x.Call) && x.Kind == provider.Submit {
			why += " (a deployment without a queue answers so to every asynchronous submit)"
		}
		x.End(provider.Busy, provider.LayerCapacity, why)
	case http.StatusNotFound, http.StatusGone:
		switch x.Kind {
		case provider.Poll:
			x.End(provider.Lost, provider.NoLayer, "the platform no longer knows the job")
		case provider.Lookup:
			x.LookedUp()
		default:
			x.End(provider.Refused, provider.NoLayer, why)
		}
	case http.StatusInternalServerError:
		x.End(provider.Failed, provider.NoLayer, why)
	case http.StatusBadGateway:
		if x.Kind == provider.Submit && (err == nil || len(x.Response.Body) == 0) {
			x.unlockFailed(object, why)
			return
		}
		x.FailUnknown(why) // a page instead of the platform's JSON: a gateway before it
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly:
		x.FailUnknown(why)
	default:
		x.OtherStatus(why)
	}
}

// unpaid tells the three meanings of a 402 by its code, found even in a body that was cut.
func (x *reading) unpaid(object map[string]json.RawMessage, why string) {
	code := strings.ToUpper(provider.Text(object["code"]))
	for _, known := range []string{codeLocked, codeMonth} {
		if object == nil && bytes.Contains(x.Response.Body, []byte(known)) {
			code = known
		}
	}
	switch code {
	case codeLocked:
		x.End(provider.Refused, provider.NoLayer, why+" ("+codeLocked+": the plan does not allow what the request asks for)")
	case codeMonth:
		x.End(provider.Denied, provider.LayerQuota, why+" (the month's allowance is used up)")
	default:
		x.End(provider.Denied, provider.LayerQuota, why+" (the balance is used up)")
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
	x.End(provider.Accepted, provider.NoLayer, "")
	x.charge(object)
	x.target(provider.Item{Outcome: provider.Failed, Layer: provider.LayerTarget, Error: why})
}

// target is the item of the call's one target.
func (x *reading) target(item provider.Item) {
	item.Task = x.First().Task
	item.Error, item.Credits = provider.Line(item.Error), x.Reply.Credits
	x.Reply.Items = []provider.Item{item}
}

// charge adopts what an envelope says that the work cost.
func (x *reading) charge(envelope map[string]json.RawMessage) {
	if billing, err := provider.Object(envelope["billing"]); err == nil {
		x.Reply.Credits = provider.Amount(billing["charged"]).V
	}
}

// success reads a 2xx.
func (x *reading) success() {
	if x.Kind == provider.Lookup {
		x.LookedUp()
		return
	}
	object, err := provider.Object(x.Response.Body)
	if err != nil {
		// A sync scrape behind it was carried out; of a job that was to be made nothing is known.
		if x.Kind == provider.Submit && (x.p.asyncSubmit(x.Call) || x.Response.Status == http.StatusAccepted) {
			x.FailUnknown(err.Error())
			return
		}
		x.End(provider.Failed, provider.NoLayer, err.Error())
		return
	}
	if x.Kind == provider.Poll {
		x.polled(object)
		return
	}
	job := provider.Text(object["job_id"])
	data, dataErr := provider.Object(object["data"])
	if job == "" {
		job = provider.Text(data["job_id"])
	}
	hasPage := dataErr == nil && (provider.Said(data["content"]) || provider.Said(data["status_code"]))
	switch {
	case hasPage || provider.False(object["success"]):
		x.envelope(object)
	case provider.ValidJob(job):
		x.HandedOver(job, minPollAfter)
	case x.p.asyncSubmit(x.Call) || x.Response.Status == http.StatusAccepted:
		x.FailUnknown("the platform accepted the work but gave no job id")
	default:
		x.envelope(object)
	}
}

// minPollAfter is how soon a job may be asked for again.
const minPollAfter = time.Second
