// Package direct is the provider that fetches pages itself, one GET at a time, as an honest robot.
//
// Configured headers go to the task's own host and to no other: a redirect that leaves it is asked without them. Redirects
// are never followed here; each is a Redirected item, so that the next hop is a call of its own host. Values of this package
// are immutable and safe for concurrent use.
package direct

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"dev.scrapetop/engine/limits"
	"dev.scrapetop/engine/provider"
)

// DefaultUserAgent is sent when none is configured. It says what we are; it poses as no browser.
const DefaultUserAgent = "scrapetop/1"

// Options configure direct fetching. The zero Options are valid.
type Options struct {
	UserAgent string      // empty: DefaultUserAgent
	Header    http.Header // sent to the host of a task's own URL alone
}

// New makes the direct provider.
func New(o Options) provider.Provider {
	if o.UserAgent == "" {
		o.UserAgent = DefaultUserAgent
	}
	abroad := http.Header{}
	abroad.Set("User-Agent", o.UserAgent)
	abroad.Set("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")
	abroad.Set("Accept-Encoding", "gzip")
	home := abroad.Clone()
	for name, values := range o.Header.Clone() {
		home[http.CanonicalHeaderKey(name)] = values
	}
	return direct{home: home, abroad: abroad}
}

type direct struct {
	home, abroad http.Header // of requests to a task's own host, and to any other; never changed
}

var waitFields = []string{"retry_after"}

func (direct) Name() string { return "direct" }

func (direct) Facts() provider.Facts { return provider.Facts{Timeout: 30 * time.Second} }

func (direct) Profile() limits.Profile {
	return limits.Profile{Name: "direct", RoomyReset: true, WaitFields: waitFields}
}

// Request is a GET of the first target's URL. It fails when there is none or it is no absolute http or https URL.
func (p direct) Request(c provider.Call, _ string) (provider.Request, error) {
	if len(c.Targets) == 0 {
		return provider.Request{}, errors.New("a direct call needs a target URL")
	}
	target := c.Targets[0]
	u, err := parse(nil, target.URL)
	if err != nil {
		return provider.Request{}, fmt.Errorf("the URL of task %d cannot be fetched: %w", target.Task, err)
	}
	h := p.abroad
	if target.Home != "" && strings.EqualFold(u.Hostname(), target.Home) {
		h = p.home
	}
	return provider.Request{Method: http.MethodGet, URL: target.URL, Header: h.Clone()}, nil
}

// Read judges a target's answer. The call and its item end alike and carry the same Signal. A lookup is not judged for
// access: what a refused robots.txt or sitemap means is the asker's to say, by HTTPStatus.
func (p direct) Read(c provider.Call, r provider.Response) provider.Reply {
	a := answer{c: c, r: r}
	if r.Status != 0 {
		said := limits.Response{Status: r.Status, Header: r.Header, Received: r.Received, Profile: p.Profile()}
		if r.Fault == provider.NoFault && (r.Status == http.StatusTooManyRequests || r.Status == http.StatusServiceUnavailable) {
			said.Body = r.Body // targets that are APIs tell their wait in JSON; elsewhere a field of that name means nothing
		}
		a.signal = limits.Read(said)
	}
	a.judge()
	return a.reply()
}

// answer is a response on its way to a reply.
type answer struct {
	c      provider.Call
	r      provider.Response
	signal limits.Signal

	outcome  provider.Outcome
	layer    provider.Layer
	why      string
	location string
}

func (a *answer) judge() {
	outcome, layer := provider.JudgeTarget(a.r.Status, a.signal)
	limited := a.r.Status != 0 && (outcome == provider.Limited || outcome == provider.Busy)
	challenged := provider.Challenged(a.r.Header) && a.r.Status != http.StatusTooManyRequests
	switch status := a.r.Status; {
	case a.r.Fault != provider.NoFault && !(limited && !challenged):
		// Headers that refuse are obeyed even when the body behind them was cut.
		a.outcome, a.layer, a.why = fault(a.r)
	case challenged:
		a.outcome, a.layer, a.why = provider.Blocked, provider.LayerTarget, fmt.Sprintf("the target answered %d with a challenge", status)
	case status >= 300 && status <= 399:
		a.redirect()
	default:
		a.outcome, a.layer = outcome, layer
		if outcome != provider.Accepted {
			a.why = fmt.Sprintf("the target answered %s", statusText(status))
		}
	}
	if a.c.Kind == provider.Lookup && a.outcome == provider.Blocked {
		a.outcome = provider.Refused
	}
}

// fault is an exchange without a whole response.
func fault(r provider.Response) (provider.Outcome, provider.Layer, string) {
	why := string(r.Fault)
	if r.Error != "" {
		why += ": " + r.Error
	}
	if r.Fault == provider.FaultTooLarge {
		return provider.TooLarge, provider.LayerTarget, provider.Line(why)
	}
	if r.Fault == provider.FaultForbidden { // it will be forbidden again
		return provider.Refused, provider.LayerTarget, provider.Line(why)
	}
	return provider.Transport, provider.LayerTransport, provider.Line(why)
}

func statusText(status int) string {
	if text := http.StatusText(status); text != "" {
		return fmt.Sprintf("%d %s", status, text)
	}
	return fmt.Sprintf("%d, which is no status that we know", status)
}

// redirect reads where a 3xx leads (RFC 9110 section 15.4).
func (a *answer) redirect() {
	a.outcome, a.layer = provider.Failed, provider.LayerTarget
	status := a.r.Status
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		a.why = fmt.Sprintf("the target answered %s, which leads nowhere", statusText(status))
		return
	}
	var from *url.URL
	if len(a.c.Targets) > 0 {
		from, _ = url.Parse(a.c.Targets[0].URL) // without it a relative Location is refused below
	}
	to, err := parse(from, a.r.Header.Get("Location"))
	if err != nil {
		a.why = fmt.Sprintf("the target answered %d with a Location that cannot be followed: %s", status, provider.Line(err.Error()))
		return
	}
	if asksToLogIn(to) && (from == nil || !asksToLogIn(from)) {
		a.outcome, a.why = provider.Blocked, fmt.Sprintf("the target answered %d to a login page", status)
		return
	}
	a.outcome, a.layer, a.location = provider.Redirected, provider.NoLayer, to.String()
}

func (a *answer) reply() provider.Reply {
	status := limits.Opt[int]{V: a.r.Status, OK: a.r.Status != 0}
	item := provider.Item{
		Outcome: a.outcome, Layer: a.layer, Target: status, Signal: a.signal, Location: a.location, Error: a.why,
	}
	if len(a.c.Targets) > 0 {
		item.Task = a.c.Targets[0].Task
	}
	if a.outcome == provider.Accepted {
		item.Page = &provider.Page{
			Body: a.r.Body, ContentType: a.r.Header.Get("Content-Type"), Status: status, Header: a.r.Header,
		}
		if len(a.c.Targets) > 0 {
			item.Page.FinalURL = a.c.Targets[0].URL
		}
	}
	return provider.Reply{
		Outcome: a.outcome, Layer: a.layer, HTTPStatus: status, Signal: a.signal, Items: []provider.Item{item}, Error: a.why,
		Notes: a.signal.Notes,
	}
}
