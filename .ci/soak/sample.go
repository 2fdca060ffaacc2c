package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// sample is what the process holds at one time.
type sample struct {
	resident, live uint64 // bytes
	goroutines     int
	handles        int
	log, database  int64 // bytes
	closed         bool  // nothing is open
}

// take looks at the process. What is garbage does not count as held.
func take(path string) (s sample, err error) {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	s.live, s.goroutines = m.HeapAlloc, runtime.NumGoroutine()
	handles, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return s, err
	}
	s.handles = len(handles) - 1 // the folder itself was open
	if s.resident, err = resident(); err != nil {
		return s, err
	}
	if s.database, err = size(path); err != nil {
		return s, err
	}
	s.log, err = size(path + "-wal")
	return s, err
}

// patience is how long goroutines that were told to end may take.
const patience = 10 * time.Second

// settled is a sample of when the process holds no less any more: what was closed may take a moment to go.
func settled(path string) (sample, error) {
	last, err := take(path)
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); err == nil && time.Now().Before(end); {
		<-tick.C
		var s sample
		if s, err = take(path); err == nil && s.goroutines >= last.goroutines && s.handles >= last.handles {
			return s, nil
		}
		last = s
	}
	return last, err
}

func resident() (uint64, error) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kb << 10, err
		}
	}
	return 0, errors.New("/proc/self/status names no VmRSS")
}

func size(path string) (int64, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func mb[N uint64 | int64](n N) float64 { return float64(n) / (1 << 20) }

func (s *sample) print(began time.Time, round int, c count) {
	name := strconv.Itoa(round + 1)
	if s.closed {
		name += ", closed"
	}
	fmt.Printf("| %.1f | %s | %.0f | %.1f | %d | %d | %.1f | %.0f | %d | %d |\n", time.Since(began).Minutes(), name,
		mb(s.resident), mb(s.live), s.goroutines, s.handles, mb(s.log), mb(s.database), c.accepted, c.dead)
}
