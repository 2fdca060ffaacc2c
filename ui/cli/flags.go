package cli

import (
	"strings"
	"time"

	"dev.scrapetop/engine"

	"github.com/spf13/pflag"
)

// globals are the flags of every command.
type globals struct {
	db      string
	config  string
	theme   string
	noColor bool
	ascii   bool
}

const defaultDB = "scrapetop.db"

func (g *globals) register(f *pflag.FlagSet) {
	g.db = defaultDB
	f.StringVar(&g.db, "db", g.db, "the database `FILE`")
	f.StringVar(&g.config, "config", "", "the config `FILE` (default scrapetop.toml here, then in the config folder)")
	f.StringVar(&g.theme, "theme", "", "colour theme `NAME`, or the path of its file")
	f.BoolVar(&g.noColor, "no-color", false, "no colours (also NO_COLOR)")
	f.BoolVar(&g.ascii, "ascii", false, "draw with ASCII signs only")
}

var resubmitWords = []string{"after_lookup", "never"}

// runFlags are the flags of run, resume and demo. A zero number or span means that none was given.
type runFlags struct {
	provider          string
	headless          bool
	plain             bool // headless, told in words, with commands
	summary           string
	maxInFlight       int
	rate              engine.Rate
	domainMaxInFlight int
	domainRate        engine.Rate
	maxAttempts       int
	deadline          time.Duration
	runDeadline       time.Duration
	maxWait           time.Duration
	maxWaitGiven      *parsed[time.Duration]
	maxCredits        float64
	maxRequests       int64
	maxBody           int64
	sitemaps          []string
	timeout           time.Duration
	tenant            string
	baseURL           string
	robots            string
	maxAge            time.Duration
	async             bool
	batch             int
	crawl             bool
	set               []string
	inputFormat       string
	anew              bool
	resubmitUnknown   string
	resubmitLost      bool
	metrics           string
}

func (r *runFlags) register(f *pflag.FlagSet) {
	r.provider, r.summary, r.inputFormat = "direct", "text", "auto"
	f.Var(newParsed(&r.provider, "NAME", r.provider, oneOf(providerNames()...)), "provider", "who fetches: "+strings.Join(providerNames(), ", "))
	f.BoolVar(&r.headless, "headless", false, "no dashboard: progress on stderr, the summary on stdout")
	f.BoolVar(&r.plain, "plain", false, "no dashboard: lines of words on stdout, commands as words from stdin")
	f.Var(newParsed(&r.summary, "text|json", r.summary, oneOf("text", "json")), "summary", "form of the closing summary")
	f.Var(newParsed(&r.maxInFlight, "N", "", parseCount), "max-in-flight", "simultaneous requests of the whole program (default 64)")
	f.Var(newParsed(&r.rate, "R", "", parseRate), "rate", "request starts of the whole program, e.g. 20/s, 300/15m")
	f.Var(newParsed(&r.domainMaxInFlight, "N", "", parseCount), "domain-max-in-flight", "simultaneous requests for each domain")
	f.Var(newParsed(&r.domainRate, "R", "", parseRate), "domain-rate", "request starts for each domain")
	f.Var(newParsed(&r.maxAttempts, "N", "", parseCount), "max-attempts", "tries of a task before it is dead-lettered (default 8)")
	f.Var(newParsed(&r.deadline, "D", "", parsePositiveSpan), "deadline", "time of a task from its first try (default 6h)")
	f.Var(newParsed(&r.runDeadline, "D", "", parseSpan), "run-deadline", "time of the whole run, then it drains (default none)")
	r.maxWaitGiven = newParsed(&r.maxWait, "D", "", parseSpan)
	f.Var(r.maxWaitGiven, "max-wait", "longest idle spell when all that is left waits, 0: none (default 1h headless)")
	f.Var(newParsed(&r.maxCredits, "N", "", parseAmount), "max-credits", "cap on the credits of the run")
	f.Var(newParsed(&r.maxRequests, "N", "", parseCount64), "max-requests", "cap on the requests of the run")
	f.Var(newParsed(&r.maxBody, "SIZE", "", parseSize), "max-body", "largest body, decoded (default 10MiB)")
	f.Var(&list{&r.sitemaps, "URL"}, "sitemap", "add the URLs of a sitemap or sitemap index; repeatable")
	f.Var(newParsed(&r.timeout, "D", "", parsePositiveSpan), "timeout", "one HTTP exchange (default 30s direct, 120s platforms)")
	f.StringVar(&r.tenant, "tenant", "", "tenant `NAME` of tasks that name none")
	f.Var(newParsed(&r.baseURL, "URL", "", parseBase), "base-url", "the provider's base address")
	f.Var(newParsed(&r.robots, "on|off", "", oneOf("on", "off")), "robots", "obey robots.txt (default on for direct, off for platforms)")
	f.Var(newParsed(&r.maxAge, "D", "", parseSpan), "max-age", "reuse accepted results younger than this (default off)")
	f.BoolVar(&r.async, "async", false, "evomi, omniscrape: submit and poll instead of holding a connection")
	f.Var(newParsed(&r.batch, "N", "", parseCount), "batch", "spidra: URLs of a batch at most (default 50; 1: single scrapes)")
	f.BoolVar(&r.crawl, "crawl", false, "spidra: each URL is the root of a platform crawl")
	f.Var(&list{&r.set, "KEY=VALUE"}, "set", "request field of the platform, of the type that it documents (lists: a,b); repeatable")
	f.Var(newParsed(&r.inputFormat, "FORMAT", r.inputFormat, oneOf(inputFormats...)), "input-format", "format of the inputs: auto, text, csv, jsonl, sitemap")
	f.BoolVar(&r.anew, "new", false, "start a new run although one of the same input is unfinished")
	f.Var(newParsed(&r.resubmitUnknown, "WORD", "", oneOf(resubmitWords...)), "resubmit-unknown", "a paid submit whose answer never came: after_lookup, never")
	f.StringVar(&r.metrics, "metrics", "", "serve Prometheus metrics and /healthz on `ADDRESS`, e.g. 127.0.0.1:9464")
	f.BoolVar(&r.resubmitLost, "resubmit-lost", false, "submit again what the platform lost (costs again)")
}

// notStored are flags that belong to one sitting, not to the run: resume takes them anew.
var notStored = map[string]bool{
	"db": true, "config": true, "theme": true, "no-color": true, "ascii": true, "headless": true, "plain": true, "summary": true, "new": true, "sitemap": true,
	"input-format": true, "metrics": true,
}
