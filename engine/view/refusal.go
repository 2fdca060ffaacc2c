package view

import (
	"fmt"
	"strconv"
	"strings"
)

// platform: a 429 of the platform itself is about the account, the address or the queue of jobs, whatever the target.
func (d *diagnosis) platform() {
	hit := ""
	if d.e.Hit > 0 {
		hit = ", on work for " + plural(d.e.Hit, "domain")
	}
	for _, l := range []struct{ layer, what, scope, do string }{
		{"account", "its limit of concurrent work", "credential", "hold the total in flight under it: max_in_flight of the credential; look who else uses the account"},
		{"rate", "its request rate from this address", "ip", "fewer requests, not slower pages: larger batches (--batch); submits go on when the window opens"},
		{"pending", "the number of jobs that wait there", "pending", "nothing at once: submits wait until jobs end, polls go on; larger batches need fewer jobs"},
	} {
		r := d.layer(l.layer)
		if r.Recent == 0 {
			continue
		}
		level, do := "warn", l.do
		// The edge of a number is found by a refusal now and then; a spent window holds everything.
		if l.layer != "rate" && r.Recent < refusedOften {
			level, do = "info", "nothing yet: one fewer than was refused goes. If it goes on: "+l.do
		}
		d.say(level, FitsUnrelated, counted(r)+" by the platform for "+l.what+hit+d.numbers(l.scope), do)
	}
}

// counted is the refusals of a layer in words.
func counted(r LayerRow) string {
	s := strconv.FormatInt(r.Recent, 10) + " x 429 in 15 min"
	if r.PerMin >= 0.1 {
		s += fmt.Sprintf(" (%.1f a minute)", r.PerMin)
	}
	return s
}

// numbers is what the budgets of a scope that were refused, or work, have in flight and left.
func (d *diagnosis) numbers(scope string) string {
	var words []string
	for _, b := range d.f.Budgets {
		if b.Scope != scope || b.InFlight == 0 && b.Refused.Limited() == 0 {
			continue
		}
		s := b.Key + " " + strconv.Itoa(b.InFlight)
		if b.Limit > 0 {
			s += " of " + strconv.Itoa(b.Limit)
		}
		s += " in flight"
		switch m := b.Remaining; {
		case !m.Known || !m.HasLimit:
		case m.Kind == "concurrency":
			s += fmt.Sprintf(" and %d of %d free", m.Remaining, m.Limit)
		default:
			s += fmt.Sprintf(" and %d of %d left", m.Remaining, m.Limit)
		}
		words = append(words, s)
	}
	if len(words) == 0 {
		return ""
	}
	return "; " + some(words, len(words))
}

// targets: sites that refuse are each their own matter, unless it is most of them at once: then they see something of ours
// that they have in common.
func (d *diagnosis) targets() {
	r := d.layer("target")
	if r.Recent == 0 {
		return
	}
	total := max(d.f.Domains.Total, d.e.Refusers)
	if d.e.Refusers >= unrelatedLeast && 2*d.e.Refusers >= total {
		d.say("warn", FitsUnrelated, fmt.Sprintf("%s by %d of %d sites; most by %s", counted(r), d.e.Refusers, total, d.worst()),
			"look at what they share: this address, the user agent, the total in flight (--max-in-flight); lower that before single sites")
		return
	}
	var each []string
	handled := true
	for _, x := range d.e.Worst[:min(len(d.e.Worst), namesTold)] {
		var known []string
		if x.Limit > 0 {
			known = append(known, fmt.Sprintf("held at %d in flight", x.Limit))
		}
		if x.Learned != "" {
			known = append(known, "learned: "+x.Learned)
		}
		s := fmt.Sprintf("%s %d x 429", x.Domain, x.Recent)
		if len(known) > 0 {
			s += " (" + strings.Join(known, ", ") + ")"
		}
		each = append(each, s)
		handled = handled && x.Learned != "" && x.Recent < refusedOften
	}
	if len(each) > 0 {
		s := strings.Join(each, ", ")
		if more := d.e.Refusers - len(each); more > 0 {
			s += ", " + plural(more, "more site")
		}
		if others := total - d.e.Refusers; others > 0 {
			s += "; none by " + plural(others, "other site")
		}
		if handled {
			d.say("info", FitsOneTarget, s, "nothing yet: each is held just below what it refused; [ on a row lowers it further")
		} else {
			d.say("warn", FitsOneTarget, s, "lower the site's rate ([ on its row, or its rate in the config), and look for its API or its crawling policy")
		}
	}
	if len(d.e.Worst) == 0 { // nobody asked for the evidence by domain
		d.say("warn", FitsOneTarget, counted(r)+" by targets", "sort the domains by 429 and lower the rate of the first")
	}
}

func (d *diagnosis) worst() string {
	var words []string
	for _, x := range d.e.Worst {
		words = append(words, x.Domain+" "+strconv.FormatInt(x.Recent, 10))
	}
	return some(words, len(words))
}
