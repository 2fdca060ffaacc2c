package cli

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"syscall"
	"testing"
	"time"

	"dev.scrapetop/engine"
	"dev.scrapetop/engine/simulator"
)

// listen serves a simulated world on loopback for one test.
func listen(t *testing.T) (*simulator.World, simulator.Addresses) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	w := simulator.New(simulator.Options{Speed: 20, Sites: []simulator.Site{{Host: "one.example"}, {Host: "two.example"}}})
	addresses, err := w.Listen(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(); w.Wait() })
	return w, addresses
}

func pages(site simulator.SiteAddress, n int, query string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s/page-%d%s\n", site.URL, i, query)
	}
	return b.String()
}

// summaryOf reads the one line of JSON that a headless run prints.
func summaryOf(t *testing.T, got told) map[string]any {
	t.Helper()
	var sum map[string]any
	if err := json.Unmarshal([]byte(got.out), &sum); err != nil || strings.Count(got.out, "\n") != 1 {
		t.Fatalf("exit %d, stdout %q, stderr %q: %v", got.code, got.out, got.err, err)
	}
	for _, k := range strings.Fields(`run provider state tasks accepted cached records dead pending skipped duplicates attempts remote requests retries
		elapsed_seconds accepted_per_minute max_in_flight cooldowns probes limited busy credits bytes queue_age_seconds dead_reasons reason`) {
		if _, ok := sum[k]; !ok {
			t.Errorf("the summary has no %s", k)
		}
	}
	return sum
}

func expect(t *testing.T, sum map[string]any, want map[string]any) {
	t.Helper()
	for k, v := range want {
		if sum[k] != v {
			t.Errorf("%s is %v, want %v", k, sum[k], v)
		}
	}
}

// noneLeft waits until no goroutine of this package is left but the tests' own.
func noneLeft(t *testing.T) {
	t.Helper()
	var b bytes.Buffer
	for deadline := time.Now().Add(10 * time.Second); ; <-time.After(5 * time.Millisecond) {
		b.Reset()
		if err := pprof.Lookup("goroutine").WriteTo(&b, 1); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), "cli.(*feeder)") && !strings.Contains(b.String(), "cli.(*app).obey") && !strings.Contains(b.String(), "dev.scrapetop/engine.(*Engine)") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("goroutines are left:\n%s", b.String())
		}
	}
}

func TestHeadlessRunFromListToExport(t *testing.T) {
	_, at := listen(t)
	s := newShell(t)
	s.file("urls.txt", pages(at.Sites[0], 5, "")+pages(at.Sites[0], 2, "#again")+"nonsense\n"+pages(at.Sites[1], 5, ""))
	got := s.run("run", "urls.txt", "--summary", "json")
	if got.code != exitOK || !strings.Contains(got.err, "urls.txt:8: ") {
		t.Errorf("exit %d, stderr %q", got.code, got.err)
	}
	expect(t, summaryOf(t, got), map[string]any{"run": 1.0, "state": "finished", "tasks": 10.0, "accepted": 10.0, "duplicates": 2.0, "skipped": 1.0, "pending": 0.0, "reason": nil})
	noneLeft(t)

	if got := s.run("history"); got.code != exitOK || !strings.Contains(got.out, "urls.txt") || !strings.Contains(got.out, "finished") {
		t.Errorf("history: exit %d, %q", got.code, got.out)
	}
	if got := s.run("export"); got.code != exitOK || strings.Count(got.out, "\n") != 10 {
		t.Errorf("export: exit %d, %d lines, %q", got.code, strings.Count(got.out, "\n"), got.err)
	}
	if got := s.run("export", "-o", "out.csv", "--format", "csv", "--what", "attempts"); got.code != exitOK || got.out != "" {
		t.Errorf("export to a file: exit %d, %q", got.code, got.err)
	}
	info, err := os.Stat("out.csv")
	if err != nil || info.Mode().Perm() != 0o600 || info.Size() == 0 {
		t.Errorf("%v, %v", info, err)
	}
	before, err := os.ReadFile("out.csv")
	if err != nil {
		t.Fatal(err)
	}
	if got := s.run("export", "-o", "out.csv"); got.code != exitUsage || !strings.Contains(got.err, "--force") {
		t.Errorf("export over a file: exit %d, %q", got.code, got.err)
	}
	if after, err := os.ReadFile("out.csv"); err != nil || !bytes.Equal(before, after) {
		t.Error("the refused export changed the file")
	}
	if got := s.run("export", "-o", "out.csv", "--force", "--format", "json"); got.code != exitOK {
		t.Errorf("export with force: exit %d, %q", got.code, got.err)
	}
	if text, err := os.ReadFile("out.csv"); err != nil || !json.Valid(text) {
		t.Errorf("the forced export is no JSON: %v", err)
	}
	if got := s.run("export", "--run", "7", "-o", "none.jsonl"); got.code != exitUsage || !strings.Contains(got.err, "no run 7") {
		t.Errorf("export of no run: exit %d, %q", got.code, got.err)
	}
	left, err := filepath.Glob(".scrapetop-*.part")
	if _, gone := os.Stat("none.jsonl"); err != nil || len(left) > 0 || gone == nil {
		t.Errorf("half a file is left: %v", left)
	}
	if got := s.run("resume"); got.code != exitUsage || !strings.Contains(got.err, "no run is unfinished") {
		t.Errorf("resume of nothing: exit %d, %q", got.code, got.err)
	}
	if got := s.run("run", "urls.txt"); got.code != exitOK || !strings.Contains(got.out, "accepted 10") {
		t.Errorf("a finished input runs again: exit %d, %q", got.code, got.err)
	}
}

