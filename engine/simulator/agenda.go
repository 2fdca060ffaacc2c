package simulator

import (
	"container/heap"
	"time"
)

// agenda is what a platform has under way, by the moment of its next step; steps of one moment in the order they were
// added. It is not safe for concurrent use.
type agenda[T any] struct {
	steps stepHeap[T]
	added int
}

type step[T any] struct {
	at   time.Time
	n    int
	what T
}

func (a *agenda[T]) add(at time.Time, what T) {
	a.added++
	heap.Push(&a.steps, step[T]{at, a.added, what})
}

// due takes the earliest step, if its moment has come.
func (a *agenda[T]) due(now time.Time) (what T, at time.Time, ok bool) {
	if len(a.steps) == 0 || a.steps[0].at.After(now) {
		return what, at, false
	}
	first := heap.Pop(&a.steps).(step[T])
	return first.what, first.at, true
}

type stepHeap[T any] []step[T]

func (h stepHeap[T]) Len() int { return len(h) }
func (h stepHeap[T]) Less(i, j int) bool {
	if h[i].at.Equal(h[j].at) {
		return h[i].n < h[j].n
	}
	return h[i].at.Before(h[j].at)
}
func (h stepHeap[T]) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *stepHeap[T]) Push(x any)   { *h = append(*h, x.(step[T])) }
func (h *stepHeap[T]) Pop() any {
	old := *h
	last := old[len(old)-1]
	old[len(old)-1] = step[T]{}
	*h = old[:len(old)-1]
	return last
}
