package plain

import (
	"context"
	"slices"
	"strings"
	"time"

	"dev.scrapetop/ui/screen"
	"dev.scrapetop/ui/widget"
)

// add has URLs added; what came of it is told by a later look, as a file takes its time.
func (s *Speaker) add(words []string, now time.Time) []string {
	if len(words) == 0 {
		return wrong(now, "say what: add URL, several with blanks between them, or add FILE")
	}
	if s.adder == nil {
		return wrong(now, "nothing can be added here")
	}
	typed, adder := strings.Join(words, " "), s.adder
	told := make(chan string, 1)
	s.adds = append(s.adds, told)
	go func() {
		added, why, err := adder.Add(context.Background(), typed)
		text := screen.AddedText(added)
		if err != nil {
			text += ": " + err.Error()
		} else if why != "" {
			text += ": " + why
		}
		told <- widget.Clean(text, 500)
	}()
	return []string{line(now, "asked", "add "+widget.Clean(typed, 100))}
}

// End waits for what is being added, which ends with the run, and returns the last lines.
func (s *Speaker) End(now time.Time) []string {
	for i, told := range s.adds {
		text := <-told
		again := make(chan string, 1)
		again <- text
		s.adds[i] = again
	}
	return s.Look(now)
}

// added are the lines about what was added since the last look.
func (s *Speaker) added(now time.Time) (lines []string) {
	s.adds = slices.DeleteFunc(s.adds, func(told <-chan string) bool {
		select {
		case text := <-told:
			lines = append(lines, line(now, "done", text))
			return true
		default:
			return false
		}
	})
	return lines
}