func TestDeadLettersExitAndRequeue(t *testing.T) {
	_, at := listen(t)
	s := newShell(t)
	s.file("urls.txt", pages(at.Sites[0], 2, "")+pages(at.Sites[1], 3, "?sim_status=404&sim_times=1"))
	got := s.run("run", "urls.txt", "--summary", "json")
	if got.code != exitDead {
		t.Errorf("exit %d, %q", got.code, got.err)
	}
	expect(t, summaryOf(t, got), map[string]any{"state": "finished", "accepted": 2.0, "dead": 3.0})
	if got := s.run("requeue", "--reason", "blocked"); got.code != exitOK || !strings.HasPrefix(got.out, "0 dead letters") {
		t.Errorf("requeue of another reason: exit %d, %q", got.code, got.out)
	}
	if got := s.run("requeue", "--reason", "not_found"); got.code != exitOK || !strings.Contains(got.out, "3 dead letters of run 1") || !strings.Contains(got.out, "resume 1") {
		t.Errorf("requeue: exit %d, %q", got.code, got.out)
	}
	got = s.run("resume", "1", "--summary", "json")
	if got.code != exitOK {
		t.Errorf("resume: exit %d, %q", got.code, got.err)
	}
	expect(t, summaryOf(t, got), map[string]any{"accepted": 5.0, "dead": 0.0, "tasks": 5.0, "duplicates": 0.0})
}

func TestSignalDrainsAndResumeFinishes(t *testing.T) {
	w, at := listen(t)
	s := newShell(t)
	s.file("urls.txt", pages(at.Sites[0], 30, "?sim_delay=2s"))
	done := make(chan told)
	go func() { done <- s.run("run", "urls.txt", "--summary", "json", "--domain-max-in-flight", "2") }()
	for w.Counters().Sites["one.example"].Requests < 3 { // the fact that it is under way
		<-time.After(time.Millisecond)
	}
	s.signals <- os.Interrupt
	got := <-done
	sum := summaryOf(t, got)
	if got.code != exitLeft || sum["state"] != "stopped" || sum["pending"].(float64) == 0 || sum["dead"] != 0.0 {
		t.Errorf("exit %d, %s", got.code, got.out)
	}
	noneLeft(t)
	if got := s.run("run", "urls.txt"); got.code != exitUsage || !strings.Contains(got.err, "scrapetop resume 1") {
		t.Errorf("the same input again: exit %d, %q", got.code, got.err)
	}
	got = s.run("resume", "--summary", "json", "--domain-max-in-flight", "20")
	if got.code != exitOK {
		t.Errorf("resume: exit %d, %q", got.code, got.err)
	}
	expect(t, summaryOf(t, got), map[string]any{"run": 1.0, "state": "finished", "accepted": 30.0, "tasks": 30.0, "duplicates": 0.0, "pending": 0.0})
}

func TestSecondSignalAbandons(t *testing.T) {
	w, at := listen(t)
	s := newShell(t)
	s.file("urls.txt", pages(at.Sites[0], 4, "?sim_delay=10h"))
	done := make(chan told)
	go func() { done <- s.run("run", "urls.txt", "--summary", "json", "--timeout", "1h", "--robots", "off") }()
	for w.Counters().Sites["one.example"].Requests < 1 {
		<-time.After(time.Millisecond)
	}
	s.signals <- syscall.SIGTERM
	s.signals <- syscall.SIGHUP
	got := <-done
	if got.code != exitLeft {
		t.Errorf("exit %d, %q", got.code, got.err)
	}
	expect(t, summaryOf(t, got), map[string]any{"state": "stopped", "pending": 4.0, "accepted": 0.0})
	noneLeft(t)
}

