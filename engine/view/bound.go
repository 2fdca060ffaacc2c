package view

import "fmt"

// ownLimit says what bounds a run that nobody refuses.
func ownLimit(f *Frame) Finding {
	own := Finding{Fits: FitsOwnLimit, Level: "info"}
	own.Evidence, own.Do = bound(f)
	return own
}

func bound(f *Frame) (evidence, do string) {
	waiting := f.Counts.Pending + f.Counts.Delayed
	switch {
	case !f.Live:
		return "no run is going: the numbers stand still", "scrapetop resume goes on with an unfinished one"
	case f.Run.State == "draining":
		return "it is stopping: nothing new starts", "scrapetop resume goes on later"
	case f.Run.Loading && waiting == 0:
		return "its input is still being read", "nothing"
	case waiting == 0:
		return fmt.Sprintf("nothing waits: %d in flight, %d at the platform", f.InFlight, f.Counts.Remote), "nothing: the rest is under way"
	case f.Ceiling > 0 && f.InFlight >= f.Ceiling:
		return fmt.Sprintf("%d of %d in flight: the program's ceiling", f.InFlight, f.Ceiling), "raise --max-in-flight if the sites and the account allow more"
	}
	for _, b := range f.Budgets {
		if b.Limit == 0 || b.InFlight < b.Limit {
			continue
		}
		switch b.Scope {
		case "global":
		case "pending":
			return fmt.Sprintf("%d of %d jobs wait at the platform (%s): as many as it takes", b.InFlight, b.Limit, b.Key), "nothing: submits go on as jobs end; a larger --batch puts more URLs into one"
		default:
			return fmt.Sprintf("%s %s has %d of %d in flight: its limit", b.Scope, b.Key, b.InFlight, b.Limit), "a larger plan, another key, or its max_in_flight if that is yours"
		}
	}
	for _, b := range f.Budgets {
		if m := b.Remaining; m.Known && m.Kind == "window" && m.Remaining == 0 && m.ResetAt.After(f.At) {
			return fmt.Sprintf("%s %s: the window of %d requests is spent, it opens in %s", b.Scope, b.Key, m.Limit, seconds(m.ResetAt.Sub(f.At))), "nothing: it goes on by itself"
		}
	}
	full := 0
	for _, r := range f.Domains.Rows {
		if r.Queue > 0 && r.Limit > 0 && r.InFlight >= r.Limit {
			full++
		}
	}
	if full > 0 {
		return fmt.Sprintf("%s with work at the ceiling in flight; %d tasks wait", plural(full, "domain"), waiting), "] on the row raises it; the engine raises found ones by itself while all goes well"
	}
	oldest := ""
	if f.QueueOldest > 0 {
		oldest = ", the oldest for " + seconds(f.QueueOldest)
	}
	return fmt.Sprintf("%d in flight, %d tasks wait for the pace of their sites%s; %d waits were our own", f.InFlight, waiting, oldest, f.Counts.Held), "nothing: rates (--rate, --domain-rate, crawl-delay) space the starts"
}
