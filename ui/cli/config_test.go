package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"dev.scrapetop/engine"

	"github.com/spf13/pflag"
)

// TestBadConfigs reads each file of testdata/badconfigs: its first line tells what the message has to hold after the
// file's name.
func TestBadConfigs(t *testing.T) {
	files, err := filepath.Glob("testdata/badconfigs/*.toml")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".toml"), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			line, _, _ := strings.Cut(string(text), "\n")
			want := strings.TrimPrefix(line, "# want: ")
			_, err = loadConfig(path)
			if err == nil {
				t.Fatal("it is accepted")
			}
			if !strings.HasPrefix(err.Error(), "config "+path+":") || !strings.Contains(err.Error(), want) {
				t.Errorf("%q does not hold %q", err, want)
			}
			for _, never := range []string{"hunter2", "\n", "cli.", "struct"} {
				if strings.Contains(err.Error(), never) {
					t.Errorf("%q holds %q", err, never)
				}
			}
		})
	}
}

const wholeConfig = "\ufeff" + `
theme = "light"

[run]
provider = "evomi"
max_in_flight = 16
rate = "300/15m"
deadline = "6h"
max_credits = 12.5
headless = true
sitemap = ["https://a.test/1.xml", "https://a.test/2.xml"]

[providers.evomi]
base_url = "https://scrape.example/"
options = { mode = "request", proxy_type = "datacenter", block_resources = ["image", "font"] }
resubmit_unknown = "never"

[[providers.evomi.credentials]]
name = "main"
key_env = "MY_KEY"
account = "acme-plan"
tenants = ["acme"]
min_gap = "50ms"
max_in_flight = 5

[[providers.evomi.credentials]]
name = "spare"
key_env = "SPARE_KEY"

[providers.direct]
user_agent = "acme-bot/1.0"
headers = { accept-language = "en", cookie = "session=hunter2" }

[tenants.acme]
max_in_flight = 10
max_credits = 5000

[domains."Shop.Example"]
rate = "2/s"
max_in_flight = 2

[validate]
min_bytes = 200
must_match = "(?i)</html>"
must_not_match = "captcha|are you a robot"
select = "h1"

[extract]
title = "h1"
links = ["a@href"]

[retention]
runs = "120d"

[privacy]
samples = false
`

// settled reads a config and flags as run does.
func settled(t *testing.T, config string, env []string, args ...string) (*app, *runFlags) {
	t.Helper()
	file, err := parseConfig("scrapetop.toml", []byte(config))
	if err != nil {
		t.Fatal(err)
	}
	a := &app{env: environment(env), file: file, given: map[string][]string{}}
	r := &runFlags{}
	flags := pflag.NewFlagSet("run", pflag.ContinueOnError)
	r.register(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	if err := a.settle(flags, file.Run, "run", "SCRAPETOP_"); err != nil {
		t.Fatal(err)
	}
	return a, r
}

func TestWholeConfigReachesTheEngine(t *testing.T) {
	a, r := settled(t, wholeConfig, []string{"MY_KEY=k1", "SPARE_KEY= k2\n"})
	cfg, err := a.engineConfig(r)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err = a.withKeys(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][2]any{
		"provider":        {cfg.Provider, "evomi"},
		"base":            {cfg.BaseURL, "https://scrape.example"},
		"in flight":       {cfg.MaxInFlight, 16},
		"rate":            {cfg.Rate, engine.Rate{N: 300, Per: 15 * time.Minute}},
		"deadline":        {cfg.Deadline, 6 * time.Hour},
		"credits":         {cfg.MaxCredits, 12.5},
		"headless wait":   {cfg.MaxWait, time.Hour},
		"robots":          {cfg.Robots, false},
		"option":          {cfg.Options["mode"], "request"},
		"list option":     {cfg.Options["block_resources"], []any{"image", "font"}},
		"resubmit":        {cfg.ResubmitUnknown, false},
		"samples":         {cfg.NoSamples, true},
		"tenant":          {cfg.Tenants["acme"], engine.Ceilings{MaxInFlight: 10, MaxCredits: 5000}},
		"domain":          {cfg.Domains["shop.example"], engine.Ceilings{MaxInFlight: 2, Rate: engine.Rate{N: 2, Per: time.Second}}},
		"bytes":           {cfg.Rules.MinBytes, 200},
		"extract":         {cfg.Rules.Extract["title"].CSS, "h1"},
		"extract all":     {cfg.Rules.Extract["links"].Many, true},
		"sitemaps":        {r.sitemaps, []string{"https://a.test/1.xml", "https://a.test/2.xml"}},
		"credential":      {cfg.Credentials[0], engine.Credential{Name: "main", Key: "k1", Account: "acme-plan", Tenants: []string{"acme"}, MinGap: 50 * time.Millisecond, MaxInFlight: 5}},
		"own account":     {cfg.Credentials[1], engine.Credential{Name: "spare", Key: "k2", Account: "spare"}},
		"file's own path": {a.file.path, "scrapetop.toml"},
	}
	for name, pair := range want {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			t.Errorf("%s is %v, want %v", name, pair[0], pair[1])
		}
	}
}

