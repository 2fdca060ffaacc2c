package cli

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// words is the text of an SVG picture, which has to be well-formed.
func words(t *testing.T, svg string) string {
	t.Helper()
	var b strings.Builder
	for dec := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return strings.ReplaceAll(b.String(), "\u00a0", " ")
		}
		if err != nil {
			t.Fatalf("%v in %q", err, svg)
		}
		if text, ok := token.(xml.CharData); ok {
			b.Write(text)
		}
	}
}

func TestPictureDrawsTheDemo(t *testing.T) {
	for _, c := range []struct{ screen, size, want string }{
		{"overview", "120x36", "In flight / limit"},
		{"domains", "80x24", "books.example"},
		{"help", "120x36", "line down"},
	} {
		t.Run(c.screen, func(t *testing.T) {
			s := newShell(t)
			s.now = time.Now
			got := s.run("picture", "--screen", c.screen, "--size", c.size, "--after", "500ms", "--speed", "5", "-o", "p.svg")
			if got.code != exitOK || got.out != "" {
				t.Fatalf("exit %d, %q, %q", got.code, got.out, got.err)
			}
			svg, err := os.ReadFile("p.svg")
			if err != nil {
				t.Fatal(err)
			}
			if text := words(t, string(svg)); !strings.Contains(text, c.want) {
				t.Errorf("no %q in %q", c.want, text)
			}
			noneLeft(t)
		})
	}
	s := newShell(t)
	if got := s.run("--help"); strings.Contains(got.out, "picture") {
		t.Errorf("the command is not hidden: %q", got.out)
	}
}

func TestParseCells(t *testing.T) {
	if c, err := parseCells("80x24"); err != nil || c != (cells{80, 24}) {
		t.Errorf("%v, %v", c, err)
	}
	for _, s := range []string{"", "80", "x24", "80x", "0x24", "80x-1", "80x24x2", "1001x24", "80X24"} {
		if c, err := parseCells(s); err == nil {
			t.Errorf("%q is %v", s, c)
		}
	}
}
