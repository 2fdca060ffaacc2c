package engine

import (
	"time"

	"golang.org/x/sys/unix"
)

// sleepWatch notices that the machine slept: the boot-time clock went on while the monotonic one stood still.
type sleepWatch struct {
	real bool
	at   time.Time
	boot time.Duration
}

// sleepLeast is the gap that counts: below it, scheduling and reading two clocks one after the other explain it.
const sleepLeast = 2 * time.Second

func (s *sleepWatch) begin(now time.Time, real bool) {
	s.real = real
	s.at, s.boot = now, bootTime()
}

// sleepLook is how often the clocks are compared: asking the kernel for every answer would cost more than most steps.
const sleepLook = 100 * time.Millisecond

// slept is how long the machine slept since the clocks were last compared; zero in between.
func (s *sleepWatch) slept(now time.Time) time.Duration {
	if !s.real || now.Sub(s.at) < sleepLook {
		return 0
	}
	boot := bootTime()
	gap := boot - s.boot - now.Sub(s.at)
	s.at, s.boot = now, boot
	if gap < sleepLeast {
		return 0
	}
	return gap
}

func bootTime() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
