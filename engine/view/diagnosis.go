package view

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Finding is one thing that the evidence of a frame says about what holds a run back: which row of the troubleshooting table
// it fits, the evidence with its numbers, and the smallest act that helps.
type Finding struct {
	Fits     string // the row: one of the names below
	Level    string // error: work stands still until somebody acts; warn: worth an act; info: handled, or no fault
	Evidence string
	Do       string
}

// The rows. The first seven are the ones of every guide to 429s; the others keep what is no rate limit apart from them.
const (
	FitsAnnounced = "429 with Retry-After"
	FitsBackoff   = "429 without Retry-After"
	FitsUnrelated = "429s across unrelated targets"
	FitsOneTarget = "429s on one target only"
	FitsLatency   = "latency rises before 429"
	FitsWorkers   = "429 rate grows after adding workers"
	FitsAccess    = "403 or challenge page"

	FitsKey      = "key or account refused"
	FitsBusy     = "503 with or without a wait"
	FitsFaults   = "no answer, or one that is no good"
	FitsPaused   = "paused by you"
	FitsStorage  = "results cannot be written"
	FitsOwnLimit = "nothing holds this run back but its own limits"
)

const (
	// faultsLeast is how many answers of a kind are worth a word.
	faultsLeast = 5
	// refusedOften is how many 429s of one site, in 15 minutes, are more than looking for its limit costs.
	refusedOften = 10
	// unrelatedLeast is how many sites that refuse are no longer each its own matter, if they are half of all.
	unrelatedLeast = 5
	// foreignFresh is how old a count of free slots may be to be compared with what is in flight now, and foreignLeast what it
	// must differ by: the answered call may still be counted.
	foreignFresh = 10 * time.Second
	foreignLeast = 2
	// slower is what the latency must have grown by, as a factor and at least by so much.
	slower      = 1.5
	slowerLeast = 200 * time.Millisecond
	// namesTold is how many names a sentence holds.
	namesTold = 3
)

// Diagnose says what the evidence fits, what stands still first. A frame without Evidence tells less. It never returns
// nothing: where nothing is wrong it says what bounds the run.
func Diagnose(f *Frame) []Finding {
	e := f.Evidence
	if e == nil {
		e = &Evidence{}
	}
	d := diagnosis{f: f, e: e}
	d.storage()
	d.keys()
	d.paused()
	d.workers()
	d.platform()
	d.targets()
	d.latency()
	d.access()
	d.busy()
	d.waits()
	d.faults()
	if len(d.found) == 0 {
		d.found = append(d.found, ownLimit(f))
	}
	slices.SortStableFunc(d.found, func(a, b Finding) int { return cmp.Compare(urgency(a.Level), urgency(b.Level)) })
	return d.found
}

func urgency(level string) int { return slices.Index([]string{"error", "warn", "info"}, level) }

// Hypothesis is what refusals taught of a limit that nobody told.
type Hypothesis struct{ Scope, Key, Words string }

// Hypotheses are those of the shared budgets and of the selected domain.
func Hypotheses(f *Frame) []Hypothesis {
	var out []Hypothesis
	for i := range f.Budgets {
		if b := &f.Budgets[i]; b.Learned != "" {
			out = append(out, Hypothesis{b.Scope, b.Key, b.Learned})
		}
	}
	if d := f.Detail; d != nil && d.Learned != "" {
		out = append(out, Hypothesis{"domain", d.Domain, d.Learned})
	}
	return out
}

type diagnosis struct {
	f     *Frame
	e     *Evidence
	found []Finding
}

func (d *diagnosis) say(level, fits, evidence, do string) {
	d.found = append(d.found, Finding{Fits: fits, Level: level, Evidence: evidence, Do: do})
}

// layer is the row of a layer; an empty one when there is none.
func (d *diagnosis) layer(name string) LayerRow {
	for _, r := range d.f.Layers {
		if r.Layer == name {
			return r
		}
	}
	return LayerRow{Layer: name}
}

func (d *diagnosis) storage() {
	if why := d.f.Health.StorageError; why != "" {
		d.say("error", FitsStorage, why, "make room or repair the file: nothing new starts until results can be kept")
	}
}

