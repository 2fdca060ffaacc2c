package cli

import (
	"errors"
	"net/http"
	"strings"

	"dev.scrapetop/engine"
	"dev.scrapetop/engine/source"
)

// platform is what the commands know of a provider.
type platform struct {
	name   string
	keyEnv string // the variable of its key when no credential is configured; empty: needs none
}

// platforms are the providers of this program; the first is the default.
var platforms = []platform{
	{name: engine.Direct},
	{name: engine.Evomi, keyEnv: "EVOMI_API_KEY"},
	{name: engine.Spidra, keyEnv: "SPIDRA_API_KEY"},
	{name: engine.OmniScrape, keyEnv: "OMNISCRAPE_API_KEY"},
}

// pageless says what a platform returns instead of a page with these options; empty: a page.
func pageless(provider string, options map[string]any) string {
	word := func(field string) string { s, _ := options[field].(string); return s }
	switch provider {
	case engine.Evomi:
		if kind := word("content"); kind != "" && kind != "html" {
			return kind
		}
	case engine.OmniScrape:
		if kind := word("output_format"); kind != "" && kind != "html" {
			return kind
		}
	case engine.Spidra:
		if kind := word("output"); kind != "" {
			return kind
		}
		return "markdown"
	}
	return ""
}

func providerNames() []string {
	names := make([]string, len(platforms))
	for i, p := range platforms {
		names[i] = p.name
	}
	return names
}

func platformOf(name string) platform {
	for _, p := range platforms {
		if p.name == name {
			return p
		}
	}
	return platforms[0]
}

// headerOf builds the configured header of direct.
func headerOf(fields map[string]string) http.Header {
	if len(fields) == 0 {
		return nil
	}
	h := make(http.Header, len(fields))
	for name, value := range fields {
		h.Set(name, value)
	}
	return h
}

// domainKey is a hostname as tasks carry it.
func domainKey(host string) (string, error) {
	if strings.ContainsAny(host, "/?#@ ") || host == "" {
		return "", errors.New("is no hostname")
	}
	u, err := source.Normalise("http://" + host + "/")
	return u.Host, err
}
