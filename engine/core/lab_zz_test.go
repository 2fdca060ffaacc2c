package core

import (
	"fmt"
	"os"
	"sort"
	"strconv"
	"testing"
)

var labTrace = os.Getenv("LAB_TRACE") != ""

func TestLabTuning(t *testing.T) {
	n := 5
	if s := os.Getenv("LAB_SEEDS"); s != "" {
		n, _ = strconv.Atoi(s)
	}
	for _, s := range append(scenarios(), policies()...) {
		t.Run(s.name, func(t *testing.T) {
			var e, y []float64
			first, _ := strconv.Atoi(os.Getenv("LAB_FIRST"))
			k := n
			if s.goal == (goal{}) && n > 5 {
				k = 10 * n
			}
			for seed := uint64(first); seed < uint64(first+k); seed++ {
				r := s.run(t, seed)
				e, y = append(e, r.efficiency), append(y, r.refused)
				if os.Getenv("LAB_NOTES") != "" {
					fmt.Printf("seed %d: %.2f %.0f %s\n", seed, r.efficiency, r.refused, r.note)
				}
			}
			sort.Float64s(e)
			sort.Float64s(y)
			t.Logf("RES %.2f %.2f %.2f | %.0f %.0f", e[0], e[len(e)/10], e[len(e)/2], y[len(y)/2], y[len(y)-1])
		})
	}
}