func TestKeptSettingsHoldNoSecret(t *testing.T) {
	a, r := settled(t, wholeConfig, []string{"MY_KEY=hunter2", "SPARE_KEY=hunter2"})
	if _, err := a.engineConfig(r); err != nil {
		t.Fatal(err)
	}
	kept, err := json.Marshal(settings{Flags: a.keptFlags(), File: a.file})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(kept), "hunter2") || strings.Contains(string(kept), "cookie") {
		t.Errorf("a secret is kept: %s", kept)
	}
	var again settings
	if err := json.Unmarshal(kept, &again); err != nil {
		t.Fatal(err)
	}
	if err := again.File.check(); err != nil {
		t.Errorf("what was kept is not accepted again: %v", err)
	}
	b := &app{file: again.File, given: map[string][]string{}}
	flags := pflag.NewFlagSet("run", pflag.ContinueOnError)
	r2 := &runFlags{}
	r2.register(flags)
	if err := b.settleKeptFile(flags); err != nil {
		t.Fatal(err)
	}
	if r2.maxInFlight != 16 || r2.headless || len(r2.sitemaps) != 0 {
		t.Errorf("in flight %d, headless %v, sitemaps %v", r2.maxInFlight, r2.headless, r2.sitemaps)
	}
}

// TestPlansReachTheEngine: limits of a plan are keys of the provider and no request fields.
func TestPlansReachTheEngine(t *testing.T) {
	config := "[providers.spidra]\nrate_limit = 1000\nrate_window = \"1h\"\npending = { scrape = 20, batch = 100, crawl = 2 }\n[providers.omniscrape]\nworst_price = 0.02\n"
	for name, want := range map[string]engine.Plan{
		"spidra":     {Rate: engine.Rate{N: 1000, Per: time.Hour}, PendingScrapes: 20, PendingBatches: 100, PendingCrawls: 2},
		"omniscrape": {WorstPrice: 0.02},
		"evomi":      {},
	} {
		a, r := settled(t, config, nil, "--provider", name)
		cfg, err := a.engineConfig(r)
		if err != nil || cfg.Plan != want || len(cfg.Options) != 0 {
			t.Errorf("%s: %+v, options %v, %v", name, cfg.Plan, cfg.Options, err)
		}
		kept, err := json.Marshal(a.file.keepable(name, nil))
		if err != nil {
			t.Fatal(err)
		}
		again := &configFile{}
		if err := json.Unmarshal(kept, again); err != nil {
			t.Fatal(err)
		}
		if plan, err := again.plan(name); err != nil || plan != want {
			t.Errorf("%s, kept with a run: %+v, %v", name, plan, err)
		}
	}
}

