package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

var explainKeys = []string{"outcome", "layer", "http_status", "target_status", "wait_seconds", "wait_source", "wait_saturated", "limit",
	"remaining", "reset_seconds", "window_seconds", "kind", "cools", "retry", "backoff_seconds", "remote_job", "notes", "advice"}

// explained runs explain on a text and returns its JSON as a map, with every key checked to be there.
func explained(t *testing.T, s *shell, text string, args ...string) map[string]any {
	t.Helper()
	s.stdin = text
	got := s.run(append([]string{"explain", "--format", "json"}, args...)...)
	if got.code != exitOK {
		t.Fatalf("exit %d, %s", got.code, got.err)
	}
	if strings.Count(got.out, "\n") != 1 {
		t.Fatalf("not one line: %q", got.out)
	}
	var e map[string]any
	if err := json.Unmarshal([]byte(got.out), &e); err != nil {
		t.Fatal(err)
	}
	for _, k := range explainKeys {
		if _, ok := e[k]; !ok {
			t.Errorf("%s is missing", k)
		}
	}
	if len(e) != len(explainKeys) {
		t.Errorf("%d keys: %s", len(e), got.out)
	}
	if e["advice"] == "" {
		t.Error("no advice")
	}
	return e
}

// readCase reads a file of testdata/responses; @@EPOCH+8@@ becomes that many seconds after the tests' clock.
func readCase(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(packageDir, "testdata", "responses", name+".http"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	if before, rest, ok := strings.Cut(text, "@@EPOCH+"); ok {
		n, after, _ := strings.Cut(rest, "@@")
		seconds, err := strconv.ParseInt(n, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		text = before + strconv.FormatInt(clock.Unix()+seconds, 10) + after
	}
	return text
}

func TestExplainResponses(t *testing.T) {
	tests := []struct {
		file string
		args []string
		want map[string]any
	}{
		{"100_ok", nil, map[string]any{"outcome": "accepted", "layer": "", "http_status": 200.0, "wait_seconds": nil, "wait_source": nil, "cools": "none", "retry": false, "remote_job": nil}},
		{"102_gzip_truncated", nil, map[string]any{"outcome": "transport", "layer": "transport", "retry": true}},
		{"127_redirect_loop", []string{"--url", "https://a.test/x"}, map[string]any{"outcome": "redirected", "retry": false, "cools": "none"}},
		{"242_inner_403", []string{"--provider", "evomi"}, map[string]any{"outcome": "blocked", "layer": "target", "http_status": 200.0, "target_status": 403.0, "retry": false}},
		{"226_busy_retry_huge", []string{"--provider", "evomi"}, map[string]any{"outcome": "busy", "wait_saturated": true, "cools": "provider"}},
		{"230_busy_retry_zero", []string{"--provider", "evomi"}, map[string]any{"outcome": "busy", "wait_seconds": 0.0}},
		{"104_length_too_long", nil, map[string]any{"outcome": "transport", "layer": "transport", "http_status": 200.0, "retry": true}},
		{"106_chunked_cut", nil, map[string]any{"outcome": "transport", "layer": "transport", "http_status": 200.0, "retry": true}},
		{"112_empty_200", nil, map[string]any{"outcome": "accepted"}},
		{"116_429_html", nil, map[string]any{"outcome": "limited", "layer": "target", "wait_seconds": 7.0, "wait_source": "retry-after", "cools": "domain", "retry": true, "limit": nil}},
		{"118_429_skewed_date", nil, map[string]any{"wait_seconds": 12.0}},
		{"122_429_epoch", nil, map[string]any{"wait_seconds": 8.0}},
		{"124_429_day", nil, map[string]any{"wait_seconds": 86400.0, "wait_saturated": false}},
		{"126_503_no_hint", nil, map[string]any{"outcome": "failed", "wait_seconds": nil, "cools": "none", "retry": true}},
		{"132_header_flood", nil, map[string]any{"outcome": "accepted"}},
		{"134_status_999", nil, map[string]any{"outcome": "failed", "http_status": 999.0}},
		{"141_quota_window_zero", nil, map[string]any{"outcome": "accepted", "limit": 10.0, "remaining": 0.0, "reset_seconds": 6.0, "window_seconds": 60.0, "kind": "window"}},
		{"218_concurrency_429", []string{"--provider", "evomi"}, map[string]any{"outcome": "limited", "layer": "account", "limit": 5.0, "remaining": 0.0, "wait_seconds": 6.0, "wait_source": "body", "kind": "concurrency", "cools": "credential", "retry": true}},
		{"237_quota_402", []string{"--provider", "evomi", "--call", "submit"}, map[string]any{"outcome": "denied", "layer": "quota", "cools": "credential", "retry": false}},
		{"235_accepted_202", []string{"--provider", "evomi", "--call", "submit"}, map[string]any{"outcome": "accepted_remote", "remote_job": "task_abc123", "cools": "none"}},
		{"126_503_no_hint", []string{"--provider", "evomi", "--call", "submit"}, map[string]any{"outcome": "busy", "layer": "capacity", "cools": "provider", "retry": true}},
	}
	for _, tt := range tests {
		t.Run(tt.file+strings.Join(tt.args, ""), func(t *testing.T) {
			s := newShell(t)
			e := explained(t, s, readCase(t, tt.file), append(tt.args, "--now", clock.Format("2006-01-02T15:04:05Z07:00"))...)
			for k, want := range tt.want {
				if e[k] != want {
					t.Errorf("%s is %v, want %v (%v)", k, e[k], want, e["notes"])
				}
			}
		})
	}
}

// TestExplainReadsEveryCase runs all responses through both providers: none may fail, whatever it holds.
func TestExplainReadsEveryCase(t *testing.T) {
	files, err := filepath.Glob("testdata/responses/*.http")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	s := newShell(t)
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".http")
		for _, args := range [][]string{{"--provider", "direct"}, {"--provider", "evomi"}, {"--provider", "evomi", "--call", "poll"}} {
			e := explained(t, s, readCase(t, name), args...)
			if w, ok := e["wait_seconds"].(float64); ok && w < 0 {
				t.Errorf("%s: a negative wait %v", name, w)
			}
		}
	}
}

