package spidra

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
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
	x := &reading{p: p, c: c, r: r, kind: kind(c)}
	if r.Status != 0 {
		said := limits.Response{Status: r.Status, Header: r.Header, Received: r.Received, Profile: p.Profile()}
		if r.Status >= 300 {
			said.Body = r.Body
		}
		x.reply.Signal = limits.Read(said)
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
	p     spidra
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

// maxNotes bounds what one hostile answer can make us say.
const maxNotes = 12

func (x *reading) note(format string, args ...any) {
	if len(x.reply.Notes) < maxNotes {
		x.reply.Notes = append(x.reply.Notes, provider.Line(fmt.Sprintf(format, args...)))
	}
}

// fault reads a response that did not come whole. Headers may have come before it broke: a batch's id stands there too.
func (x *reading) fault() {
	why := string(x.r.Fault)
	if x.r.Error != "" {
		why += ": " + x.r.Error
	}
	switch {
	case x.kind == provider.Submit && x.r.Status >= 200 && x.r.Status <= 299 && x.located() != "":
		x.handedOver(x.located())
		x.note("the answer broke off (%s); its Location names the job", x.r.Fault)
	case x.r.Fault == provider.FaultTooLarge && x.kind == provider.Poll:
		x.tooLarge(why)
	case x.r.Fault == provider.FaultTooLarge:
		x.unknown(provider.Failed, provider.NoLayer, why)
	default:
		x.end(provider.Transport, provider.LayerTransport, why)
		x.reply.Unknown = x.kind == provider.Submit && x.r.Sent
	}
}

// tooLarge settles a job whose result passes the cap. Of a batch nothing tells which page it was.
func (x *reading) tooLarge(why string) {
	x.end(provider.TooLarge, provider.LayerTarget, why)
	if len(x.c.Targets) == 1 {
		x.reply.Items = []provider.Item{{Task: x.c.Targets[0].Task, Outcome: provider.TooLarge, Layer: provider.LayerTarget, Error: x.reply.Error}}
		return
	}
	x.reply.Split = len(x.c.Targets) > 1
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
	object, err := provider.Object(x.r.Body)
	said := ""
	if err == nil {
		said = errorText(object)
	}
	why := fmt.Sprintf("the platform answered %d", x.r.Status)
	if said != "" {
		why += ": " + said
	}
	code := codeOf(object, x.r.Body)
	status := x.r.Status
	if code == codeBusy && status >= 400 {
		x.end(provider.Busy, provider.LayerCapacity, why)
		return
	}
	switch status {
	case http.StatusTooManyRequests:
		if code == codePending || code == "" && strings.Contains(strings.ToLower(said), "too many pending") {
			x.end(provider.Limited, provider.LayerPending, why)
			x.forgetWindow()
			return
		}
		x.end(provider.Limited, provider.LayerRate, why)
	case http.StatusServiceUnavailable:
		x.end(provider.Busy, provider.LayerCapacity, why)
	case http.StatusPaymentRequired:
		x.end(provider.Denied, provider.LayerQuota, why)
	case http.StatusUnauthorized:
		x.end(provider.Denied, provider.LayerAuth, why)
	case http.StatusForbidden:
		x.end(provider.Denied, forbids(said), why)
	case http.StatusNotFound, http.StatusGone:
		x.gone(why)
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly:
		x.unknown(provider.Failed, provider.NoLayer, why) // a conflict with ourselves: the first submit was carried out
	default:
		if status >= 400 && status <= 499 {
			x.end(provider.Refused, provider.NoLayer, why)
			x.reply.Split = x.kind == provider.Submit && len(x.c.Targets) > 1
			return
		}
		x.unknown(provider.Failed, provider.NoLayer, why)
	}
}

// forgetWindow drops a wait that was read from the window of requests: the queue of jobs is another limit, and polls that
// empty it must go on. The counter itself stays for whoever counts requests.
func (x *reading) forgetWindow() {
	if s := &x.reply.Signal; s.WaitSource == "ratelimit-reset" {
		s.Wait, s.WaitSource, s.Saturated = limits.Opt[time.Duration]{}, "", false
	}
}

// gone is a job that the platform does not know: expired, or another account's.
func (x *reading) gone(why string) {
	if x.kind == provider.Poll || x.kind == provider.Lookup && x.c.Job != "" {
		x.end(provider.Lost, provider.NoLayer, "the platform no longer knows the job")
		return
	}
	x.end(provider.Refused, provider.NoLayer, why)
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
	object, err := provider.Object(x.r.Body)
	switch {
	case x.kind == provider.Submit:
		x.submitted(object, err)
	case x.kind == provider.Lookup && x.c.Job == "" && len(x.c.Targets) == 0:
		x.end(provider.Accepted, provider.NoLayer, "")
	case err != nil:
		x.end(provider.Failed, provider.NoLayer, err.Error())
	case strings.EqualFold(provider.Text(object["status"]), "error"):
		x.end(provider.Failed, provider.NoLayer, cmp.Or(errorText(object), "the platform reports an error, not which"))
	case x.kind == provider.Lookup:
		x.looked(object)
	default:
		x.polled(object)
	}
}

// submitted reads the answer to a submit.
func (x *reading) submitted(object map[string]json.RawMessage, err error) {
	if job := x.jobOf(object); job != "" {
		x.handedOver(job)
		return
	}
	switch state := stateOf(object["status"]); {
	case x.located() != "":
		x.handedOver(x.located())
	case err != nil:
		x.unknown(provider.Failed, provider.NoLayer, err.Error())
	case state == stateFailed:
		x.end(provider.Failed, provider.NoLayer, cmp.Or(errorText(object), "the platform did not take the job"))
	default:
		x.unknown(provider.Failed, provider.NoLayer, cmp.Or(errorText(object), "the platform accepted the work but gave no job id"))
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
		return x.p.submits(len(x.c.Targets)) + "/" + id
	}
	return ""
}

// located is the batch that the Location of an answer leads to; only its last segment is believed, never its host.
func (x *reading) located() string {
	if x.p.submits(len(x.c.Targets)) != kindBatch {
		return ""
	}
	u, err := url.Parse(x.r.Header.Get("Location"))
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

func (x *reading) handedOver(job string) {
	x.end(provider.AcceptedRemote, provider.NoLayer, "")
	x.reply.Job, x.reply.PollAfter = job, x.pollAfter()
}

// maxPollAfter bounds what Retry-After may ask of a poll: later the result may be gone.
const maxPollAfter = time.Minute

func (x *reading) pollAfter() time.Duration { return min(x.reply.Signal.Wait.V, maxPollAfter) }