func TestPlatformRunKeepsItsKeySecret(t *testing.T) {
	_, at := listen(t)
	s := newShell(t)
	s.file("urls.txt", pages(at.Sites[0], 3, ""))
	s.file("scrapetop.toml", "[run]\nprovider = \"evomi\"\n\n[providers.evomi]\nbase_url = \""+at.Evomi+"\"\noptions = { mode = \"request\" }\n")
	s.env = []string{"EVOMI_API_KEY=wrong-key-1234567890"}
	got := s.run("run", "urls.txt", "--summary", "json")
	if got.code != exitBroken || !strings.Contains(got.err, "could not go on") || !strings.Contains(got.err, "resume 1") {
		t.Errorf("a wrong key: exit %d, %q", got.code, got.err)
	}
	expect(t, summaryOf(t, got), map[string]any{"state": "failed", "pending": 3.0, "dead": 0.0})
	s.env = []string{"EVOMI_API_KEY=" + at.EvomiKey}
	got = s.run("resume", "--summary", "json")
	if got.code != exitOK {
		t.Errorf("the right key: exit %d, %q", got.code, got.err)
	}
	expect(t, summaryOf(t, got), map[string]any{"state": "finished", "accepted": 3.0, "provider": "evomi"})
	for _, name := range []string{"scrapetop.db", "scrapetop.db-wal"} {
		text, err := os.ReadFile(name)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		for _, key := range []string{"wrong-key-1234567890", at.EvomiKey} {
			if bytes.Contains(text, []byte(key)) {
				t.Errorf("%s holds a key", name)
			}
		}
	}
}

