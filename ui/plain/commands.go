package plain

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"dev.scrapetop/engine"
	"dev.scrapetop/engine/view"
	"dev.scrapetop/ui/screen"
	"dev.scrapetop/ui/widget"
)

// mostTyped is the longest command, in characters: many URLs may be added by one.
const mostTyped = 4096

// order is a command as it is typed: its word, what stands behind it, and what it does.
type order struct {
	word, takes, does string
	obey              func(s *Speaker, words []string, now time.Time) []string
}

// orders are the commands, in the order of the help. It is filled by init because help tells it.
var orders []order

func init() {
	orders = []order{
		{"summary", "", "how the run stands", func(s *Speaker, _ []string, now time.Time) []string {
			return s.summary(s.frame(view.Query{Limit: 1}).Frame, now)
		}},
		{"domains", "[TEXT]", "the domains that hold TEXT, those that need a look first", (*Speaker).domains},
		{"cooldowns", "", "what waits, and for how long", (*Speaker).cooldowns},
		{"why", "", "what holds the run back, on which evidence, and what helps", (*Speaker).why},
		{"pause", "run | DOMAIN | SCOPE KEY", "stop sending; what is in flight finishes", func(s *Speaker, words []string, now time.Time) []string { return s.pause(words, true, now) }},
		{"resume", "run | DOMAIN | SCOPE KEY", "send again", func(s *Speaker, words []string, now time.Time) []string { return s.pause(words, false, now) }},
		{"limit", "DOMAIN N | DOMAIN none", "the most in flight for a domain; none gives it back to the engine", (*Speaker).limit},
		{"wake", "DOMAIN", "end its cooldown by one probe; asks for: wake DOMAIN now", (*Speaker).wake},
		{"add", "URL... | FILE", "more work for the run: URLs, or a file as run takes it", (*Speaker).add},
		{"stop", "[now]", "finish what is in flight and end; now: give it back to the queue at once", (*Speaker).stop},
		{"help", "", "these commands", (*Speaker).help},
	}
}

// Obey does what a line of words asks for, and says what came of it. A word may be cut short while it means one command only.
func (s *Speaker) Obey(typed string, now time.Time) []string {
	words := strings.Fields(widget.Clean(typed, mostTyped))
	if len(words) == 0 {
		return nil
	}
	word := strings.ToLower(words[0])
	switch word {
	case "quit", "exit", "q":
		word = "stop"
	case "?":
		word = "help"
	}
	var like []order
	for _, o := range orders {
		if o.word == word {
			return o.obey(s, words[1:], now)
		}
		if strings.HasPrefix(o.word, word) {
			like = append(like, o)
		}
	}
	if len(like) == 1 {
		return like[0].obey(s, words[1:], now)
	}
	return wrong(now, "there is no command "+word+": help tells those there are")
}

func wrong(now time.Time, text string) []string { return []string{line(now, "error", text)} }

func (s *Speaker) help(_ []string, now time.Time) []string {
	var lines []string
	for _, o := range orders {
		lines = append(lines, line(now, "help", strings.TrimSpace(o.word+" "+o.takes)+": "+o.does))
	}
	return lines
}

// domainsAtOnce is the most domains that one command lists.
const domainsAtOnce = 20

func (s *Speaker) domains(words []string, now time.Time) []string {
	d := s.frame(view.Query{Filter: strings.Join(words, " "), Limit: domainsAtOnce})
	w := &d.Frame.Domains
	lines := []string{line(now, "domains", count(int64(w.Matched), "")+" of "+count(int64(w.Total), "domain"))}
	for i := range w.Rows {
		r := &w.Rows[i]
		text := r.Domain + ": " + stateWord(r.State) + ", " + strconv.Itoa(r.InFlight)
		if r.Limit > 0 {
			text += " of " + strconv.Itoa(r.Limit)
		}
		text += " in flight, " + count(r.Queue, "") + " waiting, " + count(r.Total429, "refusal")
		if left := r.Until.Sub(d.Frame.At); left > 0 {
			text += ", wakes in " + spoken(left)
		}
		if r.Cause != "" {
			text += ", because of " + r.Cause
		}
		lines = append(lines, line(now, "domain", text))
	}
	return lines
}

