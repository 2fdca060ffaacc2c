package budget

import (
	"testing"
	"time"
)

// TestBucketForOneIsBracketed: a pace without a burst, silent, is found and used to its last few percent.
func TestBucketForOneIsBracketed(t *testing.T) {
	type call struct {
		end, sent time.Time
		n         int
		probe     Probe
		refused   bool
	}
	for _, rate := range []float64{3, 11} {
		rule, rng := bucketRule(rate, 1), newRand(7)
		b := New(Domain, "a.test", Limits{Find: true})
		var flight []call
		accepted, refused, most := 0, 0, 150*rate
		for now := t0; now.Before(after(150 * time.Second)); now = now.Add(time.Millisecond) {
			rest := flight[:0]
			for _, c := range flight {
				switch {
				case c.end.After(now):
					rest = append(rest, c)
					continue
				case c.refused:
					refused++
					b.Release()
					b.Refused(now, Refusal{Sent: c.sent, InFlight: c.n, Probe: c.probe}, rng)
				default:
					accepted++
					b.Release()
					b.Answered(now, c.sent, c.n, c.probe)
				}
			}
			flight = rest
			for b.Elapse(now); b.Gate(now).OK; {
				probe := b.Start(now)
				ok := rule(now.Sub(t0).Seconds())
				flight = append(flight, call{now.Add(20 * time.Millisecond), now, b.InFlight(), probe, !ok})
			}
		}
		if part := float64(accepted) / most; part < 0.8 || refused > 20 {
			t.Errorf("%v a second: %.2f of it used, %d refusals: %s", rate, part, refused, b.Evidence())
		}
	}
}
