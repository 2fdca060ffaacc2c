package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"
)

const (
	overheadRate    = 500 // pages a second
	overheadSeconds = 15
)

// overhead compares the processor time of the same run, at a fixed pace, with the dashboard and headless, in pairs.
func overhead(binary string, pairs, hosts int) error {
	dir, err := os.MkdirTemp("", "keypress-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	target, port, err := startTarget(hosts)
	if err != nil {
		return err
	}
	defer target.stop()
	input := filepath.Join(dir, "urls.txt")
	if err := write(input, port, hosts, overheadRate*overheadSeconds/hosts); err != nil {
		return err
	}
	ratios := make([]float64, pairs)
	var wrote int64
	for i := range ratios {
		var took [2]time.Duration
		for _, j := range [][]int{{0, 1}, {1, 0}}[i%2] { // neither is always the first
			db := filepath.Join(dir, fmt.Sprintf("%d-%d.db", i, j))
			args := []string{"run", input, "--db", db, "--robots", "off", "--rate", strconv.Itoa(overheadRate) + "/s"}
			if j == 1 {
				took[j], err = alone(dir, binary, append(args, "--headless")...)
			} else {
				took[j], wrote, err = drawn(dir, binary, args...)
			}
			if err != nil {
				return err
			}
		}
		ratios[i] = took[0].Seconds() / took[1].Seconds()
		fmt.Fprintf(os.Stderr, "%.2f s with the dashboard, %.2f s headless\n", took[0].Seconds(), took[1].Seconds())
	}
	slices.Sort(ratios)
	fmt.Printf("%d pages at %d a second: the dashboard takes %.3f of the processor time of headless (median of %d pairs, %.3f to %.3f), %.1f KB/s to the terminal\n",
		overheadRate*overheadSeconds, overheadRate, ratios[pairs/2], pairs, ratios[0], ratios[pairs-1], float64(wrote)/1024/overheadSeconds)
	return nil
}

// alone runs the program to its end without a terminal.
func alone(dir, binary string, args ...string) (time.Duration, error) {
	cmd := exec.Command(binary, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%v: %w: %s", args, err, out)
	}
	return spent(cmd), nil
}

// drawn runs it in a terminal, and leaves the dashboard once the run has ended.
func drawn(dir, binary string, args ...string) (time.Duration, int64, error) {
	s, cmd, err := open(dir, binary, args...)
	if err != nil {
		return 0, 0, err
	}
	defer s.terminal.Close()
	if _, _, err := s.await(finished, "", 4*overheadSeconds*time.Second); err != nil {
		return 0, 0, err
	}
	wrote := s.bytes.Load()
	if err := s.press("q"); err != nil {
		return 0, 0, err
	}
	if err := cmd.Wait(); err != nil {
		return 0, 0, err
	}
	return spent(cmd), wrote, nil
}

// spent is the processor time of a process that ended.
func spent(cmd *exec.Cmd) time.Duration {
	u := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
