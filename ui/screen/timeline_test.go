package screen

import (
	"strings"
	"testing"
	"time"

	"dev.scrapetop/storage"
	"dev.scrapetop/ui/screen/sample"
)

// TestTheTimelineInASCII has signs of its own: a question mark for each would tell nothing.
func TestTheTimelineInASCII(t *testing.T) {
	p := newPicture(looks(t)["ascii"], Tasks, 120, 36)
	p.Browse.Picks[Tasks].ID = 90_177
	all := plain(strings.Join(p.Draw(), "\n"))
	for _, s := range []string{"------###x", "- WAITED  # ON THE WIRE", "-##x"} {
		if !strings.Contains(all, s) {
			t.Errorf("%q is missing:\n%s", s, all)
		}
	}
}

func plain(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == 0x1b {
			i += strings.IndexByte(s[i:], 'm')
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// TestTimelinesFitTheirCells: however many attempts and however long, each stands behind the one before it and within its cells.
func TestTimelinesFitTheirCells(t *testing.T) {
	look := looks(t)["mono"]
	for name, attempts := range map[string][]storage.Attempt{
		"of the sample": sample.Attempts(),
		"of one":        sample.Attempts()[:1],
		"of no length":  {{StartedAt: sample.Now}, {StartedAt: sample.Now}},
		"of ages":       {{StartedAt: sample.Now, Elapsed: 1<<63 - 1}, {StartedAt: sample.Now.Add(-time.Hour), Elapsed: -1}},
		"of very many":  make([]storage.Attempt, 200),
	} {
		row := storage.TaskRow{}
		row.CreatedAt = sample.Now.Add(-time.Hour)
		b := timeline(&row, attempts)
		last := -1
		for i := range attempts {
			l := look.Line(barsWide + 1)
			b.draw(l, look.Glyphs, i, outcomeRole("failed"), "x", barsWide)
			if l.Cells() != barsWide {
				t.Fatalf("%s: attempt %d takes %d cells", name, i, l.Cells())
			}
			at := strings.IndexByte(l.String(), 'x')
			if at < 0 || strings.Count(l.String(), "x") != 1 {
				t.Fatalf("%s: attempt %d has no end: %q", name, i, l.String())
			}
			if cells := len([]rune(l.String()[:at])); cells < last {
				t.Errorf("%s: attempt %d ends at %d, the one before at %d", name, i, cells, last)
			} else {
				last = cells
			}
		}
	}
}

// TestWhatHelpsSaysSomethingOfEveryReason that a dead letter may have, and never how to get around a refusal.
func TestWhatHelpsSaysSomethingOfEveryReason(t *testing.T) {
	for _, reason := range []string{"attempts", "deadline", "not_found", "blocked", "refused", "lost", "robots", "too_large"} {
		if whatHelps(reason) == "not known" || worthRetrying(reason) == "not known" || reasonWords(reason) == reason {
			t.Errorf("nothing is said of %s", reason)
		}
	}
	for _, reason := range []string{"blocked", "robots", "not_found"} {
		if !strings.HasPrefix(whatHelps(reason), "nothing here") {
			t.Errorf("%s: %s", reason, whatHelps(reason))
		}
	}
	if whatHelps("\x00") != "not known" {
		t.Error("an unknown reason has advice")
	}
}
