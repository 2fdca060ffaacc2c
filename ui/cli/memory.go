package cli

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// heapGoal is up to where the heap may grow between two collections. A run over 20,000 domains stays below it; a small
	// one never notices.
	heapGoal = 80 << 20
	// leastGrowth is the growth allowed to a heap that is larger than the goal: collecting more often would cost more than
	// the memory is worth.
	leastGrowth = 40 // per cent
)

// growth is the garbage collector's percentage for a live heap: the usual one while the goal is far, less near it.
func growth(live uint64) int {
	if live == 0 {
		return 100
	}
	room := int64(heapGoal) - int64(live)
	return int(min(max(room*100/int64(live), leastGrowth), 100))
}

// keepHeapSmall sets the collector's percentage anew after each collection, from what was live then. An object that only
// the collector sees carries it: its finalizer runs once per cycle.
func keepHeapSmall() {
	type cycle struct{ _ *byte } // a pointer keeps it out of the blocks that small objects share
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	var next func(*cycle)
	next = func(*cycle) {
		metrics.Read(sample)
		if sample[0].Value.Kind() == metrics.KindUint64 {
			debug.SetGCPercent(growth(sample[0].Value.Uint64()))
		}
		runtime.SetFinalizer(new(cycle), next)
	}
	next(nil)
}
