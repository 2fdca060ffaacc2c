// Package budget is one budget: what a key (a domain, a credential, the program) may still spend, when it may spend
// again, and the controller that finds out how much the other side allows.
//
// A budget bounds three things apart: slots in flight, request starts, and a cooldown ("not before"). It passes through
//
//	open -> cooling -> probing -> recovering -> open        (and paused, stopped aside)
//
// A refusal cools it; when the cooldown has passed exactly one call tests it; a good answer reopens it in steps, never at
// once. Announced waits are minima and only grow while active; one burst of refusals is one event (Refused with a call
// sent before the cut only extends).
//
// Budgets are plain values without locks, clocks or goroutines: every method takes now, and one owner calls them (the
// core). Gate has no side effects: asked twice at one instant it answers the same.
package budget
