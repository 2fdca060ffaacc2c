package record

import "dev.scrapetop/engine/provider"

// Rules are what a page must satisfy to become a record, and what is extracted from it (config [validate], [extract]).
// The zero Rules accept every page that is not a challenge and extract nothing.
type Rules struct {
	MinBytes     int
	MustMatch    string // regular expression; empty: none
	MustNotMatch string
	Select       string              // CSS selector that must match at least once
	Extract      map[string]Selector // by field name
}

// Selector is one extraction: the first match's text or attribute, or all of them.
type Selector struct {
	CSS  string // "h1", "a@href"
	Many bool
}

// Verdict is what Judge makes of a page.
type Verdict struct {
	Outcome provider.Outcome // Accepted, Invalid or Blocked
	Why     string           // of an outcome that is not Accepted, one line
	Kind    string           // body_kind: html, json, challenge, empty, binary, other
	Fields  []byte           // JSON object of extracted fields; nil without rules
	Empty   bool             // accepted, but there was nothing in it
}
