package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"dev.scrapetop/engine/simulator"
)

// TestTwoProcessesShareOneKey runs the compiled program twice on one database and one key of the simulator, which lets five
// at once: together they are never more, both get on, and when one is killed the other has all five.
func TestTwoProcessesShareOneKey(t *testing.T) {
	dir, binary := built(t)
	world := simulator.New(simulator.Options{Speed: 4})
	at, err := world.Listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	config := "[[providers.evomi.credentials]]\nname = \"main\"\nkey_env = \"EVOMI_API_KEY\"\nmin_gap = \"5ms\"\n" // the limit is to bind, not the gap
	if err := os.WriteFile(filepath.Join(dir, "scrapetop.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	said := map[string]*spoken{}
	begin := func(site string) *exec.Cmd {
		list := filepath.Join(dir, site+".txt")
		var text strings.Builder
		for i := range 20_000 {
			fmt.Fprintf(&text, "http://%s/p/%d\n", site, i)
		}
		if err := os.WriteFile(list, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(binary, "run", list, "--db", filepath.Join(dir, "shared.db"), "--headless", "--provider", "evomi", "--base-url", at.Evomi)
		cmd.Env = append(os.Environ(), "EVOMI_API_KEY="+at.EvomiKey)
		cmd.Dir = dir
		said[site] = &spoken{}
		cmd.Stderr = said[site]
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill() // it may have been killed before
			_ = cmd.Wait()
			if t.Failed() {
				t.Logf("%s: %s", site, said[site].all())
			}
		})
		return cmd
	}
	counters := func() (c simulator.Counters) {
		t.Helper()
		r, err := http.Get(at.Control)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		if err := json.NewDecoder(r.Body).Decode(&c); err != nil {
			t.Fatal(err)
		}
		return c
	}
	within := func(limit time.Duration, what string, ok func(simulator.Counters) bool) {
		t.Helper()
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for end := time.Now().Add(limit); !ok(counters()); <-tick.C {
			if time.Now().After(end) {
				t.Fatalf("%s: not within %v: %+v", what, limit, counters().Evomi)
			}
		}
	}
	accepted := func(c simulator.Counters, site string) int64 { return c.Sites[site].Accepted }
	has := func(site string, n int) func(simulator.Counters) bool {
		from := len(said[site].all())
		return func(simulator.Counters) bool {
			return strings.Contains(said[site].all()[from:], fmt.Sprintf("in flight %d ", n))
		}
	}
	const one, two = "books.example", "garden.example"
	first := begin(one)
	within(20*time.Second, "the first alone has all five", has(one, 5))
	begin(two)
	within(20*time.Second, "the second gets on", func(c simulator.Counters) bool { return accepted(c, two) >= 20 })
	was := accepted(counters(), one)
	within(20*time.Second, "the first goes on", func(c simulator.Counters) bool { return accepted(c, one) >= was+20 })
	within(20*time.Second, "the second has its part", has(two, 2))
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	// The platform itself counts what was cut off for a while.
	within(40*time.Second, "the share of the killed one comes back", has(two, 5))
	if c := counters().Evomi.Keys["demo"]; c.PeakInFlight > 5 || c.Refused > 0 || c.SentDuringWait > 0 {
		t.Errorf("together they passed the limit: %+v", c)
	}
}

// built is a folder and the compiled program in it.
func built(t *testing.T) (dir, binary string) {
	t.Helper()
	dir = t.TempDir()
	binary = filepath.Join(dir, "scrapetop")
	if out, err := exec.Command("go", "build", "-o", binary, "../..").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return dir, binary
}

// TestCooldownIsSeenByTheOtherProcess: a site refuses one request of one process with a wait; 250 ms later neither asks it
// any more.
func TestCooldownIsSeenByTheOtherProcess(t *testing.T) {
	dir, binary := built(t)
	var mu sync.Mutex
	served := map[string]int{} // by process, told by the path
	var refusedAt time.Time
	late := 0
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		who := strings.Split(r.URL.Path, "/")[1]
		switch {
		case !refusedAt.IsZero():
			if time.Since(refusedAt) > 250*time.Millisecond {
				late++
			}
		case served["a"] >= 20 && served["b"] >= 20:
			refusedAt = time.Now()
			w.Header().Set("Retry-After", "20")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		default:
			served[who]++
		}
		fmt.Fprint(w, "<html>page</html>")
	}))
	defer site.Close()
	for _, name := range []string{"a", "b"} {
		list := filepath.Join(dir, name+".txt")
		var text strings.Builder
		for i := range 20_000 {
			fmt.Fprintf(&text, "%s/%s/%d\n", site.URL, name, i)
		}
		if err := os.WriteFile(list, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		said := &spoken{}
		cmd := exec.Command(binary, "run", list, "--db", filepath.Join(dir, "shared.db"), "--headless", "--robots", "off", "--domain-rate", "40/s")
		cmd.Stderr = said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() {
			_ = cmd.Process.Kill() // it runs until then
			_ = cmd.Wait()
			if t.Failed() {
				t.Logf("%s: %s", name, said.all())
			}
		}()
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for begun := time.Now(); ; <-tick.C {
		mu.Lock()
		at, n, each := refusedAt, late, fmt.Sprint(served)
		mu.Unlock()
		if n > 0 {
			t.Fatalf("%d requests more than 250 ms after the refusal", n)
		}
		if !at.IsZero() && time.Since(at) > 3*time.Second {
			return
		}
		if time.Since(begun) > 30*time.Second {
			t.Fatalf("the site was not asked by both: %s", each)
		}
	}
}

// spoken is what a program has printed so far.
type spoken struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *spoken) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *spoken) all() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}
