package plain

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dev.scrapetop/engine"
	"dev.scrapetop/engine/view"
	"dev.scrapetop/ui/screen/sample"
)

// script is a Source of one frame; its domains are filtered as the view does it for a word or a whole name.
type script struct {
	frame *view.Frame
	done  []engine.Command
}

func (s *script) Do(c engine.Command) { s.done = append(s.done, c) }

func (s *script) Frame(q view.Query) *view.Frame {
	f := *s.frame
	word := strings.NewReplacer("/^", "", "$/", "", `\`, "").Replace(q.Filter)
	f.Domains.Rows = slices.DeleteFunc(slices.Clone(f.Domains.Rows), func(r view.DomainRow) bool {
		return !strings.Contains(r.Domain, word) || q.Filter != word && r.Domain != word
	})
	f.Domains.Matched = len(f.Domains.Rows)
	return &f
}

func (s *script) row(domain string, change func(*view.DomainRow)) {
	f := *s.frame
	f.Domains.Rows = slices.Clone(f.Domains.Rows)
	for i := range f.Domains.Rows {
		if f.Domains.Rows[i].Domain == domain {
			change(&f.Domains.Rows[i])
		}
	}
	s.frame = &f
}

func speaker() (*script, *Speaker) {
	s := &script{frame: sample.Normal()}
	return s, New(s, s, sample.Now)
}

func has(t *testing.T, lines []string, want ...string) {
	t.Helper()
	text := strings.Join(lines, "\n")
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("no %q in:\n%s", w, text)
		}
	}
}

func TestWhatHappensIsToldOnce(t *testing.T) {
	s, speaker := speaker()
	has(t, speaker.Look(sample.Now), "14:29:12 warning forum-c.example: 429 target", "14:29:31 error   bank-h.example: 403: dead letter")
	if lines := speaker.Look(sample.Now.Add(time.Second)); len(lines) != 0 {
		t.Errorf("told again: %q", lines)
	}
	f := *s.frame
	f.Run.State = "paused"
	for i := range 14 {
		f.Events = slices.Insert(slices.Clone(f.Events), 0, view.EventRow{Seq: uint64(1000 + i), At: sample.Now, Level: "error", Scope: "credential", Key: "night", Text: "no\x1b[2J way"})
	}
	s.frame = &f
	lines := speaker.Look(sample.Now.Add(2 * time.Second))
	has(t, lines, "note    4 more events", "error   credential night: no way", "note    the run is paused")
	if len(lines) != 12 {
		t.Errorf("%d lines: %q", len(lines), lines)
	}
	has(t, speaker.Look(sample.Now.Add(summaryEvery)), "summary run 184 catalog, paused for 48 minutes", "refusals in 15 minutes: ", "give or take 5 minutes")
	if lines := speaker.Look(sample.Now.Add(summaryEvery + time.Second)); len(lines) != 0 {
		t.Errorf("a summary before its time: %q", lines)
	}
}

func TestCommands(t *testing.T) {
	domain := func(verb engine.Verb, key string, limit int) engine.Command {
		return engine.Command{Verb: verb, Scope: "domain", Key: key, Limit: limit}
	}
	for _, c := range []struct {
		typed string
		want  []engine.Command
		says  string
	}{
		{"", nil, ""},
		{"help", nil, "pause run | DOMAIN | SCOPE KEY: stop sending"},
		{"?", nil, "cooldowns"},
		{"dance", nil, "error   there is no command dance"},
		{"s", nil, "error   there is no command s: help"},
		{"sum", nil, "summary run 184"},
		{"pause run", []engine.Command{{Verb: engine.PauseRun}}, "asked   pause the run"},
		{"pause shop-a.example", []engine.Command{domain(engine.Pause, "shop-a.example", 0)}, "asked   pause shop-a.example"},
		{"PAUSE shop", []engine.Command{domain(engine.Pause, "shop-a.example", 0)}, "asked   pause shop-a.example"},
		{"pause example", nil, "10 domains hold example: name one"},
		{"pause moon", nil, "there is no domain moon"},
		{"pause", nil, "say what: pause run"},
		{"pause credential none", nil, "there is no credential none in this run"},
		{"resume maps-f.example", []engine.Command{domain(engine.Resume, "maps-f.example", 0)}, "asked   resume"},
		{"limit shop-a.example 3", []engine.Command{domain(engine.SetLimit, "shop-a.example", 3)}, "at most 3 in flight"},
		{"limit shop-a.example none", []engine.Command{domain(engine.SetLimit, "shop-a.example", 0)}, "the engine's again"},
		{"limit shop-a.example 0", nil, "is no number from 1"},
		{"limit shop-a.example", nil, "say which and how many"},
		{"wake forum-c.example", nil, "42 seconds more because of Retry-After: 90"},
		{"wake forum-c.example now", []engine.Command{domain(engine.EndCooldown, "forum-c.example", 0)}, "one probe of forum-c.example"},
		{"wake shop-a.example", nil, "is not cooling"},
		{"wake", nil, "say which"},
		{"domains forum", nil, "forum-c.example: cooling, 0 of 4 in flight, 2,933 waiting"},
		{"cooldowns", nil, "waits   jobs-d.example: 6 seconds of 15 seconds"},
		{"why", nil, "What helps:"},
		{"stop", []engine.Command{{Verb: engine.Drain}}, "what is in flight finishes"},
		{"quit", []engine.Command{{Verb: engine.Drain}}, "what is in flight finishes"},
		{"stop now", []engine.Command{{Verb: engine.Abandon}}, "returns to the queue"},
		{"\x1b[2Jsto", []engine.Command{{Verb: engine.Drain}}, "what is in flight finishes"},
	} {
		t.Run(c.typed, func(t *testing.T) {
			s, speaker := speaker()
			lines := speaker.Obey(c.typed, sample.Now)
			if !slices.Equal(s.done, c.want) {
				t.Errorf("%v is handed over, want %v", s.done, c.want)
			}
			has(t, lines, c.says)
		})
	}
}

func TestACommandIsConfirmedByAFrame(t *testing.T) {
	s, speaker := speaker()
	speaker.Look(sample.Now)
	speaker.Obey("pause shop-a.example", sample.Now)
	if lines := speaker.Look(sample.Now.Add(time.Second)); len(lines) != 0 {
		t.Errorf("confirmed too early: %q", lines)
	}
	has(t, speaker.Look(sample.Now.Add(answerWithin)), "note    not so yet: pause shop-a.example")
	s.row("shop-a.example", func(r *view.DomainRow) { r.State = view.StatePause })
	has(t, speaker.Look(sample.Now.Add(answerWithin+time.Second)), "done    shop-a.example paused, 12 requests in flight")
	if lines := speaker.Look(sample.Now.Add(answerWithin + 2*time.Second)); len(lines) != 0 {
		t.Errorf("confirmed twice: %q", lines)
	}
}

// TestAKeyIsPausedByItsScope.
func TestAKeyIsPausedByItsScope(t *testing.T) {
	s := &script{frame: sample.Platform()}
	speaker := New(s, s, sample.Now)
	b := s.frame.Budgets[0]
	has(t, speaker.Obey("pause "+b.Scope+" "+b.Key, sample.Now), "asked   pause "+b.Scope)
	if want := []engine.Command{{Verb: engine.Pause, Scope: b.Scope, Key: b.Key}}; !slices.Equal(s.done, want) {
		t.Errorf("%v, want %v", s.done, want)
	}
}

func TestSpoken(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0 seconds", 0: "0 seconds", time.Second: "1 second", 59 * time.Second: "59 seconds", time.Minute: "1 minute", 48*time.Minute + 53*time.Second: "48 minutes",
		time.Hour: "1 hour", 81 * time.Minute: "1 hour 21 minutes", 49 * time.Hour: "2 days", 366 * 24 * time.Hour: "366 days",
	} {
		if got := spoken(d); got != want {
			t.Errorf("%s is %q, want %q", d, got, want)
		}
	}
}

// TestEveryFrameIsToldInCleanLines, the hostile one and none too.
func TestEveryFrameIsToldInCleanLines(t *testing.T) {
	for _, f := range []*view.Frame{sample.Normal(), sample.Platform(), sample.Hostile(), sample.Stopped(), sample.Starting(), sample.Huge(), sample.Empty(), {}} {
		speaker := New(&script{frame: f}, nil, sample.Now)
		lines := speaker.Look(sample.Now.Add(2 * summaryEvery))
		for _, command := range []string{"domains", "cooldowns", "why", "summary", "help"} {
			lines = append(lines, speaker.Obey(command, sample.Now)...)
		}
		for _, l := range lines {
			for _, r := range l {
				if r < 0x20 || r >= 0x7f && r < 0xa0 {
					t.Fatalf("%q holds a control character", l)
				}
			}
		}
	}
}

func FuzzObey(f *testing.F) {
	for _, s := range []string{"pause shop", "limit shop-a.example 99999999999999999999", "wake \x1b[2J now", "pause domain \xff", "domains /(/", "stop now now"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, typed string) {
		_, speaker := speaker()
		for _, l := range speaker.Obey(typed, sample.Now) {
			if strings.ContainsAny(l, "\x1b\n\r\a") {
				t.Errorf("%q makes %q", typed, l)
			}
		}
	})
}

// Add notes what is added; a file cannot be read.
func (s *script) Add(_ context.Context, typed string) (engine.Added, string, error) {
	if typed == "no.txt" {
		return engine.Added{}, "", errors.New("no.txt: no such file")
	}
	return engine.Added{Tasks: 2, Duplicates: 1, Refused: 1}, "x.txt:3: no URL", nil
}

func TestAddIsToldWhenItIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, speaker := speaker()
		speaker.Look(sample.Now)
		has(t, speaker.Obey("add x.txt http://b.test/", sample.Now), "asked   add x.txt http://b.test/")
		has(t, speaker.Obey("add no.txt", sample.Now), "asked")
		has(t, speaker.Obey("add", sample.Now), "error   say what")
		synctest.Wait()
		has(t, speaker.Look(sample.Now), "done    added 2 URLs, 1 already there, 1 refused: x.txt:3: no URL", "nothing was added: no.txt: no such file")
		if lines := speaker.Look(sample.Now); len(lines) > 0 {
			t.Error("told twice", lines)
		}
	})
}
