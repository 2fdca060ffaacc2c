package frontier

import "time"

// WakeKind is what wakes.
type WakeKind uint8

// What can wake.
const (
	WakeDomain  WakeKind = iota // Of: *Domain
	WakeShared                  // a shared budget may be open again
	WakeTask                    // Of: *Task, its own backoff is over
	WakeJob                     // Of: the core's job, its poll is due
	WakeRelease                 // Of: the core's call, whose slots the platform has let go by now
	WakeSearch                  // Of: the core's search for a submit without an answer
	WakeRun                     // the run's deadline or its longest wait
)

// Wake is one entry of the heap.
type Wake struct {
	At   time.Time
	Kind WakeKind
	Of   any
	seq  uint64
}

// Wakes is the heap of everything that wakes at a time; equal times wake in the order in which they were set.
type Wakes struct {
	heap []Wake
	seq  uint64
}

// Set adds an entry.
func (w *Wakes) Set(at time.Time, kind WakeKind, of any) {
	w.seq++
	w.heap = append(w.heap, Wake{At: at, Kind: kind, Of: of, seq: w.seq})
	w.up(len(w.heap) - 1)
}

// Next is when the earliest entry wakes; false: there is none.
func (w *Wakes) Next() (time.Time, bool) {
	if len(w.heap) == 0 {
		return time.Time{}, false
	}
	return w.heap[0].At, true
}

// Due takes the earliest entry that wakes at or before now.
func (w *Wakes) Due(now time.Time) (Wake, bool) {
	if len(w.heap) == 0 || w.heap[0].At.After(now) {
		return Wake{}, false
	}
	top := w.heap[0]
	n := len(w.heap) - 1
	w.heap[0] = w.heap[n]
	w.heap[n] = Wake{}
	w.heap = w.heap[:n]
	w.down(0)
	return top, true
}

func (w *Wakes) less(i, j int) bool {
	a, b := &w.heap[i], &w.heap[j]
	if a.At.Equal(b.At) {
		return a.seq < b.seq
	}
	return a.At.Before(b.At)
}

func (w *Wakes) up(i int) {
	for i > 0 {
		p := (i - 1) / 2
		if !w.less(i, p) {
			return
		}
		w.heap[i], w.heap[p] = w.heap[p], w.heap[i]
		i = p
	}
}

func (w *Wakes) down(i int) {
	for {
		l := 2*i + 1
		if l >= len(w.heap) {
			return
		}
		if r := l + 1; r < len(w.heap) && w.less(r, l) {
			l = r
		}
		if !w.less(l, i) {
			return
		}
		w.heap[i], w.heap[l] = w.heap[l], w.heap[i]
		i = l
	}
}
