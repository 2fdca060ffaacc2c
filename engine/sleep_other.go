//go:build !linux

package engine

import "time"

// sleepWatch notices that the machine slept. Where no clock tells, cooldowns end on the monotonic clock alone: later than
// need be, never too early.
type sleepWatch struct{}

func (sleepWatch) begin(time.Time, bool)         {}
func (sleepWatch) slept(time.Time) time.Duration { return 0 }
