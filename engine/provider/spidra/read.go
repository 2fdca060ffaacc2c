package spidra

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"dev.scrapetop/engine/limits"
	"dev.scrapetop/engine/provider"
)

// Read says what the platform's answer means. A call that the platform itself refused or failed has no items; a poll of a
// job that has ended is accepted and has an item for each of its tasks.
func (p spidra) Read(c provider.Call, r provider.Response) provider.Reply {
	x := &reading{provider.NewReading(c, r, p.Profile()), p}
	return x.Judge(x.fault, x.success, x.refusal)
}

// reading is one response on its way to a reply.
type reading struct {
	provider.Reading
	p spidra
}

// fault reads a response that did not come whole. Headers may have come before it broke: a batch's id stands there too.
func (x *reading) fault() {
	switch {
	case x.Kind == provider.Submit && x.Response.Status >= 200 && x.Response.Status <= 299 && x.located() != "":
		x.HandedOver(x.located(), 0)
		x.Note("the answer broke off (%s); its Location names the job", x.Response.Fault)
	case x.Response.Fault == provider.FaultTooLarge && x.Kind == provider.Poll:
		x.tooLarge()
	case x.Response.Fault == provider.FaultTooLarge:
		x.FailUnknown(x.FaultText())
	default:
		x.Broken()
	}
}

// tooLarge settles a job whose result passes the cap. Of a batch nothing tells which page it was.
func (x *reading) tooLarge() {
	x.End(provider.TooLarge, provider.LayerTarget, x.FaultText())
	if len(x.Call.Targets) == 1 {
		x.Reply.Items = []provider.Item{{Task: x.Call.Targets[0].Task, Outcome: provider.TooLarge, Layer: provider.LayerTarget, Error: x.Reply.Error}}
		return
	}
	x.Reply.Split = len(x.Call.Targets) > 1
}

// The codes that tell refusals of one status apart.
const (
	codePending = "TOO_MANY_PENDING_JOBS"
	codeBusy    = "SERVICE_BUSY"
)

// codeOf is the code of a refusal, found even in a body that was cut.
func codeOf(object map[string]json.RawMessage, body []byte) string {
	if object != nil {
		return strings.ToUpper(provider.Text(object["code"]))
	}
	for _, code := range []string{codePending, codeBusy} {
		if bytes.Contains(body, []byte(code)) {
			return code
		}
	}
	return ""
}

// refusal reads an answer outside 2xx (sheet section 6).
func (x *reading) refusal() {
	object, _ := provider.Object(x.Response.Body) // what is no object says nothing
	said := provider.Words(object)
	why := x.RefusalText(said)
	code := codeOf(object, x.Response.Body)
	if code == codeBusy && x.Response.Status >= 400 {
		x.End(provider.Busy, provider.LayerCapacity, why)
		return
	}
	switch x.Response.Status {
	case http.StatusTooManyRequests:
		if code == codePending || code == "" && strings.Contains(strings.ToLower(said), "too many pending") {
			x.End(provider.Limited, provider.LayerPending, why)
			x.forgetWindow()
			return
		}
		x.End(provider.Limited, provider.LayerRate, why)
	case http.StatusServiceUnavailable:
		x.End(provider.Busy, provider.LayerCapacity, why)
	case http.StatusPaymentRequired:
		x.End(provider.Denied, provider.LayerQuota, why)
	case http.StatusUnauthorized:
		x.End(provider.Denied, provider.LayerAuth, why)
	case http.StatusForbidden:
		x.End(provider.Denied, forbids(said), why)
	case http.StatusNotFound, http.StatusGone:
		x.gone(why)
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly:
		x.FailUnknown(why) // a conflict with ourselves: the first submit was carried out
	default:
		x.OtherStatus(why)
		x.Reply.Split = x.Reply.Outcome == provider.Refused && x.Kind == provider.Submit && len(x.Call.Targets) > 1
	}
}