func TestExplainChallengeIsNoPage(t *testing.T) {
	e := explained(t, newShell(t), "HTTP/2 403\ncf-mitigated: challenge\ncontent-type: text/html\n\n<title>Just a moment...</title>")
	if e["outcome"] != "blocked" || e["retry"] != false {
		t.Errorf("%v", e)
	}
}

func TestExplainAttemptWidensTheBackoff(t *testing.T) {
	s := newShell(t)
	text := "HTTP/1.1 429 Too Many Requests\n\n"
	first := explained(t, s, text)["backoff_seconds"].(map[string]any)
	fifth := explained(t, s, text, "--attempt", "5")["backoff_seconds"].(map[string]any)
	if !(first["min"].(float64) > 0) || !(fifth["max"].(float64) > first["max"].(float64)) {
		t.Errorf("first %v, fifth %v", first, fifth)
	}
}

func TestExplainTellsThePlatformsDefaultWait(t *testing.T) {
	e := explained(t, newShell(t), "HTTP/2 429\n\n", "--provider", "evomi")
	if b := e["backoff_seconds"].(map[string]any); e["wait_seconds"] != nil || b["min"] != 60.0 || b["max"] != 61.0 {
		t.Errorf("wait %v, backoff %v", e["wait_seconds"], b)
	}
}

func TestExplainText(t *testing.T) {
	s := newShell(t)
	path := s.file("answer.http", "HTTP/2 429\nretry-after: 90\nx-note: a\x1b[31mb\n\n")
	got := s.run("explain", path)
	for _, want := range []string{"limited (target)", "90 s (retry-after)", "Retry-After: 90", "advice"} {
		if !strings.Contains(got.out, want) {
			t.Errorf("%q does not hold %q", got.out, want)
		}
	}
	if got.code != exitOK || strings.Contains(got.out, "\x1b") {
		t.Errorf("exit %d, %q", got.code, got.out)
	}
}

func TestExplainRefusesWhatIsNoResponse(t *testing.T) {
	s := newShell(t)
	for _, text := range []string{"", "<html>", "GET / HTTP/1.1\n\n"} {
		s.stdin = text
		if got := s.run("explain"); got.code != exitUsage || !strings.Contains(got.err, "stdin cannot be read as an HTTP response") || got.out != "" {
			t.Errorf("%q: exit %d, %q", text, got.code, got.err)
		}
	}
	s.stdin = "HTTP/1.1 200 OK\n\n"
	for _, args := range [][]string{{"--now", "today"}, {"--url", "not a url"}, {"--attempt", "0"}, {"--call", "wish"}, {"--format", "xml"}, {"--provider", "nobody"}} {
		if got := s.run(append([]string{"explain"}, args...)...); got.code != exitUsage {
			t.Errorf("%v: exit %d, %q", args, got.code, got.err)
		}
	}
}
