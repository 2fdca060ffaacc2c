package spidra

import (
	"net"
	"net/url"
	"slices"
	"strings"

	"dev.scrapetop/engine/provider"
)

// match says which target each URL of an answer is: its index, or -1 for none, and which targets were found. The exact
// spelling goes before a normalised one, and what is there twice is taken in order.
func match(targets []provider.Target, urls []string) (of []int, taken []bool) {
	of, taken = make([]int, len(urls)), make([]bool, len(targets))
	for i := range of {
		of[i] = -1
	}
	pair := func(spell func(string) string) {
		open := map[string][]int{}
		for at, t := range targets {
			if !taken[at] {
				key := spell(t.URL)
				open[key] = append(open[key], at)
			}
		}
		for i, u := range urls {
			if of[i] >= 0 || u == "" {
				continue
			}
			if left := open[spell(u)]; len(left) > 0 {
				of[i], taken[left[0]] = left[0], true
				open[spell(u)] = left[1:]
			}
		}
	}
	pair(func(u string) string { return u })
	pair(normal)
	return of, taken
}

// assign is match for the URLs of a batch that is known to hold these targets: an entry without a URL is the target at its
// place when both lists are equally long, and so is the last one left when every other has found its own.
func assign(targets []provider.Target, urls []string) []int {
	of, taken := match(targets, urls)
	if len(urls) != len(targets) {
		return of
	}
	for i, u := range urls {
		if of[i] < 0 && u == "" && !taken[i] {
			of[i], taken[i] = i, true
		}
	}
	i, at := slices.Index(of, -1), slices.Index(taken, false)
	if i >= 0 && at >= 0 && !slices.Contains(of[i+1:], -1) {
		of[i] = at
	}
	return of
}

// holds reports that the URLs are the targets, each of them and no other.
func holds(targets []provider.Target, urls []string) bool {
	_, taken := match(targets, urls)
	return len(urls) == len(targets) && !slices.Contains(taken, false)
}

// normal is a spelling that variants of one URL share: scheme and host in lower case, no default port, no dot after the
// host, no fragment, no slash at the end, percent-encoding undone. It is a key for matching, not an address.
func normal(text string) string {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.Host == "" {
		return text
	}
	scheme := strings.ToLower(u.Scheme)
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if port := u.Port(); port != "" && !(scheme == "http" && port == "80") && !(scheme == "https" && port == "443") {
		host = net.JoinHostPort(host, port)
	}
	query := u.RawQuery
	if plain, err := url.QueryUnescape(query); err == nil {
		query = plain
	}
	return scheme + "://" + host + strings.TrimRight(u.Path, "/") + "?" + query
}
