package cli

import (
	"errors"
	"net/http"
	"strings"

	"dev.scrapetop/engine"
	"dev.scrapetop/engine/provider"
	"dev.scrapetop/engine/provider/direct"
	"dev.scrapetop/engine/provider/evomi"
	"dev.scrapetop/engine/source"
)

// platform is what the commands know of a provider.
type platform struct {
	name   string
	keyEnv string // the variable of its key when no credential is configured; empty: needs none
	build  func(cfg engine.Config) (provider.Provider, error)
}

// platforms are the providers of this program; the first is the default.
var platforms = []platform{
	{
		name: "direct",
		build: func(cfg engine.Config) (provider.Provider, error) {
			return direct.New(direct.Options{UserAgent: cfg.UserAgent, Header: cfg.Header}), nil
		},
	},
	{
		name: "evomi", keyEnv: "EVOMI_API_KEY",
		build: func(cfg engine.Config) (provider.Provider, error) {
			return evomi.New(evomi.Options{BaseURL: cfg.BaseURL, Fields: cfg.Options, Async: cfg.Async})
		},
	},
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
