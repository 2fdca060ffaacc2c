package core

import (
	"fmt"
	"time"

	"dev.scrapetop/engine/budget"
	"dev.scrapetop/engine/limits"
	"dev.scrapetop/engine/provider"
)

// Verdict is what a decision is made from.
type Verdict struct {
	Facts    provider.Facts
	Outcome  provider.Outcome
	Layer    provider.Layer
	Signal   limits.Signal // of whoever refused
	Tries    int           // tries before this call
	Invalids int           // of them, answers that failed validation
	Max      int           // --max-attempts
	Resubmit bool          // a lost result is submitted again
	Failed   int           // refusals in a row of the budget before this one
}

// Decision is what follows from one answer for one task and the budgets it drew on.
type Decision struct {
	Outcome provider.Outcome
	Retry   bool         // the task goes on (at once, or after its wait)
	Try     bool         // it costs a try
	Dead    string       // dead-letter reason when it is final; empty otherwise
	Cools   budget.Scope // whose budget cools down
	Stops   budget.Scope // whose budget stops until a person or a probe reopens it
	// Wait is the least wait: the server's when Announced, otherwise the platform's documented default; zero without either,
	// and then our own backoff between Least and Most counts.
	Wait      time.Duration
	Announced bool
	Least     time.Duration
	Most      time.Duration
	Cause     string // of the cooldown, for people
	Advice    string // the smallest corrective action
}

// maxInvalid is how often a page that fails validation is tried behind a paid platform: once and twice more.
const maxInvalid = 3

// Decide says what one answer means (DESIGN section 6, CONTRACT section 7). It is the one place that decides: the
// scheduler and `explain` call it alike.
func Decide(v Verdict) Decision {
	d := Decision{Outcome: v.Outcome, Cools: budget.None, Stops: budget.None}
	d.Least, d.Most = budget.Backoff(v.Failed)
	switch v.Outcome {
	case provider.Accepted, provider.AcceptedRemote, provider.StillRunning, provider.Redirected:
		d.Advice = adviceGood(v)
	case provider.Limited, provider.Busy:
		d.Retry = true
		d.Cools = scopeOf(v)
		d.announce(v)
		d.Advice = adviceRefused(v)
	case provider.Denied:
		d.Stops = budget.Credential
		if v.Layer == provider.LayerQuota && v.Facts.AccountScope == string(budget.Account) {
			d.Stops = budget.Account
		}
		d.Cools = d.Stops
		d.Cause = string(v.Layer)
		d.Advice = "Check the key: it is missing, wrong or disabled; its work waits untouched and goes on once the key works."
		switch v.Layer {
		case provider.NoLayer:
			d.Advice = "Somebody answered in the platform's place: check base_url and what stands between; its work waits untouched."
		case provider.LayerQuota:
			d.Advice = "Top up the account or wait for its next period; its work waits untouched, retrying spends nothing but time."
		}
	case provider.Blocked:
		d.Dead = "blocked"
		d.Advice = "This is access policy, not a rate limit: check authorisation and the site's terms; slowing down does not help."
	case provider.NotFound:
		d.Dead = "not_found"
		d.Advice = "The page is gone: take the URL off the list."
	case provider.Refused:
		d.Dead = "refused"
		d.Advice = "The request itself is wrong: correct the URL or the options; retrying the same cannot succeed."
	case provider.TooLarge:
		d.Dead = "too_large"
		d.Advice = "The body passes --max-body: raise it if such pages are wanted."
	case provider.Lost:
		if v.Resubmit {
			d.tryAgain(v)
		} else {
			d.Dead = "lost"
		}
		d.Advice = "The remote job's result is gone; submitting it again costs again, so that is left to you (resubmit_lost)."
	case provider.Invalid:
		if v.Facts.Paid && v.Invalids+1 >= maxInvalid {
			d.Try, d.Dead = true, "attempts"
		} else {
			d.tryAgain(v)
		}
		d.Advice = "The page came but failed validation: look at it; if it is a soft block, slow this domain down."
	default: // failed, transport
		d.tryAgain(v)
		d.announce(v)
		d.Cools = budget.None
		d.Advice = "A fault, not a limit: retry with backoff; if many fail in a row, the server or the network is down."
	}
	return d
}

// tryAgain counts a try and ends the task when it was the last.
func (d *Decision) tryAgain(v Verdict) {
	d.Try = true
	limit := v.Max
	if limit <= 0 {
		limit = 8
	}
	if v.Tries+1 >= limit {
		d.Dead = "attempts"
		return
	}
	d.Retry = true
	d.Least, d.Most = budget.Backoff(v.Tries)
}

// announce takes over the wait the server named, or else the platform's documented default.
func (d *Decision) announce(v Verdict) {
	switch {
	case v.Signal.Wait.OK:
		d.Wait, d.Announced = v.Signal.Wait.V, true
		d.Cause = fmt.Sprintf("%s: %s", v.Signal.WaitSource, seconds(d.Wait))
	case v.Outcome == provider.Busy && v.Layer == provider.LayerCapacity && v.Facts.BusyWait > 0:
		d.Wait, d.Announced = v.Facts.BusyWait, true
		d.Cause = "platform default " + seconds(d.Wait)
	case v.Outcome == provider.Limited && v.Layer != provider.LayerTarget && v.Facts.DefaultWait > 0:
		d.Wait, d.Announced = v.Facts.DefaultWait, true
		d.Cause = "platform default " + seconds(d.Wait)
	default:
		d.Cause = fmt.Sprintf("backoff %d", v.Failed+1)
	}
}

// scopeOf is whose budget a refusal cools.
func scopeOf(v Verdict) budget.Scope {
	switch v.Layer {
	case provider.LayerAccount:
		if v.Facts.AccountScope == string(budget.Account) {
			return budget.Account
		}
		return budget.Credential
	case provider.LayerRate:
		return budget.IP
	case provider.LayerPending:
		return budget.Pending
	case provider.LayerCapacity:
		return budget.Provider
	}
	return budget.Domain
}

func adviceGood(v Verdict) string {
	switch {
	case v.Outcome == provider.AcceptedRemote:
		return "Poll the remote job; submitting again would pay twice."
	case v.Outcome == provider.StillRunning:
		return "Wait and poll again."
	case v.Signal.Exhausted() && v.Signal.Reset.OK:
		return "The window is spent: start nothing more here until it resets."
	}
	return "Nothing to do."
}

func adviceRefused(v Verdict) string {
	switch v.Layer {
	case provider.LayerAccount:
		return "Lower the total in flight of this credential: the platform counts simultaneous work across all its users."
	case provider.LayerRate:
		return "Stop every call from this address to the platform, polls included, until the window resets."
	case provider.LayerPending:
		return "Submit no more jobs of this kind until some finish; go on polling."
	case provider.LayerCapacity:
		return "The platform is busy for everybody: pause submits and come back after the wait; your own rate is not the cause."
	}
	switch {
	case v.Outcome == provider.Busy:
		return "The site asks to be left alone while it recovers: wait, then resume gradually; this is not a rate limit."
	case v.Signal.Wait.OK:
		return "Pause this domain at least that long, then resume with one request and in steps."
	}
	return "Back off with jitter and lower this domain's rate; look for its published limits or an official API."
}

// seconds prints a wait as people read it.
func seconds(d time.Duration) string {
	s := d.Seconds()
	if s == float64(int64(s)) {
		return fmt.Sprintf("%d s", int64(s))
	}
	return fmt.Sprintf("%.1f s", s)
}
