package simulator

import (
	"cmp"
	"encoding/json"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// maxRequestBody bounds what a client may send.
const maxRequestBody = 1 << 20

// sweepEvery is how many jobs an account begins before what has expired is forgotten.
const sweepEvery = 256

// sideLatency is what a call takes that scrapes nothing.
const sideLatency = 40 * time.Millisecond

// MemoryIP is the address that requests in memory come from, unless they carry X-Forwarded-For.
const MemoryIP = "127.0.0.1"

// PlatformFaults are shares (0 to 1) of calls that go wrong, drawn anew for each call. At most one happens. Polls that go
// wrong change nothing, and for them ResetBefore and ResetAfter are one.
type PlatformFaults struct {
	ServerError float64 // 500, nothing begun
	BadGateway  float64 // 502: Spidra has begun nothing; OmniScrape could not unlock the target
	Unavailable float64 // 503, nothing begun
	LateGateway float64 // 504 although the work was taken
	ResetBefore float64 // the connection is dropped, nothing begun
	ResetAfter  float64 // the connection is dropped although the work was taken
	SlowBody    float64 // the answer comes in pieces, over SlowFor
	Truncated   float64 // the answer's JSON ends early
	Empty       float64 // the answer has no body
	HTML        float64 // an HTML page instead of JSON: Spidra's says 502 and nothing was begun, OmniScrape's keeps the status
}

// What can go wrong with a call: by the settings' shares, or by sim_outer in the target's URL.
const (
	faultServerError = "500"
	faultBadGateway  = "502"
	faultUnavailable = "503"
	faultLateGateway = "504"
	faultResetBefore = "reset-before"
	faultResetAfter  = "reset-after"
	faultSlow        = "slow"
	faultTruncated   = "truncated"
	faultEmpty       = "empty"
	faultHTML        = "html"

	faultTimeout     = "408"          // Evomi: without a task
	faultLimited     = "429"          // OmniScrape: without a code
	faultProxyLocked = "proxy-locked" // OmniScrape: 402
)

// of chooses by one number in [0, 1).
func (f PlatformFaults) of(at float64) string {
	is := pick(at)
	for _, c := range []struct {
		share float64
		fault string
	}{
		{f.ServerError, faultServerError}, {f.BadGateway, faultBadGateway}, {f.Unavailable, faultUnavailable},
		{f.LateGateway, faultLateGateway}, {f.ResetBefore, faultResetBefore}, {f.ResetAfter, faultResetAfter},
		{f.SlowBody, faultSlow}, {f.Truncated, faultTruncated}, {f.Empty, faultEmpty}, {f.HTML, faultHTML},
	} {
		if is.within(c.share) {
			return c.fault
		}
	}
	return ""
}

// submitFault chooses what goes wrong with the nth submit of a URL: what its script says, or one of the shares.
func (w *World) submitFault(f PlatformFaults, target *url.URL, n int) string {
	if s, ok := scriptOf(target); ok && s.outer != "" {
		if s.applies(n) {
			return s.outer
		}
		return ""
	}
	return f.of(w.chance.of(target.String(), -n).float(0))
}

// reply is an answer of an API before it is written.
type reply struct {
	status  int
	header  map[string]string
	body    any    // JSON, unless page is set
	page    string // raw delivery, or HTML where JSON was due
	kind    string // content type of page
	cut     bool   // the answer ends early
	dropped bool   // no answer at all
	pause   func() // in the middle of the answer; nil: none
}

// with adds a header.
func (rep reply) with(name, value string) reply {
	if rep.header == nil {
		rep.header = map[string]string{}
	}
	rep.header[name] = value
	return rep
}

// spoilt is an answer whose body goes wrong the way a fault says.
func (rep reply) spoilt(r *http.Request, fault string, slowFor time.Duration) reply {
	switch fault {
	case faultResetAfter:
		rep.dropped = true
	case faultSlow:
		rep.pause = func() { sleep(r.Context(), slowFor) }
	case faultTruncated:
		rep.cut = true
	case faultEmpty:
		rep.body, rep.page = nil, ""
	case faultHTML:
		rep.body, rep.page = nil, gatewayPage
	}
	return rep
}

var gatewayPage = short("502 Bad Gateway", "<p>nginx</p>")

// send writes an answer.
func (rep reply) send(rw http.ResponseWriter) {
	if rep.dropped {
		panic(http.ErrAbortHandler)
	}
	h := rw.Header()
	for k, v := range rep.header {
		h.Set(k, v)
	}
	data := []byte(rep.page)
	if rep.body != nil {
		h.Set("Content-Type", "application/json")
		var err error
		if data, err = json.Marshal(rep.body); err != nil {
			panic(err) // our own maps
		}
	} else {
		h.Set("Content-Type", cmp.Or(rep.kind, "text/html; charset=utf-8"))
	}
	if rep.cut {
		data = data[:len(data)/2] // a whole HTTP body: what is cut is the JSON
	}
	h.Set("Content-Length", strconv.Itoa(len(data)))
	rw.WriteHeader(rep.status)
	if rep.pause == nil {
		_, _ = rw.Write(data) // a client that left is no fault of the world
		return
	}
	half := len(data) / 2
	_, _ = rw.Write(data[:half])
	if f, ok := rw.(http.Flusher); ok {
		f.Flush()
	}
	rep.pause()
	_, _ = rw.Write(data[half:])
}

func readObject(r io.Reader) (map[string]any, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxRequestBody))
	if err != nil {
		return nil, err
	}
	var out map[string]any
	return out, json.Unmarshal(data, &out)
}

