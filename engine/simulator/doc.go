// Package simulator is a small internet to practise on: a web of target sites with their own limits, latencies and moods,
// and the scraping platforms that fetch from it, all behind one [http.Handler].
//
// A [World] runs behind real loopback sockets ([World.Listen], [World.DialContext]) or in memory ([World.RoundTripper]).
// In memory it works inside a testing/synctest bubble: it waits only on timers and contexts, starts no goroutine and holds
// no lock across a wait. Requests are routed by their Host: a site's host leads to the site, evomi.sim, spidra.sim and
// omniscrape.sim to the APIs; at any other host the path decides (/evomi/..., /spidra/..., /omniscrape/... and /control).
// Background work of a platform is not run but computed: a job knows from its start when and how it ends, and whoever looks
// later sees it done. Spidra and OmniScrape, whose jobs wait for workers and slots, keep an agenda that is caught up with, in
// the order of time, before any request is answered.
//
// The same Seed, requests and times give the same world: what a URL answers depends on the seed, the URL and how often it
// was asked, never on the order among URLs.
//
// Time: every duration in this package's types is the world's own. Speed divides them once, when the world is made, so
// everything that is announced (Retry-After, resets) is in the client's time. An announced wait is rounded up to whole
// seconds and counts until its announced end.
//
// Counters are exact: every request is in them once, at the moment that is named there. All methods are safe for concurrent
// use.
package simulator
