package plain

import (
	"math"
	"strconv"
	"strings"
	"time"

	"dev.scrapetop/engine/view"
	"dev.scrapetop/ui/widget"
)

// summary sums the run up in up to four lines.
func (s *Speaker) summary(f *view.Frame, now time.Time) []string {
	s.summed = now
	first := "run " + count(f.Run.ID, "") + " " + f.Run.Name + ", " + f.Run.State + " for " + spoken(f.Run.Elapsed) + ". " + count(int64(f.InFlight), "") +
		" of " + count(int64(f.Ceiling), "") + " in flight. " + count(f.Counts.Pending+f.Counts.Delayed, "") + " waiting"
	if f.QueueOldest > 0 {
		first += ", the oldest for " + spoken(f.QueueOldest)
	}
	second := count(f.Counts.Accepted, "") + " of " + count(f.Counts.Tasks, "task") + " accepted, " + count(int64(math.Round(f.AcceptedPerMin)), "") +
		" a minute. " + count(f.Counts.Dead, "dead letter") + ". " + refusals(f)
	lines := []string{line(now, "summary", first+"."), line(now, "summary", second+"."), line(now, "summary", ending(f)+".")}
	if near := caps(f); near != "" {
		lines = append(lines, line(now, "summary", near+"."))
	}
	return lines
}

// refusals are the 429 of the last quarter of an hour by layer.
func refusals(f *view.Frame) string {
	var all int64
	var parts []string
	for _, l := range f.Layers {
		if l.Recent > 0 && l.Layer != "busy" {
			all += l.Recent
			parts = append(parts, l.Layer+" "+count(l.Recent, ""))
		}
	}
	if all == 0 {
		return "No refusal in 15 minutes"
	}
	return count(all, "refusal") + " in 15 minutes: " + strings.Join(parts, ", ")
}

// ending is when the run ends, or why that is not known.
func ending(f *view.Frame) string {
	e := &f.ETA
	var text string
	switch {
	case !f.Live:
		text = "Over"
	case e.Known:
		text = "Ends in about " + spoken(e.Left) + ", give or take " + spoken(max(e.PlusMinus, time.Minute))
	case e.Why == "":
		text = "Nothing is left to do"
	default:
		text = "When it ends is not known: " + e.Why
	}
	if f.Cooling > 0 {
		text += ". " + count(int64(f.Cooling), "cooldown")
		if len(f.Cooldowns) > 0 {
			next := &f.Cooldowns[0]
			text += ", the next to wake is " + about(next.Scope, next.Key) + " in " + spoken(next.Until.Sub(f.At))
		}
	}
	return text
}

// caps are those that are nearly used up, or will be.
func caps(f *view.Frame) string {
	var parts []string
	for _, c := range f.Caps {
		used := 0.0
		if c.Limit > 0 {
			used = c.Used / c.Limit
		}
		if at := max(used, c.Forecast); at >= 0.9 {
			parts = append(parts, c.Name+" used to "+percent(used)+", expected to reach "+percent(at))
		}
	}
	return strings.Join(parts, ". ")
}

func percent(share float64) string {
	return strconv.Itoa(int(math.Round(min(max(share, 0), 100)*100))) + " percent"
}

// count is a number with its thousands apart, and what it counts.
func count(n int64, what string) string {
	s := widget.Thousands(n)
	switch {
	case what == "":
		return s
	case n == 1:
		return s + " " + what
	}
	return s + " " + what + "s"
}

// spoken is a span in words, in the two units that matter.
func spoken(d time.Duration) string {
	seconds := int64(max(d, 0) / time.Second)
	switch {
	case seconds < 60:
		return count(seconds, "second")
	case seconds < 60*60:
		return count(seconds/60, "minute")
	case seconds < 48*60*60:
		if minutes := seconds / 60 % 60; minutes > 0 {
			return count(seconds/3600, "hour") + " " + count(minutes, "minute")
		}
		return count(seconds/3600, "hour")
	}
	return count(seconds/(24*3600), "day")
}
