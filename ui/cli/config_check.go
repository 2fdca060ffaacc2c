package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"dev.scrapetop/engine"
	"dev.scrapetop/engine/record"
)

// check refuses values that decode but mean nothing, so that every command that reads the file says so, not only the
// one that first uses them.
func (c *configFile) check() error {
	for _, name := range slices.Sorted(maps.Keys(c.Providers)) {
		if !slices.Contains(providerNames(), name) {
			return c.wrong("providers."+name, "is no provider, the providers are %s", strings.Join(providerNames(), ", "))
		}
		if err := c.checkProvider(name); err != nil {
			return err
		}
	}
	if _, err := c.ceilings("tenants", c.Tenants); err != nil {
		return err
	}
	if _, err := c.domainCeilings(); err != nil {
		return err
	}
	if _, err := c.rules(); err != nil {
		return err
	}
	if _, err := c.keepRuns(); err != nil {
		return err
	}
	if _, _, err := c.logSettings(); err != nil {
		return err
	}
	if _, err := c.keyMap(); err != nil {
		return err
	}
	return c.checkRunTable()
}

func (c *configFile) checkProvider(name string) error {
	t, at := c.Providers[name], "providers."+name
	if t.BaseURL != "" {
		if _, err := parseBase(t.BaseURL); err != nil {
			return c.wrong(at+".base_url", "%v", err)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(t.Options)) {
		if secretField(key) {
			return c.wrong(at+".options."+key, "keys are not accepted here, name a credential with key_env, key_file or key_command")
		}
	}
	if t.ResubmitUnknown != "" {
		if _, err := oneOf(resubmitWords...)(t.ResubmitUnknown); err != nil {
			return c.wrong(at+".resubmit_unknown", "%v", err)
		}
	}
	if _, err := c.plan(name); err != nil {
		return err
	}
	for _, h := range slices.Sorted(maps.Keys(t.Headers)) {
		if !headerName(h) || strings.ContainsAny(t.Headers[h], "\r\n\x00") {
			return c.wrong(at+".headers."+h, "is no header that can be sent")
		}
	}
	if strings.ContainsAny(t.UserAgent, "\r\n\x00") {
		return c.wrong(at+".user_agent", "has a line break")
	}
	if name != "direct" {
		if t.UserAgent != "" || len(t.Headers) > 0 {
			return c.wrong(at, "user_agent and headers are sent by direct alone, a platform takes request fields in options")
		}
		return checkCredentials(c, name)
	}
	if len(t.Credentials) > 0 {
		return c.wrong(at+".credentials", "direct needs no key, remove them")
	}
	if t.BaseURL != "" || len(t.Options) > 0 || t.Async != nil || t.ResubmitUnknown != "" || t.ResubmitLost != nil {
		return c.wrong(at, "direct takes user_agent and headers alone, the rest is for platforms")
	}
	return nil
}

// headerName reports whether s is a token as RFC 9110 section 5.6.2 has it.
func headerName(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

// secretField reports whether a request field is where platforms take a key: it would be kept with the run.
func secretField(name string) bool {
	switch strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name)) {
	case "apikey", "xapikey", "key", "authorization", "token", "accesstoken", "secret", "password":
		return true
	}
	return false
}

func (c *configFile) ceilings(table string, m map[string]ceilingTable) (map[string]engine.Ceilings, error) {
	all := make(map[string]engine.Ceilings, len(m))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		t, at := m[key], table+"."+key
		var out engine.Ceilings
		if t.MaxInFlight != nil {
			if *t.MaxInFlight < 1 {
				return nil, c.wrong(at+".max_in_flight", "must be at least 1")
			}
			out.MaxInFlight = *t.MaxInFlight
		}
		if t.Rate != "" {
			rate, err := parseRate(t.Rate)
			if err != nil {
				return nil, c.wrong(at+".rate", "%v", err)
			}
			out.Rate = rate
		}
		if t.MaxCredits != nil {
			if !(*t.MaxCredits > 0) {
				return nil, c.wrong(at+".max_credits", "must be above zero")
			}
			out.MaxCredits = *t.MaxCredits
		}
		if t.MaxRequests != nil {
			if *t.MaxRequests < 1 {
				return nil, c.wrong(at+".max_requests", "must be at least 1")
			}
			out.MaxRequests = *t.MaxRequests
		}
		all[key] = out
	}
	return all, nil
}

// domainCeilings are the ceilings by domain as tasks carry it: the normalised hostname.
func (c *configFile) domainCeilings() (map[string]engine.Ceilings, error) {
	written, err := c.ceilings("domains", c.Domains)
	if err != nil {
		return nil, err
	}
	all := make(map[string]engine.Ceilings, len(written))
	for _, key := range slices.Sorted(maps.Keys(written)) {
		domain, err := domainKey(key)
		if err != nil {
			return nil, c.wrong("domains."+key, "is no hostname, write it without scheme, port and path")
		}
		if c.Domains[key].MaxCredits != nil || c.Domains[key].MaxRequests != nil {
			return nil, c.wrong("domains."+key, "max_credits and max_requests are caps of a tenant or of the run, not of a domain")
		}
		if _, twice := all[domain]; twice {
			return nil, c.wrong("domains."+key, "is the same hostname as another table")
		}
		all[domain] = written[key]
	}
	return all, nil
}

// rules are [validate] and [extract], each compiled alone first so that an error names its key.
func (c *configFile) rules() (record.Rules, error) {
	v := c.Validate
	rules := record.Rules{MustMatch: v.MustMatch, MustNotMatch: v.MustNotMatch, Select: v.Select}
	if v.MinBytes != nil {
		if *v.MinBytes < 0 {
			return rules, c.wrong("validate.min_bytes", "must not be negative")
		}
		rules.MinBytes = *v.MinBytes
	}
	for _, one := range []struct {
		key   string
		rules record.Rules
	}{
		{"validate.must_match", record.Rules{MustMatch: v.MustMatch}},
		{"validate.must_not_match", record.Rules{MustNotMatch: v.MustNotMatch}},
		{"validate.select", record.Rules{Select: v.Select}},
	} {
		if _, err := record.Compile(one.rules); err != nil {
			return rules, c.wrong(one.key, "%v", err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Extract)) {
		sel, err := selector(c.Extract[name])
		if err == nil {
			_, err = record.Compile(record.Rules{Extract: map[string]record.Selector{name: sel}})
		}
		if err != nil {
			return rules, c.wrong("extract."+name, "%v", err)
		}
		if rules.Extract == nil {
			rules.Extract = map[string]record.Selector{}
		}
		rules.Extract[name] = sel
	}
	return rules, nil
}

// selector reads one value of [extract]: "css" or ["css"] for all matches.
func selector(v any) (record.Selector, error) {
	switch v := v.(type) {
	case string:
		if strings.TrimSpace(v) != "" {
			return record.Selector{CSS: v}, nil
		}
	case []any:
		if len(v) == 1 {
			if s, ok := v[0].(string); ok && strings.TrimSpace(s) != "" {
				return record.Selector{CSS: s, Many: true}, nil
			}
		}
	}
	return record.Selector{}, fmt.Errorf(`must be a selector, "h1" or "a@href", or ["..."] for all matches`)
}

// keepRuns is how long ended runs are kept; zero keeps them.
func (c *configFile) keepRuns() (time.Duration, error) {
	if c.Retention.Runs == "" {
		return 0, nil
	}
	d, err := parsePositiveSpan(c.Retention.Runs)
	if err != nil {
		return 0, c.wrong("retention.runs", "%v", err)
	}
	return d, nil
}
