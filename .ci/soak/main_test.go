package main

import (
	"strings"
	"testing"
)

func TestVerdict(t *testing.T) {
	quiet := sample{live: 8 << 20, goroutines: 3, handles: 12}
	grown := func(change func(*sample)) []sample {
		s := quiet
		change(&s)
		return []sample{{goroutines: 1}, quiet, s}
	}
	for _, c := range []struct {
		name   string
		closed []sample
		want   string // in the error; empty: none
	}{
		{"the same", grown(func(*sample) {}), ""},
		{"less", grown(func(s *sample) { s.goroutines, s.live = 2, 4<<20 }), ""},
		{"a little more live", grown(func(s *sample) { s.live += 2 << 20 }), ""},
		{"a goroutine", grown(func(s *sample) { s.goroutines++ }), "4 goroutines are left where 3 were"},
		{"a handle", grown(func(s *sample) { s.handles++ }), "13 file handles"},
		{"memory", grown(func(s *sample) { s.live += 4 << 20 }), "12.0 MB are live"},
	} {
		t.Run(c.name, func(t *testing.T) { says(t, verdict(c.closed), c.want) })
	}
}

func TestBounded(t *testing.T) {
	for _, c := range []struct {
		s    sample
		want string
	}{
		{sample{log: 64 << 20, resident: 150 << 20}, ""},
		{sample{log: 65 << 20}, "log of the database has grown to 65 MB"},
		{sample{resident: 151 << 20}, "151 MB are resident"},
	} {
		says(t, c.s.bounded(), c.want)
	}
}

func says(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Error(err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("%v, want %q", err, want)
	}
}
