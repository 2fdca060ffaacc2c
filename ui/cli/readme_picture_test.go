package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// pictures are those of README.md: which screen, and how long the demo ran before.
var pictures = []struct{ name, screen, after string }{
	{"overview", "overview", "45s"},
	{"domains", "domains", "62s"},
	{"task", "tasks", "55s"},
}

// pictureNow draws a screen of the demo, whose minute passes in a second here.
func pictureNow(t *testing.T, screen, after string) string {
	t.Helper()
	s := newShell(t)
	out := filepath.Join(s.dir, "picture.svg")
	synctest.Test(t, func(t *testing.T) {
		s.t, s.now, s.signals = t, time.Now, make(chan os.Signal, 2)
		time.Sleep(time.Until(clock)) // a bubble begins in 2000, when Unix times had nine digits: some sites announce theirs
		if got := s.run("picture", "--screen", screen, "--after", after, "-o", out); got.code != exitOK {
			t.Fatalf("exit %d, %q", got.code, got.err)
		}
	})
	svg, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(svg)
}

// word is one of three letters and more, heading one in capitals.
var (
	word    = regexp.MustCompile(`[A-Za-z]{3,}`)
	heading = regexp.MustCompile(`[A-Z]{3,}`)
)

// chrome are the words of a picture's tabs, of its panes' titles, of its headings and of its footer: what a screen says whatever
// the run does.
func chrome(t *testing.T, svg string) map[string]bool {
	t.Helper()
	rows, last := map[string]string{}, ""
	for _, m := range regexp.MustCompile(`<text x="[^"]*" y="([^"]*)"[^>]*>([^<]*)</text>`).FindAllStringSubmatch(svg, -1) {
		rows[m[1]] += m[2] + " "
		last = m[1]
	}
	all := map[string]bool{}
	for y, row := range rows {
		found := heading.FindAllString(row, -1)
		switch {
		case y == last || strings.ContainsAny(row, "╭┏") || strings.Contains(row, "Overview"):
			found = word.FindAllString(row, -1)
		case len(found) < 3:
			continue
		}
		for _, w := range found {
			all[w] = true
		}
	}
	return all
}

// TestReadmePicturesAreOfThePresentScreens: each word of the chrome that a screen has in the demo and in its golden alike stands
// in its picture. What the screen tells of a run may differ: that moves with each change of the engine.
func TestReadmePicturesAreOfThePresentScreens(t *testing.T) {
	folder, err := filepath.Abs(filepath.Join(houseRoot, ".github", "images"))
	if err != nil {
		t.Fatal(err)
	}
	goldens, err := filepath.Abs(filepath.Join("..", "screen", "testdata"))
	if err != nil {
		t.Fatal(err)
	}
	_, text := readme(t)
	for _, p := range pictures {
		t.Run(p.name, func(t *testing.T) {
			path := filepath.Join(folder, p.name+".svg")
			if !strings.Contains(text, "(.github/images/"+p.name+".svg)") {
				t.Error("README.md does not show it")
			}
			now := pictureNow(t, p.screen, p.after)
			if *update {
				if err := os.WriteFile(path, []byte(now), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			kept, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			golden, err := os.ReadFile(filepath.Join(goldens, p.screen+"-120x36.txt"))
			if err != nil {
				t.Fatal(err)
			}
			shown := words(t, string(kept))
			said := 0
			for w := range chrome(t, now) {
				if !strings.Contains(string(golden), w) {
					continue
				}
				if said++; !strings.Contains(shown, w) {
					t.Errorf("the screen says %q, the picture does not, draw it again: .ci/pictures", w)
				}
			}
			if said < 20 {
				t.Errorf("only %d words of the screen are known", said)
			}
		})
	}
}
