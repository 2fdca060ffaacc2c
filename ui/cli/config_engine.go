package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"dev.scrapetop/engine"
)

// defaultMaxWait is how long a run without anybody before the screen sits idle because all that is left waits.
const defaultMaxWait = time.Hour

// settings are what a run keeps for resume. They hold no secret: no key, no header of direct.
type settings struct {
	Flags  map[string][]string `json:"flags"` // given by hand or environment when the run was created
	File   *configFile         `json:"file"`  // used by a resume that finds no config file
	Inputs []inputMark         `json:"inputs"`
	Demo   *demoWorld          `json:"demo,omitempty"` // the run is of a simulated world and never leaves it
}

// keepable is the file as it may be kept with a run: the tables of its provider and of direct, whose manners sitemaps are
// fetched with, and no command that spells out a key.
func (c *configFile) keepable(provider string, creds []engine.Credential) *configFile {
	kept := *c
	kept.Providers = map[string]providerTable{}
	for name, table := range c.Providers {
		if name != provider && name != "direct" {
			continue
		}
		table.Credentials = slices.Clone(table.Credentials)
		for i := range table.Credentials {
			command := &table.Credentials[i].KeyCommand
			if slices.ContainsFunc(*command, func(arg string) bool {
				return slices.ContainsFunc(creds, func(c engine.Credential) bool { return c.Key != "" && strings.Contains(arg, c.Key) })
			}) {
				*command = nil
			}
		}
		kept.Providers[name] = table
	}
	return &kept
}

// engineConfig puts together what the run is driven by, without its keys.
func (a *app) engineConfig(r *runFlags) (engine.Config, error) {
	c := a.file
	table := c.Providers[r.provider]
	cfg := engine.Config{
		Provider:          r.provider,
		BaseURL:           r.baseURL,
		Async:             r.async || table.Async != nil && *table.Async,
		Batch:             r.batch,
		Crawl:             r.crawl,
		MaxInFlight:       r.maxInFlight,
		Rate:              r.rate,
		DomainMaxInFlight: r.domainMaxInFlight,
		DomainRate:        r.domainRate,
		MaxAttempts:       r.maxAttempts,
		Deadline:          r.deadline,
		RunDeadline:       r.runDeadline,
		MaxWait:           r.maxWait,
		MaxCredits:        r.maxCredits,
		MaxRequests:       r.maxRequests,
		MaxBody:           r.maxBody,
		Timeout:           r.timeout,
		MaxAge:            r.maxAge,
		Robots:            r.provider == "direct",
		Headless:          r.headless,
		UserAgent:         table.UserAgent,
		Header:            headerOf(table.Headers),
		ResubmitUnknown:   true,
		ResubmitLost:      r.resubmitLost || table.ResubmitLost != nil && *table.ResubmitLost,
		NoSamples:         c.Privacy.Samples != nil && !*c.Privacy.Samples,
	}
	if cfg.BaseURL == "" && table.BaseURL != "" {
		cfg.BaseURL, _ = parseBase(table.BaseURL) // checked with the file
	}
	if r.robots != "" {
		cfg.Robots = r.robots == "on"
	}
	if r.headless && r.maxWaitGiven.text == "" {
		cfg.MaxWait = defaultMaxWait
	}
	if word := first(r.resubmitUnknown, table.ResubmitUnknown); word == "never" {
		cfg.ResubmitUnknown = false
	}
	var err error
	if cfg.Plan, err = c.plan(r.provider); err != nil {
		return cfg, err
	}
	if cfg.Options, err = options(r.provider, table.Options, r.set); err != nil {
		return cfg, err
	}
	if cfg.Tenants, err = c.ceilings("tenants", c.Tenants); err != nil {
		return cfg, err
	}
	if cfg.Domains, err = c.domainCeilings(); err != nil {
		return cfg, err
	}
	if cfg.Rules, err = c.rules(); err != nil {
		return cfg, err
	}
	return cfg, a.checkTogether(r, &cfg)
}

// checkTogether refuses what is right alone and wrong in company.
func (a *app) checkTogether(r *runFlags, cfg *engine.Config) error {
	if r.provider == "direct" {
		for _, flag := range []string{"set", "base-url", "async", "batch", "crawl"} {
			if _, byHand := a.given[flag]; byHand {
				return usage("--%s is for platforms, direct has no use for it; choose a platform with --provider", flag)
			}
		}
		// What the file sets for the platform it names is no fault of somebody who goes direct for once.
		cfg.Options, cfg.BaseURL, cfg.Async = nil, "", false
	}
	for flag, takes := range map[string]bool{"batch": r.provider == engine.Spidra, "crawl": r.provider == engine.Spidra, "async": r.provider != engine.Spidra} {
		if _, byHand := a.given[flag]; byHand && !takes {
			return usage("--%s is not for provider %s", flag, r.provider)
		}
	}
	if _, err := engine.NewProvider(*cfg); err != nil {
		if len(r.set) > 0 {
			return usage("%w", err)
		}
		return broken("%w", err)
	}
	kind := pageless(r.provider, cfg.Options)
	if selects := cfg.Rules.Select != "" || len(cfg.Rules.Extract) > 0; selects && kind != "" {
		key := "validate.select"
		if len(cfg.Rules.Extract) > 0 {
			key = "extract"
		}
		return a.file.wrong(key, "selectors need a page, but %s returns %s with these options; remove one of them", r.provider, kind)
	}
	return nil
}

// options are the request fields of the platform: the file's, then each --set over them.
func options(provider string, table map[string]any, set []string) (map[string]any, error) {
	all := maps.Clone(table)
	for _, pair := range set {
		key, text, ok := strings.Cut(pair, "=")
		if !ok || strings.TrimSpace(key) == "" {
			return nil, usage("--set %s: write it as KEY=VALUE", shorten(pair, 60))
		}
		if secretField(key) {
			return nil, usage("--set %s: keys are never taken from the command line, set the variable of the key or name a credential in the config", key)
		}
		if all == nil {
			all = map[string]any{}
		}
		value, err := engine.ParseOption(provider, key, text)
		if err != nil {
			return nil, usage("--set %s: %s of %s %w", shorten(pair, 60), key, provider, err)
		}
		all[key] = value
	}
	return all, nil
}

// optionsID identifies the request options of a run: results are reused only from runs that asked the same way.
func optionsID(cfg engine.Config) string {
	text, err := json.Marshal(struct {
		Provider, BaseURL, UserAgent string
		Crawl                        bool
		Options                      map[string]any
		Header                       map[string][]string
		Rules                        any
	}{cfg.Provider, cfg.BaseURL, cfg.UserAgent, cfg.Crawl, cfg.Options, cfg.Header, cfg.Rules})
	if err != nil {
		// Options come from TOML or JSON; a TOML date is the one value that could not be written, and that can.
		text = []byte(err.Error())
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:12])
}

// accountsOf is the number of accounts behind the credentials.
func accountsOf(cfg engine.Config) int {
	seen := map[string]bool{}
	for _, c := range cfg.Credentials {
		seen[cmp.Or(c.Account, c.Name)] = true
	}
	return len(seen)
}

// withKeys adds the keys of the provider.
func (a *app) withKeys(ctx context.Context, cfg engine.Config) (engine.Config, error) {
	var err error
	cfg.Credentials, err = a.credentials(ctx, a.file, cfg.Provider, platformOf(cfg.Provider).keyEnv)
	return cfg, err
}

func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
