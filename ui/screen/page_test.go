package screen

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"dev.scrapetop/storage"
	"dev.scrapetop/ui/widget"
)

// TestLinesOfABody are as wide as was asked for, and tell where they begin.
func TestLinesOfABody(t *testing.T) {
	for _, c := range []struct {
		name  string
		body  string
		from  int64
		width int
		want  []string
	}{
		{"lines", "a\nbc\n", 0, 10, []string{"0 a", "2 bc"}},
		{"no line end", "a\nbc", 0, 10, []string{"0 a", "2 bc"}},
		{"line ends of others", "a\r\n\r\nb", 0, 10, []string{"0 a", "3 ", "5 b"}},
		{"a long one", "abcdefgh\ni", 0, 3, []string{"0 abc", "3 def", "6 gh", "9 i"}},
		{"wide characters", "日本語も\n", 0, 5, []string{"0 日本", "6 語も"}},
		{"characters of two bytes", "éèêëé", 0, 4, []string{"0 éèêë", "8 é"}},
		{"control characters", "a\x1b[2Jb\tc\x00", 0, 20, []string{"0 ab c·"}},
		{"none", "", 0, 5, nil},
		{"the rest of a line is left out", "rest\nnext", 100, 10, []string{"105 next"}},
		{"but not where no line ends", "abcdef", 100, 3, []string{"100 abc", "103 def"}},
	} {
		page := &storage.PageRow{Text: true, From: c.from, Body: []byte(c.body)}
		var got []string
		for _, l := range bodyLines(page, Ask{Width: c.width, Window: storage.Window{Around: c.from}}) {
			got = append(got, fmt.Sprint(l.At, " ", l.Text))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestALineIsTheSameInTheNextWindow: what was looked at stays where it was when another window comes around it.
func TestALineIsTheSameInTheNextWindow(t *testing.T) {
	body := []byte(strings.Repeat("<p>"+strings.Repeat("word ", 40)+"</p>\n", 30) + strings.Repeat("x", 5000))
	const width = 37
	whole := bodyLines(&storage.PageRow{Text: true, Body: body}, Ask{Width: width})
	for i := 3; i < len(whole)-1; i += 7 {
		at := whole[i].At
		from := max(at-20*width, 0)
		page := &storage.PageRow{Text: true, From: from, Body: body[from:min(at+20*width, int64(len(body)))]}
		lines := bodyLines(page, Ask{Width: width, Window: storage.Window{Around: at}})
		n := slices.IndexFunc(lines, func(l BodyLine) bool { return l.At == at })
		if n < 0 || lines[n] != whole[i] || lines[n+1] != whole[i+1] || n > 0 && lines[n-1].At != whole[i-1].At {
			t.Fatalf("line %d at %d is not in its window as it was: %v", i, at, lines)
		}
	}
}

// FuzzLinesOfABody: whatever a page holds, its lines are printable, fit, and rise.
func FuzzLinesOfABody(f *testing.F) {
	f.Add([]byte("<p>\x1b[2J\u202e日本\r\n\xff\x00"), uint8(7), true, uint16(3))
	f.Add([]byte("e\u0301\u0301👩\u200d👩\u200d👧 family\t\tx"), uint8(2), true, uint16(0))
	f.Add([]byte("\x89PNG\r\n"), uint8(80), false, uint16(1))
	f.Fuzz(func(t *testing.T, body []byte, width uint8, text bool, around uint16) {
		from := int64(around) / 2
		page := &storage.PageRow{Text: text, From: from, Body: body}
		last := int64(-1)
		for _, l := range bodyLines(page, Ask{Width: int(width), Window: storage.Window{Around: int64(around)}}) {
			if w := widget.Width(l.Text); w > max(int(width), 1) || control(l.Text) >= 0 || strings.Contains(l.Text, "\x1b") {
				t.Fatalf("%d cells of %d: %q", w, width, l.Text)
			}
			if l.At <= last || l.At < from || l.At >= from+int64(len(body)) {
				t.Fatalf("a line at %d after one at %d, of %d to %d", l.At, last, from, from+int64(len(body)))
			}
			last = l.At
		}
	})
}

func TestBytesOfABody(t *testing.T) {
	body := bytes.Repeat([]byte{0xff, 'A'}, 20)
	for width, want := range map[int]string{
		80: "00000010  ff 41 ff 41 ff 41 ff 41 ff 41 ff 41 ff 41 ff 41  .A.A.A.A.A.A.A.A",
		50: "00000010  ff 41 ff 41 ff 41 ff 41  .A.A.A.A",
		36: "00000010  ff 41 ff 41  .A.A",
	} {
		lines := bodyLines(&storage.PageRow{From: 3, Body: body}, Ask{Width: width})
		i := slices.IndexFunc(lines, func(l BodyLine) bool { return l.At == 16 })
		if i < 0 || lines[i].Text != strings.ReplaceAll(strings.ReplaceAll(want, "ff 41", "41 ff"), ".A", "A.") {
			t.Errorf("width %d: %v", width, lines)
		}
	}
}