// clientIP is the address a request comes from: what a proxy says, or the connection's.
func clientIP(r *http.Request) string {
	if forwarded, _, _ := strings.Cut(r.Header.Get("X-Forwarded-For"), ","); strings.TrimSpace(forwarded) != "" {
		return strings.TrimSpace(forwarded)
	}
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		return host
	}
	return MemoryIP
}

// keyInQuery reports whether a request's URL carries a key: by the name of its parameter, or by a known key as value.
func keyInQuery[A any](r *http.Request, keys map[string]A) bool {
	for name, values := range r.URL.Query() {
		switch strings.ToLower(name) {
		case "api_key", "apikey", "api-key", "x-api-key", "access_token":
			return true
		}
		for _, v := range values {
			if _, known := keys[v]; known {
				return true
			}
		}
	}
	return false
}

// webAddress reads an absolute http or https URL.
func webAddress(text string) (*url.URL, bool) {
	u, err := url.Parse(text)
	return u, err == nil && u.Hostname() != "" && (u.Scheme == "http" || u.Scheme == "https")
}

// seconds are those of a wait, rounded up and at least one.
func seconds(d time.Duration) int { return int(max(1, math.Ceil(d.Seconds()))) }

// announced are waits that a client was told of.
type announced []announcement

// told notes a wait.
func (a *announced) told(now, until time.Time) {
	kept := (*a)[:0]
	for _, w := range *a {
		if now.Before(w.until) {
			kept = append(kept, w)
		}
	}
	*a = append(kept, announcement{now, until})
}

// toldSeconds notes a wait of whole seconds from now on.
func (a *announced) toldSeconds(now time.Time, n int) {
	a.told(now, now.Add(time.Duration(n)*time.Second))
}

// on reports whether a wait is on that the client had the time to learn of.
func (a announced) on(now time.Time, grace time.Duration) bool {
	for _, w := range a {
		if now.After(w.at.Add(grace)) && now.Before(w.until) {
			return true
		}
	}
	return false
}

// visitAt is a platform's visit to a target. The site has a lock of its own and never asks for a platform's, so a platform
// may hold its lock meanwhile.
func (w *World) visitAt(now time.Time, target *url.URL) visit {
	s := w.siteOf(hostname(target.Host), true)
	if s == nil { // more hosts than a world holds
		return visit{ending: dropped, header: http.Header{}}
	}
	return s.arrive(now, target, true)
}

// charged counts what is paid for, by URL.
type charged map[string]bool

// again notes a URL and reports whether it was noted before.
func (c charged) again(url string) bool {
	was := c[url]
	c[url] = true
	return was
}

// worldTime is how far the world's own calendar has come.
func (w *World) worldTime(now time.Time) time.Time {
	return w.began.Add(time.Duration(float64(now.Sub(w.began)) * w.speed))
}
