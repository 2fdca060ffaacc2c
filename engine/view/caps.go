package view

import (
	"fmt"
	"math"
	"time"
)

// capRows adds the forecasts: what was used so far, and what is left at the same use for each task; of time, what the ETA
// says. A share of 1 is the cap itself; zero: not known.
func (s *state) capRows(eta ETA) []CapRow {
	var rows []CapRow
	done, left := s.counts.Accepted+s.counts.Dead, s.left()
	for _, c := range s.caps {
		c.Forecast = 0
		switch {
		case c.Limit <= 0:
		case c.Name == capTime:
			c.Used = math.Floor(c.Used)
			if eta.Known {
				c.Forecast = (c.Used + eta.Left.Seconds()) / c.Limit
			}
		case done > 0:
			c.Forecast = c.Used * (1 + float64(left)/float64(done)) / c.Limit
		}
		c.Forecast = math.Round(c.Forecast*1000) / 1000
		rows = append(rows, c)
	}
	return rows
}

// capTime is the cap on time; Used and Limit are seconds.
const capTime = "time"

// An alert about a cap comes when its forecast was past the cap for capHeld, so that nothing flaps, and again only after it was well
// below it.
const (
	capHeld  = 10 * time.Second
	capClear = .95
)

// capWatch is since when the forecast of a cap is past it, and whether that was told.
type capWatch struct {
	since time.Time
	told  bool
}

// warnOfCaps tells of caps that are forecast to be met before the run is done, and when. What is not measured yet is not told.
func (s *state) warnOfCaps(rows []CapRow, eta ETA) {
	if !s.live || !eta.Known {
		return
	}
	for i := range rows {
		c := &rows[i]
		w := s.watched[c.Name]
		switch {
		case c.Forecast < capClear:
			w = capWatch{}
		case c.Forecast <= 1 || w.told:
		case w.since.IsZero():
			w.since = s.at
		case s.at.Sub(w.since) >= capHeld:
			w.told = true
			s.alerts.add([]Alert{capAlert(c, s.at, eta)}, func(a *Alert, seq uint64) { a.Seq = seq })
		}
		s.watched[c.Name] = w
	}
}

// capAlert is what is told of a cap, and what helps.
func capAlert(c *CapRow, at time.Time, eta ETA) Alert {
	text := fmt.Sprintf("%s: %.0f%% of the cap at the end of the run", c.Name, c.Forecast*100)
	// What is used until the end, at one pace, meets the cap on the way.
	if rest := c.Forecast*c.Limit - c.Used; rest > 0 && c.Limit > c.Used {
		text += ", reached in about " + about(time.Duration(float64(eta.Left)*(c.Limit-c.Used)/rest))
	}
	flag := "--max-" + c.Name
	if c.Name == capTime {
		flag = "--run-deadline"
	}
	return Alert{At: at, Level: "warn", Text: text, Do: "the run drains there; resume it with a higher " + flag}
}

// about is a time in words, as exact as a forecast is.
func about(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", max(int64(d.Round(10*time.Second)/time.Second), 10))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int64(d.Round(time.Minute)/time.Minute))
	}
	return fmt.Sprintf("%d h", int64(d.Round(time.Hour)/time.Hour))
}
