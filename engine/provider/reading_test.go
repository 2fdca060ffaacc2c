package provider

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"dev.scrapetop/engine/limits"
)

// asked is a reading of a response to a submit of one task, judged: a fault is Broken, a success Accepted, a refusal as
// OtherStatus has it.
func asked(c Call, r Response) Reply {
	x := NewReading(c, r, limits.Profile{Name: "p", WaitFields: []string{"reset"}})
	return x.Judge(x.Broken, func() { x.End(Accepted, NoLayer, "") }, func() { x.OtherStatus(x.RefusalText("no")) })
}

func aSubmit() Call {
	return Call{Kind: Submit, For: Submit, Targets: []Target{{Task: 7, URL: "http://t.test/"}}}
}

func TestReadingLetsOneSpeak(t *testing.T) {
	probe, poll := aSubmit(), aSubmit()
	probe.Kind = Probe
	poll.Kind, poll.For = Poll, Poll
	for name, c := range map[string]struct {
		call    Call
		r       Response
		want    Outcome
		unknown bool
		why     string
		wait    time.Duration
	}{
		"a page":                     {aSubmit(), Response{Status: 200, Body: []byte(`{"reset":5}`)}, Accepted, false, "", 0},
		"a page that was cut":        {aSubmit(), Response{Status: 200, Fault: FaultTruncated, Sent: true}, Transport, true, "truncated", 0},
		"a refusal that was cut":     {aSubmit(), Response{Status: 429, Fault: FaultTruncated, Sent: true}, Refused, false, "the platform answered 429: no", 0},
		"a refusal with a wait":      {aSubmit(), Response{Status: 429, Body: []byte(`{"reset":5}`)}, Refused, false, "429", 5 * time.Second},
		"an unknown end":             {aSubmit(), Response{Status: 521}, Failed, true, "521", 0},
		"an unknown end of a probe":  {probe, Response{Status: 521}, Failed, true, "521", 0},
		"an unknown end of a poll":   {poll, Response{Status: 521}, Failed, false, "521", 0},
		"nothing sent":               {aSubmit(), Response{Fault: FaultConnect, Error: "no route"}, Transport, false, "connect: no route", 0},
		"a poll without an answer":   {poll, Response{Fault: FaultTimeout, Sent: true}, Transport, false, "timeout", 0},
		"a probe without an answer":  {probe, Response{Fault: FaultTimeout, Sent: true}, Transport, true, "timeout", 0},
		"a redirect is no page":      {aSubmit(), Response{Status: 302}, Failed, true, "302", 0},
		"informational is no answer": {aSubmit(), Response{Status: 103}, Failed, true, "103", 0},
	} {
		got := asked(c.call, c.r)
		if got.Outcome != c.want || got.Unknown != c.unknown || !strings.Contains(got.Error, c.why) || got.Signal.Wait.V != c.wait || got.HTTPStatus.OK != (c.r.Status != 0) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestPollsComeWithinBounds(t *testing.T) {
	for after, want := range map[string]time.Duration{"": time.Second, "0": time.Second, "9": 9 * time.Second, "600": time.Minute} {
		x := NewReading(aSubmit(), Response{Status: 202, Header: http.Header{"Retry-After": {after}}}, limits.Profile{})
		x.HandedOver("j", time.Second)
		y := NewReading(aSubmit(), Response{Status: 200, Header: http.Header{"Retry-After": {after}}}, limits.Profile{})
		y.Running(true, time.Second)
		if x.Reply.Outcome != AcceptedRemote || x.Reply.Job != "j" || x.Reply.PollAfter != want || y.Reply.Outcome != StillRunning || !y.Reply.Started || y.Reply.PollAfter != want {
			t.Errorf("%q: %+v, %+v", after, x.Reply, y.Reply)
		}
	}
}

func TestVisited(t *testing.T) {
	ok, retry := limits.Some(200), http.Header{"Retry-After": {"9"}}
	for name, c := range map[string]struct {
		e       Envelope
		outer   string // the envelope's own Retry-After
		outcome Outcome
		why     string
		wait    time.Duration
	}{
		"a page":                     {Envelope{Status: ok, Content: true}, "", Accepted, "", 0},
		"a page without a status":    {Envelope{Content: true}, "", Accepted, "", 0},
		"no page":                    {Envelope{Status: ok}, "", Failed, "no content", 0},
		"failed":                     {Envelope{Status: ok, Failed: true, Content: true}, "", Failed, "not why", 0},
		"failed, and why":            {Envelope{Failed: true, Reason: "dns"}, "", Failed, "dns", 0},
		"the status goes first":      {Envelope{Status: limits.Some(429), Failed: true, Content: true}, "", Limited, "the target answered 429", 0},
		"the target's wait":          {Envelope{Status: limits.Some(429), Header: retry}, "30", Limited, "429", 9 * time.Second},
		"the outer wait stands in":   {Envelope{Status: limits.Some(429)}, "30", Limited, "429", 30 * time.Second},
		"the outer wait of a page":   {Envelope{Status: ok, Content: true}, "30", Accepted, "", 0},
		"a challenge":                {Envelope{Status: ok, Content: true, Header: http.Header{"Cf-Mitigated": {"challenge"}}}, "", Blocked, "challenge", 0},
		"a limit behind a challenge": {Envelope{Status: limits.Some(429), Header: http.Header{"Cf-Mitigated": {"challenge"}}}, "", Limited, "429", 0},
		"not there":                  {Envelope{Status: limits.Some(404), Content: true, Reason: "gone"}, "", NotFound, "gone", 0},
	} {
		r := Response{Status: 200, Header: http.Header{}}
		if c.outer != "" {
			r.Header.Set("Retry-After", c.outer)
		}
		x := NewReading(aSubmit(), r, limits.Profile{})
		got := x.Visited(c.e)
		if got.Task != 7 || got.Outcome != c.outcome || !strings.Contains(got.Error, c.why) || (got.Error == "") != (c.outcome == Accepted) || got.Signal.Wait.V != c.wait || got.Page != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestTargetHeader(t *testing.T) {
	envelope := map[string]json.RawMessage{
		"headers": json.RawMessage(`{"Set-Cookie":["a=1","b=2"],"retry-after":9,"odd":{"a":1},"list":[[]]}`), "more": json.RawMessage(`{"Age":"3"}`), "none": json.RawMessage(`7`),
	}
	want := http.Header{"Set-Cookie": {"a=1", "b=2"}, "Retry-After": {"9"}, "Age": {"3"}}
	if got := TargetHeader(envelope, "none", "missing", "headers", "more"); !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
	if got := TargetHeader(envelope, "none", "missing"); got != nil {
		t.Errorf("%v", got)
	}
}

func TestNotesAreFew(t *testing.T) {
	x := NewReading(aSubmit(), Response{Status: 200}, limits.Profile{})
	for i := range 100 {
		x.Note("odd %d\n", i)
	}
	if len(x.Reply.Notes) != maxNotes || x.Reply.Notes[0] != "odd 0" {
		t.Errorf("%q", x.Reply.Notes)
	}
}
