package simulator

import (
	"math"
	"time"
)

// chance is a source of choices that depend on nothing but the seed and what they are about.
type chance uint64

// of makes the choices about a text and a number (a URL and its try) independent of all others.
func (c chance) of(text string, n int) chance {
	h := uint64(14695981039346656037) ^ uint64(c)
	for i := 0; i < len(text); i++ {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	return chance(mix(h + uint64(n)*0x9e3779b97f4a7c15))
}

// float is the nth choice, in [0, 1).
func (c chance) float(n int) float64 {
	return float64(mix(uint64(c)+uint64(n)*0xbf58476d1ce4e5b9)>>11) / (1 << 53)
}

// mix is the finaliser of splitmix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// around is a duration whose logarithm is spread about the median's.
func (c chance) around(n int, median time.Duration, spread float64) time.Duration {
	if spread == 0 {
		return median
	}
	// The sum of four uniform choices is bell-shaped enough; its deviation is 1/sqrt(3).
	z := (c.float(n) + c.float(n+1) + c.float(n+2) + c.float(n+3) - 2) * math.Sqrt(3)
	return time.Duration(float64(median) * math.Exp(spread*z))
}