func stateWord(s view.State) string {
	switch s {
	case view.StateCool:
		return "cooling"
	case view.StateSlow:
		return "slowed down"
	case view.StateBlock:
		return "blocked"
	case view.StatePause:
		return "paused"
	case view.StateRun:
		return "running"
	}
	return string(s)
}

func (s *Speaker) cooldowns(_ []string, now time.Time) []string {
	f := s.frame(view.Query{Limit: 1}).Frame
	lines := []string{line(now, "note", count(int64(f.Cooling), "cooldown"))}
	for i := range f.Cooldowns {
		c := &f.Cooldowns[i]
		lines = append(lines, line(now, "waits", about(c.Scope, c.Key)+": "+spoken(c.Until.Sub(f.At))+" of "+spoken(c.Full)+", because of "+c.Cause))
	}
	return lines
}

func (s *Speaker) why(_ []string, now time.Time) []string {
	var lines []string
	for _, found := range view.Diagnose(s.frame(view.Query{Limit: 1, Evidence: true}).Frame) {
		kind := found.Level
		if kind == "warn" {
			kind = "warning"
		}
		text := found.Fits + ": " + found.Evidence
		if found.Do != "" {
			text += ". What helps: " + found.Do
		}
		lines = append(lines, line(now, kind, widget.Clean(text, 2000)))
	}
	if len(lines) == 0 {
		return []string{line(now, "note", "nothing holds the run back")}
	}
	return lines
}

// find is the one domain that is named, or the only one that holds the word; why is the reason when there is none.
func (s *Speaker) find(word string) (domain string, why string) {
	if d := s.row(word); len(d.Names) > 0 {
		return word, ""
	}
	switch d := s.frame(view.Query{Filter: word, Limit: 2}); {
	case d.Frame.Domains.Matched == 0:
		return "", "there is no domain " + word + ": domains lists them"
	case d.Frame.Domains.Matched > 1:
		return "", count(int64(d.Frame.Domains.Matched), "domain") + " hold " + word + ": name one; domains " + word + " lists them"
	default:
		return d.Names[0], ""
	}
}

// row is a frame with the row of one domain.
func (s *Speaker) row(domain string) *screen.Data {
	return s.frame(view.Query{Filter: "/^" + regexp.QuoteMeta(domain) + "$/", Selected: domain, Limit: 1})
}

func (s *Speaker) do(command engine.Command, now time.Time, text string, met func() (string, bool)) []string {
	s.source.Do(command)
	s.open = append(s.open, wish{asked: now, met: met, text: text})
	return []string{line(now, "asked", text)}
}

func (s *Speaker) pause(words []string, hold bool, now time.Time) []string {
	verb, runVerb, doing, done := engine.Resume, engine.ResumeRun, "resume ", " resumed"
	if hold {
		verb, runVerb, doing, done = engine.Pause, engine.PauseRun, "pause ", " paused"
	}
	switch {
	case len(words) == 0:
		return wrong(now, "say what: "+doing+"run, "+doing+"DOMAIN, or "+doing+"SCOPE KEY")
	case len(words) == 1 && words[0] == "run":
		return s.do(engine.Command{Verb: runVerb}, now, doing+"the run", func() (string, bool) {
			f := s.frame(view.Query{Limit: 1}).Frame
			return "the run is" + done + ", " + count(int64(f.InFlight), "request") + " in flight", (f.Run.State == "paused") == hold
		})
	case len(words) == 2:
		return s.pauseBudget(words[0], words[1], verb, doing, done, now)
	}
	domain, why := s.find(words[0])
	if why != "" {
		return wrong(now, why)
	}
	told := widget.Clean(domain, 253)
	return s.do(engine.Command{Verb: verb, Scope: "domain", Key: domain}, now, doing+told, func() (string, bool) {
		rows := s.row(domain).Frame.Domains.Rows
		if len(rows) == 0 {
			return "", false
		}
		return told + done + ", " + count(int64(rows[0].InFlight), "request") + " in flight", (rows[0].State == view.StatePause) == hold
	})
}

