// Package budget is one budget: what a key (a domain, a credential, the program) may still spend, when it may spend
// again, and the controller that finds out how much the other side allows.
//
// A budget bounds three things apart: slots in flight, request starts, and a cooldown ("not before"). It passes through
//
//	open -> cooling -> probing -> recovering -> open        (and paused, stopped aside)
//
// A refusal cools it; when the cooldown has passed exactly one call tests it; a good answer reopens it in steps, never at
// once. After a wait of our own, where no answer named one, a probe that was not refused within a fifth of a second and four
// times what a refusal takes to come back counts as let through (Elapse): slow pages would else leave a site idle for their whole
// length. Announced waits are minima and only grow while active; one burst of refusals is one event (Refused with a call
// sent before the cut only extends).
//
// Where nobody told the limit, a finder looks for it: explain, hold, probe. Three kinds of explanation compete for the
// refusals on its record:
//
//	so many in flight      refused at n, let through at fewer      the number in flight is bounded
//	so many in a span      sliding, or with edges of its own       starts are bounded by the record of our own
//	a bucket that leaks    a rate and a burst                      starts are bounded by a meter, and where the burst is one
//	                                                               by a gap that each try brackets more narrowly
//
// What earlier runs learned is where a budget starts (Remember), less of it the older it is, and what they sent just now
// still counts in its windows. What was learned is held, and from time to time a little more is asked for; how often follows
// from how often the limit moves. A domain's starts are spread inside a known window, with jitter, since it is
// somebody's web server; other scopes send at once what a window allows. The cooldown always comes first: a finder may wait longer, never shorter. What the
// finder reaches is in the laboratory's table (engine/core/testdata/laboratory.md).
//
// Budgets are plain values without locks, clocks or goroutines: every method takes now, and one owner calls them (the
// core). Gate has no side effects: asked twice at one instant it answers the same; a closed gate has a time at which to ask
// again, something in flight that will open it, or a person who closed it. The same events lead to the same decisions.
// Gate is O(log n) in a record of at most a thousand starts and allocates nothing; a refusal costs about a millisecond at
// most; before its first refusal a domain keeps a few numbers and an outline of its starts.
package budget
