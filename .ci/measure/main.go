// Command measure takes the figures that are too long for every test run and writes them, dated, to .ci/measured.md with a
// hash of the sources they are about; a test beside it fails when those have changed since.
//
//	go run ./.ci/measure                about twenty minutes on two cores, as root on Linux with nginx
//
// With -benchmarks it runs the benchmarks of what is on the way of each task and of each frame instead, and writes their
// medians to .ci/benchmarks.md in the same manner.
//
//	go run ./.ci/measure -benchmarks    about two minutes
//
// With -realtime it runs the lists in real time, of 8 and of 60 s, and writes their tables to .ci/realtime.md.
//
//	go run ./.ci/measure -realtime      about three minutes
//
// With -crash it kills the program at 200 instants behind each provider and writes what that cost to .ci/crash.md, unless it
// cost anything that it must not cost. It needs strace.
//
//	go run ./.ci/measure -crash         five to ten minutes; it says how long it took
//
// With -soak it keeps the engine at work for half an hour and writes what the process held to .ci/soak.md, unless that grew.
//
//	go run ./.ci/measure -soak          thirty-one minutes; it asks little of the machine
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

const table = ".ci/measured.md"

// measured are the folders whose sources the figures are about.
var measured = []string{"engine", "storage"}

// runs are the figures; BINARY stands for the compiled program.
var runs = []struct{ what, command string }{
	{"real nginx, 20 r/s burst 10 on four hosts, 300 URLs each, `Retry-After: 1`", "go run ./.ci/laboratory -binary BINARY -latency 0 -conns 64 -retry-after 1"},
	{"the same, nothing announced", "go run ./.ci/laboratory -binary BINARY -latency 0 -conns 64 -retry-after 0"},
	{"the same, killed halfway and resumed", "go run ./.ci/laboratory -binary BINARY -latency 0 -conns 64 -retry-after 1 -kill"},
	{"engine against a bare client loop, 2 KB pages", "go run ./.ci/throughput -pairs 7"},
	{"200,000 URLs over 20,000 domains", "go run ./.ci/scale -binary BINARY"},
	{"an export of 100,000 results beside a run of 500 pages a second", "go run ./.ci/beside -binary BINARY"},
	{"the three simulated platforms in real time", "go run ./.ci/platforms -binary BINARY"},
	{"keypress to screen while the engine runs flat out", "go run ./.ci/keypress BINARY"},
	{"the dashboard against headless at a fixed 500 pages a second", "go run ./.ci/keypress -pairs 7 BINARY"},
	{"the dashboard on the database of a run of a million tasks", "go run ./.ci/keypress -tasks 1000000 BINARY"},
}

func main() {
	benchmarks := flag.Bool("benchmarks", false, "run the benchmarks and write "+benchmarksTable)
	realtime := flag.Bool("realtime", false, "run the lists in real time and write "+realtimeTable)
	crash := flag.Bool("crash", false, "run the crash laboratory in full and write "+crashTable)
	soak := flag.Bool("soak", false, "run the soak and write "+soakTable)
	flag.Parse()
	run := measure
	switch {
	case *soak:
		run = soaked
	case *crash:
		run = killed
	case *benchmarks:
		run = benchmark
	case *realtime:
		run = lists
	}
	if err := inFolder(run); err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(1)
	}
}

// inFolder measures with a folder for what is built.
func inFolder(run func(dir string) error) (err error) {
	dir, err := os.MkdirTemp("", "measure")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	return run(dir)
}

// build compiles the program and begins a table about it.
func build(dir, title, command string) (binary string, b *bytes.Buffer, err error) {
	binary = filepath.Join(dir, "scrapetop")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		return "", nil, fmt.Errorf("build: %w: %s", err, out)
	}
	hash, err := sources(".", measured)
	if err != nil {
		return "", nil, err
	}
	b = &bytes.Buffer{}
	fmt.Fprintf(b, "# %s\n\nMade by `%s` on %s with %s, %d processors. Figures of one machine under whatever else it did:\ntrust ratios.\n\nsources: %s\n\n",
		title, command, time.Now().UTC().Format(time.DateOnly), runtime.Version(), runtime.NumCPU(), hash)
	return binary, b, nil
}

