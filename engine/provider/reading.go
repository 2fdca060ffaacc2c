package provider

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"dev.scrapetop/engine/limits"
)

// Reading is one response on its way to a Reply: what every platform's answers are read by alike. A platform adds what its
// own statuses and bodies mean.
type Reading struct {
	Call     Call
	Response Response
	Kind     Kind // what the call is read as
	Reply    Reply
}

// NewReading begins a reading with what status and headers say, and the body of a refusal: a page's body is no word of the
// platform's.
func NewReading(c Call, r Response, p limits.Profile) Reading {
	x := Reading{Call: c, Response: r, Kind: c.As()}
	if r.Status != 0 {
		said := limits.Response{Status: r.Status, Header: r.Header, Received: r.Received, Profile: p}
		if r.Status >= 300 {
			said.Body = r.Body
		}
		x.Reply.Signal = limits.Read(said)
		x.Reply.HTTPStatus = limits.Some(r.Status)
	}
	return x
}

// Judge lets the one of the three speak that the response is for, and returns the finished reply.
func (x *Reading) Judge(fault, success, refusal func()) Reply {
	switch {
	case x.Response.Fault != NoFault && !speaks(x.Response.Status):
		fault()
	case x.Response.Status >= 200 && x.Response.Status <= 299:
		success()
	default:
		refusal()
	}
	if x.Response.Fault == NoFault {
		x.stray()
	}
	x.Reply.Notes = append(x.Reply.Notes, x.Reply.Signal.Notes...)
	return x.Reply
}

// speaks reports the statuses that speak for themselves: they are obeyed even when the body behind them was cut.
func speaks(status int) bool {
	switch status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusPaymentRequired, http.StatusUnauthorized, http.StatusForbidden:
		return true
	}
	return false
}

// End settles what the call came to.
func (x *Reading) End(o Outcome, l Layer, why string) {
	x.Reply.Outcome, x.Reply.Layer, x.Reply.Error = o, l, Line(why)
}

// LookedUp is the end of a lookup that asks whether platform and key work: they do if the answer is whole.
func (x *Reading) LookedUp() {
	if _, err := Object(x.Response.Body); err != nil {
		x.End(Failed, NoLayer, err.Error())
		return
	}
	x.End(Accepted, NoLayer, "")
}

// FailUnknown is the end of a call that brought no usable answer although a submit may have been carried out.
func (x *Reading) FailUnknown(why string) {
	x.End(Failed, NoLayer, why)
	x.Reply.Unknown = x.Kind == Submit
}

// Broken is the end of a call whose response did not come whole.
func (x *Reading) Broken() {
	x.End(Transport, LayerTransport, x.FaultText())
	x.Reply.Unknown = x.Kind == Submit && x.Response.Sent
}

// FaultText is why the response did not come whole.
func (x *Reading) FaultText() string {
	if x.Response.Error == "" {
		return string(x.Response.Fault)
	}
	return string(x.Response.Fault) + ": " + x.Response.Error
}

// RefusalText is what the platform answered, with its own reason where it gave one.
func (x *Reading) RefusalText(reason string) string {
	if reason == "" && x.bodyKind() == bodyHTML {
		return x.answered()
	}
	if reason == "" {
		return fmt.Sprintf("the platform answered %d", x.Response.Status)
	}
	return fmt.Sprintf("the platform answered %d: %s", x.Response.Status, reason)
}

// OtherStatus is the end of a refusal whose status the platform gives no meaning of its own: a 4xx is a wrong request of
// ours, and behind anything else the work may have been done.
func (x *Reading) OtherStatus(why string) {
	if x.Response.Status >= 400 && x.Response.Status <= 499 {
		x.End(Refused, NoLayer, why)
		return
	}
	x.FailUnknown(why)
}

// maxNotes bounds what one hostile answer can make us say.
const maxNotes = 12

// Note tells what was odd and how it was read.
func (x *Reading) Note(format string, args ...any) {
	if len(x.Reply.Notes) < maxNotes {
		x.Reply.Notes = append(x.Reply.Notes, Line(fmt.Sprintf(format, args...)))
	}
}

