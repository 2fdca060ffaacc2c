package cli

import (
	"strings"
	"testing"
)

// TestGrowingLogIsTold: a reader that kept a query open let the write-ahead log fill the disk without a word.
func TestGrowingLogIsTold(t *testing.T) {
	var told []string
	w := watcher{tell: func(line string) { told = append(told, line) }}
	for _, n := range []int64{0, 128 << 20, largeLog - 1, largeLog, largeLog + 1<<20, 2*largeLog - 1, 2 * largeLog, 0} {
		w.logSize(n)
	}
	if len(told) != 2 || !strings.Contains(told[0], "256 MiB") || !strings.Contains(told[1], "512 MiB") {
		t.Errorf("%q", told)
	}
}
