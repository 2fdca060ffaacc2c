package cli

import (
	"strings"
	"testing"
)

// TestPlainTellsARunInWords: events and answers on stdout, the summary last, and the commands of stdin obeyed.
func TestPlainTellsARunInWords(t *testing.T) {
	s := newShell(t)
	s.stdin = "summary\nnonsense\nstop\n"
	got := s.run("demo", "--plain", "--speed", "20")
	if got.code != exitLeft {
		t.Errorf("exit %d, %q", got.code, got.err)
	}
	for _, want := range []string{" asked   stop: what is in flight finishes", " error   there is no command nonsense", "stopped by you"} {
		if !strings.Contains(got.out, want) {
			t.Errorf("no %q in %q", want, got.out)
		}
	}
	if strings.Contains(got.out, "\x1b") {
		t.Errorf("%q holds an escape sequence", got.out)
	}
}

// TestPlainGoesOnWithoutCommands: the end of stdin ends nothing.
func TestPlainGoesOnWithoutCommands(t *testing.T) {
	_, at := listen(t)
	s := newShell(t)
	got := s.run("run", s.file("urls.txt", pages(at.Sites[0], 2, "")), "--plain")
	if got.code != exitOK || !strings.Contains(got.out, "accepted 2") {
		t.Errorf("exit %d, %q, %q", got.code, got.out, got.err)
	}
}