func TestFlagsWinOverEnvironmentOverFile(t *testing.T) {
	config := "[run]\nmax_attempts = 2\nrate = \"1/s\"\ntenant = \"file\"\nasync = true\n"
	a, r := settled(t, config, []string{"SCRAPETOP_RATE=2/s", "SCRAPETOP_TENANT=env", "SCRAPETOP_SITEMAP=http://a.test/ http://b.test/"},
		"--tenant", "flag", "--max-wait=0")
	if r.maxAttempts != 2 || r.rate.N != 2 || r.tenant != "flag" || !r.async || len(r.sitemaps) != 2 {
		t.Errorf("attempts %d, rate %v, tenant %q, async %v, sitemaps %v", r.maxAttempts, r.rate, r.tenant, r.async, r.sitemaps)
	}
	kept := a.keptFlags()
	if len(kept) != 3 || kept["rate"][0] != "2/s" || kept["tenant"][0] != "flag" || kept["max-wait"][0] != "0" {
		t.Errorf("kept %v", kept)
	}
	r.headless = true
	cfg, err := a.engineConfig(&runFlags{provider: "direct", headless: true, maxWaitGiven: r.maxWaitGiven})
	if err != nil || cfg.MaxWait != 0 {
		t.Errorf("a wait of 0 by hand is %v, %v", cfg.MaxWait, err)
	}
}

func TestResumeTakesOverWhatWasGiven(t *testing.T) {
	a, r := settled(t, "[run]\nrate = \"9/s\"\nmax_attempts = 4\n", nil, "--tenant", "now")
	flags := pflag.NewFlagSet("run", pflag.ContinueOnError)
	r.register(flags)
	if err := a.settle(flags, a.file.Run, "run", "SCRAPETOP_"); err != nil {
		t.Fatal(err)
	}
	err := a.takeOver(flags, settings{Flags: map[string][]string{"rate": {"1/s"}, "tenant": {"then"}, "set": {"mode=request", "a=b"}, "gone": {"x"}}}, "evomi")
	if err != nil {
		t.Fatal(err)
	}
	if r.rate.N != 1 || r.maxAttempts != 4 || r.provider != "evomi" || len(r.set) != 2 || a.given["tenant"][0] != "now" {
		t.Errorf("rate %v, attempts %d, provider %s, set %v, tenant %v", r.rate, r.maxAttempts, r.provider, r.set, a.given["tenant"])
	}
}

func TestEveryRunFlagCanBeSetInTheFile(t *testing.T) {
	samples := map[string]any{"N": int64(3), "R": "1/s", "D": "5m", "SIZE": "1MiB", "URL": "https://a.test", "NAME": "evomi", "text|json": "json",
		"on|off": "off", "FORMAT": "csv", "WORD": "never", "KEY=VALUE": []any{"a=b"}, "bool": true, "string": "x"}
	flags := pflag.NewFlagSet("run", pflag.ContinueOnError)
	new(runFlags).register(flags)
	seen := 0
	flags.VisitAll(func(f *pflag.Flag) {
		seen++
		v, ok := samples[f.Value.Type()]
		if !ok {
			t.Errorf("no sample for %s of kind %s", f.Name, f.Value.Type())
			return
		}
		c := &configFile{Run: map[string]any{strings.ReplaceAll(f.Name, "-", "_"): v}}
		if err := c.checkRunTable(); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
	})
	if seen < 20 {
		t.Errorf("only %d flags", seen)
	}
}

func TestSelectorsNeedAPage(t *testing.T) {
	a, r := settled(t, "[extract]\ntitle = \"h1\"\n\n[providers.evomi]\noptions = { content = \"markdown\" }\n", nil, "--provider", "evomi")
	if _, err := a.engineConfig(r); err == nil || !strings.Contains(err.Error(), "scrapetop.toml:1: extract: selectors need a page") {
		t.Errorf("got %v", err)
	}
}

func TestDirectForOnceIgnoresThePlatformsSettings(t *testing.T) {
	config := "[run]\nprovider = \"evomi\"\nasync = true\nset = [\"mode=request\"]\nbase_url = \"https://a.test\"\n"
	a, r := settled(t, config, nil, "--provider", "direct")
	cfg, err := a.engineConfig(r)
	if err != nil || cfg.Async || cfg.BaseURL != "" || len(cfg.Options) != 0 || !cfg.Robots {
		t.Errorf("%+v, %v", cfg, err)
	}
	a, r = settled(t, config, nil, "--provider", "direct", "--async")
	if _, err := a.engineConfig(r); err == nil || !strings.Contains(err.Error(), "--async is for platforms") {
		t.Errorf("by hand: %v", err)
	}
}