const realtimeTable = ".ci/realtime.md"

// lists runs the lists in real time.
func lists(dir string) error {
	binary, b, err := build(dir, "Lists in real time", "go run ./.ci/measure -realtime")
	if err != nil {
		return err
	}
	fmt.Fprintf(b, "The compiled program against scripted servers on loopback that it is told nothing about, and once more five seconds later\nfrom what it remembers. All lists of a length run at the same time.\n\n")
	for _, seconds := range []string{"8", "60"} {
		command := []string{"go", "run", "./.ci/realtime", "-binary", binary, "-seconds", seconds}
		fmt.Fprintln(os.Stderr, strings.Join(command, " "))
		out, err := exec.Command(command[0], command[1:]...).Output()
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", command, err, out)
		}
		fmt.Fprintf(b, "%s\n", out)
	}
	return os.WriteFile(realtimeTable, b.Bytes(), 0o644)
}

const (
	crashTable   = ".ci/crash.md"
	crashCommand = "go run ./.ci/crash -binary BINARY -kills 200"
)

// killed runs the crash laboratory.
func killed(dir string) error {
	binary, b, err := build(dir, "Killed and resumed", "go run ./.ci/measure -crash")
	if err != nil {
		return err
	}
	args := strings.Fields(strings.ReplaceAll(crashCommand, "BINARY", binary))
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", crashCommand, err, out)
	}
	fmt.Fprintf(b, "`%s`: the compiled program killed at 200 drawn instants behind each provider, a part of them as power cuts, and\nresumed until its run is done; judged by the simulator's own counters, a journal of every request and the file. Every second\nrun forbids that an unanswered submit is made again. A kill may have met several things at once.\n\n%s", crashCommand, out)
	return os.WriteFile(crashTable, b.Bytes(), 0o644)
}

const (
	soakTable   = ".ci/soak.md"
	soakCommand = "go run ./.ci/soak"
)

// soaked runs the soak.
func soaked(dir string) error {
	_, b, err := build(dir, "Half an hour at work", "go run ./.ci/measure -soak")
	if err != nil {
		return err
	}
	args := strings.Fields(soakCommand)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", soakCommand, err, out)
	}
	fmt.Fprintf(b, "`%s`: a run of each provider at a time, over one database that grows, against simulated sites and platforms with faults;\nsix rounds, each in the middle of its work when it ends. Garbage is collected before each line.\n\n%s", soakCommand, out)
	return os.WriteFile(soakTable, b.Bytes(), 0o644)
}

func measure(dir string) error {
	binary, b, err := build(dir, "Measured", "go run ./.ci/measure")
	if err != nil {
		return err
	}
	fmt.Fprintf(b, "| what | command | result |\n| --- | --- | --- |\n")
	for _, r := range runs {
		fmt.Fprintln(os.Stderr, r.command)
		args := strings.Fields(strings.ReplaceAll(r.command, "BINARY", binary))
		cmd := exec.Command(args[0], args[1:]...)
		out, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", r.command, err, out)
		}
		fmt.Fprintf(b, "| %s | `%s` | %s |\n", r.what, r.command, closing(string(out)))
	}
	return os.WriteFile(table, b.Bytes(), 0o644)
}

// closing is what a command's last lines say: the whole output where it is short.
func closing(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) > 4 {
		lines = lines[len(lines)-1:]
	}
	for i := range lines {
		lines[i] = strings.Join(strings.Fields(lines[i]), " ")
	}
	return strings.Join(lines, "; ")
}

// sources hashes the Go sources of folders, tests aside.
func sources(root string, folders []string) (string, error) {
	var files []string
	for _, dir := range folders {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() && !strings.HasSuffix(path, "_test.go") && (strings.HasSuffix(path, ".go") || strings.HasSuffix(path, ".sql")) &&
				!strings.Contains(path, "simulator") {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			return "", err
		}
	}
	slices.Sort(files)
	sum := sha256.New()
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return "", err
		}
		rel, err := filepath.Rel(root, f)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%s\n%d\n", filepath.ToSlash(rel), len(text))
		sum.Write(text)
	}
	return hex.EncodeToString(sum.Sum(nil)[:12]), nil
}
