package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

const (
	// syncTakes is what a disk adds to each sync: without it hardly a cut would meet one.
	syncTakes = "3ms"
	// sector is what a disk writes whole or not at all.
	sector = 512
)

// traced is a command under strace, which writes down what is done to the file and its log. With -D the command stays our
// own child, and strace has written everything when the pipe to its standard error ends.
func traced(trace, file string, command []string) []string {
	return append([]string{"strace", "-D", "-f", "--seccomp-bpf", "-q", "-y", "-xx", "-s", "100000", "-e", "signal=none", "-o", trace,
		"-e", "trace=pwrite64,ftruncate,fsync,fdatasync,unlink", "-e", "inject=fsync,fdatasync:delay_enter=" + syncTakes,
		"-P", file, "-P", file + "-wal", "--"}, command...)
}

// change is one change of a file that no sync has followed yet.
type change struct {
	data []byte // written at an offset
	at   int64
	cut  bool // made this long
	gone bool // removed
}

// medium is one file as a disk has it: what is kept, and what came since the last sync, of which anything may be.
type medium struct {
	kept   []byte // nil: there is no file
	loose  []change
	synced int // changes before the loose ones
}

func (m *medium) apply(c change) {
	switch {
	case c.gone:
		m.kept = nil
	case c.cut:
		m.kept = resized(m.kept, c.at)
	default:
		if end := c.at + int64(len(c.data)); end > int64(len(m.kept)) {
			m.kept = resized(m.kept, end)
		}
		copy(m.kept[c.at:], c.data)
	}
}

func resized(b []byte, n int64) []byte {
	if n <= int64(len(b)) {
		return b[:n]
	}
	return append(b, make([]byte, n-int64(len(b)))...)
}

// lose is the power cut. A disk may have kept nothing since the last sync, what came first with the last of it torn, or any
// sectors.
func (m *medium) lose(rng *rand.Rand) (dropped, torn bool) {
	loose := m.loose
	m.loose = nil
	if len(loose) == 0 {
		return false, false
	}
	switch rng.IntN(3) {
	case 0:
		return true, false
	case 1:
		n := rng.IntN(len(loose))
		for _, c := range loose[:n] {
			m.apply(c)
		}
		if last := loose[n]; len(last.data) > 1 {
			last.data = last.data[:1+rng.IntN(len(last.data)-1)]
			m.apply(last)
			torn = true
		}
		return true, torn
	}
	for _, c := range loose {
		if len(c.data) == 0 {
			if rng.IntN(2) == 0 {
				m.apply(c)
			}
			continue
		}
		for at := 0; at < len(c.data); at += sector {
			if rng.IntN(2) == 0 {
				m.apply(change{at: c.at + int64(at), data: c.data[at:min(at+sector, len(c.data))]})
				torn = true
			}
		}
	}
	return true, torn
}

// disks are the file and its log, by the end of their names.
type disks map[string]*medium

// parts are the ends of the names of what a power cut may change. The log's index is in memory only.
var parts = []string{"", "-wal"}

func readDisks(path string) (disks, error) {
	d := disks{}
	for _, end := range parts {
		text, err := os.ReadFile(path + end)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		d[end] = &medium{kept: text}
	}
	return d, nil
}

// put writes what the disk has, as the machine would find it.
func (d disks) put(path string) error {
	var errs []error
	for _, end := range parts {
		if d[end].kept == nil {
			errs = append(errs, gone(path+end))
			continue
		}
		errs = append(errs, os.WriteFile(path+end, d[end].kept, 0o600))
	}
	return errors.Join(append(errs, gone(path+"-shm"))...)
}

func gone(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

var (
	lineOf    = regexp.MustCompile(`^(\d+) +(.*)$`)
	resumedOf = regexp.MustCompile(`^<\.\.\. \w+ resumed>(.*)$`)
	callOf    = regexp.MustCompile(`^(\w+)\((?:\d+<((?:\\x[0-9a-f]{2})*)>|"((?:\\x[0-9a-f]{2})*)")(.*)$`)
	writeOf   = regexp.MustCompile(`^, "((?:\\x[0-9a-f]{2})*)", \d+, (\d+)`)
	lengthOf  = regexp.MustCompile(`^, (\d+)`)
)

const unfinished = " <unfinished ...>"

// replay does again what a trace tells. A sync keeps what was written before it began, once it has ended.
func (d disks) replay(trace []byte) error {
	began := map[string]syncing{} // by thread
	lines := bufio.NewScanner(bytes.NewReader(trace))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		l := lineOf.FindStringSubmatch(lines.Text())
		if l == nil || strings.HasPrefix(l[2], "+++") || strings.HasPrefix(l[2], "???") {
			continue // the end of a thread, or of one that had just entered
		}
		thread, text := l[1], l[2]
		if rest := resumedOf.FindStringSubmatch(text); rest != nil {
			if p, ok := began[thread]; ok {
				p.end(rest[1])
				delete(began, thread)
			}
			continue
		}
		whole := strings.TrimSuffix(text, unfinished)
		p, err := d.begin(whole)
		if err != nil {
			return err
		}
		if whole != text {
			began[thread] = p
			continue
		}
		p.end(text)
	}
	return lines.Err()
}

// syncing is a sync under way; m is nil for any other call.
type syncing struct {
	m    *medium
	upTo int // of all changes of the medium
}

// end takes what the call returned.
func (s syncing) end(text string) {
	if s.m == nil || !strings.Contains(text, " = 0") {
		return
	}
	n := max(s.upTo-s.m.synced, 0)
	for _, c := range s.m.loose[:n] {
		s.m.apply(c)
	}
	s.m.loose = s.m.loose[n:]
	s.m.synced += n
}

// begin takes the beginning of a call: what it writes may be on the disk from then on.
func (d disks) begin(text string) (syncing, error) {
	c := callOf.FindStringSubmatch(text)
	if c == nil {
		return syncing{}, fmt.Errorf("strace: %.200q is not understood", text)
	}
	name, err := unhex(c[2] + c[3])
	if err != nil {
		return syncing{}, err
	}
	end := ""
	if filepath.Ext(string(name)) == ".db-wal" {
		end = "-wal"
	}
	m := d[end]
	switch c[1] {
	case "pwrite64":
		w := writeOf.FindStringSubmatch(c[4])
		if w == nil {
			return syncing{}, fmt.Errorf("strace: the write %.200q is not understood", text)
		}
		data, err := unhex(w[1])
		if err != nil {
			return syncing{}, err
		}
		at, err := strconv.ParseInt(w[2], 10, 64)
		m.loose = append(m.loose, change{data: data, at: at})
		return syncing{}, err
	case "ftruncate":
		n := lengthOf.FindStringSubmatch(c[4])
		if n == nil {
			return syncing{}, fmt.Errorf("strace: the length in %.200q is not understood", text)
		}
		at, err := strconv.ParseInt(n[1], 10, 64)
		m.loose = append(m.loose, change{cut: true, at: at})
		return syncing{}, err
	case "unlink":
		m.loose = append(m.loose, change{gone: true})
		return syncing{}, nil
	}
	return syncing{m: m, upTo: m.synced + len(m.loose)}, nil
}

func unhex(text string) ([]byte, error) { return hex.DecodeString(strings.ReplaceAll(text, `\x`, "")) }
