// Package metrics tells a run to Prometheus: what a frame of the dashboard says, as numbers, under the conventions of its
// naming (https://prometheus.io/docs/practices/naming/). A scrape takes one frame and computes nothing else, so it costs a run
// what a drawn screen does.
//
// Labels are bounded: layers and states are words of ours, credentials, accounts and tenants are configured, and of the
// domains those with the most refusals are told, at most mostDomains; the counts by layer are over all of them. Keys and URLs
// are never told.
package metrics
