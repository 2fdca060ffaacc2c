package metrics

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"dev.scrapetop/engine/view"
	"dev.scrapetop/ui/screen/sample"
)

// still is a source whose frame never changes.
type still struct{ frame *view.Frame }

func (s still) Frame(view.Query) *view.Frame { return s.frame }

// TestNamesFollowTheConventions: of metrics, their units and types.
func TestNamesFollowTheConventions(t *testing.T) {
	for name, f := range map[string]*view.Frame{"direct": sample.Normal(), "platform": sample.Platform()} {
		problems, err := testutil.CollectAndLint(&collector{still{f}})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, p := range problems {
			t.Errorf("%s: %s: %s", name, p.Metric, p.Text)
		}
	}
}

func scrape(t *testing.T, s Source, path string) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	Handler(s).ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	body, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Code, string(body)
}

// TestMetricsSayWhatTheFrameSays, number by number.
func TestMetricsSayWhatTheFrameSays(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	f := &view.Frame{
		At: at, Run: view.Run{ID: 7, Name: "a\xff\"b\"", Provider: "evomi", State: "running"}, InFlight: 3, Ceiling: 5,
		Counts:  view.Counts{Pending: 10, Dead: 2, Accepted: 4, Records: 5, Requests: 9, Attempts: 8, Retries: 1, Credits: 2.5, Bytes: 1 << 20},
		Layers:  []view.LayerRow{{Layer: "account", Total: 6}, {Layer: "busy", Total: 2}},
		Domains: view.DomainWindow{Rows: []view.DomainRow{{Domain: "a.example", Total429: 3}, {Domain: "b.example"}}},
		Budgets: []view.BudgetRow{
			{Scope: "credential", Key: "main", InFlight: 3, Limit: 5, Stopped: "quota", Refused: view.ByLayer{Account: 6}, Remaining: view.Remaining{Known: true, Remaining: 2}},
			{Scope: "tenant", Key: "acme", InFlight: 1, Refused: view.ByLayer{Target: 3}},
		},
		Cooldowns: []view.CooldownRow{
			{Scope: "credential", Key: "main", Layer: "account", Until: at.Add(40 * time.Second), Full: time.Minute, Announced: true},
			{Scope: "domain", Key: "b.example", Layer: "target", Until: at.Add(-time.Second), Full: time.Second},
		},
		Cooling: 2, QueueOldest: 90 * time.Second, Caps: []view.CapRow{{Name: "credits", Used: 2.5, Limit: 10, Forecast: 1.2}},
		Health: view.Health{StorageLag: 1500 * time.Millisecond, StorageError: "disk full"},
	}
	_, text := scrape(t, still{f}, "/metrics")
	for _, want := range []string{
		`run_info{name="a` + "\uFFFD" + `\"b\"",provider="evomi",run="7",state="running"} 1`,
		`tasks{state="pending"} 10`, `tasks{state="dead"} 2`, `accepted_total 4`, `records_total 5`, `requests_total 9`, `attempts_total 8`,
		`retries_total 1`, `credits_total 2.5`, `received_bytes_total 1.048576e+06`, `in_flight 3`, `in_flight_limit 5`,
		`refusals_total{layer="account"} 6`, `busy_total 2`, `domain_refusals_total{domain="a.example"} 3`,
		`budget_refusals_total{key="main",layer="account",scope="credential"} 6`, `budget_refusals_total{key="acme",layer="target",scope="tenant"} 3`,
		`budget_in_flight{key="main",scope="credential"} 3`, `budget_limit{key="main",scope="credential"} 5`,
		`budget_remaining{key="main",scope="credential"} 2`, `budget_stopped{key="main",scope="credential"} 1`,
		`cooldowns 2`, `cooldown_seconds{key="main",layer="account",scope="credential"} 40`,
		`cooldown_seconds{key="b.example",layer="target",scope="domain"} 0`, `retry_after_seconds{key="main",layer="account",scope="credential"} 60`,
		`queue_oldest_seconds 90`, `cap_used{cap="credits"} 2.5`, `cap_limit{cap="credits"} 10`, `cap_forecast_ratio{cap="credits"} 1.2`,
		`storage_lag_seconds 1.5`, `storage_failed 1`,
	} {
		if !strings.Contains(text, "\nscrapetop_"+want+"\n") {
			t.Errorf("no line scrapetop_%s", want)
		}
	}
	for _, not := range []string{`domain="b.example"}`, `budget_limit{key="acme"`, `budget_stopped{key="acme"`, `retry_after_seconds{key="b.example"`, `layer="busy"`} {
		if strings.Contains(text, not) {
			t.Errorf("there is a series with %s", not)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

// TestNothingIsToldBeforeTheFirstFrame but the process.
func TestNothingIsToldBeforeTheFirstFrame(t *testing.T) {
	code, text := scrape(t, still{}, "/metrics")
	if code != 200 || strings.Contains(text, "scrapetop_") || !strings.Contains(text, "process_open_fds") {
		t.Errorf("%d: %s", code, text)
	}
}

func TestHealth(t *testing.T) {
	frame := func(state, reason, storage string) *view.Frame {
		return &view.Frame{Run: view.Run{ID: 7, State: state, Reason: reason}, Health: view.Health{StorageError: storage}}
	}
	for _, c := range []struct {
		frame *view.Frame
		code  int
		text  string
	}{
		{nil, 503, "the run has not begun"},
		{frame("running", "", ""), 200, "run 7 is running"},
		{frame("paused", "", ""), 200, "run 7 is paused"},
		{frame("finished", "", ""), 200, "run 7 is finished"},
		{frame("failed", "the key is refused", ""), 503, "run 7 failed: the key is refused"},
		{frame("running", "", "disk full"), 503, "results cannot be written: disk full"},
	} {
		if code, text := scrape(t, still{c.frame}, "/healthz"); code != c.code || text != c.text+"\n" {
			t.Errorf("%d %q, want %d %q", code, text, c.code, c.text)
		}
	}
}

// many is a source with more domains than are told.
type many struct{ asked *view.Query }

func (m many) Frame(q view.Query) *view.Frame {
	*m.asked = q
	f := &view.Frame{}
	for i := range min(q.Limit, 5000) {
		f.Domains.Rows = append(f.Domains.Rows, view.DomainRow{Domain: fmt.Sprintf("d%d.example", i), Total429: 1})
	}
	return f
}

// TestDomainsAreBounded: a run over a hundred thousand domains does not drown who reads its metrics.
func TestDomainsAreBounded(t *testing.T) {
	var asked view.Query
	if n := testutil.CollectAndCount(&collector{many{&asked}}, "scrapetop_domain_refusals_total"); n != mostDomains || asked.Sort != view.SortAll429 || asked.Reverse {
		t.Errorf("%d domains are told of %+v", n, asked)
	}
}

// TestGrafanaAsksForWhatThereIs: the dashboard in the tree is made of metrics that exist, and shows the most important ones.
func TestGrafanaAsksForWhatThereIs(t *testing.T) {
	text, err := os.ReadFile("../../.github/grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(&collector{still{sample.Platform()}})
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var there []string
	for _, f := range families {
		there = append(there, f.GetName())
	}
	there = append(there, "scrapetop_domain_refusals_total", "scrapetop_retry_after_seconds", "scrapetop_cooldown_seconds", "scrapetop_budget_stopped") // as the run has it
	var shown []string
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			names := regexp.MustCompile(`scrapetop_[a-z0-9_]+`).FindAllString(target.Expr, -1)
			if len(names) == 0 {
				t.Errorf("%s: %q asks for nothing of ours", p.Title, target.Expr)
			}
			for _, n := range names {
				if !slices.Contains(there, n) {
					t.Errorf("%s: there is no %s", p.Title, n)
				}
			}
			shown = append(shown, names...)
		}
	}
	for _, want := range []string{"scrapetop_refusals_total", "scrapetop_domain_refusals_total", "scrapetop_budget_refusals_total", "scrapetop_retry_after_seconds",
		"scrapetop_cooldowns", "scrapetop_queue_oldest_seconds", "scrapetop_in_flight", "scrapetop_attempts_total", "scrapetop_accepted_total", "scrapetop_credits_total"} {
		if !slices.Contains(shown, want) {
			t.Errorf("no panel shows %s", want)
		}
	}
}
