package engine

import (
	"sort"
	"time"
)

// ages counts tasks that are not ended by the second in which they were enqueued: enough for the oldest and a percentile
// without looking at every task.
type ages struct {
	bySecond map[int64]int64
	seconds  []int64 // keys of bySecond, ascending
	total    int64
}

func (a *ages) add(at time.Time, n int64) {
	if n <= 0 {
		return
	}
	s := at.Unix()
	if a.bySecond == nil {
		a.bySecond = map[int64]int64{}
	}
	if _, ok := a.bySecond[s]; !ok {
		i := sort.Search(len(a.seconds), func(i int) bool { return a.seconds[i] >= s })
		a.seconds = append(a.seconds, 0)
		copy(a.seconds[i+1:], a.seconds[i:])
		a.seconds[i] = s
	}
	a.bySecond[s] += n
	a.total += n
}

// remove takes a task out; one enqueued in a second that is not counted is taken from the nearest counted one before.
func (a *ages) remove(at time.Time) {
	s := at.Unix()
	if a.bySecond[s] == 0 {
		i := sort.Search(len(a.seconds), func(i int) bool { return a.seconds[i] > s })
		if i > 0 {
			i--
		}
		if len(a.seconds) == 0 {
			return
		}
		s = a.seconds[i]
	}
	a.bySecond[s]--
	a.total--
	if a.bySecond[s] == 0 {
		delete(a.bySecond, s)
		i := sort.Search(len(a.seconds), func(i int) bool { return a.seconds[i] >= s })
		a.seconds = append(a.seconds[:i], a.seconds[i+1:]...)
	}
}

// read returns when the oldest was enqueued (zero: none waits) and the age below which 95 % are.
func (a *ages) read(now time.Time) (oldest time.Time, p95 time.Duration) {
	if a.total <= 0 || len(a.seconds) == 0 {
		return time.Time{}, 0
	}
	older := int64(0)
	at := a.seconds[0]
	for _, s := range a.seconds {
		at = s
		if older += a.bySecond[s]; older*20 > a.total {
			break
		}
	}
	return time.Unix(a.seconds[0], 0), max(now.Sub(time.Unix(at, 0)), 0)
}
