package cli

import "testing"

func TestGrowthShrinksNearTheGoal(t *testing.T) {
	const mb = 1 << 20
	for _, c := range []struct {
		name string
		live uint64
		want int
	}{
		{"nothing measured yet", 0, 100}, {"small heap", 10 * mb, 100}, {"half the goal", 40 * mb, 100}, {"near the goal", 50 * mb, 60},
		{"at the goal", 80 * mb, 40}, {"far beyond", 500 * mb, 40},
	} {
		if got := growth(c.live); got != c.want {
			t.Errorf("%s: growth(%d) = %d, want %d", c.name, c.live, got, c.want)
		}
	}
}