// maxPollAfter bounds what Retry-After may ask of a poll: later the result may be gone.
const maxPollAfter = time.Minute

// HandedOver is the end of a submit that became a remote job. Its next poll comes at least so much later.
func (x *Reading) HandedOver(job string, least time.Duration) {
	x.End(AcceptedRemote, NoLayer, "")
	x.Reply.Job, x.Reply.PollAfter = job, x.pollAfter(least)
}

// Running is the end of a poll whose job has not ended.
func (x *Reading) Running(started bool, least time.Duration) {
	x.End(StillRunning, NoLayer, "")
	x.Reply.Started, x.Reply.PollAfter = started, x.pollAfter(least)
}

func (x *Reading) pollAfter(least time.Duration) time.Duration {
	return min(max(x.Reply.Signal.Wait.V, least), maxPollAfter)
}

// First is the call's first target, of a call for one its only one; the zero Target when it has none.
func (x *Reading) First() Target {
	if len(x.Call.Targets) == 0 {
		return Target{}
	}
	return x.Call.Targets[0]
}

// Envelope is what a platform tells of one visit to a target.
type Envelope struct {
	Status  limits.Opt[int] // the target's
	Header  http.Header     // the target's, where it is passed on
	Failed  bool            // the platform says that the visit failed
	Content bool            // there is a page
	Reason  string          // what the platform says besides
}

// Visited judges an envelope: the item of the call's one target. With Accepted its page is still to be added. The target's
// status goes before the platform's own word, which may be either on a refusal.
func (x *Reading) Visited(e Envelope) Item {
	item := Item{Task: x.First().Task, Outcome: Accepted, Target: e.Status}
	if e.Status.OK {
		item.Signal = limits.Read(limits.Response{
			Status: e.Status.V, Header: e.Header, Received: x.Response.Received, Profile: limits.Profile{Name: "target", RoomyReset: true},
		})
		item.Outcome, item.Layer = JudgeTarget(e.Status.V, item.Signal)
	}
	why := e.Reason
	switch {
	case Challenged(e.Header) && e.Status.V != http.StatusTooManyRequests:
		item.Outcome, item.Layer, why = Blocked, LayerTarget, "the target answered with a challenge"
	case item.Outcome == Limited || item.Outcome == Busy:
		x.outerWait(&item)
	case item.Outcome != Accepted:
	case e.Failed:
		item.Outcome, item.Layer = Failed, LayerTarget
		if why == "" {
			why = "the platform says that the scrape failed, not why"
		}
	case !e.Content:
		item.Outcome, item.Layer, why = Failed, LayerTarget, "the answer has no content"
	}
	if item.Outcome != Accepted {
		if why == "" {
			why = fmt.Sprintf("the target answered %d", e.Status.V)
		}
		item.Error = Line(why)
	}
	return item
}

// outerWait lets the envelope's own Retry-After stand in for a target's that was not passed on: it is a wait for that
// target and for nothing else.
func (x *Reading) outerWait(item *Item) {
	outer := x.Reply.Signal
	if !item.Signal.Wait.OK && outer.Wait.OK {
		item.Signal.Wait, item.Signal.WaitSource, item.Signal.Saturated = outer.Wait, outer.WaitSource, outer.Saturated
	}
}

// TargetHeader are the target's headers as an envelope passes them on in any of the fields; nil when it does not. A value
// may be text or a list of texts.
func TargetHeader(envelope map[string]json.RawMessage, fields ...string) http.Header {
	var h http.Header
	for _, field := range fields {
		object, err := Object(envelope[field])
		if err != nil {
			continue
		}
		if h == nil {
			h = http.Header{}
		}
		for _, name := range slices.Sorted(maps.Keys(object)) {
			lines := []json.RawMessage{object[name]}
			if object[name][0] == '[' && json.Unmarshal(object[name], &lines) != nil {
				continue
			}
			for _, line := range lines {
				if text := Text(line); text != "" {
					h.Add(name, text)
				}
			}
		}
	}
	return h
}
