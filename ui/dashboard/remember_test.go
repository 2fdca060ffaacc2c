package dashboard

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dev.scrapetop/engine/view"
	"dev.scrapetop/ui/screen"
	"dev.scrapetop/ui/screen/sample"
)

// TestThePictureIsAsItWasLeft: the next start has screen, order, filter, columns, range and theme.
func TestThePictureIsAsItWasLeft(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "dashboard.toml")
	with := func(o *Options) { o.Memory = path }
	d := drive(t, sample.Normal(), 120, 36, with)
	d.press("-", "t", "2", "S", "w", "|", ":", "sort queue", "enter", ":", "filter shop", "enter")
	if err := d.m.keep(); err != nil {
		t.Fatal(err)
	}
	again := drive(t, sample.Normal(), 120, 36, with)
	m := again.m
	if m.tab != screen.Budgets || m.list.Sort != view.SortQueue || !m.list.Reverse || !m.list.Wide || !m.list.NoDetail || m.list.Filter != "shop" ||
		m.command != "filter shop" || m.themes[m.theme] != "high-contrast" || m.chart != d.m.chart || m.chart == 0 {
		t.Errorf("tab %d, list %+v, command %q, theme %q, range %s", m.tab, m.list, m.command, m.themes[m.theme], m.chart)
	}
	again.sees("filter: shop")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	// A flag or the config wins over what was remembered, and is not remembered.
	flag := drive(t, sample.Normal(), 120, 36, with, func(o *Options) { o.Theme = "mono" })
	if flag.m.themes[flag.m.theme] != "mono" || flag.m.memory().Theme != "high-contrast" {
		t.Errorf("worn %q, remembered %q", flag.m.themes[flag.m.theme], flag.m.memory().Theme)
	}
}

func TestOnlyWhatChangedIsWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dashboard.toml")
	d := drive(t, sample.Normal(), 120, 36, func(o *Options) { o.Memory = path })
	d.press("2")
	if err := d.m.keep(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	next := drive(t, sample.Normal(), 120, 36, func(o *Options) { o.Memory = path })
	if err := next.m.keep(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.ModTime().Unix() != 1 {
		t.Errorf("written though nothing changed: %v, %v", info, err)
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	nowhere := drive(t, sample.Normal(), 120, 36, func(o *Options) { o.Memory = filepath.Join(filepath.Dir(path), "file", "x.toml") })
	nowhere.press("2")
	if err := nowhere.m.keep(); err == nil || !strings.Contains(err.Error(), "keep how the dashboard was left") {
		t.Errorf("a place that cannot be written: %v", err)
	}
}

// TestAFaultyMemoryIsToldAndForgotten: it never stops the program, and the next one is whole again.
func TestAFaultyMemoryIsToldAndForgotten(t *testing.T) {
	for name, c := range map[string]struct{ text, sees string }{
		"no TOML":            {"screen = ", "what was remembered is lost"},
		"a wrong type":       {"wide = 5\n", "what was remembered is lost"},
		"binary":             {"\x00\x01\xff", "what was remembered is lost"},
		"huge":               {strings.Repeat("# nothing\n", 4000), "is too large"},
		"unknown values":     {"screen = \"moon\"\nsort = \"luck\"\nrange = \"long\"\ntheme = \"none\"\nscope = \"x\"\n", "1 Overview▐"},
		"a newer program":    {"screen = \"budgets\"\nsound = true\n", "▌2 Budgets"},
		"a hostile filter":   {"filter = \"\\u001b[2Jx\"\n", "1 Overview▐"},
		"an unclosed filter": {"screen = \"budgets\"\nfilter = \"/(\"\n", "▌2 Budgets"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "dashboard.toml")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			d := drive(t, sample.Empty(), 120, 36, func(o *Options) { o.Memory = path })
			d.sees(c.sees)
			d.press("3")
			if err := d.m.keep(); err != nil {
				t.Fatal(err)
			}
			if r, err := readRemembered(path); err != nil || r.Screen != "tasks" {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}

func TestEveryScreenHasANameToRemember(t *testing.T) {
	for i, name := range screenNames {
		if name == "" || slices.Index(screenNames[:], name) != min(i, int(screen.History)) { // results are parts of the history
			t.Errorf("screen %d is %q", i, name)
		}
	}
}
