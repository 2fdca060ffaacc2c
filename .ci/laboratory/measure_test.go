package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestMeasure(t *testing.T) {
	path := filepath.Join(t.TempDir(), "access.log")
	log := `100.000 0.080 127.0.0.2 /page/0 200 -
100.010 0.000 127.0.0.2 /page/1 429 2
100.050 0.000 127.0.0.2 /page/2 429 2
101.500 0.100 127.0.0.2 /page/1 200 -
102.200 0.080 127.0.0.2 /page/1 200 -
101.000 0.080 127.0.0.3 /page/1 200 -
101.100 0.000 127.0.0.3 /page/0 429 -
101.500 0.080 127.0.0.3 /page/0 200 -
`
	if err := os.WriteFile(path, []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	seen, err := readLog(path)
	if err != nil {
		t.Fatal(err)
	}
	m := measure(seen, options{urls: 25, burst: 5, rate: 20, conns: 8, latency: 80 * time.Millisecond})
	// The 429 of /page/2 left before the first was read; of the later ones only the one at 101.4 lies within two seconds,
	// the other began 112 ms after the first wait ended and 70 ms after the second.
	if m.refused != 3 || m.insideWait != 1 || m.doubles != 1 || m.refusedPer1000 != 375 || m.best != time.Second {
		t.Errorf("measured %+v", m)
	}
	if got := m.took.Round(time.Millisecond); got != 2280*time.Millisecond {
		t.Errorf("the slowest host took %v", got)
	}
	if err := os.WriteFile(path, []byte("not a log\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readLog(path); err == nil {
		t.Error("a broken log was read")
	}
}