// forgetWindow drops a wait that was read from the window of requests: the queue of jobs is another limit, and polls that
// empty it must go on. The counter itself stays for whoever counts requests.
func (x *reading) forgetWindow() {
	if s := &x.Reply.Signal; s.WaitSource == "ratelimit-reset" {
		s.Wait, s.WaitSource, s.Saturated = limits.Opt[time.Duration]{}, "", false
	}
}

// gone is a job that the platform does not know: expired, or another account's.
func (x *reading) gone(why string) {
	if x.Kind == provider.Poll || x.Kind == provider.Lookup && x.Call.Job != "" {
		x.End(provider.Lost, provider.NoLayer, "the platform no longer knows the job")
		return
	}
	x.End(provider.Refused, provider.NoLayer, why)
}

// forbids tells the two meanings of a 403 by its text alone: credits that are used up, or a key that is not valid.
func forbids(said string) provider.Layer {
	said = strings.ToLower(said)
	for _, word := range []string{"credit", "quota", "billing", "plan "} {
		if strings.Contains(said, word) {
			return provider.LayerQuota
		}
	}
	for _, word := range []string{"token", "key", "unauthori", "forbidden"} {
		if strings.Contains(said, word) {
			return provider.LayerAuth
		}
	}
	return provider.LayerQuota
}

// success reads a 2xx.
func (x *reading) success() {
	object, err := provider.Object(x.Response.Body)
	switch {
	case x.Kind == provider.Submit:
		x.submitted(object, err)
	case x.Kind == provider.Lookup && x.Call.Job == "" && len(x.Call.Targets) == 0:
		x.LookedUp()
	case err != nil:
		x.End(provider.Failed, provider.NoLayer, err.Error())
	case strings.EqualFold(provider.Text(object["status"]), "error"):
		x.End(provider.Failed, provider.NoLayer, cmp.Or(provider.Words(object), "the platform reports an error, not which"))
	case x.Kind == provider.Lookup:
		x.looked(object)
	default:
		x.polled(object)
	}
}

// submitted reads the answer to a submit.
func (x *reading) submitted(object map[string]json.RawMessage, err error) {
	if job := x.jobOf(object); job != "" {
		x.HandedOver(job, 0)
		return
	}
	switch state := stateOf(object["status"]); {
	case x.located() != "":
		x.HandedOver(x.located(), 0)
	case err != nil:
		x.FailUnknown(err.Error())
	case state == stateFailed:
		x.End(provider.Failed, provider.NoLayer, cmp.Or(provider.Words(object), "the platform did not take the job"))
	default:
		x.FailUnknown(cmp.Or(provider.Words(object), "the platform accepted the work but gave no job id"))
	}
}

// jobOf is the job that an answer to a submit names; empty: none that can be polled.
func (x *reading) jobOf(object map[string]json.RawMessage) string {
	if s := stateOf(object["status"]); s == stateFailed || s == stateCancelled {
		return ""
	}
	if id := provider.Text(object["batchId"]); provider.ValidJob(id) {
		return kindBatch + "/" + id
	}
	if id := provider.Text(object["jobId"]); provider.ValidJob(id) {
		return x.p.submits(len(x.Call.Targets)) + "/" + id
	}
	return ""
}

// located is the batch that the Location of an answer leads to; only its last segment is believed, never its host.
func (x *reading) located() string {
	if x.p.submits(len(x.Call.Targets)) != kindBatch {
		return ""
	}
	u, err := url.Parse(x.Response.Header.Get("Location"))
	if err != nil || u.Path == "" {
		return ""
	}
	place, id, _ := cutLast(u.Path)
	if !strings.HasSuffix(place, x.p.batchPath) && !strings.HasSuffix(place, "/batch/scrape") || !provider.ValidJob(id) {
		return ""
	}
	return kindBatch + "/" + id
}

func cutLast(path string) (before, last string, found bool) {
	path = strings.TrimRight(path, "/")
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return "", path, false
	}
	return path[:i], path[i+1:], true
}
