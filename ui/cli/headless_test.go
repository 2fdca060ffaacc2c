package cli

import (
	"strings"
	"testing"

	"dev.scrapetop/engine/view"
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

// TestProgressOfBatches: while a batch runs for minutes the line tells how far it is.
func TestProgressOfBatches(t *testing.T) {
	f := &view.Frame{}
	f.Counts.Tasks, f.Counts.Remote = 48, 48
	if got := progress(f); got != "accepted 0/48 · remote 48 · 0/min" {
		t.Error(got)
	}
	f.Counts.RemoteDone = 31
	if got := progress(f); got != "accepted 0/48 · remote 48 · of them done 31 · 0/min" {
		t.Error(got)
	}
}
