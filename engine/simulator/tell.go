package simulator

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"
)

// tellWait announces a wait that counts from at, and returns what was announced: never less than the wait.
func tellWait(at time.Time, wait time.Duration, tell Tell, h http.Header) time.Duration {
	seconds := int64(max(1, math.Ceil(wait.Seconds())))
	announced := time.Duration(seconds) * time.Second
	switch {
	case tell&TellSeconds != 0:
		h.Set("Retry-After", strconv.FormatInt(seconds, 10))
	case tell&TellDate != 0:
		end := at.Add(wait).Truncate(time.Second).Add(time.Second)
		h.Set("Retry-After", end.UTC().Format(http.TimeFormat))
		announced = end.Sub(at)
	case tell&(TellXRateLimit|TellXRateLimitUnix|TellDraft) != 0: // the counters say it
	default:
		return 0
	}
	return announced
}

// tellCounters writes the counters' headers, if the site tells any.
func (s *site) tellCounters(now time.Time, tell Tell, h http.Header) bool {
	if tell&(TellXRateLimit|TellXRateLimitUnix|TellDraft) == 0 {
		return false
	}
	limit, remaining, reset, window, ok := s.limiter.report(now)
	if !ok {
		return false
	}
	seconds := int64(max(0, math.Ceil(reset.Seconds())))
	if tell&(TellXRateLimit|TellXRateLimitUnix) != 0 {
		h.Set("X-RateLimit-Limit", strconv.Itoa(limit))
		h.Set("X-RateLimit-Remaining", strconv.Itoa(remaining))
		at := seconds
		if tell&TellXRateLimitUnix != 0 {
			at = now.Unix() + seconds + 1
		}
		h.Set("X-RateLimit-Reset", strconv.FormatInt(at, 10))
	}
	if tell&TellDraft != 0 {
		h.Set("RateLimit-Policy", fmt.Sprintf(`"default";q=%d;w=%d`, limit, int64(math.Ceil(window.Seconds()))))
		h.Set("RateLimit", fmt.Sprintf(`"default";r=%d;t=%d`, remaining, seconds))
	}
	return true
}