func (s *Speaker) pauseBudget(scope, key string, verb engine.Verb, doing, done string, now time.Time) []string {
	paused := func() (bool, bool) {
		d := s.frame(view.Query{Limit: 1})
		i := slices.IndexFunc(d.Budgets, func(id screen.BudgetID) bool { return id.Scope == scope && id.Key == key })
		return i >= 0 && d.Frame.Budgets[i].State == view.StatePause, i >= 0
	}
	if _, known := paused(); !known {
		return wrong(now, "there is no "+scope+" "+key+" in this run")
	}
	return s.do(engine.Command{Verb: verb, Scope: scope, Key: key}, now, doing+scope+" "+key, func() (string, bool) {
		held, _ := paused()
		return scope + " " + key + done, held == (verb == engine.Pause)
	})
}

func (s *Speaker) limit(words []string, now time.Time) []string {
	if len(words) != 2 {
		return wrong(now, "say which and how many: limit DOMAIN N, or limit DOMAIN none")
	}
	n, err := strconv.Atoi(words[1]) // none is zero, as the command has it
	if words[1] != "none" && (err != nil || n < 1 || n > 10_000) {
		return wrong(now, words[1]+" is no number from 1 to 10,000")
	}
	domain, why := s.find(words[0])
	if why != "" {
		return wrong(now, why)
	}
	told := widget.Clean(domain, 253)
	command := engine.Command{Verb: engine.SetLimit, Scope: "domain", Key: domain, Limit: n}
	if n == 0 {
		s.source.Do(command)
		return []string{line(now, "done", "the limit of "+told+" is the engine's again")}
	}
	return s.do(command, now, "at most "+strconv.Itoa(n)+" in flight for "+told, func() (string, bool) {
		rows := s.row(domain).Frame.Domains.Rows
		// A lower limit that is in force already stays.
		return "at most " + words[1] + " in flight for " + told, len(rows) > 0 && rows[0].Limit > 0 && rows[0].Limit <= n
	})
}

func (s *Speaker) wake(words []string, now time.Time) []string {
	if len(words) == 0 || len(words) > 2 || len(words) == 2 && words[1] != "now" {
		return wrong(now, "say which: wake DOMAIN")
	}
	domain, why := s.find(words[0])
	if why != "" {
		return wrong(now, why)
	}
	d, told := s.row(domain), widget.Clean(domain, 253)
	if len(d.Frame.Domains.Rows) == 0 {
		return wrong(now, told+" left the run")
	}
	r := &d.Frame.Domains.Rows[0]
	left := r.Until.Sub(d.Frame.At)
	switch {
	case left <= 0:
		return wrong(now, told+" is not cooling")
	case len(words) == 1:
		text := told + " waits " + spoken(left) + " more"
		if r.Cause != "" {
			text += " because of " + r.Cause
		}
		return []string{line(now, "asks", text+". A probe sent now is likely to be refused, and the next wait may be longer. To do it: wake "+told+" now")}
	}
	return s.do(engine.Command{Verb: engine.EndCooldown, Scope: "domain", Key: domain}, now, "one probe of "+told, func() (string, bool) {
		rows := s.row(domain).Frame.Domains.Rows
		return told + " is probed", len(rows) > 0 && !rows[0].Until.Equal(r.Until)
	})
}

func (s *Speaker) stop(words []string, now time.Time) []string {
	if len(words) == 1 && words[0] == "now" {
		s.source.Do(engine.Command{Verb: engine.Abandon})
		return []string{line(now, "asked", "stop now: what is in flight returns to the queue")}
	}
	s.source.Do(engine.Command{Verb: engine.Drain})
	return []string{line(now, "asked", "stop: what is in flight finishes; stop now does not wait for it")}
}
