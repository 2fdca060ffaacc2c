//go:build unix

package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// roomVariable makes the test binary the program itself, which may write no file beyond that many bytes.
const roomVariable = "SCRAPETOP_TEST_ROOM"

func TestMain(m *testing.M) {
	if room, err := strconv.ParseUint(os.Getenv(roomVariable), 10, 64); err == nil {
		os.Unsetenv(roomVariable)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: room, Max: room}); err != nil {
			panic(err)
		}
		os.Exit(Main(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// runIn runs a command in a process of its own that has room for files of so many bytes. Beyond, the system refuses a write as it
// does on a full disk, whichever it is: to the database, to its log, amid a transaction or a checkpoint.
func (s *shell) runIn(room uint64, args ...string) told {
	s.t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(s.t.Context(), os.Args[0], args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir, &out, &errs
	cmd.Env = []string{"HOME=" + s.dir, fmt.Sprint(roomVariable, "=", room)}
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	return told{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// TestDiskFullAtAnyWrite: wherever the room ends, the run stops with exit 1 and says why, what it had accepted stays, and with room
// again the rest is fetched: nothing is lost, and nothing stands twice.
func TestDiskFullAtAnyWrite(t *testing.T) {
	const tasks = 20
	_, at := listen(t)
	list := pages(at.Sites[0], tasks/2, "") + pages(at.Sites[1], tasks/2, "")
	stopped, refused := 0, 0
	for room := uint64(4 << 10); ; room += room/6 + 4<<10 {
		s := newShell(t)
		s.file("urls.txt", list)
		got := s.runIn(room, "run", "urls.txt", "--summary", "json")
		if got.code == exitOK {
			break
		}
		what := fmt.Sprintf("with room for %d bytes", room)
		if got.code != exitBroken || !strings.Contains(got.err, "disk is full: free some space") {
			t.Errorf("%s: exit %d, stderr %q", what, got.code, got.err)
		}
		again := "resume"
		if got.out == "" { // there was not even room for the run
			again = "run urls.txt"
			refused++
		} else if sum := summaryOf(t, got); sum["state"] == "finished" { // and what failed came after its end
			expect(t, sum, map[string]any{"tasks": float64(tasks), "accepted": float64(tasks), "records": float64(tasks), "pending": 0.0, "dead": 0.0})
			continue
		} else if sum["state"] != "failed" || sum["dead"] != 0.0 {
			t.Errorf("%s: %v", what, got.out)
		} else {
			stopped++
		}
		next := s.run(append(strings.Fields(again), "--summary", "json")...)
		if next.code == exitUsage && again != "resume" { // it had come to be, and stands unfinished
			next = s.run("resume", "--summary", "json")
		}
		if next.code != exitOK {
			t.Fatalf("%s, then enough: exit %d, %q, stderr %q; before: %q", what, next.code, next.out, next.err, got.err)
		}
		expect(t, summaryOf(t, next), map[string]any{"tasks": float64(tasks), "accepted": float64(tasks), "records": float64(tasks), "pending": 0.0, "dead": 0.0})
		if got := s.run("doctor", "--offline"); strings.Contains(got.out, "damaged") {
			t.Errorf("%s: %s", what, got.out)
		}
	}
	t.Logf("%d runs stopped, %d could not begin", stopped, refused)
	if stopped < 5 || refused < 3 {
		t.Errorf("%d runs stopped, %d could not begin: the sizes no longer meet every phase", stopped, refused)
	}
}

// TestDiskFullDuringExport: no half file is left, one that was there stays, and the words are of the file that was to be written.
func TestDiskFullDuringExport(t *testing.T) {
	_, at := listen(t)
	s := newShell(t)
	s.file("urls.txt", pages(at.Sites[0], 200, ""))
	if got := s.run("run", "urls.txt"); got.code != exitOK {
		t.Fatalf("exit %d, %q", got.code, got.err)
	}
	s.file("old.jsonl", "kept\n")
	// The shared index of readers needs some 32 KiB.
	for _, args := range [][]string{{"-o", "new.jsonl"}, {"-o", "old.jsonl", "--force"}} {
		got := s.runIn(40<<10, append([]string{"export"}, args...)...)
		if got.code != exitBroken || !strings.Contains(got.err, "nothing was written") || strings.Contains(got.err, ".db") {
			t.Errorf("exit %d, stderr %q", got.code, got.err)
		}
	}
	left, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range left {
		names = append(names, f.Name())
	}
	if all := strings.Join(names, " "); strings.Contains(all, ".part") || strings.Contains(all, "new.jsonl") {
		t.Errorf("left: %s", all)
	}
	if text, err := os.ReadFile("old.jsonl"); err != nil || string(text) != "kept\n" {
		t.Errorf("the file that was to be replaced: %q, %v", text, err)
	}
	if got := s.run("export", "-o", "new.jsonl"); got.code != exitOK {
		t.Errorf("with room: exit %d, %q", got.code, got.err)
	}
}
