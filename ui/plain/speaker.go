package plain

import (
	"context"
	"slices"
	"strings"
	"time"

	"dev.scrapetop/engine"
	"dev.scrapetop/engine/view"
	"dev.scrapetop/ui/screen"
	"dev.scrapetop/ui/widget"
)

// Source is what is told and driven; neither method blocks.
type Source interface {
	Frame(view.Query) *view.Frame
	Do(engine.Command)
}

// Adder adds URLs, or those of a file, to the run; it may block. why is the reason for the first line that was refused.
type Adder interface {
	Add(ctx context.Context, typed string) (added engine.Added, why string, err error)
}

const (
	// summaryEvery is how often the run is summed up unasked.
	summaryEvery = time.Minute
	// eventsAtOnce is the most events that one look tells; the rest is counted.
	eventsAtOnce = 10
	// answerWithin is when a command that no frame confirmed is told to be open.
	answerWithin = 5 * time.Second
)

// Speaker turns what changed into lines.
type Speaker struct {
	source Source
	adder  Adder
	adds   []<-chan string // what came of adding, told by the next look
	event  uint64          // the last one told
	state  string          // of the run, as last told
	summed time.Time       // when the last summary was told
	open   []wish
}

// wish is a command that no frame has confirmed yet.
type wish struct {
	asked time.Time
	met   func() (done string, ok bool)
	text  string
	late  bool // said to be open
}

// New makes a speaker; now is when it begins.
func New(source Source, adder Adder, now time.Time) *Speaker {
	return &Speaker{source: source, adder: adder, summed: now}
}

// Look returns the lines about what happened since the last call: events of warning or worse each once and oldest first, changes
// of the run's state, commands that are confirmed, and a summary each minute.
func (s *Speaker) Look(now time.Time) []string {
	f := s.frame(view.Query{Limit: 1}).Frame
	if f.Run.ID == 0 {
		return nil
	}
	lines := s.events(f)
	if f.Run.State != s.state {
		if s.state != "" {
			text := "the run is " + f.Run.State
			if f.Run.Reason != "" {
				text += ": " + f.Run.Reason
			}
			lines = append(lines, line(now, "note", text))
		}
		s.state = f.Run.State
	}
	lines = append(lines, s.added(now)...)
	lines = append(lines, s.confirmed(now)...)
	if now.Sub(s.summed) >= summaryEvery {
		lines = append(lines, s.summary(f, now)...)
	}
	return lines
}

// frame asks for a picture and cleans its texts.
func (s *Speaker) frame(q view.Query) *screen.Data { return screen.Take(s.source.Frame(q)) }

func (s *Speaker) events(f *view.Frame) []string {
	var fresh []view.EventRow
	newest := s.event
	for _, e := range f.Events { // newest first
		if e.Seq <= s.event {
			break
		}
		newest = max(newest, e.Seq)
		if e.Level != "info" {
			fresh = append(fresh, e)
		}
	}
	s.event = newest
	var lines []string
	if more := len(fresh) - eventsAtOnce; more > 0 {
		lines = append(lines, line(fresh[eventsAtOnce].At, "note", widget.Thousands(int64(more))+" more events, the newest follow"))
		fresh = fresh[:eventsAtOnce]
	}
	for _, e := range slices.Backward(fresh) {
		level := e.Level
		if level == "warn" {
			level = "warning"
		}
		text := e.Text
		if about := about(e.Scope, e.Key); about != "" {
			text = about + ": " + text
		}
		lines = append(lines, line(e.At, level, text))
	}
	return lines
}

// about is what an event or a budget is about, a domain by its name alone.
func about(scope, key string) string {
	if scope == "domain" {
		return key
	}
	return strings.TrimSpace(scope + " " + key)
}

// confirmed are the commands that a frame shows to be met.
func (s *Speaker) confirmed(now time.Time) []string {
	var lines []string
	s.open = slices.DeleteFunc(s.open, func(w wish) bool {
		done, ok := w.met()
		if ok {
			lines = append(lines, line(now, "done", done))
		}
		return ok
	})
	for i := range s.open {
		if w := &s.open[i]; !w.late && now.Sub(w.asked) >= answerWithin {
			w.late = true
			lines = append(lines, line(now, "note", "not so yet: "+w.text))
		}
	}
	return lines
}

// line is one line: the time, what kind of line it is, and the text.
func line(at time.Time, kind, text string) string {
	return at.Format(time.TimeOnly) + " " + widget.Fit(kind, len("summary"), widget.Left) + " " + text
}