func TestRunFromAPipe(t *testing.T) {
	_, at := listen(t)
	s := newShell(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s.in = r
	if _, err := w.WriteString(pages(at.Sites[0], 3, "")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got := s.run("run", "-", "--summary", "json", "--tenant", "acme")
	if got.code != exitOK {
		t.Errorf("exit %d, %q", got.code, got.err)
	}
	expect(t, summaryOf(t, got), map[string]any{"tasks": 3.0, "accepted": 3.0})
	if got := s.run("export", "--what", "tasks"); strings.Count(got.out, `"tenant":"acme"`) != 3 {
		t.Errorf("tasks: %q", got.out)
	}
}

func TestPauseAndUnpause(t *testing.T) {
	s := newShell(t)
	for _, step := range []struct{ args, want string }{
		{"pause domain Shop.Example", "paused domain shop.example"},
		{"unpause domain shop.example.", "resumed domain shop.example"},
		{"unpause domain shop.example", "was not paused"},
		{"pause credential main", "paused credential main"},
		{"pause provider evomi", "paused provider evomi"},
	} {
		if got := s.run(strings.Fields(step.args)...); got.code != exitOK || !strings.Contains(got.out, step.want) {
			t.Errorf("%s: exit %d, %q %q", step.args, got.code, got.out, got.err)
		}
	}
}

func TestDemoNeedsNothing(t *testing.T) {
	for _, provider := range []string{"direct", "evomi"} {
		s := newShell(t)
		s.file("scrapetop.toml", "broken = ")
		got := s.run("demo", "--headless", "--speed", "500", "--max-requests", "40", "--summary", "json", "--robots", "off", "--provider", provider)
		sum := summaryOf(t, got)
		if got.code != exitLeft || sum["reason"] != "cap" || sum["accepted"].(float64) == 0 {
			t.Errorf("%s: exit %d, %s %s", provider, got.code, got.out, got.err)
		}
		entries, err := os.ReadDir(".")
		if err != nil || len(entries) != 1 {
			t.Errorf("%s left %v, %v", provider, entries, err)
		}
		noneLeft(t)
	}
}

func TestResumedDemoStaysInItsWorld(t *testing.T) {
	s := newShell(t)
	if got := s.run("demo", "--speed", "500", "--max-requests", "20", "--db", "d.db", "--seed", "3", "--robots", "off"); got.code != exitLeft || !strings.Contains(got.out, "scrapetop resume 1 --db d.db") {
		t.Errorf("exit %d, %s %s", got.code, got.out, got.err)
	}
	got := s.run("resume", "--db", "d.db", "--max-requests", "60", "--summary", "json")
	if sum := summaryOf(t, got); got.code != exitLeft || sum["accepted"].(float64) == 0 || sum["requests"].(float64) < 40 {
		t.Errorf("exit %d, %s %s", got.code, got.out, got.err)
	}
}

func TestSimulatePrintsItsAddressesAndServes(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	r, w := io.Pipe()
	done := make(chan int, 1)
	go func() {
		done <- run(ctx, []string{"simulate", "--speed", "50"}, stdio{In: strings.NewReader(""), Out: w, Err: io.Discard}, world{now: time.Now})
	}()
	line, err := bufio.NewReader(r).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var at simulator.Addresses
	if err := json.Unmarshal(line, &at); err != nil || at.Evomi == "" || len(at.Sites) == 0 {
		t.Fatalf("%s: %v", line, err)
	}
	s := newShell(t)
	if got := s.run("run", at.Sites[0].URL+"/page", "--robots", "off"); got.code != exitOK {
		t.Errorf("exit %d, %s", got.code, got.err)
	}
	stop()
	if code := <-done; code != exitOK {
		t.Errorf("exit %d", code)
	}
}

func TestDoctor(t *testing.T) {
	_, at := listen(t)
	s := newShell(t)
	got := s.run("doctor", "--offline")
	if got.code != exitOK || !strings.Contains(got.out, "EVOMI_API_KEY is not set") {
		t.Errorf("nothing configured: exit %d, %q", got.code, got.out)
	}
	s.file("scrapetop.toml", "[run]\nprovider = \"evomi\"\n[providers.evomi]\nbase_url = \""+at.Evomi+"\"\n")
	if got := s.run("doctor", "--offline"); got.code != exitBroken || !strings.Contains(got.out, "fail  evomi") {
		t.Errorf("no key: exit %d, %q", got.code, got.out)
	}
	s.env = []string{"EVOMI_API_KEY=" + at.EvomiKey}
	if got := s.run("doctor"); got.code != exitOK || !strings.Contains(got.out, "limit 5, 5 free") || strings.Contains(got.out, at.EvomiKey) {
		t.Errorf("all well: exit %d, %q", got.code, got.out)
	}
	s.env = []string{"EVOMI_API_KEY=wrong"}
	if got := s.run("doctor"); got.code != exitBroken || !strings.Contains(got.out, "refuses the key") {
		t.Errorf("a wrong key: exit %d, %q", got.code, got.out)
	}
	s.env = []string{"OMNISCRAPE_API_KEY=" + at.OmniScrapeKey}
	s.file("scrapetop.toml", "[providers.omniscrape]\nbase_url = \""+at.OmniScrape+"\"\n")
	if got := s.run("doctor"); got.code != exitOK || !strings.Contains(got.out, "ok    omniscrape default key present; reachable in") {
		t.Errorf("a platform that shows by 404 that it takes the key: exit %d, %q", got.code, got.out)
	}
	s.file("scrapetop.toml", "[providers.omniscrape]\nbase_url = \""+at.Control+"/nowhere\"\n")
	if got := s.run("doctor"); got.code != exitBroken || !strings.Contains(got.out, "fail  omniscrape default key present; the platform answered with text that is not JSON (status 404): is the base URL right?") {
		t.Errorf("a wrong base_url: exit %d, %q", got.code, got.out)
	}
	s.file("scrapetop.toml", "[run]\nprovidr = 1\n")
	s.file("scrapetop.db", "this is no database, it only looks like a long text")
	if got := s.run("doctor", "--offline"); got.code != exitBroken || !strings.Contains(got.out, "scrapetop.toml:2: run.providr") || !strings.Contains(got.out, "fail  database") {
		t.Errorf("all ill: exit %d, %q", got.code, got.out)
	}
}

func TestForeignDatabaseIsRefused(t *testing.T) {
	s := newShell(t)
	s.file("scrapetop.db", strings.Repeat("no database ", 100))
	for _, args := range [][]string{{"history"}, {"export"}, {"run", "https://a.test/"}, {"resume"}, {"pause", "domain", "a.test"}} {
		if got := s.run(args...); got.code != exitBroken || !strings.Contains(got.err, "--db") || strings.Count(got.err, "\n") != 1 {
			t.Errorf("%v: exit %d, %q", args, got.code, got.err)
		}
	}
}

func TestRetentionRemovesOldRunsAndNothingWithoutIt(t *testing.T) {
	_, at := listen(t)
	s := newShell(t)
	one := at.Sites[0].URL + "/a"
	for _, name := range []string{"first", "second"} {
		if got := s.run("run", one, "--robots", "off"); got.code != exitOK {
			t.Fatalf("%s: exit %d, %s", name, got.code, got.err)
		}
	}
	if got := s.run("history"); strings.Count(got.out, "finished") != 2 {
		t.Errorf("without retention: %q", got.out)
	}
	s.file("scrapetop.toml", "[retention]\nruns = \"120d\"\ncompact = true\n")
	s.now = func() time.Time { return time.Now().Add(121 * 24 * time.Hour) }
	if got := s.run("run", one, "--robots", "off"); got.code != exitOK {
		t.Fatalf("exit %d, %s", got.code, got.err)
	}
	if got := s.run("history"); strings.Count(got.out, "finished") != 1 {
		t.Errorf("with retention: %q", got.out)
	}
}

func TestPipeWithoutAGoodLineStartsNothing(t *testing.T) {
	s := newShell(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s.in = r
	if _, err := w.WriteString("ftp://a.test/\n"); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got := s.run("run", "-")
	if got.code != exitUsage || !strings.Contains(got.err, "-:1: ") || strings.Count(got.err, "no good line") != 1 {
		t.Errorf("exit %d, %q", got.code, got.err)
	}
	if got := s.run("history"); strings.Contains(got.out, "running") {
		t.Errorf("a run was created: %q", got.out)
	}
}

// TestSitemapWithoutPagesIsUnreadableInput: a run that its input gave nothing to do ended with 0, as if all were well.
func TestSitemapWithoutPagesIsUnreadableInput(t *testing.T) {
	site := httptest.NewServer(http.NotFoundHandler())
	defer site.Close()
	s := newShell(t)
	got := s.run("run", "--sitemap", site.URL+"/sitemap.xml", "--headless", "--summary", "json")
	if got.code != exitUsage || !strings.Contains(got.err, "status 404") || !strings.Contains(got.err, "named no page") {
		t.Errorf("exit %d, %s", got.code, got.err)
	}
	expect(t, summaryOf(t, got), map[string]any{"tasks": 0.0})
}

// TestFailedRunTellsItsSummary: a database that could not be written left scripts without a summary to read.
func TestFailedRunTellsItsSummary(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<h1>page</h1>") }))
	defer site.Close()
	s := newShell(t)
	if got := s.run("run", site.URL+"/a", "--headless", "--robots", "off"); got.code != exitOK {
		t.Fatalf("exit %d, %s", got.code, got.err)
	}
	db, err := sql.Open("sqlite3", filepath.Join(s.dir, defaultDB))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("CREATE TRIGGER broken BEFORE INSERT ON result BEGIN SELECT RAISE(ABORT, 'no more results'); END"); err != nil {
		t.Fatal(err)
	}
	got := s.run("run", site.URL+"/b", "--headless", "--robots", "off", "--summary", "json")
	if got.code != exitBroken {
		t.Errorf("exit %d, %s", got.code, got.err)
	}
	sum := summaryOf(t, got)
	expect(t, sum, map[string]any{"state": "failed", "accepted": 0.0})
	if reason, _ := sum["reason"].(string); !strings.Contains(reason, "no more results") {
		t.Errorf("reason %v", sum["reason"])
	}
}

// TestKeysInCommandsAreNotKept: a command that spells its key out was stored with the run's settings.
func TestKeysInCommandsAreNotKept(t *testing.T) {
	const key = "key-in-command-4711"
	c, err := parseConfig("x.toml", []byte(credential(`key_command = ["printf", "`+key+`"]`)+
		"[[providers.evomi.credentials]]\nname = \"other\"\nkey_command = [\"pass\", \"show\", \"evomi\"]\n"))
	if err != nil {
		t.Fatal(err)
	}
	kept, err := json.Marshal(settings{File: c.keepable("evomi", []engine.Credential{{Name: "main", Key: key}})})
	if err != nil {
		t.Fatal(err)
	}
	if text := string(kept); strings.Contains(text, key) || !strings.Contains(text, `"pass","show","evomi"`) {
		t.Error(text)
	}
	if len(c.Providers["evomi"].Credentials[0].KeyCommand) != 2 {
		t.Error("the file in use has lost its command")
	}
	var again settings
	if err := json.Unmarshal(kept, &again); err != nil {
		t.Fatal(err)
	}
	if err := again.File.check(); err == nil || !strings.Contains(err.Error(), "--config") {
		t.Errorf("a resume without the file says %v", err)
	}
}
