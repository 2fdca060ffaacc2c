package cli

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// told is what a command said.
type told struct {
	code     int
	out, err string
}

// clock is the moment at which commands of the tests run.
var clock = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// shell runs commands in a folder of its own, without the developer's config and environment.
type shell struct {
	t       *testing.T
	dir     string
	env     []string
	stdin   string
	in      io.Reader // instead of stdin
	now     func() time.Time
	configs []string
	signals chan os.Signal
}

func newShell(t *testing.T) *shell {
	t.Helper()
	s := &shell{t: t, dir: t.TempDir(), signals: make(chan os.Signal, 2), now: func() time.Time { return clock }}
	t.Chdir(s.dir)
	return s
}

func (s *shell) run(args ...string) told {
	s.t.Helper()
	var out, errs bytes.Buffer
	in := s.in
	if in == nil {
		in = strings.NewReader(s.stdin)
	}
	code := run(s.t.Context(), args, stdio{In: in, Out: &out, Err: &errs}, world{
		environ: s.env, configDirs: s.configs, now: s.now,
		signals: func() (<-chan os.Signal, func()) { return s.signals, func() {} },
		exit:    func(code int) { panic(code) },
	})
	return told{code, out.String(), errs.String()}
}

// file writes a file of the shell's folder and returns its path.
func (s *shell) file(name, text string) string {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

func TestUsageFailures(t *testing.T) {
	tests := []struct {
		name string
		args []string
		env  []string
		want string
	}{
		{name: "unknown command", args: []string{"rnu"}, want: "did you mean run?"},
		{name: "unknown flag", args: []string{"history", "--nope"}, want: "--nope"},
		{name: "flag value", args: []string{"run", "x", "--rate", "fast"}, want: "20/s"},
		{name: "no input", args: []string{"run"}, want: "needs an INPUT"},
		{name: "missing input", args: []string{"run", "nowhere.txt"}, want: "nowhere.txt"},
		{name: "folder as input", args: []string{"run", "."}, want: "folder"},
		{name: "bad URL", args: []string{"run", "ftp://a.test/"}, want: "not http or https"},
		{name: "credentials in a URL", args: []string{"run", "https://u:hunter2@a.test/"}, want: "credentials"},
		{name: "unknown provider", args: []string{"run", "x", "--provider", "nobody"}, want: "direct, evomi"},
		{name: "bad run number", args: []string{"resume", "one"}, want: "no run number"},
		{name: "pause without key", args: []string{"pause", "domain"}, want: "SCOPE and KEY"},
		{name: "pause of an unknown scope", args: []string{"pause", "planet", "x"}, want: "planet"},
		{name: "pause of a URL", args: []string{"pause", "domain", "https://a.test/"}, want: "hostname"},
		{name: "no terminal for the dashboard", args: nil, want: "--headless"},
		{name: "bad variable", args: []string{"run", "x"}, env: []string{"SCRAPETOP_RATE=soon"}, want: "SCRAPETOP_RATE"},
		{name: "set with direct", args: []string{"run", "https://a.test/", "--set", "mode=request"}, want: "--provider"},
		{name: "set without value", args: []string{"run", "https://a.test/", "--provider", "evomi", "--set", "mode"}, want: "KEY=VALUE"},
		{name: "a key on the command line", args: []string{"run", "https://a.test/", "--provider", "evomi", "--set", "api_key=hunter2"}, want: "never taken from the command line"},
		{name: "explain of a file that is not there", args: []string{"explain", "nowhere.http"}, want: "nowhere.http"},
		{name: "requeue of all runs", args: []string{"requeue", "--run", "all"}, want: "one run"},
		{name: "arguments of history", args: []string{"history", "x"}, want: "no arguments"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newShell(t)
			s.env = tt.env
			got := s.run(tt.args...)
			if got.code != exitUsage || !strings.Contains(got.err, tt.want) || got.out != "" {
				t.Errorf("exit %d, stdout %q, stderr %q; want %q", got.code, got.out, got.err, tt.want)
			}
			if !strings.HasPrefix(got.err, "scrapetop: ") || strings.Count(got.err, "\n") != 1 {
				t.Errorf("the error is not one line: %q", got.err)
			}
			if strings.Contains(got.err, "hunter2") {
				t.Errorf("a secret is shown: %q", got.err)
			}
		})
	}
}

func TestRuinedConfigStopsCommandsThatReadIt(t *testing.T) {
	s := newShell(t)
	s.file("scrapetop.toml", "[run]\nspeed = 3\n")
	for _, args := range [][]string{{"history"}, {"run", "https://a.test/"}, {"export"}} {
		if got := s.run(args...); got.code != exitBroken || !strings.Contains(got.err, "scrapetop.toml:2: run.speed") {
			t.Errorf("%v: exit %d, %q", args, got.code, got.err)
		}
	}
	for _, args := range [][]string{{"version"}, {"help"}, {"completion", "bash"}, {"--version"}} {
		if got := s.run(args...); got.code != exitOK || got.out == "" {
			t.Errorf("%v: exit %d, %q", args, got.code, got.err)
		}
	}
}

func TestCompletionOfAnUnknownShellIsWrongUsage(t *testing.T) {
	s := newShell(t)
	for _, args := range [][]string{{"completion"}, {"completion", "tcsh"}} {
		if got := s.run(args...); got.code != exitUsage || !strings.Contains(got.err, "zsh") || got.out != "" {
			t.Errorf("%v: exit %d, %q", args, got.code, got.err)
		}
	}
}

func TestGlobalFlagsStandAnywhere(t *testing.T) {
	s := newShell(t)
	for _, args := range [][]string{{"--db", "other.db", "history"}, {"history", "--db", "other.db"}, {"history", "--db=other.db"}} {
		if got := s.run(args...); got.code != exitBroken || !strings.Contains(got.err, "other.db") {
			t.Errorf("%v: exit %d, %q", args, got.code, got.err)
		}
	}
}

func TestPanicBecomesAnErrorLine(t *testing.T) {
	var out, errs bytes.Buffer
	code := run(context.Background(), []string{"explain"}, stdio{In: strings.NewReader(""), Out: &out, Err: &errs}, world{
		now: func() time.Time { panic("boom") },
	})
	if code != exitBroken || !strings.HasPrefix(errs.String(), "scrapetop: internal error: boom") {
		t.Errorf("exit %d, %q", code, errs.String())
	}
}

func TestForeignTextInErrorsIsPrintable(t *testing.T) {
	s := newShell(t)
	got := s.run("run", "no\x1b]0;title\x07\x1b[2Jfile\u202e.txt")
	if got.code != exitUsage || strings.ContainsAny(got.err, "\x1b\x07") || strings.ContainsRune(got.err, '\u202e') {
		t.Errorf("exit %d, %q", got.code, got.err)
	}
}

// packageDir is where the tests started: a shell changes folders.
var packageDir = func() string {
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	return dir
}()
