// Package heap sets how far the heap of the process may grow between two garbage collections.
package heap

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

const (
	// usual is the percentage that a Go program begins with.
	usual = 100
	// easyGoal is up to where a small heap may grow freely: collecting it twice as often to save twenty megabytes would cost
	// a run at full speed a tenth of its time.
	easyGoal = 40 << 20
	// goal is up to where a larger one may. A run over 20,000 domains stays below it.
	goal = 68 << 20
	// leastGrowth is the growth allowed to a heap that is larger than the goal: collecting more often would cost more than
	// the memory is worth.
	leastGrowth = 40 // per cent
	// mostGrowth is that of a tiny one: the runtime lets any heap grow to 4 MiB times the percentage.
	mostGrowth = easyGoal / (4 << 20) * 100
)

// growth is the garbage collector's percentage for a live heap: as much as leads to the easy goal, the usual one between the
// goals, less near the second.
func growth(live uint64) int {
	if live == 0 {
		return usual
	}
	to := func(goal int64) int64 { return (goal - int64(live)) * 100 / int64(live) }
	freely := min(max(to(easyGoal), usual), mostGrowth)
	return int(min(max(to(goal), leastGrowth), freely))
}

// Keep sets the collector's percentage anew after each collection, from what was live then, until stop is called. It is for
// the whole process: call it once.
func Keep() (stop func()) {
	type cycle struct{ _ *byte } // a pointer keeps it out of the blocks that small objects share
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	var mu sync.Mutex
	stopped := false
	// An object that only the collector sees carries it: its finalizer runs once per cycle.
	var next func(*cycle)
	next = func(*cycle) {
		mu.Lock()
		defer mu.Unlock()
		if stopped {
			return
		}
		metrics.Read(sample)
		if sample[0].Value.Kind() == metrics.KindUint64 {
			debug.SetGCPercent(growth(sample[0].Value.Uint64()))
		}
		runtime.SetFinalizer(new(cycle), next)
	}
	next(nil)
	return func() {
		mu.Lock()
		defer mu.Unlock()
		stopped = true
		debug.SetGCPercent(usual)
	}
}
