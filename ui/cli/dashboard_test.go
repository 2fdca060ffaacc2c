package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"dev.scrapetop/storage"
)

// TestEarlierRunsTellHowToGoOn: the dashboard without a run listed the unfinished ones without the command for them.
func TestEarlierRunsTellHowToGoOn(t *testing.T) {
	ctx := t.Context()
	st, err := storage.Open(ctx, filepath.Join(t.TempDir(), "t.db"), storage.Options{Fast: true})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if lines, err := pastRuns(ctx, st, ""); err != nil || len(lines) != 0 {
		t.Errorf("without a run: %q, %v", lines, err)
	}
	if _, err := st.CreateRun(ctx, storage.RunSpec{Name: "cata\x1b[2Jlog", Input: "i", Provider: "direct"}); err != nil {
		t.Fatal(err)
	}
	lines, err := pastRuns(ctx, st, " --db other.db")
	if err != nil || len(lines) != 1 || !strings.Contains(lines[0], "scrapetop resume 1 --db other.db") || strings.Contains(lines[0], "\x1b") {
		t.Errorf("%q, %v", lines, err)
	}
	if !finished(storage.Run{State: storage.RunFinished}) || finished(storage.Run{State: storage.RunFinished, Pending: 1}) ||
		finished(storage.Run{State: storage.RunStopped}) {
		t.Error("only a finished run with nothing pending is finished")
	}
}
