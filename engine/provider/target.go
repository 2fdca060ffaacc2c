package provider

import (
	"net/http"
	"strings"

	"dev.scrapetop/engine/limits"
)

// JudgeTarget says what a target's HTTP status means for its task, with what the target's own headers said of limits.
// It is the one reading for a status we saw ourselves and for one that a platform reports:
//
//   - 429 is a limit whatever else is said; 401, 402 and 403 are one when the answer gives evidence (a usable wait, or a
//     counter at zero), else access is refused;
//   - 503 is a pause when it announces how long, else a failure like every other 5xx;
//   - 404 and 410 are final answers, other 4xx say that the request is wrong; 408, 421 and 425 may go well next time;
//   - zero is how platforms spell a target that was not reached.
//
// 3xx is for the caller, who knows whether redirects are followed; here it is a failure.
func JudgeTarget(status int, said limits.Signal) (Outcome, Layer) {
	switch {
	case status == 0:
		return Transport, LayerTransport
	case status >= 200 && status <= 299:
		return Accepted, NoLayer
	case status == http.StatusTooManyRequests:
		return Limited, LayerTarget
	case status == http.StatusServiceUnavailable && said.Wait.OK:
		return Busy, LayerTarget
	}
	switch status {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden:
		if said.Wait.OK || said.Exhausted() {
			return Limited, LayerTarget
		}
		return Blocked, LayerTarget
	case http.StatusUnavailableForLegalReasons:
		return Blocked, LayerTarget
	case http.StatusNotFound, http.StatusGone:
		return NotFound, LayerTarget
	case http.StatusRequestTimeout, http.StatusMisdirectedRequest, http.StatusTooEarly:
		return Failed, LayerTarget
	}
	if status >= 400 && status <= 499 {
		return Refused, LayerTarget
	}
	return Failed, LayerTarget
}

// Challenged reports that the target's edge answered with a challenge instead of the page, by its own header.
func Challenged(h http.Header) bool {
	return strings.EqualFold(strings.TrimSpace(h.Get("Cf-Mitigated")), "challenge")
}
