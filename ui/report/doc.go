// Package report writes a run as one HTML file that stands alone: what came of it, how politely it asked, and what it
// spent. The file loads nothing, runs nothing and links nowhere; its charts are inline SVG.
//
// Everything is read from the attempts, as of one instant, so a run that is still going has a report too. The attempts are
// streamed twice, by time and by domain: memory grows with what is shown, which is bounded, not with the run.
//
// # What a request during a cooldown is
//
// The report judges by what was answered, not by what the engine meant to do. An answer that refused (limited or busy) and
// asked for a wait closes what its layer speaks of from its last byte on, for as long as it asked: target the domain;
// account and pending the credential's submits; capacity the provider's submits; rate everything sent to the provider, polls
// included. A request that began inside is counted, by whatever cause: also one let through when a cooldown was ended by
// hand. A refusal that asked for no wait closes nothing here.
//
// # Foreign text
//
// URLs, errors and names pass the gate of ui/widget, then the escaping of html/template.
package report
