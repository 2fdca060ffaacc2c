// Package core is the scheduler as a pure machine: Step(now, Event) []Action.
//
// It owns scheduling state alone: the frontier, the budgets, the calls in flight and the remote jobs. It does no I/O, reads
// no clock, starts no goroutine and takes no lock; the same code runs under the engine's loop, in an event queue in virtual
// time and in property tests. Time comes in as an argument and must not go back; randomness comes from the seed in Config,
// so that the same events give the same actions.
//
// A step touches what its event is about and what may start because of it; no step scans domains. Waiting is an entry in
// a heap or a parked queue: it holds no goroutine, no connection and no try.
//
// The core imports engine/provider for the words of a call (Call, Outcome, Layer): they are the same words on both sides
// of the wire.
//
// Actions point into state that the machine goes on using; the owner reads them before the next Step and keeps none.
package core