// keys: what the platform refuses to a key or an account is no rate limit, and waiting does not end it.
func (d *diagnosis) keys() {
	var refused, spent []string
	for _, b := range d.f.Budgets {
		said := b.Scope + " " + b.Key + " is stopped: " + b.Stopped + d.keysOf(b)
		switch {
		case b.Stopped == "":
		case strings.HasPrefix(b.Stopped, "quota"):
			spent = append(spent, said)
		default:
			refused = append(refused, said)
		}
	}
	const probe = ", then r on its row (B) sends one probe; its work stays pending"
	if len(refused) > 0 {
		d.say("error", FitsKey, strings.Join(refused, "; "), "mend the key (scrapetop doctor tries it)"+probe)
	}
	if len(spent) > 0 {
		d.say("error", FitsKey, strings.Join(spent, "; "), "top up or wait for the next period"+probe)
	}
}

// keysOf names the keys that stand still with an account.
func (d *diagnosis) keysOf(b BudgetRow) string {
	var keys []string
	for _, k := range d.f.Budgets {
		if b.Scope == "account" && k.Scope == "credential" && k.Account == b.Key {
			keys = append(keys, k.Key)
		}
	}
	switch len(keys) {
	case 0:
		return ""
	case 1:
		return ", and with it the key " + keys[0]
	}
	return ", and with it the keys " + some(keys, len(keys))
}

func (d *diagnosis) paused() {
	if d.f.Run.State == "paused" {
		d.say("warn", FitsPaused, "the whole run is paused", "P resumes it")
		return
	}
	var held []string
	for _, b := range d.f.Budgets {
		if b.State == StatePause && b.Scope != "global" {
			held = append(held, b.Scope+" "+b.Key)
		}
	}
	domains := d.f.States[StatePause]
	evidence := some(held, len(held))
	if domains > 0 {
		if evidence != "" {
			evidence += ", "
		}
		evidence += plural(domains, "domain")
	}
	if evidence != "" {
		d.say("info", FitsPaused, evidence, "p on the row resumes it (2 for domains, B for the others)")
	}
}

// workers: the platform counts more slots in use than are ours while it refuses for concurrency: somebody else works with
// the same key.
func (d *diagnosis) workers() {
	r := d.layer("account")
	if r.Recent == 0 {
		return
	}
	for _, b := range d.f.Budgets {
		m := b.Remaining
		if b.Scope != "credential" || m.Kind != "concurrency" || !m.Known || !m.HasLimit || d.f.At.Sub(m.At) > foreignFresh {
			continue
		}
		ours := d.inFlightOf(b.Account)
		foreign := m.Limit - m.Remaining - ours
		if foreign < foreignLeast {
			continue
		}
		before, after := halves(r.Trend)
		d.say("warn", FitsWorkers, fmt.Sprintf(
			"credential %s: the platform counts %d of %d slots in use, %d are ours, so %d are somebody else's; %d x 429 of the account in the last 7 minutes, %d in the 7 before",
			b.Key, m.Limit-m.Remaining, m.Limit, ours, foreign, after, before),
			"one limiter for all: run them on one database file, or give each its share (max_in_flight of the credential, here "+strconv.FormatInt(max(m.Limit-foreign, 1), 10)+")")
	}
}

// inFlightOf is what the keys of an account have in flight together.
func (d *diagnosis) inFlightOf(account string) int64 {
	var n int64
	for _, b := range d.f.Budgets {
		if b.Scope == "credential" && b.Account == account {
			n += int64(b.InFlight)
		}
	}
	return n
}

// halves is a trend in its earlier and its later half.
func halves(trend []int64) (before, after int64) {
	for i, n := range trend {
		if i < len(trend)/2 {
			before += n
		} else {
			after += n
		}
	}
	return before, after
}

func (d *diagnosis) latency() {
	now, before := d.e.LatencyNow, d.e.LatencyBefore
	if before <= 0 || float64(now) < slower*float64(before) || now-before < slowerLeast {
		return
	}
	var refused int64
	for _, r := range d.f.Layers {
		if r.Layer != layerBusy {
			refused += r.Recent
		}
	}
	s := "p95 " + seconds(now) + " in the last 2 minutes, " + seconds(before) + " earlier; "
	if refused == 0 {
		s += "no 429 yet"
	} else {
		s += strconv.FormatInt(refused, 10) + " x 429 in 15 min"
	}
	d.say("warn", FitsLatency, fmt.Sprintf("%s; %d of %d in flight", s, d.f.InFlight, d.f.Ceiling),
		"queueing is the early warning: lower what is in flight by a step ([ on the slow site's row, or --max-in-flight)")
}

