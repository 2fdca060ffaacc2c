package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLogHasTheEventsOfTheRun: each event once, over a resume too, as lines that a program can read.
func TestLogHasTheEventsOfTheRun(t *testing.T) {
	_, at := listen(t)
	s := newShell(t)
	s.file("scrapetop.toml", "[log]\nfile = \"run.log\"\nformat = \"json\"\n")
	s.file("list.txt", pages(at.Sites[0], 30, ""))
	if got := s.run("run", "--headless", "--robots", "off", "--max-requests", "10", "list.txt"); got.code != exitLeft {
		t.Fatalf("%+v", got)
	}
	if got := s.run("resume", "--headless", "--robots", "off", "--max-requests", "100"); got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	told, err := os.ReadFile(filepath.Join(s.dir, "run.log"))
	if err != nil {
		t.Fatal(err)
	}
	stored := s.run("export", "--what", "events")
	lines, want := strings.Split(strings.TrimSpace(string(told)), "\n"), strings.Split(strings.TrimSpace(stored.out), "\n")
	if len(lines) != len(want) || len(lines) < 2 {
		t.Fatalf("%d lines of %d events:\n%s", len(lines), len(want), told)
	}
	for i, line := range lines {
		var got struct{ Time, Level, Msg string }
		var event struct{ At, Level, Text string }
		if json.Unmarshal([]byte(line), &got) != nil || json.Unmarshal([]byte(want[i]), &event) != nil ||
			got.Time != event.At || got.Msg != event.Text || !strings.EqualFold(got.Level, event.Level) {
			t.Errorf("%s\nis no line of\n%s", line, want[i])
		}
	}
	if info, err := os.Stat(filepath.Join(s.dir, "run.log")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestLogThatCannotBeMade(t *testing.T) {
	_, at := listen(t)
	s := newShell(t)
	s.file("scrapetop.toml", "[log]\nfile = \"no/such/run.log\"\n")
	if got := s.run("run", "--headless", at.Sites[0].URL+"/a"); got.code != exitBroken || !strings.Contains(got.err, "check [log]") {
		t.Errorf("%+v", got)
	}
	for _, bad := range []string{"max_size = \"x\"", "keep = -1", "format = \"xml\""} {
		s.file("scrapetop.toml", "[log]\n"+bad+"\n")
		if got := s.run("history"); got.code != exitBroken && got.code != exitUsage || !strings.Contains(got.err, "scrapetop.toml:2") {
			t.Errorf("%s: %+v", bad, got)
		}
	}
}

func TestRotation(t *testing.T) {
	for _, keep := range []int{0, 2} {
		path := filepath.Join(t.TempDir(), "a.log")
		r, err := openRotated(path, 30, keep)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 10 {
			if _, err := fmt.Fprintf(r, "line %04d\n", i); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if r, err = openRotated(path, 30, keep); err != nil { // goes on where it was
			t.Fatal(err)
		}
		fmt.Fprintln(r, "more than one file may hold at once")
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"a.log": "more than one file may hold at once\n", "a.log.1": "line 0009\n", "a.log.2": "line 0006\nline 0007\nline 0008\n"}
		for i, name := range []string{"a.log", "a.log.1", "a.log.2", "a.log.3"} {
			got, err := os.ReadFile(filepath.Join(filepath.Dir(path), name))
			if i > keep {
				if !os.IsNotExist(err) {
					t.Errorf("keep %d: %s is there", keep, name)
				}
			} else if string(got) != want[name] {
				t.Errorf("keep %d: %s holds %q", keep, name, got)
			}
		}
	}
}
