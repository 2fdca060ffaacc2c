package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRepair: a damaged database is read into a new one and stays as it is; a whole one is left alone.
func TestRepair(t *testing.T) {
	s := newShell(t)
	_, at := listen(t)
	s.file("list.txt", pages(at.Sites[0], 60, ""))
	if got := s.run("run", "--headless", "--robots", "off", "list.txt"); got.code != 0 {
		t.Fatalf("%+v", got)
	}
	if got := s.run("doctor", "--repair"); got.code != 0 || !strings.Contains(got.out, "nothing to repair") {
		t.Fatalf("%+v", got)
	}
	if got := s.run("doctor", "-o", "x.db"); got.code != exitUsage {
		t.Fatalf("%+v", got)
	}
	path := filepath.Join(s.dir, defaultDB)
	image, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	half := len(image) / 2 &^ (8<<10 - 1)
	clear(image[half : half+8<<10])
	if err := os.WriteFile(path, image, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := s.run("history"); got.code != exitBroken || !strings.Contains(got.err, "doctor --repair") {
		t.Fatalf("%+v", got)
	}
	got := s.run("doctor", "--repair")
	if got.code != 0 || !strings.Contains(got.out, "scrapetop.repaired.db") || !strings.Contains(got.out, "could not be read") {
		t.Fatalf("%+v", got)
	}
	if again := s.run("doctor", "--repair"); again.code != exitBroken || !strings.Contains(again.err, "already exists") {
		t.Errorf("%+v", again)
	}
	if left, err := os.ReadFile(path); err != nil || string(left) != string(image) {
		t.Errorf("the damaged file was changed (%v)", err)
	}
	if got := s.run("history", "--db", "scrapetop.repaired.db"); got.code != 0 || !strings.Contains(got.out, "60") {
		t.Errorf("%+v", got)
	}
}
