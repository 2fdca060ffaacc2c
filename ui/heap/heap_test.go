package heap

import "testing"

func TestGrowthShrinksNearTheGoal(t *testing.T) {
	const mb = 1 << 20
	for _, c := range []struct {
		name string
		live uint64
		want int
	}{
		{"nothing measured yet", 0, 100}, {"tiny heap", 1 * mb, 1000}, {"small heap", 8 * mb, 400}, {"half the easy goal", 20 * mb, 100},
		{"half the goal", 34 * mb, 100}, {"near the goal", 48 * mb, 41}, {"at the goal", 68 * mb, 40}, {"far beyond", 500 * mb, 40},
	} {
		if got := growth(c.live); got != c.want {
			t.Errorf("%s: growth(%d) = %d, want %d", c.name, c.live, got, c.want)
		}
	}
}
