package dashboard

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"dev.scrapetop/ui/screen/sample"
)

func env(pairs ...string) func(string) string {
	return func(key string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == key {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestCopiers(t *testing.T) {
	for name, c := range map[string]struct {
		goos string
		env  func(string) string
		want []string
	}{
		"nothing":          {"linux", env(), nil},
		"tmux":             {"linux", env("TMUX", "/tmp/tmux-0/default,1,0"), []string{"tmux"}},
		"tmux on a desk":   {"linux", env("TMUX", "x", "WAYLAND_DISPLAY", "wayland-0", "DISPLAY", ":0"), []string{"tmux", "wl-copy"}},
		"X":                {"linux", env("DISPLAY", ":0"), []string{"xclip", "xsel"}},
		"over SSH":         {"linux", env("DISPLAY", "localhost:10", "SSH_CONNECTION", "a b c d"), nil},
		"tmux over SSH":    {"linux", env("TMUX", "x", "SSH_CONNECTION", "a b c d"), []string{"tmux"}},
		"a Mac":            {"darwin", env(), []string{"pbcopy"}},
		"a Mac over SSH":   {"darwin", env("SSH_CONNECTION", "a"), nil},
		"a Windows window": {"windows", env(), []string{"clip.exe"}},
	} {
		var got []string
		for _, command := range copiers(c.goos, c.env) {
			got = append(got, command[0])
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestAProgramTakesACopy: what it is fed is the text, and one that fails or is not there is not named.
func TestAProgramTakesACopy(t *testing.T) {
	dir := t.TempDir()
	for name, script := range map[string]string{"xclip": "#!/bin/sh\ncat >" + dir + "/got\n", "xsel": "#!/bin/sh\nexit 1\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	if took := native("two\nlines", env("DISPLAY", ":0")); !slices.Equal(took, []string{"xclip"}) {
		t.Errorf("taken by %v", took)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "got")); err != nil || string(got) != "two\nlines" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestACopySaysWhereItIs(t *testing.T) {
	d := drive(t, sample.Normal(), 120, 36)
	var given []string
	d.m.native = func(text string) []string { given = append(given, text); return []string{"tmux", "wl-copy"} }
	d.press("y")
	d.sees("by tmux and wl-copy")
	if !slices.Equal(given, []string{"forum-c.example"}) {
		t.Errorf("given %q", given)
	}
}

// copiedText is what the terminal was told to copy.
func (d *driver) copiedText() string {
	d.t.Helper()
	coded := strings.TrimSuffix(strings.TrimPrefix(d.copied, "\x1b]52;c;"), "\x07")
	text, err := base64.StdEncoding.DecodeString(coded)
	if err != nil {
		d.t.Fatalf("%q: %v", d.copied, err)
	}
	return string(text)
}

func TestARowIsCopiedAsJSON(t *testing.T) {
	for name, c := range map[string]struct {
		keys []string
		want map[string]any
	}{
		"a domain": {[]string{"2", "Y"}, map[string]any{"domain": "forum-c.example", "state": "cool", "in_flight_limit": 4.0, "remaining": 0.0}},
		"a task":   {[]string{"3", "j", "Y"}, map[string]any{"url": "http://a.example/2", "run": 184.0}},
		"an event": {[]string{"5", "Y"}, map[string]any{"run": 184.0}},
		"a key":    {[]string{"B", "Y"}, map[string]any{"scope": "credential"}},
	} {
		t.Run(name, func(t *testing.T) {
			frame := sample.Normal()
			if name == "a key" {
				frame = sample.Platform()
			}
			d := drive(t, frame, 120, 36, func(o *Options) { o.Rows = newChronicle() })
			d.press(c.keys...)
			d.sees("as JSON")
			var got map[string]any
			if err := json.Unmarshal([]byte(d.copiedText()), &got); err != nil {
				t.Fatalf("%q: %v", d.copiedText(), err)
			}
			for key, want := range c.want {
				if !reflect.DeepEqual(got[key], want) {
					t.Errorf("%s is %v, want %v", key, got[key], want)
				}
			}
		})
	}
	d := drive(t, sample.Hostile(), 120, 36)
	d.press("2", "Y")
	for _, r := range d.copiedText() {
		if r < 0x20 && r != '\n' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			t.Fatalf("%q holds a control character", d.copiedText())
		}
	}
}

func TestAddressesAreOpened(t *testing.T) {
	for name, c := range map[string]struct {
		keys []string
		want string
		sees string
	}{
		"a domain":     {[]string{"2", "o"}, "https://forum-c.example/", "opened https://forum-c.example/"},
		"on Overview":  {[]string{"o"}, "https://forum-c.example/", "opened"},
		"a task":       {[]string{"3", "j", "o"}, "http://a.example/2", "opened http://a.example/2"},
		"a key":        {[]string{"2", "B", "o"}, "", "o (browse) is for"},
		"not an event": {[]string{"5", "o"}, "", "there is no web address"},
	} {
		t.Run(name, func(t *testing.T) {
			d := drive(t, sample.Normal(), 120, 36, func(o *Options) { o.Rows, o.Getenv = million(300), env("TERM", "xterm", "DISPLAY", ":0") })
			got := ""
			d.m.visit = func(_ []string, address string, _ <-chan time.Time, _ func()) openedMsg {
				got = address
				return openedMsg{address: address}
			}
			d.press(c.keys...)
			d.sees(c.sees)
			if got != c.want {
				t.Errorf("%q is opened, want %q", got, c.want)
			}
		})
	}
}

func TestOnlyWebAddressesAreOpened(t *testing.T) {
	for address, want := range map[string]bool{
		"http://a.example/?q=1&b=2": true, "https://a.example/": true, "file:///etc/passwd": false, "javascript:alert(1)": false, "-flag": false,
		"https://": false, "//a.example/": false, "": false, "http://user:secret@a.example/": false, "http://a.example/\x1b[2J": false,
	} {
		if got, err := webAddress(address); (err == nil) != want {
			t.Errorf("%q: %q, %v", address, got, err)
		}
	}
	for name, c := range map[string]struct {
		goos string
		env  func(string) string
		want string
	}{
		"X": {"linux", env("DISPLAY", ":0"), "xdg-open"}, "Wayland": {"linux", env("WAYLAND_DISPLAY", "w"), "xdg-open"}, "a console": {"linux", env(), ""},
		"a Mac": {"darwin", env(), "open"}, "Windows": {"windows", env(), "rundll32"},
	} {
		command, why := opener(c.goos, c.env)
		if got := strings.Join(command[:min(len(command), 1)], ""); got != c.want || (why == "") != (c.want != "") {
			t.Errorf("%s: %q, %q", name, got, why)
		}
	}
}

func TestABrowserThatCannotBeOpenedIsTold(t *testing.T) {
	never := make(chan time.Time)
	if msg := visit([]string{filepath.Join(t.TempDir(), "none")}, "http://a.example/", never, func() {}); !strings.Contains(msg.fault, "cannot be started") {
		t.Errorf("%+v", msg)
	}
	if msg := visit([]string{"false"}, "http://a.example/", never, func() {}); !strings.Contains(msg.fault, "could not open it") {
		t.Errorf("%+v", msg)
	}
	if msg := visit([]string{"true"}, "http://a.example/", never, func() {}); msg.fault != "" || msg.address != "http://a.example/" {
		t.Errorf("%+v", msg)
	}
}