// access: a site that refuses access is no site that is asked too often.
func (d *diagnosis) access() {
	n := d.f.States[StateBlock]
	if n == 0 && d.e.Blocked == 0 {
		return
	}
	var names []string
	for _, r := range d.f.Domains.Rows {
		if r.State == StateBlock {
			names = append(names, r.Domain)
		}
	}
	var parts []string
	if d.e.Blocked > 0 {
		parts = append(parts, strconv.FormatInt(d.e.Blocked, 10)+" x refused access in 15 min (401, 403, challenge, login)")
	}
	if n > 0 {
		held := plural(n, "domain") + " held for it"
		if len(names) > 0 {
			held += ": " + some(names, n)
		}
		parts = append(parts, held)
	}
	s := strings.Join(parts, "; ")
	level := "warn"
	if n == 0 && d.e.Blocked < faultsLeast {
		level = "info"
	}
	d.say(level, FitsAccess, s, "no rate helps: look at the access policy, the login, or whether the page is protected; p leaves the site out")
}

func (d *diagnosis) busy() {
	if r := d.layer(layerBusy); r.Recent > 0 {
		d.say("info", FitsBusy, fmt.Sprintf("%d x busy in 15 min, counted apart from 429", r.Recent),
			"nothing: new work pauses until the service has recovered; a lower rate of ours does not hurry it")
	}
}

// waits are the cooldowns in force, those that were announced apart from those of our own backoff.
func (d *diagnosis) waits() {
	var told, own []CooldownRow
	for _, c := range d.f.Cooldowns {
		switch {
		case !c.Until.After(d.f.At):
		case c.Announced:
			told = append(told, c)
		case strings.HasPrefix(c.Cause, "backoff"):
			own = append(own, c)
		}
	}
	if len(told) > 0 {
		d.say("info", FitsAnnounced, plural(len(told), "announced wait")+" in force; the longest: "+longest(told),
			"nothing: it is kept as a minimum, then one probe goes, then steps. c ends one early, and the next is likely longer")
	}
	if len(own) > 0 {
		level, do := "info", "nothing yet: the backoff is capped and has jitter"
		if slices.ContainsFunc(own, func(c CooldownRow) bool { return c.Failed >= 3 }) {
			level, do = "warn", "lower the budget that is refused again and again: [ on the site's row, max_in_flight of the key"
		}
		d.say(level, FitsBackoff, plural(len(own), "wait")+" of our own, since nobody told one; the longest: "+longest(own), do)
	}
}

func longest(rows []CooldownRow) string {
	c := slices.MaxFunc(rows, func(a, b CooldownRow) int { return cmp.Compare(a.Full, b.Full) })
	s := seconds(c.Full) + " for " + c.Scope + " " + c.Key + " (" + c.Cause + ")"
	if c.Failed > 0 {
		s += ", after " + plural(c.Failed, "failed probe")
	}
	return s
}

// faults are answers that say nothing of limits; the act is for the most frequent kind.
func (d *diagnosis) faults() {
	var words []string
	do, most := "", int64(0)
	for _, x := range []struct {
		n        int64
		what, do string
	}{
		{d.e.Transport, "exchanges without a whole response", "look at the network, the addresses and --timeout; it is no limit"},
		{d.e.Failed, "answers 5xx", "wait for their repair; five in a row hold the site or the provider"},
		{d.e.Invalid, "answers that fail validation", "look at a sample (scrapetop export --what attempts) and at [validate] before any rate"},
	} {
		if x.n < faultsLeast {
			continue
		}
		words = append(words, strconv.FormatInt(x.n, 10)+" "+x.what)
		if x.n > most {
			do, most = x.do, x.n
		}
	}
	if most > 0 {
		d.say("info", FitsFaults, strings.Join(words, ", ")+" in 15 min", do)
	}
}

// some joins the first names, and says how many there are in all when there are more.
func some(names []string, all int) string {
	s := strings.Join(names[:min(len(names), namesTold)], ", ")
	if all > namesTold {
		s += " and " + strconv.Itoa(all-namesTold) + " more"
	}
	return s
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return strconv.Itoa(n) + " " + word + "s"
}

// seconds is a duration as people read it: 0.41 s, 12 s, 3m20s.
func seconds(d time.Duration) string {
	switch {
	case d >= time.Minute:
		return d.Round(time.Second).String()
	case d >= 10*time.Second:
		return fmt.Sprintf("%.0f s", d.Seconds())
	}
	return fmt.Sprintf("%.2g s", d.Seconds())
}
