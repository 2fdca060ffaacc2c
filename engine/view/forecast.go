package view

import (
	"fmt"
	"time"
)

const (
	measured   = time.Minute // less data than this forecasts nothing
	maxLeft    = 366 * 24 * time.Hour
	endsKept   = 5 * time.Minute // how far back movement of a forecast is looked at
	leastSwing = time.Minute     // no forecast is better than this
)

// The reasons for which nothing is forecast. A blocked one names the domain.
const (
	whyMeasuring  = "measuring"
	whyPaused     = "paused"
	whyBlocked    = "blocked"
	whyNoProgress = "no progress" // nothing was accepted or given up in the last five minutes
)

// end is a forecast made earlier: when, and for when.
type end struct{ made, at time.Time }

// perMinute is the domain's pace: tasks accepted or given up a minute, over the last five minutes of closed bins; zero
// when less than a minute was measured.
func (d *domain) perMinute(s *state) float64 {
	if d.pace == nil || s.line.Sub(d.began) < measured {
		return 0
	}
	last := s.bin() - 1
	n := min(paceBins, int(last-binOf(d.began, trendBin))+1)
	seen := s.coveredIn(last, n)
	if seen <= 0 {
		return 0
	}
	return float64(d.pace.done.sum(last, n)) / seen.Minutes()
}

// eta is what is left of the domain's cooldown plus its queue at its pace. A domain that cools keeps the pace it had
// before, once the last five minutes hold none of its work.
func (d *domain) eta(s *state) ETA {
	in := &d.in
	switch {
	case in.Queue <= 0:
		return ETA{}
	case s.paused() || in.State == StatePause || !in.Paused.IsZero():
		return ETA{Why: whyPaused}
	case in.State == StateBlock:
		return ETA{Why: whyBlocked}
	}
	pace := d.perMinute(s)
	if pace == 0 && in.State == StateCool {
		pace = d.before
	}
	if pace == 0 {
		if d.began.IsZero() || s.line.Sub(d.began) < measured {
			return ETA{Why: whyMeasuring}
		}
		return ETA{Why: whyNoProgress}
	}
	return ETA{Known: true, Left: atPace(in.Queue, pace) + min(max(in.Until.Sub(s.at), 0), maxLeft)}
}

func atPace(tasks int64, perMinute float64) time.Duration {
	minutes := float64(tasks) / perMinute
	if minutes >= maxLeft.Minutes() {
		return maxLeft
	}
	return time.Duration(minutes * float64(time.Minute))
}

func (s *state) paused() bool { return s.run.State == "paused" || !s.run.PausedAt.IsZero() }

// forecast keeps the run's ETA, made at most once a second: it looks at every domain.
func (s *state) forecast() ETA {
	second := s.line.Truncate(time.Second)
	if s.etaValid && s.live && second.Equal(s.etaAt) {
		return s.eta
	}
	s.etaValid, s.etaAt = true, second
	s.eta = s.runETA()
	if s.eta.Known {
		s.eta.PlusMinus = s.swing(s.eta.Left)
	}
	s.eta = s.eta.shown()
	return s.eta
}

// left is the number of tasks that are neither accepted nor given up.
func (s *state) left() int64 {
	return s.counts.Pending + s.counts.Delayed + s.counts.InFlight + s.counts.Remote
}

// runETA is the time until the slowest domain that may run is through, and never less than all open tasks take at the
// run's own pace: with many small domains none has a pace of its own, and what holds the run is a shared limit. Tasks of
// paused and blocked domains are left out and told apart.
func (s *state) runETA() ETA {
	switch s.run.State {
	case "draining", "finished", "stopped", "failed", "locked out":
		return ETA{Why: s.run.State}
	}
	left := s.left()
	switch {
	case s.paused():
		return ETA{Why: whyPaused}
	case left <= 0 && s.run.Loading:
		return ETA{Why: whyMeasuring}
	case left <= 0:
		return ETA{Known: true}
	}

	var out ETA
	var paused, blocked, most int64
	var blocker string
	var slowest time.Duration
	var known bool
	for _, d := range s.domains {
		eta := d.eta(s)
		switch eta.Why {
		case whyPaused:
			paused += d.in.Queue
			out.LeftOutDomains++
		case whyBlocked:
			blocked += d.in.Queue
			out.LeftOutDomains++
			if d.in.Queue > most || d.in.Queue == most && d.in.Domain < blocker {
				most, blocker = d.in.Queue, d.in.Domain
			}
		}
		if eta.Known {
			known, slowest = true, max(slowest, eta.Left)
		}
	}
	out.LeftOut = paused + blocked
	open := left - out.LeftOut
	if open <= 0 {
		if out.Why = whyPaused; blocked > 0 {
			out.Why = whyBlocked + ": " + blocker
		}
		return out
	}

	last := s.bin() - 1
	if s.coveredIn(last, paceBins) < measured {
		out.Why = whyMeasuring
		return out
	}
	grown, done := s.grown.sum(last, paceMinute), s.done.sum(last, paceMinute)
	if net := s.rate(grown-done, paceMinute); grown > 0 && net >= 1 {
		out.Why = fmt.Sprintf("growing +%.0f/min", net)
		return out
	}
	pace := s.rate(s.done.sum(last, paceBins), paceBins)
	if pace > 0 {
		known, slowest = true, max(slowest, atPace(open, pace))
	}
	if !known {
		out.Why = whyNoProgress
		return out
	}
	out.Known, out.Left = true, slowest
	return out
}

// swing is how much the forecast end moved in the last five minutes, a minute at least.
func (s *state) swing(left time.Duration) time.Duration {
	keep := 0
	for keep < len(s.ends) && s.line.Sub(s.ends[keep].made) > endsKept {
		keep++
	}
	s.ends = s.ends[keep:]
	now := end{made: s.line, at: s.line.Add(left)}
	first, last := now.at, now.at
	for _, e := range s.ends {
		if e.at.Before(first) {
			first = e.at
		}
		if e.at.After(last) {
			last = e.at
		}
	}
	if n := len(s.ends); n == 0 || now.made.Sub(s.ends[n-1].made) >= trendBin {
		s.ends = append(s.ends, now)
	}
	return max(last.Sub(first), leastSwing)
}

// shown rounds to steps that do not flicker: 10 s under 2 min, a minute under an hour, then 5 min. What is left is never
// rounded to nothing.
func (e ETA) shown() ETA {
	if e.Left > 0 {
		e.Left = max(step(e.Left), 10*time.Second)
	}
	e.PlusMinus = step(e.PlusMinus)
	return e
}

func step(d time.Duration) time.Duration {
	switch {
	case d < 2*time.Minute:
		return d.Round(10 * time.Second)
	case d < time.Hour:
		return d.Round(time.Minute)
	}
	return d.Round(5 * time.Minute)
}
