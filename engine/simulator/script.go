package simulator

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// script is what a URL asks for itself, in its query:
//
//	sim_status=503   the target answers with this status
//	sim_wait=7       and announces this many seconds
//	sim_delay=2s     the target takes this long (the world's time)
//	sim_fault=reset  the target drops the connection; cut: inside its page; behind Spidra ai: the extraction fails,
//	                 page: the job completes and its one page did not succeed; behind OmniScrape unlock: no unlocking helps
//	sim_outer=...    what the platform does instead: see the faults in platform.go
//	sim_times=2      all this only for the URL's first tries
type script struct {
	status int
	wait   int
	delay  time.Duration
	fault  string
	outer  string
	times  int
}

func scriptOf(u *url.URL) (script, bool) {
	if !strings.Contains(u.RawQuery, "sim_") {
		return script{}, false
	}
	q := u.Query()
	s := script{fault: q.Get("sim_fault"), outer: q.Get("sim_outer")}
	s.status = number(q.Get("sim_status"))
	s.wait = number(q.Get("sim_wait"))
	s.times = number(q.Get("sim_times"))
	if d, err := time.ParseDuration(q.Get("sim_delay")); err == nil {
		s.delay = d
	}
	return s, true
}

// number reads a count; what is none is zero.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}

func (s script) applies(try int) bool { return s.times == 0 || try <= s.times }

// direct makes a visit what the script says.
func (s script) direct(v *visit, speed float64) {
	v.admitted, v.fault = true, s.fault
	if s.delay > 0 {
		v.took = scale(s.delay, speed)
	}
	if s.status >= 200 && s.status <= 999 {
		v.status = s.status
	}
	switch {
	case s.fault == "reset":
		v.ending = dropped
	case s.fault == "cut":
		v.ending = cut
	case v.status == http.StatusTooManyRequests:
		v.ending = refused
	case v.status == http.StatusServiceUnavailable:
		v.ending = busy
	case v.status == http.StatusNotFound || v.status == http.StatusGone:
		v.ending = notFound
	case v.status == http.StatusForbidden || v.status == http.StatusUnauthorized:
		v.ending = blocked
	case v.status >= 400:
		v.ending = failed
	case v.status >= 300:
		v.ending = redirected
	}
	if s.wait > 0 {
		v.wait = time.Duration(s.wait) * time.Second
		v.header.Set("Retry-After", strconv.Itoa(s.wait))
	}
}