func TestOptionValues(t *testing.T) {
	got, err := options("evomi", map[string]any{"mode": "auto", "kept": true}, []string{"proxy_session_id=123456", "block_resources=image,font", "wait_seconds=5", `additional_headers={"a":"b"}`,
		"mode=request", "n=5", "on=true", `list=["a","b"]`, `text="5"`, "empty=", "eq=a=b", "big=12345678901234567890"})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"proxy_session_id": "123456", "block_resources": []string{"image", "font"}, "wait_seconds": 5, "additional_headers": map[string]any{"a": "b"},
		"mode": "request", "kept": true, "n": json.Number("5"), "on": true, "list": []any{"a", "b"}, "text": "5", "empty": "",
		"eq": "a=b", "big": json.Number("12345678901234567890")}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
	for pair, why := range map[string]string{"wait_seconds=soon": "takes a whole number", "include_content=yes": "takes true or false", "additional_headers=a": "takes a JSON object"} {
		if _, err := options("evomi", nil, []string{pair}); err == nil || !strings.Contains(err.Error(), why) || !strings.Contains(err.Error(), "--set "+pair) {
			t.Errorf("%s: %v", pair, err)
		}
	}
	if got, err := options("spidra", nil, []string{"maxPages=20", "includePaths=/a,/b", "useProxy=true", "prompt=5", "wait_seconds=soon"}); err != nil ||
		!reflect.DeepEqual(got, map[string]any{"maxPages": 20, "includePaths": []string{"/a", "/b"}, "useProxy": true, "prompt": "5", "wait_seconds": "soon"}) {
		t.Errorf("spidra: %v, %v", got, err)
	}
}

func TestConfigIsLookedForInOrder(t *testing.T) {
	s := newShell(t)
	s.configs = []string{filepath.Join(s.dir, "home")}
	if err := os.Mkdir(s.configs[0], 0o700); err != nil {
		t.Fatal(err)
	}
	wrong := "[run]\nwrong = 1\n"
	s.file("home/scrapetop.toml", wrong)
	if got := s.run("history"); !strings.Contains(got.err, "home/scrapetop.toml:2") {
		t.Errorf("the config folder: %q", got.err)
	}
	s.file("scrapetop.toml", wrong)
	if got := s.run("history"); !strings.Contains(got.err, "config scrapetop.toml:2") {
		t.Errorf("the working folder: %q", got.err)
	}
	s.env = []string{"SCRAPETOP_CONFIG=" + s.file("env.toml", wrong)}
	if got := s.run("history"); !strings.Contains(got.err, "env.toml:2") {
		t.Errorf("the variable: %q", got.err)
	}
	if got := s.run("history", "--config", s.file("flag.toml", wrong)); !strings.Contains(got.err, "flag.toml:2") {
		t.Errorf("the flag: %q", got.err)
	}
	if got := s.run("history", "--config", "none.toml"); got.code != exitBroken || !strings.Contains(got.err, "none.toml") {
		t.Errorf("a file that is not there: exit %d, %q", got.code, got.err)
	}
}

func FuzzConfig(f *testing.F) {
	f.Add(wholeConfig)
	f.Add("[a.b]\nc={d=1}\n[[a.e]]\n[[a.e]]\nf.g=1\n")
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := parseConfig("x.toml", []byte(text)); err != nil && !strings.HasPrefix(err.Error(), "config x.toml") {
			t.Errorf("the error does not name the file: %v", err)
		}
		for key, line := range keyLines([]byte(text)) {
			if line < 1 || line > strings.Count(text, "\n")+1 {
				t.Errorf("%q is on line %d", key, line)
			}
		}
	})
}
