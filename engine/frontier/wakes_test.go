package frontier

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

func TestWakesInOrderOfTime(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var w Wakes
	var want []int
	for range 2000 {
		s := rng.IntN(300)
		w.Set(noon.Add(time.Duration(s)*time.Second), WakeTask, s)
		want = append(want, s)
	}
	slices.Sort(want)
	var got []int
	for now := noon; len(w.heap) > 0; now = now.Add(7 * time.Second) {
		for {
			x, ok := w.Due(now)
			if !ok {
				break
			}
			if x.At.After(now) {
				t.Fatalf("woke %v early", x.At.Sub(now))
			}
			got = append(got, x.Of.(int))
		}
		if next, ok := w.Next(); ok && !next.After(now) {
			t.Fatalf("left something due at %v", next)
		}
	}
	if !slices.Equal(got, want) {
		t.Error("the order of waking is not the order of time")
	}
}

func TestEqualTimesWakeInTheOrderTheyWereSet(t *testing.T) {
	var w Wakes
	for i := range 50 {
		w.Set(noon, WakeDomain, i)
	}
	for i := range 50 {
		x, ok := w.Due(noon)
		if !ok || x.Of.(int) != i || x.Kind != WakeDomain {
			t.Fatalf("wake %d is %v", i, x.Of)
		}
	}
}

func TestNothingWakes(t *testing.T) {
	var w Wakes
	if _, ok := w.Next(); ok {
		t.Error("an empty heap has no next")
	}
	if _, ok := w.Due(noon); ok {
		t.Error("an empty heap has nothing due")
	}
	w.Set(noon, WakeRun, nil)
	if _, ok := w.Due(noon.Add(-1)); ok {
		t.Error("not due yet")
	}
	if x, ok := w.Due(noon); !ok || x.Kind != WakeRun || len(w.heap) != 0 {
		t.Error("due at its time, once")
	}
}
