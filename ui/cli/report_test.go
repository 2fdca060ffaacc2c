package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReport(t *testing.T) {
	_, at := listen(t)
	s := newShell(t)
	if got := s.run("report"); got.code != exitBroken || got.out != "" || !strings.Contains(got.err, defaultDB) {
		t.Errorf("without a database: exit %d, %q, %q", got.code, got.out, got.err)
	}
	s.file("urls.txt", pages(at.Sites[0], 3, ""))
	if got := s.run("run", "urls.txt"); got.code != exitOK {
		t.Fatalf("exit %d, %q", got.code, got.err)
	}
	got := s.run("report")
	if got.code != exitOK || got.err != "" || !strings.HasPrefix(got.out, "<!doctype html>") || !strings.HasSuffix(got.out, "</html>\n") || !strings.Contains(got.out, "100% of 3 tasks") {
		t.Fatalf("exit %d, %q, %q", got.code, got.err, got.out)
	}
	page := got.out
	if got := s.run("report", "--run", "1", "-o", "r.html"); got.code != exitOK || got.out != "" || got.err != "" {
		t.Errorf("to a file: exit %d, %q, %q", got.code, got.out, got.err)
	}
	if text, err := os.ReadFile("r.html"); err != nil || string(text) != page {
		t.Errorf("the file is another page: %v", err)
	}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"an existing file": {[]string{"-o", "r.html"}, "--force"},
		"no such run":      {[]string{"--run", "7", "-o", "none.html"}, "no run 7"},
		"all runs":         {[]string{"--run", "all"}, "name one run"},
		"an argument":      {[]string{"7"}, "no arguments"},
	} {
		if got := s.run(append([]string{"report"}, c.args...)...); got.code != exitUsage || got.out != "" || !strings.Contains(got.err, c.want) {
			t.Errorf("%s: exit %d, %q, %q", name, got.code, got.out, got.err)
		}
	}
	if got := s.run("report", "-o", "r.html", "--force"); got.code != exitOK {
		t.Errorf("with force: exit %d, %q", got.code, got.err)
	}
	if got := s.run("report", "-o", filepath.Join("nowhere", "r.html")); got.code != exitBroken || !strings.Contains(got.err, "nowhere") {
		t.Errorf("to a folder that is not there: exit %d, %q", got.code, got.err)
	}
	left, err := filepath.Glob(".scrapetop-*.part")
	if _, gone := os.Stat("none.html"); err != nil || len(left) > 0 || gone == nil {
		t.Errorf("half a file is left: %v", left)
	}
}
